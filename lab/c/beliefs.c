/* Accuracy of beliefs, on records that they chose or that others chose, compared with the exact posterior of the
   same records.
   usage, from the root of the sources: rejfilt-beliefs [FAMILY|all [BELIEF|passes [TRIALS [SEED]]]]

   FAMILY may be your own: random:MODEL or own:MODEL, with settings at random in their ranges or by the belief's own design.
   MODEL is the name of a built-in model or a file. Passes are the judge.

   One line per family, with these columns:
   - 95 % intervals that hold the truth, per parameter; the same for the exact posterior
   - 95 % regions (the Gaussian's ellipsoid) that hold it
   - runs that end more than five standard deviations off; the same for the exact posterior
   - squared error of the first parameter relative to the exact posterior's: of means, and of medians; the median
   itself
   - runs with a mean more than half an exact standard deviation from the exact one, in any parameter; how many of
   these had no warning
   - ln P(E) minus the exact one: mean and standard deviation
   - points per record
   - Gaussians, mean
   - nats lost, median; 5 % and 90 % quantiles over the runs of the most nats that were live
   - runs with a warning

   The exact posterior is a sum over a fixed grid in natural units if the table below has one; else that of passes or
   of the belief it names. Data sets whose passes are doubtful are replaced by others, and a line says how many.

   BELIEF may be `passes`: all records at once; if the records are the belief's own choice, a mixture chooses them. A
   second line then has: distance of the mean from the exact one in exact standard deviations (worst parameter;
   median, 99 %, largest); error of ln P(E) (standard deviation, also in units of its own error); number of passes
   (mean, largest); fraction of effective points (mean, least); number of runs called doubtful. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"
#include "mixture/component.h"
#include "mixture/mixture.h"
#include "rejfilt/passes.h"

enum { RECORDS = 200, FEW = 50, LONGEST = 100 };
#define MODELS "lab/models/"
#define LOST_SIGMAS 5.0

typedef enum settings {
    TIMES_IN_ORDER,  /* 1, 2, 3, ... */
    TIMES_AT_RANDOM, /* 0..LONGEST */
    ALL_AT_RANDOM,   /* every setting, in its range */
    OWN_DESIGN,      /* chosen by the belief itself */
    GAUSSIAN_CHOSE,  /* chosen by one Gaussian's design; the same records for every belief */
    PARTICLES_CHOSE  /* chosen by pgh-distance with 1,000 particles */
} settings;

typedef struct family {
    const char *name, *model;
    settings by;
    double high;    /* upper end of the first parameter's uniform prior from 0; 0: the model's prior */
    int is_bounded; /* the chart is that range */
    uint32_t records;
    const char *exact;
    uint32_t grid[3]; /* points per parameter, in natural values; 0: `exact` is used instead */
} family;

