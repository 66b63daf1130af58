#include "smc.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rejfilt/detail/draws.h"

enum { ELEMENTS = 16, NORMALS = 4 * ELEMENTS }; /* random elements drawn at a time, and normals from them */

struct smc {
    rf64_likelihood *likelihood;
    rf64_chart charts[SMC_DIM_MAX];
    unsigned dim, settings;
    int is_log;
    uint32_t n, event, resamplings;
    uint64_t seed;
    smc_options options;
    double log_evidence, effective;
    size_t stride;   /* n rounded up to a multiple of NORMALS */
    double *y, *new; /* coordinates: parameter d of particle i is y[d * stride + i] */
    double *x;       /* natural values: x[i * dim + d] */
    double *weight;  /* of sum 1 */
    double *value;   /* n numbers for whoever needs them */
    double memory[];
};

static double period(const smc *s, unsigned d)
{
    return s->charts[d].kind == RF_PERIODIC ? s->charts[d].high - s->charts[d].low : 0;
}

/* Into half a period of 0, if there is a period. */
static double wrapped(double deviation, double period)
{
    return period > 0 ? deviation - period * floor(deviation / period + 0.5) : deviation;
}

static void to_natural(smc *s)
{
    for (unsigned d = 0; d < s->dim; d++)
        for (uint32_t i = 0; i < s->n; i++) {
            double y = s->y[d * s->stride + i];
            s->x[(size_t)i * s->dim + d] = s->charts[d].kind == RF_REAL ? y : rf64_chart_natural(&s->charts[d], y);
        }
}

/* z[0..stride) ← standard normals of parameter d, for this event. */
static void draw_normals(const smc *s, unsigned d, uint32_t purpose, double *z)
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

/* In [0, 1). */
static double uniform(rf_words w) { return ((double)(w.word[0] >> 5) * 0x1p26 + (double)(w.word[1] >> 6)) * 0x1p-53; }

smc *smc_create(const rf64_model *model, uint32_t particles, uint64_t seed, const smc_options *options)
{
    const smc_options o = options ? *options : SMC_OPTIONS_DEFAULT;
    if (!model || !model->likelihood || model->dim < 1 || model->dim > SMC_DIM_MAX || particles < 2 ||
        particles > 1u << 28)
        return NULL;
    if (!(o.shrink >= 0 && o.shrink <= 1 && o.threshold >= 0 && o.threshold <= 1))
        return NULL;
    const size_t stride = ((size_t)particles + NORMALS - 1) / NORMALS * NORMALS;
    smc *s = calloc(1, sizeof *s + (3 * (size_t)model->dim + 2) * stride * sizeof s->memory[0]);
    if (!s)
        return NULL;
    s->likelihood = model->likelihood;
    s->dim = model->dim;
    s->settings = model->settings;
    s->is_log = model->is_log != 0;
    for (unsigned d = 0; model->charts && d < s->dim; d++)
        s->charts[d] = model->charts[d];
    s->n = particles;
    s->seed = seed;
    s->options = o;
    s->stride = stride;
    s->y = s->memory;
    s->new = s->y + s->dim *stride;
    s->x = s->new + s->dim *stride;
    s->weight = s->x + s->dim * stride;
    s->value = s->weight + stride;
    to_natural(s);
    for (uint32_t i = 0; i < particles; i++)
        s->weight[i] = 1.0 / particles;
    s->effective = particles;
    return s;
}

void smc_free(smc *s) { free(s); }

/* Particles just drawn from the prior. */
static void start(smc *s)
{
    s->event++;
    s->log_evidence = 0;
    s->resamplings = 0;
    s->effective = s->n;
    for (uint32_t i = 0; i < s->n; i++)
        s->weight[i] = 1.0 / s->n;
    to_natural(s);
}

