/* From chart coordinates to natural values: what every attempt does. */

/* A periodic parameter is treated as wrapped while its standard deviation exceeds this share of the
   period (the cut then lies within 3 standard deviations), and is never wider than that share
   (wrapped, it is uniform to 2·exp(−2π²·0.75²) = 3e-5). */
#define RF_WRAP_FROM (RF_C(1.0) / RF_C(6.0))
#define RF_WRAP_WIDEST RF_C(0.75)

RF_FN rf_real RF(natural)(const RF(chart) *chart, rf_real y)
{
    switch (chart->kind) {
    case RF_POSITIVE:
        return RF(exp)(y);
    case RF_BOUNDED:
        return chart->low + (chart->high - chart->low) * RF(normal_cdf)(y);
    case RF_PERIODIC: {
        rf_real period = chart->high - chart->low;
        rf_real x = y - period * RF(floor)((y - chart->low) / period);
        return x >= chart->low && x < chart->high ? x : chart->low;
    }
    case RF_REAL:
    default:
        return y;
    }
}
