/* A model with its own designer: the lifetime T1 of an excited state, read after a time t.

   A measurement is most informative about T1 at a time a bit longer than T1, so this designer measures then. One
   experiment in ten is an anchor at a tenth of T1, where the qubit is still excited unless the filter is wrong. Run
   it with

     rejfilt track --simulate --model examples/designer.c */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "designer",
    .summary = "the lifetime of an excited state, measured when it tells most",
    .formula = "P(1) = exp(-t / T1)",
    .dim = 1,
    .settings = 1,
    .outcomes = 2,
    .parameter = {{"T1", RF_POSITIVE, 10, 50, 0.02}},
    .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0.1, 500, 0}},
    .unit = {"µs"},
    .setting_unit = {"µs"},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real excited = rf_exp(-setting[0] / x[0]);
    return outcome != 0 ? excited : 1 - excited;
}

/* in->mean is the filter's estimate, in natural units; rejfilt/design.h lists the other members. The number after
   RF_HAS_DESIGN: one experiment in so many is an anchor; 0: none. */
#define RF_HAS_DESIGN 10
static void design(const RF(design_input) *in, rf_real setting[])
{
    setting[0] = in->mean[0] * (in->is_anchor ? RF_C(0.1) : RF_C(1.3));
}
