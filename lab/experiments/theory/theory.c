/* The paper's theorems, checked numerically. */
#include <math.h>
#include <stdio.h>

#include "theory.h"

/* Jobs: one per dimension of 'moments', one per dimension of 'stability', and three others. */
static unsigned jobs(const lab *l) { return lab_items(l, "dims") + lab_items(l, "series_dims") + 3; }

static double cost(const lab *l, unsigned job)
{
    const unsigned dims = lab_items(l, "dims"), series = lab_items(l, "series_dims");
    if (job < dims)
        return 4 + lab_item(l, "dims", job);
    return job < dims + series ? 1 + pow(lab_item(l, "series_dims", job - dims), 2) : 8;
}

static int run(lab *l, unsigned job)
{
    const unsigned dims = lab_items(l, "dims"), series = lab_items(l, "series_dims");
    if (job < dims)
        return theory_moments(l, (unsigned)lab_item(l, "dims", job));
    if (job < dims + series)
        return theory_stability(l, (unsigned)lab_item(l, "series_dims", job - dims));
    int (*const rest[])(lab *) = {theory_lemma, theory_corollary, theory_alone};
    return rest[job - dims - series](l);
}

/* ---- Slopes ---- */

typedef struct points {
    double n, x, y, xx, xy, errors;
} points;

/* Adds a point of a power law y ~ xᵃ; `error` is the standard error of y. */
static void add(points *p, double x, double y, double error)
{
    const double lx = log(x), ly = log(y);
    if (!isfinite(lx) || !isfinite(ly))
        return;
    p->n++;
    p->x += lx;
    p->y += ly;
    p->xx += lx * lx;
    p->xy += lx * ly;
    p->errors += error * error / (y * y);
}

static double power(const points *p, double *error)
{
    const double spread = p->xx - p->x * p->x / p->n;
    *error = sqrt(p->errors / p->n / spread);
    return p->n > 1 ? (p->xy - p->x * p->y / p->n) / spread : NAN;
}

static const char *name_of(double dim, char of[16])
{
    snprintf(of, 16, "%.0f", dim);
    return of;
}

/* Claims the exponent in the number of attempts, averaged over dimensions, and the exponent in the dimension, at the
   most attempts. */
static void claim_powers(lab *l, const char *quantity, const char *by_attempts, const char *by_dim)
{
    points across = {0};
    double sum = 0, squares = 0, error;
    const unsigned dims = lab_items(l, "dims");
    const double max = lab_item(l, "attempts", lab_items(l, "attempts") - 1);
    for (unsigned i = 0; i < dims; i++) {
        points p = {0};
        char of[16];
        const double dim = lab_item(l, "dims", i);
        for (const lab_row *r = NULL; (r = lab_next(l, r, quantity, name_of(dim, of)));)
            if (r->x >= 10 * dim) /* excludes cases with fewer than 10 attempts per parameter */
                add(&p, r->x, r->value, r->error);
        sum += power(&p, &error) / dims;
        squares += error * error / dims / dims;
        const lab_row last = lab_find(l, quantity, of, max);
        add(&across, dim, last.value, last.error);
    }
    lab_claim(l, by_attempts, sum, sqrt(squares));
    const double growth = power(&across, &error);
    lab_claim(l, by_dim, growth, error);
}

/* Attempts over N² at which the excess falls to 1, interpolated; NaN if it does not within the attempts tried. */
static double enough(const lab *l, const char *of, double *error)
{
    const lab_row *before = NULL;
    for (const lab_row *r = NULL; (r = lab_next(l, r, "excess", of)); before = r)
        if (before && before->value > 1 && r->value <= 1) {
            const double fall = log(before->value / r->value), step = log(r->x / before->x), part = log(before->value) / fall;
            *error = hypot((1 - part) * before->error / before->value, part * r->error / r->value) * step / fall;
            return before->x * exp(part * step);
        }
    return *error = NAN;
}

static void report_stability(lab *l)
{
    points p = {0};
    lab_row worst = {.value = 0};
    double error;
    lab_table(l, "Attempts of each update that keep the filter as near the exact mean as the posterior is wide", "parameters N | attempts | attempts / N²");
    for (unsigned i = 0; i < lab_items(l, "series_dims"); i++) {
        char of[16], number[LAB_NUMBER_TEXT];
        const double dim = lab_item(l, "series_dims", i), squares = enough(l, name_of(dim, of), &error), attempts = squares * dim * dim;
        const lab_row r = lab_find(l, "excess", of, lab_real(l, "rule"));
        add(&p, dim, attempts, error * attempts);
        worst = r.value > worst.value ? r : worst;
        lab_line(l, "%.0f | %.3g | %s", dim, attempts, lab_number(squares, error * squares, number));
    }
    lab_claim(l, "stability", worst.value, worst.error);
    const double grows = power(&p, &error);
    lab_claim(l, "needed", grows, error);
    lab_figure(l, "stability", "Distance from the exact mean after many updates",
               "Plotted against attempts over N squared, the distances for all numbers N of parameters fall along one line, which crosses 1 at about ten.");
    lab_axes(l, "attempts of an update / N²", "squared distance / exact posterior's variance", NULL, LAB_LOG_X | LAB_LOG_Y);
    lab_gnuplot(l, "set format x '%%g'");
    for (unsigned i = 0; i < lab_items(l, "series_dims"); i++) {
        char of[16], label[32];
        snprintf(label, sizeof label, "N = %s", name_of(lab_item(l, "series_dims", i), of));
        lab_curve(l, "excess", of, label, LAB_BOTH | LAB_BARS);
    }
    lab_level(l, 1, "as far as it is wide");
}

