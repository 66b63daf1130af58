/* Even and odd digits told apart by asking for few pixels; restarts, stopping rules, and nearest neighbours. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "digits.h"

enum { NEIGHBOURS_MAX = 16 };

/* Jobs: the paper's method by particles, restarts and stop; the weighted method by stop; neighbours by pixels. */
static unsigned paper_jobs(const lab *l) { return lab_items(l, "particles") * lab_items(l, "restarts") * lab_items(l, "stops"); }

static unsigned jobs(const lab *l) { return paper_jobs(l) + lab_items(l, "stops") + lab_items(l, "pixels"); }

static double cost(const lab *l, unsigned job)
{
    if (job >= paper_jobs(l))
        return 2e3;
    const unsigned stops = lab_items(l, "stops"), restarts = lab_items(l, "restarts");
    return lab_item(l, "particles", job / stops / restarts) * sqrt(lab_item(l, "restarts", job / stops % restarts)) * (1 + job % stops);
}

static const char *name_of(double particles, double restarts, char of[48])
{
    snprintf(of, 48, "paper m = %.0f R = %.0f", particles, restarts);
    return of;
}

static int classify(lab *l, const classify_config *c, const char *of)
{
    const classify_data *d = digits_load(l, "even-odd", 0);
    classify_trial t;
    digits_result r;
    double error;
    if (!d || classify_trial_open(c, d, 0, &t) != CLI_OK)
        return lab_fail(l, "there are no digits");
    int status = digits_classify(l, &t, NULL, &r);
    classify_trial_close(&t);
    if (status < 0)
        return -1;
    const double share = digits_error(&r, &error), queries = (double)r.queries / (double)r.objects;
    lab_put(l, "error", of, c->stop, share, error);
    lab_put(l, "queries", of, c->stop, queries, NAN);
    lab_put(l, "by queries", of, queries, 100 * share, 100 * error);
    lab_put(l, "objects", of, c->stop, (double)r.objects, NAN);
    return 0;
}

/* Finds the best number of neighbours. */
static int find_neighbours(lab *l, uint64_t pixels)
{
    const classify_data *d = digits_load(l, "even-odd", 0);
    classify_config c = digits_config(l, RFC_WEIGHTED, 0);
    classify_trial t;
    unsigned k[NEIGHBOURS_MAX], ks = lab_items(l, "neighbours"), best = 0;
    uint64_t errors[NEIGHBOURS_MAX] = {0};
    double error;
    c.limit = lab_whole(l, "objects");
    for (unsigned i = 0; i < ks; i++)
        k[i] = (unsigned)lab_item(l, "neighbours", i);
    if (!d || classify_trial_open(&c, d, 0, &t) != CLI_OK)
        return lab_fail(l, "there are no digits");
    int status = classify_knn(&c, d, &t, pixels, k, ks, NULL, errors);
    for (unsigned i = 0; i < ks; i++)
        best = errors[i] < errors[best] ? i : best;
    const digits_result r = {t.objects.count, errors[best], 0};
    classify_trial_close(&t);
    if (status != CLI_OK)
        return lab_fail(l, "there are no neighbours");
    const double share = digits_error(&r, &error);
    lab_put(l, "error", "neighbours", (double)pixels, share, error);
    lab_put(l, "by queries", "neighbours", (double)pixels, 100 * share, 100 * error);
    lab_put(l, "k", "neighbours", (double)pixels, k[best], NAN);
    return 0;
}

static int run(lab *l, unsigned job)
{
    const unsigned stops = lab_items(l, "stops"), restarts = lab_items(l, "restarts");
    const int is_paper = job < paper_jobs(l);
    char of[48] = "weighted";
    if (job >= paper_jobs(l) + stops)
        return find_neighbours(l, (uint64_t)lab_item(l, "pixels", job - paper_jobs(l) - stops));
    classify_config c = digits_config(l, is_paper ? RFC_PAPER : RFC_WEIGHTED, 0);
    c.stop = lab_item(l, "stops", is_paper ? job % stops : job - paper_jobs(l));
    c.limit = lab_whole(l, is_paper ? "paper_objects" : "objects");
    if (is_paper) {
        c.restarts = (uint64_t)lab_item(l, "restarts", job / stops % restarts);
        c.particles = (uint64_t)lab_item(l, "particles", job / stops / restarts);
        name_of((double)c.particles, (double)c.restarts, of);
    }
    return classify(l, &c, of);
}

/* ---- Report ---- */

