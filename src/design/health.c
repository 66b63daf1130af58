/* Is the filter still where the truth is? Anchors ask it directly; for designs without them, outcomes that keep being
   less likely than the filter expects give it away; and outcomes that stay the same when they should not say that the
   detector is at fault, not the filter. Compiled per precision. */
#include "designs.h"
#include "health.h"

#include "rejfilt/belief.h"

#define STRETCH RF_C(2.2)        /* of the standard deviation, by a failed test; */
#define STRETCH_STILL RF_C(4.0)  /* or of one parameter that stays still and has no fringe: it is narrow by then */
#define FORGET RF_C(0.9)         /* weight of the past in the running surprise, per update */
#define SUSPECT RF_C(3.0)        /* standard deviations of surprise that are noted, */
#define FAILED RF_C(4.5)         /* that are acted upon, */
#define CALM RF_C(2.0)           /* and that end it */
#define CHANCE RF_C(0.05)        /* share of outcomes that even a belief that is right leaves to chance */
#define SCORE_NOTED RF_C(0.7)    /* nats for chance, against the belief: suspicious above, */
#define SCORE_FAILED RF_C(1.6)   /* widened, */
#define SCORE_LOST RF_C(6.0)     /* lost */
#define SURPRISED RF_C(1.9)      /* nats that surprise counts when it is a failed test, */
#define UNSURPRISED RF_C(0.062)  /* and takes away when it is a passed one */
#define CHANCE_FAILED RF_C(7.0)  /* the same of records that are no anchors: a failed test, after which it is ... */
#define CHANCE_AFTER RF_C(3.5)   /* ... so much */
#define FRINGE_FAILED RF_C(3.6)  /* and where there is a fringe, on which a lost belief sees nothing but chance */
#define FRINGE_AFTER RF_C(3.0)
#define MOVED RF_C(0.5)          /* a truth that is off by so many of the usual standard deviations is looked for, ... */
#define MOVE_MOST RF_C(0.45)     /* ... less if a record tells much, so that one never decides; */
#define MOVED_FAILED RF_C(4.0)   /* nats for it that are a failed test, after which they are ... */
#define MOVED_AFTER RF_C(2.8)    /* ... so many */
#define FAILURES RF_C(2.0)       /* times as many failed anchors as expected: the belief is too narrow, */
#define FAILURES_NOTED RF_C(4.0) /* nats for that which are suspicious, */
#define FAILURES_MOST RF_C(5.0)  /* and that are remembered */
#define TREND_WITH RF_C(0.262364)     /* ln 1.3: a truth that moves away steadily draws 0.65 of all moves after it, */
#define TREND_AGAINST RF_C(-0.356675) /* ln 0.7: and leaves 0.35; one that is believed right draws half of them */
#define TREND_NOTED RF_C(5.0)    /* nats for it that are suspicious, */
#define TREND_MOST RF_C(6.0)     /* and that are remembered */
#define RUN_FAULT RF_C(-13.8155) /* ln 1e-6: outcomes alike that are less probable are a fault */
#define RUN_NOTED RF_C(-3.0)     /* less probable than that they are asked for another: one that should come more often ... */
#define RUN_OTHER RF_C(0.75)     /* ... than this; */
#define RUN_DOUBTED RF_C(-9.0)   /* and here the surest one */
#define HOMING RF_C(0.06)        /* share of the way to the mean that home goes with each passed test */

enum {
    BOOST = 15, /* anchors that come sooner after a restart */
    SOONER = 2, /* by so many experiments; */
    AT_ONCE = 4, /* and by so many when one has failed of a belief that no drift keeps from narrowing */
    RUNS = 16   /* simulated batches, for how surprising they usually are */
};

/* Does the filter get tested by anchors? */
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

/* Anchors come after `sooner` experiments less than usual. */
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

/* A truth that has moved to where all outcomes are alike, as a lifetime that fell to a tenth, is no dead detector. Without
   a fringe, whose designs ask both sides, every second experiment then asks for another outcome. */
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

