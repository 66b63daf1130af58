/* A position in the plane, from exact distances to beacons: after one reading the posterior is a thin ring. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "place",
    .summary = "a place in the plane from its distances to beacons",
    .formula = "y ~ N(distance from (x, y) to (bx, by), noise^2)",
    .dim = 2,
    .settings = 3,
    .outcomes = RF_GAUSSIAN(2),
    .parameter = {{"x", RF_REAL, -10, 10, 0}, {"y", RF_REAL, -10, 10, 0}},
    .setting = {{"bx", RF_SETTING_RANGE, 0, 0, -10, 10, 0},
                {"by", RF_SETTING_RANGE, 0, 0, -10, 10, 0},
                {"noise", RF_SETTING_FIXED, 0, 0, 0.5, 0.5, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    rf_real across = x[0] - setting[0], along = x[1] - setting[1];
    return rf_sqrt(across * across + along * along);
}
