/* The lifetime T1 of a spin, from photon counts: the bright state gives `bright` photons on average, the dark one
   `dark`, and after a time t the bright state is left with probability exp(-t / T1). t and T1 are in µs.

     rejfilt track --simulate --model examples/t1_counts.c */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "t1_counts",
    .summary = "the lifetime of a bright state, from photon counts",
    .formula = "k ~ Poisson(dark + (bright - dark) exp(-t / T1))",
    .dim = 1,
    .settings = 3,
    .outcomes = RF_POISSON,
    .parameter = {{"T1", RF_POSITIVE, 20, 200, 0}},
    .setting = {{"t", RF_SETTING_LOGRANGE, 0, 0, 1, 1000, 0},
                {"bright", RF_SETTING_FIXED, 0, 0, 5, 5, 0},
                {"dark", RF_SETTING_FIXED, 0, 0, 1, 1, 0}},
    .unit = {"µs"},
    .setting_unit = {"µs"},
};

#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[])
{
    return setting[2] + (setting[1] - setting[2]) * rf_exp(-setting[0] / x[0]);
}
