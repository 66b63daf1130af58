/* A coin: the simplest model, and a null hypothesis for the others. */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "coin",
    .summary = "a constant probability of outcome 1",
    .formula = "P(1) = p",
    .dim = 1,
    .settings = 0,
    .outcomes = 2,
    .parameter = {{"p", RF_BOUNDED, 0, 1, 0}},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    (void)setting;
    return outcome != 0 ? x[0] : 1 - x[0];
}
