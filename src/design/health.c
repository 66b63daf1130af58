/* Is the filter still where the truth is? Anchors test it directly. Without anchors, outcomes that keep being less
   likely than the filter expects reveal it. Outcomes that stay the same when they should vary show a faulty detector,
   not a lost filter. Compiled per precision. */
#include "designs.h"
#include "health.h"

#include "rejfilt/belief.h"

#define STRETCH RF_C(2.2)        /* factor on the standard deviation after a failed test; */
#define STRETCH_STILL RF_C(4.0)  /* the same for one parameter without drift or fringe: its belief is already narrow */
#define FORGET RF_C(0.9)         /* weight of the past in the running surprise, per update */
#define SUSPECT RF_C(3.0)        /* standard deviations of surprise: suspicious above, */
#define FAILED RF_C(4.5)         /* failed above, */
#define CALM RF_C(2.0)           /* passed below */
#define CHANCE RF_C(0.05)        /* share of outcomes that may be pure chance even if the belief is right */
#define SCORE_NOTED RF_C(0.7)    /* score in nats, for chance against the belief: suspicious above, */
#define SCORE_FAILED RF_C(1.6)   /* widened above, */
#define SCORE_LOST RF_C(6.0)     /* lost above */
#define SURPRISED RF_C(1.9)      /* nats that failed surprise adds to the score, */
#define UNSURPRISED RF_C(0.062)  /* and that passed surprise subtracts */
#define CHANCE_FAILED RF_C(7.0)  /* score of records without anchors: failed above, then set to */
#define CHANCE_AFTER RF_C(3.5)   /* this */
#define FRINGE_FAILED RF_C(3.6)  /* the same with a fringe, on which a lost belief sees only chance */
#define FRINGE_AFTER RF_C(3.0)
#define MOVED RF_C(0.5)          /* tests for a truth that is off by this many usual standard deviations, */
#define MOVE_MOST RF_C(0.45)     /* by less for informative records, so that a single one never decides; */
#define MOVE_LARGEST RF_C(3.0)   /* larger moves, in standard deviations, count as this; of counts */
#define TOLD RF_C(0.1)           /* weight of a record in what records usually tell */
#define MOVED_FAILED RF_C(4.0)   /* nats for such a truth: failed above, then set to */
#define MOVED_AFTER RF_C(2.8)    /* this */
#define CAUTION RF_C(1.25)       /* factor on both for counts, whose moves are less regular than those of two outcomes, */
#define CAUTION_SEVERAL RF_C(1.5) /* and with several parameters, any of which may fail */
#define FAILURES RF_C(2.0)       /* factor on the expected rate of failed anchors: the belief is too narrow; */
#define FAILURES_NOTED RF_C(4.0) /* nats for that: suspicious above, */
#define FAILURES_MOST RF_C(5.0)  /* and at most this */
#define TREND_WITH RF_C(0.262364)     /* ln 1.3: a steadily moving truth draws 0.65 of all moves after it, */
#define TREND_AGAINST RF_C(-0.356675) /* ln 0.7: and leaves 0.35; if the belief is right, each is one half */
#define TREND_NOTED RF_C(5.0)    /* nats for that: suspicious above, */
#define TREND_MOST RF_C(6.0)     /* and at most this */
#define RUN_FAULT RF_C(-13.8155) /* ln 1e-6: a less probable run of equal outcomes is a fault */
#define RUN_NOTED RF_C(-3.0)     /* below this the next experiment asks for another outcome, of at least this probability: */
#define RUN_OTHER RF_C(0.75)
#define RUN_DOUBTED RF_C(-9.0)   /* below this, for the surest one */
#define HOMING RF_C(0.06)        /* share of the distance to the mean that home moves with each passed test */

enum {
    BOOST = 15, /* number of early anchors after a restart */
    SOONER = 2, /* they come this many experiments earlier; */
    AT_ONCE = 4, /* the same after a failed anchor, if no drift keeps the belief from narrowing */
    RUNS = 16,  /* simulated batches that measure the usual surprise */
    BATCH = 1024 /* most records of one: no two share random numbers */
};

/* Is the filter tested by anchors? */
static int has_anchors(const RF(watched) *t)
{
    return t->design && t->anchor_every > 0 && t->on_lost != RF_ON_LOST_IGNORE;
}

