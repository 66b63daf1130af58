/* A linear combination of the parameters, read with Gaussian noise. The Kalman filter is exact
   here. RF_LINEAR_DIM parameters; the settings are the weights h, then the noise s. */
#include "rejfilt/model.h"

#ifndef RF_LINEAR_DIM
#define RF_LINEAR_DIM 2
#endif

static const rf_description description = {
    .name = "linear",
    .summary = "a weighted sum of parameters, seen through Gaussian noise",
    .formula = "y ~ N(h1 x1 + h2 x2, s^2)",
    .dim = RF_LINEAR_DIM,
    .settings = RF_LINEAR_DIM + 1,
    .outcomes = 0,
    .is_log = 1,
#if RF_LINEAR_DIM == 2
    .parameter = {{"x1", RF_REAL, -1.5, 1.5, 0.1}, {"x2", RF_REAL, -1.5, 1.5, 0.1}},
    .setting = {{"h1", RF_SETTING_RANGE, 0, 0, -1, 1, 0}, {"h2", RF_SETTING_RANGE, 0, 0, -1, 1, 0}, {"s", RF_SETTING_FIXED, 0, 0, 0.5, 0.5, 0}},
#endif
};

#define RF_HAS_BOUND
RF_FN rf_real bound(const rf_real setting[], rf_real outcome)
{
    (void)outcome;
    return -rf_log(setting[RF_LINEAR_DIM] * RF_C(2.5066282746310002));
}

/* h·x, in four independent sums. */
RF_FN rf_real predicted(const rf_real x[], const rf_real h[])
{
    rf_real a = 0, b = 0, c = 0, d = 0;
    int i = 0;
    RF_UNROLL_ALL
    for (; i + 4 <= RF_LINEAR_DIM; i += 4) {
        a += h[i] * x[i];
        b += h[i + 1] * x[i + 1];
        c += h[i + 2] * x[i + 2];
        d += h[i + 3] * x[i + 3];
    }
    for (; i < RF_LINEAR_DIM; i++)
        a += h[i] * x[i];
    return (a + b) + (c + d);
}

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real r = (outcome - predicted(x, setting)) / setting[RF_LINEAR_DIM];
    return RF_C(-0.5) * r * r + bound(setting, outcome);
}

#define RF_HAS_SIMULATE
RF_FN rf_real simulate(const rf_real x[], const rf_real setting[], rf_real normal)
{
    return predicted(x, setting) + setting[RF_LINEAR_DIM] * normal;
}