int smc_prior_gaussian(smc *s, const double mean[], const double sd[])
{
    for (unsigned d = 0; d < s->dim; d++)
        if (!isfinite(mean[d]) || !(sd[d] >= 0 && isfinite(sd[d])))
            return -1;
    for (unsigned d = 0; d < s->dim; d++) {
        double *y = s->y + d * s->stride;
        draw_normals(s, d, SMC_FOR_PRIOR, y);
        for (uint32_t i = 0; i < s->n; i++)
            y[i] = mean[d] + sd[d] * y[i];
    }
    start(s);
    return 0;
}

int smc_prior_box(smc *s, const double low[], const double high[])
{
    for (unsigned d = 0; d < s->dim; d++) {
        const rf64_chart *c = &s->charts[d];
        if (!isfinite(low[d]) || !isfinite(high[d]) || !(low[d] < high[d]) || (c->kind == RF_POSITIVE && low[d] < 0) ||
            (c->kind == RF_BOUNDED && (low[d] < c->low || high[d] > c->high)))
            return -1;
    }
    for (unsigned d = 0; d < s->dim; d++)
        for (uint32_t i = 0; i < s->n; i++) { /* never an end itself, which may be infinite in the chart */
            double u = uniform(rf_draw(s->seed, s->event, i, d, SMC_FOR_PRIOR)) + 0x1p-54;
            s->y[d * s->stride + i] = rf64_chart_coordinate(&s->charts[d], low[d] + (high[d] - low[d]) * u);
        }
    start(s);
    return 0;
}

int smc_diffuse(smc *s, const double variance[])
{
    for (unsigned d = 0; d < s->dim; d++)
        if (!(variance[d] >= 0 && isfinite(variance[d])))
            return -1;
    for (unsigned d = 0; d < s->dim; d++) {
        if (variance[d] == 0)
            continue;
        const double sd = sqrt(variance[d]);
        draw_normals(s, d, SMC_FOR_STEP, s->value);
        for (uint32_t i = 0; i < s->n; i++)
            s->y[d * s->stride + i] += sd * s->value[i];
    }
    s->event++;
    to_natural(s);
    return 0;
}

/* value[i] ← P(E|x_i) / exp(scale); bad values are zero. Returns the scale. */
static double evaluate(smc *s, const double record[])
{
    const double outcome = record[s->settings];
    double scale = -HUGE_VAL;
    for (uint32_t i = 0; i < s->n; i++)
        s->value[i] = s->likelihood(s->x + (size_t)i * s->dim, record, outcome);
    if (!s->is_log) {
        for (uint32_t i = 0; i < s->n; i++)
            s->value[i] = s->value[i] >= 0 && s->value[i] <= RF64_LIMIT ? s->value[i] : 0;
        return 0;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        s->value[i] = s->value[i] <= RF64_LIMIT ? s->value[i] : -HUGE_VAL;
        if (s->value[i] > scale && s->weight[i] > 0)
            scale = s->value[i];
    }
    scale = scale > -HUGE_VAL ? scale : 0;
    for (uint32_t i = 0; i < s->n; i++)
        s->value[i] = rf64_exp(rf64_min(s->value[i] - scale, 0));
    return scale;
}

double smc_update(smc *s, const double records[], uint32_t count)
{
    double total = 0;
    for (uint32_t k = 0; k < count; k++) {
        double scale = evaluate(s, records + (size_t)k * (s->settings + 1)), sum = 0, squares = 0;
        for (uint32_t i = 0; i < s->n; i++) {
            s->value[i] *= s->weight[i];
            sum += s->value[i];
        }
        if (!(sum > 0 && sum < HUGE_VAL)) {
            total = -HUGE_VAL;
            continue;
        }
        for (uint32_t i = 0; i < s->n; i++) {
            s->weight[i] = s->value[i] / sum;
            squares += s->weight[i] * s->weight[i];
        }
        s->effective = 1 / squares;
        s->log_evidence += log(sum) + scale;
        total += log(sum) + scale;
        if (s->effective < s->options.threshold * s->n)
            smc_resample(s);
    }
    return total;
}

