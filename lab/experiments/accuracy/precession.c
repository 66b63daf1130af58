/* Tracking of a precession frequency: the filter alone, and compared with the exact filter and the closed form.
   These see the same truth and the same random numbers for outcomes, but each uses its own belief in the design. */
#include "tracking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "recovery.h"
#include "summary.h"

enum {
    STEPS = 600,
    TRIALS = 4000,
    GRID_POINTS = 2048,
    JUMP_AT = 300,
    NOBODY = -1 /* no reference filter */
};

/* ---- The trial loop ---- */

enum { AT_ONCE = 64 };

typedef struct watch {
    const rf_simulation *run;
    cli_collector *filter, *reference; /* reference: may be null */
    reference *references;             /* for AT_ONCE trials */
    recovery *recoveries;              /* after the jump, per trial */
} watch;

static int watch_step(void *user, uint32_t trial, const rf_step *step)
{
    watch *w = user;
    cli_collector_step(w->filter, trial, step);
    if (w->reference) {
        rf_step own;
        reference_step(&w->references[trial % AT_ONCE], step, &own);
        cli_collector_step(w->reference, trial, &own);
    }
    if (w->run->world.jumps > 0)
        recovery_step(&w->recoveries[trial], step->step - w->run->world.jump[0].at, step->chart_error[0] / w->run->config.drift[0]);
    return 0;
}

typedef struct outcome {
    cli_summary filter, reference;
    double recovered; /* fraction of trials that recovered, among those that were tracking just before the jump */
} outcome;

/* Runs with a reference of this `kind`, or NOBODY. */
static outcome run_trials(const char *what, const rf_simulation *run, uint32_t trials, int kind)
{
    outcome o = {0};
    const int has = kind != NOBODY;
    watch w = {.run = run, .filter = cli_collector_open(run, trials), .reference = has ? cli_collector_open(run, trials) : NULL,
               .references = has ? malloc(AT_ONCE * sizeof *w.references) : NULL, .recoveries = calloc(trials, sizeof *w.recoveries)};
    if (!w.filter || (has && (!w.reference || !w.references)) || !w.recoveries)
        fail("not enough memory");
    for (uint32_t first = 0, some; first < trials; first += some) {
        progress(what, first, trials);
        some = trials - first < AT_ONCE ? trials - first : AT_ONCE;
        for (uint32_t i = 0; i < some && has; i++)
            if (reference_open(&w.references[i], (reference_kind)kind, GRID_POINTS, run, first + i) < 0)
                fail("the run was refused, or memory is short");
        if (rf_simulate(run, first, some, watch_step, &w) < 0)
            fail("the run was refused");
        for (uint32_t i = 0; i < some && has; i++)
            reference_close(&w.references[i]);
    }
    progress(what, trials, trials);
    o.filter = cli_collector_summary(w.filter);
    if (has)
        o.reference = cli_collector_summary(w.reference);
    double tracking = 0, recovered = 0;
    for (uint32_t i = 0; i < trials; i++) {
        tracking += w.recoveries[i].was_tracking;
        recovered += w.recoveries[i].was_tracking && w.recoveries[i].has_recovered;
    }
    o.recovered = tracking > 0 ? recovered / tracking : 0;
    cli_collector_free(w.filter);
    cli_collector_free(w.reference);
    free(w.references);
    free(w.recoveries);
    return o;
}

/* ---- Rows ---- */

static rf_simulation strict_pgh(long steps)
{
    const rf_simulation ordinary = ordinary_run("precession", steps);
    rf_simulation run = runs_paper("precession", steps, ordinary.config.seed);
    run.config.engine = ordinary.config.engine;
    return run;
}

