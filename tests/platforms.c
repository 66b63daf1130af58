/* Runs what the library has in one precision, and prints a hash of each final state, for test_platforms.py: every
   platform prints the same lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "per_precision.h"
#include "few.h"
#include "rejfilt/fleet.h"
#include "rejfilt/gaussians.h"
#include "rejfilt/passes.h"
#include "rejfilt/session.h"

enum { STEPS = 16, SESSIONS = 9, FILTERS = 33, ROUNDS = 2, PASSED = 20, ROWS = 120, FEATURES = 12, NAME = 200 };

#define RF_BELIEF(identifier, name) name,
static const char *const beliefs[] = {
#include "../src/beliefs/list.def"
};
#define RF_DESIGN(identifier, name, ...) name,
static const char *const designs[] = {
#include "../src/design/list.def"
    NULL};
static const rf_sampler samplers[] = {RF_WEIGHT, RF_LATTICE, RF_REJECT, RF_REJECT};
enum {
    BELIEFS = sizeof beliefs / sizeof *beliefs,
    DESIGNS = sizeof designs / sizeof *designs,
    SAMPLERS = sizeof samplers / sizeof *samplers
};

static uint64_t total; /* bytes hashed */

static void say(const char *what, const char *of, const char *more, const void *bytes, size_t count)
{
    total += count;
    printf("%d %s %s %s %016llx\n", RF_PRECISION, what, of, more, (unsigned long long)rf_hash(0, bytes, count));
}

static void *need(void *memory)
{
    if (!memory)
        exit(2);
    return memory;
}

/* ---- Worlds ---- */

/* Settings within their ranges, unless a designer chose them, and what is then measured. */
static void measure(const rf_config *c, const double truth[], uint32_t k, int is_asked, rf_record *record)
{
    for (unsigned i = 0; i < c->description.settings && !is_asked; i++) {
        const rf_setting *s = &c->description.setting[i];
        const double share =
            s->role == RF_SETTING_FIXED ? 0 : rf64_uniform(rf_draw(7, k, i, 0, RF_FOR_USER).word[0]) / 8;
        const double value = s->low + (s->high - s->low) * share;
        record->setting[i] = s->is_integer ? floor(value) : value;
    }
    record->outcome = rf64_instance_outcome(c->model->f64, truth, record->setting, 3, k);
    record->time = k + 0.25 * (k % 3);
}

static void truth_of(const rf_config *c, double truth[])
{
    for (unsigned i = 0; i < c->description.dim; i++) {
        const rf_prior *p = &c->prior[i];
        const double share = i % 2 ? 0.3 : 0.6;
        truth[i] = p->is_gaussian ? p->first + (share - 0.5) * p->second : p->first + (p->second - p->first) * share;
    }
}

/* ---- Sessions ---- */

static uint64_t saved(const rf_session *session)
{
    const size_t count = rf_session_save(session, NULL);
    unsigned char *bytes = need(malloc(count));
    rf_session_save(session, bytes);
    const uint64_t hash = rf_hash(0, bytes, count);
    total += count;
    free(bytes);
    return hash;
}

/* `calls_libm`: the belief, like the passes below, calls functions whose last bits differ between libraries, so six
 * digits are printed instead of a hash. */
static void run_session(const rf_config *config, const char *note, int calls_libm)
{
    char error[NAME], more[2 * NAME];
    double truth[RF_DESCRIBED_MAX];
    unsigned taken = 0;
    rf_session *session = rf_session_open(config, error, sizeof error);
    if (!session) { /* refused alike */
        printf("%d %s %s\n", RF_PRECISION, config->description.name, error);
        return;
    }
    truth_of(config, truth);
    for (uint32_t k = 0; k < STEPS; k++) {
        rf_record record = {{0}, 0, 0, 0};
        measure(config, truth, k, rf_session_ask(session, 1, &record) >= 0, &record);
        taken += rf_session_tell(session, &record, 1, NULL) >= 0;
    }
    rf_step step;
    rf_session_show(session, &step);
    const uint64_t hash = calls_libm ? 0 : saved(session);
    for (unsigned i = 0; i < step.dim && calls_libm; i++)
        printf("%.5e %.5e ", step.mean[i], step.sd[i]);
    snprintf(more, sizeof more, "%s %s, %u taken:", config->design ? config->design : "given", note, taken);
    say(config->description.name, config->belief, more, &hash, sizeof hash);
    rf_session_close(session);
}

