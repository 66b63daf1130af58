/* The playground's filter: a drifting world, the filter that tracks it, a few Gaussians for comparison, and data of
   the latest update for a page to draw. Designs and health tests are the library's, compiled for float.
   Freestanding; compiled to wasm for the page and natively for the tests. */
#include "playground.h"

#include <string.h>

#include "attempts.h"
#include "health.h"

enum { SETTINGS = 2 };
#define TIME_MOST 15.0f /* limit of random times: a few modes, which eight Gaussians can follow */

static RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(1)];
static RF_ALIGNED unsigned char held[RF32_FILTER_BYTES(1)]; /* the filter before the outcomes became all equal, */
static rf32_filter *filter;
static rf32_gaussians parts, held_parts; /* the few Gaussians, handled like the filter; nothing depends on them */

/* The state that a session keeps beside its belief. The library's session works in double and is too large here. */
static struct {
    rf32_chart chart;
    rf32_model model;
    rf32_options options;
    const rf32_design *design;
    rf32_watch watch;
    rf32_evidence evidence;
    uint32_t experiments, anchors, held_for; /* held_for: updates since `held` was saved */
    float drift, prior_mean, prior_sd, widest_sd;
    int adapts_kappa;
} tracker;

static float truth, kick, unrest;
static uint32_t update;  /* number of the latest update */
static uint32_t failing; /* measurements for which the detector still fails */
static playground_view view;
static playground_draw draws[PLAYGROUND_DRAWS];
static float curve[PLAYGROUND_CURVE];

static const char *const designs[] = {"quadrature", "pgh", "pgh-distance", "risk"};
enum { AT_RANDOM = sizeof designs / sizeof *designs }; /* index of the random design, after these */

playground_view *track_view(void) { return &view; }
rf32_gaussians *track_parts(void) { return &parts; }
unsigned char *track_filter(void) { return memory; }
uint32_t track_filter_bytes(void) { return sizeof memory; }

static void show_belief(float mean[1], float sd[1])
{
    *mean = rf32_filter_mean(filter)[0];
    *sd = rf32_filter_sd(filter, 0);
}

/* ---- From one experiment to the next ---- */

static const rf32_instance *const instance = &rf32_model_precession;

static void draw(const void *self, uint32_t index, uint32_t purpose, float x[]) { rf32_filter_draw(self, &tracker.model, index, purpose, x); }

static void draw_many(const void *self, uint32_t count, uint32_t purpose, float x[])
{
    for (uint32_t k = 0; k < count; k++)
        draw(self, k, purpose, x + k);
}

static void moments(const void *self, float mean[], float sd[])
{
    mean[0] = rf32_filter_mean(self)[0];
    sd[0] = rf32_filter_sd(self, 0);
}

static void stretch(void *self, const float factor[])
{
    rf32_stretch(self, factor);
    rf32_gaussians_stretch(&parts, factor[0]);
}

static void place(void *self, const float mean[], const float sd[])
{
    const float variance = sd[0] * sd[0];
    rf32_prior_covariance(self, mean, &variance);
    rf32_gaussians_init(&parts, mean[0], sd[0]);
}

static rf32_watched watched(void)
{
    const rf32_watched w = {&tracker.watch, instance, &tracker.model, instance->description, tracker.design, tracker.design->anchor_every, tracker.anchors,
                            RF_ON_LOST_RESTART, tracker.drift == 0, &tracker.prior_sd, tracker.drift == 0 ? &tracker.prior_sd : &tracker.widest_sd, &tracker.widest_sd, filter, filter->seed, rf32_filter_updates(filter), draw, draw_many, moments, stretch, place};
    return w;
}

static void ask(float setting[])
{
    const float mean = rf32_filter_mean(filter)[0], sd = rf32_filter_sd(filter, 0);
    rf32_watched w = watched();
    tracker.anchors = (uint32_t)rf32_health_wants_anchor(&w);
    const rf32_design_input in = {instance, &tracker.model, instance->description, &mean, &mean, &sd, filter, draw, filter->seed, tracker.experiments++, (int)tracker.anchors, NULL, 0, 0};
    tracker.design->choose(&in, setting);
}

