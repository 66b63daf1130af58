#include "smc.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rejfilt/detail/draws.h"

#include "bytes.h"

enum { ELEMENTS = 16, NORMALS = 4 * ELEMENTS }; /* random elements per call, and the normals made from them */

struct rf_smc {
    rf64_model model; /* without charts; those are below */
    int failed;       /* the block function failed during this update */
    rf64_chart charts[RF_SMC_DIM_MAX];
    unsigned dim, settings, interchangeable;
    int is_log;
    uint32_t n, event, resamplings;
    uint64_t seed;
    rf_smc_options options;
    double log_evidence, effective;
    size_t stride;  /* n rounded up to a multiple of NORMALS */
    int is_swapped; /* the two coordinate buffers are swapped */
    double memory[];
};

/* The memory's layout. Without pointers, so that a copy of the bytes is a copy of the particles. */
static double *set_of(const rf_smc *s, int which) { return (double *)s->memory + (which ? s->dim * s->stride : 0); }
static double *y_of(const rf_smc *s)
{
    return set_of(s, s->is_swapped);
} /* coordinates: parameter d of particle i is y[d * stride + i] */
static double *new_of(const rf_smc *s) { return set_of(s, !s->is_swapped); }       /* the other buffer */
static double *x_of(const rf_smc *s) { return set_of(s, 1) + s->dim * s->stride; } /* natural values: x[i * dim + d] */
static double *weight_of(const rf_smc *s) { return x_of(s) + s->dim * s->stride; } /* their sum is 1 */
static double *value_of(const rf_smc *s) { return weight_of(s) + s->stride; } /* scratch: n numbers */

static double period(const rf_smc *s, unsigned d)
{
    return s->charts[d].kind == RF_PERIODIC ? s->charts[d].high - s->charts[d].low : 0;
}

/* Reduces a deviation to within half a period of 0, if there is a period. */
static double wrapped(double deviation, double period)
{
    return period > 0 ? deviation - period * floor(deviation / period + 0.5) : deviation;
}

/* Sorts interchangeable parameters in ascending order, in every particle. */
static void sort(rf_smc *s)
{
    double *y = y_of(s);
    for (unsigned d = 1; d < s->interchangeable; d++)
        for (uint32_t i = 0; i < s->n; i++)
            for (unsigned e = d; e > 0 && y[(e - 1) * s->stride + i] > y[e * s->stride + i]; e--) {
                const double higher = y[(e - 1) * s->stride + i];
                y[(e - 1) * s->stride + i] = y[e * s->stride + i];
                y[e * s->stride + i] = higher;
            }
}

static void to_natural(rf_smc *s)
{
    sort(s);
    for (unsigned d = 0; d < s->dim; d++)
        for (uint32_t i = 0; i < s->n; i++) {
            double y = y_of(s)[d * s->stride + i];
            x_of(s)[(size_t)i * s->dim + d] = s->charts[d].kind == RF_REAL ? y : rf64_chart_natural(&s->charts[d], y);
        }
}

/* z[0..stride) ← standard normals of parameter d, for this event. */
static void draw_normals(const rf_smc *s, unsigned d, uint32_t purpose, double *z)
{
    for (size_t i = 0; i < s->stride; i += NORMALS) {
        uint32_t w[NORMALS];
        rf_draw_many(s->seed, s->event, (uint32_t)(i / 4), d, purpose, ELEMENTS, w);
        for (unsigned k = 0; k < ELEMENTS; k++) {
            rf64_normal_pair(w[k], w[ELEMENTS + k], &z[i + k], &z[i + ELEMENTS + k]);
            rf64_normal_pair(w[2 * ELEMENTS + k], w[3 * ELEMENTS + k], &z[i + 2 * ELEMENTS + k],
                             &z[i + 3 * ELEMENTS + k]);
        }
    }
}

/* Uniform in [0, 1). */
static double uniform(rf_words w) { return ((double)(w.word[0] >> 5) * 0x1p26 + (double)(w.word[1] >> 6)) * 0x1p-53; }

size_t rf_smc_bytes(unsigned dim, uint32_t particles)
{
    const size_t stride = ((size_t)particles + NORMALS - 1) / NORMALS * NORMALS;
    return sizeof(rf_smc) + (3 * (size_t)dim + 2) * stride * sizeof(double);
}