/* The row with the smallest error among those whose name begins with `begins`. */
static lab_row best_of(const lab *l, const char *begins)
{
    lab_row best = {.value = NAN, .error = NAN};
    for (const lab_row *r = NULL; (r = lab_next(l, r, "error", NULL));)
        if (strncmp(r->of, begins, strlen(begins)) == 0 && !(r->value >= best.value))
            best = *r;
    return best;
}

/* The neighbours' error with this number of pixels, interpolated. */
static double neighbours_at(const lab *l, double pixels)
{
    const lab_row *before = NULL;
    for (const lab_row *r = NULL; (r = lab_next(l, r, "error", "neighbours")); before = r)
        if (before && pixels >= before->x && pixels <= r->x) {
            const double part = log(pixels / before->x) / log(r->x / before->x);
            return before->value + part * (r->value - before->value);
        }
    return NAN;
}

static double relative(lab_row a, lab_row b, double *error)
{
    *error = hypot(a.error, a.value / b.value * b.error) / b.value;
    return a.value / b.value;
}

static void report(lab *l)
{
    char of[48];
    const double all = lab_item(l, "pixels", lab_items(l, "pixels") - 1);
    const lab_row neighbours = lab_find(l, "error", "neighbours", all), paper = best_of(l, "paper"), weighted = lab_find(l, "error", "weighted", 0.001);
    const lab_row thousand = lab_find(l, "error", name_of(1000, 3, of), 0.001);
    double error, ratio, least = NAN;
    ratio = relative(paper, neighbours, &error);
    lab_claim(l, "quarter", ratio, error);
    ratio = relative(weighted, neighbours, &error);
    lab_claim_changed(l, "quarter", ratio, error);
    lab_claim(l, "weighted", ratio, error);
    lab_claim(l, "thousand", 100 * thousand.value, 100 * thousand.error);
    lab_claim(l, "thousand-queries", lab_find(l, "queries", of, 0.001).value, NAN);
    lab_claim(l, "weighted-queries", lab_find(l, "queries", "weighted", 0.001).value, NAN);
    for (const lab_row *r = NULL; (r = lab_next(l, r, "error", NULL));)
        if (strncmp(r->of, "paper", 5) == 0) {
            ratio = r->value / neighbours_at(l, lab_find(l, "queries", r->of, r->x).value);
            least = ratio >= least ? least : ratio;
        }
    lab_claim(l, "fewer", least, NAN);
    char alt[400];
    snprintf(alt, sizeof alt, "Errors by the number of pixels asked: the weighted method errs in %.2g %% with %.0f pixels, the paper's method in %.2g %% at best, "
             "nearest neighbours in %.2g %% on all pixels and in ever more as they see fewer.",
             100 * weighted.value, lab_find(l, "queries", "weighted", 0.001).value, 100 * paper.value, 100 * neighbours.value);
    lab_figure(l, "error", "Errors by pixels asked, even against odd", alt);
    lab_axes(l, "pixels asked of an object, on average", "error, %", NULL, LAB_LOG_X | LAB_LOG_Y);
    lab_gnuplot(l, "set format x '%%g'; set format y '%%g'; set yrange [0.1:*]");
    for (unsigned i = 0; i < lab_items(l, "particles") * lab_items(l, "restarts"); i++) {
        char label[64];
        const double particles = lab_item(l, "particles", i / lab_items(l, "restarts")), restarts = lab_item(l, "restarts", i % lab_items(l, "restarts"));
        snprintf(label, sizeof label, "m %.0f R %.0f", particles, restarts);
        lab_curve(l, "by queries", name_of(particles, restarts, of), label, LAB_BOTH | LAB_BARS);
    }
    lab_curve(l, "by queries", "weighted", "weighted", LAB_BOTH | LAB_BARS);
    lab_curve(l, "by queries", "neighbours", "neighbours", LAB_BOTH | LAB_BARS);
    lab_table(l, "Errors and queries", "method | stop at P | error, % | pixels asked | objects");
    for (const lab_row *r = NULL; (r = lab_next(l, r, "error", NULL));) {
        char number[LAB_NUMBER_TEXT];
        lab_number(100 * r->value, 100 * r->error, number);
        if (strcmp(r->of, "neighbours") == 0)
            lab_line(l, "nearest %.0f neighbours | – | %s | %.0f | %u", lab_find(l, "k", r->of, r->x).value, number, r->x, lab_whole(l, "objects"));
        else
            lab_line(l, "%s | %g | %s | %.1f | %.0f", r->of, r->x, number, lab_find(l, "queries", r->of, r->x).value,
                     lab_find(l, "objects", r->of, r->x).value);
    }
}

const lab_experiment experiment_mnist = {.open = digits_open, .jobs = jobs, .cost = cost, .run = run, .report = report};
