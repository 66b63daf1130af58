/* Photon counts: optically detected magnetic resonance. A spin defect is lit at microwave frequency f, and photons are
   counted. On resonance there are fewer of them: a dip of contrast C and half width w at frequency f0. Far from it
   there are R photons, which is known. Frequencies are in MHz from 2.87 GHz.

     rejfilt track --simulate --model examples/odmr.c

   Counts have no largest value. With .outcomes = RF_POISSON the model is what is expected of them; their probabilities
   follow. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "odmr",
    .summary = "a dip in photon counts: its frequency, width and contrast",
    .formula = "k ~ Poisson(R (1 - C / (1 + ((f - f0) / w)^2)))",
    .dim = 3,
    .settings = 2,
    .outcomes = RF_POISSON,
    .parameter = {{"f0", RF_BOUNDED, -10, 10, 0}, {"w", RF_BOUNDED, 1, 4, 0}, {"C", RF_BOUNDED, 0.1, 0.4, 0}},
    .setting = {{"f", RF_SETTING_RANGE, 0, 0, -15, 15, 0}, {"R", RF_SETTING_FIXED, 0, 0, 200, 200, 0}},
    .unit = {"MHz", "MHz"},
    .setting_unit = {"MHz"},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    rf_real away = (setting[0] - x[0]) / x[1];
    return setting[1] * (1 - x[2] / (1 + away * away));
}
