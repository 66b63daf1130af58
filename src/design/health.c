/* Is the filter still where the truth is? Anchors ask it directly; for designs without them, outcomes that keep being
   less likely than the filter expects give it away. Compiled per precision. */
#include "health.h"

#define STRETCH RF_C(2.2)    /* of the standard deviation, by a failed test ... */
#define WIDEST RF_C(2.0)     /* ... up to this many of the prior's */
#define FORGET RF_C(0.9)     /* weight of the past in the running surprise, per update */
#define SUSPECT RF_C(3.0)    /* standard deviations of surprise that are noted, */
#define FAILED RF_C(4.5)     /* that are acted upon, */
#define CALM RF_C(2.0)       /* and that end it */
#define SURE RF_C(0.9)       /* probability from which an outcome that does not come is a failed test */

enum {
    LOST_AFTER = 8, /* tests failed in a row */
    DRAWS = 32,     /* from the filter, for the probability of a batch */
    RUNS = 16       /* simulated batches, for how surprising they usually are */
};

/* Does the filter get tested by anchors? */
static int has_anchors(const RF(watched) *t)
{
    return t->design && t->anchor_every > 0 && t->on_lost != RF_ON_LOST_IGNORE;
}

int RF(health_wants_anchor)(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    if (!has_anchors(t))
        return 0;
    if (h->failed == 0 && --h->next_anchor > 0)
        return 0;
    h->next_anchor = t->anchor_every;
    return 1;
}

/* ---- Tests ---- */

static rf_real log_likelihood(const RF(model) *model, const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real value = model->likelihood(x, setting, outcome);
    if (model->is_log)
        return value <= RF_LIMIT ? RF(max)(value, -RF_LIMIT) : -RF_LIMIT;
    return value > 0 && value <= RF_LIMIT ? RF(log)(value) : -RF_LIMIT;
}

/* The likelihood itself; one that is no number counts as none. */
static rf_real likelihood(const RF(model) *model, const rf_real x[], const rf_real setting[], rf_real outcome)
{
    const rf_real least = RF_C(4.248354255291589e-18); /* e⁻⁴⁰ */
    if (model->is_log)
        return RF(exp)(RF(max)(log_likelihood(model, x, setting, outcome), RF_C(-40.0)));
    rf_real value = model->likelihood(x, setting, outcome);
    return value > least && value <= RF_LIMIT ? value : least;
}

/* Mean probability of an outcome over the draws. */
static rf_real predicted(const RF(watched) *t, rf_real draws[][RF_NAMES_MAX], const rf_real setting[], rf_real outcome)
{
    rf_real p = 0;
    for (unsigned d = 0; d < DRAWS; d++)
        p += likelihood(t->model, draws[d], setting, outcome);
    return RF(max)(p / DRAWS, RF_C(1e-6));
}

/* An anchor is a test only where the filter is sure of the outcome. Returns whether it was one. */
static int judge_anchor(RF(watched) *t, rf_real draws[][RF_NAMES_MAX], const rf_real record[])
{
    rf_real most = 0, likeliest = 0;
    for (unsigned k = 0; k < t->description->outcomes; k++) {
        rf_real p = predicted(t, draws, record, (rf_real)k);
        if (p > most)
            most = p, likeliest = (rf_real)k;
    }
    if (most < SURE)
        return 0;
    t->watch->failed = record[t->model->settings] == likeliest ? 0 : t->watch->failed + 1;
    t->watch->verdict = t->watch->failed ? 1 : -1;
    return 1;
}

/* −ln of the probability of the records, by draws from the filter; with `x`, of outcomes drawn for it instead. */
static rf_real surprise(const RF(watched) *t, rf_real draws[][RF_NAMES_MAX], const rf_real records[], uint32_t count,
                        const rf_real x[], uint32_t run)
{
    rf_real total[DRAWS] = {0}, most = -RF_LIMIT * RF_LIMIT, sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        const rf_real *setting = records + (size_t)k * (t->model->settings + 1u);
        rf_real outcome = setting[t->model->settings];
        if (x)
            outcome = RF(instance_outcome)(t->instance, x, setting, ~t->seed, t->updates * 4096u + run * 256u + k);
        for (unsigned d = 0; d < DRAWS; d++)
            total[d] += log_likelihood(t->model, draws[d], setting, outcome);
    }
    for (unsigned d = 0; d < DRAWS; d++)
        most = RF(max)(most, total[d]);
    for (unsigned d = 0; d < DRAWS; d++)
        sum += RF(exp)(total[d] - most);
    return -(most + RF(log)(sum / DRAWS));
}

