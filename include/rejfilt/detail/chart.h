/* Converts chart coordinates to natural values, in every attempt. */
#ifndef REJFILT_CHART_H
#define REJFILT_CHART_H

#include "real.h"

/* A periodic parameter is treated as wrapped while its standard deviation exceeds this share of the
   period (the cut then lies within 3 standard deviations), and is never wider than that share
   (wrapped, it is uniform to 2·exp(−2π²·0.75²) = 3e-5). */
#define RF_WRAP_FROM (RF_C(1.0) / RF_C(6.0))
#define RF_WRAP_WIDEST RF_C(0.75)

RF_FN rf_real RF(natural_positive)(rf_real y) { return RF(exp)(y); }

RF_FN rf_real RF(natural_bounded)(const RF(chart) *chart, rf_real y)
{
    return chart->low + (chart->high - chart->low) * RF(normal_cdf)(y);
}

RF_FN rf_real RF(natural_periodic)(const RF(chart) *chart, rf_real y)
{
    rf_real period = chart->high - chart->low, x = y - period * RF(floor)((y - chart->low) / period);
    return ((x >= chart->low) & (x < chart->high)) ? x : chart->low;
}

RF_FN rf_real RF(natural)(const RF(chart) *chart, rf_real y)
{
    switch (chart->kind) {
    case RF_POSITIVE:
        return RF(natural_positive)(y);
    case RF_BOUNDED:
        return RF(natural_bounded)(chart, y);
    case RF_PERIODIC:
        return RF(natural_periodic)(chart, y);
    case RF_REAL:
    default:
        return y;
    }
}

#endif
