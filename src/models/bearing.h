/* A target moves in the plane. A camera sees its direction, not its distance. */
#include "rejfilt/model.h"

RF_FN rf_real seen(const rf_real x[], const rf_real setting[])
{
    return (x[0] - setting[0]) / rf_max(x[1] - setting[1], RF_C(0.01)); /* the camera does not see behind itself */
}

#include "motion.h"

static const rf_description description = {
    .name = "bearing",
    .summary = "position and velocity in the plane from directions seen by a camera",
    .formula = "u ~ N((x - cx) / (y - cy), s^2): the camera at cx, cy looks along y",
    .dim = 4,
    .settings = 3,
    .outcomes = 0,
    .is_log = 1,
    .parameter = {MOTION_PLACES, MOTION_SPEEDS},
    .setting = {{"cx", RF_SETTING_RANGE, 0, 0, -5, 5, 0}, {"cy", RF_SETTING_FIXED, 0, 0, 0, 0, 0}, {"s", RF_SETTING_FIXED, 0, 0, 0.05, 0.05, 0}},
};
