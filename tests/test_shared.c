/* Threads share one engine: sessions, many sessions, fleets, residents and passes at once give the bits that each has alone. Run it
   under the thread sanitizer, too (make check KIND=tsan). */
#include "testing.h"

#include <pthread.h>
#include <string.h>

#include "rejfilt/fleet.h"
#include "rejfilt/passes.h"

enum { USERS = 8, RECORDS = 12, FILTERS = 256, ATTEMPTS = 20000, ROOM = 1 << 14 };

typedef struct use {
    rf_engine *engine;
    unsigned kind;
    unsigned char bytes[ROOM]; /* what it had in the end */
    size_t size;
    rf_status status;
} use;

static rf_config config_of(const use *u)
{
    rf_config config = rf_config_default(rf_model_find("precession"));
    config.belief = "gaussian";
    config.attempts = ATTEMPTS;
    config.seed = u->kind;
    config.engine = u->engine;
    return config;
}

static rf_record record_of(unsigned k) { return (rf_record){.setting = {0.3 + 0.1 * k, 0.2}, .outcome = k % 3 == 0, .time = rf64_nan()}; }

static void keep(use *u, const void *bytes, size_t size)
{
    u->size = size;
    memcpy(u->bytes, bytes, size < ROOM ? size : ROOM);
}

static void use_session(use *u)
{
    char error[200];
    const rf_config config = config_of(u);
    rf_session *s = rf_session_open(&config, error, sizeof error);
    for (unsigned k = 0; k < RECORDS && u->status >= 0; k++) {
        const rf_record record = record_of(k);
        u->status = rf_session_tell(s, &record, 1, NULL);
    }
    u->size = rf_session_save(s, u->bytes);
    rf_session_close(s);
}

static void use_sessions(use *u)
{
    char error[200];
    const rf_config config = config_of(u);
    rf_sessions *s = rf_sessions_open(&config, FILTERS, error, sizeof error);
    rf_record records[FILTERS];
    for (unsigned i = 0; i < FILTERS; i++)
        records[i] = record_of(i);
    u->status = rf_sessions_tell(s, NULL, FILTERS, records, NULL);
    u->size = rf_session_save(rf_sessions_at(s, FILTERS - 1), u->bytes);
    rf_sessions_close(s);
}

static void use_residents(use *u)
{
    static const float low = 0, high = 3;
    RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(1)];
    char error[200];
    float means[FILTERS], records[3 * FILTERS];
    rf32_chart chart;
    rf32_filter *prior;
    rf32_options options = rf32_options_default();
    options.attempts = 2000;
    const rf32_model model = rf32_instance_model(rf_model_find("precession")->f32, &chart);
    rf32_filter_init(&prior, memory, sizeof memory, 1, u->kind);
    rf32_prior_box(prior, &model, &low, &high);
    for (unsigned i = 0; i < FILTERS; i++) {
        records[3 * i] = 0.5f + 0.01f * (float)i;
        records[3 * i + 1] = 0.1f;
        records[3 * i + 2] = (float)(i % 2);
    }
    rf32_residents *fleet = rf32_residents_open(u->engine, &model, &options, prior, FILTERS, error, sizeof error);
    for (unsigned k = 0; k < 3 && u->status >= 0; k++)
        u->status = rf32_residents_tell(fleet, NULL, FILTERS, records, NULL);
    rf32_residents_read(fleet, RF_READ_MEAN, NULL, FILTERS, means);
    keep(u, means, sizeof means);
    rf32_residents_close(fleet);
}

static void use_passes(use *u)
{
    char error[200];
    rf_config config = config_of(u);
    rf_passes_result result;
    double records[3 * RECORDS];
    config.drift[0] = 0;
    for (unsigned k = 0; k < RECORDS; k++) {
        const rf_record r = record_of(k);
        const double row[] = {r.setting[0], r.setting[1], r.outcome};
        memcpy(records + 3 * k, row, sizeof row);
    }
    rf_passes *passes = rf_passes_open(&config, records, RECORDS, error, sizeof error);
    u->status = rf_passes_run(passes, NULL, NULL, &result);
    keep(u, result.mean, sizeof result.mean[0]);
    rf_passes_close(passes);
}

static void *work(void *user)
{
    use *u = user;
    static void (*const kinds[])(use *) = {use_session, use_sessions, use_residents, use_passes};
    kinds[u->kind % 4](u);
    return NULL;
}

static void run_all(const char *name, int at_once, use uses[USERS])
{
    char error[200];
    pthread_t thread[USERS];
    rf_engine *engine = rf_engine_open(name, error, sizeof error);
    assert_non_null(engine);
    memset(uses, 0, USERS * sizeof *uses);
    for (unsigned i = 0; i < USERS; i++) {
        uses[i].engine = engine;
        uses[i].kind = i;
        if (at_once)
            assert_int_equal(pthread_create(&thread[i], NULL, work, &uses[i]), 0);
        else
            work(&uses[i]);
    }
    for (unsigned i = 0; i < USERS && at_once; i++)
        pthread_join(thread[i], NULL);
    rf_engine_close(engine);
}

static void test_together(void **state)
{
    static use alone[USERS], together[USERS];
    static const char *const names[] = {"threads:3", "simd", "serial"};
    (void)state;
    run_all("serial", 0, alone);
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++) {
        run_all(names[k], 1, together);
        for (unsigned i = 0; i < USERS; i++) {
            assert_true(together[i].status >= 0);
            assert_int_equal(together[i].size, alone[i].size);
            assert_true(alone[i].size > 0);
            assert_memory_equal(together[i].bytes, alone[i].bytes, alone[i].size);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