static void diffuse(float elapsed)
{
    rf32_watched w = watched();
    rf32_diffuse(filter, tracker.drift * tracker.drift, elapsed);
    rf32_gaussians_diffuse(&parts, tracker.drift * tracker.drift * elapsed);
    rf32_health_clip(&w);
}

static rf_status tell(const float record[], rf32_report *report)
{
    rf32_watched w = watched();
    const unsigned todo = rf32_health_judge(&w, record, 1);
    tracker.held_for++;
    if (todo & RF_HEALTH_HOLD) {
        memcpy(held, memory, sizeof held);
        held_parts = parts;
        tracker.held_for = 0;
    }
    if (todo & RF_HEALTH_BACK) {
        const rf32_filter now = *filter; /* keep the sequence of random numbers */
        memcpy(memory, held, sizeof held);
        filter->tally = now.tally;
        parts = held_parts;
        diffuse((float)tracker.held_for);
    }
    if (todo & RF_HEALTH_SKIP)
        return RF_OK;
    const rf_status status = rf32_update(filter, &tracker.model, record, 1, &tracker.options, &attempts_engine, report);
    if (status < 0)
        return status;
    rf32_gaussians_update(&parts, instance->likelihood, record, record[SETTINGS]);
    rf32_evidence_add(&tracker.evidence, report);
    if (tracker.adapts_kappa)
        tracker.options.kappa = report->kappa_next;
    rf32_health_act(&w);
    rf32_health_clip(&w);
    return status;
}

/* Settings chosen at random, independent of the belief. */
static void choose_at_random(const rf32_design_input *in, float setting[])
{
    setting[0] = TIME_MOST * rf32_design_uniform(in, 0);
    setting[1] = 0;
}

static const rf32_design at_random = {.name = "random", .choose = choose_at_random};

static void choose_design(uint32_t number)
{
    const rf32_design *chosen = number == AT_RANDOM ? &at_random : rf32_design_find(designs[number], instance->description, 0);
    if (chosen != tracker.design)
        tracker.watch.next_anchor = chosen->anchor_every;
    tracker.design = chosen;
}

/* ---- Functions called by the page ---- */

int32_t track_open(uint32_t seed)
{
    const rf_parameter *description = &instance->description->parameter[0];
    const float low = (float)description->low, high = (float)description->high;
    rf_words w = rf_draw(seed, 0, 0, 0, RF_FOR_USER); /* the same as the first trial of that seed */
    memset(&tracker, 0, sizeof tracker);
    tracker.model = rf32_instance_model(instance, &tracker.chart);
    tracker.options = rf32_options_default();
    tracker.drift = (float)description->drift;
    rf_status status = rf32_filter_init(&filter, memory, sizeof memory, 1, (uint64_t)w.word[1] << 32 | w.word[0]);
    if (status >= 0)
        status = rf32_prior_box(filter, &tracker.model, &low, &high);
    if (status < 0)
        return status;
    show_belief(&tracker.prior_mean, &tracker.prior_sd);
    tracker.widest_sd = (float)RF_HEALTH_CAP * tracker.prior_sd;
    rf32_health_begin(&tracker.watch, &tracker.prior_mean, 1, 0);
    rf32_gaussians_init(&parts, tracker.prior_mean, tracker.prior_sd);
    choose_design(0);
    truth = (float)(description->low + (description->high - description->low) * rf64_uniform(rf_draw(filter->seed, 0, 0, 1, RF_FOR_TRUTH).word[2]));
    kick = 0;
    unrest = 1;
    failing = 0;
    view = (playground_view){.truth = truth, .kappa = 1};
    show_belief(&view.mean, &view.sd);
    view.prior_mean = view.mean;
    view.prior_sd = view.sd;
    return RF_OK;
}