int rf_smc_init(rf_smc *s, const rf64_model *model, uint32_t particles, uint64_t seed, const rf_smc_options *options)
{
    const rf_smc_options o = options ? *options : RF_SMC_OPTIONS_DEFAULT;
    if (!(o.shrink >= 0 && o.shrink <= 1 && o.threshold >= 0 && o.threshold <= 1))
        return -1;
    memset(s, 0, rf_smc_bytes(model->dim, particles));
    s->model = *model;
    s->model.charts = NULL;
    s->dim = model->dim;
    s->settings = model->settings;
    s->is_log = model->is_log != 0;
    for (unsigned d = 0; model->charts && d < s->dim; d++)
        s->charts[d] = model->charts[d];
    s->n = particles;
    s->seed = seed;
    s->options = o;
    s->stride = ((size_t)particles + NORMALS - 1) / NORMALS * NORMALS;
    to_natural(s);
    for (uint32_t i = 0; i < particles; i++)
        weight_of(s)[i] = 1.0 / particles;
    s->effective = particles;
    return 0;
}

rf_smc *rf_smc_create(const rf64_model *model, uint32_t particles, uint64_t seed, const rf_smc_options *options)
{
    if (!model || !(model->likelihood || model->block) || model->dim < 1 || model->dim > RF_SMC_DIM_MAX ||
        particles < 2 || particles > RF_SMC_PARTICLES_MAX)
        return NULL;
    rf_smc *s = malloc(rf_smc_bytes(model->dim, particles));
    if (s && rf_smc_init(s, model, particles, seed, options) == 0)
        return s;
    free(s);
    return NULL;
}

void rf_smc_free(rf_smc *s) { free(s); }

void rf_smc_interchangeable(rf_smc *s, unsigned count) { s->interchangeable = count; }

void rf_smc_put(rf_smc *s, uint32_t i, const double y[])
{
    for (unsigned d = 0; d < s->dim; d++)
        y_of(s)[d * s->stride + i] = y[d];
}

void rf_smc_begin(rf_smc *s, uint32_t event)
{
    s->event = event;
    s->log_evidence = 0;
    s->resamplings = 0;
    s->effective = s->n;
    for (uint32_t i = 0; i < s->n; i++)
        weight_of(s)[i] = 1.0 / s->n;
    to_natural(s);
}

static void draw_gaussian(rf_smc *s, unsigned d, double mean, double sd)
{
    double *y = y_of(s) + d * s->stride;
    draw_normals(s, d, RF_SMC_FOR_PRIOR, y);
    for (uint32_t i = 0; i < s->n; i++)
        y[i] = mean + sd * y[i];
}

static int is_box(const rf64_chart *c, double low, double high)
{
    return isfinite(low) && isfinite(high) && low < high && !(c->kind == RF_POSITIVE && low < 0) &&
           !(c->kind == RF_BOUNDED && (low < c->low || high > c->high));
}

static void draw_box(rf_smc *s, unsigned d, double low, double high)
{
    for (uint32_t i = 0; i < s->n; i++) { /* never exactly an end, which may be infinite in the chart */
        double u = uniform(rf_draw(s->seed, s->event, i, d, RF_SMC_FOR_PRIOR)) + 0x1p-54;
        y_of(s)[d * s->stride + i] = rf64_chart_coordinate(&s->charts[d], low + (high - low) * u);
    }
}

int rf_smc_prior_gaussian(rf_smc *s, const double mean[], const double sd[])
{
    for (unsigned d = 0; d < s->dim; d++)
        if (!isfinite(mean[d]) || !(sd[d] >= 0 && isfinite(sd[d])))
            return -1;
    for (unsigned d = 0; d < s->dim; d++)
        draw_gaussian(s, d, mean[d], sd[d]);
    rf_smc_begin(s, s->event + 1);
    return 0;
}

int rf_smc_prior_box(rf_smc *s, const double low[], const double high[])
{
    for (unsigned d = 0; d < s->dim; d++)
        if (!is_box(&s->charts[d], low[d], high[d]))
            return -1;
    for (unsigned d = 0; d < s->dim; d++)
        draw_box(s, d, low[d], high[d]);
    rf_smc_begin(s, s->event + 1);
    return 0;
}

