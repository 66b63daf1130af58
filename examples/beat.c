/* Two interchangeable frequencies: two indistinguishable spins precess, and one of them, chosen at random, is read
   after a time t. Exchanging the frequencies does not change a record: `interchangeable` says so, and the results
   are in ascending order.

     rejfilt track --simulate --model examples/beat.c --belief mixture */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "beat",
    .summary = "two frequencies, one of which is measured after a chosen time, nobody knows which",
    .formula = "P(1) = 1/2 + (cos(w1 t) + cos(w2 t)) / 4",
    .dim = 2,
    .settings = 1,
    .outcomes = 2,
    .interchangeable = 2,
    .parameter = {{"w1", RF_REAL, 0, 1, 0}, {"w2", RF_REAL, 0, 1, 0}},
    .setting = {{"t", RF_SETTING_TIME, 0, 0, 0, 100, 0}},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real zero =
        RF_C(0.5) * (rf_sin_squared(RF_C(0.5) * x[0] * setting[0]) + rf_sin_squared(RF_C(0.5) * x[1] * setting[0]));
    return outcome != 0 ? 1 - zero : zero;
}
