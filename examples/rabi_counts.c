/* Rabi oscillations with a detuning, read by n shots: a spin is driven for a time t, and k of n shots find it excited.
   The drive has the strength W, and is off resonance by D. Both are angular frequencies in rad/µs; t is in µs.

     rejfilt track --simulate --model examples/rabi_counts.c */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "rabi_counts",
    .summary = "the strength of a drive and its detuning, from counts of n shots",
    .formula = "k of n with P = W^2/V^2 sin^2(V t / 2), V^2 = W^2 + D^2",
    .dim = 2,
    .settings = 2,
    .outcomes = RF_BINOMIAL(1),
    .parameter = {{"W", RF_BOUNDED, 0.5, 1.5, 0}, {"D", RF_BOUNDED, 0, 1, 0}},
    .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0, 20, 0}, {"n", RF_SETTING_FIXED, 0, 1, 10, 10, 0}},
    .unit = {"rad/µs", "rad/µs"},
    .setting_unit = {"µs"},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    rf_real drive2 = x[0] * x[0], speed2 = drive2 + x[1] * x[1];
    return drive2 / speed2 * rf_sin_squared(RF_C(0.5) * rf_sqrt(speed2) * setting[0]);
}