static const family families[] = {
    {"precession-order", "precession", TIMES_IN_ORDER, 3.141592653589793, 0, RECORDS, "grid:16384", {16384}},
    {"precession-order-bounded", "precession", TIMES_IN_ORDER, 3.141592653589793, 1, RECORDS, "grid:16384", {16384}},
    {"precession-random", "precession", TIMES_AT_RANDOM, 3.141592653589793, 0, RECORDS, "grid:4096", {8192}},
    {"precession-random-bounded", "precession", TIMES_AT_RANDOM, 3.141592653589793, 1, RECORDS, "grid:4096", {8192}},
    {"precession-pgh", "precession", PARTICLES_CHOSE, 0, 0, 100, "particles:1000", {0}},
    {"precession-own", "precession", OWN_DESIGN, 0, 0, 100, "grid:16384", {0}},
    {"ramsey-own", "ramsey", OWN_DESIGN, 0, 0, RECORDS, "particles:4000", {1024, 48}},
    {"ramsey-gaussian", "ramsey", GAUSSIAN_CHOSE, 0, 0, RECORDS, "particles:4000", {0}},
    {"ramsey-random", "ramsey", TIMES_AT_RANDOM, 0, 0, RECORDS, "particles:4000", {1024, 48}},
    {"rabi-own", "rabi", OWN_DESIGN, 0, 0, RECORDS, "particles:4000", {0}},
    {"rabi-gaussian", "rabi", GAUSSIAN_CHOSE, 0, 0, RECORDS, "particles:4000", {0}},
    {"rabi-random", "rabi", TIMES_AT_RANDOM, 0, 0, RECORDS, "particles:4000", {0}},
    {"beat-random", "examples/beat.c", TIMES_AT_RANDOM, 0, 0, RECORDS, "particles:4000", {640, 640}},
    {"beat-own", "examples/beat.c", OWN_DESIGN, 0, 0, RECORDS, "particles:4000", {640, 640}},
    {"beat-gaussian", "examples/beat.c", GAUSSIAN_CHOSE, 0, 0, RECORDS, "particles:4000", {0}},
    {"decay-own", "decay", OWN_DESIGN, 0, 0, RECORDS, "particles:1000", {80, 56, 56}},
    {"coin-own", "coin", OWN_DESIGN, 0, 0, RECORDS, "grid:1024", {4096}},
    {"peak-own", "examples/peak.c", OWN_DESIGN, 0, 0, RECORDS, "passes", {0}},
    {"peak-random", "examples/peak.c", ALL_AT_RANDOM, 0, 0, RECORDS, "passes", {0}},
    {"odmr-random", "examples/odmr.c", ALL_AT_RANDOM, 0, 0, RECORDS, "passes", {0}},
    {"benchmarking-random", "examples/benchmarking.c", ALL_AT_RANDOM, 0, 0, RECORDS, "passes", {0}},
    /* the readings are far more exact than the prior */
    {"enzyme", MODELS "enzyme.c", ALL_AT_RANDOM, 0, 0, FEW, "passes", {0}},
    {"psychometric", MODELS "psychometric.c", ALL_AT_RANDOM, 0, 0, RECORDS, "passes", {0}},
    {"lifetimes", MODELS "lifetimes.c", ALL_AT_RANDOM, 0, 0, FEW, "passes", {0}},
    {"sine", MODELS "sine.c", ALL_AT_RANDOM, 0, 0, FEW, "passes", {0}},
    {"background", MODELS "background.c", ALL_AT_RANDOM, 0, 0, FEW, "passes", {0}},
    {"growth", MODELS "growth.c", ALL_AT_RANDOM, 0, 0, FEW, "passes", {0}},
    {"place", MODELS "place.c", ALL_AT_RANDOM, 0, 0, FEW, "passes", {0}},
    {"dose", MODELS "dose.c", ALL_AT_RANDOM, 0, 0, FEW, "passes", {0}},
    {"fringe", MODELS "fringe.c", ALL_AT_RANDOM, 0, 0, FEW, "passes", {0}},
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "rejfilt-beliefs: %s\n", what);
    exit(3);
}

static const rf_model *model_of(const family *f)
{
    static const family *of;
    static const rf_model *model;
    char error[2000] = "there is no such model";
    if (f != of)
        model = strchr(f->model, '/') ? rf_model_load(f->model, error, sizeof error) : rf_model_find(f->model);
    if (!model)
        fail(error);
    of = f;
    return model;
}

static rf_session *open_session(const family *f, const char *belief, const char *design, uint64_t seed, uint32_t trial)
{
    rf_config config = rf_config_default(model_of(f));
    char error[200];
    if (f->high > 0)
        config.prior[0] = (rf_prior){0, 0, f->high};
    for (unsigned i = 0; i < config.description.dim; i++)
        if ((f->is_bounded && i == 0) || strncmp(belief, "grid", 4) == 0)
            config.description.parameter[i] = (rf_parameter){config.description.parameter[i].name, RF_BOUNDED,
                                                             config.prior[i].first, config.prior[i].second, 0};
    memset(config.drift, 0, sizeof config.drift);
    config.belief = belief;
    config.design = design;
    config.on_lost = RF_ON_LOST_IGNORE;
    config.seed = seed;
    config.trial = trial;
    rf_session *session = rf_session_open(&config, error, sizeof error);
    if (!session)
        fail(error);
    return session;
}

