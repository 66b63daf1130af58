/* A psychometric curve: is a stimulus of strength s seen? Guesses are right with probability 1/2; one answer in 25
   is a slip. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "psychometric",
    .summary = "threshold and width of a psychometric curve",
    .formula = "P(1) = 0.5 + 0.48 / (1 + exp((m - s) / w))",
    .dim = 2,
    .settings = 1,
    .outcomes = 2,
    .parameter = {{"m", RF_REAL, -2, 2, 0}, {"w", RF_POSITIVE, 0.05, 1, 0}},
    .setting = {{"s", RF_SETTING_RANGE, 0, 0, -3, 3, 0}},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real seen = RF_C(0.5) + RF_C(0.48) / (1 + rf_exp(rf_min((x[0] - setting[0]) / x[1], RF_C(80.0))));
    return outcome != 0 ? seen : 1 - seen;
}
