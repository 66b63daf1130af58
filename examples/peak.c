/* Readings with Gaussian noise: where is a peak? A signal is read at x, and has a Lorentzian peak of known half width w
   somewhere, of unknown height above an unknown background. This is the first demonstration of NIST's optbayesexpt,
   with its numbers.

     rejfilt track --simulate --model examples/peak.c

   With .outcomes = RF_GAUSSIAN(2) outcomes are real numbers with the standard deviation of setting number 2, here
   noise. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "peak",
    .summary = "the place of a Lorentzian peak, its height and its background",
    .formula = "y ~ N(b + a / (1 + ((x - x0) / w)^2), noise^2)",
    .dim = 3,
    .settings = 3,
    .outcomes = RF_GAUSSIAN(2),
    .parameter = {{"x0", RF_BOUNDED, 2, 4, 0}, {"a", RF_BOUNDED, -2000, -400, 0}, {"b", RF_REAL, 48000, 52000, 0}},
    .setting = {{"x", RF_SETTING_RANGE, 0, 0, 1.5, 4.5, 0},
                {"w", RF_SETTING_FIXED, 0, 0, 0.1, 0.1, 0},
                {"noise", RF_SETTING_FIXED, 0, 0, 500, 500, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    rf_real away = (setting[0] - x[0]) / setting[1];
    return x[2] + x[1] / (1 + away * away);
}
