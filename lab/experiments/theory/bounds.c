/* The lemma and the corollary, checked by quadrature over random cases; and rejection without a filter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "theory.h"

/* Functions on an interval of POINTS equal steps. */
enum { POINTS = 1024 };
static double place(double low, double high, int i) { return low + (high - low) * (i + 0.5) / POINTS; }

/* ---- Perturbed priors ---- */

/* A random density on −1 .. 1: three Gaussian bells, normalised. */
static void draw_density(uint64_t seed, uint32_t first, double p[POINTS])
{
    double sum = 0;
    memset(p, 0, POINTS * sizeof *p);
    for (uint32_t bell = 0; bell < 3; bell++) {
        const double height = random_uniform(seed, first + 3 * bell), centre = 2 * random_uniform(seed, first + 3 * bell + 1) - 1,
                     width = 0.02 * pow(50, random_uniform(seed, first + 3 * bell + 2));
        for (int i = 0; i < POINTS; i++) {
            const double u = (place(-1, 1, i) - centre) / width;
            p[i] += height / width * exp(-0.5 * u * u);
        }
    }
    for (int i = 0; i < POINTS; i++)
        sum += p[i];
    for (int i = 0; i < POINTS; i++)
        p[i] /= sum;
}

typedef struct perturbed {
    double bound, mean, square; /* bound: 4⟨P(E|x), |Δ|⟩/P(E); errors of means of x and x²; NaN: outside the lemma */
} perturbed;

static int perturb(lab *l, void *context, uint32_t item, const rf_engine *engine)
{
    (void)engine;
    perturbed *out = (perturbed *)context + item;
    const uint64_t seed = random_seed(l, 1, item);
    const double share = pow(10, -3 * random_uniform(seed, 0)), time = 0.5 * pow(100, random_uniform(seed, 1)),
                 phase = 6.283185307179586 * random_uniform(seed, 2);
    double prior[POINTS], other[POINTS], sums[2][3] = {{0}}, absolute = 0;
    draw_density(seed, 10, prior);
    draw_density(seed, 30, other);
    for (int i = 0; i < POINTS; i++) {
        const double x = place(-1, 1, i), likelihood = 0.5 + 0.5 * cos(time * x - phase), delta = share * (prior[i] - other[i]);
        const double weight[] = {likelihood * prior[i], likelihood * (prior[i] - delta)};
        for (int k = 0; k < 2; k++) {
            sums[k][0] += weight[k];
            sums[k][1] += weight[k] * x;
            sums[k][2] += weight[k] * x * x;
        }
        absolute += likelihood * fabs(delta);
    }
    *out = (perturbed){4 * absolute / sums[0][0], fabs(sums[0][1] / sums[0][0] - sums[1][1] / sums[1][0]),
                       fabs(sums[0][2] / sums[0][0] - sums[1][2] / sums[1][0])};
    if (fabs(sums[0][0] - sums[1][0]) > 0.5 * sums[0][0])
        out->bound = NAN;
    return 0;
}

int theory_lemma(lab *l)
{
    const uint32_t count = lab_whole(l, "cases"), shown = 400;
    perturbed *all = calloc(count, sizeof *all);
    double *ratio = calloc(count, sizeof *ratio), worst[2] = {0};
    int status = all && ratio ? lab_each(l, count, perturb, all) : lab_fail(l, "not enough memory");
    uint32_t within = 0;
    for (uint32_t i = 0; i < count && status == 0; i++) {
        if (isnan(all[i].bound))
            continue;
        if (within < shown)
            lab_put(l, "lemma", "mean", all[i].bound, all[i].mean, NAN);
        worst[0] = fmax(worst[0], all[i].mean / all[i].bound);
        worst[1] = fmax(worst[1], all[i].square / all[i].bound);
        ratio[within++] = all[i].mean / all[i].bound;
    }
    if (status == 0) {
        lab_put(l, "lemma cases", "all", count, within, NAN);
        lab_put(l, "lemma worst", "mean", count, worst[0], NAN);
        lab_put(l, "lemma worst", "second moment", count, worst[1], NAN);
        lab_put(l, "lemma median", "mean", count, lab_quantile(ratio, within, 0.5), NAN);
        lab_put(l, "lemma", "bound", 1e-4, 1e-4, NAN);
        lab_put(l, "lemma", "bound", 4, 4, NAN);
    }
    free(all);
    free(ratio);
    return status;
}

