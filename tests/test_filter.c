/* Memory, priors, charts. Compiled per precision. */
#include "testing.h"

#include <math.h>

#include "rejfilt/philox.h"
#include "rejfilt/rejfilt.h"

#define EPS (RF_PRECISION == 32 ? 1e-6 : 1e-14)

static void sizes_agree(void **state)
{
    (void)state;
    for (unsigned dim = 1; dim <= 64; dim++) {
        assert_int_equal(RF(filter_bytes)(dim), FILTER_BYTES(dim));
        assert_int_equal(RF(filter_bytes)(dim) % 8, 0);
    }
    assert_int_equal(RF(filter_bytes)(0), 0);
    assert_int_equal(RF(filter_bytes)(RF_DIM_MAX + 1), 0);
    assert_true(RF32_FILTER_BYTES(1) <= 64);
    assert_true(RF64_FILTER_BYTES(1) <= 128);
}

/* Writes stay inside the given memory, to the byte, for every dimension. */
static void memory_is_respected(void **state)
{
    (void)state;
    for (unsigned dim = 1; dim <= 64; dim += dim < 6 ? 1 : 29) {
        size_t bytes = RF(filter_bytes)(dim);
        unsigned char *memory = malloc(bytes + 16);
        memset(memory, 0xa5, bytes + 16);
        RF(filter) *f = NULL;
        assert_int_equal(RF(filter_init)(&f, memory, bytes - 1, dim, 1), RF_REFUSED_MEMORY_SIZE);
        assert_null(f);
        assert_int_equal(RF(filter_init)(&f, memory + 4, bytes, dim, 1), RF_REFUSED_MEMORY_ALIGNMENT);
        for (size_t i = 0; i < bytes + 16; i++)
            assert_int_equal(memory[i], 0xa5);
        assert_int_equal(RF(filter_init)(&f, memory, bytes, dim, 1), RF_OK);
        assert_int_equal(f->tally.dim, dim);
        assert_int_equal(RF(filter_updates)(f), 0);
        rf_real *zero = calloc((size_t)dim * dim, sizeof *zero);
        for (unsigned i = 0; i < dim; i++)
            zero[i * dim + i] = 1;
        assert_int_equal(RF(evolve)(f, zero, zero), RF_OK);
        assert_int_equal(RF(diffuse_covariance)(f, zero, 1), RF_OK);
        for (unsigned i = 0; i < dim; i++)
            check_within(RF(filter_covariance)(f, i, i), 3, 40 * EPS);
        free(zero);
        for (size_t i = bytes; i < bytes + 16; i++)
            assert_int_equal(memory[i], 0xa5);
        free(memory);
    }
}

static void init_refuses(void **state)
{
    (void)state;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(1)];
    RF(filter) *f;
    assert_int_equal(RF(filter_init)(NULL, memory, sizeof memory, 1, 1), RF_REFUSED_NULL);
    assert_int_equal(RF(filter_init)(&f, NULL, sizeof memory, 1, 1), RF_REFUSED_NULL);
    assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, 0, 1), RF_REFUSED_DIMENSION);
    assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, RF_DIM_MAX + 1, 1), RF_REFUSED_DIMENSION);
    assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, 2, 1), RF_REFUSED_MEMORY_SIZE);
}

static RF(filter) *one(void *memory, size_t bytes)
{
    RF(filter) *f;
    assert_int_equal(RF(filter_init)(&f, memory, bytes, 1, 1), RF_OK);
    return f;
}

static void check_prior(rf_status status, const RF(filter) *f, double mean, double sd, double tolerance)
{
    assert_int_equal(status, RF_OK);
    check_within(RF(filter_mean)(f)[0], mean, tolerance);
    check_within(RF(filter_sd)(f, 0), sd, tolerance);
}

