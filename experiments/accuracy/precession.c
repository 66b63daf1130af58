/* Following a precession frequency: the filter by itself, and beside the exact filter and the closed form, which see
   the same truth and the same luck but drive the design with what they believe themselves. */
#include "tracking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "closed_form.h"
#include "grid.h"
#include "summary.h"

enum {
    STEPS = 600,
    TRIALS = 4000,
    GRID_POINTS = 2048,
    JUMP_AT = 300,
    RECOVERED_WITHIN = 50, /* measurements after the jump, */
    RECOVERED_FOR = 5      /* and for so many it must last */
};

#define RECOVERED_SIGMAS 5.0 /* an error below so many √q is a recovery */

/* ---- Who runs beside the filter ---- */

typedef enum companion_kind { NOBODY, EXACT, CLOSED_FORM } companion_kind;

/* `tracker` designs and judges anchors, from a filter that is set to the moments of the other. */
typedef struct companion {
    grid *exact;
    closed_form form;
    rf64_tracker tracker;
    uint64_t seed;
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
} companion;

static void believe(companion *c)
{
    double mean = c->form.mean, variance = c->form.variance;
    if (c->exact)
        grid_moments(c->exact, &mean, &variance);
    rf64_prior_covariance(c->tracker.filter, &mean, &variance);
}

static void companion_open(companion *c, companion_kind kind, const cli_run *run, uint32_t trial)
{
    memset(c, 0, sizeof *c);
    c->seed = trial_seed(run, trial);
    if (rf64_simulate_open(run, c->seed, c->memory, sizeof c->memory, &c->tracker) < 0)
        fail("the run was refused");
    c->form.mean = rf64_filter_mean(c->tracker.filter)[0];
    c->form.variance = rf64_filter_covariance(c->tracker.filter, 0, 0);
    if (kind != EXACT)
        return;
    c->exact = grid_create(&c->tracker.model, GRID_POINTS);
    if (!c->exact)
        fail("not enough memory");
    grid_prior_gaussian(c->exact, c->form.mean, c->form.variance);
}

/* One measurement of the same truth. What a failed anchor widens is the closed form's Gaussian, as it does the filter's;
   the exact posterior needs no widening. */
static void companion_step(companion *c, const cli_step *step, cli_step *own)
{
    const double truth = step->truth[0], q = c->tracker.drift[0] * c->tracker.drift[0];
    const rf64_report none = {0};
    double record[3];
    c->tracker.model.charts = c->tracker.charts;
    if (step->step > 0 && c->exact)
        grid_diffuse(c->exact, q);
    else if (step->step > 0)
        closed_form_diffuse(&c->form, q);
    believe(c);
    rf64_track_ask(&c->tracker, record);
    record[2] = rf64_instance_outcome(c->tracker.instance, &truth, record, c->seed, (uint32_t)step->step);
    rf64_track_before(&c->tracker, record, 1);
    if (c->exact)
        grid_update(c->exact, record);
    else
        closed_form_update(&c->form, record[0], record[1], record[2] != 0);
    believe(c);
    rf64_track_after(&c->tracker, &none);
    if (c->exact)
        believe(c);
    c->form.mean = rf64_filter_mean(c->tracker.filter)[0];
    c->form.variance = rf64_filter_covariance(c->tracker.filter, 0, 0);
    *own = (cli_step){.step = step->step, .report.attempts = 1};
    rf64_simulate_describe(&c->tracker, &truth, own);
}

/* ---- The trial loop ---- */

typedef struct watch {
    const cli_run *run;
    cli_collector *filter, *companion; /* companion: or null */
    companion *companions;             /* of the trials that run side by side */
    unsigned char *tracking, *good, *recovered; /* of a jump, per trial: see watch_jump */
} watch;

/* Was the trial on the truth just before the jump; for how many steps in a row is it now; and did such a series of
   RECOVERED_FOR begin in time? */
