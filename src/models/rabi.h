/* Rabi oscillations of a driven spin with unknown strength of the drive (W) and resonance (r), which both drift. The
   spin starts in 0, is driven for a time t at frequency f, and is read. Frequencies are angular, in rad/us, r and f
   relative to a nominal resonance; t is in us. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "rabi",
    .summary = "the strength of a drive and the resonance it drives, both drifting",
    .formula = "P(1) = W^2/V^2 sin^2(V t / 2), V^2 = W^2 + (r - f)^2",
    .dim = 2,
    .settings = 2,
    .outcomes = 2,
    .parameter = {{"W", RF_REAL, 0.8, 1.2, 0.002}, {"r", RF_REAL, -0.3, 0.3, 0.002}},
    /* The time adapts to r's uncertainty. On resonance P hardly depends on r, so f is drawn from a range around it. */
    .setting = {{"t", RF_SETTING_TIME, 1, 0, 0, 100, 0}, {"f", RF_SETTING_RANGE, 0, 0, -1, 1, 0}},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real detuning = x[1] - setting[1];
    rf_real drive2 = x[0] * x[0];
    rf_real speed2 = rf_max(drive2 + detuning * detuning, RF_C(1e-12)); /* W = 0 on resonance must not divide by 0 */
    rf_real turned = rf_sin_squared(rf_sqrt(speed2) * (RF_C(0.5) * setting[0]));
    rf_real excited = rf_min(drive2 / speed2 * turned, 1);
    return outcome != 0 ? excited : 1 - excited;
}
