/* Counts out of n: randomised benchmarking. A sequence of m random gates is run n times, and k of the runs come back to
   the state they began with. The error of a gate is about (1 - p) / 2. A and B hold the errors of preparation and
   readout.

     rejfilt track --simulate --model examples/benchmarking.c

   With .outcomes = RF_BINOMIAL(1) outcomes are 0 to setting number 1, here n: a record may have any n. The model is the
   probability of one. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "benchmarking",
    .summary = "survivals of randomised benchmarking, of n sequences of m gates",
    .formula = "k of n with P = A p^m + B",
    .dim = 3,
    .settings = 2,
    .outcomes = RF_BINOMIAL(1),
    .parameter = {{"p", RF_BOUNDED, 0.9, 1, 0}, {"A", RF_BOUNDED, 0.3, 0.6, 0}, {"B", RF_BOUNDED, 0.3, 0.6, 0}},
    .setting = {{"m", RF_SETTING_LOGRANGE, 0, 1, 1, 200, 0}, {"n", RF_SETTING_FIXED, 0, 1, 20, 20, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    return x[1] * rf_pow_positive(x[0], setting[0]) + x[2];
}
