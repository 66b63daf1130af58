/* Questions and answers of a session, record by record. Also compiled for GPUs. */
#include "session_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define DOUBT_FALSE -0.25 /* doubt in nats, for the action after failed tests: wrong below, */
#define DOUBT_OVER 4.0    /* right above, undecided between */
#define MODES_STEPS 8.0 /* in units of the drift: a wider belief is still narrowing and does not keep its modes */

/* ---- The beginning ---- */

uint64_t rf_session_seed(uint64_t seed, uint32_t trial) { return rf_seed_of(seed, trial); }

RF_APART void rf_session_set_widths(rf_session *s)
{
    const double steps = USUAL_STEPS * rf64_sqrt(s->now.interval);
    for (unsigned i = 0; i < s->model.dim; i++) {
        const rf64_chart *chart = &s->problem->charts[i];
        s->usual_sd[i] = rf64_max(s->exact_sd[i], steps * s->config->drift[i]);
        s->widest_sd[i] = RF_HEALTH_CAP * s->usual_sd[i];
        s->widened_sd[i] = rf_motion_is_still(s->config, i) ? s->exact_sd[i] : s->widest_sd[i];
        if (chart->kind == RF_PERIODIC)
            s->widest_sd[i] = rf64_min(s->widest_sd[i], RF_HEALTH_ROUND * (chart->high - chart->low));
        s->widened_sd[i] = rf64_min(s->widened_sd[i], s->widest_sd[i]);
    }
}

RF_APART rf_status rf_session_start(rf_session *s)
{
    double mean[RF_ROOM], covariance[RF_TRIANGLE(RF_ROOM)];
    s->now.time = s->asked.time = NAN;
    s->now.interval = 1;
    rf_copy(s->ahead, s->belief, s->belief->bytes);
    if (rf_motion_begin(s, s->belief) < 0 || rf_session_drift(s, s->ahead, 1) < 0)
        return RF_REFUSED_OPTIONS;
    rf_copy(s->ahead, s->belief, s->belief->bytes);
    rf_copy(s->held, s->belief, s->belief->bytes);
    rf_copy(s->unshaken, s->belief, s->belief->bytes);
    rf_kind_of(s->belief)->moments(s->belief, mean, covariance);
    rf64_health_begin(&s->now.watch, mean, s->model.dim, s->anchor_every);
    for (unsigned i = 0; i < s->model.dim; i++) {
        s->prior_sd[i] = rf64_sqrt(covariance[RF_TRIANGLE(i) + i]);
        double centre, variance = 0; /* of the exact prior: a belief of particles only samples it */
        if (RF_MOTION_KIND(&s->config->motion[i]) == RF_MOTION_TELEGRAPH || rf_problem_prior(s->problem, i, &centre, &variance) < 0)
            variance = s->prior_sd[i] * s->prior_sd[i];
        s->exact_sd[i] = rf64_sqrt(variance);
    }
    rf_session_set_widths(s);
    return RF_OK;
}

/* ---- A belief as health uses it ---- */

static void draw_it(const void *self, uint32_t index, uint32_t purpose, double x[])
{
    const rf_belief *belief = (const rf_belief *)self;
    rf_kind_of(belief)->draw(belief, index, purpose, x);
}

static void draws_it(const void *self, uint32_t count, uint32_t purpose, double x[])
{
    const rf_belief *belief = (const rf_belief *)self;
    const size_t dim = belief->problem->description.dim;
    if (rf_kind_of(belief)->draws)
        rf_kind_of(belief)->draws(belief, count, purpose, x);
    else
        for (uint32_t k = 0; k < count; k++)
            draw_it(self, k, purpose, x + k * dim);
}

static void moments_it(const void *self, double mean[], double sd[])
{
    const rf_belief *belief = (const rf_belief *)self;
    double covariance[RF_TRIANGLE(RF_ROOM)];
    rf_kind_of(belief)->moments(belief, mean, covariance);
    for (unsigned i = 0; i < belief->problem->description.dim; i++)
        sd[i] = rf64_sqrt(covariance[RF_TRIANGLE(i) + i]);
}

static void stretch_it(void *self, const double factor[])
{
    rf_belief *belief = (rf_belief *)self;
    rf_kind_of(belief)->stretch(belief, factor);
}