/* Of what the model returned; a value that is no likelihood counts as none. */
static rf_real log_likelihood(const RF(model) *model, rf_real value)
{
    if (RF_MODEL_IS_LOG(model))
        return value <= RF_LIMIT ? RF(max)(value, -RF_LIMIT) : -RF_LIMIT;
    return value > 0 && value <= RF_LIMIT ? RF(log)(value) : -RF_LIMIT;
}

/* The likelihood itself. */
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

/* By how many nats chance explains an outcome of this probability better than the belief does. */
static rf_real gained(const RF(watched) *t, rf_real p)
{
    const rf_real chance = 1 / (rf_real)rf_outcomes_fixed(RF_OUTCOMES(t->description));
    return RF(log)(chance / ((1 - CHANCE) * p + CHANCE * chance));
}

/* Do anchors fail more often than a belief that is right lets them? */
static void count_failure(RF(watch) *h, rf_real p)
{
    const int is_failed = p < RF_C(0.5);
    const rf_real usual = RF(min)(is_failed ? p : 1 - p, RF_C(0.499)), more = RF(min)(FAILURES * usual, RF_C(0.5));
    const rf_real gain = RF(log)(is_failed ? more / usual : (1 - more) / (1 - usual));
    h->chance = RF(min)(RF(max)(h->chance + gain, 0), FAILURES_MOST);
}

/* The score: that of answers to anchors, from 0 up. */
static void judge_anchor(RF(watched) *t, const rf_real draws[], const rf_real record[])
{
    RF(watch) *h = t->watch;
    const rf_real p = mean_probability(t, draws, record, record[t->model->settings]), gain = gained(t, p);
    if (t->design && t->design->is_blind && rf_outcomes_fixed(RF_OUTCOMES(t->description)) == 2)
        count_failure(h, RF(min)(p, 1));
    h->score = RF(max)(h->score + gain, 0);
    h->verdict = gain > 0 && h->score > SCORE_FAILED ? 1 : gain < 0 && h->verdict <= 0 ? -1 : h->verdict;
}

/* Do outcomes vary? Where both sides of a fringe are asked for by chance, each has an even chance, whatever is believed.
   Returns whether this one differs from the one before, and its probability in `known`. */
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

/* −ln of the probability of the records, by draws from the filter; with `x`, of outcomes drawn for it instead. */
static RF_APART rf_real surprise(const RF(watched) *t, const rf_real draws[], const rf_real records[], uint32_t count,
                        const rf_real x[], uint32_t run)
{
    rf_real total[RF_HEALTH_DRAWS] = {0}, value[RF_HEALTH_DRAWS], most = -RF_LIMIT * RF_LIMIT, sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        const rf_real *setting = records + (size_t)k * (t->model->settings + 1u);
        rf_real outcome = setting[t->model->settings];
        if (x)
            outcome = RF(instance_outcome)(t->instance, x, setting, ~t->seed, t->updates * 4096u + run * 256u + k);
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

/* One record with few possible outcomes: mean and variance of the surprise, exactly as the draws have it. Returns the
   surprise of the outcome that came. */
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

/* The same of any batch, by simulating some. */
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

/* known: the probability of the last of the records. */
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

/* Before an update with one of two outcomes, of this probability: what its move will be judged by. */
static void expect_move(RF(watched) *t, rf_real p)
{
    RF(watch) *h = t->watch;
    h->odds = RF(min)(RF(max)(p, RF_C(1e-6)), RF_C(0.999999));
    h->odds /= 1 - h->odds;
    RF_GIVEN(t, moments)(t->self, h->mean, h->sd);
}

/* After a record at the steepest point of a fringe, whose outcomes are equally likely if the belief is right. If the truth
   moves steadily, faster than is believed, the mean lags behind and moves that way more often. Nothing is done about it but
   to say so: anchors tell when it is too far away. */
static void judge_trend(RF(watch) *h, rf_real move)
{
    h->up[0] = RF(min)(RF(max)(h->up[0] + (move > 0 ? TREND_WITH : TREND_AGAINST), 0), TREND_MOST);
    h->down[0] = RF(min)(RF(max)(h->down[0] + (move > 0 ? TREND_AGAINST : TREND_WITH), 0), TREND_MOST);
}

/* After it, where there are no anchors and no fringe. If the belief is right, its mean is expected to stay where it is: an
   outcome of probability p moves it by sqrt((1 - p)/p) of the moves' standard deviation, and the other moves it back. If the
   truth is off, moves go that way more often, by as much as the record tells. */
static void judge_move(RF(watched) *t)
{
    RF(watch) *h = t->watch;
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
        const rf_real move = mean[i] - h->mean[i], root = RF(sqrt)(h->odds);
        const rf_real told = RF(abs)(move) * root / (h->sd[i] * h->sd[i]); /* root of the information */
        const rf_real a = RF(min)(MOVED * t->usual_sd[i] * told, MOVE_MOST), gain = (move < 0 ? -a : a) / root;
        if (!(a >= 0))
            continue;
        h->up[i] = RF(max)(h->up[i] + gain - a * a / 2, 0);
        h->down[i] = RF(max)(h->down[i] - gain - a * a / 2, 0);
        if (RF(max)(h->up[i], h->down[i]) > MOVED_FAILED) {
            h->verdict = 1;
            h->score += SURPRISED;
        }
        h->up[i] = RF(min)(h->up[i], h->verdict > 0 ? MOVED_AFTER : MOVED_FAILED);
        h->down[i] = RF(min)(h->down[i], h->verdict > 0 ? MOVED_AFTER : MOVED_FAILED);
    }
}

