/* The series of a run: which points survive thinning. */
#include "testing.h"

#include <math.h>

#include "../apps/cli/series.h"

static const rf_description description = {
    .dim = 2, .settings = 2, .parameter = {{.name = "x"}, {.name = "phi", .chart = RF_PERIODIC, .low = 1, .high = 4}}};

/* A step whose numbers all identify it. */
static rf_step numbered(long k)
{
    const double v = (double)k;
    rf_step s = {.step = k, .dim = 2, .outcome = -v, .report.acceptance = 0.001 * v, .restarts = (uint32_t)(k / 100)};
    s.health = k % 50 == 7 ? RF_RECOVERING : RF_TRACKING;
    s.truth[0] = NAN;
    s.mean[0] = v;
    s.low[0] = v - 0.5;
    s.high[0] = v + 0.5;
    s.mean[1] = 1 + fmod(v, 3.0);
    s.low[1] = s.mean[1] - 0.25;
    s.high[1] = s.mean[1] + 0.25;
    s.truth[1] = s.mean[1] + 0.125;
    s.setting[0] = 10 * v;
    s.setting[1] = k % 2 ? NAN : v;
    return s;
}

static cli_series filled(long count, size_t most)
{
    cli_series s = {.title = "a run", .description = &description, .max = most};
    for (long k = 0; k < count; k++) {
        rf_step step = numbered(k);
        assert_int_equal(cli_series_add(&s, &step, 0.5 * (double)k), 0);
    }
    return s;
}

static double at(const cli_series *s, size_t row, size_t column) { return cli_series_at(s, row, column); }

static void test_grows(void **state)
{
    (void)state;
    cli_series s = filled(5000, 0);
    assert_int_equal(s.count, 5000);
    assert_int_equal(cli_series_width(&s), CLI_PARAMETERS + 2 * CLI_PARAMETER_COLUMNS + 2);
    for (size_t k = 0; k < 5000; k++) {
        const double v = (double)k;
        assert_true(at(&s, k, CLI_STEP) == v && at(&s, k, CLI_TIME) == 0.5 * v && at(&s, k, CLI_OUTCOME) == -v);
        assert_true(at(&s, k, CLI_ACCEPTANCE) == 0.001 * v && at(&s, k, CLI_RESTARTS) == floor(v / 100));
        assert_true(at(&s, k, CLI_HEALTH) == (k % 50 == 7 ? RF_RECOVERING : RF_TRACKING));
        assert_true(isnan(at(&s, k, cli_series_parameter(0, CLI_TRUTH))) &&
                    at(&s, k, cli_series_parameter(0, CLI_MEAN)) == v);
        assert_true(at(&s, k, cli_series_parameter(0, CLI_LOW)) == v - 0.5);
        assert_true(at(&s, k, cli_series_parameter(0, CLI_HIGH)) == v + 0.5);
        assert_true(at(&s, k, cli_series_setting(&s, 0)) == 10 * v);
        assert_true(k % 2 ? isnan(at(&s, k, cli_series_setting(&s, 1))) : at(&s, k, cli_series_setting(&s, 1)) == v);
    }
    cli_series_free(&s);
    assert_int_equal(s.count, 0);
}

/* 1, 2, 3 and again 1, with period 3, becomes 1, 2, 3, 4. */
static void test_periodic_has_no_cut(void **state)
{
    (void)state;
    cli_series s = filled(100, 0);
    for (size_t k = 0; k < 100; k++) {
        const double mean = 1 + (double)k;
        assert_true(at(&s, k, cli_series_parameter(1, CLI_MEAN)) == mean);
        assert_true(at(&s, k, cli_series_parameter(1, CLI_LOW)) == mean - 0.25);
        assert_true(at(&s, k, cli_series_parameter(1, CLI_HIGH)) == mean + 0.25);
        assert_true(at(&s, k, cli_series_parameter(1, CLI_TRUTH)) == mean + 0.125);
    }
    cli_series_free(&s);
}

