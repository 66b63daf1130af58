/* Which model? Bayes factors of the filter compared with exact ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hypotheses.h"
#include "lab.h"

#define STEP 0.026179938779914944 /* π/120 */

static const struct question {
    const char *name;
    hypothesis is[2];
} questions[] = {{"drift", {{"precession", STEP}, {"precession", 0}}}, {"coin", {{"precession", STEP}, {"coin", 0}}}};

static const struct {
    const char *name, *design;
} designs[] = {{"our design", "quadrature"}, {"PGH", "pgh"}};

enum { SIZES_MAX = 16 };

static unsigned jobs(const lab *l)
{
    (void)l;
    return 4;
}

typedef struct outcome {
    double exact;            /* ln K */
    double own[SIZES_MAX];   /* by number of attempts */
    double sd[SIZES_MAX];    /* stated by the filters */
    double kappa[SIZES_MAX]; /* with another κ for the first hypothesis, ln κ included */
} outcome;

typedef struct shared {
    const struct question *question;
    const char *design;
    outcome *outcomes;
} shared;

static int ask(lab *l, void *context, uint32_t set, const rf_engine *engine)
{
    const shared *j = context;
    const struct question *q = j->question;
    outcome *o = &j->outcomes[set];
    const uint32_t count = lab_whole(l, "records");
    rf_words w = rf_draw(lab_seed(l), set, 0, 0, RF_FOR_USER);
    const uint64_t seed = (uint64_t)w.word[1] << 32 | w.word[0];
    rf_record *records = malloc(count * sizeof *records);
    rf_simulation run[2] = {hypothesis_run(q->is[0], ~seed, engine), hypothesis_run(q->is[1], ~seed, engine)};
    double exact[2] = {0};
    cli_score score[3] = {0};
    int status = records ? 0 : -1;
    if (status == 0)
        status = hypothesis_simulate(q->is[set % 2], q->is[0], j->design, seed, engine, count, records);
    for (int i = 0; i < 2 && status == 0; i++)
        status = hypothesis_exact(&run[i], records, count, &exact[i]);
    for (unsigned k = 0; k < lab_items(l, "attempts") && status == 0; k++) {
        run[0].config.attempts = run[1].config.attempts = (uint32_t)lab_item(l, "attempts", k);
        for (int i = 0; i < 2 && status == 0; i++)
            status = hypothesis_score(&run[i], records, count, 1, &score[i]);
        rf_simulation other = run[0];
        other.config.kappa = lab_real(l, "kappa");
        if (status == 0)
            status = hypothesis_score(&other, records, count, 1, &score[2]);
        o->own[k] = score[0].log_evidence - score[1].log_evidence;
        o->sd[k] = sqrt(score[0].variance + score[1].variance);
        o->kappa[k] = score[2].log_evidence - score[1].log_evidence;
    }
    free(records);
    o->exact = exact[0] - exact[1];
    return status == 0 ? 0 : lab_fail(l, "a run was refused, or memory is short");
}

/* Errors of ln K with the k-th number of attempts: mean, standard deviation, median. */
static void put_errors(lab *l, const char *of, double m, const outcome outcomes[], uint32_t count, unsigned k, double column[])
{
    double sum = 0, squares = 0, error;
    for (uint32_t i = 0; i < count; i++) {
        const double e = column[i] = outcomes[i].own[k] - outcomes[i].exact;
        sum += e;
        squares += e * e;
    }
    const double mean = sum / count, sd = sqrt(fmax(0, squares / count - mean * mean)), median = lab_median(column, count, &error);
    lab_put(l, "bias", of, m, mean, sd / sqrt(count));
    lab_put(l, "spread", of, m, sd, sd / sqrt(2.0 * count));
    lab_put(l, "median error", of, m, median, error);
}

static void put_signs(lab *l, const char *of, double m, const outcome outcomes[], uint32_t count, unsigned k)
{
    double decisive = 0, right = 0, stated = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int is_decisive = fabs(outcomes[i].exact) > 3;
        decisive += is_decisive;
        right += is_decisive && (outcomes[i].own[k] > 0) == (outcomes[i].exact > 0);
        stated += outcomes[i].sd[k] / count;
    }
    const double share = right / decisive;
    lab_put(l, "stated", of, m, stated, NAN);
    lab_put(l, "right", of, m, share, sqrt(share * (1 - share) / decisive));
    lab_put(l, "decisive", of, m, decisive, NAN);
}

/* How far another κ for one hypothesis moves ln K: with ln κ in the evidence, and without it, which adds −ln κ per
   update. */
