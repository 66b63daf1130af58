/* Resident fleets: the same bits as filters updated one by one, wherever they are stored. Per precision. With an
   argument: only that engine. */
#include "testing.h"

#include "rejfilt/fleet.h"

enum { MAX = 300, DIM = 3, NUMBERS = 4, STEPS = 4 };

static const char *chosen = "threads:2";
static rf_engine *engine;

typedef struct world {
    RF(chart) charts[RF_DESCRIBED_MAX];
    RF(model) model;
    const rf_description *description;
    RF_ALIGNED unsigned char prior_memory[FILTER_BYTES(DIM)], memory[MAX][FILTER_BYTES(DIM)];
    RF(filter) * prior, *filters[MAX];
    rf_real records[MAX * NUMBERS];
    RF(report) reports[MAX], got[MAX];
} world;

static world w;

static void make(const char *name, uint32_t count)
{
    const RF(instance) *instance = INSTANCE(rf_model_find(name));
    memset(&w, 0, sizeof w);
    w.description = instance->description;
    w.model = RF(instance_model)(instance, w.charts);
    assert_int_equal(RF(filter_init)(&w.prior, w.prior_memory, sizeof w.prior_memory, w.model.dim, 77), RF_OK);
    set_prior_of(w.prior, &w.model, w.description);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(RF(filter_init)(&w.filters[i], w.memory[i], sizeof w.memory[i], w.model.dim, 0), RF_OK);
        assert_int_equal(RF(filter_restore)(w.filters[i], rf_seed_of(77, i), 0, RF(filter_mean)(w.prior),
                                            RF(filter_factor)(w.prior), NULL),
                         RF_OK);
    }
}

static RF(residents) * open(uint32_t count, const RF(options) * options)
{
    char error[2048] = "";
    RF(residents) *fleet = RF(residents_open)(engine, &w.model, options, w.prior, count, error, sizeof error);
    if (!fleet)
        fail_msg("%s", error);
    return fleet;
}

/* Everything that can be read of filter i equals the single filter. */
static void check_same(RF(residents) * fleet, uint32_t count, const char *name)
{
    static rf_real mean[MAX * DIM], sd[MAX * DIM], factor[MAX * RF_TRIANGLE(DIM)];
    const unsigned dim = w.model.dim;
    const size_t triangle = RF_TRIANGLE(dim);
    assert_int_equal(RF(residents_read)(fleet, RF_READ_MEAN, NULL, count, mean), RF_OK);
    assert_int_equal(RF(residents_read)(fleet, RF_READ_SD, NULL, count, sd), RF_OK);
    assert_int_equal(RF(residents_read)(fleet, RF_READ_FACTOR, NULL, count, factor), RF_OK);
    for (uint32_t i = 0; i < count; i++) {
        RF_ALIGNED unsigned char memory[FILTER_BYTES(DIM)];
        RF(filter) * copy;
        assert_int_equal(RF(filter_init)(&copy, memory, sizeof memory, dim, 0), RF_OK);
        assert_int_equal(RF(residents_take)(fleet, i, copy), RF_OK);
        if (memcmp(mean + i * dim, RF(filter_mean)(w.filters[i]), dim * sizeof *mean) != 0 ||
            memcmp(factor + i * triangle, RF(filter_factor)(w.filters[i]), triangle * sizeof *factor) != 0 ||
            sd[i * dim] != RF(filter_sd)(w.filters[i], 0) || copy->seed != w.filters[i]->seed ||
            RF(filter_updates)(copy) != RF(filter_updates)(w.filters[i]) ||
            memcmp(RF(filter_mean)(copy), RF(filter_mean)(w.filters[i]), dim * sizeof *mean) != 0 ||
            RF(filter_rest)(copy, 0) != RF(filter_rest)(w.filters[i], 0))
            fail_msg("%s on %s: filter %u of %u differs", name, rf_engine_name(engine), i, count);
    }
}

static void make_records(const uint32_t *which, uint32_t count, unsigned step)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t filter = which ? which[i] : i;
        rf_real *record = w.records + i * (w.model.settings + 1u);
        choose_settings(w.filters[filter], &w.model, w.description, record);
        record[w.model.settings] = w.description->outcomes ? (rf_real)((filter + step) % 2) : (rf_real)filter / MAX;
    }
}

