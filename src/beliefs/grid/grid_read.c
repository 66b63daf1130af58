/* Reads a grid: mean and variance on a line and on a circle, probabilities, quantiles, density. */
#include "grid_state.h"
#include "stencil.h"

/* θ² for θ in -π..π as a Fourier series up to `order`: sums of it with a density that is resolved on the circle are
   exact, in spite of its edge at ±π. */
static double square_on_circle(double theta, size_t order)
{
    const double c = 2 * cos(theta);
    double b = 0, next = 0; /* Clenshaw's recurrence */
    for (size_t k = order; k > 0; k--) {
        double now = (k % 2 ? -4.0 : 4.0) / ((double)k * (double)k) + c * b - next;
        next = b;
        b = now;
    }
    return PI * PI / 3 + 0.5 * c * b - next;
}

/* Fractional index of the mean. Unless null, *variance in steps², which takes n² operations on a circle. *begin: index
   where the circle is cut. */
static double centre(const rf_grid *g, double *variance, double *begin)
{
    const double mass = sum(p_of(g), g->n), turn = 2 * PI / (double)g->n;
    double mean = 0, spread = 0, s = 0, c = 0;
    *begin = 0;
    if (g->is_full) {
        for (size_t i = 0; i < g->n; i++) {
            s += p_of(g)[i] * sin(turn * (double)i);
            c += p_of(g)[i] * cos(turn * (double)i);
        }
        mean = atan2(s, c) / turn;
        *begin = mean - 0.5 * (double)g->n;
        for (size_t i = 0; i < g->n && variance; i++)
            spread += p_of(g)[i] * square_on_circle(turn * ((double)i - mean), g->n / 4);
        if (variance)
            *variance = spread / mass / (turn * turn);
        return mean;
    }
    for (size_t i = 0; i < g->n; i++)
        mean += p_of(g)[i] * (double)i;
    mean /= mass;
    for (size_t i = 0; i < g->n && variance; i++)
        spread += p_of(g)[i] * ((double)i - mean) * ((double)i - mean);
    if (variance)
        *variance = spread / mass;
    return mean;
}

/* The whole periods to add to y to bring it into the chart's range. */
static double turns_home(const rf_grid *g, double y)
{
    return is_periodic(g) ? -period(g) * floor((y - g->chart.low) / period(g)) : 0;
}

void rf_grid_moments(const rf_grid *g, double *mean, double *variance)
{
    double begin, steps, i = centre(g, &steps, &begin);
    *mean = place(g, i) + turns_home(g, place(g, i));
    *variance = steps * g->step * g->step;
}

rf_marginal rf_grid_marginal(const rf_grid *g)
{
    const rf_marginal parts = {g->n, p_of(g), NULL, NULL, place(g, 0), g->step};
    return parts;
}

double rf_grid_mean(const rf_grid *g)
{
    double mean, variance;
    rf_grid_moments(g, &mean, &variance);
    return mean;
}

double rf_grid_variance(const rf_grid *g)
{
    double mean, variance;
    rf_grid_moments(g, &mean, &variance);
    return variance;
}

/* p[i]; beyond the ends that of the circle, or 0. */
static double at(const rf_grid *g, ptrdiff_t i)
{
    const ptrdiff_t n = (ptrdiff_t)g->n;
    if (g->is_full)
        return p_of(g)[((i % n) + n) % n];
    return i >= 0 && i < n ? p_of(g)[i] : 0;
}

/* The density at index i + offset; 0 <= offset <= 1. */
static double between(const rf_grid *g, ptrdiff_t i, double offset)
{
    double near[10];
    for (ptrdiff_t k = 0; k < 10; k++)
        near[k] = at(g, i + k - 4);
    return rf64_max(rf_stencil_value(near + 4, offset), 0);
}

/* Mass in the first `offset` of cell i, in units of one step at density 1: three-point Gauss quadrature. */
static double part(const rf_grid *g, ptrdiff_t i, double offset)
{
    const double r = 0.3872983346207417 * offset;
    return offset / 18 *
           (5 * between(g, i, 0.5 * offset - r) + 8 * between(g, i, 0.5 * offset) +
            5 * between(g, i, 0.5 * offset + r));
}

static double cell(const rf_grid *g, ptrdiff_t i)
{
    double near[6];
    for (ptrdiff_t k = 0; k < 6; k++)
        near[k] = at(g, i + k - 2);
    return rf64_max(rf_stencil_cell(near + 2), 0);
}

/* The range of cells with mass: *first up to the result. A circle is cut at index `begin`, inside its first cell. */
static ptrdiff_t cells(const rf_grid *g, double begin, ptrdiff_t *first)
{
    *first = g->is_full ? (ptrdiff_t)floor(begin) : -2;
    return *first + (ptrdiff_t)g->n + (g->is_full ? 1 : 4);
}

double rf_grid_below(const rf_grid *g, double y)
{
    double begin, mean = centre(g, NULL, &begin), to = (y - g->base) / g->step - (double)g->first;
    if (is_periodic(g))
        to -= (double)circle(g) * floor((to - mean) / (double)circle(g) + 0.5);
    ptrdiff_t i, end = cells(g, begin, &i);
    double mass = g->is_full ? -part(g, i, begin - (double)i) : 0;
    for (; i < end && (double)(i + 1) <= to; i++)
        mass += cell(g, i);
    mass += i < end && (double)i < to ? part(g, i, to - (double)i) : 0;
    return fmin(rf64_max(mass / sum(p_of(g), g->n), 0), 1);
}

double rf_grid_quantile(const rf_grid *g, double p)
{
    double begin, mean = centre(g, NULL, &begin);
    ptrdiff_t i, end = cells(g, begin, &i);
    double left = p * sum(p_of(g), g->n) + (g->is_full ? part(g, i, begin - (double)i) : 0);
    for (double mass; i < end && left > (mass = cell(g, i)); i++)
        left -= mass;
    double low = 0, high = 1;
    for (int k = 0; k < 50; k++) {
        double middle = 0.5 * (low + high);
        if (part(g, i, middle) < left)
            low = middle;
        else
            high = middle;
    }
    return place(g, (double)i + low) + turns_home(g, place(g, mean));
}

double rf_grid_density(const rf_grid *g, double y)
{
    double i = (y - g->base) / g->step - (double)g->first;
    if (is_periodic(g))
        i -= (double)circle(g) * floor(i / (double)circle(g));
    double whole = floor(i);
    if (!(whole >= -1 && whole <= (double)g->n))
        return 0;
    return between(g, (ptrdiff_t)whole, i - whole);
}

double rf_grid_log_evidence(const rf_grid *g) { return g->log_evidence; }
uint32_t rf_grid_points(const rf_grid *g) { return (uint32_t)g->n; }
double rf_grid_dropped(const rf_grid *g) { return g->dropped; }
uint32_t rf_grid_unresolved(const rf_grid *g) { return g->unresolved; }