static void put_kappa(lab *l, const char *of, double m, const outcome outcomes[], uint32_t count, unsigned k, double column[])
{
    double error;
    for (uint32_t i = 0; i < count; i++)
        column[i] = outcomes[i].kappa[k] - outcomes[i].own[k];
    const double with = lab_median(column, count, &error);
    lab_put(l, "with ln κ", of, m, with, error);
    lab_put(l, "without ln κ", of, m, with - lab_real(l, "records") * log(lab_real(l, "kappa")), error);
}

static int run(lab *l, unsigned job)
{
    const uint32_t sets = lab_whole(l, "sets");
    char of[64];
    shared j = {&questions[job / 2], designs[job % 2].design, calloc(sets, sizeof *j.outcomes)};
    double *column = calloc(sets, sizeof *column);
    int status = j.outcomes && column && lab_items(l, "attempts") <= SIZES_MAX ? lab_each(l, sets, ask, &j) : lab_fail(l, "not enough memory");
    snprintf(of, sizeof of, "%s; %s", questions[job / 2].name, designs[job % 2].name);
    for (unsigned k = 0; k < lab_items(l, "attempts") && status == 0; k++) {
        const double m = lab_item(l, "attempts", k);
        put_errors(l, of, m, j.outcomes, sets, k, column);
        put_signs(l, of, m, j.outcomes, sets, k);
        put_kappa(l, of, m, j.outcomes, sets, k, column);
    }
    free(j.outcomes);
    free(column);
    return status;
}

static void put_claims(lab *l)
{
    const double max = lab_item(l, "attempts", lab_items(l, "attempts") - 1);
    const lab_row drift = lab_find(l, "right", "drift; our design", 100), coin = lab_find(l, "right", "coin; our design", 100);
    const lab_row bias = lab_find(l, "bias", "drift; our design", max), spread = lab_find(l, "spread", "drift; PGH", 100);
    const lab_row median = lab_find(l, "median error", "drift; our design", max);
    const lab_row with = lab_find(l, "with ln κ", "drift; our design", max), without = lab_find(l, "without ln κ", "drift; our design", max);
    lab_claim(l, "sign", 100 * drift.value, 100 * drift.error);
    lab_claim(l, "sign-coin", 100 * coin.value, 100 * coin.error);
    lab_claim(l, "unbiased", bias.value, bias.error);
    lab_claim(l, "typical", fabs(median.value), median.error);
    lab_claim(l, "formula", 100 - 100 * drift.value, 100 * drift.error);
    lab_claim_changed(l, "formula", 100 * drift.value, 100 * drift.error);
    lab_claim(l, "kappa", without.value, without.error);
    lab_claim_changed(l, "kappa", with.value, with.error);
    lab_claim(l, "spread", spread.value, spread.error);
}

static const char *name_of(size_t i, char name[64])
{
    snprintf(name, 64, "%s; %s", questions[i / 2].name, designs[i % 2].name);
    return name;
}

static void report(lab *l)
{
    char of[64], bias[LAB_NUMBER_TEXT], spread[LAB_NUMBER_TEXT], median[LAB_NUMBER_TEXT];
    put_claims(l);
    lab_figure(l, "spread", "Error of ln K by number of attempts",
               "The standard deviation of the error of ln K is about ten nats at m = 100 and does not go to zero as attempts grow: what is left is "
               "the error of being Gaussian.");
    lab_axes(l, "attempts m", "standard deviation of the error of ln K (nats)", NULL, LAB_LOG_X);
    lab_gnuplot(l, "set yrange [0:*]");
    for (size_t i = 0; i < 4; i++)
        lab_curve(l, "spread", name_of(i, of), of, LAB_BOTH | LAB_BARS);
    lab_table(l, "Errors of ln K, in nats", "question; settings by | m | mean | median | standard deviation | as stated | right | of");
    for (size_t i = 0; i < 4; i++)
        for (const lab_row *r = NULL; (r = lab_next(l, r, "bias", name_of(i, of)));) {
            const lab_row s = lab_find(l, "spread", of, r->x), m = lab_find(l, "median error", of, r->x);
            lab_line(l, "%s | %.0f | %s | %s | %s | %.2f | %.1f %% | %.0f", of, r->x, lab_number(r->value, r->error, bias),
                     lab_number(m.value, m.error, median), lab_number(s.value, s.error, spread), lab_find(l, "stated", of, r->x).value,
                     100 * lab_find(l, "right", of, r->x).value, lab_find(l, "decisive", of, r->x).value);
        }
    lab_paragraph(l, "The registers themselves state only the sampling error of the counts, which goes to zero as m grows. Most of the error is something "
                     "else: after every update the posterior is taken to be Gaussian, and in some data sets a filter loses the truth of its own "
                     "hypothesis. So the sign is to be trusted more than the size.");
}

const lab_experiment experiment_evidence = {.jobs = jobs, .run = run, .report = report};