/* Result of a run. */
typedef struct result {
    double error, exact_error, apart, log_evidence, points, gaussians, loss, live;
    int holds[RF_DESCRIBED_MAX], exact_holds[RF_DESCRIBED_MAX], holds_all, is_lost, is_exact_lost, is_coarse, is_unjudged;
    rf_passes_result passes;
} result;

/* errorᵀ·covariance⁻¹·error */
static double distance(const rf_step *step)
{
    double l[RF_TRIANGLE(RF_DESCRIBED_MAX)], z[RF_DESCRIBED_MAX], total = 0;
    for (unsigned i = 0; i < step->dim; i++) {
        double left = step->chart_error[i];
        for (unsigned j = 0; j <= i; j++) {
            double element = step->chart_covariance[RF_TRIANGLE(i) + j];
            for (unsigned k = 0; k < j; k++)
                element -= l[RF_TRIANGLE(i) + k] * l[RF_TRIANGLE(j) + k];
            l[RF_TRIANGLE(i) + j] = j < i ? element / l[RF_TRIANGLE(j) + j] : sqrt(element);
            if (j < i)
                left -= l[RF_TRIANGLE(i) + j] * z[j];
        }
        z[i] = left / l[RF_TRIANGLE(i) + i];
        total += z[i] * z[i];
    }
    return total;
}

/* Standard deviation of the first parameter in natural units; assumes a nearly straight chart over that width. */
static double natural_sd(const rf_session *session, const rf_step *step)
{
    rf64_chart charts[RF_DESCRIBED_MAX];
    rf64_described_charts(&rf_session_config(session)->description, charts);
    return rf64_chart_natural(charts, step->chart_mean[0] + 0.5 * step->chart_sd[0]) -
           rf64_chart_natural(charts, step->chart_mean[0] - 0.5 * step->chart_sd[0]);
}

/* Draws the settings of record k, if they are random. */
static void choose(const family *f, uint64_t seed, uint32_t trial, uint32_t k, rf_record *record)
{
    const rf_description *description = model_of(f)->f64->description;
    const rf_words draw = rf_draw(seed, trial, k, 0, RF_FOR_USER);
    const double u = rf64_uniform(draw.word[0]);
    *record = (rf_record){.time = NAN};
    for (unsigned i = 0; i < description->settings; i++) {
        const rf_setting *s = &description->setting[i];
        const double share = f->by == ALL_AT_RANDOM ? rf64_uniform(draw.word[i % 4]) : 0;
        record->setting[i] = s->role == RF_SETTING_LOGRANGE ? s->low * pow(s->high / s->low, share) : s->low + (s->high - s->low) * share;
    }
    if (f->by != ALL_AT_RANDOM)
        record->setting[0] = f->by == TIMES_IN_ORDER ? k + 1.0 : LONGEST * u;
}

/* ---- Passes, and the exact posterior to compare with ---- */

typedef struct posterior {
    double mean[RF_DESCRIBED_MAX], chart_mean[RF_DESCRIBED_MAX], sd[RF_DESCRIBED_MAX], log_evidence; /* sd: in the chart */
    int holds[RF_DESCRIBED_MAX]; /* does the 95 % interval hold the truth? */
    int is_doubtful;
} posterior;

/* Sorts the values of interchangeable parameters in ascending order. */
static void ascending(const rf_config *config, double x[])
{
    for (unsigned i = 1; i < config->description.interchangeable; i++)
        for (unsigned j = i; j > 0 && x[j - 1] > x[j]; j--) {
            const double larger = x[j - 1];
            x[j - 1] = x[j];
            x[j] = larger;
        }
}

/* Sums over the centres of grid cells, in natural units. Interchangeable parameters of the truth are in ascending
   order. */