/* A switching parameter has weight at both levels already; stretching would only blur them. */
static void leave_it(void *self, const double factor[]) { (void)self, (void)factor; }

static void place_it(void *self, const double mean[], const double sd[])
{
    rf_belief *belief = (rf_belief *)self;
    rf_belief_place(belief, mean, sd);
}

static int is_switching(const rf_session *s)
{
    int any = 0;
    for (unsigned i = 0; i < s->model.dim; i++)
        any |= RF_MOTION_KIND(&s->config->motion[i]) == RF_MOTION_TELEGRAPH;
    return any;
}

static rf64_watched watched(rf_session *s, rf_belief *belief, rf64_model *model)
{
    *model = s->model;
    model->charts = s->problem->charts;
    const rf64_watched w = {.watch = &s->now.watch,
                            .instance = rf_instance_of(s->config),
                            .model = model,
                            .description = &s->config->description,
                            .design = s->design,
                            .anchor_every = s->anchor_every,
                            .anchors = s->now.anchors,
                            .on_lost = s->config->on_lost,
                            .is_still = (uint32_t)rf_motion_all_still(s->config, s->model.dim),
                            .usual_sd = s->usual_sd,
                            .widened_sd = s->widened_sd,
                            .widest_sd = s->widest_sd,
                            .self = belief,
                            .seed = belief->seed,
                            .updates = rf_kind_of(belief)->updates(belief),
                            .draw = draw_it,
                            .draws = draws_it,
                            .moments = moments_it,
                            .stretch = is_switching(s) ? leave_it : stretch_it,
                            .place = place_it};
    return w;
}

/* Health limits the width of a belief, and parameters that stand still stay in their prior's range; the strict algorithm
   has no limit. */
static void clip(rf_session *s, rf_belief *belief)
{
    double variance[RF_ROOM];
    int is_wide = 0;
    if (s->config->strict)
        return;
    rf_belief_variances(belief, variance);
    for (unsigned i = 0; i < s->model.dim; i++)
        is_wide |= !(variance[i] <= s->widest_sd[i] * s->widest_sd[i]);
    if (is_wide) {
        rf64_model model;
        rf64_watched w = watched(s, belief, &model);
        rf64_health_clip(&w);
    }
    rf_belief_confine(belief);
}

/* ---- Time ---- */

static RF_APART rf_status move_on(rf_session *s, rf_belief *belief, double elapsed)
{
    const rf_status status = rf_session_drift(s, belief, elapsed);
    if (status >= 0)
        clip(s, belief);
    return status;
}

/* The time from the previous record to the last of these; its absolute time goes to `time`. A record without a time
   comes one unit after the one before, also if others have times. NaN if a time is not a number or earlier than that of
   the record before. */
static double elapsed_to(const rf_session *s, const rf_record records[], uint32_t count, double *time)
{
    double elapsed = 0;
    *time = s->now.time;
    for (uint32_t k = 0; k < count; k++) {
        double since = s->now.records + k > 0;
        if (!isnan(records[k].time) && !isnan(*time))
            since = records[k].time - *time;
        if (!(since >= 0) || isinf(records[k].time))
            return NAN;
        elapsed += since;
        *time = isnan(records[k].time) ? *time + since : records[k].time;
    }
    return elapsed;
}

rf_status rf_session_pass(rf_session *session, double elapsed)
{
    if (!session)
        return RF_REFUSED_NULL;
    if (!(elapsed >= 0 && elapsed <= RF64_LIMIT))
        return RF_REFUSED_TIME;
    rf_session_unask(session);
    rf_belief_copy(session->ahead, session->belief);
    const rf_status status = move_on(session, session->ahead, elapsed);
    if (status < 0)
        return status;
    rf_belief *belief = session->belief;
    session->belief = session->ahead;
    session->ahead = belief;
    session->now.time += elapsed;
    session->now.held_for += elapsed;
    return status;
}

/* ---- Modes ---- */

/* Is the only parameter mean-reverting? Its questions are designed for all modes together: drift soon merges them. */
static int is_drawn_back(const rf_session *s)
{
    return s->model.dim == 1 && s->config->motion[0].kind == RF_MOTION_REVERTING;
}

