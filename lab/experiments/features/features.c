/* How few pixels are enough? The pixels asked most often are kept. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"
#include "ranking.h"

static unsigned jobs(const lab *l) { return 1 + lab_items(l, "percentiles"); } /* job 0 uses all pixels, to rank them */

typedef struct shared {
    const classify_data *data;
    const classify_config *config;
    const uint8_t *mask; /* or null */
    digits_result *found; /* by shuffle */
    uint64_t *asked;      /* by shuffle and feature */
    float *variance;
} shared;

static int shuffle(lab *l, void *context, uint32_t number, const rf_engine *engine)
{
    (void)engine;
    const shared *j = context;
    const uint32_t features = j->data->train.features;
    classify_trial t;
    char error[300];
    if (classify_trial_open(j->config, j->data, number, &t) != CLI_OK)
        return lab_fail(l, "there are no digits");
    rfc_outcome o = {.times_asked = j->asked + (size_t)number * features};
    t.rules.mask = j->mask;
    int status = rfc_classify(t.training, &t.rules, &t.objects, 1, NULL, NULL, &o, error, sizeof error);
    j->found[number] = (digits_result){t.objects.count, o.errors, o.all_queries};
    for (uint32_t f = 0; f < features; f++)
        j->variance[(size_t)number * features + f] = rfc_training_variance(t.training)[f];
    classify_trial_close(&t);
    return status < 0 ? lab_fail(l, "%s", error) : 0;
}

/* Accuracy: the mean over the shuffles. Its standard error is the larger of two: from the scatter of shuffles, and
   from the number of objects. */
static void put_accuracy(lab *l, double percentile, double kept, const digits_result found[], uint32_t shuffles)
{
    double sum = 0, squares = 0, queries = 0, counted;
    digits_result all = {0, 0, 0};
    for (uint32_t i = 0; i < shuffles; i++) {
        const double right = 1 - (double)found[i].errors / (double)found[i].objects;
        all.objects += found[i].objects;
        all.errors += found[i].errors;
        sum += right / shuffles;
        squares += right * right / shuffles;
        queries += (double)found[i].queries / (double)found[i].objects / shuffles;
    }
    digits_error(&all, &counted);
    const double error = fmax(sqrt(fmax(0, squares - sum * sum) / fmax(1, shuffles - 1)), counted);
    lab_put(l, "accuracy", "kept", percentile, 100 * sum, 100 * error);
    lab_put(l, "by features", "kept", kept, 100 * sum, 100 * error);
    lab_put(l, "features", "kept", percentile, kept, NAN);
    lab_put(l, "queries", "kept", percentile, queries, NAN);
}

/* Makes the ranking from the rows of the first job, so that the other jobs depend on nothing else. */
static int rank(lab *l, uint32_t features, classify_ranking *r)
{
    if (classify_ranking_make(r, features) < 0)
        return lab_fail(l, "not enough memory");
    for (uint32_t f = 0; f < features; f++) {
        r->asked[f] = (uint64_t)lab_find(l, "asked", "all", f).value;
        r->variance[f] = lab_find(l, "variance", "all", f).value;
    }
    classify_ranking_sort(r);
    return 0;
}

static void put_ranking(lab *l, const shared *j, uint32_t shuffles)
{
    const uint32_t features = j->data->train.features;
    for (uint32_t f = 0; f < features; f++) {
        double asked = 0, variance = 0;
        for (uint32_t i = 0; i < shuffles; i++) {
            asked += (double)j->asked[(size_t)i * features + f];
            variance += (double)j->variance[(size_t)i * features + f] / shuffles;
        }
        lab_put(l, "asked", "all", f, asked, NAN);
        lab_put(l, "variance", "all", f, variance, NAN);
    }
}

