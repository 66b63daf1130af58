/* Errors of the moments by number of attempts and parameters: after one update, and after many. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "closed_form.h"
#include "kalman.h"
#include "projection.h"
#include "theory.h"

enum { DIM_MAX = PROJECTION_DIM_MAX, RECORD_MAX = PROJECTION_RECORD_MAX };

/* The filter N(0, 1) with `dim` parameters; null when memory is short. */
static rf64_filter *filter_open(unsigned dim, uint64_t seed, void **memory)
{
    rf64_filter *filter = NULL;
    *memory = malloc(rf64_filter_bytes(dim));
    if (*memory)
        rf64_filter_init(&filter, *memory, rf64_filter_bytes(dim), dim, seed);
    return filter;
}

static rf64_options strictly(uint32_t attempts)
{
    rf64_options o = rf64_options_default();
    o.attempts = attempts;
    o.strict = 1;
    return o;
}

/* The spectral norm of a symmetric matrix, by power iteration. */
static double norm(const double matrix[], unsigned dim)
{
    double v[DIM_MAX], next[DIM_MAX], size = 0;
    for (unsigned i = 0; i < dim; i++)
        v[i] = 1 + 0.1 * i;
    for (int round = 0; round < 100; round++) {
        double squares = 0, before = 0;
        for (unsigned i = 0; i < dim; i++) {
            next[i] = 0;
            for (unsigned j = 0; j < dim; j++)
                next[i] += matrix[i * dim + j] * v[j];
            squares += next[i] * next[i];
            before += v[i] * v[i];
        }
        size = sqrt(squares / before);
        for (unsigned i = 0; i < dim; i++)
            v[i] = next[i] / sqrt(squares);
    }
    return size;
}

/* ---- One update ---- */

typedef struct moments {
    unsigned dim, sizes, trials;
    double *mean, *covariance; /* squared errors, by number of attempts and trial */
} moments;

static int update_once(lab *l, void *context, uint32_t trial, const rf_engine *engine)
{
    (void)engine; /* unused: the model has no kernels, so all engines run it in the same way */
    const moments *m = context;
    const unsigned dim = m->dim;
    const uint64_t seed = random_seed(l, dim, trial);
    double record[RECORD_MAX] = {dim}, difference[DIM_MAX * DIM_MAX];
    const double time = lab_real(l, "time"), phase = 3 * random_uniform(seed, 0);
    double *h = record + 2;
    closed_form exact = {0, 1, 0};
    projection_direct(seed, 0, dim, h);
    closed_form_update(&exact, time, phase / time, 1);
    record[1] = phase;
    record[dim + 2] = 1;
    for (unsigned size = 0; size < m->sizes; size++) {
        const rf64_model model = {.likelihood = projection_fringe, .dim = (uint16_t)dim, .settings = (uint16_t)(dim + 2)};
        const rf64_options options = strictly((uint32_t)lab_item(l, "attempts", size));
        double scaled[RECORD_MAX], squares = 0;
        void *memory;
        rf64_filter *filter = filter_open(dim, seed + size, &memory);
        for (unsigned i = 0; i < dim + 3; i++)
            scaled[i] = record[i] * (i >= 2 && i < dim + 2 ? time : 1);
        rf_status status = filter ? rf64_update(filter, &model, scaled, 1, &options, NULL, NULL) : -1;
        for (unsigned i = 0; i < dim && status >= 0; i++) {
            const double e = rf64_filter_mean(filter)[i] - exact.mean * h[i];
            squares += e * e;
            for (unsigned j = 0; j < dim; j++)
                difference[i * dim + j] = rf64_filter_covariance(filter, i, j) - (i == j) - (exact.variance - 1) * h[i] * h[j];
        }
        free(memory);
        if (status < 0)
            return lab_fail(l, "an update of %u parameters was refused, or memory is short", dim);
        const double stretch = norm(difference, dim);
        m->mean[(size_t)size * m->trials + trial] = squares;
        m->covariance[(size_t)size * m->trials + trial] = stretch * stretch;
    }
    return 0;
}

/* Puts the root mean square. */
static void put_rms(lab *l, const char *quantity, unsigned dim, double x, const double squares[], unsigned count)
{
    char of[16];
    double sum = 0, spread = 0;
    for (unsigned i = 0; i < count; i++)
        sum += squares[i] / count;
    for (unsigned i = 0; i < count; i++)
        spread += (squares[i] - sum) * (squares[i] - sum) / count;
    snprintf(of, sizeof of, "%u", dim);
    lab_put(l, quantity, of, x, sqrt(sum), 0.5 * sqrt(spread / count / sum));
}

