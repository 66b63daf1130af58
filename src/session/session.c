/* Sessions: opening, configuration, saving and loading. */
#include "session_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beliefs.h"
#include "bytes.h"
#include "engine.h"
#include "sealed.h"

/* ---- Opening ---- */

#define SHRINK 1.0 /* default shrink of an update; measured in docs/tracking.md */

static uint32_t attempts_of(const rf_description *description) { return 128u * description->dim; }

/* An empty unit is none. */
static void clear_if_empty(const char **unit) { *unit = *unit && **unit ? *unit : NULL; }

rf_config rf_config_default(const rf_model *model)
{
    const rf_config none = {.model = NULL};
    if (!model || !model->f64 || model->f64->layout != RF64_LAYOUT || !model->f64->description)
        return none;
    rf_config config = {.model = model,
                        .description = *model->f64->description,
                        .design = "auto",
                        .seed = 1,
                        .attempts = attempts_of(model->f64->description),
                        .sampler = RF_WEIGHT,
                        .kappa = 1,
                        .recovery = 0.1,
                        .shrink = SHRINK,
                        .anchor_every = -1};
    for (unsigned i = 0; i < config.description.dim; i++) {
        const rf_parameter *p = &config.description.parameter[i];
        const rf_prior prior = {0, p->low, p->high};
        config.prior[i] = prior;
        config.drift[i] = p->drift;
        config.motion[i] = config.description.motion[i];
        clear_if_empty(&config.description.unit[i]);
    }
    for (unsigned i = 0; i < config.description.settings; i++)
        clear_if_empty(&config.description.setting_unit[i]);
    clear_if_empty(&config.description.time_unit);
    return config;
}

/* The ranges that parameters do not leave. */
static void set_ranges(rf_problem *problem, const rf_config *config)
{
    for (unsigned i = 0; i < config->description.dim; i++) {
        const rf_prior *prior = &config->prior[i];
        const rf64_chart *chart = &problem->charts[i];
        const int has_range = !prior->is_gaussian && prior->first < prior->second && chart->kind != RF_PERIODIC && rf_motion_is_still(config, i);
        problem->low[i] = has_range ? rf64_chart_coordinate(chart, prior->first) : 0;
        problem->high[i] = has_range ? rf64_chart_coordinate(chart, prior->second) : 0;
    }
}

void rf_session_set_ranges(rf_session *s)
{
    set_ranges(s->problem, s->config);
    for (unsigned i = 0; i < s->model.dim && s->now.is_begun; i++)
        s->problem->low[i] = s->problem->high[i] = 0;
}

void rf_session_settle(rf_problem *problem, const rf_config *config)
{
    problem->model = config->model;
    problem->description = config->description;
    memcpy(problem->prior, config->prior, sizeof problem->prior);
    rf_problem_settle(problem);
    set_ranges(problem, config);
}

/* Null if there is none; with a message if its name is unknown. */
static const rf64_design *find_design(const rf_config *config, char *error, size_t size)
{
    const rf64_design *design =
        config->design ? rf64_design_find(config->design, &config->description, config->model->f64->design) : NULL;
    if (config->design && !design)
        rf_fail(error, size, "there is no design '%.40s' for model %s", config->design, config->description.name);
    return design;
}

/* Without a setting to choose, no experiment is more certain than another, and any record would be an anchor. One parameter
   has no aliases without a fringe and without a time that grows as the belief narrows: surprise and moves test it as well,
   and anchors would only cost. */
static int are_anchors_worth_it(const rf_description *description, int has_own_design)
{
    int any = 0, has_aliases = has_own_design || description->fringe > 0 || description->dim > 1;
    for (unsigned i = 0; i < description->settings; i++) {
        any |= description->setting[i].role != RF_SETTING_FIXED;
        has_aliases |= description->setting[i].role == RF_SETTING_TIME;
    }
    return any && has_aliases;
}

