/* A model of your own: copy this file, change the four places marked (1) to (4), and run

     rejfilt track --simulate --model ./mymodel.c

   As it stands: a qubit is excited, left alone for a time t, and read; it is still excited with
   probability exp(-t / T1). What is T1? docs/models.md says everything else. */
#include "rejfilt/model.h"

/* (1) Texts about the model, for people. */
static const rf_description description = {
    .name = "relaxation",
    .summary = "the lifetime of an excited state",
    .formula = "P(1) = exp(-t / T1)",
    .dim = 1,      /* how many parameters: the unknowns, x[0], x[1], ... */
    .settings = 1, /* how many settings: what the experimenter chooses, setting[0], setting[1], ... */
    .outcomes = 2, /* outcomes are 0, 1, ... outcomes - 1 */

    /* (2) The parameters, in the order of x[]: name, chart, low, high, drift.
       chart     RF_REAL, RF_POSITIVE, RF_BOUNDED (within low..high) or RF_PERIODIC (an angle)
       low..high the uniform prior, unless --prior says otherwise
       drift     standard deviation of its change between two measurements; 0 if it is constant.
                 For RF_POSITIVE it is relative: 0.01 is one percent */
    .parameter = {{"T1", RF_POSITIVE, 10, 50, 0.02}},

    /* (3) The settings, in the order of setting[]: name, role, parameter, whole, low, high.
       role      how an experiment is designed: RF_SETTING_FIXED (always low), RF_SETTING_RANGE,
                 RF_SETTING_LOGRANGE (at random in low..high), RF_SETTING_TIME (1 / standard
                 deviation of the parameter with that number), RF_SETTING_GUESS (a guess of it)
       parameter its number, for the last two; else 0
       whole     1 if the setting is a whole number; else 0 */
    .setting = {{"t", RF_SETTING_RANGE, 0, 0, 5, 50}},

    /* Units, for people to read: of the parameters, and of the settings. They may be left out. */
    .unit = {"µs"},
    .setting_unit = {"µs"},
};

/* (4) The probability of `outcome`. Write rf_real for numbers, RF_C(0.5) for constants with a point,
   rf_exp for exp (and so on: rf_sin, rf_cos, rf_log, rf_sqrt, ...), and `a ? b : c` rather than if.
   The probabilities of all outcomes add up to 1. */
RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real excited = rf_exp(-setting[0] / x[0]);
    return outcome != 0 ? excited : 1 - excited;
}