int theory_moments(lab *l, unsigned dim)
{
    moments m = {dim, lab_items(l, "attempts"), lab_whole(l, "trials"), NULL, NULL};
    m.mean = calloc((size_t)m.sizes * m.trials, sizeof *m.mean);
    m.covariance = calloc((size_t)m.sizes * m.trials, sizeof *m.covariance);
    int status = m.mean && m.covariance ? lab_each(l, m.trials, update_once, &m) : lab_fail(l, "not enough memory");
    for (unsigned size = 0; size < m.sizes && status == 0; size++) {
        const double attempts = lab_item(l, "attempts", size);
        put_rms(l, "mean error", dim, attempts, m.mean + (size_t)size * m.trials, m.trials);
        put_rms(l, "covariance error", dim, attempts, m.covariance + (size_t)size * m.trials, m.trials);
    }
    free(m.mean);
    free(m.covariance);
    return status;
}

/* ---- Many updates ---- */

typedef struct series {
    unsigned dim, sizes, trials;
    double *excess; /* squared distance from the Kalman filter's mean, divided by its variance; by number of attempts
                       and trial */
} series;

static int update_often(lab *l, void *context, uint32_t trial, const rf_engine *engine)
{
    (void)engine;
    const series *s = context;
    const unsigned dim = s->dim, updates = dim * lab_whole(l, "measured");
    const uint64_t seed = random_seed(l, 1000 + dim, trial);
    const rf64_model model = {.likelihood = projection_linear, .dim = (uint16_t)dim, .settings = (uint16_t)(dim + 2), .is_log = 1};
    double unit[KALMAN_DIM_MAX * KALMAN_DIM_MAX] = {0}, zero[KALMAN_DIM_MAX] = {0}, truth[KALMAN_DIM_MAX];
    for (unsigned i = 0; i < dim; i++) {
        unit[i * dim + i] = 1;
        truth[i] = random_normal(seed, i);
    }
    for (unsigned size = 0; size < s->sizes; size++) {
        const rf64_options options = strictly((uint32_t)(dim * dim * lab_item(l, "per_square", size)));
        kalman exact;
        void *memory;
        rf64_filter *filter = filter_open(dim, seed, &memory);
        rf_status status = filter && kalman_init(&exact, dim, zero, unit) == 0 ? RF_OK : -1;
        for (unsigned k = 0; k < updates && status >= 0; k++) {
            double record[RECORD_MAX] = {dim, lab_real(l, "noise")};
            const uint32_t stream = (k + 1) * 2 * DIM_MAX;
            projection_direct(seed, stream, dim, record + 2);
            record[dim + 2] = projection_along(truth, record) + record[1] * random_normal(seed, stream + DIM_MAX);
            kalman_update(&exact, record + 2, record[1] * record[1], record[dim + 2]);
            status = rf64_update(filter, &model, record, 1, &options, NULL, NULL);
        }
        double distance = 0, variance = 0;
        for (unsigned i = 0; i < dim && status >= 0; i++) {
            const double e = rf64_filter_mean(filter)[i] - exact.mean[i];
            distance += e * e;
            variance += kalman_covariance(&exact, i, i);
        }
        free(memory);
        if (status < 0)
            return lab_fail(l, "an update of %u parameters was refused, or memory is short", dim);
        s->excess[(size_t)size * s->trials + trial] = distance / variance;
    }
    return 0;
}

int theory_stability(lab *l, unsigned dim)
{
    series s = {dim, lab_items(l, "per_square"), lab_whole(l, "series"), NULL};
    char of[16];
    s.excess = calloc((size_t)s.sizes * s.trials, sizeof *s.excess);
    int status = s.excess ? lab_each(l, s.trials, update_often, &s) : lab_fail(l, "not enough memory");
    snprintf(of, sizeof of, "%u", dim);
    for (unsigned size = 0; size < s.sizes && status == 0; size++) {
        double error, median = lab_median(s.excess + (size_t)size * s.trials, s.trials, &error);
        lab_put(l, "excess", of, lab_item(l, "per_square", size), median, error);
    }
    free(s.excess);
    return status;
}
