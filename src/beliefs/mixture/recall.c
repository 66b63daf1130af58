/* Learning the first records again, all together: points drawn from the mixture and weighted by the exact posterior
   give its Gaussians new weights, means and covariances. Also compiled for a GPU. */
#include "rejfilt/detail/chart.h"

#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "component.h"
#include "evaluate.h"
#include "mixture_state.h"

enum { POINTS = 2048, WIDE_EVERY = 4 };

#define EFFECTIVE_LEAST 0.02 /* share of the points; fewer, and the mixture stays as it is */
#define WIDER 1.25           /* variance of the points, relative to their Gaussian's; four times that for every */
#define WIDE_FACTOR 4.0      /* fourth point: the posterior may be wider */
#define EVEN 0.1             /* share of the points that all Gaussians get alike */
#define PART_LEAST 1e-7      /* smaller shares of a point are left out */
#define WEIGHT_LEAST 1e-9
#define LOG_MOST 600.0

typedef struct recalling {
    const rf64_model *model;
    double mean[RF_ROOM], sd[RF_ROOM];                 /* of priors that are Gaussian in the components' chart */
    double near[RF_MIXTURE_MAX], wide[RF_MIXTURE_MAX]; /* densities of the points at the mean, up to a factor */
    double share[RF_MIXTURE_MAX];                      /* of the points */
    double scale, one, square;                         /* common logarithm of the weights; Σw, Σw² */
    double *wanted;      /* if not null, natural values of the points are only written here */
    const double *known; /* if not null, the Σ ln L of all points */
} recalling;

/* ---- The posterior, up to a factor ---- */

static int is_normal_prior(const mixture *m, unsigned i)
{
    return (m->boxed >> i & 1) || m->head.problem->prior[i].is_gaussian;
}

static rf_status recall_begin(const mixture *m, recalling *r)
{
    rf_status status = RF_OK;
    for (unsigned i = 0; i < dim_of(m) && status >= 0; i++) {
        r->mean[i] = 0;
        r->sd[i] = 1;
        if (m->boxed >> i & 1)
            continue;
        status = rf_problem_prior(m->head.problem, i, &r->mean[i], &r->sd[i]);
        r->sd[i] = rf64_sqrt(r->sd[i]);
    }
    return status;
}

/* The logarithm of the prior's density in the components' charts at y, whose natural values are x. */
static double recall_prior(const mixture *m, const recalling *r, const double y[], const double x[])
{
    double total = 0;
    for (unsigned i = 0; i < dim_of(m); i++) {
        const rf_prior *prior = &m->head.problem->prior[i];
        const double z = is_normal_prior(m, i) ? rf_component_apart(&m->charts[i], y[i] - r->mean[i]) / r->sd[i] : y[i];
        if (is_normal_prior(m, i) || m->charts[i].kind == RF_BOUNDED)
            total -= 0.5 * z * z;
        else if (m->charts[i].kind == RF_POSITIVE)
            total += y[i];
        if (!is_normal_prior(m, i) && !(x[i] >= prior->first && x[i] <= prior->second))
            return -rf64_infinity();
    }
    return total;
}

/* total[k] ← Σ ln L of the kept records at n points; room for n numbers. */
static rf_status recall_records(const mixture *m, const recalling *r, const double *x, uint32_t n, double total[],
                                double room[])
{
    const unsigned outcome = r->model->settings;
    const int is_log = RF_MODEL_IS_LOG(r->model);
    memset(total, 0, n * sizeof *total);
    for (uint32_t k = 0; k < m->remembered; k++) {
        const double *record = rf_mixture_record(m, k);
        const rf_status status = rf64_model_likelihoods(r->model, x, dim_of(m), n, record, record[outcome], room);
        if (status < 0)
            return status;
        for (uint32_t j = 0; j < n; j++)
            total[j] += rf64_is_bad(room[j], is_log) ? -rf64_infinity() : is_log ? room[j] : rf64_log(room[j]);
    }
    return RF_OK;
}

/* ---- Points ---- */

/* off ← y − mean; returns |L⁻¹·off|². */
static double square_from(const mixture *m, uint32_t k, const double y[], double off[])
{
    const unsigned dim = dim_of(m);
    const double *mean = component_in(m, k) + 1, *row = mean + dim;
    double z[RF_ROOM], total = 0;
    for (unsigned i = 0; i < dim; row += ++i) {
        double left = off[i] = rf_component_apart(&m->charts[i], y[i] - mean[i]);
        for (unsigned j = 0; j < i; j++)
            left -= row[j] * z[j];
        z[i] = left / row[i];
        total += z[i] * z[i];
    }
    return total;
}