int32_t track_set(uint32_t attempts, uint32_t design, float kappa, float drift)
{
    if (attempts == 0 || attempts > PLAYGROUND_ATTEMPTS || design > AT_RANDOM ||
        !(kappa >= 0 && kappa <= 1) || !(drift >= 0 && drift <= 1))
        return RF_REFUSED_OPTIONS;
    choose_design(design);
    tracker.options.attempts = attempts;
    tracker.adapts_kappa = kappa == 0;
    if (kappa > 0)
        tracker.options.kappa = kappa;
    tracker.drift = drift;
    return RF_OK;
}

void track_kick(float size) { kick += size; }
void track_fail(uint32_t count) { failing = count; }
void track_unrest(float factor) { unrest = factor >= 0 && factor <= 10 ? factor : 1; }

/* The truth's step before measurement `shot`. */
static void walk(uint32_t shot)
{
    rf_words w = rf_draw(filter->seed, shot, 0, 0, RF_FOR_TRUTH);
    float z, other;
    rf32_normal_pair(w.word[0], w.word[1], &z, &other);
    truth += unrest * tracker.drift * z;
    truth += kick;
    kick = 0;
}

int32_t track_step(void)
{
    const uint32_t shot = tracker.experiments;
    float record[SETTINGS + 1];
    rf32_report report = {.kappa = view.kappa, .update = update};
    rf_status status = RF_OK;
    if (shot > 0) {
        diffuse(1);
        walk(shot);
    }
    ask(record);
    record[SETTINGS] = failing > 0 ? 0 : rf32_instance_outcome(instance, &truth, record, filter->seed, shot);
    failing -= failing > 0;
    view.is_anchor = tracker.anchors;
    show_belief(&view.prior_mean, &view.prior_sd);
    if (status >= 0)
        status = tell(record, &report);
    if (status < 0)
        return status;
    update = report.update;
    view.step = shot;
    view.truth = truth;
    show_belief(&view.mean, &view.sd);
    view.time = record[0];
    view.reference = record[1];
    view.outcome = record[2];
    view.attempts = report.attempts;
    view.accepted = report.accepted;
    view.kappa = report.kappa;
    view.delta = report.delta;
    view.health = tracker.watch.state == RF_TRACKING && (status & RF_NOTE_COARSE) ? PLAYGROUND_COARSE : (uint32_t)tracker.watch.state;
    view.widened = tracker.watch.widened;
    view.log_evidence = tracker.evidence.log + tracker.evidence.carry;
    view.log_evidence_sd = rf32_sqrt(tracker.evidence.variance);
    return status;
}

/* Attempts are pure functions of their number, so those of the latest update are drawn again, as attempts.h of the
   core does. */
playground_draw *track_draws(uint32_t first, uint32_t count)
{
    const float setting[SETTINGS] = {view.time, view.reference}, scale = 1 / view.kappa;
    for (uint32_t i = 0; i < count && i < PLAYGROUND_DRAWS; i++) {
        const uint32_t attempt = first + i, is_odd = attempt % 2;
        const rf_words w = rf_draw(filter->seed, update, attempt / 2, 0, RF_FOR_ATTEMPTS);
        float z[2];
        rf32_normal_pair(w.word[0], w.word[1], &z[0], &z[1]);
        const float on_grid = (z[is_odd] + 1536.0f) - 1536.0f, x = view.prior_mean + view.prior_sd * on_grid;
        const float u = rf32_uniform(w.word[2 + is_odd]), likely = instance->likelihood(&x, setting, view.outcome) * scale;
        draws[i] = (playground_draw){x, u * view.kappa, u <= likely};
    }
    return draws;
}

float *track_likelihood(float low, float high)
{
    const float setting[SETTINGS] = {view.time, view.reference};
    for (unsigned i = 0; i < PLAYGROUND_CURVE; i++) {
        const float x = low + (high - low) * (float)i / (PLAYGROUND_CURVE - 1);
        curve[i] = instance->likelihood(&x, setting, view.outcome);
    }
    return curve;
}
