/* Signal and background: counts at distance x from the centre of a line of known width. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "background",
    .summary = "counts of a line, and of the background below it",
    .formula = "k ~ Poisson(b + s exp(-x^2 / 2))",
    .dim = 2,
    .settings = 1,
    .outcomes = RF_POISSON,
    .parameter = {{"s", RF_POSITIVE, 10, 500, 0}, {"b", RF_POSITIVE, 5, 200, 0}},
    .setting = {{"x", RF_SETTING_RANGE, 0, 0, -3, 3, 0}},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    return x[1] + x[0] * rf_exp(RF_C(-0.5) * setting[0] * setting[0]);
}