int rf_smc_prior(rf_smc *s, const rf_prior prior[], const double mean[], const double sd[])
{
    for (unsigned d = 0; d < s->dim; d++)
        if (!prior[d].is_gaussian && !is_box(&s->charts[d], prior[d].first, prior[d].second))
            return -1;
    for (unsigned d = 0; d < s->dim; d++)
        if (prior[d].is_gaussian)
            draw_gaussian(s, d, mean[d], sd[d]);
        else
            draw_box(s, d, prior[d].first, prior[d].second);
    rf_smc_begin(s, s->event + 1);
    return 0;
}

/* new ← F·y; a null F copies. */
static void transform(rf_smc *s, const double F[])
{
    for (unsigned d = 0; d < s->dim; d++) {
        double *moved = new_of(s) + d * s->stride;
        if (!F) {
            memcpy(moved, y_of(s) + d * s->stride, s->n * sizeof *moved);
            continue;
        }
        memset(moved, 0, s->n * sizeof *moved);
        for (unsigned e = 0; e < s->dim; e++) {
            const double *y = y_of(s) + e * s->stride;
            for (uint32_t i = 0; i < s->n; i++)
                moved[i] += F[d * s->dim + e] * y[i];
        }
    }
}

/* new ← new + scale·L·z, with z standard normals of this event; L: lower triangle of a full matrix by rows. */
static void spread_out(rf_smc *s, const double L[], double scale, uint32_t purpose)
{
    for (unsigned e = 0; scale > 0 && e < s->dim; e++) {
        draw_normals(s, e, purpose, value_of(s));
        for (unsigned d = e; d < s->dim; d++)
            for (uint32_t i = 0; i < s->n; i++)
                new_of(s)[d * s->stride + i] += scale * L[d * s->dim + e] * value_of(s)[i];
    }
}

static void factor(const double *a, unsigned dim, double *L);

void rf_smc_evolve(rf_smc *s, const double F[], const double Q[], double elapsed)
{
    double L[RF_SMC_DIM_MAX * RF_SMC_DIM_MAX] = {0};
    transform(s, F);
    if (Q) {
        factor(Q, s->dim, L);
        spread_out(s, L, sqrt(elapsed), RF_SMC_FOR_STEP);
    }
    s->is_swapped = !s->is_swapped;
    s->event++;
    to_natural(s);
}

void rf_smc_stretch(rf_smc *s, const double by[])
{
    double mean[RF_SMC_DIM_MAX];
    rf_smc_moments(s, mean, NULL);
    for (unsigned d = 0; d < s->dim; d++) {
        double *y = y_of(s) + d * s->stride;
        for (uint32_t i = 0; i < s->n; i++)
            y[i] = mean[d] + by[d] * wrapped(y[i] - mean[d], period(s, d));
    }
    to_natural(s);
}

void rf_smc_confine(rf_smc *s, unsigned d, double low, double high)
{
    double *y = y_of(s) + d * s->stride;
    int any = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const double inside = y[i] < low ? 2 * low - y[i] : y[i] > high ? 2 * high - y[i] : y[i];
        any |= inside != y[i];
        y[i] = rf64_min(rf64_max(inside, low), high);
    }
    if (any)
        to_natural(s);
}

void rf_smc_shift(rf_smc *s, const double by[])
{
    for (unsigned d = 0; d < s->dim; d++)
        for (uint32_t i = 0; i < s->n; i++)
            y_of(s)[d * s->stride + i] += by[d];
    to_natural(s);
}

void rf_smc_telegraph(rf_smc *s, unsigned parameter, const double level[2], const double chance[2])
{
    double *y = y_of(s) + parameter * s->stride;
    draw_normals(s, parameter, RF_SMC_FOR_STEP, value_of(s));
    for (uint32_t i = 0; i < s->n; i++) {
        const unsigned at = fabs(y[i] - level[1]) < fabs(y[i] - level[0]);
        if (0.5 * erfc(value_of(s)[i] * 0.7071067811865476) < chance[at])
            y[i] += level[!at] - level[at];
    }
    s->event++;
    to_natural(s);
}

