/* A phase on the circle, read with k turns of the phase against a reference. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "phase",
    .summary = "a phase on the circle, read after k repetitions against a chosen reference",
    .formula = "P(1) = cos^2(k (phi - phi_) / 2), k whole",
    .dim = 1,
    .settings = 2,
    .outcomes = 2,
    .fringe = 6.283185307179586,
    .parameter = {{"phi", RF_PERIODIC, 0, 6.283185307179586, 0.026179938779914944}},
    .setting = {{"k", RF_SETTING_TIME, 0, 1, 1, RF_TIME_MAX, 0}, {"phi_", RF_SETTING_GUESS, 0, 0, 0, 0, 0}},
    .unit = {"rad"},
    .setting_unit = {NULL, "rad"},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real zero = rf_sin_squared((x[0] - setting[1]) * (RF_C(0.5) * setting[0]));
    return outcome != 0 ? 1 - zero : zero;
}