static void priors_by_chart(void **state)
{
    (void)state;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(1)];
    RF(filter) *f = one(memory, sizeof memory);
    RF(chart) chart = {RF_REAL, 0, 0};
    RF(model) model = {0};
    model.dim = 1;
    rf_real a = 2, b = RF_C(0.5);
    check_prior(RF(prior_gaussian)(f, &model, &a, &b), f, 2, 0.5, EPS); /* without charts: real */
    model.charts = &chart;
    a = 1, b = 4;
    check_prior(RF(prior_box)(f, &model, &a, &b), f, 2.5, sqrt(9.0 / 12), 4 * EPS);

    chart.kind = RF_POSITIVE; /* the same mean and variance as the lognormal */
    a = 3, b = 2;
    double s2 = log(1 + 4.0 / 9), m = log(3) - s2 / 2;
    check_prior(RF(prior_gaussian)(f, &model, &a, &b), f, m, sqrt(s2), 8 * EPS);
    check_within(exp(m + s2 / 2), 3, 1e-12);

    RF(chart) bounded = {RF_BOUNDED, -1, 3};
    model.charts = &bounded;
    a = -1, b = 3;
    check_prior(RF(prior_box)(f, &model, &a, &b), f, 0, 1, 0); /* exact */
    a = 1, b = RF_C(0.1);
    check_prior(RF(prior_gaussian)(f, &model, &a, &b), f, 0, 0.1 / (4 / sqrt(2 * PI)), 4 * EPS);

    RF(chart) periodic = {RF_PERIODIC, 0, 6};
    model.charts = &periodic;
    a = 7, b = 1;
    check_prior(RF(prior_gaussian)(f, &model, &a, &b), f, 1, 1, 4 * EPS);
    a = 0, b = 6;
    check_prior(RF(prior_box)(f, &model, &a, &b), f, 3, 4.5, 4 * EPS);
}

static void priors_refuse(void **state)
{
    (void)state;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(1)], before[FILTER_BYTES(1)];
    RF(filter) *f = one(memory, sizeof memory);
    RF(chart) chart = {RF_BOUNDED, 0, 1};
    RF(model) model = {0};
    model.dim = 1;
    model.charts = &chart;
    memcpy(before, memory, sizeof memory);
    const rf_real nan = RF(nan)(), inf = RF(infinity)();
    const struct {
        rf_chart_kind kind;
        int box;
        rf_real low, high, a, b;
        rf_status expected;
    } cases[] = {
        {RF_REAL, 0, 0, 0, nan, 1, RF_REFUSED_VALUE},       {RF_REAL, 0, 0, 0, 0, inf, RF_REFUSED_VALUE},
        {RF_REAL, 0, 0, 0, 0, 0, RF_REFUSED_WIDTH},         {RF_REAL, 0, 0, 0, 0, -1, RF_REFUSED_WIDTH},
        {RF_REAL, 1, 0, 0, 1, 1, RF_REFUSED_WIDTH},         {RF_REAL, 1, 0, 0, 2, 1, RF_REFUSED_WIDTH},
        {RF_POSITIVE, 0, 0, 0, -1, 1, RF_REFUSED_CHART},    {RF_POSITIVE, 1, 0, 0, -3, 1, RF_REFUSED_CHART},
        {RF_BOUNDED, 0, 0, 1, 1, RF_C(0.1), RF_REFUSED_CHART}, {RF_BOUNDED, 0, 0, 1, -1, RF_C(0.1), RF_REFUSED_CHART},
        {RF_BOUNDED, 1, 0, 1, 0, 2, RF_REFUSED_CHART},      {RF_BOUNDED, 1, 1, 1, 0, 1, RF_REFUSED_CHART},
        {RF_PERIODIC, 0, 1, 0, 0, 1, RF_REFUSED_CHART},     {RF_PERIODIC, 0, 0, nan, 0, 1, RF_REFUSED_CHART},
        {(rf_chart_kind)9, 0, 0, 1, 0, 1, RF_REFUSED_CHART},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        chart.kind = cases[i].kind, chart.low = cases[i].low, chart.high = cases[i].high;
        rf_status status = (cases[i].box ? RF(prior_box) : RF(prior_gaussian))(f, &model, &cases[i].a, &cases[i].b);
        if (status != cases[i].expected)
            fail_msg("case %zu: %d (%s)", i, status, rf_status_text(status));
        assert_memory_equal(before, memory, sizeof memory);
    }
    rf_real x = 1;
    assert_int_equal(RF(prior_gaussian)(NULL, &model, &x, &x), RF_REFUSED_NULL);
    assert_int_equal(RF(prior_gaussian)(f, NULL, &x, &x), RF_REFUSED_NULL);
    model.charts = NULL;
    assert_int_equal(RF(prior_gaussian)(f, &model, NULL, &x), RF_REFUSED_NULL);
    model.dim = 2;
    assert_int_equal(RF(prior_gaussian)(f, &model, &x, &x), RF_REFUSED_DIMENSION);
}