static posterior sum_up(const family *f, const rf_config *config, const double *records, const double *truth)
{
    enum { ROW = 1024, TOGETHER = 8 }; /* cells at a time; likelihoods multiplied before taking a logarithm */
    const unsigned dim = config->description.dim, settings = config->description.settings;
    size_t cells = 1;
    for (unsigned i = 0; i < dim; i++)
        cells *= f->grid[i];
    double *value = calloc(cells, sizeof *value), *x = malloc(ROW * dim * sizeof *x), *some = malloc(2 * ROW * sizeof *some), *product = some + ROW;
    rf64_chart charts[RF_DESCRIBED_MAX], config_charts[RF_DESCRIBED_MAX];
    const rf64_model model = rf64_instance_model(config->model->f64, charts);
    posterior e = {.log_evidence = -INFINITY};
    double total = 0, below[RF_DESCRIBED_MAX] = {0};
    rf64_described_charts(&config->description, config_charts);
    if (!value || !x || !some)
        fail("not enough memory");
    for (size_t first = 0; first < cells; first += ROW) {
        const uint32_t n = (uint32_t)(cells - first < ROW ? cells - first : ROW);
        for (uint32_t k = 0; k < n; k++) {
            size_t cell = first + k;
            for (unsigned i = 0; i < dim; i++, cell /= f->grid[i - 1])
                x[k * dim + i] = config->prior[i].first + (config->prior[i].second - config->prior[i].first) *
                                                             ((double)(cell % f->grid[i]) + 0.5) / f->grid[i];
        }
        for (uint32_t r = 0; r < f->records; r++) {
            const double *record = records + r * (settings + 1u);
            rf64_model_likelihoods(&model, x, dim, n, record, record[settings], some);
            for (uint32_t k = 0; k < n; k++)
                product[k] = some[k] * (r % TOGETHER == 0 ? 1 : product[k]);
            for (uint32_t k = 0; k < n && (r % TOGETHER == TOGETHER - 1 || r + 1 == f->records); k++)
                value[first + k] += log(product[k]);
        }
    }
    for (size_t k = 0; k < cells; k++)
        e.log_evidence = fmax(e.log_evidence, value[k]);
    for (size_t k = 0; k < cells; k++) {
        size_t cell = k;
        const double weight = exp(value[k] - e.log_evidence);
        total += weight;
        double at[RF_DESCRIBED_MAX];
        for (unsigned i = 0; i < dim; i++, cell /= f->grid[i - 1])
            at[i] = config->prior[i].first + (config->prior[i].second - config->prior[i].first) * ((double)(cell % f->grid[i]) + 0.5) / f->grid[i];
        ascending(config, at);
        for (unsigned i = 0; i < dim && weight > 0; i++) {
            e.mean[i] += weight * at[i];
            const double y = rf64_chart_coordinate(&config_charts[i], at[i]);
            e.chart_mean[i] += weight * y;
            e.sd[i] += weight * y * y;
            below[i] += at[i] < truth[i] ? weight : 0;
        }
    }
    for (unsigned i = 0; i < dim; i++) {
        e.mean[i] /= total;
        e.chart_mean[i] /= total;
        e.sd[i] = sqrt(e.sd[i] / total - e.chart_mean[i] * e.chart_mean[i]);
        e.holds[i] = fabs(below[i] / total - 0.5) <= 0.475;
    }
    e.log_evidence += log(total / (double)cells);
    free(value);
    free(x);
    free(some);
    return e;
}

static rf_passes_result pass_over(const family *f, const rf_config *config, const double *records)
{
    char error[200];
    rf_passes_result result;
    rf_passes *passes = rf_passes_open(config, records, f->records, error, sizeof error);
    if (!passes || rf_passes_run(passes, NULL, NULL, &result) < 0)
        fail(passes ? "passes failed" : error);
    rf_passes_close(passes);
    return result;
}

/* The posterior found by passes. */
static posterior passed(const rf_passes_result *p, const double *truth)
{
    posterior e = {.log_evidence = p->log_evidence, .is_doubtful = p->verdict != RF_PASSES_FINE};
    for (unsigned i = 0; i < p->dim; i++) {
        e.mean[i] = p->mean[i];
        e.chart_mean[i] = p->chart_mean[i];
        e.sd[i] = p->chart_sd[i];
        e.holds[i] = p->low[i] <= truth[i] && truth[i] <= p->high[i];
    }
    return e;
}