/* ---- κ below the likelihood ---- */

typedef struct cut {
    double delta, overlap, guaranteed, accepted; /* accepted: measured, in units of P(E)(1 − δ)/κ; */
    double error;                                /* standard error of `accepted` */
    double estimated;                            /* δ̂ */
} cut;

static int cut_off(lab *l, void *context, uint32_t item, const rf_engine *engine)
{
    cut *out = (cut *)context + item;
    const uint64_t seed = random_seed(l, 2, item);
    const double time = 0.2 + 4 * random_uniform(seed, 0), record[] = {time, 2 * random_uniform(seed, 1) - 1, random_uniform(seed, 2) < 0.5};
    double kappa = 0.05 + 0.95 * random_uniform(seed, 3), evidence = 0, excess = 0, root = 0, kept = 0;
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    rf64_chart chart;
    const rf64_model model = rf64_instance_model(rf_model_find("precession")->f64, &chart);
    rf64_options options = rf64_options_default();
    rf64_filter *filter;
    rf64_report report = {0};
    for (int i = 0; i < POINTS; i++) {
        const double x = place(-8, 8, i), prior = exp(-0.5 * x * x) * 16 / POINTS / 2.5066282746310002,
                     likelihood = model.likelihood(&x, record, record[2]), held = fmin(likelihood, kappa);
        evidence += likelihood * prior;
        excess += (likelihood - held) * prior;
        kept += held * prior;
        root += sqrt(likelihood * held) * prior;
    }
    out->delta = excess / evidence;
    out->overlap = root / sqrt(evidence * kept);
    out->guaranteed = evidence * (1 - out->delta) / kappa;
    options.attempts = lab_whole(l, "cut_attempts");
    options.strict = 1;
    options.kappa = kappa;
    rf64_filter_init(&filter, memory, sizeof memory, 1, seed);
    if (rf64_update(filter, &model, record, 1, &options, rf_engine_f64(engine), &report) < 0)
        return lab_fail(l, "an update was refused");
    out->accepted = report.acceptance / out->guaranteed;
    out->error = sqrt(out->guaranteed * (1 - out->guaranteed) / options.attempts) / out->guaranteed;
    out->estimated = report.delta;
    return 0;
}

int theory_corollary(lab *l)
{
    const uint32_t count = lab_whole(l, "cases"), shown = 400;
    cut *all = calloc(count, sizeof *all);
    int status = all ? lab_each(l, count, cut_off, all) : lab_fail(l, "not enough memory");
    double margin = INFINITY, sum = 0, variance = 0, scores = 0, squares = 0, scored = 0;
    for (uint32_t i = 0; i < count && status == 0; i++) {
        const cut *c = &all[i];
        const double z = (c->accepted - 1) / c->error;
        if (i < shown)
            lab_put(l, "overlap", "measured", c->delta, c->overlap, NAN);
        margin = fmin(margin, c->overlap - (1 - c->delta));
        sum += c->accepted / count;
        variance += c->error * c->error / count / count;
        if (c->guaranteed < 0.999) { /* otherwise too few are rejected for a meaningful standard error */
            scores += z * z;
            scored++;
        }
        squares += (c->estimated - c->delta) * (c->estimated - c->delta);
    }
    if (status == 0) {
        lab_put(l, "overlap margin", "least", count, margin, NAN);
        lab_put(l, "acceptance", "in units of P(E)(1−δ)/κ", count, sum, sqrt(variance));
        lab_put(l, "acceptance scatter", "in standard errors", count, sqrt(scores / scored), sqrt(0.5 / scored));
        lab_put(l, "estimate of delta", "rms error", count, sqrt(squares / count), NAN);
        lab_put(l, "overlap", "bound", 0, 1, NAN);
        lab_put(l, "overlap", "bound", 1, 0, NAN);
    }
    free(all);
    return status;
}

