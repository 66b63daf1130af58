/* Misuse of the library's interfaces is refused: a status, a message, or nothing done; never a crash, and never accepted in
   silence. Run it under the sanitizers, too (make check KIND=sanitize). */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sealed.h"
#include "few.h"
#include "rejfilt/fleet.h"
#include "rejfilt/passes.h"

/* What the cases share: a session and its like that work. */
typedef struct world {
    rf_config config;
    rf_session *session;
    rf_sessions *sessions;
    rf_record record;
    rf_step step;
    rf64_instance instance;
    rf_model model;
    char error[200];
} world;

static rf_config with(world *w)
{
    w->instance = *rf_model_find("precession")->f64;
    w->model.f64 = &w->instance;
    w->model.f32 = rf_model_find("precession")->f32;
    return w->config;
}

/* Does neither a session, nor many, nor a simulation, nor passes open, each with one line of text? */
static int refuses(world *w, const rf_config *config)
{
    rf_observer *nobody = NULL;
    const rf_simulation simulation = {.config = config ? *config : (rf_config){.model = NULL}, .steps = 3, .batch = 1};
    const double records[] = {1, 0, 1};
    int all = 1;
    w->error[0] = '\0';
    all &= !rf_session_open(config, w->error, sizeof w->error) && w->error[0] && !strchr(w->error, '\n');
    w->error[0] = '\0';
    all &= !rf_sessions_open(config, 2, w->error, sizeof w->error) && w->error[0];
    w->error[0] = '\0';
    all &= !rf_passes_open(config, records, 1, w->error, sizeof w->error) && w->error[0];
    all &= rf_simulation_check(&simulation, w->error, sizeof w->error) < 0 && rf_simulate(&simulation, 0, 1, nobody, NULL) < 0;
    return all && !rf_session_open(config, NULL, 0);
}

/* ---- Configurations ---- */

