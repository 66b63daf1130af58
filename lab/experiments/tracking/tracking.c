/* Tracking of a walking frequency: the paper's filter, ours, exact ones and particles; error by step, and by memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tracks.h"

enum { FILTER = -1 };

/* One point of a curve: a method, a design, and the number of attempts, grid points or particles. */
typedef struct method {
    const char *of;
    int kind; /* FILTER, or a reference_kind */
    int is_paper;
    uint32_t size;
} method;

static const struct family {
    const char *of;
    int kind, is_paper;
    const char *sizes; /* key of the setting with the sizes; null: one size */
} families[] = {
    {"PGH", FILTER, 1, "attempts"},
    {"default", FILTER, 0, "ours"},
    {"exact moments with PGH", REFERENCE_CLOSED_FORM, 1, NULL},
    {"exact moments", REFERENCE_CLOSED_FORM, 0, NULL},
    {"exact posterior with PGH", REFERENCE_EXACT, 1, "grid"},
    {"exact posterior", REFERENCE_EXACT, 0, "grid"},
    {"particles with PGH", REFERENCE_PARTICLES, 1, "particles"},
    {"particles", REFERENCE_PARTICLES, 0, "particles"},
};

enum { FAMILIES = sizeof families / sizeof *families };

static unsigned members(const lab *l, const struct family *f) { return f->sizes ? lab_items(l, f->sizes) : 1; }

static unsigned jobs(const lab *l)
{
    unsigned count = 0;
    for (int i = 0; i < FAMILIES; i++)
        count += members(l, &families[i]);
    return count;
}

static method method_of(const lab *l, unsigned job)
{
    const struct family *f = families;
    for (; job >= members(l, f); f++)
        job -= members(l, f);
    return (method){f->of, f->kind, f->is_paper, f->sizes ? (uint32_t)lab_item(l, f->sizes, job) : 1};
}

/* Large numbers of particles run in fewer trials. */
static uint32_t trials_of(const lab *l, const method *m)
{
    const uint32_t trials = lab_whole(l, "trials");
    const double some = m->kind == REFERENCE_PARTICLES ? floor(lab_real(l, "particle_trials") / m->size) : trials;
    return some < trials ? (uint32_t)some : trials;
}

static double cost(const lab *l, unsigned job)
{
    const method m = method_of(l, job);
    const double each = m.kind == REFERENCE_PARTICLES ? 30.0 * m.size : m.kind == REFERENCE_EXACT ? 30000 : 200 + 3.0 * m.size;
    return each * trials_of(l, &m);
}

static int run(lab *l, unsigned job)
{
    const method m = method_of(l, job);
    const long steps = (long)lab_whole(l, "steps");
    const uint32_t trials = trials_of(l, &m);
    char name[80];
    tracks t;
    rf_simulation run = m.is_paper ? runs_paper("precession", steps, lab_seed(l)) : runs_ordinary("precession", steps, lab_seed(l));
    if (m.kind == FILTER)
        run.config.attempts = m.size;
    int status = tracks_open(l, &t, &run, trials);
    if (status == 0)
        status = m.kind == FILTER ? trials_run(l, &run, trials, tracks_watch, &t)
                                  : trials_run_beside(l, &run, (reference_kind)m.kind, m.size, trials, tracks_watch, &t);
    if (status == 0) {
        snprintf(name, sizeof name, m.size > 1 ? "%s %u" : "%s", m.of, (unsigned)m.size);
        tracks_put(l, &t, m.of, m.size);
        tracks_put_steps(l, &t, name, (long)lab_whole(l, "every"));
        lab_put(l, "trials", m.of, m.size, trials, NAN);
        if (m.kind == FILTER || m.kind == REFERENCE_PARTICLES) {
            const lab_row pooled = lab_find(l, "pooled", m.of, m.size);
            const double bytes = m.kind == FILTER ? RF32_FILTER_BYTES(1) : 8.0 * m.size;
            lab_put(l, "by bytes", m.of, bytes, pooled.value, pooled.error);
        }
    }
    tracks_close(&t);
    return status;
}

/* Bytes at which the particles' error falls to `error`, interpolated in logarithms; NaN: above the last point. */
static double bytes_for(const lab *l, const char *of, double error)
{
    const lab_row *before = NULL;
    for (const lab_row *r = NULL; (r = lab_next(l, r, "by bytes", of)); before = r)
        if (r->value <= error) {
            if (!before)
                return r->x;
            const double share = log(before->value / error) / log(before->value / r->value);
            return before->x * pow(r->x / before->x, share);
        }
    return NAN;
}