static void reject_rows(void)
{
    const rf_simulation run = ordinary_run("precession", STEPS), paper = strict_pgh(STEPS);
    const cli_summary s = run_trials("reject", &run, TRIALS, NOBODY).filter;
    row("reject: median / q", s.median, -INFINITY, 1.12);
    row("reject: mean / q", s.mean, -INFINITY, 4.5);
    row("reject: 99 % below / q", s.p99, -INFINITY, 60);
    row("reject: lost %", 100 * s.lost, -INFINITY, 0.5);
    row("reject: 95 % interval covers %", 100 * s.coverage95, 93, 97);
    const cli_summary p = run_trials("strict pgh", &paper, TRIALS, NOBODY).filter;
    row("strict pgh: median / q", p.median, -INFINITY, INFINITY);
    row("strict pgh: mean / q", p.mean, -INFINITY, INFINITY);
    row("strict pgh: 99 % below / q", p.p99, -INFINITY, INFINITY);
    row("strict pgh: lost %", 100 * p.lost, -INFINITY, INFINITY);
    row("strict pgh / reject: mean", p.mean / s.mean, 10, INFINITY);
    row("strict pgh / reject: lost", p.lost / s.lost, 30, INFINITY);
}

static void exact_rows(void)
{
    const rf_simulation run = ordinary_run("precession", STEPS);
    const outcome o = run_trials("exact grid", &run, TRIALS, REFERENCE_EXACT);
    row("exact grid: median / q", o.reference.median, -INFINITY, INFINITY);
    row("exact grid: mean / q", o.reference.mean, -INFINITY, INFINITY);
    row("exact grid: 99 % below / q", o.reference.p99, -INFINITY, INFINITY);
    row("exact grid: lost %", 100 * o.reference.lost, -INFINITY, INFINITY);
    row("reject / exact grid: mean", o.filter.mean / o.reference.mean, -INFINITY, 1.2);
}

static void lattice_rows(void)
{
    rf_simulation run = ordinary_run("precession", STEPS);
    run.config.sampler = RF_LATTICE;
    const outcome o = run_trials("lattice", &run, TRIALS, REFERENCE_CLOSED_FORM);
    row("closed form: median / q", o.reference.median, -INFINITY, INFINITY);
    row("closed form: mean / q", o.reference.mean, -INFINITY, INFINITY);
    row("closed form: lost %", 100 * o.reference.lost, -INFINITY, INFINITY);
    row("lattice: mean / q", o.filter.mean, -INFINITY, INFINITY);
    row("lattice: lost %", 100 * o.filter.lost, -INFINITY, INFINITY);
    row("lattice: median / q", o.filter.median, -INFINITY, INFINITY);
    row("lattice / closed form: median", o.filter.median / o.reference.median, 0.97, 1.03);
}

static void jump_rows(void)
{
    rf_simulation run = ordinary_run("precession", JUMP_AT + RECOVERY_WITHIN + RECOVERY_FOR), paper = strict_pgh(run.steps);
    const rf_world jumps = {.jumps = 1, .jump = {{.low = 1, .high = 1, .at = JUMP_AT}}};
    run.world = paper.world = jumps;
    row("jump: recovered %", 100 * run_trials("jump", &run, TRIALS, NOBODY).recovered, 93, INFINITY);
    row("jump, strict pgh: recovered %", 100 * run_trials("jump, strict pgh", &paper, TRIALS, NOBODY).recovered, -INFINITY, INFINITY);
}

static void static_rows(void)
{
    rf_simulation run = ordinary_run("precession", 100);
    run.config.drift[0] = 0;
    cli_summary s = run_trials("static", &run, TRIALS, NOBODY).filter;
    row("static: median", s.median, -INFINITY, 1e-15);
    row("static: lost %", 100 * s.lost, -INFINITY, 2.5);
    run.config.anchor_every = 3;
    s = run_trials("static, anchors 3", &run, TRIALS, NOBODY).filter;
    row("static, anchors 3: median", s.median, -INFINITY, INFINITY);
    row("static, anchors 3: lost %", 100 * s.lost, -INFINITY, 0.3);
}

static void information(const char *name, const rf_simulation *run, uint32_t trials)
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
    rf_simulation run = ordinary_run("precession", STEPS);
    run.config.sampler = RF_WEIGHT;
    information("weight", &run, TRIALS);
    run.config.attempts = 1000;
    information("default", &run, TRIALS);
    run = ordinary_run("precession", STEPS);
    run.config.design = "pgh";
    information("pgh", &run, TRIALS);
    run.config.design = "pgh-distance";
    information("pgh-distance", &run, TRIALS);
    run.config.design = "risk";
    information("risk", &run, 500);
}

void precession_rows(void)
{
    reject_rows();
    exact_rows();
    lattice_rows();
    jump_rows();
    static_rows();
    other_rows();
}