static const char unterminated[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; /* read no further than a name is long */

#define CONFIGS                                                                       \
    WRONG(zeroed, c = (rf_config){.model = NULL})                                     \
    WRONG(no_model, c.model = NULL)                                                   \
    WRONG(model_without_code, c.model = &nothing)                                     \
    WRONG(no_name, c.description.name = NULL)                                         \
    WRONG(layout_0, (w->instance.layout = 0, c.model = &w->model))                    \
    WRONG(layout_of_another_version, (w->instance.layout ^= 64, c.model = &w->model)) \
    WRONG(no_description, (w->instance.description = NULL, c.model = &w->model))      \
    WRONG(no_likelihood, (w->instance.likelihood = NULL, w->instance.block = NULL, c.model = &w->model)) \
    WRONG(no_float_code, (w->model.f32 = NULL, c.model = &w->model, c.is_float = 1, c.belief = "gaussian")) \
    WRONG(belief_mistyped, c.belief = "mixtrue")                                      \
    WRONG(belief_empty, c.belief = "")                                                \
    WRONG(belief_endless, c.belief = unterminated)                                    \
    WRONG(design_mistyped, c.design = "quadratur")                                    \
    WRONG(design_empty, c.design = "")                                                \
    WRONG(design_endless, c.design = unterminated)                                    \
    WRONG(dim_0, c.description.dim = 0)                                               \
    WRONG(dim_17, c.description.dim = 17)                                             \
    WRONG(dim_huge, c.description.dim = UINT32_MAX)                                   \
    WRONG(settings_17, c.description.settings = 17)                                   \
    WRONG(settings_huge, c.description.settings = UINT32_MAX)                         \
    WRONG(other_outcomes, c.description.outcomes = 3)                                 \
    WRONG(chart_of_no_kind, c.description.parameter[0].chart = (rf_chart_kind)9)      \
    WRONG(chart_empty, (c.description.parameter[0].chart = RF_BOUNDED, c.description.parameter[0].low = c.description.parameter[0].high = 1)) \
    WRONG(parameter_without_name, c.description.parameter[0].name = NULL)             \
    WRONG(setting_of_no_role, c.description.setting[0].role = (rf_setting_role)99)    \
    WRONG(setting_of_no_parameter, c.description.setting[0].parameter = 7)            \
    WRONG(cost_negative, c.description.setting[0].cost = -1)                          \
    WRONG(range_nan, c.description.setting[0].low = NAN)                              \
    WRONG(prior_nan, c.prior[0].first = NAN)                                          \
    WRONG(prior_infinite, c.prior[0].second = INFINITY)                               \
    WRONG(prior_empty, c.prior[0].second = c.prior[0].first)                          \
    WRONG(prior_reversed, (c.prior[0].first = 2, c.prior[0].second = 1))              \
    WRONG(prior_without_width, c.prior[0] = ((rf_prior){1, 1, 0}))                    \
    WRONG(drift_negative, c.drift[0] = -1)                                            \
    WRONG(drift_nan, c.drift[0] = NAN)                                                \
    WRONG(drift_infinite, c.drift[0] = INFINITY)                                      \
    WRONG(motion_of_no_kind, c.motion[0].kind = (rf_motion_kind)5)                    \
    WRONG(motion_without_time, (c.motion[0].kind = RF_MOTION_REVERTING, c.motion[0].time = 0)) \
    WRONG(sampler_of_no_kind, c.sampler = (rf_sampler)3)                              \
    WRONG(sampler_negative, c.sampler = (rf_sampler)-1)                               \
    WRONG(strict_with_weights, c.strict = 1)                                          \
    WRONG(attempts_0, c.attempts = 0)                                                 \
    WRONG(attempts_above, c.attempts = RF_ATTEMPTS_MAX + 1)                           \
    WRONG(kappa_nan, c.kappa = NAN)                                                   \
    WRONG(kappa_negative, c.kappa = -1)                                               \
    WRONG(recovery_negative, c.recovery = -1)                                         \
    WRONG(shrink_infinite, c.shrink = INFINITY)                                       \
    WRONG(on_lost_of_no_kind, c.on_lost = (rf_on_lost)5)                              \
    WRONG(anchors_negative, c.anchor_every = -2)

#define WRONG(name, change)                    \
    static int config_##name(world *w)         \
    {                                          \
        static const rf_model nothing;         \
        rf_config c = with(w);                 \
        (void)nothing;                         \
        change;                                \
        return refuses(w, &c);                 \
    }
CONFIGS
#undef WRONG

static int config_null(world *w) { return refuses(w, NULL); }

/* ---- Calls ---- */

#define STATUS(call, wanted) ((call) == (wanted))

/* Each is true if the call was refused as it should. `w` is the world. */
#define CALLS                                                                                           \
    CALL(config_of_null, rf_config_default(NULL).model == NULL && !rf_config_belief(NULL))              \
    CALL(belief_of_no_number, (w->config.belief = "particles:many", !rf_session_open(&w->config, w->error, sizeof w->error))) \
    CALL(belief_of_0, (w->config.belief = "particles:0", !rf_session_open(&w->config, w->error, sizeof w->error))) \
    CALL(check_null, rf_config_check(NULL, RF_FOR_STEPS, NULL, 0) < 0 && !rf_config_because(NULL))      \
    CALL(set_null, rf_config_set(NULL, "seed", "1", NULL, 0) < 0 && rf_config_set(&w->config, NULL, "1", NULL, 0) < 0 && rf_config_set(&w->config, "seed", NULL, NULL, 0) < 0) \
    CALL(set_unknown, rf_config_set(&w->config, "sed", "1", w->error, sizeof w->error) < 0 && strstr(w->error, "did you mean seed?")) \
    CALL(motion_null, rf_motion_make(NULL, RF_MOTION_REVERTING, NULL, NULL, NULL, NULL) < 0)            \
    CALL(ask_null, STATUS(rf_session_ask(NULL, 1, &w->record), RF_REFUSED_NULL) && STATUS(rf_session_ask(w->session, 1, NULL), RF_REFUSED_NULL)) \
    CALL(ask_0, rf_session_ask(w->session, 0, &w->record) < 0)                                          \
    CALL(ask_too_many, rf_session_ask(w->session, RF_ASK_MAX + 1, &w->record) < 0 && rf_session_ask(w->session, UINT32_MAX, &w->record) < 0) \
    CALL(tell_null, STATUS(rf_session_tell(NULL, &w->record, 1, NULL), RF_REFUSED_NULL) && STATUS(rf_session_tell(w->session, NULL, 1, &w->step), RF_REFUSED_NULL)) \
    CALL(tell_briefly_null, rf_session_tell_briefly(NULL, &w->record, 1, NULL) < 0 && rf_session_tell_briefly(w->session, NULL, 1, NULL) < 0) \
    CALL(try_null, rf_session_try(NULL, &w->record, 1) < 0 && rf_session_try(w->session, NULL, 1) < 0)  \
    CALL(tell_0, rf_session_tell(w->session, &w->record, 0, NULL) < 0)                                  \
    CALL(tell_too_many, rf_session_tell(w->session, &w->record, RF_BATCH_MAX + 1, NULL) < 0 && rf_session_tell(w->session, &w->record, UINT32_MAX, NULL) < 0) \
    CALL(tell_2, (w->record.outcome = 2, STATUS(rf_session_tell(w->session, &w->record, 1, NULL), RF_REFUSED_OUTCOME))) \
    CALL(tell_half, (w->record.outcome = 0.5, STATUS(rf_session_tell(w->session, &w->record, 1, NULL), RF_REFUSED_OUTCOME))) \
    CALL(tell_infinity, (w->record.outcome = INFINITY, rf_session_tell(w->session, &w->record, 1, NULL) < 0)) \
    CALL(tell_an_infinite_setting, (w->record.setting[0] = INFINITY, rf_session_tell(w->session, &w->record, 1, NULL) < 0)) \
    CALL(tell_at_infinity, (w->record.time = INFINITY, rf_session_tell(w->session, &w->record, 1, NULL) < 0)) \
    CALL(pass, rf_session_pass(NULL, 1) < 0 && rf_session_pass(w->session, -1) < 0 && rf_session_pass(w->session, NAN) < 0 && rf_session_pass(w->session, INFINITY) < 0) \
    CALL(restart_null, rf_session_restart(NULL) < 0)                                                    \
    CALL(begin_null, rf_session_begin(NULL, NULL, 1) < 0 && rf_session_begin(w->session, NULL, 1) < 0)  \
    CALL(begin_0, rf_session_begin(w->session, &(rf_gaussian){.weight = 1}, 0) < 0)                     \
    CALL(begin_too_many, rf_session_begin(w->session, &(rf_gaussian){.weight = 1}, RF_GAUSSIANS_TOGETHER + 1) < 0) \
    CALL(begin_flat, rf_session_begin(w->session, &(rf_gaussian){.weight = 1}, 1) < 0)                  \
    CALL(quantile, isnan(rf_session_quantile(NULL, 0, 0.5)) && isnan(rf_session_quantile(w->session, 1, 0.5)) && isnan(rf_session_quantile(w->session, 0, 2)) && isnan(rf_session_quantile(w->session, 0, NAN))) \
    CALL(read_null, !rf_session_belief(NULL) && !rf_session_config(NULL) && !rf_session_copy(NULL))     \
    CALL(show_null, (rf_session_show(NULL, &w->step), rf_session_show(w->session, NULL), rf_session_show_truth(NULL, NULL, NULL), rf_session_unask(NULL), rf_session_close(NULL), 1)) \
    CALL(change_null, rf_session_change(NULL, &w->config) < 0 && rf_session_change(w->session, NULL) < 0) \
    CALL(change_attempts_0, (w->config.attempts = 0, rf_session_change(w->session, &w->config) < 0))    \
    CALL(change_drift_nan, (w->config.drift[0] = NAN, rf_session_change(w->session, &w->config) < 0))   \
    CALL(save_null, rf_session_save(NULL, NULL) == 0)                                                   \
    CALL(load_null, rf_session_load(NULL, NULL, 0) < 0 && rf_session_load(w->session, NULL, 100) < 0)   \
    CALL(load_few, rf_session_load(w->session, (const unsigned char *)"", 1) < 0)                       \
    CALL(batch_null, rf_batch_add(NULL, &w->record, 0) == RF_BATCH_FULL)                                \
    CALL(batch_over, batch_over(w))                                                                     \
    CALL(sessions_0, !rf_sessions_open(&w->config, 0, w->error, sizeof w->error))                       \
    CALL(sessions_past_the_last_trial, (w->config.trial = UINT32_MAX, !rf_sessions_open(&w->config, 2, w->error, sizeof w->error))) \
    CALL(sessions_null, rf_sessions_ask(NULL, NULL, 1, &w->record) < 0 && rf_sessions_tell(NULL, NULL, 1, &w->record, NULL) < 0 && !rf_sessions_at(NULL, 0)) \
    CALL(sessions_ask_nothing, rf_sessions_ask(w->sessions, NULL, 2, NULL) < 0 && rf_sessions_tell(w->sessions, NULL, 2, NULL, NULL) < 0) \
    CALL(sessions_too_many, rf_sessions_ask(w->sessions, NULL, 3, (rf_record[3]){0}) < 0 && !rf_sessions_at(w->sessions, 2)) \
    CALL(simulate_null, rf_simulate(NULL, 0, 1, NULL, NULL) < 0 && rf_simulation_check(NULL, w->error, sizeof w->error) < 0) \
    CALL(simulate, simulate(w))                                                                         \
    CALL(passes_null, rf_passes_run(NULL, NULL, NULL, NULL) < 0 && isnan(rf_passes_quantile(NULL, 0, 0.5)) && rf_passes_check(NULL, w->error, sizeof w->error) < 0) \
    CALL(passes_of_nothing, (w->config.drift[0] = 0, !rf_passes_open(&w->config, NULL, 3, w->error, sizeof w->error) && !rf_passes_open(&w->config, (double[]){1, 1, 1}, 0, w->error, sizeof w->error))) \
    CALL(passes_nan, (w->config.drift[0] = 0, !rf_passes_open(&w->config, (double[]){1, NAN, 1}, 1, w->error, sizeof w->error))) \
    CALL(passes_quantile_before, passes_quantile_before(w))                                             \
    CALL(engine_mistyped, !rf_engine_open("thread", w->error, sizeof w->error) && !rf_engine_open("", w->error, sizeof w->error) && !rf_engine_open(NULL, w->error, sizeof w->error)) \
    CALL(engine_endless, !rf_engine_open(unterminated, w->error, sizeof w->error))                      \
    CALL(engine_threads, !rf_engine_open("threads:0", w->error, 0) && !rf_engine_open("threads:-1", NULL, 0) && !rf_engine_open("threads:99999999999", NULL, 9)) \
    CALL(engine_null, !rf_engine_f32(NULL) && !rf_engine_f64(NULL) && rf_engine_rank(NULL) == 0 && !*rf_engine_complaint(NULL) && *rf_engine_name(NULL)) \
    CALL(engine_reserve, rf_engine_reserve(NULL, 1) < 0)                                                \
    CALL(engine_share, rf_engine_share(NULL, NULL, 1) < 0)                                              \
    CALL(model_null, !rf_model_find(NULL) && !rf_model_find("precesion") && !rf_model_at(UINT32_MAX))   \
    CALL(description_null, rf_description_check(NULL, 0, "x", w->error, sizeof w->error) < 0)           \
    CALL(belief_null, !rf_belief_open(NULL, NULL, 1, 0, w->error, sizeof w->error) && !rf_belief_open("mixture", NULL, 1, 0, w->error, sizeof w->error)) \
    CALL(belief_no_model, !rf_belief_open("mixture", &(rf_problem){.model = NULL}, 1, 0, w->error, sizeof w->error)) \
    CALL(belief_kind_null, !rf_belief_open_kind(NULL, NULL, w->error, sizeof w->error) && !rf_belief_kind_at(99)) \
    CALL(belief_become, rf_belief_become(NULL, NULL, 1) < 0 && rf_belief_gaussians(NULL, NULL) == 0)    \
    CALL(belief_modes, rf_belief_modes(NULL, 0, NULL) == 0 && rf_belief_modes(rf_session_belief(w->session), 5, (rf_mode[RF_MODES_MAX]){{0}}) == 0) \
    CALL(residents_null, !rf64_residents_open(NULL, NULL, NULL, NULL, 1, w->error, sizeof w->error) && !rf64_residents_records(NULL) && rf64_residents_pass(NULL, 1, 1) < 0) \
    CALL(residents_tell_null, rf32_residents_tell(NULL, NULL, 1, NULL, NULL) < 0 && rf32_residents_read(NULL, RF_READ_SD, NULL, 1, NULL) < 0 && rf32_residents_take(NULL, 0, NULL) < 0) \
    CALL(core_init, core_init(w))                                                                       \
    CALL(core_update, core_update(w))                                                                   \
    CALL(status_text, rf_status_text(-9999) && rf_status_text(INT32_MIN) && rf_status_text(INT32_MAX) && rf_health_name((rf_health)77)) \
    CALL(classify_null, classify_null(w))

static int batch_over(world *w)
{
    static rf_batch batch = {.together = 1, .count = RF_BATCH_MAX + 7};
    return rf_batch_add(&batch, &w->record, 0) == RF_BATCH_FULL && rf_batch_add(&batch, NULL, 0) == RF_BATCH_FULL;
}

static int see_nothing(void *user, uint32_t trial, const rf_step *step) { return (void)user, (void)trial, (void)step, 0; }

static int simulate(world *w)
{
    const rf_simulation right = {.config = w->config, .steps = 2, .batch = 1};
    rf_simulation wrong[] = {right, right, right, right, right, right};
    int all = rf_simulate(&right, 0, 1, see_nothing, NULL) >= 0 && rf_simulate(&right, 0, 1, NULL, NULL) < 0 && rf_simulate(&right, UINT32_MAX, 2, see_nothing, NULL) < 0;
    wrong[0].batch = 0;
    wrong[1].batch = RF_ASK_MAX + 1;
    wrong[2].steps = 0;
    wrong[3].world.jumps = RF_EVENTS_MAX + 1;
    wrong[4].world.outages = UINT32_MAX;
    wrong[5].world.jumps = 1;
    wrong[5].world.jump[0] = (rf_jump){.parameter = 16, .every = 1};
    for (unsigned k = 0; k < sizeof wrong / sizeof *wrong; k++)
        all &= rf_simulate(&wrong[k], 0, 1, see_nothing, NULL) < 0;
    return all;
}

static int passes_quantile_before(world *w)
{
    w->config.drift[0] = 0;
    rf_passes *passes = rf_passes_open(&w->config, (double[]){1, 0, 1}, 1, w->error, sizeof w->error);
    const int all = passes && isnan(rf_passes_quantile(passes, 0, 0.5)) && rf_passes_run(passes, NULL, NULL, NULL) < 0;
    rf_passes_close(passes);
    return all;
}

static int core_init(world *w)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    rf64_filter *f;
    (void)w;
    return rf64_filter_init(NULL, memory, sizeof memory, 1, 1) < 0 && rf64_filter_init(&f, NULL, 0, 1, 1) < 0 && rf64_filter_init(&f, memory, sizeof memory, 0, 1) < 0 &&
           rf64_filter_init(&f, memory, sizeof memory, RF_DIM_MAX + 1, 1) < 0 && rf64_filter_init(&f, memory, sizeof memory - 1, 1, 1) < 0 &&
           rf64_filter_init(&f, memory + 4, sizeof memory - 4, 1, 1) < 0 && rf64_filter_bytes(0) == 0 && rf64_filter_bytes(UINT32_MAX) == 0;
}

