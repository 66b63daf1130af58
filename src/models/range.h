/* A target moves in the plane. A beacon measures its distance, not its direction. */
#include "rejfilt/model.h"

RF_FN rf_real seen(const rf_real x[], const rf_real setting[])
{
    rf_real dx = x[0] - setting[0], dy = x[1] - setting[1];
    return rf_sqrt(dx * dx + dy * dy);
}

#include "motion.h"

static const rf_description description = {
    .name = "range",
    .summary = "position and velocity in the plane from distances to a beacon",
    .formula = "d ~ N(sqrt((x - bx)^2 + (y - by)^2), s^2)",
    .dim = 4,
    .settings = 3,
    .outcomes = 0,
    .is_log = 1,
    .parameter = {MOTION_PLACES, MOTION_SPEEDS},
    .setting = {{"bx", RF_SETTING_RANGE, 0, 0, -5, 5, 0}, {"by", RF_SETTING_FIXED, 0, 0, 0, 0, 0}, {"s", RF_SETTING_FIXED, 0, 0, 0.2, 0.2, 0}},
};
