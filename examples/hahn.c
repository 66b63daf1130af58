/* A Hahn echo that decays with a stretched exponent: after a time t the echo is found in k of n shots. The coherence
   time T2 and the exponent s tell what the spin's surroundings do: 1 for fast noise, 3 for slow noise. t and T2 are in
   µs.

     rejfilt track --simulate --model examples/hahn.c */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "hahn",
    .summary = "the coherence time of an echo and the exponent of its decay",
    .formula = "k of n with P = (1 + exp(-(t / T2)^s)) / 2",
    .dim = 2,
    .settings = 2,
    .outcomes = RF_BINOMIAL(1),
    .parameter = {{"T2", RF_BOUNDED, 20, 200, 0}, {"s", RF_BOUNDED, 1, 3, 0}},
    .setting = {{"t", RF_SETTING_LOGRANGE, 0, 0, 1, 500, 0}, {"n", RF_SETTING_FIXED, 0, 1, 20, 20, 0}},
    .unit = {"µs"},
    .setting_unit = {"µs"},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    rf_real echo = rf_exp(-rf_pow_positive(setting[0] / x[0], x[1]));
    return RF_C(0.5) + RF_C(0.5) * echo;
}
