/* From charts to natural units: means and standard deviations of the distribution there, not the transformed mean. */
#include "rejfilt/detail/chart.h"

#include "common.h"

#include <math.h>

#define TURN 6.283185307179586

/* e^x − 1 for x >= 0. */
static double exp_less_one(double x)
{
    double sum = 1;
    if (x > 0.5)
        return rf64_exp(x) - 1;
    for (unsigned k = 14; k > 1; k--)
        sum = 1 + sum * x / k;
    return x * sum;
}

/* The variance of Φ(Y) for a Gaussian Y of mean m and variance v. Y plus a standard normal, drawn twice with the same
   Y, has correlation v / (1 + v); Plackett's integral over that correlation has no cancellation. Gauss-Legendre
   quadrature; a = m / sqrt(1 + v). */
static double bounded_variance(double a, double v)
{
    static const double node[] = {0.9602898564975362, 0.7966664774136267, 0.525532409916329, 0.18343464249564978},
                        weight[] = {0.1012285362903768, 0.22238103445337434, 0.31370664587788727, 0.36268378337836193};
    const double end = v / (1 + v + rf64_sqrt(1 + 2 * v)); /* tan of half the arcsine of the correlation */
    double sum = 0;
    for (unsigned k = 0; k < 8; k++) {
        const double u = 0.5 * end * (1 + (k % 2 ? node[k / 2] : -node[k / 2])), square = 1 + u * u;
        sum += weight[k / 2] * rf64_exp(-a * a * square / ((1 + u) * (1 + u))) / square;
    }
    return sum * end / TURN;
}

/* Natural mean and variance of N(y, v) in a chart that is not periodic. */
static void of_gaussian(const rf64_chart *chart, double y, double v, double *mean, double *variance)
{
    *mean = y;
    *variance = v;
    if (chart->kind == RF_POSITIVE) {
        *mean = rf64_exp(y + 0.5 * v);
        *variance = *mean * *mean * exp_less_one(v);
    } else if (chart->kind == RF_BOUNDED) {
        const double range = chart->high - chart->low, a = y / rf64_sqrt(1 + v);
        *mean = chart->low + range * rf64_normal_cdf(a);
        *variance = range * range * bounded_variance(a, v);
    }
}

static double variance_of(const rf_marginal *parts, size_t k) { return parts->sd ? parts->sd[k] * parts->sd[k] : 0; }

static double place_of(const rf_marginal *parts, size_t k)
{
    return parts->at ? parts->at[k] : parts->first + parts->step * (double)k;
}

/* atan2(s, c), for a point other than the origin. Built on the project's own functions: a GPU's atan2 differs from a
   CPU's in the last digits. */
static double angle_of(double s, double c)
{
    const double a = rf64_abs(s), b = rf64_abs(c), r = rf64_sqrt(s * s + c * c),
                 q = r > 0 ? rf64_min(a, b) / rf64_max(a, b) : 0;
    double angle = q * (TURN / 8 + 0.273 * (1 - q)); /* error at most 0.004 */
    angle = a > b ? TURN / 4 - angle : angle;
    angle = c < 0 ? TURN / 2 - angle : angle;
    angle = s < 0 ? -angle : angle;
    for (unsigned k = 0; k < 2 && r > 0; k++) /* each step triples the number of correct digits */
        angle += (s * rf64_cos(angle) - c * rf64_sin(angle)) / r;
    return angle;
}

/* Circular mean, and standard deviation sqrt(-2 ln R), with R the length of the mean vector. Computes 1 - R without
   cancellation. */
static void on_circle(const rf64_chart *chart, const rf_marginal *parts, double *mean, double *sd)
{
    const double period = chart->high - chart->low, turn = TURN / period, about = *mean;
    double total = 0, s = 0, c = 0, less = 0;
    for (size_t k = 0; k < parts->count; k++) {
        const double angle = turn * (place_of(parts, k) - about),
                     w = parts->weight[k] * rf64_exp(-0.5 * turn * turn * variance_of(parts, k));
        total += parts->weight[k];
        s += w * rf64_sin(angle);
        c += w * rf64_cos(angle);
    }
    const double to = angle_of(s, c) / turn;
    for (size_t k = 0; k < parts->count; k++) {
        const double half = rf64_sin(0.5 * turn * (place_of(parts, k) - about - to)),
                     v = turn * turn * variance_of(parts, k);
        less += parts->weight[k] / total * (-expm1(-0.5 * v) + rf64_exp(-0.5 * v) * 2 * half * half);
    }
    *mean = about + to;
    *sd = less < 1 ? rf64_min(sqrt(-2 * log1p(-less)) / turn, RF_WRAP_WIDEST * period) : RF_WRAP_WIDEST * period;
}