static void watch_jump(watch *w, uint32_t trial, const cli_step *step)
{
    const long since = step->step - w->run->jump_at;
    const int is_good = fabs(step->error[0]) < RECOVERED_SIGMAS * w->run->drift[0];
    if (since == -1)
        w->tracking[trial] = (unsigned char)is_good;
    w->good[trial] = (unsigned char)(since >= 0 && is_good ? w->good[trial] + (w->good[trial] < RECOVERED_FOR) : 0);
    if (w->good[trial] == RECOVERED_FOR && since - RECOVERED_FOR + 1 < RECOVERED_WITHIN)
        w->recovered[trial] = 1;
}

static int watch_step(void *user, uint32_t trial, const cli_step *step)
{
    watch *w = user;
    cli_collector_step(w->filter, trial, step);
    if (w->companion) {
        cli_step own;
        companion_step(&w->companions[trial % CLI_SIDE_BY_SIDE], step, &own);
        cli_collector_step(w->companion, trial, &own);
    }
    if (w->run->jump != 0)
        watch_jump(w, trial, step);
    return 0;
}

typedef struct outcome {
    cli_summary filter, companion;
    double recovered; /* share of the trials that were tracking just before the jump */
} outcome;

static outcome run_trials(const char *what, const cli_run *run, uint32_t trials, companion_kind kind)
{
    outcome o = {0};
    watch w = {.run = run, .filter = cli_collector_open(run, trials), .companion = kind ? cli_collector_open(run, trials) : NULL,
               .companions = kind ? malloc(CLI_SIDE_BY_SIDE * sizeof *w.companions) : NULL, .tracking = calloc(trials, 3)};
    if (!w.filter || (kind && (!w.companion || !w.companions)) || !w.tracking)
        fail("not enough memory");
    w.good = w.tracking + trials;
    w.recovered = w.good + trials;
    for (uint32_t first = 0, some; first < trials; first += some) {
        progress(what, first, trials);
        some = trials - first < CLI_SIDE_BY_SIDE ? trials - first : CLI_SIDE_BY_SIDE;
        for (uint32_t i = 0; i < some && kind; i++)
            companion_open(&w.companions[i], kind, run, first + i);
        if (rf64_simulate_trials(run, first, some, watch_step, &w) < 0)
            fail("the run was refused");
        for (uint32_t i = 0; i < some && kind; i++)
            grid_free(w.companions[i].exact);
    }
    progress(what, trials, trials);
    o.filter = cli_collector_summary(w.filter);
    if (kind)
        o.companion = cli_collector_summary(w.companion);
    double tracking = 0, recovered = 0;
    for (uint32_t i = 0; i < trials; i++) {
        tracking += w.tracking[i];
        recovered += w.tracking[i] && w.recovered[i];
    }
    o.recovered = tracking > 0 ? recovered / tracking : 0;
    cli_collector_free(w.filter);
    cli_collector_free(w.companion);
    free(w.companions);
    free(w.tracking);
    return o;
}

/* ---- Rows ---- */

static cli_run strict_pgh(long steps)
{
    cli_run run = ordinary_run("precession", steps);
    run.design = "pgh";
    run.strict = 1;
    run.on_lost = RF_ON_LOST_IGNORE;
    return run;
}

static void default_rows(void)
{
    const cli_run run = ordinary_run("precession", STEPS), paper = strict_pgh(STEPS);
    const cli_summary s = run_trials("default", &run, TRIALS, NOBODY).filter;
    row("default: median / q", s.median, -INFINITY, 1.12);
    row("default: mean / q", s.mean, -INFINITY, 4.5);
    row("default: 99 % below / q", s.p99, -INFINITY, 60);
    row("default: lost %", 100 * s.lost, -INFINITY, 0.5);
    row("default: 95 % interval covers %", 100 * s.coverage95, 93, 97);
    const cli_summary p = run_trials("strict pgh", &paper, TRIALS, NOBODY).filter;
    row("strict pgh: median / q", p.median, -INFINITY, INFINITY);
    row("strict pgh: mean / q", p.mean, -INFINITY, INFINITY);
    row("strict pgh: 99 % below / q", p.p99, -INFINITY, INFINITY);
    row("strict pgh: lost %", 100 * p.lost, -INFINITY, INFINITY);
    row("strict pgh / default: mean", p.mean / s.mean, 10, INFINITY);
    row("strict pgh / default: lost", p.lost / s.lost, 30, INFINITY);
}

