#include "stencil.h"

#include <math.h>
#include <string.h>

/* Lagrange weights halfway between the middle two of ten points. */
static const double halfway[5] = {39690.0 / 65536.0, -8820.0 / 65536.0, 2268.0 / 65536.0, -405.0 / 65536.0,
                                  35.0 / 65536.0};

double rf_stencil_midpoint(const double *p, ptrdiff_t stride)
{
    double sum = 0;
    for (ptrdiff_t k = 0; k < 5; k++)
        sum += halfway[k] * (p[-k * stride] + p[(k + 1) * stride]);
    return sum;
}

double rf_stencil_value(const double *p, double offset)
{
    static const double weight[10] = {-1, 9, -36, 84, -126, 126, -84, 36, -9, 1}; /* barycentric weights */
    double above = 0, below = 0;
    for (int k = 0; k < 10; k++) {
        double distance = offset - (k - 4);
        if (distance == 0)
            return p[k - 4];
        above += weight[k] / distance * p[k - 4];
        below += weight[k] / distance;
    }
    return above / below;
}

double rf_stencil_cell(const double *p)
{
    return (11.0 * (p[-2] + p[3]) - 93.0 * (p[-1] + p[2]) + 802.0 * (p[0] + p[1])) / 1440.0;
}

double rf_stencil_around(const double *p, ptrdiff_t stride)
{
    double sum = 0;
    for (ptrdiff_t k = 0; k < 5; k++)
        sum += halfway[k] * (p[-(2 * k + 1) * stride] + p[(2 * k + 1) * stride]);
    return sum;
}

double rf_stencil_roughness(const double *p, size_t count, ptrdiff_t stride)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        double off = fabs(p[i] - rf_stencil_around(p + i, stride));
        worst = off > worst ? off : worst;
    }
    return worst;
}

/* The mean of a polynomial under N(0, variance) is a weighted sum of its values at 0, ±1, ... ±RF_STENCIL_NARROW. The
   weight at ±k is half the mean of the polynomial in t = x² that is 1 at k² and 0 at the other nodes. */
static void narrow_taps(double variance, double *taps)
{
    double total = 0;
    for (int k = 1; k <= RF_STENCIL_NARROW; k++) {
        double c[RF_STENCIL_NARROW + 1] = {0, 1.0 / (k * k)}, mean = 0, moment = 1; /* coefficients of t^j */
        for (int j = 1; j <= RF_STENCIL_NARROW; j++)
            for (int i = RF_STENCIL_NARROW; j != k && i > 0; i--)
                c[i] = (c[i - 1] - j * j * c[i]) / (k * k - j * j);
        for (int j = 1; j <= RF_STENCIL_NARROW; j++) {
            moment *= (2 * j - 1) * variance;
            mean += c[j] * moment;
        }
        taps[RF_STENCIL_NARROW - k] = taps[RF_STENCIL_NARROW + k] = 0.5 * mean;
        total += mean;
    }
    taps[RF_STENCIL_NARROW] = 1 - total;
}

size_t rf_stencil_taps(double sd, double *taps)
{
    if (sd < RF_STENCIL_SAMPLED) {
        narrow_taps(sd * sd, taps);
        return RF_STENCIL_NARROW;
    }
    size_t reach = (size_t)(RF_STENCIL_TAIL * sd);
    double sum = 0;
    for (size_t k = 0; k <= reach; k++) {
        double z = (double)k / sd, value = exp(-0.5 * z * z);
        taps[reach - k] = taps[reach + k] = value;
        sum += k ? 2 * value : value;
    }
    for (size_t k = 0; k <= 2 * reach; k++)
        taps[k] /= sum;
    return reach;
}

void rf_stencil_blur(const double *p, const double *taps, size_t reach, size_t count, double *out)
{
    for (size_t i = 0; i < count; i += 8) {
        double sum[8] = {0};
        for (size_t k = 0; k <= 2 * reach; k++)
            for (size_t lane = 0; lane < 8; lane++)
                sum[lane] += taps[k] * p[i + k + lane];
        memcpy(out + i, sum, sizeof sum);
    }
}
