/* A fringe with five unknowns: frequency, decay, amplitude, offset and phase, from counts. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "fringe",
    .summary = "frequency, decay time, amplitude, offset and phase of a fringe, n shots at a time",
    .formula = "k ~ Binomial(n, o + a exp(-t/T) cos(w t + f))",
    .dim = 5,
    .settings = 2,
    .outcomes = RF_BINOMIAL(1),
    .parameter = {{"w", RF_POSITIVE, 0.5, 5, 0},
                  {"T", RF_POSITIVE, 2, 40, 0},
                  {"a", RF_BOUNDED, 0.1, 0.4, 0},
                  {"o", RF_BOUNDED, 0.4, 0.6, 0},
                  {"f", RF_BOUNDED, -1, 1, 0}},
    .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0, 20, 0}, {"n", RF_SETTING_FIXED, 0, 0, 100, 100, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    return x[3] + x[2] * rf_exp(-setting[0] / x[1]) * rf_cos(x[0] * setting[0] + x[4]);
}
