/* The playground's filter: a world that drifts, the tracker that follows it, and what the latest update did, for a page
   to draw. It makes the run that `rejfilt track --simulate --precision float` makes with the same seed, bit for bit.
   Freestanding; compiled to wasm for the page and natively for the tests. */
#include "playground.h"

#include <string.h>

#include "attempts.h"
#include "gaussian/gaussian.h"
#include "session_state.h"

enum { SETTINGS = 2 };

static rf_session *session;
static RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(1)]; /* the filter's, copied after each step */
static double truth, kick;
static playground_view view;
static playground_draw draws[PLAYGROUND_DRAWS];
static float curve[PLAYGROUND_CURVE];

static const char *const designs[] = {"quadrature", "pgh", "pgh-distance", "risk"};

playground_view *track_view(void) { return &view; }
unsigned char *track_filter(void) { return memory; }
uint32_t track_filter_bytes(void) { return sizeof memory; }

static const rf32_filter *filter(void) { return rf32_gaussian_filter(rf_session_belief(session)); }

static void show_belief(void)
{
    view.mean = rf32_filter_mean(filter())[0];
    view.sd = rf32_filter_sd(filter(), 0);
    memcpy(memory, filter(), sizeof memory);
}

int32_t track_open(uint32_t seed)
{
    rf_config config = rf_config_default(&playground_model);
    const rf_prior *prior = &config.prior[0];
    config.seed = seed;
    config.design = designs[0];
    config.is_float = 1;
    config.attempts = 100;
    config.sampler = RF_REJECT;
    config.engine = &playground_engine;
    rf_session_close(session);
    session = rf_session_open(&config, 0, 0);
    if (!session)
        return RF_REFUSED_ENGINE;
    truth = prior->first + (prior->second - prior->first) * rf64_uniform(rf_draw(filter()->seed, 0, 0, 1, RF_FOR_TRUTH).word[2]);
    kick = 0;
    view = (playground_view){.truth = (float)truth, .kappa = 1};
    show_belief();
    view.prior_mean = view.mean;
    view.prior_sd = view.sd;
    return RF_OK;
}

int32_t track_set(uint32_t attempts, uint32_t design, float kappa, float drift)
{
    if (attempts == 0 || attempts > PLAYGROUND_ATTEMPTS || design >= sizeof designs / sizeof *designs ||
        !(kappa >= 0 && kappa <= 1) || !(drift >= 0 && drift <= 1))
        return RF_REFUSED_OPTIONS;
    rf_config config = *rf_session_config(session);
    config.design = designs[design];
    config.attempts = attempts;
    config.kappa = kappa;
    config.drift[0] = drift;
    return rf_session_change(session, &config);
}

void track_kick(float size) { kick += size; }

/* The truth's step before measurement `shot`. */
static void walk(uint32_t shot)
{
    rf_words w = rf_draw(filter()->seed, shot, 0, 0, RF_FOR_TRUTH);
    double z, other;
    rf64_normal_pair(w.word[0], w.word[1], &z, &other);
    truth += rf_session_config(session)->drift[0] * z;
    truth += kick;
    kick = 0;
}

int32_t track_step(void)
{
    const uint32_t shot = rf32_filter_updates(filter());
    rf_record record;
    rf_step step;
    rf_status status = rf_session_ask(session, 1, &record);
    if (status < 0)
        return status;
    if (shot > 0)
        walk(shot);
    record.outcome = rf64_instance_outcome(playground_model.f64, &truth, record.setting, filter()->seed, shot);
    const rf32_filter *asked = rf32_gaussian_filter(rf_session_ahead(session));
    view.prior_mean = rf32_filter_mean(asked)[0];
    view.prior_sd = rf32_filter_sd(asked, 0);
    status = rf_session_tell(session, &record, 1, &step);
    if (status < 0)
        return status;
    view.step = shot;
    view.truth = (float)truth;
    show_belief();
    view.is_anchor = (uint32_t)record.is_anchor;
    view.time = (float)record.setting[0];
    view.reference = (float)record.setting[1];
    view.outcome = (float)record.outcome;
    view.attempts = step.report.attempts;
    view.accepted = step.report.accepted;
    view.kappa = (float)step.report.kappa;
    view.delta = (float)step.report.delta;
    view.health = (uint32_t)step.health;
    view.widened = step.widened;
    view.log_evidence = (float)step.log_evidence;
    view.log_evidence_sd = (float)rf64_sqrt(step.log_evidence_variance);
    return status;
}

/* Attempts are a pure function of their number: what the latest update drew is drawn again, as attempts.h of the core says. */
playground_draw *track_draws(uint32_t first, uint32_t count)
{
    const float setting[SETTINGS] = {view.time, view.reference}, scale = 1 / view.kappa;
    for (uint32_t i = 0; i < count && i < PLAYGROUND_DRAWS; i++) {
        const uint32_t attempt = first + i, is_odd = attempt % 2;
        const rf_words w = rf_draw(filter()->seed, view.step, attempt / 2, 0, RF_FOR_ATTEMPTS);
        float z[2];
        rf32_normal_pair(w.word[0], w.word[1], &z[0], &z[1]);
        const float on_grid = (z[is_odd] + 1536.0f) - 1536.0f, x = view.prior_mean + view.prior_sd * on_grid;
        const float u = rf32_uniform(w.word[2 + is_odd]), likely = playground_model.f32->likelihood(&x, setting, view.outcome) * scale;
        draws[i] = (playground_draw){x, u * view.kappa, u <= likely};
    }
    return draws;
}

float *track_likelihood(float low, float high)
{
    const float setting[SETTINGS] = {view.time, view.reference};
    for (unsigned i = 0; i < PLAYGROUND_CURVE; i++) {
        const float x = low + (high - low) * (float)i / (PLAYGROUND_CURVE - 1);
        curve[i] = playground_model.f32->likelihood(&x, setting, view.outcome);
    }
    return curve;
}
