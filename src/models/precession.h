/* A spin that precesses at frequency x, read after a time t against a reference frequency x_. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "precession",
    .summary = "a precession frequency, measured after a chosen time against a chosen reference",
    .formula = "P(1) = cos^2((x - x_) t / 2)",
    .dim = 1,
    .settings = 2,
    .outcomes = 2,
    .fringe = 6.283185307179586,
    .parameter = {{"x", RF_REAL, 0, 1.5707963267948966, 0.026179938779914944}},
    .setting = {{"t", RF_SETTING_TIME, 0, 0, 0, RF_TIME_MAX, 0}, {"x_", RF_SETTING_GUESS, 0, 0, 0, 0, 0}},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real zero = rf_sin_squared((x[0] - setting[1]) * (RF_C(0.5) * setting[0]));
    return outcome != 0 ? 1 - zero : zero;
}
