/* A sum of two decays, measured at time t. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "lifetimes",
    .summary = "two lifetimes, and the share of the fast one",
    .formula = "y ~ N(a exp(-t / fast) + (1 - a) exp(-t / slow), noise^2)",
    .dim = 3,
    .settings = 2,
    .outcomes = RF_GAUSSIAN(1),
    .parameter = {{"a", RF_BOUNDED, 0, 1, 0}, {"fast", RF_POSITIVE, 0.5, 3, 0}, {"slow", RF_POSITIVE, 4, 20, 0}},
    .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0, 30, 0}, {"noise", RF_SETTING_FIXED, 0, 0, 0.02, 0.02, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    return x[0] * rf_exp(-setting[0] / x[1]) + (1 - x[0]) * rf_exp(-setting[0] / x[2]);
}
