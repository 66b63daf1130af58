/* A weighted sum of four parameters: after a few readings the posterior is a Gaussian. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "linear4",
    .summary = "four parameters by readings of weighted sums",
    .formula = "y ~ N(h1 x1 + h2 x2 + h3 x3 + h4 x4, noise^2)",
    .dim = 4,
    .settings = 5,
    .outcomes = RF_GAUSSIAN(4),
    .parameter = {{"x1", RF_REAL, -1.5, 1.5, 0}, {"x2", RF_REAL, -1.5, 1.5, 0}, {"x3", RF_REAL, -1.5, 1.5, 0}, {"x4", RF_REAL, -1.5, 1.5, 0}},
    .setting = {{"h1", RF_SETTING_RANGE, 0, 0, -1, 1, 0},
                {"h2", RF_SETTING_RANGE, 0, 0, -1, 1, 0},
                {"h3", RF_SETTING_RANGE, 0, 0, -1, 1, 0},
                {"h4", RF_SETTING_RANGE, 0, 0, -1, 1, 0},
                {"noise", RF_SETTING_FIXED, 0, 0, 0.25, 0.25, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    return setting[0] * x[0] + setting[1] * x[1] + setting[2] * x[2] + setting[3] * x[3];
}