static int run(lab *l, unsigned job)
{
    const uint32_t shuffles = lab_whole(l, "shuffles");
    const double percentile = job ? lab_item(l, "percentiles", job - 1) : 0;
    classify_config c = digits_config(l, RFC_PAPER, 1);
    c.limit = lab_whole(l, "objects");
    c.particles = lab_whole(l, "particles");
    shared j = {.data = digits_load(l, "zero-one", 1), .config = &c};
    if (!j.data)
        return -1;
    const uint32_t features = j.data->train.features, kept = classify_ranking_kept(features, percentile);
    classify_ranking r = {0};
    uint8_t *mask = malloc(features);
    j.found = calloc(shuffles, sizeof *j.found);
    j.asked = calloc((size_t)shuffles * features, sizeof *j.asked);
    j.variance = calloc((size_t)shuffles * features, sizeof *j.variance);
    int status = mask && j.found && j.asked && j.variance ? 0 : lab_fail(l, "not enough memory");
    if (status == 0 && job > 0 && (status = rank(l, features, &r)) == 0) {
        classify_ranking_mask(&r, kept, NULL, mask);
        j.mask = mask;
    }
    if (status == 0)
        status = lab_each(l, shuffles, shuffle, &j);
    if (status == 0)
        put_accuracy(l, percentile, kept, j.found, shuffles);
    if (status == 0 && job == 0)
        put_ranking(l, &j, shuffles);
    classify_ranking_free(&r);
    free(mask);
    free(j.found);
    free(j.asked);
    free(j.variance);
    return status;
}

/* ---- Report ---- */

static double features_asked(const lab *l)
{
    double count = 0;
    for (const lab_row *r = NULL; (r = lab_next(l, r, "asked", "all"));)
        count += r->value > 0;
    return count;
}

static void report(lab *l)
{
    /* the paper's table, without the two rows around the pixels ever asked */
    static const double percentiles[] = {0, 50, 75, 80, 90, 95, 97.5}, counts[] = {784, 392, 196, 157, 78, 39, 20};
    const lab_row all = lab_find(l, "accuracy", "kept", 0), fifth = lab_find(l, "accuracy", "kept", 80), few = lab_find(l, "accuracy", "kept", 95),
                  fewest = lab_find(l, "accuracy", "kept", 97.5);
    double off = 0;
    lab_row least = all;
    for (int i = 0; i < 7; i++) {
        const lab_row r = lab_find(l, "accuracy", "kept", percentiles[i]);
        off = fmax(off, fabs(lab_find(l, "features", "kept", percentiles[i]).value - counts[i]));
        least = r.value < least.value ? r : least;
    }
    lab_claim(l, "table", off, NAN);
    lab_claim(l, "ever", features_asked(l), NAN);
    lab_claim(l, "fifth", all.value - fifth.value, hypot(all.error, fifth.error));
    lab_claim(l, "strong", (few.value - fewest.value) / (fifth.value - few.value), NAN);
    lab_claim(l, "high", least.value, least.error);
    lab_claim(l, "all", all.value, all.error);
    char alt[256];
    snprintf(alt, sizeof alt, "Accuracy by the number of pixels kept: %.2f %% with all 784, %.2f %% with 157, %.2f %% with 39 and %.2f %% with 20.", all.value,
             fifth.value, few.value, fewest.value);
    lab_figure(l, "accuracy", "Accuracy with the pixels asked most, zero or one", alt);
    lab_axes(l, "pixels kept", "accuracy, %", NULL, LAB_LOG_X);
    lab_gnuplot(l, "set format x '%%g'");
    lab_curve(l, "by features", "kept", "average over the shuffles", LAB_BOTH | LAB_BARS);
    lab_table(l, "By percentile", "percentile | pixels kept | accuracy, % | pixels asked of an object");
    for (const lab_row *r = NULL; (r = lab_next(l, r, "accuracy", "kept"));) {
        char number[LAB_NUMBER_TEXT];
        lab_line(l, "%g | %.0f | %s | %.1f", r->x, lab_find(l, "features", "kept", r->x).value, lab_number(r->value, r->error, number),
                 lab_find(l, "queries", "kept", r->x).value);
    }
    lab_paragraph(l, "%.0f of the 784 pixels were asked at least once. The paper's table drops from 784 to 503 features between the percentiles 35 and 36, so there "
                     "281 pixels were never asked; that number is the smaller the more objects are classified.",
                  features_asked(l));
}

const lab_experiment experiment_features = {.open = digits_open, .jobs = jobs, .run = run, .report = report};