/* Changes the common logarithm of the weights. */
static void recall_rescale(mixture *m, recalling *r, double scale)
{
    const double factor = r->one > 0 ? rf64_exp(rf64_max(r->scale - scale, -LOG_MOST)) : 0;
    double *sums = after_of(m, 0);
    for (size_t i = 0; i < m->count * rf_component_size(dim_of(m)); i++)
        sums[i] *= factor;
    r->one *= factor;
    r->square *= factor * factor;
    r->scale = scale;
}

/* Adds point y to the sums of the Gaussians, in proportion to their densities there. */
static void recall_point(mixture *m, recalling *r, const double y[], double log_p)
{
    const unsigned dim = dim_of(m);
    double part[RF_MIXTURE_MAX], off[RF_ROOM], all = 0, density = 0;
    for (uint32_t k = 0; k < m->count; k++) {
        const double wide = rf64_exp(rf64_max(-0.5 / (WIDER * WIDE_FACTOR) * square_from(m, k, y, off), -LOG_MOST));
        const double near = wide * wide * (wide * wide);
        part[k] = component_in(m, k)[0] * r->near[k] * near;
        all += part[k];
        density += r->share[k] * ((WIDE_EVERY - 1) * r->near[k] * near + r->wide[k] * wide);
    }
    const double log_weight = log_p - rf64_log(density);
    if (!(all > 0 && density > 0 && log_weight > -rf64_infinity()))
        return;
    if (!(r->one > 0) || log_weight > r->scale)
        recall_rescale(m, r, log_weight);
    const double weight = rf64_exp(rf64_max(log_weight - r->scale, -LOG_MOST));
    r->one += weight;
    r->square += weight * weight;
    for (uint32_t k = 0; k < m->count; k++) {
        double *sums = after_of(m, k);
        if (!(part[k] > PART_LEAST * all))
            continue;
        const double w = weight * part[k] / all;
        square_from(m, k, y, off);
        sums[0] += w;
        for (unsigned i = 0; i < dim; i++) {
            rf_component_mean(sums)[i] += w * off[i];
            for (unsigned j = 0; j <= i; j++)
                rf_component_factor(sums, dim)[RF_TRIANGLE(i) + j] += w * off[i] * off[j];
        }
    }
}

/* Is a point within half a turn of the Gaussian's mean? Others count as not drawn. */
static int is_in_turn(const mixture *m, uint32_t k, const double y[])
{
    for (unsigned i = 0; i < dim_of(m); i++)
        if (m->charts[i].kind == RF_PERIODIC &&
            rf64_abs(y[i] - component_in(m, k)[1 + i]) > 0.5 * (m->charts[i].high - m->charts[i].low))
            return 0;
    return 1;
}

/* The share of a Gaussian's points, of this variance relative to its own, that are. */
static double in_turn(const mixture *m, uint32_t k, double variance)
{
    const unsigned dim = dim_of(m);
    double share = 1;
    for (unsigned i = 0; i < dim; i++)
        if (m->charts[i].kind == RF_PERIODIC)
            share *= 2 * rf64_normal_cdf(0.5 * (m->charts[i].high - m->charts[i].low) /
                                         rf64_sqrt(variance * rf_component_covariance(component_in(m, k), dim, i, i))) -
                     1;
    return share;
}

/* Draws points first .. first + n − 1, all from Gaussian k, and adds them. */
static rf_status recall_points(mixture *m, recalling *r, uint32_t k, const uint32_t start[], uint32_t first, uint32_t n)
{
    const unsigned dim = dim_of(m);
    const double *mean = component_in(m, k) + 1, *factor = mean + dim;
    double y[RF_BLOCK][RF_ROOM], x[RF_BLOCK * RF_ROOM], own[RF_BLOCK], room[RF_BLOCK];
    const double *total = RF_HOST_ONLY(r->known) ? r->known + first : own;
    rf_status status = RF_OK;
    for (uint32_t p = 0; p < n; p++) {
        const double sd = rf64_sqrt((first + p) % WIDE_EVERY ? WIDER : WIDER * WIDE_FACTOR);
        double z[RF_ROOM];
        for (unsigned i = 0; i < dim; i++) {
            z[i] = sd * rf_points_normal(i, start[i], first + p);
            y[p][i] = mean[i];
            for (unsigned j = 0; j <= i; j++)
                y[p][i] += factor[RF_TRIANGLE(i) + j] * z[j];
            x[p * dim + i] = rf64_chart_natural(&m->charts[i], y[p][i]);
        }
    }
    if (RF_HOST_ONLY(r->wanted)) {
        memcpy(r->wanted + (size_t)first * dim, x, n * dim * sizeof *x);
        return RF_OK;
    }
    if (total == own)
        status = recall_records(m, r, x, n, own, room);
    for (uint32_t p = 0; p < n && status >= 0; p++)
        if (is_in_turn(m, k, y[p]))
            recall_point(m, r, y[p], recall_prior(m, r, y[p], x + p * dim) + total[p]);
    return status;
}

