/* How many bits do the sums need? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "sums.h"

static const struct way {
    const char *of;
    sums_way way;
    unsigned bits;
} ways[] = {{"raw sums in float", SUMS_RAW, SUMS_FLOAT},       {"Welford in float", SUMS_WELFORD, SUMS_FLOAT},
            {"whitened in float", SUMS_WHITENED, SUMS_FLOAT},  {"raw sums in double", SUMS_RAW, SUMS_DOUBLE},
            {"Welford in double", SUMS_WELFORD, SUMS_DOUBLE},  {"whitened in double", SUMS_WHITENED, SUMS_DOUBLE}};

enum { WAYS = sizeof ways / sizeof *ways };

/* Jobs: every way by distance; every way by condition, for each number of parameters; register widths, for each
   distance. */
static unsigned jobs(const lab *l) { return WAYS + WAYS * lab_items(l, "dims") + lab_items(l, "distances"); }

typedef struct shared {
    unsigned dim, bits;
    sums_way way;
    double condition, far;
    uint32_t trials;
    sums_error *found;
    double *column;
} shared;

static int try_one(lab *l, void *context, uint32_t trial, const rf_engine *engine)
{
    (void)engine;
    const shared *j = context;
    const uint64_t seed = random_seed(l, j->dim, trial); /* the same draws for every way */
    const sums_prior prior = sums_prior_make(j->dim, j->condition, j->far, seed);
    j->found[trial] = sums_try(&prior, j->way, j->bits, lab_whole(l, "draws"), seed);
    return 0;
}

/* The median error over the trials, and the fraction of results that are not positive definite. */
static int try_all(lab *l, shared *j, double *median, double *error, double *lost)
{
    *lost = 0;
    if (lab_each(l, j->trials, try_one, j) < 0)
        return -1;
    for (uint32_t i = 0; i < j->trials; i++) {
        j->column[i] = fmax(j->found[i].error, 0x1p-60); /* positive, for logarithms */
        *lost += (double)j->found[i].is_lost / j->trials;
    }
    *median = lab_median(j->column, j->trials, error);
    return 0;
}

static int run_distance(lab *l, shared *j, const struct way *w)
{
    double median, error, lost;
    j->dim = 1, j->way = w->way, j->bits = w->bits, j->condition = 1;
    for (unsigned i = 0; i < lab_items(l, "far"); i++) {
        j->far = lab_item(l, "far", i);
        if (try_all(l, j, &median, &error, &lost) < 0)
            return -1;
        lab_put(l, "by distance", w->of, j->far, median, error);
    }
    return 0;
}

static int run_condition(lab *l, shared *j, const struct way *w, unsigned dim)
{
    char of[64];
    double median, error, lost;
    snprintf(of, sizeof of, "%s of %u", w->of, dim);
    j->dim = dim, j->way = w->way, j->bits = w->bits, j->far = lab_real(l, "off");
    for (unsigned i = 0; i < lab_items(l, "conditions"); i++) {
        j->condition = lab_item(l, "conditions", i);
        if (try_all(l, j, &median, &error, &lost) < 0)
            return -1;
        lab_put(l, "by condition", of, j->condition, median, error);
        lab_put(l, "lost", of, j->condition, lost, sqrt(lost * (1 - lost) / j->trials));
    }
    return 0;
}

static int run_registers(lab *l, shared *j, double far)
{
    char of[32];
    double median, error, lost;
    snprintf(of, sizeof of, "%g", far);
    j->dim = 1, j->way = SUMS_RAW, j->condition = 1, j->far = far;
    for (j->bits = 12; j->bits <= SUMS_DOUBLE - 1; j->bits += 4) {
        if (try_all(l, j, &median, &error, &lost) < 0)
            return -1;
        lab_put(l, "bits", of, j->bits, -log2(median), error / median / log(2));
    }
    return 0;
}

static int run(lab *l, unsigned job)
{
    const uint32_t trials = lab_whole(l, "trials");
    const unsigned dims = lab_items(l, "dims");
    shared j = {.trials = trials, .found = calloc(trials, sizeof *j.found), .column = calloc(trials, sizeof *j.column)};
    int status = j.found && j.column ? 0 : lab_fail(l, "not enough memory");
    if (status == 0)
        status = job < WAYS                ? run_distance(l, &j, &ways[job])
                 : job < WAYS * (1 + dims) ? run_condition(l, &j, &ways[job % WAYS], (unsigned)lab_item(l, "dims", job / WAYS - 1))
                                            : run_registers(l, &j, lab_item(l, "distances", job - WAYS * (1 + dims)));
    free(j.found);
    free(j.column);
    return status;
}

/* ---- Report ---- */