/* Overwrites a session's result by that of passes. */
static void put(const rf_passes_result *p, rf_step *step)
{
    memcpy(step->chart_mean, p->chart_mean, sizeof step->chart_mean);
    memcpy(step->chart_covariance, p->chart_covariance, sizeof step->chart_covariance);
    memcpy(step->chart_sd, p->chart_sd, sizeof step->chart_sd);
    memcpy(step->mean, p->mean, sizeof step->mean);
    memcpy(step->low, p->low, sizeof step->low);
    memcpy(step->high, p->high, sizeof step->high);
    step->log_evidence = p->log_evidence;
}

static result run(const family *f, const char *belief, uint64_t seed, uint32_t trial)
{
    static const double region[RF_DESCRIBED_MAX] = {3.841458820694124, 5.991464547107979, 7.814727903251178, 9.487729036781154,
                                                    11.07049769351635, 12.59158724374398, 14.06714044934017, 15.50731305586545,
                                                    16.91897760462045, 18.30703805327515, 19.67513757268249, 21.02606981748307,
                                                    22.36203249482694, 23.68479130484058, 24.99579013972863, 26.29622760486423};
    const rf_model *model = model_of(f);
    const int is_mixture = strncmp(belief, "mixture", 7) == 0, is_passes = strcmp(belief, "passes") == 0;
    const int is_summed = f->grid[0] > 0, is_passed = strcmp(f->exact, "passes") == 0; /* otherwise by a session */
    rf_session *session = open_session(f, is_passes ? "mixture" : belief, f->by == OWN_DESIGN ? "auto" : NULL, seed, trial);
    rf_session *exact = is_summed || is_passed ? NULL : open_session(f, f->exact, f->by == PARTICLES_CHOSE ? "pgh-distance" : NULL, seed, trial);
    rf_session *gaussian = f->by == GAUSSIAN_CHOSE ? open_session(f, "gaussian", "auto", seed, trial) : NULL;
    const rf_config *config = rf_session_config(session);
    const unsigned settings = config->description.settings;
    double truth[RF_DESCRIBED_MAX], *records = malloc(f->records * (settings + 1u) * sizeof *records);
    rf_step step, right;
    result r = {0};
    if (!records)
        fail("not enough memory");
    for (unsigned i = 0; i < config->description.dim; i++)
        truth[i] = config->prior[i].first + (config->prior[i].second - config->prior[i].first) *
                                                rf64_uniform(rf_draw(seed, trial, i, 1, RF_FOR_TRUTH).word[0]);
    ascending(config, truth);
    for (uint32_t k = 0; k < f->records; k++) {
        rf_record record;
        if (f->by >= OWN_DESIGN) {
            if (rf_session_ask(gaussian ? gaussian : f->by == OWN_DESIGN ? session : exact, 1, &record) < 0)
                fail("the question was refused");
        } else {
            choose(f, seed, trial, k, &record);
        }
        record.outcome = rf64_instance_outcome(model->f64, truth, record.setting, seed + 0x10000u * (trial + 1u), k);
        memcpy(records + k * (settings + 1u), record.setting, settings * sizeof *records);
        records[k * (settings + 1u) + settings] = record.outcome;
        if ((gaussian && rf_session_tell(gaussian, &record, 1, NULL) < 0) ||
            rf_session_tell(session, &record, 1, &step) < 0 || (exact && rf_session_tell(exact, &record, 1, &right) < 0))
            fail("a record was refused");
        r.live = fmax(r.live, rf_session_belief(session)->live);
        r.is_coarse |= step.is_coarse;
        r.points += step.report.attempts / (double)f->records;
        if (is_mixture)
            r.gaussians += rf_mixture_count(rf_session_belief(session)) / (double)f->records;
    }
    if (is_passes) {
        r.passes = pass_over(f, config, records);
        put(&r.passes, &step);
    }
    rf_session_show_truth(session, truth, &step);
    if (exact)
        rf_session_show_truth(exact, truth, &right);
    for (unsigned i = 0; i < step.dim; i++) {
        r.holds[i] = step.low[i] <= step.truth[i] && step.truth[i] <= step.high[i];
        r.is_lost |= fabs(step.chart_error[i]) > LOST_SIGMAS * step.chart_sd[i];
    }
    r.holds_all = distance(&step) <= region[step.dim - 1];
    r.error = pow(step.mean[0] - step.truth[0], 2);
    if (!exact) {
        const rf_passes_result judge = is_summed ? r.passes : pass_over(f, config, records);
        const posterior e = is_summed ? sum_up(f, config, records, truth) : passed(&judge, truth);
        rf64_chart charts[RF_DESCRIBED_MAX];
        rf64_described_charts(&config->description, charts);
        r.is_unjudged = e.is_doubtful;
        r.log_evidence = step.log_evidence - e.log_evidence;
        r.exact_error = pow(e.mean[0] - truth[0], 2);
        for (unsigned i = 0; i < step.dim; i++) {
            r.apart = fmax(r.apart, fabs(rf_component_apart(&charts[i], step.chart_mean[i] - e.chart_mean[i])) / e.sd[i]);
            r.exact_holds[i] = e.holds[i];
            r.is_exact_lost |= fabs(rf_component_apart(&charts[i], e.chart_mean[i] - (step.chart_mean[i] - step.chart_error[i]))) > LOST_SIGMAS * e.sd[i];
        }
    } else {
        r.log_evidence = step.log_evidence - right.log_evidence;
        r.exact_error = pow(right.mean[0] - right.truth[0], 2);
        r.apart = fabs(step.mean[0] - right.mean[0]) / natural_sd(exact, &right);
        for (unsigned i = 0; i < step.dim; i++) {
            r.is_exact_lost |= fabs(right.error[i]) > LOST_SIGMAS * right.sd[i];
            r.exact_holds[i] = right.low[i] <= right.truth[i] && right.truth[i] <= right.high[i];
        }
    }
    r.loss = is_passes ? NAN : step.loss;

    free(records);
    rf_session_close(session);
    rf_session_close(gaussian);
    rf_session_close(exact);
    return r;
}