/* Records designed for one Gaussian do not split a mixture. Exception: a mean-reverting parameter keeps the modes that
   an anchor leaves, once the belief is about as narrow as its motion allows. */
static int learns_as_one(const rf_session *s, const rf_belief *belief)
{
    double variance[RF_ROOM];
    if (s->now.asked == 0 || !s->design || !s->design->is_blind || s->model.dim != 1)
        return 0;
    if (!is_drawn_back(s))
        return 1;
    rf_belief_variances(belief, variance);
    return rf64_sqrt(variance[0]) > MODES_STEPS * s->config->drift[0];
}

/* ---- Asking ---- */

void rf_session_unask(rf_session *session)
{
    if (session && session->now.asked > 0)
        session->now = session->asked;
}

/* The settings of question k. */
static double *question_of(const rf_session *s, uint32_t k) { return s->question + k * rf_question_size(s); }

/* Makes space for `count` questions; may discard earlier ones. Returns -1 when out of memory. */
static int make_room(rf_session *s, uint32_t count)
{
    if (count <= s->room)
        return 0;
    double *more = (double *)malloc(count * rf_question_size(s) * sizeof *more);
    if (!more)
        return -1;
    free(s->question);
    s->question = more;
    s->room = count;
    return 0;
}

/* Is a time setting at the end of its range? Designs want times as long as the posterior allows. */
static int is_capped(const rf_description *description, const double setting[])
{
    for (unsigned i = 0; i < description->settings; i++) {
        const rf_setting *s = &description->setting[i];
        if (s->role == RF_SETTING_TIME && s->high > s->low && setting[i] >= s->high)
            return 1;
    }
    return 0;
}

/* For each parameter its two heaviest modes, or its mean twice, in natural units. */
static void rivals_of(const rf_belief *belief, const rf64_chart charts[], const double mean[], int are_wanted, double rivals[][2])
{
    for (unsigned i = 0; i < belief->problem->description.dim; i++) {
        double at[2];
        const int has = are_wanted && rf_kind_of(belief)->rivals && rf_kind_of(belief)->rivals(belief, i, at);
        for (unsigned k = 0; k < 2; k++)
            rivals[i][k] = has ? rf64_chart_natural(&charts[i], at[k]) : mean[i];
    }
}

RF_APART rf_status rf_session_ask(rf_session *session, uint32_t count, rf_record questions[])
{
    rf_session *s = session;
    if (!session || !questions)
        return RF_REFUSED_NULL;
    const unsigned dim = s->model.dim;
    if (!s->design || count == 0 || count > RF_ASK_MAX)
        return RF_REFUSED_OPTIONS;
    if (s->now.experiments > 0xffffffffu - 2 * RF_ASK_MAX)
        return RF_REFUSED_USED_UP;
    if (make_room(s, count) < 0)
        return RF_REFUSED_ENGINE;
    rf_session_unask(s);
    s->asked = s->now;
    s->ahead_by = (s->now.records > 0 ? count : count - 1.0) * s->now.interval;
    rf_belief_copy(s->ahead, s->belief);
    const rf_status status = move_on(s, s->ahead, s->ahead_by);
    if (status < 0)
        return status;
    rf64_model model;
    rf64_watched w = watched(s, s->ahead, &model);
    double mean[RF_ROOM], natural[RF_ROOM], sd[RF_ROOM], covariance[RF_TRIANGLE(RF_ROOM)], rivals[RF_ROOM][2];
    rf_kind_of(s->ahead)->moments(s->ahead, mean, covariance);
    for (unsigned i = 0; i < dim; i++) {
        natural[i] = rf64_chart_natural(&s->problem->charts[i], mean[i]);
        sd[i] = rf64_sqrt(covariance[RF_TRIANGLE(i) + i]);
    }
    rivals_of(s->ahead, s->problem->charts, natural, !is_drawn_back(s), rivals);
    for (uint32_t k = 0; k < count; k++) {
        const int is_anchor = k < ANCHORS_MAX ? rf64_health_wants_anchor(&w) : 0;
        const double other_least = is_anchor ? 0 : rf64_health_wants_other(&w, s->now.experiments);
        const rf64_design_input in = {rf_instance_of(s->config),
                                      &model,
                                      &s->config->description,
                                      natural,
                                      mean,
                                      sd,
                                      s->ahead,
                                      draw_it,
                                      s->ahead->seed,
                                      s->now.experiments,
                                      is_anchor,
                                      (const double(*)[2])rivals,
                                      s->now.watch.latest,
                                      other_least};
        rf_record *q = &questions[k];
        memset(q, 0, sizeof *q);
        rf_choose(s->design, &in, q->setting);
        q->outcome = q->time = NAN;
        q->is_anchor = is_anchor != 0;
        rf_copy(question_of(s, k), q->setting, s->model.settings * sizeof *q->setting);
        s->now.anchors |= is_anchor ? 1u << k : 0;
        s->now.is_capped |= is_capped(&s->config->description, q->setting);
        s->now.asked++;
        s->now.experiments++;
    }
    return RF_OK;
}