int rf_smc_diffuse(rf_smc *s, const double variance[])
{
    for (unsigned d = 0; d < s->dim; d++)
        if (!(variance[d] >= 0 && isfinite(variance[d])))
            return -1;
    for (unsigned d = 0; d < s->dim; d++) {
        if (variance[d] == 0)
            continue;
        const double sd = sqrt(variance[d]);
        draw_normals(s, d, RF_SMC_FOR_STEP, value_of(s));
        for (uint32_t i = 0; i < s->n; i++)
            y_of(s)[d * s->stride + i] += sd * value_of(s)[i];
    }
    s->event++;
    to_natural(s);
    return 0;
}

/* value[i] ← P(E|x_i) / exp(scale); bad values are zero. Returns the scale. */
static double evaluate(rf_smc *s, const double record[])
{
    const double outcome = record[s->settings];
    double scale = -HUGE_VAL;
    if (rf64_model_likelihoods(&s->model, x_of(s), s->dim, s->n, record, outcome, value_of(s)) < 0)
        s->failed = 1;
    if (!s->is_log) {
        for (uint32_t i = 0; i < s->n; i++)
            value_of(s)[i] = value_of(s)[i] >= 0 && value_of(s)[i] <= RF64_LIMIT ? value_of(s)[i] : 0;
        return 0;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        value_of(s)[i] = value_of(s)[i] <= RF64_LIMIT ? value_of(s)[i] : -HUGE_VAL;
        if (value_of(s)[i] > scale && weight_of(s)[i] > 0)
            scale = value_of(s)[i];
    }
    scale = scale > -HUGE_VAL ? scale : 0;
    for (uint32_t i = 0; i < s->n; i++)
        value_of(s)[i] = rf64_exp(rf64_min(value_of(s)[i] - scale, 0));
    return scale;
}

double rf_smc_update(rf_smc *s, const double records[], uint32_t count)
{
    double total = 0;
    s->failed = 0;
    for (uint32_t k = 0; k < count && !s->failed; k++) {
        double scale = evaluate(s, records + (size_t)k * (s->settings + 1)), sum = 0, squares = 0;
        for (uint32_t i = 0; i < s->n; i++) {
            value_of(s)[i] *= weight_of(s)[i];
            sum += value_of(s)[i];
        }
        if (!(sum > 0 && sum < HUGE_VAL)) {
            total = -HUGE_VAL;
            continue;
        }
        for (uint32_t i = 0; i < s->n; i++) {
            weight_of(s)[i] = value_of(s)[i] / sum;
            squares += weight_of(s)[i] * weight_of(s)[i];
        }
        s->effective = 1 / squares;
        s->log_evidence += log(sum) + scale;
        total += log(sum) + scale;
        if (s->effective < s->options.threshold * s->n)
            rf_smc_resample(s);
    }
    return s->failed ? NAN : total;
}

/* The mean; of a periodic parameter the direction of the mean vector. */
static double centre(const rf_smc *s, unsigned d)
{
    const double *y = y_of(s) + d * s->stride, turn = period(s, d);
    double sum = 0, sine = 0, cosine = 0;
    if (turn > 0) {
        for (uint32_t i = 0; i < s->n; i++) {
            double angle = 6.283185307179586 * (y[i] - s->charts[d].low) / turn;
            sine += weight_of(s)[i] * sin(angle);
            cosine += weight_of(s)[i] * cos(angle);
        }
        double share = atan2(sine, cosine) / 6.283185307179586;
        return s->charts[d].low + turn * (share - floor(share));
    }
    for (uint32_t i = 0; i < s->n; i++)
        sum += weight_of(s)[i] * (y[i] - y[0]);
    return y[0] + sum;
}

void rf_smc_moments(const rf_smc *s, double mean[], double covariance[])
{
    for (unsigned d = 0; d < s->dim; d++)
        mean[d] = centre(s, d);
    for (unsigned d = 0; covariance && d < s->dim; d++)
        for (unsigned e = 0; e <= d; e++) {
            const double *yd = y_of(s) + d * s->stride, *ye = y_of(s) + e * s->stride, pd = period(s, d),
                         pe = period(s, e);
            double sum = 0;
            for (uint32_t i = 0; i < s->n; i++)
                sum += weight_of(s)[i] * wrapped(yd[i] - mean[d], pd) * wrapped(ye[i] - mean[e], pe);
            covariance[d * s->dim + e] = covariance[e * s->dim + d] = sum;
        }
    for (unsigned d = 0; covariance && d < s->dim;
         d++) { /* one particle may have all the weight: keep at least the spacing of doubles */
        const double spacing = 4 * DBL_EPSILON * rf64_max(fabs(mean[d]), RF64_TINY);
        covariance[d * s->dim + d] = rf64_max(covariance[d * s->dim + d], spacing * spacing);
    }
}

