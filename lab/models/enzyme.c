/* Michaelis–Menten: the rate of an enzyme at concentration s. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "enzyme",
    .summary = "the largest rate of an enzyme and the concentration of half of it",
    .formula = "y ~ N(v s / (k + s), noise^2)",
    .dim = 2,
    .settings = 2,
    .outcomes = RF_GAUSSIAN(1),
    .parameter = {{"v", RF_POSITIVE, 1, 10, 0}, {"k", RF_POSITIVE, 0.5, 10, 0}},
    .setting = {{"s", RF_SETTING_RANGE, 0, 0, 0.1, 20, 0}, {"noise", RF_SETTING_FIXED, 0, 0, 0.1, 0.1, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    return x[0] * setting[0] / (x[1] + setting[0]);
}
