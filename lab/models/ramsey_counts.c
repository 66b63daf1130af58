/* Ramsey fringes in groups of SHOTS shots: the outcome is the number of shots that gave 1. The bound is the
   likelihood of a count at its best fringe probability. It is tight, unlike the bound 1 of the product of single
   shots. */
#include "rejfilt/model.h"

#define SHOTS 20

static const rf_description description = {
    .name = "ramsey-counts",
    .summary = "a frequency and its decay rate 1/T2 from counts of 20 shots; times up to the shortest T2",
    .formula = "k ~ Binomial(20, (1 + contrast exp(-g t) cos((w - w_) t)) / 2)",
    .dim = 2,
    .settings = 3,
    .outcomes = SHOTS + 1,
    .fringe = 6.283185307179586,
    .parameter = {{"w", RF_REAL, 0, 1, 0}, {"g", RF_POSITIVE, 0.005, 0.05, 0}},
    .setting = {{"t", RF_SETTING_TIME, 0, 0, 0, 20, 0},
                {"w_", RF_SETTING_GUESS, 0, 0, 0, 0, 0},
                {"contrast", RF_SETTING_FIXED, 0, 0, 0.95, 0.95, 0}},
};

/* C(SHOTS, k) p^k (1 − p)^(SHOTS − k) */
RF_FN rf_real binomial(rf_real p, rf_real k)
{
    rf_real value = 1;
    for (int i = 0; i < SHOTS; i++) {
        rf_real ones = (rf_real)i < k ? p : 1 - p;
        value *= (rf_real)i < k ? ones * ((rf_real)(SHOTS - i) / (rf_real)(i + 1)) : ones;
    }
    return value;
}

#define RF_HAS_BOUND
RF_FN rf_real bound(const rf_real setting[], rf_real outcome)
{
    (void)setting;
    return binomial(outcome / SHOTS, outcome);
}

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real half = RF_C(0.5) * setting[2] * rf_exp(-x[1] * setting[0]) * rf_cos((x[0] - setting[1]) * setting[0]);
    return binomial(RF_C(0.5) + half, outcome);
}