/* One record with few possible outcomes: mean and variance of the surprise, exactly as the draws have it. Returns the
   surprise of the outcome that came. */
static rf_real expect_outcome(const RF(watched) *t, rf_real draws[][RF_NAMES_MAX], const rf_real record[], rf_real *mean, rf_real *variance)
{
    rf_real total = 0, square = 0, observed = 0;
    *mean = 0;
    for (unsigned k = 0; k < t->description->outcomes; k++) {
        rf_real p = predicted(t, draws, record, (rf_real)k), s = -RF(log)(p);
        total += p;
        *mean += p * s;
        square += p * s * s;
        observed = (rf_real)k == record[t->model->settings] ? s : observed;
    }
    *mean /= total;
    *variance = square / total - *mean * *mean;
    return observed;
}

/* The same of any batch, by simulating some. */
static rf_real expect_batch(const RF(watched) *t, rf_real draws[][RF_NAMES_MAX], const rf_real records[], uint32_t count, rf_real *mean,
                            rf_real *variance)
{
    rf_real square = 0;
    *mean = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        rf_real x[RF_NAMES_MAX];
        t->draw(t->self, DRAWS + run, RF_FOR_HEALTH, x);
        rf_real usual = surprise(t, draws, records, count, x, run);
        *mean += usual / RUNS;
        square += usual * usual / RUNS;
    }
    *variance = (square - *mean * *mean) * (1 + RF_C(2.0) / RUNS);
    return surprise(t, draws, records, count, 0, 0);
}

static void judge_surprise(RF(watched) *t, rf_real draws[][RF_NAMES_MAX], const rf_real records[], uint32_t count)
{
    RF(watch) *h = t->watch;
    rf_real mean, variance;
    if (t->description->outcomes == 0 && !t->instance->simulate)
        return;
    const int is_small = count == 1 && t->description->outcomes > 0 && t->description->outcomes <= RUNS;
    rf_real observed = is_small ? expect_outcome(t, draws, records, &mean, &variance)
                                : expect_batch(t, draws, records, count, &mean, &variance);
    h->surprise = FORGET * h->surprise + RF(min)(observed - mean, RF_C(100.0));
    h->variance = FORGET * FORGET * h->variance + RF(max)(variance, RF_C(1e-4));
    rf_real sigmas = h->surprise / RF(sqrt)(h->variance);
    h->verdict = sigmas > FAILED ? 1 : sigmas < CALM ? -1 : 0;
    if (h->state == RF_TRACKING && sigmas > SUSPECT)
        h->state = RF_SUSPICIOUS;
}

void RF(health_judge)(RF(watched) *t, const rf_real records[], uint32_t count)
{
    rf_real draws[DRAWS][RF_NAMES_MAX];
    const int is_blind = has_anchors(t) && t->design->is_blind;
    int tested = 0;
    t->watch->verdict = 0;
    if (t->on_lost == RF_ON_LOST_IGNORE || (is_blind && t->anchors == 0))
        return;
    for (uint32_t d = 0; d < DRAWS; d++)
        t->draw(t->self, d, RF_FOR_HEALTH, draws[d]);
    for (uint32_t k = 0; k < count && k < 32; k++)
        if (t->anchors >> k & 1)
            tested |= judge_anchor(t, draws, records + (size_t)k * (t->model->settings + 1u));
    t->watch->is_anchored = tested;
    if (!tested && !is_blind)
        judge_surprise(t, draws, records, count);
}

/* ---- What is done ---- */

static void widen(RF(watched) *t)
{
    rf_real factor[RF_NAMES_MAX], sd[RF_NAMES_MAX];
    t->sds(t->self, sd);
    for (unsigned i = 0; i < t->model->dim; i++)
        factor[i] = RF(max)(RF(min)(STRETCH, WIDEST * t->prior_sd[i] / sd[i]), 1);
    t->stretch(t->self, factor);
    t->watch->widened++;
}

static void restart(RF(watched) *t)
{
    t->restart(t->self);
    t->watch->restarts++;
}

void RF(health_act)(RF(watched) *t)
{
    RF(watch) *h = t->watch;
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
