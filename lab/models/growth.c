/* Logistic growth: the size of a population at time t. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "growth",
    .summary = "rate, middle and final size of a population that grows",
    .formula = "y ~ N(n / (1 + exp(-r (t - m))), noise^2)",
    .dim = 3,
    .settings = 2,
    .outcomes = RF_GAUSSIAN(1),
    .parameter = {{"r", RF_POSITIVE, 0.2, 2, 0}, {"m", RF_REAL, 3, 17, 0}, {"n", RF_POSITIVE, 1, 10, 0}},
    .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0, 20, 0}, {"noise", RF_SETTING_FIXED, 0, 0, 0.1, 0.1, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    return x[2] / (1 + rf_exp(rf_min(-x[0] * (setting[0] - x[1]), RF_C(80.0))));
}
