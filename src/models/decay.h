/* Randomised benchmarking: survival after k gates decays as A p^k + B. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "decay",
    .summary = "the survival curve of randomised benchmarking after k gates",
    .formula = "P(1) = A p^k + B, held in 0..1",
    .dim = 3,
    .settings = 1,
    .outcomes = 2,
    .parameter = {{"p", RF_BOUNDED, 0.9, 1, 0}, {"A", RF_BOUNDED, 0.3, 0.6, 0}, {"B", RF_BOUNDED, 0.3, 0.6, 0}},
    .setting = {{"k", RF_SETTING_LOGRANGE, 0, 1, 1, 200, 0}},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real survival = x[1] * rf_pow_positive(x[0], setting[0]) + x[2];
    rf_real p = rf_min(rf_max(survival, 0), 1);
    return outcome != 0 ? p : 1 - p;
}