/* All points, from every Gaussian its share. */
static rf_status recall_all(mixture *m, recalling *r, const uint32_t start[])
{
    uint32_t given = 0;
    double below = 0;
    rf_status status = RF_OK;
    for (uint32_t k = 0; k < m->count && status >= 0; k++) {
        below += r->share[k];
        const uint32_t upto = k + 1 == m->count ? POINTS : (uint32_t)rf64_min(below * POINTS + 0.5, POINTS);
        for (uint32_t n; given < upto && status >= 0; given += n) {
            n = upto - given < RF_BLOCK ? upto - given : RF_BLOCK;
            status = recall_points(m, r, k, start, given, n);
        }
    }
    return status;
}

#ifndef RF_DEVICE_KIND
/* Calls the block function once per record for all points: a call costs more than many points. Returns memory to free,
   or null if nothing was evaluated. */
static double *recall_ahead(mixture *m, recalling *r, const uint32_t start[], rf_status *status)
{
    const size_t dim = dim_of(m);
    double *x = r->model->block ? malloc(POINTS * (dim + 2) * sizeof *x) : NULL;
    if (!x)
        return NULL;
    r->wanted = x;
    recall_all(m, r, start);
    r->wanted = NULL;
    double *total = x + POINTS * dim;
    *status = recall_records(m, r, x, POINTS, total, total + POINTS);
    r->known = total;
    return x;
}
#endif

/* ---- Gaussians ---- */

/* Replaces the sums of Gaussian k by the Gaussian that they make, at place `to`. One with few points keeps some of its
   width. */
static void recall_end(mixture *m, const recalling *r, uint32_t k, uint32_t to)
{
    const unsigned dim = dim_of(m);
    const double *c = component_in(m, k);
    double *sums = after_of(m, k), *after = after_of(m, to), off[RF_ROOM], weight = sums[0];
    const double points = r->one * r->one / r->square * weight / r->one, more = dim + 2.0;
    for (unsigned i = 0; i < dim; i++)
        off[i] = rf_component_mean(sums)[i] / weight;
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++) {
            const double own = rf_component_factor(sums, dim)[RF_TRIANGLE(i) + j] / weight - off[i] * off[j];
            rf_component_factor(after, dim)[RF_TRIANGLE(i) + j] =
                (points * own + more * rf_component_covariance(c, dim, i, j)) / (points + more);
        }
    after[0] = weight / r->one;
    for (unsigned i = 0; i < dim; i++)
        rf_component_mean(after)[i] = c[1 + i] + off[i];
    rf_component_cholesky(rf_component_factor(after, dim), dim, NULL);
}

RF_APART rf_status rf_mixture_recall(mixture *m, rf_evaluator *e, uint32_t *count, double *effective)
{
    const unsigned dim = dim_of(m);
    recalling r;
    uint32_t start[RF_ROOM];
    rf_words w = {{0}};
    double thin = 1; /* √WIDE_FACTOR to the power −dim */
    rf_status status = recall_begin(m, &r);
    *count = 0;
    if (status < 0 || rf_problem_interchangeable(m->head.problem) > 0)
        return status < 0 ? status : RF_OK;
    for (unsigned i = 0; i < dim; i++) {
        if (i % 4 == 0)
            w = rf_draw(e->seed, e->update, e->evaluations, i / 4, RF_FOR_LATTICE);
        start[i] = w.word[i % 4];
        thin *= 0.5;
    }
    e->evaluations++;
    r.model = e->model;
    r.scale = r.one = r.square = 0;
    r.wanted = NULL;
    r.known = NULL;
    memset(after_of(m, 0), 0, m->count * rf_component_size(dim) * sizeof(double));
    const double size = rf_component_log_size(component_in(m, 0), dim);
    for (uint32_t k = 0; k < m->count; k++) {
        const double at_mean = rf64_exp(rf64_min(size - rf_component_log_size(component_in(m, k), dim), LOG_MOST));
        r.near[k] = at_mean / in_turn(m, k, WIDER);
        r.wide[k] = at_mean * thin / in_turn(m, k, WIDER * WIDE_FACTOR);
        r.share[k] = (1 - EVEN) * component_in(m, k)[0] + EVEN / m->count;
    }
#ifndef RF_DEVICE_KIND
    double *ahead = recall_ahead(m, &r, start, &status);
#endif
    if (status >= 0)
        status = recall_all(m, &r, start);
#ifndef RF_DEVICE_KIND
    free(ahead);
#endif
    e->points += POINTS * m->remembered;
    *effective = r.one > 0 ? r.one * r.one / r.square : 0;
    if (status < 0 || !(*effective > EFFECTIVE_LEAST * POINTS))
        return status < 0 ? status : RF_OK;
    for (uint32_t k = 0; k < m->count; k++)
        if (after_of(m, k)[0] > WEIGHT_LEAST * r.one)
            recall_end(m, &r, k, (*count)++);
    return RF_OK;
}