static void run_sessions(const rf_config *config)
{
    char error[NAME];
    rf_record question[SESSIONS];
    double truth[RF_DESCRIBED_MAX];
    uint64_t hash[SESSIONS];
    rf_sessions *all = need(rf_sessions_open(config, SESSIONS, error, sizeof error));
    truth_of(config, truth);
    for (uint32_t k = 0; k < ROUNDS; k++) {
        rf_sessions_ask(all, NULL, SESSIONS, question);
        for (uint32_t i = 0; i < SESSIONS; i++)
            measure(config, truth, k * SESSIONS + i, 1, &question[i]);
        rf_sessions_tell(all, NULL, SESSIONS, question, NULL);
    }
    for (uint32_t i = 0; i < SESSIONS; i++)
        hash[i] = saved(rf_sessions_at(all, i));
    say(config->description.name, "many", "sessions", hash, sizeof hash);
    rf_sessions_close(all);
}

static void run_passes(const rf_config *config)
{
    char error[NAME] = "";
    double truth[RF_DESCRIBED_MAX], rows[PASSED * (RF_DESCRIBED_MAX + 1)], *row = rows;
    rf_config still = *config;
    rf_passes_result result;
    memset(still.drift, 0, sizeof still.drift);
    memset(&result, 0, sizeof result);
    truth_of(config, truth);
    for (uint32_t k = 0; k < PASSED; k++) {
        rf_record record = {{0}, 0, 0, 0};
        measure(config, truth, k, 0, &record);
        memcpy(row, record.setting, config->description.settings * sizeof *row);
        row += config->description.settings;
        *row++ = record.outcome;
    }
    rf_passes *passes = rf_passes_open(&still, rows, PASSED, error, sizeof error);
    if (passes)
        rf_passes_run(passes, NULL, NULL, &result);
    for (unsigned i = 0; i < result.dim; i++)
        printf("%.5e %.5e ", result.mean[i], result.sd[i]);
    say(config->description.name, "passes", error, &result.verdict, sizeof result.verdict);
    rf_passes_close(passes);
}

/* ---- Fleets, chips, classification ---- */

static void run_fleet(const rf_config *config, rf_engine *engine)
{
    RF_ALIGNED unsigned char memory[FILTER_BYTES(RF_DESCRIBED_MAX)];
    char error[NAME];
    double truth[RF_DESCRIBED_MAX];
    rf_real low[RF_DESCRIBED_MAX], high[RF_DESCRIBED_MAX];
    RF(chart) charts[RF_DESCRIBED_MAX];
    RF(filter) * prior;
    const rf_description *d = &config->description;
    const RF(model) model = RF(instance_model)(INSTANCE(config->model), charts);
    RF(options) options = RF(options_default)();
    options.sampler = RF_WEIGHT;
    for (unsigned i = 0; i < d->dim; i++) {
        low[i] = (rf_real)d->parameter[i].low;
        high[i] = (rf_real)d->parameter[i].high;
    }
    if (RF(filter_init)(&prior, memory, sizeof memory, d->dim, 5) < 0 || RF(prior_box)(prior, &model, low, high) < 0)
        exit(2);
    const size_t numbers = RF_TRIANGLE(d->dim), row = d->settings + 1u;
    rf_real *factors = need(malloc(FILTERS * numbers * sizeof *factors)),
            *records = need(malloc(FILTERS * row * sizeof *records));
    RF(residents) *fleet = need(RF(residents_open)(engine, &model, &options, prior, FILTERS, error, sizeof error));
    truth_of(config, truth);
    rf_status notes = RF_OK;
    for (uint32_t k = 0; k < ROUNDS; k++) {
        for (uint32_t i = 0; i < FILTERS; i++) {
            rf_record record = {{0}, 0, 0, 0};
            measure(config, truth, k * FILTERS + i, 0, &record);
            for (unsigned j = 0; j < d->settings; j++)
                records[i * row + j] = (rf_real)record.setting[j];
            records[i * row + d->settings] = (rf_real)record.outcome;
        }
        notes |= RF(residents_pass)(fleet, RF_C(0.001), 2);
        notes |= RF(residents_tell)(fleet, NULL, FILTERS, records, NULL);
    }
    if (notes < 0 || RF(residents_read)(fleet, RF_READ_FACTOR, NULL, FILTERS, factors) < 0)
        exit(2);
    say(d->name, "fleet", rf_engine_name(engine), factors, FILTERS * numbers * sizeof *factors);
    RF(residents_close)(fleet);
    free(factors);
    free(records);
}

static float fringe(const float *y, const float setting[], float outcome)
{
    const float p = rf32_sin_squared(setting[0] * (0.5f + 0.5f * rf32_normal_cdf(*y)));
    return outcome != 0 ? p : 1 - p;
}

