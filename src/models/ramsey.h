/* Ramsey fringes: a frequency w and a decay rate g = 1/T2, with the contrast of the readout known. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "ramsey",
    .summary = "a frequency and its decay rate 1/T2 from fringes of known contrast",
    .formula = "P(1) = (1 + contrast exp(-g t) cos((w - w_) t)) / 2",
    .dim = 2,
    .settings = 3,
    .outcomes = 2,
    .fringe = 6.283185307179586,
    .parameter = {{"w", RF_REAL, 0, 1, 0}, {"g", RF_POSITIVE, 0.005, 0.05, 0}},
    .setting = {{"t", RF_SETTING_TIME, 0, 0, 0, 200, 0}, {"w_", RF_SETTING_GUESS, 0, 0, 0, 0, 0}, {"contrast", RF_SETTING_FIXED, 0, 0, 0.95, 0.95, 0}},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real envelope = RF_C(0.5) * setting[2] * rf_exp(-x[1] * setting[0]);
    rf_real half = envelope * rf_cos((x[0] - setting[1]) * setting[0]);
    return outcome != 0 ? RF_C(0.5) + half : RF_C(0.5) - half;
}