static int core_update(world *w)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    const rf64_options o = rf64_options_default();
    const double record[] = {1, 0, 1}, bad[] = {1, NAN, 1};
    rf64_filter *f;
    rf64_chart chart = {RF_REAL, 0, 0};
    (void)w;
    rf64_filter_init(&f, memory, sizeof memory, 1, 1);
    rf64_model m = rf64_instance_model(rf_model_find("precession")->f64, &chart), none = m;
    none.likelihood = NULL;
    int all = rf64_update(NULL, &m, record, 1, &o, NULL, NULL) < 0 && rf64_update(f, NULL, record, 1, &o, NULL, NULL) < 0 && rf64_update(f, &m, NULL, 1, &o, NULL, NULL) < 0 &&
              rf64_update(f, &m, record, 1, NULL, NULL, NULL) < 0 && rf64_update(f, &m, record, 0, &o, NULL, NULL) < 0 && rf64_update(f, &none, record, 1, &o, NULL, NULL) < 0 &&
              rf64_update(f, &m, bad, 1, &o, NULL, NULL) < 0 && rf64_prior_box(f, &m, bad, record) < 0 && rf64_prior_gaussian(NULL, &m, record, record) < 0 &&
              rf64_diffuse(NULL, 1, 1) < 0 && rf64_diffuse(f, -1, 1) < 0 && rf64_widen(f, 0) < 0 && rf64_evolve(f, NULL, NULL) < 0 &&
              rf64_filter_restore(f, 1, 0, NULL, record, NULL) < 0 && rf64_fleet_update(NULL, 1, &m, record, &o, NULL, NULL) < 0 && rf64_fleet_update(&f, 1, &m, record, NULL, NULL, NULL) < 0;
    chart.kind = (rf_chart_kind)7;
    return all && rf64_update(f, &m, record, 1, &o, NULL, NULL) == RF_REFUSED_CHART && rf64_filter_updates(f) == 0;
}