static void run_chip(void)
{
    rf32_gaussians g;
    if (rf32_gaussians_init(&g, 0, 1) < 0)
        exit(2);
    for (uint32_t k = 0; k < 100; k++) {
        const float t = 1 + 0.3f * (float)k;
        rf32_gaussians_update(
            &g, fringe, &t,
            rf64_uniform(rf_draw(9, k, 0, 0, RF_FOR_USER).word[0]) < (double)rf32_sin_squared(t * 0.7f) ? 1.0f : 0.0f);
    }
    say("chip", "gaussians", "", g.part, g.count * sizeof *g.part);
}

/* A fit, the model's bytes, and what it says about its own rows. */
static void run_classification(rfc_method method)
{
    static const char *const kinds[] = {"red", "green", "blue"};
    rfc_table table = {.source = "table", .features = FEATURES}, none = {.features = FEATURES};
    char error[NAME];
    for (uint32_t i = 0; i < ROWS; i++) {
        double value[FEATURES];
        for (uint32_t j = 0; j < FEATURES; j++)
            value[j] = (j % 4 == 0 ? i % 3 * 0.9 : 0) + rf64_uniform(rf_draw(1, i, j, 0, RF_FOR_USER).word[0]);
        if (rfc_table_add(&table, value, kinds[i % 3]) < 0)
            exit(2);
    }
    rfc_scaling used;
    if (rfc_scale(&table, &none, RFC_SCALE_AUTO, &used, error, sizeof error) < 0)
        exit(2);
    rfc_training *training = need(rfc_training_open(&table, NULL, ROWS, 3, 1, error, sizeof error));
    const rfc_rules rules = rfc_rules_default(method, training);
    rfc_model *model = need(rfc_model_fit(training, &rules, 2, NULL, NULL, error, sizeof error));
    rfc_expected expected;
    rfc_model_stop(model, RFC_GOAL_BEST, 0, &expected);
    uint8_t decided[ROWS];
    uint32_t queries[ROWS];
    float posterior[ROWS * 3];
    rfc_outcome outcome = {.decided = decided, .queries = queries, .posterior = posterior};
    const rfc_objects objects = {&table, NULL, method == RFC_WEIGHTED ? ROWS : 20};
    if (rfc_model_classify(model, &objects, 2, NULL, NULL, &outcome, error, sizeof error) < 0)
        exit(2);
    const char *name = method == RFC_WEIGHTED ? "weighted" : "paper";
    say("classify", name, "decided", decided, objects.count);
    say("classify", name, "asked", queries, objects.count * sizeof *queries);
    say("classify", name, "posterior", posterior, objects.count * 3 * sizeof *posterior);
    rfc_model_close(model);
    rfc_training_close(training);
    rfc_table_free(&table);
}

int main(void)
{
    char error[NAME];
    rf_engine *engine = need(rf_engine_open("threads:2", error, sizeof error));
    const rf_model *model;
    for (unsigned m = 0; (model = rf_model_at(m)); m++) {
        rf_config config = rf_config_default(model);
        config.is_float = RF_PRECISION == 32;
        config.engine = engine;
        for (unsigned s = 0; s < SAMPLERS; s++) {
            char note[NAME];
            config.belief = "gaussian";
            config.design = "pgh"; /* the fastest */
            config.sampler = samplers[s];
            config.strict = s + 1 == SAMPLERS;
            snprintf(note, sizeof note, "sampler %u%s", s, config.strict ? " strict" : "");
            run_session(&config, note, 0);
        }
        run_fleet(&config, engine);
        if (config.is_float)
            continue;
        config = rf_config_default(model);
        config.engine = engine;
        for (unsigned b = 0; b < BELIEFS; b++) {
            char name[NAME];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(beliefs[b], "["), beliefs[b]);
            const int calls_libm = strcmp(name, "particles") == 0 || strcmp(name, "grid") == 0;
            config.belief = strcmp(name, "particles") == 0             ? "particles:500"
                            : calls_libm && config.description.dim > 1 ? "grid:64"
                                                                       : name;
            run_session(&config, "", calls_libm);
        }
        config.belief = NULL;
        for (unsigned d = 0; d < DESIGNS; d++) {
            config.belief = rf_config_belief(&config);
            config.design = designs[d];
            run_session(&config, "", 0);
        }
        config = rf_config_default(model);
        config.engine = engine;
        run_sessions(&config);
        if (strcmp(config.description.name, "ramsey") == 0 || strcmp(config.description.name, "linear") == 0)
            run_passes(&config);
    }
    run_chip();
    run_classification(RFC_WEIGHTED);
    run_classification(RFC_PAPER);
    rf_engine_close(engine);
    printf("%llu bytes\n", (unsigned long long)total);
}