/* ---- Telling ---- */

/* Packs the records that have an outcome into `numbers`, in the layout of beliefs, and their anchor bits into *anchors.
   Returns their number. */
static uint32_t gather(const rf_session *s, const rf_record records[], uint32_t count, double *numbers, uint32_t *anchors)
{
    const unsigned settings = s->model.settings;
    uint32_t known = 0;
    *anchors = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (isnan(records[k].outcome))
            continue;
        const int is_asked = k < s->now.asked;
        for (unsigned i = 0; i < settings; i++)
            *numbers++ = is_asked && isnan(records[k].setting[i]) ? question_of(s, k)[i] : records[k].setting[i];
        *numbers++ = records[k].outcome;
        if (is_asked && k < ANCHORS_MAX)
            *anchors |= (s->now.anchors >> k & 1) << known;
        known++;
    }
    return known;
}

/* Is a setting of these records outside its range, and not as it was asked for? */
static int is_outside(const rf_session *s, const rf_record records[], uint32_t count)
{
    int any = 0;
    for (uint32_t k = 0; k < count; k++)
        for (unsigned i = 0; i < s->model.settings && !isnan(records[k].outcome); i++)
            any |= rf_setting_is_outside(&s->config->description, i, records[k].setting[i]) &&
                   !(k < s->now.asked && records[k].setting[i] == question_of(s, k)[i]);
    return any;
}

int rf_session_is_used_up(const rf_session *s)
{
    return rf_kind_of(s->belief)->updates(s->belief) >= UPDATES_MAX || s->now.experiments > 0xffffffffu - RF_BATCH_MAX;
}

/* Brings the copy `ahead` to the time of the records. */
static rf_status bring_ahead(rf_session *s, double elapsed)
{
    if (s->now.asked > 0 && elapsed == s->ahead_by)
        return RF_OK;
    rf_belief_copy(s->ahead, s->belief);
    return move_on(s, s->ahead, elapsed);
}

/* Fields that begin_telling does not set are set by tell. */
typedef struct telling {
    rf64_report report;
    double *numbers, few[(RF_ROOM + 1) * 4];
    uint32_t known;
    unsigned todo; /* bits from rf64_health_judge */
    double time, elapsed;
    double mean[RF_ROOM]; /* before the update */
    int is_watched;       /* health tests it */
    rf64_watched watched;
    rf64_model model;
    uint32_t asked, anchors, experiments; /* values from before, for undo: what tell changes in the session, */
    rf64_watch watch;                     /* and its watch, if tested */
} telling;

static void begin_telling(const rf_session *s, telling *t)
{
    const rf64_report none = {.status = RF_OK};
    t->report = none;
    t->numbers = t->few;
    t->known = 0;
    t->todo = 0;
    t->time = t->elapsed = 0;
    t->is_watched = s->config->on_lost != RF_ON_LOST_IGNORE;
    t->asked = s->now.asked;
    t->anchors = s->now.anchors;
    t->experiments = s->now.experiments;
    if (t->is_watched)
        t->watch = s->now.watch;
}

/* Restores the state before tell. */
static void undo_telling(rf_session *s, const telling *t)
{
    s->now.anchors = t->anchors;
    s->now.experiments = t->experiments;
    if (t->is_watched)
        s->now.watch = t->watch;
    s->ahead_by = NAN; /* keeps the questions; `ahead` must be computed again */
}

