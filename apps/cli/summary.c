#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cli_collector {
    const rf_simulation *simulation;
    long first; /* step that counts */
    float *errors;
    size_t count, room;
    size_t covered, checked;
    uint64_t trials, finished;
    uint32_t *far; /* per trial, steps beyond CLI_LOST_SIGMAS */
    double seconds, attempts, updates, sum, as_gaussian, as_particles;
};

static long first_counted(const rf_simulation *simulation)
{
    return simulation->steps > CLI_BURN_IN ? CLI_BURN_IN : simulation->steps - 1;
}

size_t cli_collector_bytes(const rf_simulation *simulation, uint64_t trials)
{
    return (size_t)trials * ((size_t)(simulation->steps - first_counted(simulation)) * sizeof(float) + sizeof *((cli_collector *)0)->far);
}

cli_collector *cli_collector_open(const rf_simulation *simulation, uint64_t trials)
{
    cli_collector *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->simulation = simulation;
    c->first = first_counted(simulation);
    c->room = (size_t)trials * (size_t)(simulation->steps - c->first);
    c->trials = trials;
    c->errors = malloc(c->room * sizeof *c->errors);
    c->far = calloc((size_t)trials, sizeof *c->far);
    if (c->errors && c->far)
        return c;
    cli_collector_free(c);
    return NULL;
}

void cli_collector_free(cli_collector *c)
{
    if (c) {
        free(c->errors);
        free(c->far);
    }
    free(c);
}

int cli_collector_step(void *collector, uint32_t trial, const rf_step *step)
{
    cli_collector *c = collector;
    double error = 0;
    unsigned drifting = 0;
    int far = 0;
    for (unsigned i = 0; i < step->dim; i++)
        drifting += c->simulation->config.drift[i] > 0;
    for (unsigned i = 0; i < step->dim; i++) {
        double q = c->simulation->config.drift[i] * c->simulation->config.drift[i], sigmas = fabs(step->error[i]) / step->sd[i];
        if (drifting == 0 || q > 0)
            error += step->error[i] * step->error[i] / (drifting ? q * drifting : step->dim);
        far |= sigmas > CLI_LOST_SIGMAS;
        if (step->step >= c->first) {
            c->covered += sigmas <= 1.959963984540054;
            c->checked++;
        }
    }
    c->far[trial] += (uint32_t)far;
    c->finished += step->step == c->simulation->steps - 1;
    c->seconds += step->seconds;
    c->attempts += step->report.attempts;
    c->updates++;
    c->as_gaussian += step->form && strcmp(step->form, "gaussian") == 0;
    c->as_particles += step->form && strcmp(step->form, "particles") == 0;
    if (step->step >= c->first && c->count < c->room) {
        c->errors[c->count++] = (float)error;
        c->sum += error;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double quantile(const cli_collector *c, double share)
{
    double at = share * (double)(c->count - 1), whole = floor(at);
    size_t i = (size_t)whole, next = i + 1 < c->count ? i + 1 : i;
    return c->errors[i] + (at - whole) * ((double)c->errors[next] - c->errors[i]);
}

cli_summary cli_collector_summary(cli_collector *c)
{
    cli_summary s = {0};
    double drift = 0;
    for (unsigned i = 0; i < c->simulation->config.model->f64->description->dim && drift == 0; i++)
        drift = c->simulation->config.drift[i];
    s.trials = c->finished;
    s.q = drift * drift;
    if (c->count == 0)
        return s;
    qsort(c->errors, c->count, sizeof *c->errors, compare);
    s.median = quantile(c, 0.5);
    s.p90 = quantile(c, 0.9);
    s.p99 = quantile(c, 0.99);
    s.mean = c->sum / (double)c->count;
    uint64_t lost = 0;
    for (uint64_t i = 0; i < c->trials; i++)
        lost += c->far[i] > CLI_LOST_STEPS;
    s.lost = (double)lost / (double)(c->finished ? c->finished : 1);
    s.coverage95 = (double)c->covered / (double)c->checked;
    s.ns_per_attempt = c->seconds / c->attempts * 1e9;
    s.mean_attempts = c->attempts / c->updates;
    s.as_gaussian = c->as_gaussian / c->updates;
    s.as_particles = c->as_particles / c->updates;
    return s;
}