/* Applies the part of a configuration that may change during a run. */
static int apply(rf_session *s, const rf_config *config, char *error, size_t size)
{
    const rf64_design *design = find_design(config, error, size);
    if (config->design && !design)
        return -1;
    if (design != s->design || config->anchor_every != s->config->anchor_every || !s->is_open) {
        const int has_few = rf_outcomes_fixed(config->description.outcomes) > 0;
        const int is_wanted = design && has_few && are_anchors_worth_it(&config->description, design == config->model->f64->design);
        const uint32_t wanted = is_wanted ? design->anchor_every : 0;
        s->anchor_every = config->anchor_every >= 0 ? (uint32_t)config->anchor_every : wanted;
        s->now.watch.next_anchor = s->anchor_every;
        s->now.watch.again = 0;
    }
    s->design = design;
    s->options.attempts = config->attempts;
    s->options.accepted_min = config->accepted_min > 0 ? config->accepted_min : rf64_options_default().accepted_min;
    s->options.strict = config->strict != 0;
    s->options.sampler = config->sampler;
    s->options.recovery = config->recovery;
    s->options.shrink = config->shrink;
    if (config->kappa > 0 || !s->is_open)
        s->now.kappa = config->kappa > 0 ? config->kappa : 1;
    *s->config = *config;
    s->is_open = 1;
    return 0;
}

/* A session's memory. */
typedef struct owned {
    rf_session session;
    rf_config config;
    rf_problem problem;
} owned;

static rf_session *own(owned *memory)
{
    rf_session *s = &memory->session;
    s->config = &memory->config;
    s->problem = &memory->problem;
    return s;
}

/* Is the drift to be learnt, but no parameter walks? */
static int learns_nothing(const rf_config *config)
{
    int any = 0;
    for (unsigned i = 0; i < config->description.dim; i++)
        any |= config->drift[i] > 0 && config->motion[i].kind == RF_MOTION_WALK;
    return config->learns_drift && !any;
}

int rf_config_try(const rf_config *config, const double setting[], char *error, size_t size)
{
    char name[128];
    snprintf(name, sizeof name, "model %s", config->description.name);
    return rf64_instance_check(config->model->f64, &config->description, setting, name, error, size);
}

rf_session *rf_session_open(const rf_config *config, char *error, size_t size)
{
    if (rf_config_refuse(config, error, size) < 0)
        return NULL;
    if (learns_nothing(config)) {
        rf_fail(error, size, "drift: nothing to learn, since no parameter of %s walks; give the drift to begin with, too", config->description.name);
        return NULL;
    }
    if (!config->model->f64->is_checked && rf_config_try(config, NULL, error, size) < 0)
        return NULL;
    owned *memory = calloc(1, sizeof *memory);
    if (!memory) {
        rf_fail(error, size, "out of memory");
        return NULL;
    }
    rf_session *s = own(memory);
    const uint64_t seed = rf_session_seed(config->seed, config->trial);
    s->options = rf64_options_default();
    rf_session_settle(s->problem, config);
    s->model = rf64_problem_model(s->problem);
    s->model.charts = NULL; /* set where it is used, since a session holds no pointer into itself */
    const rf_belief_setup setup = {s->problem, seed, config->is_float, NULL};
    if (apply(s, config, error, size) == 0)
        s->belief = config->own
                        ? rf_belief_open_kind(config->own, &setup, error, size)
                        : rf_belief_open(rf_config_belief(config), s->problem, seed, config->is_float, error, size);
    if (s->belief && (!(s->ahead = malloc(s->belief->bytes)) || !(s->held = malloc(s->belief->bytes)) ||
                      !(s->unshaken = malloc(s->belief->bytes))))
        rf_fail(error, size, "out of memory");
    if (!s->unshaken) {
        rf_session_close(s);
        return NULL;
    }
    if (rf_session_start(s) < 0) {
        rf_fail(error, size, "belief '%s' cannot follow parameters that move like this; 'mixture' can",
                s->belief->kind->name);
        rf_session_close(s);
        return NULL;
    }
    return s;
}