/* ---- Rejection without a filter ---- */

enum { UPDATES_MAX = 256, DEPTHS_MAX = 32 };

typedef struct learner {
    double filtered[UPDATES_MAX], alone[DEPTHS_MAX]; /* fractions accepted: by update, and of all evidence at once */
} learner;

static int learn(lab *l, void *context, uint32_t trial, const rf_engine *engine)
{
    learner *out = (learner *)context + trial;
    const uint64_t seed = random_seed(l, 3, trial);
    const double low = 0, high = 1.5707963267948966;
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    double records[3 * UPDATES_MAX];
    rf64_chart chart;
    const rf64_instance *instance = rf_model_find("precession")->f64;
    const rf64_model model = rf64_instance_model(instance, &chart);
    rf64_options options = rf64_options_default();
    rf64_filter *filter;
    rf64_report report = {0};
    rf_status status = rf64_filter_init(&filter, memory, sizeof memory, 1, seed);
    status |= rf64_prior_box(filter, &model, &low, &high);
    const double truth = rf64_filter_mean(filter)[0] + rf64_filter_sd(filter, 0) * random_normal(seed, 0);
    options.strict = 1;
    options.attempts = lab_whole(l, "filter_attempts");
    for (uint32_t k = 0; k < lab_whole(l, "updates") && status >= 0; k++) {
        double *record = records + 3 * k;
        record[0] = 1 / rf64_filter_sd(filter, 0);
        rf64_filter_draw(filter, &model, k, RF_FOR_DESIGN, &record[1]);
        record[2] = rf64_instance_outcome(instance, &truth, record, seed, k);
        status = rf64_update(filter, &model, record, 1, &options, rf_engine_f64(engine), &report);
        out->filtered[k] = report.acceptance;
    }
    options.attempts = lab_whole(l, "alone_attempts");
    for (unsigned i = 0; i < lab_items(l, "depths") && status >= 0; i++) {
        status = rf64_filter_init(&filter, memory, sizeof memory, 1, ~seed);
        status |= rf64_prior_box(filter, &model, &low, &high);
        if (status >= 0)
            status = rf64_update(filter, &model, records, (uint32_t)lab_item(l, "depths", i), &options, rf_engine_f64(engine), &report);
        out->alone[i] = report.acceptance;
    }
    return status < 0 ? lab_fail(l, "an update was refused: %s", rf_status_text(status)) : 0;
}

int theory_alone(lab *l)
{
    const uint32_t count = lab_whole(l, "learners"), updates = lab_whole(l, "updates");
    learner *all = calloc(count, sizeof *all);
    double *column = calloc(count, sizeof *column), error;
    int status = all && column ? lab_each(l, count, learn, all) : lab_fail(l, "not enough memory");
    for (uint32_t k = 0; k < updates && status == 0; k++) {
        for (uint32_t i = 0; i < count; i++)
            column[i] = all[i].filtered[k];
        const double median = lab_median(column, count, &error);
        lab_put(l, "accepted", "filter", k + 1, median, error);
    }
    for (unsigned d = 0; d < lab_items(l, "depths") && status == 0; d++) {
        for (uint32_t i = 0; i < count; i++)
            column[i] = all[i].alone[d];
        const double median = lab_median(column, count, &error);
        lab_put(l, "accepted", "alone", lab_item(l, "depths", d), median, error);
    }
    free(all);
    free(column);
    return status;
}