/* Is the truth faster, or the detector worse, than is believed? */
static int is_off(const RF(watched) *t)
{
    const RF(watch) *h = t->watch;
    if (!has_anchors(t) || !t->design->is_blind)
        return 0;
    return h->chance > FAILURES_NOTED || (t->model->dim == 1 && RF(max)(h->up[0], h->down[0]) > TREND_NOTED);
}

/* The tests begin again. */
static void begin_again(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    h->score = h->surprise = h->variance = h->chance = 0;
    for (unsigned i = 0; i < t->model->dim; i++)
        h->up[i] = h->down[i] = 0;
    h->again = 0;
}

RF_APART void RF(health_acquit)(RF(watched) *t)
{
    begin_again(t);
    t->watch->boost = 0;
    t->watch->state = t->watch->verdict < 0 ? RF_TRACKING : RF_SUSPICIOUS;
}

/* The fault has passed, or there was none. */
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
    rf_real draws[RF_HEALTH_DRAWS * RF_ROOM]; /* one after the other */
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
                                        : t->description->fringe == 0 && rf_outcomes_fixed(RF_OUTCOMES(t->description)) == 2;
    if (is_moved && count == 1)
        expect_move(t, has_anchors(t) ? RF_C(0.5) : known);
    return todo;
}

/* ---- What is done ---- */

static void widen(RF(watched) *t)
{
    rf_real factor[RF_ROOM], mean[RF_ROOM], sd[RF_ROOM];
    const rf_real most = t->is_still && t->model->dim == 1 && t->description->fringe == 0 ? STRETCH_STILL : STRETCH;
    RF_GIVEN(t, moments)(t->self, mean, sd);
    for (unsigned i = 0; i < t->model->dim; i++)
        factor[i] = RF(max)(RF(min)(most, t->widest_sd[i] / sd[i]), 1);
    RF_GIVEN(t, stretch)(t->self, factor);
    t->watch->widened++;
}

/* At home, as wide as can be. */
static void restart(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    rf_real sd[RF_ROOM];
    for (unsigned i = 0; i < t->model->dim; i++) {
        sd[i] = t->widest_sd[i];
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
        if (is_lost && t->on_lost == RF_ON_LOST_STOP) /* it may be told to go on, and is lost when it is lost again */
            h->score = 0;
    }
}

static void pass(RF(watched) *t)
{
    RF(watch) *h = t->watch;
    rf_real mean[RF_ROOM], sd[RF_ROOM];
    int is_wide = h->widened + h->restarts > 0; /* all of it: a parameter that nobody asks about may be so for ever */
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
    t->watch->odds = 0; /* once */
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