static const double *moved_to(const rf_belief *belief, double mean[])
{
    rf_kind_of(belief)->moments(belief, mean, NULL);
    return mean;
}

/* Is any outcome impossible, such as a count out of range? */
static int is_impossible(const rf_session *s, const double numbers[], uint32_t count)
{
    int is_one = 0;
    for (uint32_t k = 0; k < count; k++) {
        const double *record = numbers + (size_t)k * (s->model.settings + 1u);
        const double outcome = record[s->model.settings];
        if (rf64_is_finite(outcome) || rf_outcomes_are_counts(s->config->description.outcomes)) /* else it is no evidence */
            is_one |= !rf64_outcome_is_possible(&s->config->description, record, outcome);
    }
    return is_one;
}

rf_status rf_session_check(const rf_session *session, const rf_record *record)
{
    double numbers[RF_ROOM + 1], time;
    uint32_t anchors;
    if (rf_session_is_used_up(session))
        return RF_REFUSED_USED_UP;
    if (!rf64_is_finite(elapsed_to(session, record, 1, &time)))
        return RF_REFUSED_TIME;
    const uint32_t known = gather(session, record, 1, numbers, &anchors);
    return is_impossible(session, numbers, known) ? RF_REFUSED_OUTCOME : rf_belief_check(session->belief, numbers, known);
}

static rf_status tell(rf_session *s, const rf_record records[], uint32_t count, telling *t)
{
    const size_t needed = (size_t)count * (s->model.settings + 1u);
    uint32_t anchors;
    if (count == 0 || count > RF_BATCH_MAX)
        return RF_REFUSED_EVIDENCE;
    if (rf_session_is_used_up(s))
        return RF_REFUSED_USED_UP;
    if (needed > sizeof t->few / sizeof *t->few && !(t->numbers = (double *)malloc(needed * sizeof *t->numbers)))
        return RF_REFUSED_ENGINE;
    t->known = gather(s, records, count, t->numbers, &anchors);
    if (is_impossible(s, t->numbers, t->known))
        return RF_REFUSED_OUTCOME;
#ifndef RF_DEVICE_KIND
    if (s->now.records == 0 && t->known > 0 && !s->is_tried && s->config->model->f64->is_checked < 2) { /* settings that opening did not try */
        char error[8];
        if (rf_config_try(s->config, t->numbers, error, sizeof error) < 0)
            return RF_REFUSED_MODEL;
        s->is_tried = 1;
    }
#endif
    t->elapsed = elapsed_to(s, records, count, &t->time);
    rf_status status = bring_ahead(s, t->elapsed);
    if (status < 0)
        return status;
    s->now.anchors = anchors;
    s->now.experiments += s->now.asked == 0 ? t->known : 0;
    s->now.watch.verdict = 0;
    t->report.kappa = s->now.kappa;
    if (t->known == 0)
        return RF_OK;
    if (t->is_watched) {
        t->watched = watched(s, s->ahead, &t->model);
        t->todo = rf64_health_judge(&t->watched, t->numbers, t->known);
    } else {
        s->now.watch.is_anchored = anchors != 0;
    }
    if (t->todo & RF_HEALTH_BACK) {
        rf_belief_copy(s->ahead, s->held);
        status = move_on(s, s->ahead, s->now.held_for + t->elapsed);
    }
    if (t->todo & RF_HEALTH_SKIP || status < 0)
        return status < 0 ? status : rf_belief_check(s->ahead, t->numbers, t->known);
    s->options.kappa = s->now.kappa;
    s->ahead->as_one = learns_as_one(s, s->ahead);
    if (s->config->learns_drift)
        moved_to(s->ahead, t->mean);
    return rf_kind_of(s->ahead)->update(s->ahead, t->numbers, t->known, &s->options, s->config->engine, &t->report);
}

/* ---- Doubt ---- */

/* A parameter that stands still needs many records to recover from a false alarm that widened it. So a copy of the
   belief without the alarm is kept (the unshaken one). It learns from the same records until they decide which belief
   explains them better. One parameter with a fringe does not need this: it recovers in a few records. One Gaussian of
   several parameters is overconfident where the posterior has another shape; false alarms compensate part of that, so
   it is excluded, too. */