static int classify_null(world *w)
{
    char *e = w->error;
    const size_t n = sizeof w->error;
    rfc_table empty = {.features = 0};
    rfc_advice advice;
    rfc_answer answer;
    const rfc_rules rules = {.method = RFC_WEIGHTED};
    rfc_table_free(NULL);
    rfc_training_close(NULL);
    rfc_model_close(NULL);
    rfc_adviser_close(NULL);
    rfc_coding_free(NULL);
    return rfc_table_add(&empty, NULL, "a") < 0 && rfc_table_add(NULL, NULL, NULL) < 0 && rfc_task_parse(NULL, NULL, NULL, e, n) < 0 &&
           !rfc_coding_make(NULL, RFC_SCALE_AUTO, e, n) && !rfc_training_open(NULL, NULL, 1, 2, 1, e, n) && !rfc_training_open(&empty, NULL, 0, 0, 1, e, n) &&
           !rfc_model_fit(NULL, &rules, 1, NULL, NULL, e, n) && rfc_classify_one(NULL, &rules, NULL, 0, &answer, e, n) < 0 &&
           rfc_classify(NULL, &rules, NULL, 1, NULL, NULL, NULL, e, n) < 0 && !rfc_model_load(NULL, 0, e, n) && !rfc_adviser_open(NULL, e, n) &&
           !rfc_model_learn(NULL, NULL, NULL, e, n) && rfc_adviser_next(NULL, NULL, 1, &advice) < 0 && rfc_model_stop(NULL, RFC_GOAL_BEST, 0, NULL) < 0 && rfc_model_save(NULL, NULL, 0) == 0;
}