void RF(health_begin)(RF(watch) *watch, const rf_real mean[], unsigned dim, uint32_t anchor_every)
{
    const RF(watch) none = {.next_anchor = anchor_every};
    *watch = none;
    for (unsigned i = 0; i < dim; i++)
        watch->home[i] = mean[i];
}

/* Schedules the next anchor, `sooner` experiments earlier than usual. */
static void expect_anchor(RF(watched) *t, uint32_t sooner)
{
    t->watch->next_anchor = t->anchor_every > sooner ? t->anchor_every - sooner : 1;
}

int RF(health_wants_anchor)(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    if (!has_anchors(t) || h->state == RF_FAULT)
        return 0;
    if (!h->again && --h->next_anchor > 0)
        return 0;
    h->again = 0;
    expect_anchor(t, h->score > SCORE_NOTED ? (t->is_still ? AT_ONCE : 1) : h->boost > 0 ? SOONER : 0);
    h->boost -= h->boost > 0;
    h->anchors = h->anchors % INT32_MAX + 1;
    return (int)h->anchors;
}

/* A truth that moved to where all outcomes are alike, such as a lifetime that fell to a tenth, is no dead detector. Without
   a fringe (whose designs ask both sides) every second experiment then asks for another outcome. */
rf_real RF(health_wants_other)(const RF(watched) *t, uint32_t number)
{
    const RF(watch) *h = t->watch;
    if (t->description->fringe > 0 || t->on_lost == RF_ON_LOST_IGNORE || rf_outcomes_fixed(RF_OUTCOMES(t->description)) == 0)
        return 0;
    if (h->state == RF_FAULT)
        return 1;
    if (number % 2 == 0 || h->run > RUN_NOTED)
        return 0;
    return h->run > RUN_DOUBTED ? RUN_OTHER : 1;
}

/* ---- Tests ---- */

/* The logarithm of a model's return value; invalid values become -RF_LIMIT. */
static rf_real log_likelihood(const RF(model) *model, rf_real value)
{
    if (RF_MODEL_IS_LOG(model))
        return value <= RF_LIMIT ? RF(max)(value, -RF_LIMIT) : -RF_LIMIT;
    return value > 0 && value <= RF_LIMIT ? RF(log)(value) : -RF_LIMIT;
}

/* A likelihood clamped from below; invalid values become the least. */
static rf_real held_likelihood(rf_real value)
{
    const rf_real least = RF_C(4.248354255291589e-18); /* e⁻⁴⁰ */
    return ((value > least) & (value <= RF_LIMIT)) ? value : least;
}

static RF_APART rf_real likelihood_of_log(const RF(model) *model, rf_real value)
{
    return RF(exp)(RF(max)(log_likelihood(model, value), RF_C(-40.0)));
}

/* Mean probability of an outcome over the draws. */
static RF_APART rf_real mean_probability(const RF(watched) *t, const rf_real draws[], const rf_real setting[], rf_real outcome)
{
    rf_real p = 0, value[RF_HEALTH_DRAWS];
    RF(model_likelihoods)(t->model, draws, t->model->dim, RF_HEALTH_DRAWS, setting, outcome, value);
    for (unsigned d = 0; d < RF_HEALTH_DRAWS && RF_MODEL_IS_LOG(t->model); d++)
        value[d] = likelihood_of_log(t->model, value[d]);
    if (!RF_MODEL_IS_LOG(t->model))
        for (unsigned d = 0; d < RF_HEALTH_DRAWS; d++)
            value[d] = held_likelihood(value[d]);
    for (unsigned d = 0; d < RF_HEALTH_DRAWS; d++)
        p += value[d];
    return RF(max)(p / RF_HEALTH_DRAWS, RF_C(1e-6));
}

/* By how many nats chance explains an outcome of this probability better than the belief. */
static rf_real gained(const RF(watched) *t, rf_real p)
{
    const rf_real chance = 1 / (rf_real)rf_outcomes_fixed(RF_OUTCOMES(t->description));
    return RF(log)(chance / ((1 - CHANCE) * p + CHANCE * chance));
}

/* Updates the test for anchors that fail more often than a correct belief allows. */
static void count_failure(RF(watch) *h, rf_real p)
{
    const int is_failed = p < RF_C(0.5);
    const rf_real usual = RF(min)(is_failed ? p : 1 - p, RF_C(0.499)), more = RF(min)(FAILURES * usual, RF_C(0.5));
    const rf_real gain = RF(log)(is_failed ? more / usual : (1 - more) / (1 - usual));
    h->chance = RF(min)(RF(max)(h->chance + gain, 0), FAILURES_MOST);
}