/* For any number of rows they cover the run in order and contain every extreme value. */
static void check_thinned(const cli_series *s, long count)
{
    const size_t mean = cli_series_parameter(0, CLI_MEAN);
    double health = 0;
    assert_true(at(s, 0, CLI_STEP) == 0 && at(s, s->count - 1, CLI_STEP) == (double)(count - 1));
    for (size_t k = 0; k < s->count; k += 2) {
        assert_true(k == 0 || at(s, k, CLI_STEP) == at(s, k - 1, CLI_STEP) + 1);
        for (size_t row = k; row < k + 2; row++) { /* all columns are monotonic: extremes are the ends */
            const double step = at(s, row, CLI_STEP);
            assert_true(at(s, row, CLI_TIME) == 0.5 * step && at(s, row, CLI_OUTCOME) == -step &&
                        at(s, row, mean) == step);
            assert_true(at(s, row, cli_series_setting(s, 0)) == 10 * step);
            assert_true(isnan(at(s, row, cli_series_parameter(0, CLI_TRUTH))));
            assert_true(at(s, row, cli_series_parameter(0, CLI_LOW)) == at(s, k, CLI_STEP) - 0.5);
            assert_true(at(s, row, cli_series_parameter(0, CLI_HIGH)) == at(s, k + 1, CLI_STEP) + 0.5);
            assert_true(at(s, row, CLI_RESTARTS) == floor(at(s, k + 1, CLI_STEP) / 100));
        }
        health += at(s, k, CLI_HEALTH) > 0;
    }
    assert_true(health >= 1);
}

static void test_thins_when_full(void **state)
{
    (void)state;
    for (long count = 65; count < 3000; count += 37) {
        cli_series s = filled(count, 64);
        assert_in_range(s.count, 32, 64);
        assert_true(s.per_row >= 2 && s.count * s.per_row >= (size_t)count);
        check_thinned(&s, count);
        cli_series_free(&s);
    }
}

static void test_thin(void **state)
{
    (void)state;
    cli_series s = filled(1001, 0), to;
    for (size_t most = 2; most <= 1000; most += 13) {
        assert_int_equal(cli_series_thin(&s, most, &to), 0);
        assert_in_range(to.count, 2, most);
        check_thinned(&to, 1001);
        assert_true(to.per_row > 1);
        cli_series_free(&to);
    }
    assert_int_equal(cli_series_thin(&s, 1001, &to), 0);
    assert_int_equal(to.count, 1001);
    assert_int_equal(to.per_row, 1);
    assert_memory_equal(to.rows, s.rows, 1001 * cli_series_width(&s) * sizeof *s.rows);
    cli_series_free(&to);
    cli_series_free(&s);
}

/* Extremes in order of time; unknown values are skipped. */
static void test_extremes(void **state)
{
    (void)state;
    const double values[] = {NAN, 3, 9, NAN, 1, 2, /**/ 5, 4, 4, 8, 6, 7};
    cli_series s = {.description = &description}, to;
    for (size_t k = 0; k < 12; k++) {
        rf_step step = numbered((long)k);
        step.setting[0] = values[k];
        step.health = k == 8 ? RF_LOST : RF_TRACKING;
        assert_int_equal(cli_series_add(&s, &step, NAN), 0);
    }
    assert_int_equal(cli_series_thin(&s, 4, &to), 0);
    assert_int_equal(to.count, 4);
    const double expected[] = {9, 1, 4, 8};
    for (size_t k = 0; k < 4; k++) {
        assert_true(at(&to, k, cli_series_setting(&to, 0)) == expected[k]);
        assert_true(at(&to, k, CLI_HEALTH) == (k < 2 ? RF_TRACKING : RF_LOST));
        assert_true(isnan(at(&to, k, CLI_TIME)));
    }
    cli_series_free(&to);
    cli_series_free(&s);
}

/* Memory stays within its limit for any length of the run. */
static void test_stays_small(void **state)
{
    (void)state;
    const size_t bytes = (size_t)1 << 27;
    cli_series s = filled(3000000, 0);
    assert_true(s.room * cli_series_width(&s) * sizeof(double) <= bytes);
    assert_true(s.count * cli_series_width(&s) * sizeof(double) > bytes / 3);
    check_thinned(&s, 3000000);
    cli_series_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),           cmocka_unit_test(test_periodic_has_no_cut),
        cmocka_unit_test(test_thins_when_full), cmocka_unit_test(test_thin),
        cmocka_unit_test(test_extremes),        cmocka_unit_test(test_stays_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