void rf_marginal_natural(const rf64_chart *chart, const rf_marginal *parts, double *mean, double *sd)
{
    double total = 0, first = 0, sum = 0, squares = 0, m, v;
    if (chart->kind == RF_PERIODIC) {
        on_circle(chart, parts, mean, sd);
        return;
    }
    for (size_t k = 0; k < parts->count; k++) { /* relative to the first, so that close values lose no digits */
        of_gaussian(chart, place_of(parts, k), variance_of(parts, k), &m, &v);
        if (parts->weight[k] > 0 && !rf64_is_finite(m)) {
            *mean = *sd = HUGE_VAL;
            return;
        }
        first = k == 0 ? m : first;
        total += parts->weight[k];
        sum += parts->weight[k] * (m - first);
    }
    *mean = first + sum / total;
    for (size_t k = 0; k < parts->count; k++) {
        of_gaussian(chart, place_of(parts, k), variance_of(parts, k), &m, &v);
        squares += parts->weight[k] / total * (v + (m - *mean) * (m - *mean));
    }
    *sd = rf64_sqrt(squares);
}

void rf_gaussian_natural(const rf64_chart *chart, double *mean, double *sd)
{
    double m, v;
    if (chart->kind == RF_PERIODIC) { /* a wrapped Gaussian already has this circular mean and standard deviation */
        *mean = rf64_chart_natural(chart, *mean);
        return;
    }
    of_gaussian(chart, *mean, *sd * *sd, &m, &v);
    *mean = m;
    *sd = rf64_sqrt(v);
}

/* Do tails reach beyond the range of a parameter with this mean and standard deviation in the chart? */
static int is_beyond(const rf_belief *belief, unsigned i, double mean, double sd)
{
    const double low = belief->problem->low[i], high = belief->problem->high[i], tail = 1e-4;
    return rf_problem_has_range(belief->problem, i) && (mean - 4 * sd < low || mean + 4 * sd > high) &&
           (rf_kind_of(belief)->quantile(belief, i, tail) < low || rf_kind_of(belief)->quantile(belief, i, 1 - tail) > high);
}

/* The moments of draws: tails beyond the range are at its ends. */
static RF_APART void of_limited(const rf_belief *belief, unsigned i, double *mean, double *sd)
{
    enum { NODES = 48 };
    double sum = 0, square = 0;
    for (unsigned k = 0; k < NODES; k++) {
        const double y = rf_kind_of(belief)->quantile(belief, i, (k + 0.5) / NODES);
        const double x = rf_problem_limited(belief->problem, i, rf64_chart_natural(&belief->problem->charts[i], y));
        sum += x / NODES;
        square += x * x / NODES;
    }
    *mean = rf_problem_limited(belief->problem, i, sum);
    *sd = rf64_sqrt(rf64_max(square - sum * sum, 0));
}

/* What is beyond the limit, or a difference of such, is infinite. */
static double limited(double value) { return value < -RF64_LIMIT ? -HUGE_VAL : value <= RF64_LIMIT ? value : HUGE_VAL; }

void rf_belief_natural(const rf_belief *belief, unsigned parameter, double *mean, double *sd)
{
    const rf64_chart *chart = &belief->problem->charts[parameter];
    if (is_beyond(belief, parameter, *mean, *sd)) {
        of_limited(belief, parameter, mean, sd);
        *sd = rf64_max(*sd, RF64_TINY);
        return;
    }
    if (rf_kind_of(belief)->natural)
        rf_kind_of(belief)->natural(belief, parameter, mean, sd);
    else if (chart->kind == RF_POSITIVE || chart->kind == RF_BOUNDED)
        rf_gaussian_natural(chart, mean, sd);
    *mean = rf_problem_limited(belief->problem, parameter, limited(*mean));
    *sd = limited(rf64_abs(*sd) < RF64_TINY ? RF64_TINY : *sd);
}