/* Updates the score with the answer to an anchor; at least 0. */
static void judge_anchor(RF(watched) *t, const rf_real draws[], const rf_real record[])
{
    RF(watch) *h = t->watch;
    const rf_real p = mean_probability(t, draws, record, record[t->model->settings]), gain = gained(t, p);
    if (t->design && t->design->is_blind && rf_outcomes_fixed(RF_OUTCOMES(t->description)) == 2)
        count_failure(h, RF(min)(p, 1));
    h->score = RF(max)(h->score + gain, 0);
    h->verdict = gain > 0 && h->score > SCORE_FAILED ? 1 : gain < 0 && h->verdict <= 0 ? -1 : h->verdict;
}

/* Do outcomes vary? With a blind design both outcomes are equally likely, whatever is believed. Returns whether this
   outcome differs from the one before; *known ← its probability. */
static int judge_run(RF(watched) *t, const rf_real draws[], const rf_real record[], int is_blind, rf_real *known)
{
    RF(watch) *h = t->watch;
    const unsigned outcomes = rf_outcomes_fixed(RF_OUTCOMES(t->description));
    const rf_real outcome = record[t->model->settings], chance = outcomes > 0 ? 1 / (rf_real)outcomes : RF_C(0.5);
    *known = is_blind || !rf_outcomes_are_whole(RF_OUTCOMES(t->description)) ? chance : mean_probability(t, draws, record, outcome);
    const rf_real p = RF(min)(RF(max)(*known, chance), 1);
    const int is_new = !(h->run < 0) || outcome != h->latest;
    h->run = RF(min)((is_new ? 0 : h->run) + RF(log)(p), -RF_TINY);
    h->latest = outcome;
    return is_new;
}

/* −ln of the probability of the records, averaged over draws from the filter; with `x`, of outcomes simulated for x
   instead. */
static RF_APART rf_real surprise(const RF(watched) *t, const rf_real draws[], const rf_real records[], uint32_t count,
                        const rf_real x[], uint32_t run)
{
    rf_real total[RF_HEALTH_DRAWS] = {0}, value[RF_HEALTH_DRAWS], most = -RF_LIMIT * RF_LIMIT, sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        const rf_real *setting = records + (size_t)k * (t->model->settings + 1u);
        rf_real outcome = setting[t->model->settings];
        if (x)
            outcome = RF(instance_outcome)(t->instance, x, setting, ~t->seed, (t->updates * RUNS + run) * BATCH + k);
        RF(model_likelihoods)(t->model, draws, t->model->dim, RF_HEALTH_DRAWS, setting, outcome, value);
        for (unsigned d = 0; d < RF_HEALTH_DRAWS; d++)
            total[d] += log_likelihood(t->model, value[d]);
    }
    for (unsigned d = 0; d < RF_HEALTH_DRAWS; d++)
        most = RF(max)(most, total[d]);
    for (unsigned d = 0; d < RF_HEALTH_DRAWS; d++)
        sum += RF(exp)(total[d] - most);
    return -(most + RF(log)(sum / RF_HEALTH_DRAWS));
}

/* For one record with few possible outcomes: exact mean and variance of the surprise under the draws. Returns the
   surprise of the actual outcome. */
static rf_real expect_outcome(const RF(watched) *t, const rf_real draws[], const rf_real record[], rf_real known, rf_real *mean,
                              rf_real *variance)
{
    rf_real total = 0, square = 0, observed = 0;
    *mean = 0;
    for (unsigned k = 0; k < rf_outcomes_fixed(RF_OUTCOMES(t->description)); k++) {
        const int is_observed = (rf_real)k == record[t->model->settings];
        rf_real p = is_observed ? known : mean_probability(t, draws, record, (rf_real)k), s = -RF(log)(p);
        total += p;
        *mean += p * s;
        square += p * s * s;
        observed = is_observed ? s : observed;
    }
    *mean /= total;
    *variance = square / total - *mean * *mean;
    return observed;
}

