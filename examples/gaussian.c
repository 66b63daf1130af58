/* A real-valued outcome: the voltage of a capacitor that discharges, read once per discharge at a
   time t through noise of known standard deviation. The leak rate g drifts, and a little so does the
   voltage A that it is charged to.

     rejfilt track --simulate --model examples/gaussian.c

   With .outcomes = 0 the outcome is a real number. Its likelihood is a density, here as a logarithm
   (.is_log = 1): far from the peak the density itself would be too small for a float. This file shows all that a
   density of your own needs. For Gaussian noise there is a shorter way: see peak.c. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "discharge",
    .summary = "a leak rate and a voltage from noisy readings of discharges",
    .formula = "y ~ N(A exp(-g t), noise^2)",
    .dim = 2,
    .settings = 2,
    .outcomes = 0,
    .is_log = 1,
    .parameter = {{"g", RF_POSITIVE, 0.2, 0.6, 0.02}, {"A", RF_REAL, 0.8, 1.2, 0.005}},
    .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0, 8}, {"noise", RF_SETTING_FIXED, 0, 0, 0.05, 0.05}},
};

RF_FN rf_real voltage(const rf_real x[], const rf_real setting[]) { return x[1] * rf_exp(-x[0] * setting[0]); }

/* The largest value that the likelihood function can return for any x: that of a perfect reading. A probability is
   at most 1 and needs no bound. A density needs one, because attempts are accepted with probability likelihood /
   bound. */
#define RF_HAS_BOUND
RF_FN rf_real bound(const rf_real setting[], rf_real outcome)
{
    (void)outcome;
    return -rf_log(setting[1] * RF_C(2.5066282746310002)); /* sqrt(2 pi) */
}

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real error = (outcome - voltage(x, setting)) / setting[1];
    return RF_C(-0.5) * error * error + bound(setting, outcome);
}

/* A random reading for known x, from a standard normal number: used by --simulate. */
#define RF_HAS_SIMULATE
RF_FN rf_real simulate(const rf_real x[], const rf_real setting[], rf_real normal)
{
    return voltage(x, setting) + setting[1] * normal;
}