/* Called before health acts on a failed test. */
static void begin_doubt(rf_session *s)
{
    const int is_found_soon = s->model.dim == 1 && s->config->description.fringe > 0;
    const int is_too_sure = s->model.dim > 1 && !rf_kind_of(s->belief)->rivals;
    if (s->now.is_doubted || is_found_soon || is_too_sure || !rf_motion_all_still(s->config, s->model.dim) || s->config->on_lost == RF_ON_LOST_WATCH)
        return;
    rf_belief_copy(s->unshaken, s->belief);
    s->now.is_doubted = 1;
    s->now.doubt = 0;
}

/* Updates the unshaken belief with the same records. */
static void share_doubt(rf_session *s, const telling *t)
{
    rf64_report report = {.status = RF_OK};
    s->options.kappa = t->report.kappa;
    s->unshaken->as_one = s->belief->as_one;
    const rf_status status = rf_kind_of(s->unshaken)
                                 ->update(s->unshaken, t->numbers, t->known, &s->options, s->config->engine, &report);
    s->now.doubt += t->report.log_evidence - report.log_evidence;
    if (status < 0 || !rf64_is_finite(s->now.doubt))
        s->now.is_doubted = 0;
}

/* If the alarm was false and no test fails now, returns to the unshaken belief and its evidence. If the alarm was
   right, drops it. */
static void settle_doubt(rf_session *s, telling *t)
{
    const int is_false = s->now.doubt < DOUBT_FALSE && s->now.watch.verdict <= 0;
    if (is_false) {
        rf_belief_copy(s->belief, s->unshaken);
        s->now.evidence.carry -= s->now.doubt;
        rf64_health_acquit(&t->watched);
    }
    s->now.is_doubted = !is_false && s->now.doubt <= DOUBT_OVER;
}

/* ---- Showing ---- */

/* The estimate of one parameter, in natural units. */
typedef struct shown {
    unsigned parameter; /* of the belief */
    double mean, sd;
    double turns; /* circle: added to coordinates for natural values on the mean's side of the cut */
} shown;

static shown natural_of(const rf_session *s, unsigned parameter, double mean, double sd)
{
    const rf64_chart *chart = &s->problem->charts[parameter];
    shown x = {parameter, mean, sd, 0};
    rf_belief_natural(s->belief, parameter, &x.mean, &x.sd);
    if (chart->kind == RF_PERIODIC) {
        x.turns = rf64_chart_natural(chart, x.mean) - x.mean;
        x.mean = rf64_chart_natural(chart, x.mean);
    }
    return x;
}

/* Parameters that may change places are shown in the order of the means that are shown. */
static void order_of(const rf_session *s, const double mean[], const double covariance[], unsigned order[])
{
    double natural[RF_ROOM];
    for (unsigned i = 0; i < s->model.dim; i++)
        natural[i] = s->model.dim > 1 && s->problem->description.interchangeable > 1
                         ? natural_of(s, i, mean[i], rf64_sqrt(covariance[RF_TRIANGLE(i) + i])).mean
                         : mean[i];
    rf_problem_order(s->problem, natural, order);
}

static double quantile_of(const rf_session *s, const shown *x, double p)
{
    const rf64_chart *chart = &s->problem->charts[x->parameter];
    const double y = rf_kind_of(s->belief)->quantile(s->belief, x->parameter, p);
    return chart->kind == RF_PERIODIC ? y + x->turns : rf_problem_limited(s->problem, x->parameter, rf64_chart_natural(chart, y));
}

double rf_session_quantile(const rf_session *session, unsigned parameter, double p)
{
    double mean[RF_ROOM], covariance[RF_TRIANGLE(RF_ROOM)];
    unsigned order[RF_ROOM];
    if (!session || parameter >= session->model.dim || !(p > 0 && p < 1))
        return NAN;
    rf_kind_of(session->belief)->moments(session->belief, mean, covariance);
    order_of(session, mean, covariance, order);
    const shown x = natural_of(session, order[parameter], mean[order[parameter]], 0);
    return quantile_of(session, &x, p);
}

