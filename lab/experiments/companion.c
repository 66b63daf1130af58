#include "companion.h"

#include <math.h>
#include <string.h>

#include "runs.h"

static void moments(const companion *c, double *mean, double *variance)
{
    *mean = c->form.mean;
    *variance = c->form.variance;
    if (c->exact)
        grid_moments(c->exact, mean, variance);
    if (c->particles)
        smc_moments(c->particles, mean, variance);
}

static void believe(companion *c)
{
    double mean, variance;
    moments(c, &mean, &variance);
    rf64_prior_covariance(c->tracker.filter, &mean, &variance);
}

int companion_open(companion *c, companion_kind kind, uint32_t size, const hermite *rule, const cli_run *run, uint32_t trial)
{
    memset(c, 0, sizeof *c);
    c->kind = kind;
    c->size = size;
    c->engine = run->engine ? rf_engine_f64(run->engine) : NULL;
    c->rule = rule;
    c->seed = runs_seed(run, trial);
    if (rf64_simulate_open(run, c->seed, c->memory, sizeof c->memory, &c->tracker) < 0)
        return -1;
    c->form.mean = rf64_filter_mean(c->tracker.filter)[0];
    c->form.variance = rf64_filter_covariance(c->tracker.filter, 0, 0);
    if (kind == COMPANION_EXACT) {
        c->exact = grid_create(&c->tracker.model, size);
        return c->exact ? grid_prior_gaussian(c->exact, c->form.mean, c->form.variance) : -1;
    }
    if (kind == COMPANION_PARTICLES) {
        c->particles = smc_create(&c->tracker.model, size, c->seed, NULL);
        return c->particles ? smc_prior_box(c->particles, &run->prior[0].first, &run->prior[0].second) : -1;
    }
    return 0;
}

void companion_close(companion *c)
{
    grid_free(c->exact);
    smc_free(c->particles);
}

static void diffuse(companion *c, double variance)
{
    if (c->exact)
        grid_diffuse(c->exact, variance);
    else if (c->particles)
        smc_diffuse(c->particles, &variance);
    else
        closed_form_diffuse(&c->form, variance);
}

static void learn(companion *c, const double record[])
{
    if (c->exact)
        grid_update(c->exact, record);
    else if (c->particles)
        smc_update(c->particles, record, 1);
    else if (c->kind == COMPANION_HERMITE)
        hermite_update(c->rule, &c->tracker.model, record, &c->form.mean, &c->form.variance);
    else
        closed_form_update(&c->form, record[0], record[1], record[2] != 0);
}

static void restart(companion *c)
{
    rf64_prior_covariance(c->tracker.filter, &c->form.mean, &c->form.variance);
    c->tracker.health.failed = 0;
}

/* The filter and its tracker by themselves, and when they restart. */
static void restarted_step(companion *c, double truth, uint32_t number)
{
    double record[RF_NAMES_MAX + 1];
    const uint32_t widened = c->tracker.health.widened;
    if (number > 0)
        rf64_track_pass(&c->tracker, 1);
    if (c->size > 0 && rf64_uniform(rf_draw(c->seed, number, 0, 0, RF_FOR_USER + 32).word[0]) * c->size <= 1)
        restart(c);
    rf64_track_ask(&c->tracker, record);
    record[c->tracker.model.settings] = rf64_instance_outcome(c->tracker.instance, &truth, record, c->seed, number);
    rf64_track_tell(&c->tracker, record, 1, c->engine, NULL);
    if (c->size == 0 && c->tracker.health.widened > widened)
        restart(c);
}

/* Another filter, whose moments the tracker's takes over. */
static void other_step(companion *c, double truth, uint32_t number)
{
    const rf64_report none = {0};
    double record[RF_NAMES_MAX + 1];
    if (number > 0)
        diffuse(c, c->tracker.drift[0] * c->tracker.drift[0]);
    believe(c);
    rf64_track_ask(&c->tracker, record);
    record[c->tracker.model.settings] = rf64_instance_outcome(c->tracker.instance, &truth, record, c->seed, number);
    rf64_track_before(&c->tracker, record, 1);
    learn(c, record);
    believe(c);
    rf64_track_after(&c->tracker, &none);
    if (c->exact || c->particles)
        believe(c);
    c->form.mean = rf64_filter_mean(c->tracker.filter)[0];
    c->form.variance = rf64_filter_covariance(c->tracker.filter, 0, 0);
}

void companion_step(companion *c, const cli_step *step, cli_step *own)
{
    const double truth = step->truth[0];
    c->tracker.model.charts = c->tracker.charts;
    (c->kind == COMPANION_RESTARTED ? restarted_step : other_step)(c, truth, (uint32_t)step->step);
    *own = (cli_step){.step = step->step, .report.attempts = 1};
    rf64_simulate_describe(&c->tracker, &truth, own);
}
