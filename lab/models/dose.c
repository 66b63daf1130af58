/* Dose and effect: the Hill curve with four parameters. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "dose",
    .summary = "base, top, middle and steepness of the effect of a dose",
    .formula = "y ~ N(b + (v - b) / (1 + (k/s)^h), noise^2)",
    .dim = 4,
    .settings = 2,
    .outcomes = RF_GAUSSIAN(1),
    .parameter = {{"b", RF_REAL, -0.2, 0.2, 0},
                  {"v", RF_POSITIVE, 0.5, 2, 0},
                  {"k", RF_POSITIVE, 0.1, 10, 0},
                  {"h", RF_POSITIVE, 0.5, 4, 0}},
    .setting = {{"s", RF_SETTING_LOGRANGE, 0, 0, 0.01, 100, 0}, {"noise", RF_SETTING_FIXED, 0, 0, 0.05, 0.05, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    return x[0] + (x[1] - x[0]) / (1 + rf_exp(x[3] * (rf_log(x[2]) - rf_log(setting[0]))));
}
