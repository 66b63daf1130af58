/* A frequency from 1,000 shots of a fringe that decays at an unknown rate, 20 shots to an update: the filter beside
   Liu-West particles. Both choose their own settings with the same design, and the particles also learn from the
   filter's. */
#include "tracking.h"

#include <stdio.h>
#include <stdlib.h>

#include "smc.h"

extern const rf32_instance rf32_model_tracking_counts;
extern const rf64_instance rf64_model_tracking_counts;

static const rf_model counts = {&rf32_model_tracking_counts, &rf64_model_tracking_counts};

enum { SHOTS = 1000, BATCH = 20, PARTICLES = 3000, SETTINGS = 3, DIM = 2, TRIALS = 1000, FEW = 100 };

#define LOST_SIGMAS 5.0 /* an error of w beyond so many of its standard deviations, after the last shot, is a loss */

/* A run without anchors: where the fringe has decayed, its top is no certainty. */
static cli_run ramsey_run(uint32_t attempts)
{
    cli_run run = ordinary_run("ramsey", SHOTS);
    run.anchor_every = 0;
    run.attempts = attempts;
    run.batch = BATCH;
    return run;
}

/* The same with a count of 20 shots for a record. */
static cli_run counts_run(uint32_t attempts)
{
    cli_run run = ramsey_run(attempts);
    run.model = &counts;
    run.about = *counts.f64->about;
    run.steps = SHOTS / BATCH;
    run.batch = 1;
    return run;
}

typedef struct world {
    uint64_t seed;
    double truth[DIM]; /* uniform over the prior's box */
} world;

static world draw_world(const cli_run *run, uint32_t trial)
{
    world w = {.seed = runs_seed(run, trial)};
    rf_words words = rf_draw(w.seed, 0, 0, 1, RF_FOR_TRUTH);
    for (unsigned i = 0; i < DIM; i++)
        w.truth[i] = run->prior[i].first + (run->prior[i].second - run->prior[i].first) * rf64_uniform(words.word[i]);
    return w;
}

typedef struct estimate {
    double error, sd; /* of w, after the last shot */
    double attempts;  /* of an update, on average */
} estimate;

/* A batch of records from `first` on: the tracker asks, the world answers. */
static void measure(rf64_tracker *t, const world *w, uint32_t first, uint32_t count, double records[])
{
    for (uint32_t k = 0; k < count; k++) {
        double *record = records + k * (SETTINGS + 1);
        rf64_track_ask(t, record);
        record[SETTINGS] = rf64_instance_outcome(t->instance, w->truth, record, w->seed, first + k);
    }
}

/* ---- Particles ---- */

static smc *particles_open(const cli_run *run, uint64_t seed)
{
    rf64_chart charts[RF_NAMES_MAX];
    const rf64_model model = rf64_instance_model(run->model->f64, charts);
    smc *s = smc_create(&model, PARTICLES, seed, NULL);
    double low[DIM], high[DIM];
    for (unsigned i = 0; i < DIM; i++) {
        low[i] = run->prior[i].first;
        high[i] = run->prior[i].second;
    }
    if (!s || smc_prior_box(s, low, high) != 0)
        fail("not enough memory");
    return s;
}

static estimate particles_estimate(const smc *s, const world *w)
{
    double mean[DIM], covariance[DIM * DIM];
    smc_moments(s, mean, covariance);
    return (estimate){mean[0] - w->truth[0], sqrt(covariance[0]), 0};
}

/* Particles that choose: the tracker designs from a filter that is set to their moments. */
static estimate run_particles(const cli_run *run, const world *w)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(DIM)];
    rf64_tracker t;
    double records[BATCH * (SETTINGS + 1)], mean[DIM], covariance[DIM * DIM];
    smc *s = particles_open(run, w->seed);
    if (rf64_simulate_open(run, w->seed, memory, sizeof memory, &t) < 0)
        fail("the run was refused");
    for (uint32_t k = 0; k < (uint32_t)run->steps; k += run->batch) {
        measure(&t, w, k, run->batch, records);
        smc_update(s, records, run->batch);
        smc_moments(s, mean, covariance);
        rf64_prior_covariance(t.filter, mean, covariance);
    }
    const estimate e = particles_estimate(s, w);
    smc_free(s);
    return e;
}

/* ---- The filter ---- */