/* Records of all filters, then of every third one; with and without reports. */
static void follow(const char *name, uint32_t count, RF(options) options)
{
    uint32_t which[MAX], few = 0;
    make(name, count);
    RF(residents) *fleet = open(count, &options);
    for (uint32_t i = 0; i < count; i += 3)
        which[few++] = count - 1 - i;
    for (unsigned step = 0; step < STEPS; step++) {
        const uint32_t *some = step % 2 ? which : NULL;
        const uint32_t n = some ? few : count;
        rf_status notes = RF_OK;
        make_records(some, n, step);
        for (uint32_t i = 0; i < count; i++)
            assert_true(RF(diffuse)(w.filters[i], RF_C(0.001), 2) >= 0);
        assert_true(RF(residents_pass)(fleet, RF_C(0.001), 2) >= 0);
        for (uint32_t i = 0; i < n; i++)
            notes |= RF(update)(w.filters[some ? some[i] : i], &w.model, w.records + i * (w.model.settings + 1u), 1,
                                &options, NULL, &w.reports[i]);
        const rf_status status = RF(residents_tell)(fleet, some, n, w.records, step < 2 ? w.got : NULL);
        if (status != notes)
            fail_msg("%s on %s: %s", name, rf_engine_name(engine),
                     status < 0 ? rf_engine_complaint(engine) : "other notes");
        if (step < 2)
            assert_memory_equal(w.got, w.reports, n * sizeof *w.got);
        check_same(fleet, count, name);
    }
    RF(residents_close)(fleet);
}

static void same_bits(void **state)
{
    (void)state;
    static const char *const models[] = {"precession", "ramsey", "decay", "linear", "phase", "coin"};
    for (unsigned m = 0; m < sizeof models / sizeof *models; m++)
        for (unsigned k = 0; k < 6; k++) {
            RF(options) options = RF(options_default)();
            options.sampler = (rf_sampler)(k % 3);
            options.attempts = k < 3 ? 64 : 1000;
            follow(models[m], k < 3 ? MAX : 33, options);
        }
}

/* A bad record refuses the call and changes nothing; the same for an index past the end. */
static void all_or_nothing(void **state)
{
    (void)state;
    RF(options) options = RF(options_default)();
    const uint32_t far[] = {0, 5};
    make("precession", 5);
    RF(residents) *fleet = open(5, &options);
    make_records(NULL, 5, 0);
    const rf_real good = w.records[9];
    w.records[9] = RF(nan)();
    assert_int_equal(RF(residents_tell)(fleet, NULL, 5, w.records, NULL), RF_REFUSED_EVIDENCE);
    check_same(fleet, 5, "a bad record");
    w.records[9] = good;
    assert_true(RF(residents_tell)(fleet, far, 2, w.records, NULL) < 0);
    assert_true(RF(residents_tell)(fleet, NULL, 6, w.records, NULL) < 0);
    assert_true(RF(residents_pass)(fleet, -1, 1) < 0);
    check_same(fleet, 5, "bad calls");
    memcpy(RF(residents_records)(fleet), w.records, 5 * 3 * sizeof(rf_real));
    assert_true(RF(residents_tell)(fleet, NULL, 5, RF(residents_records)(fleet), NULL) >= 0);
    for (uint32_t i = 0; i < 5; i++)
        assert_true(RF(update)(w.filters[i], &w.model, w.records + 3 * i, 1, &options, NULL, NULL) >= 0);
    check_same(fleet, 5, "its own memory");
    assert_int_equal(RF(residents_put)(fleet, 2, w.filters[4]), RF_OK);
    assert_int_equal(RF(residents_read)(fleet, RF_READ_MEAN, (const uint32_t[]){2}, 1, RF(residents_means)(fleet)),
                     RF_OK);
    assert_true(RF(residents_means)(fleet)[0] == RF(filter_mean)(w.filters[4])[0]);
    RF(residents_close)(fleet);
}

int main(int count, char **arguments)
{
    char error[2048];
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(all_or_nothing)};
    engine = rf_engine_open(count > 1 ? arguments[1] : chosen, error, sizeof error);
    if (!engine) {
        print_error("%s\n", error);
        return 1;
    }
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    rf_engine_close(engine);
    return failures;
}