rf_marginal rf_smc_marginal(const rf_smc *s, unsigned d)
{
    const rf_marginal parts = {s->n, weight_of(s), y_of(s) + d * s->stride, NULL, 0, 0};
    return parts;
}

/* L·Lᵀ = a, which may be singular: a column whose pivot vanishes is zero. */
static void factor(const double *a, unsigned dim, double *L)
{
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++) {
            double left = a[i * dim + j];
            for (unsigned k = 0; k < j; k++)
                left -= L[i * dim + k] * L[j * dim + k];
            if (i == j)
                L[i * dim + j] = left > 4 * dim * DBL_EPSILON * a[i * dim + i] ? sqrt(left) : 0;
            else
                L[i * dim + j] = L[j * dim + j] > 0 ? left / L[j * dim + j] : 0;
        }
}

/* value[i] ← index of the particle from which i is resampled; systematic: one uniform number for all. */
static void choose(rf_smc *s)
{
    const double u = uniform(rf_draw(s->seed, s->event, 0, 0, RF_SMC_FOR_CHOICE));
    double below = 0; /* total weight of the particles before `from` */
    uint32_t from = 0, last = s->n - 1;
    while (last > 0 && weight_of(s)[last] == 0)
        last--;
    below = weight_of(s)[0];
    for (uint32_t i = 0; i < s->n; i++) {
        while (from < last && below <= ((double)i + u) / s->n)
            below += weight_of(s)[++from];
        value_of(s)[i] = from;
    }
}

void rf_smc_resample(rf_smc *s)
{
    const unsigned dim = s->dim;
    const double a = s->options.shrink, spread = sqrt(1 - a * a);
    double mean[RF_SMC_DIM_MAX], covariance[RF_SMC_DIM_MAX * RF_SMC_DIM_MAX], L[RF_SMC_DIM_MAX * RF_SMC_DIM_MAX] = {0};
    rf_smc_moments(s, mean, covariance);
    factor(covariance, dim, L);
    choose(s);
    for (unsigned d = 0; d < dim; d++) {
        const double *y = y_of(s) + d * s->stride, turn = period(s, d);
        double *new = new_of(s) + d * s->stride;
        for (uint32_t i = 0; i < s->n; i++)
            new[i] = mean[d] + a *wrapped(y[(uint32_t)value_of(s)[i]] - mean[d], turn);
    }
    spread_out(s, L, spread, RF_SMC_FOR_SPREAD);
    s->is_swapped = !s->is_swapped;
    for (uint32_t i = 0; i < s->n; i++)
        weight_of(s)[i] = 1.0 / s->n;
    s->effective = s->n;
    s->event++;
    s->resamplings++;
    to_natural(s);
}

double rf_smc_log_evidence(const rf_smc *s) { return s->log_evidence; }
double rf_smc_effective(const rf_smc *s) { return s->effective; }
uint32_t rf_smc_particles(const rf_smc *s) { return s->n; }
uint32_t rf_smc_resamplings(const rf_smc *s) { return s->resamplings; }

double rf_smc_particle(const rf_smc *s, uint32_t i, double y[])
{
    for (unsigned d = 0; d < s->dim; d++)
        y[d] = y_of(s)[d * s->stride + i];
    return weight_of(s)[i];
}

enum { BINS = 64, FEW = 64 };

/* The value at which the cumulative weight reaches `left`; few values, in any order. */
static double reached(double value[], double weight[], unsigned count, double left)
{
    for (unsigned i = 1; i < count; i++)
        for (unsigned k = i; k > 0 && value[k] < value[k - 1]; k--) {
            const double v = value[k], w = weight[k];
            value[k] = value[k - 1], weight[k] = weight[k - 1];
            value[k - 1] = v, weight[k - 1] = w;
        }
    unsigned i = 0;
    for (; i + 1 < count && weight[i] < left; i++)
        left -= weight[i];
    return value[i];
}