/* The same for any batch, from simulated ones. */
static rf_real expect_batch(const RF(watched) *t, const rf_real draws[], const rf_real records[], uint32_t count, rf_real *mean,
                            rf_real *variance)
{
    rf_real square = 0;
    *mean = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        rf_real x[RF_ROOM];
        RF_GIVEN(t, draw)(t->self, RF_HEALTH_DRAWS + run, RF_FOR_HEALTH, x);
        rf_real usual = surprise(t, draws, records, count, x, run);
        *mean += usual / RUNS;
        square += usual * usual / RUNS;
    }
    *variance = (square - *mean * *mean) * (1 + RF_C(2.0) / RUNS);
    return surprise(t, draws, records, count, 0, 0);
}

/* known: probability of the last record's outcome. */
static void judge_surprise(RF(watched) *t, const rf_real draws[], const rf_real records[], uint32_t count, rf_real known)
{
    RF(watch) *h = t->watch;
    const int has_fringe = t->description->fringe > 0;
    const rf_real failed = has_fringe ? FRINGE_FAILED : CHANCE_FAILED, after = has_fringe ? FRINGE_AFTER : CHANCE_AFTER;
    rf_real mean, variance;
    const unsigned outcomes = rf_outcomes_fixed(RF_OUTCOMES(t->description));
    if (!rf_outcomes_are_whole(RF_OUTCOMES(t->description)) && !t->instance->simulate)
        return;
    const int is_small = count == 1 && outcomes > 0 && outcomes <= RUNS;
    rf_real observed = is_small ? expect_outcome(t, draws, records, known, &mean, &variance)
                                : expect_batch(t, draws, records, count, &mean, &variance);
    h->surprise = FORGET * h->surprise + RF(min)(observed - mean, RF_C(100.0));
    h->variance = FORGET * FORGET * h->variance + RF(max)(variance, RF_C(1e-4));
    rf_real sigmas = h->surprise / RF(sqrt)(h->variance);
    if (is_small)
        h->chance = RF(max)(h->chance + gained(t, RF(exp)(-observed)), 0);
    h->verdict = sigmas > FAILED || h->chance > failed ? 1 : sigmas < CALM ? -1 : 0;
    h->chance = RF(min)(h->chance, h->verdict > 0 ? after : failed);
    h->score = RF(max)(h->score + (h->verdict > 0 ? SURPRISED : h->verdict < 0 ? -UNSURPRISED : 0), 0);
    if (h->state == RF_TRACKING && sigmas > SUSPECT)
        h->state = RF_SUSPICIOUS;
}

/* Before an update with an outcome of probability p, of two: stores what judge_move needs. */
static void expect_move(RF(watched) *t, rf_real p)
{
    RF(watch) *h = t->watch;
    h->odds = RF(min)(RF(max)(p, RF_C(1e-6)), RF_C(0.999999));
    h->odds /= 1 - h->odds;
    RF_GIVEN(t, moments)(t->self, h->mean, h->sd);
}

/* After a record at the steepest point of a fringe, where both outcomes are equally likely if the belief is right. If
   the truth moves steadily and faster than believed, the mean lags behind and moves in that direction more often. This
   is only reported: anchors detect when it is too far away. */
static void judge_trend(RF(watch) *h, rf_real move)
{
    h->up[0] = RF(min)(RF(max)(h->up[0] + (move > 0 ? TREND_WITH : TREND_AGAINST), 0), TREND_MOST);
    h->down[0] = RF(min)(RF(max)(h->down[0] + (move > 0 ? TREND_AGAINST : TREND_WITH), 0), TREND_MOST);
}

/* The standard deviation of the moves of mean i over the size of this one; 0: unknown. Of two outcomes, one of probability
   p moves it by sqrt((1 - p)/p) standard deviations, the other moves it back. Of more, the standard deviation follows from
   what records usually tell. */
static rf_real expected_over_moved(const RF(watched) *t, unsigned i, rf_real move, rf_real sd)
{
    RF(watch) *h = t->watch;
    if (rf_outcomes_fixed(RF_OUTCOMES(t->description)) == 2)
        return RF(sqrt)(h->odds);
    const rf_real before = h->sd[i] * h->sd[i], told = 1 / (sd * sd) - 1 / before, usual = h->told[i] > 0 ? h->told[i] : told;
    h->told[i] += (h->told[i] > 0 ? TOLD : 1) * (told - h->told[i]);
    if (!(usual > 0 && usual <= RF_LIMIT && move != 0))
        return 0;
    return RF(max)(RF(sqrt)(usual / (1 + usual * before)) * before / RF(abs)(move), 1 / MOVE_LARGEST);
}