/* Number of correct bits in the variance. */
static double bits_at(const lab *l, const char *of, double far, double *error)
{
    const lab_row r = lab_find(l, "by distance", of, far);
    *error = r.error / r.value / log(2);
    return -log2(r.value);
}

/* Bits lost for each doubling of the distance, between the first and the last. */
static double lost_per_doubling(const lab *l, double *error)
{
    char of[32];
    const double near = lab_item(l, "distances", 0), far = lab_item(l, "distances", lab_items(l, "distances") - 1);
    snprintf(of, sizeof of, "%g", near);
    const lab_row a = lab_find(l, "bits", of, 48);
    snprintf(of, sizeof of, "%g", far);
    const lab_row b = lab_find(l, "bits", of, 48);
    *error = hypot(a.error, b.error) / log2(far / near);
    return (a.value - b.value) / log2(far / near);
}

static void report_conditions(lab *l)
{
    char heads[256] = "way | parameters";
    const unsigned count = lab_items(l, "conditions"), dims = lab_items(l, "dims");
    for (unsigned i = 0; i < count; i++)
        snprintf(heads + strlen(heads), sizeof heads - strlen(heads), " | %.0e", lab_item(l, "conditions", i));
    lab_table(l, "Error of the covariance along its axes, by condition number; in brackets how many are not positive definite", heads);
    for (unsigned job = 0; job < WAYS * dims; job++) {
        char of[64], line[512];
        const unsigned dim = (unsigned)lab_item(l, "dims", job / WAYS);
        snprintf(of, sizeof of, "%s of %u", ways[job % WAYS].of, dim);
        int n = snprintf(line, sizeof line, "%s | %u", ways[job % WAYS].of, dim);
        for (unsigned i = 0; i < count; i++) {
            const double x = lab_item(l, "conditions", i), lost = lab_find(l, "lost", of, x).value;
            n += snprintf(line + n, sizeof line - (size_t)n, " | %.1e", lab_find(l, "by condition", of, x).value);
            if (lost > 0)
                n += snprintf(line + n, sizeof line - (size_t)n, " (%.0f %%)", 100 * lost);
        }
        lab_line(l, "%s", line);
    }
}

static void report(lab *l)
{
    double error, bits;
    const double steep = lab_item(l, "conditions", lab_items(l, "conditions") - 1);
    const lab_row unstable = lab_find(l, "by distance", "raw sums in float", 1e4), far = lab_find(l, "by distance", "whitened in float", 1e6),
                  lost = lab_find(l, "lost", "raw sums in double of 4", 1e10), kept = lab_find(l, "lost", "whitened in double of 8", steep);
    lab_claim(l, "unstable", unstable.value, unstable.error);
    bits = bits_at(l, "raw sums in double", 1e3, &error);
    lab_claim(l, "twice-near", bits, error);
    bits = bits_at(l, "raw sums in double", 1e6, &error);
    lab_claim(l, "twice-far", bits, error);
    bits = bits_at(l, "whitened in float", 1e6, &error);
    lab_claim_changed(l, "twice-far", bits, error);
    bits = lost_per_doubling(l, &error);
    lab_claim(l, "slope", bits, error);
    lab_claim(l, "whitened", far.value, far.error);
    lab_claim(l, "definite", lost.value, lost.error);
    lab_claim(l, "kept", kept.value, kept.error);
    lab_figure(l, "distance", "Relative error of the variance of an update, one parameter",
               "Raw sums lose two digits with every digit of mu over sigma, Welford's one, in float as in double; whitened sums lose none.");
    lab_axes(l, "μ/σ", "relative error of the variance", NULL, LAB_LOG_X | LAB_LOG_Y);
    lab_gnuplot(l, "set yrange [1e-18:1e10]");
    for (int i = 0; i < WAYS; i++)
        lab_curve(l, "by distance", ways[i].of, ways[i].of, LAB_BOTH);
    lab_figure(l, "registers", "Bits of the variance that are right, by bits of the registers of raw sums",
               "Straight lines of slope one, which lie lower by two bits for every doubling of mu over sigma.");
    lab_axes(l, "bits of a register", "bits that are right", NULL, 0);
    lab_gnuplot(l, "set yrange [0:*]");
    for (unsigned i = 0; i < lab_items(l, "distances"); i++) {
        char of[32], label[48];
        snprintf(of, sizeof of, "%g", lab_item(l, "distances", i));
        snprintf(label, sizeof label, "μ/σ = %s", of);
        lab_curve(l, "bits", of, label, LAB_BOTH);
    }
    report_conditions(l);
    lab_paragraph(l, "So doubling the registers is neither always needed nor always enough: what is lost is twice the logarithm of μ/σ, whatever the bits wanted. "
                     "In whitened coordinates nothing is lost, for there μ/σ is of order 1 and so is the condition number.");
}

const lab_experiment experiment_precision = {.jobs = jobs, .run = run, .report = report};
