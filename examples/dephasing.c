/* A spin that precesses and dephases with a known T2: designers see the fringe fade and do not choose longer times.

       rejfilt track --simulate --model examples/dephasing.c --range T2=500:500 */
#include <rejfilt/model.h>

static const rf_description description = {
    .name = "dephasing",
    .summary = "a precession frequency with a known coherence time",
    .formula = "P(1) = (1 + exp(-t/T2) cos((x - x_) t)) / 2",
    .dim = 1,
    .settings = 3,
    .outcomes = 2,
    .fringe = 6.283185307179586,
    .parameter = {{"x", RF_REAL, 0, 1.5707963267948966, 0}},
    .setting = {{"t", RF_SETTING_TIME, 0, 0, 0, RF_TIME_MAX, 0}, {"x_", RF_SETTING_GUESS, 0, 0, 0, 0, 0}, {"T2", RF_SETTING_FIXED, 0, 0, 1000, 1000, 0}},
    .unit = {"rad/µs"},
    .setting_unit = {"µs", "rad/µs", "µs"},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real half = RF_C(0.5) * rf_exp(-setting[0] / setting[2]) * rf_cos((x[0] - setting[1]) * setting[0]);
    return outcome != 0 ? RF_C(0.5) + half : RF_C(0.5) - half;
}