/* Fills in the step's health. */
static void show_health(const rf_session *s, rf_step *step)
{
    const int is_as_one = s->model.dim == 1 && s->design && s->design->is_blind; /* such losses are soon made up for */
    const double loss_max = rf_kind_of(s->belief)->loss_max[is_as_one];
    step->health = s->now.watch.state;
    step->is_coarse = loss_max > 0 && s->belief->live > loss_max;
}

RF_APART void rf_session_show(const rf_session *session, rf_step *step)
{
    const rf_session *s = session;
    double mean[RF_ROOM], covariance[RF_TRIANGLE(RF_ROOM)];
    unsigned order[RF_ROOM];
    if (!session || !step)
        return;
    step->dim = s->model.dim;
    step->belief = s->belief;
    rf_kind_of(s->belief)->moments(s->belief, mean, covariance);
    order_of(s, mean, covariance, order);
    for (unsigned i = 0; i < step->dim; i++) {
        for (unsigned j = 0; j <= i; j++) {
            const unsigned a = order[i] > order[j] ? order[i] : order[j], b = order[i] + order[j] - a;
            step->chart_covariance[RF_TRIANGLE(i) + j] = covariance[RF_TRIANGLE(a) + b];
        }
        step->chart_mean[i] = mean[order[i]];
        step->chart_sd[i] = rf64_sqrt(step->chart_covariance[RF_TRIANGLE(i) + i]);
        const shown x = natural_of(s, order[i], step->chart_mean[i], step->chart_sd[i]);
        step->mean[i] = x.mean;
        step->sd[i] = x.sd;
        step->low[i] = quantile_of(s, &x, 0.025);
        step->high[i] = quantile_of(s, &x, 0.975);
        step->truth[i] = step->error[i] = step->chart_error[i] = NAN;
    }
    step->step = (long)s->now.records - 1;
    step->time = s->now.time;
    show_health(s, step);
    step->widened = s->now.watch.widened;
    step->restarts = s->now.watch.restarts;
    step->log_evidence = s->now.evidence.log + s->now.evidence.carry;
    step->log_evidence_variance = s->now.evidence.variance + s->now.evidence.variance_carry;
    for (unsigned i = 0; i < step->dim; i++)
        step->drift[i] = rf_learning_drift(s, i);
    const rf_learning *l = &s->now.learning;
    step->drift_spread = s->config->learns_drift ? 0.5 * rf64_sqrt(rf64_max(l->square - l->mean * l->mean, 0)) : 0;
    step->loss = s->now.loss;
}

/* Truths in the chart. For a periodic parameter they are shown on the estimate's side of the cut, as the bounds are. */
void rf_session_show_chart_truth(const rf_session *session, const double truth[], rf_step *step)
{
    unsigned order[RF_ROOM];
    rf_problem_order(session->problem, truth, order);
    for (unsigned i = 0; i < step->dim; i++) {
        const rf64_chart *chart = &session->problem->charts[i];
        const double period = chart->high - chart->low, right = truth[order[i]];
        step->chart_error[i] = step->chart_mean[i] - right;
        step->truth[i] = rf64_chart_natural(chart, right);
        step->error[i] = step->mean[i] - step->truth[i];
        if (chart->kind != RF_PERIODIC || isnan(right))
            continue;
        step->chart_error[i] -= period * rf64_floor(step->chart_error[i] / period + 0.5);
        step->error[i] -= period * rf64_floor(step->error[i] / period + 0.5);
        step->truth[i] = step->mean[i] - step->error[i];
    }
}

void rf_session_show_truth(const rf_session *session, const double truth[], rf_step *step)
{
    double chart[RF_ROOM];
    if (!session || !truth || !step || step->dim != session->model.dim)
        return;
    for (unsigned i = 0; i < session->model.dim; i++)
        chart[i] = isnan(truth[i]) ? NAN : rf64_chart_coordinate(&session->problem->charts[i], truth[i]);
    rf_session_show_chart_truth(session, chart, step);
}

/* The time between records, as the next question expects it. Records of one instant do not change it. */
static void see_interval(rf_session *s, double elapsed, uint32_t count)
{
    const double gaps = s->now.records > 0 ? count : count - 1.0;
    if (!(elapsed > 0 && gaps > 0) || elapsed == gaps * s->now.interval)
        return;
    s->now.interval = elapsed / gaps;
    rf_session_set_widths(s);
}

