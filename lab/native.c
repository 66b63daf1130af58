/* What the experiments need of the core and the package has not: updates of a Gaussian with any covariance and up to 64
   parameters, whose attempts are shared among nodes. A shared library for ctypes (lab/native.py). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rejfilt/rejfilt.h"

/* Settings: the number of parameters, a phase or a noise, and the weights h. Without weights every draw is accepted. */
static double along(const double x[], const double setting[])
{
    double sum = 0;
    for (unsigned i = 0; i < (unsigned)setting[0]; i++)
        sum += setting[2 + i] * x[i];
    return sum;
}

static double fringe(const double x[], const double setting[], double outcome)
{
    const double cosine = rf64_cos(along(x, setting) - setting[1]);
    return outcome != 0 ? 0.5 + 0.5 * cosine : 0.5 - 0.5 * cosine;
}

static double linear(const double x[], const double setting[], double outcome)
{
    const double r = (outcome - along(x, setting)) / setting[1];
    return -0.5 * r * r;
}

static double likely(const double x[], const double setting[], double outcome)
{
    (void)x, (void)setting, (void)outcome;
    return 1;
}

static float likely32(const float x[], const float setting[], float outcome)
{
    (void)x, (void)setting, (void)outcome;
    return 1;
}

/* Nodes that run a part each, from attempt number `begin` on, and a server that adds up their tallies. */
typedef struct server {
    unsigned nodes;
    uint32_t begin;
    rf64_tally *tally;
} server;

static rf_status run_nodes(void *self, const rf64_task *task, uint32_t begin, uint32_t count, rf64_tally *total)
{
    const server *s = self;
    rf_status status = RF_OK;
    for (unsigned i = 0; i < s->nodes && status >= 0; i++) {
        const uint32_t first = (uint32_t)((uint64_t)count * i / s->nodes),
                       end = (uint32_t)((uint64_t)count * (i + 1) / s->nodes);
        rf64_tally_clear(s->tally, task->model->dim, task->update);
        status = rf64_serial.run(NULL, task, s->begin + begin + first, end - first, s->tally);
        if (status >= 0)
            status = rf64_tally_add(total, s->tally);
    }
    return status;
}

/* A strict update of the Gaussian (mean, factor) in double, in place. kind 0: every draw is accepted; 1: a fringe; 2:
   Gaussian noise. `record` is as above and ends with the outcome. Returns the number of draws accepted, or -1. */
int64_t lab_update(unsigned kind, unsigned dim, uint64_t seed, uint32_t update, uint32_t attempts, unsigned nodes,
                   uint32_t begin, const double record[], double mean[], double factor[])
{
    const double nothing = 0;
    rf64_model model = {.likelihood = kind == 1   ? fringe
                                      : kind == 2 ? linear
                                                  : likely,
                        .dim = (uint16_t)dim,
                        .settings = (uint16_t)(kind ? dim + 2 : 0)};
    rf64_options options = rf64_options_default();
    server s = {nodes, begin, malloc(rf64_tally_bytes(dim))};
    const rf64_engine engine = {run_nodes, &s, NULL};
    void *memory = malloc(rf64_filter_bytes(dim));
    rf64_filter *filter;
    rf64_report report = {0};
    int is_good = s.tally && memory;
    model.is_log = kind == 2;
    options.strict = 1;
    options.attempts = attempts;
    is_good = is_good && rf64_filter_init(&filter, memory, rf64_filter_bytes(dim), dim, seed) >= 0 &&
              rf64_filter_restore(filter, seed, update, mean, factor, 0) >= 0 &&
              rf64_update(filter, &model, kind ? record : &nothing, 1, &options, nodes ? &engine : NULL, &report) >= 0;
    if (is_good) {
        memcpy(mean, rf64_filter_mean(filter), dim * sizeof *mean);
        memcpy(factor, rf64_filter_factor(filter), RF_TRIANGLE(dim) * sizeof *factor);
    }
    free(s.tally);
    free(memory);
    return is_good ? (int64_t)report.accepted : -1;
}

/* The same in float, of which every draw is accepted. */
int64_t lab_update_float(unsigned dim, uint64_t seed, uint32_t attempts, float mean[], float factor[])
{
    const float nothing = 0;
    const rf32_model model = {.likelihood = likely32, .dim = (uint16_t)dim};
    rf32_options options = rf32_options_default();
    void *memory = malloc(rf32_filter_bytes(dim));
    rf32_filter *filter;
    rf32_report report = {0};
    options.strict = 1;
    options.attempts = attempts;
    const int is_good = memory && rf32_filter_init(&filter, memory, rf32_filter_bytes(dim), dim, seed) >= 0 &&
                        rf32_filter_restore(filter, seed, 0, mean, factor, 0) >= 0 &&
                        rf32_update(filter, &model, &nothing, 1, &options, NULL, &report) >= 0;
    if (is_good) {
        memcpy(mean, rf32_filter_mean(filter), dim * sizeof *mean);
        memcpy(factor, rf32_filter_factor(filter), RF_TRIANGLE(dim) * sizeof *factor);
    }
    free(memory);
    return is_good ? (int64_t)report.accepted : -1;
}

/* The library's draws of an update (attempts.h), standard normal: `dim` numbers for each attempt. */
void lab_draws(uint64_t seed, unsigned dim, uint32_t attempts, double z[])
{
    for (uint32_t k = 0; k < attempts; k++)
        for (unsigned i = 0; i < dim; i++) {
            const rf_words w = rf_draw(seed, 0, k / 2, i / 2, RF_FOR_ATTEMPTS);
            float pair[2];
            rf32_normal_pair(w.word[2 * (i % 2)], w.word[2 * (i % 2) + 1], &pair[0], &pair[1]);
            z[k * dim + i] = nearbyint((double)pair[k % 2] * 8192) / 8192;
        }
}

unsigned lab_tally_bytes(unsigned dim) { return (unsigned)(sizeof(rf64_tally) + 8 * (dim + RF_TRIANGLE(dim))); }