void rf_session_close(rf_session *session)
{
    if (!session)
        return;
    rf_belief_close(session->belief);
    rf_belief_close(session->ahead);
    rf_belief_close(session->held);
    rf_belief_close(session->unshaken);
    free(session->question);
    free(session);
}

rf_session *rf_session_copy(const rf_session *session)
{
    owned *memory = session ? malloc(sizeof *memory) : NULL;
    if (!memory)
        return NULL;
    memory->session = *session;
    memory->config = *session->config;
    memory->problem = *session->problem;
    rf_session *s = own(memory);
    s->belief = malloc(session->belief->bytes);
    s->ahead = malloc(session->belief->bytes);
    s->held = malloc(session->belief->bytes);
    s->unshaken = malloc(session->belief->bytes);
    s->question = session->question ? malloc(session->room * rf_question_size(session) * sizeof *s->question) : NULL;
    if (!s->belief || !s->ahead || !s->held || !s->unshaken || (session->question && !s->question)) {
        rf_session_close(s);
        return NULL;
    }
    memcpy(s->belief, session->belief, session->belief->bytes);
    memcpy(s->ahead, session->ahead, session->belief->bytes);
    memcpy(s->held, session->held, session->belief->bytes);
    memcpy(s->unshaken, session->unshaken, session->belief->bytes);
    if (s->question)
        memcpy(s->question, session->question, session->room * rf_question_size(session) * sizeof *s->question);
    rf_belief_move(s->belief, s->problem);
    rf_belief_move(s->ahead, s->problem);
    rf_belief_move(s->held, s->problem);
    rf_belief_move(s->unshaken, s->problem);
    return s;
}

rf_status rf_session_change(rf_session *session, const rf_config *config)
{
    char error[8];
    if (!session || !config)
        return RF_REFUSED_NULL;
    rf_config changed = *session->config;
    memcpy(changed.drift, config->drift, sizeof changed.drift);
    changed.design = config->design;
    changed.attempts = config->attempts;
    changed.accepted_min = config->accepted_min;
    changed.kappa = config->kappa;
    changed.on_lost = config->on_lost;
    changed.anchor_every = config->anchor_every;
    if (rf_config_refuse(&changed, error, sizeof error) < 0)
        return RF_REFUSED_OPTIONS;
    rf_session_unask(session);
    session->now.is_doubted = 0;
    if (apply(session, &changed, error, sizeof error) < 0)
        return RF_REFUSED_OPTIONS;
    rf_session_set_ranges(session);
    rf_session_set_widths(session);
    return RF_OK;
}

/* Resets what was observed about the belief, which is new. */
static void begin_anew(rf_session *s)
{
    double mean[RF_DESCRIBED_MAX];
    s->belief->kind->moments(s->belief, mean, NULL);
    rf64_health_begin(&s->now.watch, mean, s->model.dim, s->anchor_every);
    rf_belief_copy(s->held, s->belief);
    s->now.held_for = 0;
    s->now.is_doubted = 0;
}

rf_status rf_session_restart(rf_session *session)
{
    if (!session)
        return RF_REFUSED_NULL;
    if (rf_session_is_used_up(session))
        return RF_REFUSED_USED_UP;
    rf_session_unask(session);
    session->ahead_by = NAN;
    const rf_status status = session->belief->kind->restart(session->belief);
    session->now.is_begun = 0;
    rf_session_set_ranges(session);
    begin_anew(session);
    return status;
}

rf_status rf_session_begin(rf_session *session, const rf_gaussian parts[], uint32_t count)
{
    if (!session || !parts)
        return RF_REFUSED_NULL;
    if (rf_session_is_used_up(session))
        return RF_REFUSED_USED_UP;
    const uint32_t was_begun = session->now.is_begun;
    session->now.is_begun = 1;
    rf_session_set_ranges(session);
    rf_belief_copy(session->ahead, session->belief);
    const rf_status status = rf_belief_become(session->ahead, parts, count);
    session->ahead_by = NAN;
    if (status < 0) {
        session->now.is_begun = was_begun;
        rf_session_set_ranges(session);
        return status;
    }
    rf_session_unask(session);
    session->now.is_begun = 1;
    rf_belief *belief = session->belief;
    session->belief = session->ahead;
    session->ahead = belief;
    begin_anew(session);
    return status;
}

