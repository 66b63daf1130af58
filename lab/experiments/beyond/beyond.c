/* Other ways to compute the two moments: lattice, weighting, fixed points; compared at equal cost. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "closed_form.h"
#include "hermite.h"
#include "tracks.h"

enum { EXACT = -2, RULE = -1 }; /* or an rf_sampler */

static const struct way {
    const char *of;
    int how;
    const char *sizes; /* key of the setting with the sizes */
} ways[] = {
    {"exact moments", EXACT, NULL},        {"fixed points", RULE, "points"},       {"rejection", RF_REJECT, "attempts"},
    {"lattice", RF_LATTICE, "attempts"},   {"weighting", RF_WEIGHT, "attempts"},
};

enum { WAYS = sizeof ways / sizeof *ways };

static unsigned members(const lab *l, const struct way *w) { return w->sizes ? lab_items(l, w->sizes) : 1; }

/* Jobs: every way and size with our design, then all with PGH, then single updates. */
static unsigned trackings(const lab *l)
{
    unsigned count = 0;
    for (int i = 0; i < WAYS; i++)
        count += 2 * members(l, &ways[i]);
    return count;
}

static unsigned jobs(const lab *l) { return trackings(l) + lab_items(l, "widths"); }

/* One update of N(0, 1) with a fringe of `width` radians per standard deviation: RMS error of the mean over phases
   and both outcomes, in standard deviations of the posterior. */
static int one_update(lab *l, double width)
{
    enum { PHASES = 200, RULES = 2, ATTEMPTS = 100 };
    static const unsigned points[RULES] = {3, 10};
    const rf64_instance *instance = rf_model_find("precession")->f64;
    rf64_chart charts[RF_DESCRIBED_MAX];
    const rf64_model model = rf64_instance_model(instance, charts);
    const hermite rules[RULES] = {hermite_rule(points[0]), hermite_rule(points[1])};
    rf64_options options = rf64_options_default();
    double squares[RULES + 1] = {0};
    options.attempts = ATTEMPTS;
    for (uint32_t i = 0; i < 2 * PHASES; i++) {
        RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
        rf64_filter *filter;
        const double record[] = {width, (i / 2 + 0.5) / PHASES * 6.283185307179586 / width, i % 2};
        closed_form exact = {0, 1, 0};
        closed_form_update(&exact, record[0], record[1], i % 2 != 0);
        for (int k = 0; k < RULES; k++) {
            double mean = 0, variance = 1;
            hermite_update(&rules[k], &model, record, &mean, &variance);
            squares[k] += (mean - exact.mean) * (mean - exact.mean) / exact.variance;
        }
        if (rf64_filter_init(&filter, memory, sizeof memory, 1, lab_seed(l) + i) < 0 ||
            rf64_update(filter, &model, record, 1, &options, NULL, NULL) < 0)
            return lab_fail(l, "an update was refused");
        const double error = rf64_filter_mean(filter)[0] - exact.mean;
        squares[RULES] += error * error / exact.variance;
    }
    static const char *const names[RULES + 1] = {"3 fixed points", "10 fixed points", "rejection; 100 attempts"};
    for (int k = 0; k <= RULES; k++)
        lab_put(l, "one update", names[k], width, sqrt(squares[k] / (2 * PHASES)), NAN);
    return 0;
}

static int run(lab *l, unsigned job)
{
    if (job >= trackings(l))
        return one_update(l, lab_item(l, "widths", job - trackings(l)));
    const uint32_t trials = lab_whole(l, "trials");
    const int is_pgh = job >= trackings(l) / 2;
    const struct way *w = ways;
    for (job %= trackings(l) / 2; job >= members(l, w); w++)
        job -= members(l, w);
    const uint32_t size = w->sizes ? (uint32_t)lab_item(l, w->sizes, job) : 1;
    rf_simulation run = runs_ordinary("precession", (long)lab_whole(l, "steps"), lab_seed(l));
    char of[80];
    tracks t;
    if (is_pgh) {
        run.config.design = "pgh";
        run.config.on_lost = RF_ON_LOST_IGNORE;
    }
    if (w->how >= 0) {
        run.config.sampler = (rf_sampler)w->how;
        run.config.attempts = size;
    }
    int status = tracks_open(l, &t, &run, trials);
    if (status == 0)
        status = w->how >= 0 ? trials_run(l, &run, trials, tracks_watch, &t)
                             : trials_run_beside(l, &run, w->how == EXACT ? REFERENCE_CLOSED_FORM : REFERENCE_HERMITE, size, trials, tracks_watch, &t);
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
    lab_axes(l, "evaluations of the likelihood per update", "pooled median squared error / q", NULL, LAB_LOG_X);
    for (int i = 1; i < WAYS; i++) {
        snprintf(of, sizeof of, "%s%s", ways[i].of, suffix);
        lab_curve(l, "by cost", of, ways[i].of, LAB_BOTH | LAB_BARS);
    }
    snprintf(of, sizeof of, "exact moments%s", suffix);
    lab_level(l, lab_find(l, "pooled", of, 1).value, "exact moments");
}

/* The first of the fringes tried at which rejection has a smaller error than ten points. */
static double crossing(const lab *l)
{
    for (const lab_row *r = NULL; (r = lab_next(l, r, "one update", "10 fixed points"));)
        if (r->value > lab_find(l, "one update", "rejection; 100 attempts", r->x).value)
            return r->x;
    return NAN;
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
    lab_claim(l, "fringes", crossing(l), NAN);
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
        const double evaluations = strncmp(r->of, "fixed", 5) == 0 ? r->x : lab_find(l, "attempts", r->of, r->x).value;
        char size[48] = "– | –";
        if (strncmp(r->of, "exact", 5) != 0)
            snprintf(size, sizeof size, "%.0f | %.0f", r->x, evaluations);
        lab_line(l, "%s | %s | %s | %s | %s %%", r->of, size, lab_number(r->value, r->error, pooled), lab_number(m.value, m.error, mean), lab_number(100 * o.value, 100 * o.error, lost));
    }
    lab_figure(l, "width", "Where fixed points fail: one update",
               "Error of the mean after one update by radians of the fringe per standard deviation: ten fixed points are exact up to about two radians and "
               "mostly wrong from about five on; rejection's error stays at about 0.15 standard deviations at every width.");
    lab_axes(l, "radians of the fringe per standard deviation", "error of the mean / posterior sd", NULL, LAB_LOG_X | LAB_LOG_Y);
    lab_gnuplot(l, "set format x '%%g'; set yrange [1e-6:*]");
    lab_curve(l, "one update", "3 fixed points", "3 fixed points", LAB_BOTH);
    lab_curve(l, "one update", "10 fixed points", "10 fixed points", LAB_BOTH);
    lab_curve(l, "one update", "rejection; 100 attempts", "rejection, 100 attempts", LAB_BOTH);
    lab_paragraph(l, "So in one dimension, with a design that keeps about one radian of the fringe within a standard deviation, rejection is never the "
                     "cheapest way to the moments: ten fixed points need no random numbers and are as good as exact. What a fixed rule cannot do is "
                     "see fringes between its points (the last figure: from %g radians on, ten points do worse than 100 attempts), and its points "
                     "grow as a power of the dimension; rejection's error depends on neither.",
                  crossing(l));
}

const lab_experiment experiment_beyond = {.jobs = jobs, .run = run, .report = report};