#define CALL(name, refused) \
    static int call_##name(world *w) { return (void)w, (refused); }
CALLS
#undef CALL

static const struct {
    const char *name;
    int (*is_refused)(world *w);
} cases[] = {
    {"config null", config_null},
#define WRONG(name, change) {"config " #name, config_##name},
    CONFIGS
#undef WRONG
#define CALL(name, refused) {#name, call_##name},
        CALLS
#undef CALL
};

/* Every case is refused, and the session has not changed. */
static void test_refused(void **state)
{
    unsigned char before[4096], after[4096];
    unsigned failed = 0;
    (void)state;
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        static world w;
        memset(&w, 0, sizeof w);
        w.config = rf_config_default(rf_model_find("precession"));
        w.session = rf_session_open(&w.config, w.error, sizeof w.error);
        w.sessions = rf_sessions_open(&w.config, 2, w.error, sizeof w.error);
        assert_non_null(w.session);
        assert_non_null(w.sessions);
        w.record = (rf_record){.setting = {1, 0}, .outcome = 1, .time = NAN};
        const size_t size = rf_session_save(w.session, before);
        assert_true(size <= sizeof before);
        if (!cases[k].is_refused(&w) || rf_session_save(w.session, after) != size || memcmp(before, after, size) != 0) {
            print_error("not refused, or something changed: %s (%s)\n", cases[k].name, w.error);
            failed++;
        }
        rf_sessions_close(w.sessions);
        rf_session_close(w.session);
    }
    assert_int_equal(failed, 0);
    assert_true(sizeof cases / sizeof *cases >= 100);
}

