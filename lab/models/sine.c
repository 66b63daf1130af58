/* A sine with noise, measured at time t. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "sine",
    .summary = "amplitude, frequency and phase of a sine",
    .formula = "y ~ N(a sin(w t + phi), noise^2)",
    .dim = 3,
    .settings = 2,
    .outcomes = RF_GAUSSIAN(1),
    .parameter = {{"a", RF_POSITIVE, 0.5, 2, 0}, {"w", RF_REAL, 0.5, 1.5, 0}, {"phi", RF_PERIODIC, 0, 6.283185307179586, 0}},
    .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0, 20, 0}, {"noise", RF_SETTING_FIXED, 0, 0, 0.1, 0.1, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    return x[0] * rf_sin(x[1] * setting[0] + x[2]);
}