static void covariance_prior(void **state)
{
    (void)state;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(3)];
    RF(filter) *f;
    assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, 3, 1), RF_OK);
    const rf_real mean[] = {1, 2, 3}, good[] = {4, 1, RF_C(0.5), 1, 3, -1, RF_C(0.5), -1, 2};
    assert_int_equal(RF(prior_covariance)(f, mean, good), RF_OK);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned j = 0; j < 3; j++)
            check_within(RF(filter_covariance)(f, i, j), good[3 * i + j], 8 * EPS);
    const rf_real skew[] = {4, 1, 0, 2, 3, 0, 0, 0, 2}, indefinite[] = {1, 2, 0, 2, 1, 0, 0, 0, 1};
    const rf_real singular[] = {1, 1, 0, 1, 1, 0, 0, 0, 1};
    assert_int_equal(RF(prior_covariance)(f, mean, skew), RF_REFUSED_COVARIANCE);
    assert_int_equal(RF(prior_covariance)(f, mean, indefinite), RF_REFUSED_COVARIANCE);
    assert_int_equal(RF(prior_covariance)(f, mean, singular), RF_REFUSED_COVARIANCE);
    const RF(model) model = {.dim = 3};
    const rf_real other[] = {9, 9, 9}, width[] = {1, 1, -1}; /* the last is refused, and so are all */
    assert_int_equal(RF(prior_gaussian)(f, &model, other, width), RF_REFUSED_WIDTH);
    check_within(RF(filter_mean)(f)[0], 1, 0);
    check_within(RF(filter_covariance)(f, 0, 1), 1, 8 * EPS);
}

/* So narrow that 1 + variance rounds to 1: sd / mean itself is the standard deviation in the chart. */
static void narrow_positive_prior(void **state)
{
    (void)state;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(1)];
    RF(filter) *f = one(memory, sizeof memory);
    const RF(chart) chart = {RF_POSITIVE, 0, 0};
    const RF(model) model = {.dim = 1, .charts = &chart};
    const rf_real mean = 2, ratio = RF_PRECISION == 32 ? RF_C(1e-5) : RF_C(1e-9), sd = mean * ratio;
    assert_int_equal(RF(prior_gaussian)(f, &model, &mean, &sd), RF_OK);
    check_within(RF(filter_sd)(f, 0) / ratio, 1, 4 * EPS);
    check_within(RF(filter_mean)(f)[0], log(2), 4 * EPS);
}

/* Draws of many parameters are independent normals. 5 standard errors. */
static void draws_are_normal(void **state)
{
    (void)state;
    enum { MANY = 5, DRAWS = 4000 };
    RF_ALIGNED unsigned char memory[FILTER_BYTES(MANY)];
    RF(filter) *f;
    const RF(model) model = {.dim = MANY};
    double sum[MANY] = {0}, product[MANY][MANY] = {{0}};
    assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, MANY, 1), RF_OK);
    for (uint32_t k = 0; k < DRAWS; k++) {
        rf_real x[MANY];
        RF(filter_draw)(f, &model, k, RF_FOR_USER, x);
        for (unsigned i = 0; i < MANY; i++) {
            sum[i] += (double)x[i];
            for (unsigned j = 0; j <= i; j++)
                product[i][j] += (double)x[i] * (double)x[j];
        }
    }
    for (unsigned i = 0; i < MANY; i++) {
        check_within(sum[i] / DRAWS, 0, 5 / sqrt(DRAWS));
        for (unsigned j = 0; j <= i; j++)
            check_within(product[i][j] / DRAWS, i == j, 5 * sqrt(i == j ? 2.0 : 1.0) / sqrt(DRAWS));
    }
}