/* After the update, without anchors and without a fringe. If the belief is right, the expected move of its mean is 0. If
   the truth is off, it moves towards it, in proportion to the record's information. */
static void judge_move(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    const rf_real caution = rf_outcomes_fixed(RF_OUTCOMES(t->description)) == 2 ? 1 : t->model->dim > 1 ? CAUTION_SEVERAL : CAUTION;
    rf_real mean[RF_ROOM], sd[RF_ROOM];
    if (!(h->odds > 0))
        return;
    RF_GIVEN(t, moments)(t->self, mean, sd);
    if (has_anchors(t)) {
        if (mean[0] != h->mean[0])
            judge_trend(h, mean[0] - h->mean[0]);
        return;
    }
    for (unsigned i = 0; i < t->model->dim; i++) {
        const rf_real move = mean[i] - h->mean[i], root = expected_over_moved(t, i, move, sd[i]);
        const rf_real told = RF(abs)(move) * root / (h->sd[i] * h->sd[i]); /* square root of the Fisher information */
        const rf_real a = RF(min)(MOVED * t->usual_sd[i] * told, MOVE_MOST), gain = (move < 0 ? -a : a) / root;
        if (!(a >= 0 && root > 0))
            continue;
        h->up[i] = RF(max)(h->up[i] + gain - a * a / 2, 0);
        h->down[i] = RF(max)(h->down[i] - gain - a * a / 2, 0);
        if (RF(max)(h->up[i], h->down[i]) > caution * MOVED_FAILED) {
            h->verdict = 1;
            h->score += SURPRISED;
        }
        h->up[i] = RF(min)(h->up[i], caution * (h->verdict > 0 ? MOVED_AFTER : MOVED_FAILED));
        h->down[i] = RF(min)(h->down[i], caution * (h->verdict > 0 ? MOVED_AFTER : MOVED_FAILED));
    }
}

/* Does the truth move faster, or is the detector worse, than believed? */
static int is_off(const RF(watched) *t)
{
    const RF(watch) *h = t->watch;
    if (!has_anchors(t) || !t->design->is_blind)
        return 0;
    return h->chance > FAILURES_NOTED || (t->model->dim == 1 && RF(max)(h->up[0], h->down[0]) > TREND_NOTED);
}

/* Resets the tests. */
static void begin_again(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    h->score = h->surprise = h->variance = h->chance = 0;
    for (unsigned i = 0; i < t->model->dim; i++)
        h->up[i] = h->down[i] = h->told[i] = 0;
    h->again = 0;
}

RF_APART void RF(health_acquit)(RF(watched) *t)
{
    begin_again(t);
    t->watch->boost = 0;
    t->watch->state = t->watch->verdict < 0 ? RF_TRACKING : RF_SUSPICIOUS;
}

/* Ends a fault, or a false one. */
static void resume(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    begin_again(t);
    h->state = RF_RECOVERING;
    h->next_anchor = t->anchor_every < 2 ? t->anchor_every : 2;
}

RF_APART unsigned RF(health_judge)(RF(watched) *t, const rf_real records[], uint32_t count)
{
    RF(watch) *h = t->watch;
    rf_real draws[RF_HEALTH_DRAWS * RF_ROOM]; /* draws in a row */
    const int is_blind = has_anchors(t) && t->design->is_blind, was_fault = h->state == RF_FAULT;
    const unsigned size = t->model->settings + 1u;
    unsigned todo = 0;
    rf_real known = 0;
    h->verdict = 0;
    h->odds = 0;
    h->is_anchored = t->anchors != 0;
    if (t->on_lost == RF_ON_LOST_IGNORE)
        return 0;
    if (!is_blind || t->anchors)
        RF_GIVEN(t, draws)(t->self, RF_HEALTH_DRAWS, RF_FOR_HEALTH, draws);
    for (uint32_t k = 0; k < count; k++)
        if (judge_run(t, draws, records + (size_t)k * size, is_blind, &known)) {
            todo |= RF_HEALTH_HOLD;
            if (h->state == RF_FAULT)
                resume(t);
        }
    if (h->run < RUN_FAULT) {
        h->state = RF_FAULT;
        return t->on_lost == RF_ON_LOST_WATCH ? 0 : RF_HEALTH_SKIP | (was_fault ? 0 : RF_HEALTH_BACK);
    }
    for (uint32_t k = 0; k < count && k < 32; k++)
        if (t->anchors >> k & 1)
            judge_anchor(t, draws, records + (size_t)k * size);
    if (!h->is_anchored && !is_blind)
        judge_surprise(t, draws, records, count, known);
    const int is_moved = has_anchors(t) ? is_blind && !h->is_anchored && t->model->dim == 1
                                        : t->description->fringe == 0 && rf_outcomes_are_whole(RF_OUTCOMES(t->description));
    if (is_moved && count == 1)
        expect_move(t, has_anchors(t) ? RF_C(0.5) : known);
    return todo;
}