static void report_moments(lab *l)
{
    claim_powers(l, "mean error", "mean-attempts", "mean-dim");
    claim_powers(l, "covariance error", "covariance-attempts", "covariance-dim");
    lab_figure(l, "moments", "Error of the covariance after one update",
               "The error falls as a straight line of slope one half for every number of parameters, and is larger with more of them.");
    lab_axes(l, "attempts m", "error of the covariance (2-norm), prior variances", NULL, LAB_LOG_X | LAB_LOG_Y);
    for (unsigned i = 0; i < lab_items(l, "dims"); i++) {
        char of[16], label[32];
        snprintf(label, sizeof label, "N = %s", name_of(lab_item(l, "dims", i), of));
        lab_curve(l, "covariance error", of, label, LAB_BOTH | LAB_BARS);
    }
}

static double only(const lab *l, const char *quantity, const char *of)
{
    const lab_row *r = lab_next(l, NULL, quantity, of);
    return r ? r->value : NAN;
}

static void report_bounds(lab *l)
{
    const lab_row *r = lab_next(l, NULL, "acceptance", NULL), *z = lab_next(l, NULL, "acceptance scatter", NULL);
    lab_claim(l, "lemma-mean", only(l, "lemma worst", "mean"), NAN);
    lab_claim(l, "lemma-square", only(l, "lemma worst", "second moment"), NAN);
    lab_claim(l, "overlap", only(l, "overlap margin", "least"), NAN);
    lab_claim(l, "acceptance", r ? r->value : NAN, r ? r->error : NAN);
    lab_claim(l, "scatter", z ? z->value : NAN, z ? z->error : NAN);
    lab_paragraph(l, "Of %.0f random cases the lemma's condition holds in %.0f; there the error of the mean is %.2g times its bound in the median. "
                     "The filter's own estimate of δ is off by %.2g (root of the mean square).",
                  lab_whole(l, "cases") * 1.0, only(l, "lemma cases", "all"), only(l, "lemma median", "mean"), only(l, "estimate of delta", "rms error"));
    lab_figure(l, "lemma", "Error of the posterior mean with a perturbed prior, against the lemma's bound",
               "Hundreds of random cases lie below the line where the error equals the bound, most of them by a factor of ten.");
    lab_axes(l, "bound, in units of |x| at most", "error", NULL, LAB_LOG_X | LAB_LOG_Y);
    lab_curve(l, "lemma", "mean", "a random case", LAB_POINTS);
    lab_curve(l, "lemma", "bound", "the bound", LAB_LINE);
    lab_figure(l, "overlap", "Overlap with the exact posterior when κ is too small",
               "Overlaps of random cases all lie above the line 1 minus delta, most of them far above.");
    lab_axes(l, "δ, share of probability above κ", "overlap", NULL, 0);
    lab_curve(l, "overlap", "measured", "a random case", LAB_POINTS);
    lab_curve(l, "overlap", "bound", "1 − δ", LAB_LINE);
}

static void report_alone(lab *l)
{
    const unsigned depths = lab_items(l, "depths");
    const double first = lab_item(l, "depths", 1), last = lab_item(l, "depths", depths - 1), updates = lab_whole(l, "updates");
    const lab_row a = lab_find(l, "accepted", "alone", first), b = lab_find(l, "accepted", "alone", last);
    const lab_row f = lab_find(l, "accepted", "filter", 1), g = lab_find(l, "accepted", "filter", updates);
    lab_claim(l, "alone", log(a.value / b.value) / (last - first), hypot(a.error / a.value, b.error / b.value) / (last - first));
    lab_claim(l, "filter", g.value / f.value, g.value / f.value * hypot(g.error / g.value, f.error / f.value));
    lab_figure(l, "alone", "Share of draws accepted, by the number of measurements",
               "Without resampling the share falls as a straight line on a logarithmic axis, by about a third with every measurement; the filter's stays "
               "above one half.");
    lab_axes(l, "measurements", "accepted (median)", NULL, LAB_LOG_Y);
    lab_curve(l, "accepted", "alone", "draws from the prior, all evidence", LAB_BOTH | LAB_BARS);
    lab_curve(l, "accepted", "filter", "the filter", LAB_LINE);
}

static void report(lab *l)
{
    report_moments(l);
    report_bounds(l);
    report_alone(l);
    report_stability(l);
}

const lab_experiment experiment_theory = {.jobs = jobs, .cost = cost, .run = run, .report = report};