/* ---- Update numbers end ---- */

enum { ROOM = 1 << 20 };

/* Sets numbers of eight bytes in saved bytes, all that are `was` and change with an update, or number `which` of them; and seals the bytes again.
   Returns how many there are. */
static int set_number(unsigned char *bytes, const unsigned char *later, size_t size, uint64_t was, uint64_t to, int which)
{
    int found = 0;
    for (size_t i = RF_SEAL; i + 8 <= size; i += 8) {
        uint64_t a, b;
        memcpy(&a, bytes + i, 8);
        memcpy(&b, later + i, 8);
        if (a == was && b == was + 1) {
            if (which < 0 || which == found)
                memcpy(bytes + i, &to, 8);
            found++;
        }
    }
    char kind[9] = "";
    memcpy(kind, bytes, 8);
    rf_seal(bytes, size, kind, rf_sealed_version(bytes, size, kind));
    return found;
}

/* Sessions of every belief go on to near the end, and are then refused with nothing changed; a restart, too. */
static void test_updates_end(void **state)
{
    const char *const beliefs[] = {"mixture", "gaussian", "particles:100", "grid"};
    unsigned char *bytes = malloc(ROOM), *later = malloc(ROOM);
    (void)state;
    for (unsigned k = 0; k < sizeof beliefs / sizeof *beliefs; k++) {
        char error[200];
        rf_config config = rf_config_default(rf_model_find("precession"));
        config.belief = beliefs[k];
        config.on_lost = RF_ON_LOST_IGNORE;
        rf_session *s = rf_session_open(&config, error, sizeof error);
        const rf_record record = {.setting = {0.5, 0.1}, .outcome = 1, .time = NAN};
        assert_non_null(s);
        for (int n = 0; n < 5; n++)
            assert_true(rf_session_tell(s, &record, 1, NULL) >= 0);
        const size_t size = rf_session_save(s, bytes);
        assert_true(size <= ROOM);
        assert_true(rf_session_tell(s, &record, 1, NULL) >= 0);
        if (rf_session_save(s, later) == size) { /* of particles and grids the size changes; records and experiments count, too */
            const uint64_t near = UINT32_MAX - 10;
            unsigned char *set = malloc(size);
            int numbers = 0, ends = 0; /* those of updates and of experiments end, each alone, too; records do not */
            for (int which = -1; which < numbers; which++) {
                memcpy(set, bytes, size);
                numbers = set_number(set, later, size, 5, near, which);
                assert_int_equal(rf_session_load(s, set, size), 0);
                rf_status status = RF_OK;
                unsigned told = 0;
                while (told < 20 && (status = rf_session_tell(s, &record, 1, NULL)) >= 0)
                    told++;
                if (which >= 0 && status >= 0)
                    continue;
                ends += which >= 0;
                assert_int_equal(status, RF_REFUSED_USED_UP);
                assert_true(told < 10);
                assert_int_equal(rf_session_restart(s), RF_REFUSED_USED_UP);
                assert_int_equal(rf_session_try(s, &record, 1), RF_REFUSED_USED_UP);
            }
            assert_int_equal(ends, 2);
            free(set);
        } else {
            assert_true(k >= 2);
        }
        rf_session_close(s);
    }
    free(bytes);
    free(later);
}

static void test_filters_end(void **state)
{
    RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(1)], before[sizeof memory];
    const rf32_options o = rf32_options_default();
    const float mean = 0, factor = 1, record[] = {1, 0, 1};
    rf32_chart chart;
    rf32_filter *f;
    (void)state;
    rf32_model m = rf32_instance_model(rf_model_find("precession")->f32, &chart);
    rf32_filter_init(&f, memory, sizeof memory, 1, 1);
    assert_int_equal(rf32_filter_restore(f, 7, UINT32_MAX - 2, &mean, &factor, NULL), RF_OK);
    assert_true(rf32_update(f, &m, record, 1, &o, NULL, NULL) >= 0);
    assert_true(rf32_fleet_update(&f, 1, &m, record, &o, NULL, NULL) >= 0);
    memcpy(before, memory, sizeof memory);
    assert_int_equal(rf32_update(f, &m, record, 1, &o, NULL, NULL), RF_REFUSED_USED_UP);
    assert_int_equal(rf32_fleet_update(&f, 1, &m, record, &o, NULL, NULL), RF_REFUSED_USED_UP);
    assert_memory_equal(before, memory, sizeof memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_updates_end), cmocka_unit_test(test_filters_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