/* A restored filter equals the saved one. Invalid bytes are refused and change nothing. */
static void restoring(void **state)
{
    (void)state;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(2)], before[FILTER_BYTES(2)];
    RF(filter) *f;
    const rf_real mean[] = {1, -2}, factor[] = {3, RF_C(-0.5), 2}, nan[] = {RF(nan)(), 0, 1}, flat[] = {1, 0, 0},
                  rest[] = {0, RF_C(1e-9)};
    memset(memory, 0, sizeof memory);
    assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, 2, 1), RF_OK);
    memcpy(before, memory, sizeof before);
    assert_int_equal(RF(filter_restore)(NULL, 7, 9, mean, factor, NULL), RF_REFUSED_NULL);
    assert_int_equal(RF(filter_restore)(f, 7, 9, nan, factor, NULL), RF_REFUSED_VALUE);
    assert_int_equal(RF(filter_restore)(f, 7, 9, mean, nan, NULL), RF_REFUSED_VALUE);
    assert_int_equal(RF(filter_restore)(f, 7, 9, mean, flat, NULL), RF_REFUSED_COVARIANCE);
    assert_int_equal(RF(filter_restore)(f, 7, 9, mean, factor, nan), RF_REFUSED_VALUE);
    assert_memory_equal(memory, before, sizeof before);
    assert_int_equal(RF(filter_restore)(f, 7, 9, mean, factor, rest), RF_OK);
    assert_true(RF(filter_rest)(f, 0) == 0 && RF(filter_rest)(f, 1) == rest[1]);
    assert_int_equal(RF(filter_restore)(f, 7, 9, mean, factor, NULL), RF_OK);
    assert_true(RF(filter_rest)(f, 1) == 0);
    assert_true(f->seed == 7 && f->tally.update == 9);
    assert_memory_equal(RF(filter_mean)(f), mean, sizeof mean);
    assert_memory_equal(RF(filter_factor)(f), factor, sizeof factor);
}

static void charts_invert(void **state)
{
    (void)state;
    const RF(chart) charts[] = {{RF_REAL, 0, 0}, {RF_POSITIVE, 0, 0}, {RF_BOUNDED, -2, 5}, {RF_PERIODIC, -1, 4}};
    for (int k = 0; k < 4; k++)
        for (int i = -20; i <= 20; i++) {
            rf_real y = (rf_real)i / 8, x = RF(chart_natural)(&charts[k], y), back = RF(chart_coordinate)(&charts[k], x);
            check_within(RF(chart_natural)(&charts[k], back), x, 64 * EPS);
            if (charts[k].kind >= RF_BOUNDED)
                assert_true(x >= charts[k].low && x < charts[k].high);
        }
    check_within(RF(chart_natural)(&charts[3], RF_C(4.5)), -0.5, 4 * EPS);
    check_within(RF(chart_natural)(&charts[3], RF_C(-1001.0)), -1, 1e4 * EPS);
}

static void messages(void **state)
{
    (void)state;
    assert_string_equal(rf_status_text(RF_OK), "fine");
    assert_string_not_equal(rf_status_text(RF_REFUSED_ENGINE), "unknown status");
    assert_string_equal(rf_status_text(RF_NOTE_BAD | RF_NOTE_CLAMPED), rf_status_text(RF_NOTE_BAD));
    assert_string_equal(rf_status_text(-999), "unknown status");
#define RF_STATUS(name, value, text) assert_string_equal(rf_status_text(name), text);
#include "rejfilt/status.def"
#undef RF_STATUS
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_agree),     cmocka_unit_test(memory_is_respected), cmocka_unit_test(init_refuses),
        cmocka_unit_test(priors_by_chart), cmocka_unit_test(priors_refuse),       cmocka_unit_test(covariance_prior),
        cmocka_unit_test(charts_invert),   cmocka_unit_test(messages),            cmocka_unit_test(narrow_positive_prior),
        cmocka_unit_test(draws_are_normal),
        cmocka_unit_test(restoring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
