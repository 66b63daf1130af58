/* Means so far from zero that steps and standard deviations are near the spacing of numbers there. Per precision. */
#include "updating.h"

#include "rejfilt/detail/tally.h"

static double spacing(double v) { return v == 0 ? 0 : ldexp((double)RF_EPSILON, ilogb(v)); }

/* ---- Intervals ---- */

#if RF_PRECISION == 32
enum { RUNS = 100, RECORDS = 2000, LEAST = 88 };

/* 2,000 weak records of a spin at `offset` + N(0, 1), each measured at the steepest point of a wide fringe. Returns
   whether the 95 % interval holds the truth; adds its variance. */
static int covers(double offset, uint64_t seed, const RF(engine) *engine, double *variance)
{
    fixture x;
    const double t = 0.1;
    const rf_real setting = (rf_real)(offset - PI / (2 * t));
    const double truth = offset + sqrt(-2 * log(1 - test_uniform(&seed, 0, 1))) * cos(test_uniform(&seed, 0, 2 * PI));
    set_up_named(&x, "precession", seed);
    x.options.sampler = RF_WEIGHT;
    x.options.attempts = 2000;
    set_prior(&x, offset, 1);
    for (int k = 0; k < RECORDS; k++) {
        const double amplitude = cos((truth - (double)setting) * t / 2);
        const rf_real record[] = {(rf_real)t, setting, test_uniform(&seed, 0, 1) < amplitude * amplitude};
        assert_int_equal(update(&x, record, 1, engine), RF_OK);
    }
    const double sd = (double)RF(filter_sd)(x.f, 0);
    *variance += sd * sd;
    return fabs((double)RF(filter_mean)(x.f)[0] - truth) <= 1.959964 * sd;
}

/* At 1e6 the standard deviation ends at 3.5 spacings, and a step is a twelfth of a spacing. Of 100 intervals of 95
   %, 95 hold the truth on average, with a standard deviation of 2.2: fewer than LEAST once in 250 by chance. If
   small steps were lost, about 64 would at 1e5 and 38 at 1e6. Only in float, because it takes seconds; the other
   tests here also run in double. */
static void intervals_hold_at_every_offset(void **state)
{
    (void)state;
    const double offsets[] = {0, 1e3, 1e5, 1e6};
    rf_engine *engine = rf_engine_open("simd", NULL, 0);
    assert_non_null(engine);
    for (unsigned k = 0; k < 4; k++) {
        int held = 0;
        double variance = 0;
        for (uint64_t run = 0; run < RUNS; run++)
            held += covers(offsets[k], 1000 * k + run, ENGINE(engine), &variance);
        check_within(sqrt(variance / RUNS), 0.2182, 0.01); /* 1/√(1 + 2000 t²): not by wider intervals */
        if (held < LEAST)
            fail_msg("at %g %d of %d intervals hold the truth", offsets[k], held, RUNS);
    }
    rf_engine_close(engine);
}
#endif

/* ---- Steps ---- */

/* An engine that returns, for every z, a mean of 1/100 and, for a strict filter, a variance of 1. */
static rf_status nudge(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    (void)self, (void)begin;
    const unsigned dim = task->model->dim;
    const int64_t z = 8192 * (int64_t)count / 100; /* in units of 1/8192 */
    tally->count.accepted += count;
    tally->largest = 1;
    for (unsigned i = 0; i < dim; i++)
        RF(tally_z)(tally)[i] += z;
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++)
            RF(tally_zz)(tally)[RF_TRIANGLE(i) + j] += z * z / count + (i == j) * (int64_t)(count - 1) * 8192 * 8192;
    return RF_OK;
}

static rf_status failing(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    (void)nudge(self, task, begin, count, tally);
    return RF_REFUSED_ENGINE;
}

static rf_real flat(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    (void)x, (void)setting, (void)outcome;
    return 1;
}

static const RF(engine) nudging = {nudge, NULL, NULL}, broken = {failing, NULL, NULL};

/* A filter of `dim` independent parameters with mean 1,000,000 and a standard deviation of 4 spacings. */
static void set_up_far(fixture *x, unsigned dim)
{
    rf_real mean[DIM], variance[DIM * DIM] = {0};
    memset(x, 0, sizeof *x);
    x->model = (RF(model)){.likelihood = flat, .dim = (uint16_t)dim};
    set_up_filter(x, 1);
    for (unsigned i = 0; i < dim; i++) {
        mean[i] = (rf_real)1e6;
        variance[i * dim + i] = (rf_real)pow(4 * spacing(1e6), 2);
    }
    assert_int_equal(RF(prior_covariance)(x->f, mean, variance), RF_OK);
    x->options.strict = 1;
}

static double place(const fixture *x, unsigned i)
{
    return (double)RF(filter_mean)(x->f)[i] - 1e6 + (double)RF(filter_rest)(x->f, i);
}

