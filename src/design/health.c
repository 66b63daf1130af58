/* Is the filter still where the truth is? Anchors ask it directly; for designs without them, outcomes that keep being
   less likely than the filter expects give it away. */
#include "health.h"

#define STRETCH 2.2    /* of the standard deviation, by a failed test ... */
#define WIDEST 2.0     /* ... up to this many of the prior's */
#define FORGET 0.9     /* weight of the past in the running surprise, per update */
#define SUSPECT 3.0    /* standard deviations of surprise that are noted, */
#define FAILED 4.5     /* that are acted upon, */
#define CALM 2.0       /* and that end it */
#define SURE 0.9       /* probability from which an outcome that does not come is a failed test */

enum {
    LOST_AFTER = 8, /* tests failed in a row */
    DRAWS = 32,     /* from the filter, for the probability of a batch */
    RUNS = 16       /* simulated batches, for how surprising they usually are */
};

/* Does the filter get tested by anchors? */
static int has_anchors(const rf_watched *t)
{
    return t->design && t->anchor_every > 0 && t->on_lost != RF_ON_LOST_IGNORE;
}

int rf_health_wants_anchor(rf_watched *t)
{
    rf_watch *h = t->watch;
    if (!has_anchors(t))
        return 0;
    if (h->failed == 0 && --h->next_anchor > 0)
        return 0;
    h->next_anchor = t->anchor_every;
    return 1;
}

const char *rf_health_name(rf_health health)
{
    static const char *const names[] = {"tracking", "suspicious", "recovering", "lost"};
    return names[(unsigned)health < sizeof names / sizeof *names ? (unsigned)health : RF_LOST];
}

/* ---- Tests ---- */

static double log_likelihood(const rf64_model *model, const double x[], const double setting[], double outcome)
{
    double value = model->likelihood(x, setting, outcome);
    if (model->is_log)
        return value <= RF64_LIMIT ? rf64_max(value, -RF64_LIMIT) : -RF64_LIMIT;
    return value > 0 && value <= RF64_LIMIT ? rf64_log(value) : -RF64_LIMIT;
}

/* The likelihood itself; one that is no number counts as none. */
static double likelihood(const rf64_model *model, const double x[], const double setting[], double outcome)
{
    const double least = 4.248354255291589e-18; /* e⁻⁴⁰ */
    if (model->is_log)
        return rf64_exp(rf64_max(log_likelihood(model, x, setting, outcome), -40.0));
    double value = model->likelihood(x, setting, outcome);
    return value > least && value <= RF64_LIMIT ? value : least;
}

/* Mean probability of an outcome over the draws. */
static double predicted(const rf_watched *t, double draws[][RF_NAMES_MAX], const double setting[], double outcome)
{
    double p = 0;
    for (unsigned d = 0; d < DRAWS; d++)
        p += likelihood(t->model, draws[d], setting, outcome);
    return rf64_max(p / DRAWS, 1e-6);
}

/* An anchor is a test only where the filter is sure of the outcome. Returns whether it was one. */
static int judge_anchor(rf_watched *t, double draws[][RF_NAMES_MAX], const double record[])
{
    double most = 0, likeliest = 0;
    for (unsigned k = 0; k < t->description->outcomes; k++) {
        double p = predicted(t, draws, record, (double)k);
        if (p > most)
            most = p, likeliest = (double)k;
    }
    if (most < SURE)
        return 0;
    t->watch->failed = record[t->model->settings] == likeliest ? 0 : t->watch->failed + 1;
    t->watch->verdict = t->watch->failed ? 1 : -1;
    return 1;
}

/* −ln of the probability of the records, by draws from the filter; with `x`, of outcomes drawn for it instead. */
static double surprise(const rf_watched *t, double draws[][RF_NAMES_MAX], const double records[], uint32_t count,
                        const double x[], uint32_t run)
{
    double total[DRAWS] = {0}, most = -RF64_LIMIT * RF64_LIMIT, sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        const double *setting = records + (size_t)k * (t->model->settings + 1u);
        double outcome = setting[t->model->settings];
        if (x)
            outcome = rf64_instance_outcome(t->instance, x, setting, ~t->belief->seed, t->belief->kind->updates(t->belief) * 4096u + run * 256u + k);
        for (unsigned d = 0; d < DRAWS; d++)
            total[d] += log_likelihood(t->model, draws[d], setting, outcome);
    }
    for (unsigned d = 0; d < DRAWS; d++)
        most = rf64_max(most, total[d]);
    for (unsigned d = 0; d < DRAWS; d++)
        sum += rf64_exp(total[d] - most);
    return -(most + rf64_log(sum / DRAWS));
}