static void exact_rows(void)
{
    const cli_run run = ordinary_run("precession", STEPS);
    const outcome o = run_trials("exact grid", &run, TRIALS, EXACT);
    row("exact grid: median / q", o.companion.median, -INFINITY, INFINITY);
    row("exact grid: mean / q", o.companion.mean, -INFINITY, INFINITY);
    row("exact grid: 99 % below / q", o.companion.p99, -INFINITY, INFINITY);
    row("exact grid: lost %", 100 * o.companion.lost, -INFINITY, INFINITY);
    row("default / exact grid: mean", o.filter.mean / o.companion.mean, -INFINITY, 1.2);
}

static void lattice_rows(void)
{
    cli_run run = ordinary_run("precession", STEPS);
    run.sampler = RF_LATTICE;
    const outcome o = run_trials("lattice", &run, TRIALS, CLOSED_FORM);
    row("closed form: median / q", o.companion.median, -INFINITY, INFINITY);
    row("closed form: mean / q", o.companion.mean, -INFINITY, INFINITY);
    row("closed form: lost %", 100 * o.companion.lost, -INFINITY, INFINITY);
    row("lattice: mean / q", o.filter.mean, -INFINITY, INFINITY);
    row("lattice: lost %", 100 * o.filter.lost, -INFINITY, INFINITY);
    row("lattice: median / q", o.filter.median, -INFINITY, INFINITY);
    row("lattice / closed form: median", o.filter.median / o.companion.median, 0.97, 1.03);
}

static void jump_rows(void)
{
    cli_run run = ordinary_run("precession", JUMP_AT + RECOVERED_WITHIN + RECOVERED_FOR), paper = strict_pgh(run.steps);
    run.jump = paper.jump = 1;
    run.jump_at = paper.jump_at = JUMP_AT;
    row("jump: recovered %", 100 * run_trials("jump", &run, TRIALS, NOBODY).recovered, 93, INFINITY);
    row("jump, strict pgh: recovered %", 100 * run_trials("jump, strict pgh", &paper, TRIALS, NOBODY).recovered, -INFINITY, INFINITY);
}

static void static_rows(void)
{
    cli_run run = ordinary_run("precession", 100);
    run.drift[0] = 0;
    cli_summary s = run_trials("static", &run, TRIALS, NOBODY).filter;
    row("static: median", s.median, -INFINITY, 1e-15);
    row("static: lost %", 100 * s.lost, -INFINITY, 2.5);
    run.anchor_every = 3;
    s = run_trials("static, anchors 3", &run, TRIALS, NOBODY).filter;
    row("static, anchors 3: median", s.median, -INFINITY, INFINITY);
    row("static, anchors 3: lost %", 100 * s.lost, -INFINITY, 0.3);
}

static void information(const char *name, const cli_run *run, uint32_t trials)
{
    const cli_summary s = run_trials(name, run, trials, NOBODY).filter;
    const struct {
        const char *of;
        double value;
    } all[] = {{"median / q", s.median}, {"mean / q", s.mean}, {"lost %", 100 * s.lost}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s: %s", name, all[i].of);
        row(text, all[i].value, -INFINITY, INFINITY);
    }
}

static void other_rows(void)
{
    cli_run run = ordinary_run("precession", STEPS);
    run.sampler = RF_WEIGHT;
    information("weight", &run, TRIALS);
    run = ordinary_run("precession", STEPS);
    run.design = "pgh";
    information("pgh", &run, TRIALS);
    run.design = "pgh-distance";
    information("pgh-distance", &run, TRIALS);
    run.design = "risk";
    information("risk", &run, 500);
}

void precession_rows(void)
{
    default_rows();
    exact_rows();
    lattice_rows();
    jump_rows();
    static_rows();
    other_rows();
}