/* Steps of 1/25 of the spacing: a thousand of them add up to forty spacings, with any other calls between. */
static void small_steps_add_up(void **state)
{
    (void)state;
    const rf_real record[] = {1};
    for (unsigned dim = 1; dim <= 3; dim++) {
        fixture x, y;
        double moved = 0;
        set_up_far(&x, dim);
        y = x;
        for (int k = 0; k < 1000; k++) {
            moved += (double)RF(filter_factor)(x.f)[0] / 100;
            assert_int_equal(update(&x, record, 1, &nudging) & ~RF_NOTE_FEW, RF_OK);
            check_below(fabs((double)RF(filter_rest)(x.f, 0)), spacing(1e6) / 2);
        }
        check_within(moved, 40 * spacing(1e6), spacing(1e6));
        check_within(place(&x, 0), moved, 0.05 * spacing(1e6));
        /* the same with a checkpoint after every step, and with engines that fail between steps */
        y.f = (RF(filter) *)(void *)y.memory;
        for (int k = 0; k < 1000; k++) {
            rf_real mean[DIM], factor[DIM * DIM], rest[DIM];
            assert_int_equal(update(&y, record, 1, &broken), RF_REFUSED_ENGINE);
            assert_int_equal(update(&y, record, 1, &nudging) & ~RF_NOTE_FEW, RF_OK);
            memcpy(mean, RF(filter_mean)(y.f), dim * sizeof *mean);
            memcpy(factor, RF(filter_factor)(y.f), RF_TRIANGLE(dim) * sizeof *factor);
            for (unsigned i = 0; i < dim; i++)
                rest[i] = RF(filter_rest)(y.f, i);
            assert_int_equal(RF(filter_init)(&y.f, y.memory, sizeof y.memory, dim, 5), RF_OK);
            assert_int_equal(RF(filter_restore)(y.f, 1, (uint32_t)k + 1, mean, factor, rest), RF_OK);
        }
        for (unsigned i = 0; i < dim; i++)
            assert_true(place(&x, i) == place(&y, i));
        assert_memory_equal(RF(filter_factor)(x.f), RF(filter_factor)(y.f), RF_TRIANGLE(dim) * sizeof(rf_real));
    }
}

/* Fleets lose no small steps either, also if an engine fails. */
static void small_steps_of_fleets(void **state)
{
    (void)state;
    enum { COUNT = 70 };
    static fixture x[COUNT];
    RF(filter) *filters[COUNT];
    rf_real records[COUNT], rest[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        set_up_far(&x[i], 1);
        filters[i] = x[i].f;
        records[i] = 1;
    }
    for (int k = 0; k < 1000; k++)
        assert_int_equal(RF(fleet_update)(filters, COUNT, &x[0].model, records, &x[0].options, &nudging, NULL) & ~RF_NOTE_FEW, RF_OK);
    for (unsigned i = 0; i < COUNT; i++) {
        check_within(place(&x[i], 0), 40 * spacing(1e6), spacing(1e6));
        rest[i] = RF(filter_rest)(filters[i], 0);
    }
    assert_true(rest[0] != 0);
    assert_int_equal(RF(fleet_update)(filters, COUNT, &x[0].model, records, &x[0].options, &broken, NULL),
                     RF_REFUSED_ENGINE);
    for (unsigned i = 0; i < COUNT; i++)
        assert_true(RF(filter_rest)(filters[i], 0) == rest[i]);
}

/* Dynamics move the mean by 1/20 of the spacing and keep the remainder. A new prior has no remainder. */
static void small_moves_add_up(void **state)
{
    (void)state;
    fixture x;
    set_up_far(&x, 2);
    const rf_real v = (rf_real)(spacing(1e6) / 20), mean[] = {(rf_real)1e6, v}, F[] = {1, 1, 0, 1},
                  still[] = {1, 0, 0, 1}, variance[] = {1, 0, 0, 1};
    assert_int_equal(RF(prior_covariance)(x.f, mean, variance), RF_OK);
    for (int k = 0; k < 1000; k++) {
        assert_int_equal(RF(evolve)(x.f, F, NULL), RF_OK);
        assert_int_equal(RF(evolve)(x.f, still, NULL), RF_OK);
        check_within(place(&x, 0), (k + 1) * (double)v, 0.01 * (double)v);
    }
    assert_int_equal(RF(evolve)(x.f, F, NULL), RF_OK);
    assert_true(RF(filter_rest)(x.f, 0) != 0);
    assert_int_equal(RF(prior_covariance)(x.f, mean, variance), RF_OK);
    assert_true(RF(filter_rest)(x.f, 0) == 0);
    assert_int_equal(RF(evolve)(x.f, F, NULL), RF_OK);
    assert_int_equal(RF(prior_gaussian)(x.f, &x.model, mean, variance + 2), RF_REFUSED_WIDTH);
    assert_true(RF(filter_rest)(x.f, 0) != 0);
    assert_int_equal(RF(prior_gaussian)(x.f, &x.model, mean, mean), RF_OK);
    assert_true(RF(filter_rest)(x.f, 0) == 0);
}

/* ---- Standard deviations ---- */