/* Writes fractions in percent, "95.0/94.0". */
static void list(const double share[], unsigned dim, char *text, size_t size)
{
    for (unsigned i = 0, at = 0; i < dim; i++)
        at += (unsigned)snprintf(text + at, size - at, i ? "/%.1f" : "%.1f", share[i]);
}

static void run_family(const family *f, const char *belief, uint32_t trials, uint64_t seed)
{
    const unsigned dim = model_of(f)->f64->description->dim;
    double *numbers = calloc(5 * (size_t)trials, sizeof *numbers), *errors = numbers, *exact = errors + trials, *losses = exact + trials, *aparts = losses + trials, *lives = aparts + trials;
    double own = 0, passes = 0, most = 0, effective = 0, least = 1, doubtful = 0;
    double holds[RF_DESCRIBED_MAX] = {0}, exact_holds[RF_DESCRIBED_MAX] = {0}, coarse = 0, holds_all = 0, lost = 0, exact_lost = 0, error = 0, exact_error = 0, off = 0, silent = 0, z = 0, zz = 0, points = 0, gaussians = 0;
    if (!numbers)
        fail("not enough memory");
    uint32_t left_out = 0;
    for (uint32_t trial = 0; trial < trials; trial++) {
        result r = run(f, belief, seed, trial);
        for (; r.is_unjudged; r = run(f, belief, seed, trials + left_out++))
            if (left_out == trials)
                fail("passes cannot judge this family");
        for (unsigned i = 0; i < dim; i++)
            holds[i] += 100.0 * r.holds[i] / trials;
        for (unsigned i = 0; i < dim; i++)
            exact_holds[i] += 100.0 * r.exact_holds[i] / trials;
        coarse += 100.0 * r.is_coarse / trials;
        holds_all += 100.0 * r.holds_all / trials;
        lost += 100.0 * r.is_lost / trials;
        exact_lost += 100.0 * r.is_exact_lost / trials;
        error += r.error;
        exact_error += r.exact_error;
        off += 100.0 * (r.apart > 0.5) / trials;
        silent += 100.0 * (r.apart > 0.5 && !r.is_coarse) / trials;
        z += r.log_evidence / trials;
        zz += r.log_evidence * r.log_evidence / trials;
        points += r.points / trials;
        gaussians += r.gaussians / trials;
        errors[trial] = r.error;
        exact[trial] = r.exact_error;
        losses[trial] = r.loss;
        lives[trial] = r.live;
        aparts[trial] = r.apart;
        if (r.passes.points == 0)
            continue;
        const double share = r.passes.effective / r.passes.points, z_own = r.log_evidence / r.passes.log_evidence_sd;
        own += z_own * z_own / trials;
        passes += (double)r.passes.passes / trials;
        most = fmax(most, r.passes.passes);
        effective += share / trials;
        least = fmin(least, share);
        doubtful += r.passes.verdict != RF_PASSES_FINE;
    }
    char covers[64], right[64];
    list(holds, dim, covers, sizeof covers);
    list(exact_holds, dim, right, sizeof right);
    printf("%-26s %-14s %-14s %-14s %5.1f %5.1f %5.1f %9.4g %7.3g %8.2g %5.1f %6.1f %7.2f ±%-6.2f %6.0f %5.1f %6.3g %5.2f %5.2f %5.1f\n", f->name, belief, covers, right, holds_all, lost, exact_lost,
           error / exact_error, lab_quantile(errors, trials, 0.5) / lab_quantile(exact, trials, 0.5),
           lab_quantile(errors, trials, 0.5), off, silent, z,
           sqrt(fmax(zz - z * z, 0)), points, gaussians, lab_quantile(losses, trials, 0.5), lab_quantile(lives, trials, 0.05), lab_quantile(lives, trials, 0.9), coarse);
    if (passes > 0)
        printf("    apart %.4f %.4f %.4f; ln Z off by %.4f, %.2f of its own error; passes %.1f, at most %.0f; effective %.0f %%, at least %.0f %%; doubtful %.0f\n",
               lab_quantile(aparts, trials, 0.5), lab_quantile(aparts, trials, 0.99), lab_quantile(aparts, trials, 1), sqrt(zz), sqrt(own), passes, most,
               100 * effective, 100 * least, doubtful);
    if (f->grid[0] == 0 && strcmp(f->exact, "passes") == 0)
        printf("    apart %.2f %.2f %.2f: median, 95 %%, largest; %u sets left out: their passes are doubtful\n", lab_quantile(aparts, trials, 0.5),
               lab_quantile(aparts, trials, 0.95), lab_quantile(aparts, trials, 1), left_out);
    fflush(stdout);
    free(numbers);
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "all", *belief = argc > 2 ? argv[2] : "mixture";
    const uint32_t trials = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 300;
    const uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    const int is_random = strncmp(which, "random:", 7) == 0, is_own = strncmp(which, "own:", 4) == 0;
    int found = is_random || is_own;
    printf("%-26s %-14s %-14s %-14s %5s %5s %5s %9s %7s %8s %5s %6s %7s  %-6s %6s %5s %6s %5s %5s %5s\n", "family", "belief", "holds %", "exact does", "all",
           "lost", "does", "error", "median", "error^2", "off %", "silent", "lnZ off", "sd", "points", "K", "loss", "5 %", "90 %", "warns");
    if (found && trials > 0) {
        const char *model = strchr(which, ':') + 1;
        const family given = {model, model, is_random ? ALL_AT_RANDOM : OWN_DESIGN, 0, 0, RECORDS, "passes", {0}};
        run_family(&given, belief, trials, seed);
    }
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(which, "all") == 0 || strcmp(which, families[i].name) == 0) {
            run_family(&families[i], belief, trials, seed);
            found = 1;
        }
    if (!found || trials == 0)
        fail("there is no such family, or no trial");
    return 0;
}