/* is_brief: as rf_session_tell_briefly. */
static rf_status tell_and_show(rf_session *s, const rf_record records[], uint32_t count, int is_brief, rf_step *step)
{
    if (!s || !records)
        return RF_REFUSED_NULL;
    const rf_health health = s->now.watch.state;
    const uint32_t restarts = s->now.watch.restarts;
    telling t;
    begin_telling(s, &t);
    const rf_status status = tell(s, records, count, &t);
    if (status >= 0) {
        rf_belief *belief = s->belief;
        s->belief = s->ahead;
        s->ahead = belief;
        see_interval(s, t.elapsed, count);
        s->now.records += count;
        s->now.time = t.time;
        s->now.held_for += t.elapsed;
        if (t.todo & RF_HEALTH_HOLD) {
            rf_belief_copy(s->held, belief);
            s->now.held_for = t.elapsed;
        }
        if (t.known > 0 && !(t.todo & RF_HEALTH_SKIP)) {
            double after[RF_ROOM];
            rf64_evidence_add(&s->now.evidence, &t.report);
            s->now.loss += t.report.loss;
            if (s->config->kappa == 0)
                s->now.kappa = t.report.kappa_next;
            if (s->config->learns_drift)
                rf_learning_step(s, t.mean, moved_to(s->belief, after), t.known, t.report.log_evidence);
            if (s->now.is_doubted)
                share_doubt(s, &t);
            if (t.is_watched) { /* its `self` is s->belief now */
                if (rf64_health_fails(&t.watched))
                    begin_doubt(s);
                rf64_health_act(&t.watched);
            }
            if (s->now.is_doubted)
                settle_doubt(s, &t);
            clip(s, s->belief);
            if (s->now.watch.restarts != restarts) {
                rf_motion_begin(s, s->belief);
#ifndef RF_DEVICE_KIND
                s->now.is_begun = 0;
                rf_session_set_ranges(s);
#endif
            }
        }
        t.report.status |= s->now.is_capped ? RF_NOTE_CAPPED : 0;
        t.report.status |= is_outside(s, records, count) ? RF_NOTE_RANGE : 0;
        s->now.asked = s->now.anchors = 0;
        s->now.is_capped = 0;
    } else {
        undo_telling(s, &t);
    }
    rf_step own;
    const int has_changed = status >= 0 && s->config->on_health && s->now.watch.state != health;
    if (has_changed && !step)
        step = &own;
    if (status >= 0 && step) {
        const rf_record *last = &records[count - 1];
        if (is_brief && !has_changed)
            show_health(s, step);
        else
            rf_session_show(s, step);
        step->records = t.known;
        step->report = t.report;
        step->is_tested = s->now.watch.verdict;
        for (unsigned i = 0; i < s->model.settings; i++)
            step->setting[i] =
                isnan(last->setting[i]) && count <= t.asked ? question_of(s, count - 1)[i] : last->setting[i];
        step->outcome = last->outcome;
        step->events = 0;
        step->seconds = 0;
        if (has_changed)
            s->config->on_health(s->config->on_health_user, health, step);
    }
    if (t.numbers != t.few)
        free(t.numbers);
    return status;
}

RF_APART rf_status rf_session_tell(rf_session *session, const rf_record records[], uint32_t count, rf_step *step)
{
    return tell_and_show(session, records, count, 0, step);
}

#ifndef RF_DEVICE_KIND
rf_status rf_session_tell_briefly(rf_session *session, const rf_record records[], uint32_t count, rf_step *step)
{
    return tell_and_show(session, records, count, 1, step);
}
#endif

rf_status rf_session_try(rf_session *session, const rf_record records[], uint32_t count)
{
    rf_session *s = session;
    if (!session)
        return RF_REFUSED_NULL;
    const rf64_options options = s->options;
    const rf_engine *engine = s->config->engine;
    telling t;
    if (!records)
        return RF_REFUSED_NULL;
    begin_telling(s, &t);
    s->options.attempts = s->options.batches_max = 1;
    s->config->engine = NULL;
    const rf_status status = tell(s, records, count, &t);
    undo_telling(s, &t);
    s->options = options;
    s->config->engine = engine;
    if (t.numbers != t.few)
        free(t.numbers);
    return status;
}