/* `listener`: particles that learn from the same records, or null. */
static estimate run_filter(const cli_run *run, const world *w, smc *listener)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(DIM)];
    rf64_tracker t;
    double records[BATCH * (SETTINGS + 1)], attempts = 0;
    if (rf64_simulate_open(run, w->seed, memory, sizeof memory, &t) < 0)
        fail("the run was refused");
    for (uint32_t k = 0; k < (uint32_t)run->steps; k += run->batch) {
        rf64_report report;
        measure(&t, w, k, run->batch, records);
        if (rf64_track_tell(&t, records, run->batch, rf_engine_f64(run->engine), &report) < 0)
            fail("the update was refused");
        attempts += report.attempts;
        if (listener)
            smc_update(listener, records, run->batch);
    }
    return (estimate){rf64_filter_mean(t.filter)[0] - w->truth[0], rf64_filter_sd(t.filter, 0),
                      attempts * (double)run->batch / (double)run->steps};
}

/* ---- Rows ---- */

typedef struct summary {
    double median, lost, covered, attempts; /* squared error of w; lost and covered are shares */
} summary;

static summary summarise(const estimate estimates[], uint32_t count)
{
    double *squares = malloc(count * sizeof *squares);
    summary s = {0};
    if (!squares)
        fail("not enough memory");
    for (uint32_t i = 0; i < count; i++) {
        const double sigmas = fabs(estimates[i].error) / estimates[i].sd;
        squares[i] = estimates[i].error * estimates[i].error;
        s.lost += (sigmas > LOST_SIGMAS) / (double)count;
        s.covered += (sigmas <= 1.959963984540054) / (double)count;
        s.attempts += estimates[i].attempts / count;
    }
    s.median = lab_quantile(squares, count, 0.5);
    free(squares);
    return s;
}

static void counts_rows(void)
{
    const cli_run run = counts_run(1000);
    static estimate filter[TRIALS], same[TRIALS], own[TRIALS];
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        const world w = draw_world(&run, trial);
        smc *listener = particles_open(&run, w.seed);
        progress("ramsey", trial, TRIALS);
        filter[trial] = run_filter(&run, &w, listener);
        same[trial] = particles_estimate(listener, &w);
        own[trial] = run_particles(&run, &w);
        smc_free(listener);
    }
    progress("ramsey", TRIALS, TRIALS);
    const summary f = summarise(filter, TRIALS), s = summarise(same, TRIALS), o = summarise(own, TRIALS);
    row("particles: median", o.median, -INFINITY, INFINITY);
    row("particles: lost %", 100 * o.lost, -INFINITY, INFINITY);
    row("ramsey counts: median", f.median, -INFINITY, INFINITY);
    row("ramsey counts / particles: median", f.median / o.median, -INFINITY, 1.3);
    row("ramsey counts / same records: median", f.median / s.median, -INFINITY, INFINITY);
    row("ramsey counts: lost %", 100 * f.lost, -INFINITY, 1);
    row("ramsey counts: attempts", f.attempts, -INFINITY, 2000);
    row("ramsey counts: 95 % interval covers %", 100 * f.covered, -INFINITY, INFINITY);
}

static void information(const char *name, const cli_run *run, uint32_t trials)
{
    static estimate estimates[TRIALS];
    char text[64];
    for (uint32_t trial = 0; trial < trials; trial++) {
        const world w = draw_world(run, trial);
        progress(name, trial, trials);
        estimates[trial] = run_filter(run, &w, NULL);
    }
    progress(name, trials, trials);
    const summary s = summarise(estimates, trials);
    snprintf(text, sizeof text, "%s: median", name);
    row(text, s.median, -INFINITY, INFINITY);
    snprintf(text, sizeof text, "%s: lost %%", name);
    row(text, 100 * s.lost, -INFINITY, INFINITY);
    snprintf(text, sizeof text, "%s: attempts", name);
    row(text, s.attempts, -INFINITY, INFINITY);
}

static void other_rows(void)
{
    cli_run run = counts_run(1000);
    run.sampler = RF_LATTICE;
    information("ramsey counts, lattice", &run, TRIALS);
    run = ramsey_run(100); /* up to 20 batches */
    run.about.setting[0].high = counts.f64->about->setting[0].high;
    information("ramsey, 20 records", &run, FEW);
    run.kappa = 0;
    information("ramsey, 20 records, kappa auto", &run, FEW);
}

void ramsey_rows(void)
{
    counts_rows();
    other_rows();
}