/* ---- Actions ---- */

static void widen(RF(watched) *t)
{
    rf_real factor[RF_ROOM], mean[RF_ROOM], sd[RF_ROOM];
    const rf_real most = t->is_still && t->model->dim == 1 && t->description->fringe == 0 ? STRETCH_STILL : STRETCH;
    RF_GIVEN(t, moments)(t->self, mean, sd);
    for (unsigned i = 0; i < t->model->dim; i++)
        factor[i] = RF(max)(RF(min)(most, t->widened_sd[i] / sd[i]), 1);
    RF_GIVEN(t, stretch)(t->self, factor);
    t->watch->widened++;
}

/* Restarts at home, with the greatest width. */
static void restart(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    rf_real sd[RF_ROOM];
    for (unsigned i = 0; i < t->model->dim; i++) {
        sd[i] = t->widened_sd[i];
        h->up[i] = h->down[i] = 0;
    }
    RF_GIVEN(t, place)(t->self, h->home, sd);
    h->restarts++;
    h->score = h->chance = 0;
    h->boost = BOOST;
    expect_anchor(t, SOONER);
}

static void fail(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    const int is_lost = h->score > SCORE_LOST;
    h->state = is_lost ? RF_LOST : RF_RECOVERING;
    h->surprise = h->variance = 0;
    if (t->on_lost == RF_ON_LOST_WATCH)
        return;
    if (is_lost && t->on_lost == RF_ON_LOST_RESTART) {
        restart(t);
    } else {
        widen(t);
        h->again = 1;
        if (is_lost && t->on_lost == RF_ON_LOST_STOP) /* a caller may go on; then it is lost only if it is lost again */
            h->score = 0;
    }
}

static void pass(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    rf_real mean[RF_ROOM], sd[RF_ROOM];
    int is_wide = h->widened + h->restarts > 0; /* all parameters: one that is never measured may stay wide for ever */
    RF_GIVEN(t, moments)(t->self, mean, sd);
    for (unsigned i = 0; i < t->model->dim; i++) {
        is_wide &= sd[i] > RF_C(1.01) * t->usual_sd[i];
        h->home[i] += h->score == 0 ? (h->is_anchored ? HOMING : HOMING / 5) * (mean[i] - h->home[i]) : 0;
    }
    h->state = is_wide ? RF_RECOVERING : h->score > SCORE_NOTED || is_off(t) ? RF_SUSPICIOUS : RF_TRACKING;
}

RF_APART int RF(health_fails)(RF(watched) *t)
{
    judge_move(t);
    t->watch->odds = 0; /* judge each move only once */
    return t->watch->verdict > 0;
}

RF_APART void RF(health_act)(RF(watched) *t)
{
    const int is_failed = RF(health_fails)(t);
    if (t->watch->state == RF_TRACKING && is_off(t))
        t->watch->state = RF_SUSPICIOUS;
    if (is_failed)
        fail(t);
    else if (t->watch->verdict < 0)
        pass(t);
}

RF_APART void RF(health_clip)(RF(watched) *t)
{
    rf_real factor[RF_ROOM], mean[RF_ROOM], sd[RF_ROOM];
    for (int is_again = 0; is_again < 2; is_again++) {
        int is_wide = 0;
        RF_GIVEN(t, moments)(t->self, mean, sd);
        for (unsigned i = 0; i < t->model->dim; i++) {
            const rf_real cap = t->widest_sd[i];
            const int is_over = !(sd[i] <= cap * RF_C(1.00001));
            is_wide |= is_over;
            factor[i] = is_over ? cap / sd[i] : 1;
            sd[i] = is_over ? cap : sd[i];
        }
        if (!is_wide)
            return;
        if (is_again)
            RF_GIVEN(t, place)(t->self, mean, sd); /* modes far apart, or a kind that cannot shrink */
        else
            RF_GIVEN(t, stretch)(t->self, factor);
    }
}
