/* A frequency from 1,000 shots of a fringe with unknown decay rate, 20 shots per update: the filter compared with
   Liu–West particles. Both choose settings by the same design; other particles learn from the filter's records. */
#include "tracking.h"

#include <stdio.h>
#include <stdlib.h>

extern const rf32_instance rf32_model_tracking_counts;
extern const rf64_instance rf64_model_tracking_counts;

static const rf_model counts = {&rf32_model_tracking_counts, &rf64_model_tracking_counts};

enum { SHOTS = 1000, BATCH = 20, DIM = 2, TRIALS = 1000, FEW = 100 };

#define PARTICLES "particles:3000"
#define LOST_SIGMAS 5.0 /* a trial is lost if w is off by more standard deviations than this after the last shot */

/* A run without anchors: once the fringe has decayed, no outcome is certain. */
static rf_simulation ramsey_run(uint32_t attempts)
{
    rf_simulation run = ordinary_run("ramsey", SHOTS);
    run.config.anchor_every = 0;
    run.config.attempts = attempts;
    run.batch = BATCH;
    return run;
}

/* The same, with a count of 20 shots as one record. */
static rf_simulation counts_run(uint32_t attempts)
{
    rf_simulation run = ramsey_run(attempts);
    run.config.model = &counts;
    run.config.description = *counts.f64->description;
    run.steps = SHOTS / BATCH;
    run.batch = 1;
    return run;
}

typedef struct world {
    uint32_t trial;
    uint64_t seed;
    double truth[DIM]; /* uniform over the prior's range */
} world;

static world draw_world(const rf_simulation *run, uint32_t trial)
{
    world w = {.trial = trial, .seed = runs_seed(run, trial)};
    rf_words words = rf_draw(w.seed, 0, 0, 1, RF_FOR_TRUTH);
    for (unsigned i = 0; i < DIM; i++)
        w.truth[i] = run->config.prior[i].first + (run->config.prior[i].second - run->config.prior[i].first) * rf64_uniform(words.word[i]);
    return w;
}

typedef struct estimate {
    double error, sd; /* of w, after the last shot */
    double attempts;  /* mean per update */
} estimate;

/* Measures a batch of records from number `first` on: the session asks, the world answers. */
static void measure(rf_session *session, const rf_simulation *run, const world *w, uint32_t first, rf_record records[])
{
    if (rf_session_ask(session, run->batch, records) < 0)
        fail("the question was refused");
    for (uint32_t k = 0; k < run->batch; k++)
        records[k].outcome = rf64_instance_outcome(run->config.model->f64, w->truth, records[k].setting, w->seed, first + k);
}

static rf_session *session_open(const rf_simulation *run, const char *belief, uint32_t trial)
{
    rf_config config = run->config;
    char error[200];
    config.belief = belief;
    config.trial = trial;
    rf_session *session = rf_session_open(&config, error, sizeof error);
    if (!session)
        fail(error);
    return session;
}

/* Closes the session and returns the error and standard deviation of w. */
static estimate session_end(rf_session *session, const world *w, double attempts)
{
    rf_step step;
    rf_session_show(session, &step);
    rf_session_close(session);
    return (estimate){step.chart_mean[0] - w->truth[0], step.chart_sd[0], attempts};
}

/* Runs a filter with `belief`, which chooses its own settings. `listener`: particles that learn from the same
   records, or null. */
static estimate run_filter(const rf_simulation *run, const char *belief, const world *w, rf_session *listener)
{
    rf_session *session = session_open(run, belief, w->trial);
    rf_record records[BATCH];
    double attempts = 0;
    for (uint32_t k = 0; k < (uint32_t)run->steps; k += run->batch) {
        rf_step step;
        measure(session, run, w, k, records);
        if (rf_session_tell(session, records, run->batch, &step) < 0 || (listener && rf_session_tell(listener, records, run->batch, NULL) < 0))
            fail("the update was refused");
        attempts += step.report.attempts;
    }
    return session_end(session, w, attempts * (double)run->batch / (double)run->steps);
}

/* ---- Rows ---- */

typedef struct summary {
    double median, lost, covered, attempts; /* median squared error of w; lost and covered are fractions */
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
    const rf_simulation run = counts_run(1000);
    static estimate filter[TRIALS], same[TRIALS], own[TRIALS];
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        const world w = draw_world(&run, trial);
        rf_session *listener = session_open(&run, PARTICLES, trial);
        progress("ramsey", trial, TRIALS);
        filter[trial] = run_filter(&run, "gaussian", &w, listener);
        same[trial] = session_end(listener, &w, 0);
        own[trial] = run_filter(&run, PARTICLES, &w, NULL);
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

static void information(const char *name, const rf_simulation *run, uint32_t trials)
{
    static estimate estimates[TRIALS];
    char text[64];
    for (uint32_t trial = 0; trial < trials; trial++) {
        const world w = draw_world(run, trial);
        progress(name, trial, trials);
        estimates[trial] = run_filter(run, "gaussian", &w, NULL);
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
    rf_simulation run = counts_run(1000);
    run.config.sampler = RF_LATTICE;
    information("ramsey counts, lattice", &run, TRIALS);
    run = ramsey_run(100); /* with top-up, up to 20 batches of attempts */
    run.config.description.setting[0].high = counts.f64->description->setting[0].high;
    information("ramsey, 20 records", &run, FEW);
    run.config.kappa = 0;
    information("ramsey, 20 records, kappa auto", &run, FEW);
}

void ramsey_rows(void)
{
    counts_rows();
    other_rows();
}