/* One record with few possible outcomes: mean and variance of the surprise, exactly as the draws have it. Returns the
   surprise of the outcome that came. */
static double expect_outcome(const rf_watched *t, double draws[][RF_NAMES_MAX], const double record[], double *mean, double *variance)
{
    double total = 0, square = 0, observed = 0;
    *mean = 0;
    for (unsigned k = 0; k < t->description->outcomes; k++) {
        double p = predicted(t, draws, record, (double)k), s = -rf64_log(p);
        total += p;
        *mean += p * s;
        square += p * s * s;
        observed = (double)k == record[t->model->settings] ? s : observed;
    }
    *mean /= total;
    *variance = square / total - *mean * *mean;
    return observed;
}

/* The same of any batch, by simulating some. */
static double expect_batch(const rf_watched *t, double draws[][RF_NAMES_MAX], const double records[], uint32_t count, double *mean,
                            double *variance)
{
    double square = 0;
    *mean = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        double x[RF_NAMES_MAX];
        t->belief->kind->draw(t->belief, DRAWS + run, RF_FOR_HEALTH, x);
        double usual = surprise(t, draws, records, count, x, run);
        *mean += usual / RUNS;
        square += usual * usual / RUNS;
    }
    *variance = (square - *mean * *mean) * (1 + 2.0 / RUNS);
    return surprise(t, draws, records, count, 0, 0);
}

static void judge_surprise(rf_watched *t, double draws[][RF_NAMES_MAX], const double records[], uint32_t count)
{
    rf_watch *h = t->watch;
    double mean, variance;
    if (t->description->outcomes == 0 && !t->instance->simulate)
        return;
    const int is_small = count == 1 && t->description->outcomes > 0 && t->description->outcomes <= RUNS;
    double observed = is_small ? expect_outcome(t, draws, records, &mean, &variance)
                                : expect_batch(t, draws, records, count, &mean, &variance);
    h->surprise = FORGET * h->surprise + rf64_min(observed - mean, 100.0);
    h->variance = FORGET * FORGET * h->variance + rf64_max(variance, 1e-4);
    double sigmas = h->surprise / rf64_sqrt(h->variance);
    h->verdict = sigmas > FAILED ? 1 : sigmas < CALM ? -1 : 0;
    if (h->state == RF_TRACKING && sigmas > SUSPECT)
        h->state = RF_SUSPICIOUS;
}

void rf_health_judge(rf_watched *t, const double records[], uint32_t count)
{
    double draws[DRAWS][RF_NAMES_MAX];
    const int is_blind = has_anchors(t) && t->design->is_blind;
    int tested = 0;
    t->watch->verdict = 0;
    if (t->on_lost == RF_ON_LOST_IGNORE || (is_blind && t->anchors == 0))
        return;
    for (uint32_t d = 0; d < DRAWS; d++)
        t->belief->kind->draw(t->belief, d, RF_FOR_HEALTH, draws[d]);
    for (uint32_t k = 0; k < count && k < 32; k++)
        if (t->anchors >> k & 1)
            tested |= judge_anchor(t, draws, records + (size_t)k * (t->model->settings + 1u));
    t->watch->is_anchored = tested;
    if (!tested && !is_blind)
        judge_surprise(t, draws, records, count);
}

/* ---- What is done ---- */

static void widen(rf_watched *t)
{
    double factor[RF_NAMES_MAX], mean[RF_NAMES_MAX], covariance[RF_TRIANGLE(RF_NAMES_MAX)];
    t->belief->kind->moments(t->belief, mean, covariance);
    for (unsigned i = 0; i < t->model->dim; i++)
        factor[i] = rf64_max(rf64_min(STRETCH, WIDEST * t->prior_sd[i] / rf64_sqrt(covariance[RF_TRIANGLE(i) + i])), 1);
    t->belief->kind->stretch(t->belief, factor);
    t->watch->widened++;
}

static void restart(rf_watched *t)
{
    t->belief->kind->restart(t->belief);
    t->watch->restarts++;
}

void rf_health_act(rf_watched *t)
{
    rf_watch *h = t->watch;
    if (h->verdict > 0) {
        h->failed += !h->is_anchored;
        h->surprise = h->variance = 0;
        if (h->failed >= LOST_AFTER && t->on_lost != RF_ON_LOST_WIDEN && t->on_lost != RF_ON_LOST_WATCH) {
            h->state = RF_LOST;
            h->failed = 0;
            if (t->on_lost == RF_ON_LOST_RESTART)
                restart(t);
        } else {
            h->state = RF_RECOVERING;
            if (t->on_lost != RF_ON_LOST_WATCH)
                widen(t);
        }
    } else if (h->verdict < 0) {
        h->state = RF_TRACKING;
        h->failed = 0;
    }
}