static void put_claims(lab *l)
{
    const lab_row pgh = lab_find(l, "pooled", "PGH", 100), ours = lab_find(l, "pooled", "default", 100);
    const lab_row lost = lab_find(l, "lost", "PGH", 100), ours_lost = lab_find(l, "lost", "default", 100);
    const lab_row infinite = lab_find(l, "pooled", "exact moments with PGH", 1);
    const lab_row exact = lab_find(l, "pooled", "exact posterior with PGH", lab_real(l, "grid"));
    const double bytes = RF32_FILTER_BYTES(1);
    lab_claim(l, "median", pgh.value, pgh.error);
    lab_claim_changed(l, "median", ours.value, ours.error);
    lab_claim(l, "attempts", 100 * lost.value, 100 * lost.error);
    lab_claim_changed(l, "attempts", 100 * ours_lost.value, 100 * ours_lost.error);
    lab_claim(l, "kilobit", 8 * bytes, NAN);
    lab_claim(l, "hundred", bytes_for(l, "particles with PGH", pgh.value) / bytes, NAN);
    lab_claim(l, "hundred-ours", bytes_for(l, "particles", 1.01 * lab_find(l, "pooled", "default", 1000).value) / bytes, NAN);
    lab_claim(l, "infinite", infinite.value, infinite.error);
    lab_claim(l, "exact", exact.value, exact.error);
    lab_claim(l, "ours", ours.value, ours.error);
}

static void put_figures(lab *l)
{
    char name[80], label[80];
    lab_figure(l, "steps", "Median squared error by step, PGH as in the paper",
               "Squared error over q falls within about 20 measurements and then stays between 1.3 and 2 q for every m from 30 on; no curve "
               "reaches 1 q; our default design lies lowest, a little above 1 q.");
    lab_axes(l, "measurement", "median squared error / q", NULL, LAB_LOG_Y);
    lab_gnuplot(l, "set yrange [0.5:300]");
    lab_level(l, 1, "q");
    for (unsigned i = 0; i < lab_items(l, "attempts"); i++) {
        snprintf(name, sizeof name, "PGH %.0f", lab_item(l, "attempts", i));
        snprintf(label, sizeof label, "m = %.0f", lab_item(l, "attempts", i));
        lab_curve(l, "by step", name, label, LAB_LINE);
    }
    lab_curve(l, "by step", "default 100", "our design, m = 100", LAB_LINE);
    lab_figure(l, "bytes", "Error and memory",
               "Pooled median error by bytes of state: the filter's points at 64 bytes, and the falling curves of particles with both designs.");
    lab_axes(l, "bytes of state", "pooled median squared error / q", NULL, LAB_LOG_X | LAB_LOG_Y);
    lab_gnuplot(l, "set yrange [0.8:*]; set format y '%%g'");
    lab_curve(l, "by bytes", "PGH", "filter with PGH, all m", LAB_POINTS | LAB_BARS);
    lab_curve(l, "by bytes", "default", "filter, our design", LAB_POINTS | LAB_BARS);
    lab_curve(l, "by bytes", "particles with PGH", "particles with PGH", LAB_BOTH | LAB_BARS);
    lab_curve(l, "by bytes", "particles", "particles, our design", LAB_BOTH | LAB_BARS);
}

static void report(lab *l)
{
    put_claims(l);
    put_figures(l);
    lab_table(l, "Squared error in q, from step 100 on", "method | size | trials | median | mean | 99 % | lost");
    for (const lab_row *r = NULL; (r = lab_next(l, r, "pooled", NULL));) {
        char median[LAB_NUMBER_TEXT], mean[LAB_NUMBER_TEXT], lost[LAB_NUMBER_TEXT], size[16] = "–";
        const lab_row m = lab_find(l, "mean", r->of, r->x), share = lab_find(l, "lost", r->of, r->x);
        if (r->x > 1)
            snprintf(size, sizeof size, "%.0f", r->x);
        lab_line(l, "%s | %s | %.0f | %s | %s | %.3g | %s %%", r->of, size, lab_find(l, "trials", r->of, r->x).value,
                 lab_number(r->value, r->error, median), lab_number(m.value, m.error, mean), lab_find(l, "p99", r->of, r->x).value,
                 lab_number(100 * share.value, 100 * share.error, lost));
    }
}

const lab_experiment experiment_tracking = {.jobs = jobs, .cost = cost, .run = run, .report = report};