double rf_smc_quantile(const rf_smc *s, unsigned d, double mean, double p)
{
    const double *y = y_of(s) + d * s->stride, turn = period(s, d);
    double low = 0, high = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const double away = wrapped(y[i] - mean, turn);
        low = away < low ? away : low;
        high = away > high ? away : high;
    }
    for (double left = p; high > low;) { /* the bin that holds the quantile, then the bin inside that */
        double mass[BINS] = {0}, value[FEW], weight[FEW];
        uint32_t members[BINS] = {0};
        const double bins = BINS / (high - low);
        for (uint32_t i = 0; i < s->n; i++) {
            const double at = (wrapped(y[i] - mean, turn) - low) * bins;
            if (at >= 0 && at <= BINS) {
                const unsigned bin = at < BINS ? (unsigned)at : BINS - 1;
                mass[bin] += weight_of(s)[i];
                members[bin]++;
            }
        }
        unsigned bin = 0, count = 0;
        for (; bin + 1 < BINS && mass[bin] < left; bin++)
            left -= mass[bin];
        if (members[bin] <= FEW) {
            for (uint32_t i = 0; i < s->n; i++) {
                const double away = wrapped(y[i] - mean, turn), at = (away - low) * bins;
                if (at >= 0 && at <= BINS && (at < BINS ? (unsigned)at : BINS - 1) == bin && count < FEW)
                    value[count] = away, weight[count++] = weight_of(s)[i];
            }
            return mean + (count > 0 ? reached(value, weight, count, left) : high);
        }
        const double next = low + bin / bins, end = low + (bin + 1) / bins;
        if (!(next > low || end < high))
            break; /* all remaining values are equal to rounding */
        low = next, high = end;
    }
    return mean + high;
}

void rf_smc_draw(const rf_smc *s, double u, double x[])
{
    uint32_t i = 0;
    double below = weight_of(s)[0];
    while (i + 1 < s->n && below < u)
        below += weight_of(s)[++i];
    memcpy(x, x_of(s) + (size_t)i * s->dim, s->dim * sizeof *x);
}

size_t rf_smc_save(const rf_smc *s, unsigned char *bytes)
{
    rf_writer w = {bytes, 0};
    rf_write_u64(&w, s->n);
    rf_write_u64(&w, s->event);
    rf_write_u64(&w, s->resamplings);
    rf_write_real(&w, s->log_evidence);
    rf_write_real(&w, s->effective);
    for (uint32_t i = 0; i < s->n; i++)
        rf_write_real(&w, weight_of(s)[i]);
    for (unsigned d = 0; d < s->dim; d++)
        for (uint32_t i = 0; i < s->n; i++)
            rf_write_real(&w, y_of(s)[d * s->stride + i]);
    return w.size;
}

int rf_smc_load(rf_smc *s, const unsigned char *bytes, size_t size)
{
    rf_reader r = {bytes, size, 0, 0};
    double total = 0;
    if (rf_read_u64(&r) != s->n)
        return -1;
    s->event = (uint32_t)rf_read_u64(&r);
    s->resamplings = (uint32_t)rf_read_u64(&r);
    s->log_evidence = rf_read_real(&r);
    s->effective = rf_read_real(&r);
    for (uint32_t i = 0; i < s->n; i++) {
        weight_of(s)[i] = rf_read_real(&r);
        if (!(weight_of(s)[i] >= 0))
            return -1;
        total += weight_of(s)[i];
    }
    for (unsigned d = 0; d < s->dim; d++)
        for (uint32_t i = 0; i < s->n; i++) {
            y_of(s)[d * s->stride + i] = rf_read_real(&r);
            if (!(fabs(y_of(s)[d * s->stride + i]) <= RF64_LIMIT))
                return -1;
        }
    to_natural(s);
    return rf_read_all(&r) && fabs(total - 1) < 1e-6 && isfinite(s->log_evidence) && s->effective > 0 &&
                   s->effective <= 1.001 * s->n
               ? 0
               : -1;
}