/* Sharper than the spacing of numbers: `setting` is the centre, the outcome the width. */
static rf_real sharp(const rf_real x[], const rf_real setting[], rf_real width)
{
    const rf_real d = (x[0] - setting[0]) / width;
    return RF(exp)(RF(max)(RF_C(-0.5) * d * d, RF_C(-80.0)));
}

/* Ever more informative records: at the end the standard deviation is held at the spacing, which the note reports,
   and the model still sees different numbers for neighbours of the mean. */
static void sd_ends_at_the_spacing(void **state)
{
    (void)state;
    const struct {
        RF(chart) chart;
        double centre, sd;
    } cases[] = {{{RF_REAL, 0, 0}, 0.2456, 1},
                 {{RF_REAL, 0, 0}, -1e6, 100},
                 {{RF_REAL, 0, 0}, 65536, 100},
                 {{RF_POSITIVE, 0, 0}, 1.0001, 0.5},
                 {{RF_POSITIVE, 0, 0}, 1e9, 1e9},
                 {{RF_BOUNDED, 0, 1}, 0.5, 0.3},
                 {{RF_BOUNDED, 0, 1}, 0.99, 0.3},
                 {{RF_BOUNDED, -1, 1}, 1e-5, 0.3},
                 {{RF_BOUNDED, 1000, 1001}, 1000.75, 0.3},
                 {{RF_PERIODIC, -4, 4}, 3.5, 0.1},
                 {{RF_PERIODIC, 100, 101}, 100.3, 0.1}};
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        fixture x;
        set_up_own(&x, sharp, k);
        x.model.charts = &cases[k].chart;
        x.options.sampler = RF_WEIGHT;
        x.options.attempts = 1000;
        const rf_real mean = (rf_real)cases[k].centre, sd = (rf_real)cases[k].sd;
        assert_int_equal(RF(prior_gaussian)(x.f, &x.model, &mean, &sd), RF_OK);
        rf_status notes = RF_OK;
        for (int i = 0; i < 200; i++) {
            const rf_real y = RF(filter_mean)(x.f)[0], s = RF(filter_sd)(x.f, 0);
            const rf_real width = RF(chart_natural)(&cases[k].chart, y + s) - RF(chart_natural)(&cases[k].chart, y);
            const rf_real record[] = {(rf_real)cases[k].centre, RF(max)(width / 2, RF_TINY)};
            notes |= update(&x, record, 1, NULL);
            const rf_real at = RF(filter_mean)(x.f)[0], width_now = RF(filter_sd)(x.f, 0);
            if (!((double)width_now >= spacing((double)at)))
                fail_msg("case %u, update %d: sd %g at %.9g", k, i, (double)width_now, (double)at);
            const double low = (double)RF(chart_natural)(&cases[k].chart, at - 2 * width_now);
            const double high = (double)RF(chart_natural)(&cases[k].chart, at + 2 * width_now);
            const double coarsest =
                spacing(cases[k].chart.kind == RF_BOUNDED ? fmax(high, high - (double)cases[k].chart.low) : high);
            const int is_narrow = high - low <= 16 * coarsest || (double)width_now <= 4 * spacing((double)at);
            if (!(high - low >= 2 * coarsest) || !(is_narrow || !(notes & RF_NOTE_COARSE)))
                fail_msg("case %u, update %d: from %.17g to %.17g", k, i, low, high);
        }
        if (!(notes & RF_NOTE_COARSE))
            fail_msg("case %u: sd %g without a note", k, (double)RF(filter_sd)(x.f, 0));
    }
}

/* One parameter at its spacing leaves the other parameter and their correlation unchanged. */
static void sd_of_one_of_two(void **state)
{
    (void)state;
    const rf_real record[] = {1};
    fixture x;
    set_up_far(&x, 2);
    const double s = spacing(1e6) / 100;
    const rf_real mean[] = {0, (rf_real)1e6}, variance[] = {1, (rf_real)(s / 2), (rf_real)(s / 2), (rf_real)(s * s)};
    assert_int_equal(RF(prior_covariance)(x.f, mean, variance), RF_OK);
    assert_int_equal(update(&x, record, 1, &nudging) & ~RF_NOTE_FEW, RF_NOTE_COARSE);
    check_within(RF(filter_sd)(x.f, 0), 1, 0.02);
    assert_true((double)RF(filter_sd)(x.f, 1) >= spacing(1e6) && (double)RF(filter_sd)(x.f, 1) <= 2.1 * spacing(1e6));
    check_within(RF(filter_covariance)(x.f, 0, 1) / (RF(filter_sd)(x.f, 0) * RF(filter_sd)(x.f, 1)), 0.5, 0.02);
    /* above the spacing there is no note */
    set_up_far(&x, 2);
    for (int k = 0; k < 10; k++)
        assert_int_equal(update(&x, record, 1, &nudging) & ~RF_NOTE_FEW, RF_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_steps_add_up),
        cmocka_unit_test(small_steps_of_fleets),
        cmocka_unit_test(small_moves_add_up),
        cmocka_unit_test(sd_ends_at_the_spacing),
        cmocka_unit_test(sd_of_one_of_two),
#if RF_PRECISION == 32
        cmocka_unit_test(intervals_hold_at_every_offset),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