/* Of a circle, the direction of the mean vector; else the mean. */
static double centre(const smc *s, unsigned d)
{
    const double *y = s->y + d * s->stride, turn = period(s, d);
    double sum = 0, sine = 0, cosine = 0;
    if (turn > 0) {
        for (uint32_t i = 0; i < s->n; i++) {
            double angle = 6.283185307179586 * (y[i] - s->charts[d].low) / turn;
            sine += s->weight[i] * sin(angle);
            cosine += s->weight[i] * cos(angle);
        }
        double share = atan2(sine, cosine) / 6.283185307179586;
        return s->charts[d].low + turn * (share - floor(share));
    }
    for (uint32_t i = 0; i < s->n; i++)
        sum += s->weight[i] * (y[i] - y[0]);
    return y[0] + sum;
}

void smc_moments(const smc *s, double mean[], double covariance[])
{
    for (unsigned d = 0; d < s->dim; d++)
        mean[d] = centre(s, d);
    for (unsigned d = 0; covariance && d < s->dim; d++)
        for (unsigned e = 0; e <= d; e++) {
            const double *yd = s->y + d * s->stride, *ye = s->y + e * s->stride, pd = period(s, d), pe = period(s, e);
            double sum = 0;
            for (uint32_t i = 0; i < s->n; i++)
                sum += s->weight[i] * wrapped(yd[i] - mean[d], pd) * wrapped(ye[i] - mean[e], pe);
            covariance[d * s->dim + e] = covariance[e * s->dim + d] = sum;
        }
}

/* L·Lᵀ = a, which may be singular: what does not vary by itself gets a column of zeros. */
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

/* value[i] ← number of the particle that i is drawn from: one uniform number for all. */
static void choose(smc *s)
{
    const double u = uniform(rf_draw(s->seed, s->event, 0, 0, SMC_FOR_CHOICE));
    double below = 0; /* weight of particles 0..from */
    uint32_t from = 0, last = s->n - 1;
    while (last > 0 && s->weight[last] == 0)
        last--;
    below = s->weight[0];
    for (uint32_t i = 0; i < s->n; i++) {
        while (from < last && below <= ((double)i + u) / s->n)
            below += s->weight[++from];
        s->value[i] = from;
    }
}

void smc_resample(smc *s)
{
    const unsigned dim = s->dim;
    const double a = s->options.shrink, spread = sqrt(1 - a * a);
    double mean[SMC_DIM_MAX], covariance[SMC_DIM_MAX * SMC_DIM_MAX], L[SMC_DIM_MAX * SMC_DIM_MAX] = {0};
    smc_moments(s, mean, covariance);
    factor(covariance, dim, L);
    choose(s);
    for (unsigned d = 0; d < dim; d++) {
        const double *y = s->y + d * s->stride, turn = period(s, d);
        double *new = s->new + d * s->stride;
        for (uint32_t i = 0; i < s->n; i++)
            new[i] = mean[d] + a *wrapped(y[(uint32_t)s->value[i]] - mean[d], turn);
    }
    for (unsigned e = 0; spread > 0 && e < dim; e++) {
        draw_normals(s, e, SMC_FOR_SPREAD, s->value);
        for (unsigned d = e; d < dim; d++)
            for (uint32_t i = 0; i < s->n; i++)
                s->new[d * s->stride + i] += spread *L[d * dim + e] * s->value[i];
    }
    double *y = s->y;
    s->y = s->new;
    s->new = y;
    for (uint32_t i = 0; i < s->n; i++)
        s->weight[i] = 1.0 / s->n;
    s->effective = s->n;
    s->event++;
    s->resamplings++;
    to_natural(s);
}

double smc_log_evidence(const smc *s) { return s->log_evidence; }
double smc_effective(const smc *s) { return s->effective; }
uint32_t smc_resamplings(const smc *s) { return s->resamplings; }

double smc_particle(const smc *s, uint32_t i, double y[])
{
    for (unsigned d = 0; d < s->dim; d++)
        y[d] = s->y[d * s->stride + i];
    return s->weight[i];
}