const rf_belief *rf_session_belief(const rf_session *session) { return session ? session->belief : NULL; }
const rf_config *rf_session_config(const rf_session *session) { return session ? session->config : NULL; }

/* ---- Bytes ---- */

#define SAVED "RFSESSN\n"
enum { SAVED_VERSION = 2 }; /* 1 and those without a seal lack is_begun */

/* Writes a belief's size, then its bytes. */
static void save_belief(rf_writer *w, const rf_belief *belief)
{
    const size_t size = belief->kind->save(belief, NULL);
    rf_write_u64(w, size);
    belief->kind->save(belief, w->to ? w->to + w->size : NULL);
    w->size += size;
}

size_t rf_session_save(const rf_session *session, unsigned char *bytes)
{
    const rf_session *s = session;
    if (!session)
        return 0;
    const rf_moving *now = s->now.asked > 0 ? &s->asked : &s->now;
    const rf64_watch *h = &now->watch;
    rf_writer w = {bytes, RF_SEAL};
    const uint64_t counts[] = {now->records, now->experiments, (uint64_t)h->state, h->next_anchor,        h->again,
                               h->boost,     h->widened,       h->restarts,        now->learning.pending, h->anchors,
                               now->is_doubted, now->is_begun};
    const double numbers[] = {now->time,
                              now->interval,
                              now->kappa,
                              h->surprise,
                              h->variance,
                              now->evidence.log,
                              now->evidence.carry,
                              now->evidence.variance,
                              now->evidence.variance_carry,
                              now->loss,
                              s->belief->live,
                              s->held->live,
                              h->score,
                              h->run,
                              h->latest,
                              now->held_for,
                              h->chance,
                              now->learning.mean,
                              now->learning.square,
                              now->doubt,
                              now->is_doubted ? s->unshaken->live : 0};
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        rf_write_u64(&w, counts[i]);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        rf_write_real(&w, numbers[i]);
    for (unsigned i = 0; i < s->model.dim; i++)
        rf_write_real(&w, h->home[i]);
    for (unsigned i = 0; i < s->model.dim; i++) {
        rf_write_real(&w, h->up[i]);
        rf_write_real(&w, h->down[i]);
        rf_write_real(&w, h->told[i]);
    }
    for (unsigned i = 0; i < s->model.dim; i++) {
        rf_write_real(&w, now->learning.factor[i]);
        rf_write_real(&w, now->learning.trend[i]);
    }
    save_belief(&w, s->held);
    if (now->is_doubted)
        save_belief(&w, s->unshaken);
    save_belief(&w, s->belief);
    if (bytes)
        rf_seal(bytes, w.size, SAVED, SAVED_VERSION);
    return w.size;
}

/* Loads a belief of the same kind as `like`. Returns NULL if the bytes are invalid or when out of memory. */
static rf_belief *load_belief(rf_reader *r, const rf_belief *like, double live)
{
    const size_t size = (size_t)rf_read_u64(r);
    rf_belief *belief = r->failed || size > r->size - r->at || !(live >= 0) ? NULL : malloc(like->bytes);
    if (!belief)
        return NULL;
    memcpy(belief, like, like->bytes);
    rf_belief_move(belief, like->problem);
    if (belief->kind->load(belief, r->from + r->at, size) < 0) {
        rf_belief_close(belief);
        return NULL;
    }
    r->at += size;
    belief->live = live;
    return belief;
}

static void replace_belief(rf_belief **old, rf_belief *by)
{
    if (!by)
        return;
    rf_belief_close(*old);
    *old = by;
}

