/* An excited state that relaxes: the chance that it is still there after a wait t. A defect that comes into resonance makes T1
   fall to a third for a while, and --drift says so:

       rejfilt track --simulate --model examples/relaxation.c --belief mixture --drift T1=30:10~100 */
#include <rejfilt/model.h>

static const rf_description description = {
    .name = "relaxation",
    .summary = "the lifetime of an excited state, from whether it is there after a chosen wait",
    .formula = "P(1) = exp(-t/T1)",
    .dim = 1,
    .settings = 1,
    .outcomes = 2,
    .parameter = {{"T1", RF_POSITIVE, 1, 100, 0}},
    .setting = {{"t", RF_SETTING_LOGRANGE, 0, 0, 0.3, 300, 0}},
    .unit = {"µs"},
    .setting_unit = {"µs"},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real there = rf_exp(-setting[0] / x[0]);
    return outcome != 0 ? there : 1 - there;
}
