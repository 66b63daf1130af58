/* Other ways to the two moments: lattice, weighting, fixed points; at equal cost. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tracks.h"

enum { EXACT = -2, RULE = -1 }; /* or an rf_sampler */

static const struct way {
    const char *of;
    int how;
    const char *sizes; /* the setting that lists them */
} ways[] = {
    {"exact moments", EXACT, NULL},        {"fixed points", RULE, "points"},       {"rejection", RF_REJECT, "attempts"},
    {"lattice", RF_LATTICE, "attempts"},   {"weighting", RF_WEIGHT, "attempts"},
};

enum { WAYS = sizeof ways / sizeof *ways };

static unsigned members(const lab *l, const struct way *w) { return w->sizes ? lab_items(l, w->sizes) : 1; }

/* Every way and size with our design, then with PGH. */
static unsigned cells(const lab *l)
{
    unsigned count = 0;
    for (int i = 0; i < WAYS; i++)
        count += 2 * members(l, &ways[i]);
    return count;
}

static int run(lab *l, unsigned cell)
{
    const uint32_t trials = lab_whole(l, "trials");
    const int is_pgh = cell >= cells(l) / 2;
    const struct way *w = ways;
    for (cell %= cells(l) / 2; cell >= members(l, w); w++)
        cell -= members(l, w);
    const uint32_t size = w->sizes ? (uint32_t)lab_item(l, w->sizes, cell) : 1;
    cli_run run = runs_ordinary("precession", (long)lab_whole(l, "steps"), lab_seed(l));
    char of[80];
    tracks t;
    if (is_pgh) {
        run.design = "pgh";
        run.on_lost = RF_ON_LOST_IGNORE;
    }
    if (w->how >= 0) {
        run.sampler = (rf_sampler)w->how;
        run.attempts = size;
    }
    int status = tracks_open(l, &t, &run, trials);
    if (status == 0)
        status = w->how >= 0 ? trials_run(l, &run, trials, tracks_watch, &t)
                             : trials_run_beside(l, &run, w->how == EXACT ? COMPANION_CLOSED_FORM : COMPANION_HERMITE, size, trials, tracks_watch, &t);
    snprintf(of, sizeof of, "%s%s", w->of, is_pgh ? " with PGH" : "");
    if (status == 0)
        tracks_put(l, &t, of, size);
    if (status == 0 && w->how != EXACT) {
        const lab_row pooled = lab_find(l, "pooled", of, size);
        const double evaluations = w->how == RULE ? size : lab_find(l, "attempts", of, size).value;
        lab_put(l, "by cost", of, evaluations, pooled.value, pooled.error);
    }
    tracks_close(&t);
    return status;
}

static void put_ratio(lab *l, const char *claim, const char *of, double size, void (*put)(lab *, const char *, double, double))
{
    const lab_row exact = lab_find(l, "pooled", "exact moments", 1), own = lab_find(l, "pooled", of, size);
    put(l, claim, own.value / exact.value, own.value / exact.value * hypot(own.error / own.value, exact.error / exact.value));
}

static void put_figure(lab *l, const char *file, const char *title, const char *suffix, const char *alt)
{
    char of[80];
    lab_figure(l, file, title, alt);
    lab_axes(l, "evaluations of the likelihood per update", "pooled median squared error / q", NULL, LAB_LOG_X | LAB_LOG_Y);
    lab_gnuplot(l, "set format y '%%g'");
    for (int i = 1; i < WAYS; i++) {
        snprintf(of, sizeof of, "%s%s", ways[i].of, suffix);
        lab_curve(l, "by cost", of, ways[i].of, LAB_BOTH | LAB_BARS);
    }
    snprintf(of, sizeof of, "exact moments%s", suffix);
    lab_level(l, lab_find(l, "pooled", of, 1).value, "exact moments");
}

static void report(lab *l)
{
    const double rejection = lab_find(l, "pooled", "rejection", 100).value;
    double enough = INFINITY;
    for (const lab_row *r = NULL; (r = lab_next(l, r, "pooled", "fixed points"));)
        if (r->value <= rejection && r->x < enough)
            enough = r->x;
    put_ratio(l, "unscented", "fixed points", 3, lab_claim);
    put_ratio(l, "unscented", "fixed points", 10, lab_claim_changed);
    lab_claim(l, "cheaper", enough, NAN);
    put_ratio(l, "lattice", "lattice", 100, lab_claim);
    put_ratio(l, "weight", "weighting", 32, lab_claim);
    put_ratio(l, "reject", "rejection", 100, lab_claim);
    put_figure(l, "cost", "Error by cost, our design", "",
               "With our design a fixed rule reaches the exact moments' error with a handful of evaluations, weighting with about 30, the lattice "
               "with about 100, and rejection approaches it slowly from above.");
    put_figure(l, "cost-pgh", "Error by cost, with PGH", " with PGH",
               "With PGH all ways end at the same higher error, that of exact moments with PGH, in the same order of cost.");
    lab_table(l, "Squared error in q, from step 100 on", "way | size | evaluations | median | mean | lost");
    for (const lab_row *r = NULL; (r = lab_next(l, r, "pooled", NULL));) {
        char pooled[LAB_NUMBER_TEXT], mean[LAB_NUMBER_TEXT], lost[LAB_NUMBER_TEXT];
        const lab_row m = lab_find(l, "mean", r->of, r->x), o = lab_find(l, "lost", r->of, r->x);
        const int is_fixed = strncmp(r->of, "fixed", 5) == 0;
        lab_line(l, "%s | %.0f | %.3g | %s | %s | %s %%", r->of, r->x, is_fixed ? r->x : lab_find(l, "attempts", r->of, r->x).value,
                 lab_number(r->value, r->error, pooled), lab_number(m.value, m.error, mean), lab_number(100 * o.value, 100 * o.error, lost));
    }
    lab_paragraph(l, "So in one dimension rejection is never the cheapest way to the moments: a rule of 10 fixed points needs no random numbers and is "
                     "as good as exact. Rejection's own merits are elsewhere: it needs no table, its cost does not grow as points to the power of "
                     "the dimension, and a fixed rule sees nothing of what lies between its points.");
}

const lab_experiment experiment_beyond = {.cells = cells, .run = run, .report = report};