int rf_session_load(rf_session *session, const unsigned char *bytes, size_t size)
{
    rf_session *s = session;
    if (!session || !bytes)
        return -1;
    const uint32_t version = rf_sealed_version(bytes, size, SAVED); /* 0: the contents alone */
    rf_reader r = {bytes, size, version > 0 ? RF_SEAL : 0, 0};
    rf_moving now = {.records = 0};
    rf64_watch *h = &now.watch;
    double live, held_live, unshaken_live;
    int is_learnt = 1;
    if (version > 0 && rf_sealed_check(bytes, size, SAVED, version == 1 ? 1 : SAVED_VERSION, NULL, 0) < 0)
        return -1;
    now.records = rf_read_u64(&r);
    now.experiments = rf_read_u32(&r);
    const uint64_t state = rf_read_u64(&r);
    h->state = (rf_health)state;
    uint32_t *const counts[] = {&h->next_anchor,       &h->again,  &h->boost, &h->widened, &h->restarts,
                                &now.learning.pending, &h->anchors, &now.is_doubted};
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = rf_read_u32(&r);
    now.is_begun = version > 1 ? rf_read_u32(&r) : 0;
    double *const numbers[] = {&now.time,
                               &now.interval,
                               &now.kappa,
                               &h->surprise,
                               &h->variance,
                               &now.evidence.log,
                               &now.evidence.carry,
                               &now.evidence.variance,
                               &now.evidence.variance_carry,
                               &now.loss,
                               &live,
                               &held_live,
                               &h->score,
                               &h->run,
                               &h->latest,
                               &now.held_for,
                               &h->chance,
                               &now.learning.mean,
                               &now.learning.square,
                               &now.doubt,
                               &unshaken_live};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = rf_read_real(&r);
    for (unsigned i = 0; i < s->model.dim; i++)
        h->home[i] = rf_read_real(&r);
    for (unsigned i = 0; i < s->model.dim; i++) {
        h->up[i] = rf_read_real(&r);
        h->down[i] = rf_read_real(&r);
        h->told[i] = rf_read_real(&r);
        is_learnt &= h->up[i] >= 0 && h->down[i] >= 0 && rf64_is_finite(h->told[i]);
    }
    for (unsigned i = 0; i < s->model.dim; i++) {
        now.learning.factor[i] = rf_read_real(&r);
        now.learning.trend[i] = rf_read_real(&r);
        is_learnt &= rf64_abs(now.learning.factor[i]) <= 6 && rf64_is_finite(now.learning.trend[i]);
    }
    if (r.failed || !is_learnt || state > RF_FAULT || now.is_doubted > 1 || now.is_begun > 1 || !rf64_is_finite(now.doubt) ||
        h->anchors > INT32_MAX || !(now.held_for >= 0) || !(now.interval > 0) || !rf64_is_finite(now.interval) || !(h->score >= 0) || !(h->chance >= 0) || !(now.kappa > 0) ||
        !(now.loss >= 0) || (s->anchor_every > 0 && h->next_anchor - 1 >= s->anchor_every))
        return -1;
    rf_belief *held = load_belief(&r, s->held, held_live);
    rf_belief *unshaken = held && now.is_doubted ? load_belief(&r, s->unshaken, unshaken_live) : NULL;
    rf_belief *belief = held && (unshaken || !now.is_doubted) ? load_belief(&r, s->belief, live) : NULL;
    if (!belief || r.at != r.size) {
        rf_belief_close(held);
        rf_belief_close(unshaken);
        rf_belief_close(belief);
        return -1;
    }
    replace_belief(&s->held, held);
    replace_belief(&s->unshaken, unshaken);
    replace_belief(&s->belief, belief);
    rf_belief_copy(s->ahead, s->belief);
    s->ahead_by = NAN;
    s->now = now;
    rf_session_set_ranges(s);
    rf_session_set_widths(s);
    return 0;
}

const char *rf_health_name(rf_health health)
{
    static const char *const names[] = {"tracking", "suspicious", "recovering", "lost", "fault"};
    return names[(unsigned)health < sizeof names / sizeof *names ? (unsigned)health : RF_FAULT];
}
