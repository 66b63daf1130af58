/* A few Gaussians for chips: points; splitting and merging compared with moments; updates compared with integrals;
   bad input; coverage of intervals. Compiled twice: with up to eight Gaussians, and with one. */
#include "testing.h"

#include <math.h>

#include "gaussians.c"

/* ---- Likelihoods ---- */

static float constant(const float y[], const float setting[], float outcome)
{
    return (void)y, (void)outcome, setting[0];
}

/* A measurement of y with the standard deviation setting[0]. */
static float bell(const float y[], const float setting[], float outcome)
{
    const float off = (y[0] - outcome) / setting[0];
    return rf32_exp(-0.5f * off * off);
}

/* P(still excited after setting[0]), y = ln T. */
static float decay(const float y[], const float setting[], float outcome)
{
    const float still_there = rf32_exp(-setting[0] * rf32_exp(-y[0]));
    return outcome != 0 ? still_there : 1 - still_there;
}

/* Precession for a time setting[0] at a frequency anywhere in (0, π). */
static float frequency(float y) { return 3.14159265f * rf32_normal_cdf(y); }
static float precession(const float y[], const float setting[], float outcome)
{
    const float zero = rf32_sin_squared(0.5f * frequency(y[0]) * setting[0]);
    return outcome != 0 ? 1 - zero : zero;
}

static float bad(const float y[], const float setting[], float outcome)
{
    (void)outcome;
    return y[0] < 0 ? setting[0] : 0.5f;
}

/* ---- Pieces ---- */

static void points_are_a_standard_normal(void **state)
{
    (void)state;
    double one = 0, square = 0, moment[3] = {0};
    for (unsigned k = 0; k < POINTS / 2; k++) { /* the points of the rule */
        const double u = (2.0 * k + 1) / POINTS, z = 4.8 * (u + 0.6 * u * u * u) / 1.6,
                     w = (1 + 1.8 * u * u) * exp(-0.5 * z * z);
        one += 2 * w;
        square += 2 * w * z * z;
    }
    for (unsigned k = 0; k < POINTS / 2; k++) {
        const double u = (2.0 * k + 1) / POINTS, z = 4.8 * (u + 0.6 * u * u * u) / 1.6,
                     w = (1 + 1.8 * u * u) * exp(-0.5 * z * z);
        check_within(points[k].z / (z * sqrt(one / square)), 1, 0x1p-22);
        check_within(points[k].weight / (w / one), 1, 0x1p-22);
        for (unsigned i = 0; i < 3; i++)
            moment[i] += 2 * points[k].weight * pow((double)points[k].z, 2 * i);
    }
    check_within(moment[0], 1, 1e-9);
    check_within(moment[1], 1, 1e-9);
    check_within(moment[2], 3, 1e-3); /* missing from the tails beyond 4.3 */
}

/* An uninformative outcome changes no bit, however often; at other likelihood levels rounding adds two units in the
   last place. */
static void nothing_learnt_changes_nothing(void **state)
{
    (void)state;
    for (float level = 0.001f; level < 1; level += 0.001f) {
        rf32_gaussians g;
        rf32_gaussians_init(&g, 0.7f, 0.123f);
        rf32_gaussians_update(&g, constant, &level, 1);
        assert_true(g.part[0].mean == 0.7f);
        check_within(g.part[0].sd / 0.123f, 1, 0x1p-22);
    }
    const float levels[] = {1, 0.5f, 0.3f};
    for (unsigned k = 0; k < 3; k++) {
        rf32_gaussians g;
        assert_int_equal(rf32_gaussians_init(&g, 0.7f, 0.123f), RF_OK);
        for (unsigned n = 0; n < 1000; n++)
            assert_int_equal(rf32_gaussians_update(&g, constant, &levels[k], 1), RF_OK);
        assert_int_equal(g.count, 1);
        assert_int_equal(g.updates, 1000);
        assert_true(g.part[0].weight == 1 && g.part[0].mean == 0.7f && g.part[0].sd == 0.123f);
        check_below(g.loss, 1e-3); /* rounding: 10⁻⁶ each at most */
        check_within(g.log_evidence, 1000 * log((double)levels[k]), 1e-4 * 1000);
    }
}

/* A Gaussian likelihood has a Gaussian posterior: nothing is lost, nothing is split. */
static void a_bell_is_exact(void **state)
{
    (void)state;
    const float widths[] = {0.5f, 1, 3};
    for (unsigned k = 0; k < 3; k++)
        for (float at = -1; at <= 1; at += 0.25f) {
            rf32_gaussians g;
            rf32_gaussians_init(&g, 2, 0.1f);
            const float sd = widths[k] * 0.1f;
            assert_int_equal(rf32_gaussians_update(&g, bell, &sd, 2 + at * 0.1f), RF_OK);
            const double gain = 1 / (1 + (double)widths[k] * widths[k]);
            assert_int_equal(g.count, 1);
            check_within((g.part[0].mean - 2) / 0.1, at * gain, 2e-4);
            check_within(g.part[0].sd / 0.1, sqrt(1 - gain), 2e-4);
            check_within(g.log_evidence, 0.5 * log(1 - gain) - 0.5 * at * at * gain, 2e-4);
            check_below(g.loss, 1e-4);
        }
}

/* One update of one Gaussian compared with an integral: moments, evidence, and the divergence, which is the loss. */
static void an_update_is_the_exact_one(void **state)
{
    (void)state;
    const struct {
        rf32_likelihood *likelihood;
        float mean, sd, setting;
    } cases[] = {{decay, 4, 0.66f, 70}, {decay, 4, 0.1f, 70},        {decay, 4, 0.66f, 300},
                 {precession, 0, 1, 1}, {precession, 0.3f, 0.2f, 4}, {precession, 0, 0.3f, 5}};
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int outcome = 0; outcome < 2; outcome++) {
            learning l = {
                .likelihood = cases[k].likelihood, .setting = &cases[k].setting, .outcome = (float)outcome, .count = 1};
            double p = 0, first = 0, second = 0, entropy = 0;
            l.before[0] = (rf32_gaussian){1, cases[k].mean, cases[k].sd};
            evaluate(&l, 0);
            for (double z = -7; z <= 7; z += 0.01) {
                const float y = (float)(cases[k].mean + cases[k].sd * z);
                const double of = (double)cases[k].likelihood(&y, l.setting, l.outcome),
                             w = 0.01 * exp(-0.5 * z * z) / sqrt(2 * PI) * of;
                p += w, first += w * z, second += w * z * z, entropy += of > 0 ? w * log(of) : 0;
            }
            const double mean = first / p, variance = second / p - mean * mean;
            const double loss = entropy / p - log(p) - 0.5 * (variance + mean * mean - 1 - log(variance));
            check_within(l.after[0].weight, p, 1e-3 * p);
            check_within((l.after[0].mean - cases[k].mean) / cases[k].sd, mean, 1e-3);
            check_within(sqrt((double)l.after[0].variance) / cases[k].sd, sqrt(variance), 1e-3);
            check_within(l.after[0].loss, loss, 0.05 * loss + 1e-5); /* where ℓ is 0, ℓ·lnℓ is not smooth */
        }
}

#if RF_GAUSSIANS_MAX > 1
static double moment_of(const learning *l, unsigned power)
{
    double total = 0;
    for (unsigned i = 0; i < l->count; i++) {
        const double m = l->before[i].mean, v = (double)l->before[i].sd * l->before[i].sd;
        total += l->before[i].weight * (power == 0   ? 1
                                        : power == 1 ? m
                                        : power == 2 ? m * m + v
                                        : power == 3 ? m * m * m + 3 * m * v
                                                     : m * m * m * m + 6 * m * m * v + 3 * v * v);
    }
    return total;
}

static void three_have_the_moments_of_one(void **state)
{
    (void)state;
    const float level = 1;
    learning l = {.likelihood = constant, .setting = &level, .outcome = 1, .count = 1};
    double before[5];
    l.before[0] = (rf32_gaussian){0.7f, 0.4f, 1.3f};
    for (unsigned power = 0; power < 5; power++)
        before[power] = moment_of(&l, power);
    split(&l, 0);
    assert_int_equal(l.count, 3);
    assert_true(l.before[1].mean < l.before[0].mean && l.before[0].mean < l.before[2].mean);
    for (unsigned power = 0; power < 5; power++)
        check_within(moment_of(&l, power), before[power], 2e-6 * before[power]);
}

/* The closest pair is merged; an integral finds no cheaper pair. */
static void the_cheapest_pair_is_merged(void **state)
{
    (void)state;
    learning l = {.count = ROOM};
    for (unsigned i = 0; i < ROOM; i++)
        l.after[i] = (posterior){1.0f / ROOM, 10.0f * (float)i, 1, 0};
    l.after[5].mean = 20.5f; /* near the third */
    const double cost = merge_all(&l);
    assert_int_equal(l.count, RF_GAUSSIANS_MAX);
    check_within(l.after[2].mean, 20.25, 1e-5);
    check_within(l.after[2].variance, 1 + 0.25 * 0.25, 1e-5);
    check_within(l.after[2].weight, 2.0 / ROOM, 1e-7);
    double total = 0, mean = 0;
    for (unsigned i = 0; i < l.count; i++) {
        total += l.after[i].weight;
        mean += l.after[i].weight * l.after[i].mean;
    }
    check_within(total, 1, 1e-6);
    check_within(mean, (10 * (ROOM * (ROOM - 1) / 2.0 - 5) + 20.5) / ROOM, 1e-4);
    assert_true(cost > log1p(0.25 * 0.25) / ROOM);
}

/* Two modes: both stay, with their weights; quantiles lie in them and between them. */
static void two_modes_stay(void **state)
{
    (void)state;
    const float time = 2;
    rf32_gaussians g;
    rf32_gaussians_init(&g, 0, 1);
    for (unsigned n = 0; n < 20; n++) /* half turns: frequencies near 0 and near π */
        assert_int_equal(rf32_gaussians_update(&g, precession, &time, 1), RF_OK);
    assert_true(g.count > 1);
    check_within(frequency(rf32_gaussians_mean(&g)), PI / 2, 0.02);
    check_below(frequency(rf32_gaussians_quantile(&g, 0.45f)), 0.4);
    check_below(PI - frequency(rf32_gaussians_quantile(&g, 0.55f)), 0.4);
}
#endif

/* ---- Around updates ---- */

static void widths_change_as_asked(void **state)
{
    (void)state;
    rf32_gaussians g;
    rf32_gaussians_init(&g, 1, 3);
    assert_int_equal(rf32_gaussians_diffuse(&g, 16), RF_OK);
    check_within(rf32_gaussians_sd(&g), 5, 1e-6);
    assert_int_equal(rf32_gaussians_stretch(&g, 0.5f), RF_OK);
    check_within(rf32_gaussians_sd(&g), 2.5, 1e-6);
    assert_true(rf32_gaussians_mean(&g) == 1);
    check_within(rf32_gaussians_quantile(&g, 0.975f), 1 + 2.5 * 1.959964, 1e-5);
    assert_int_equal(rf32_gaussians_init(&g, 1, 1e-9f), RF_NOTE_COARSE); /* below the spacing of floats near 1 */
    assert_true(1 + g.part[0].sd > 1);
}

static void refused_and_nothing_changed(void **state)
{
    (void)state;
    const float level = 1;
    rf32_gaussians g, before;
    rf32_gaussians_init(&g, 1, 3);
    before = g;
    assert_int_equal(rf32_gaussians_init(&g, rf32_nan(), 1), RF_REFUSED_VALUE);
    assert_int_equal(rf32_gaussians_init(&g, rf32_infinity(), 1), RF_REFUSED_VALUE);
    assert_int_equal(rf32_gaussians_init(&g, 0, 0), RF_REFUSED_WIDTH);
    assert_int_equal(rf32_gaussians_init(&g, 0, -1), RF_REFUSED_WIDTH);
    assert_int_equal(rf32_gaussians_init(&g, 0, rf32_nan()), RF_REFUSED_WIDTH);
    assert_int_equal(rf32_gaussians_diffuse(&g, -1), RF_REFUSED_VALUE);
    assert_int_equal(rf32_gaussians_diffuse(&g, rf32_nan()), RF_REFUSED_VALUE);
    assert_int_equal(rf32_gaussians_stretch(&g, 0), RF_REFUSED_VALUE);
    assert_int_equal(rf32_gaussians_stretch(&g, rf32_infinity()), RF_REFUSED_VALUE);
    assert_int_equal(rf32_gaussians_update(&g, constant, &level, rf32_nan()), RF_REFUSED_EVIDENCE);
    assert_memory_equal(&g, &before, sizeof g);
}

static void bad_likelihoods_count_as_zero(void **state)
{
    (void)state;
    const float values[] = {-1, rf32_infinity(), rf32_nan()};
    for (unsigned k = 0; k < 3; k++) {
        rf32_gaussians g, zero;
        const float nothing = 0;
        rf32_gaussians_init(&g, 0, 1);
        rf32_gaussians_init(&zero, 0, 1);
        assert_int_equal(rf32_gaussians_update(&g, bad, &values[k], 1), RF_NOTE_BAD);
        assert_int_equal(rf32_gaussians_update(&zero, bad, &nothing, 1), RF_OK);
        assert_memory_equal(&g, &zero, sizeof g);
        assert_true(rf32_gaussians_mean(&g) > 0.5f);
    }
}

static void the_impossible_widens(void **state)
{
    (void)state;
    const float levels[] = {0, rf32_nan()};
    for (unsigned k = 0; k < 2; k++) {
        rf32_gaussians g;
        rf32_gaussians_init(&g, 0.5f, 2);
        assert_int_equal(rf32_gaussians_update(&g, constant, &levels[k], 1), k ? RF_NOTE_BROKEN | RF_NOTE_BAD : RF_NOTE_WIDENED);
        assert_true(rf32_gaussians_mean(&g) == 0.5f);
        check_within(rf32_gaussians_sd(&g), 2 * sqrt(2), 1e-6);
    }
}

/* Many improbable outcomes in a row: all numbers stay finite, and the weights have sum 1. */
static void nothing_breaks_it(void **state)
{
    (void)state;
    static rf32_likelihood *const each[] = {decay, precession, bell, constant, bad};
    uint64_t source = 1;
    rf32_gaussians g;
    rf32_gaussians_init(&g, 0, 1);
    for (unsigned k = 0; k < 20000; k++) {
        const uint64_t word = test_word(&source);
        const float setting = rf32_exp((float)(word % 1000) * 0.02f - 10);
        const rf_status status = rf32_gaussians_update(&g, each[word / 1000 % 5], &setting, (float)(word >> 60 & 1));
        assert_true(status >= 0);
        if (word % 7 == 0)
            rf32_gaussians_diffuse(&g, setting);
        double total = 0;
        assert_in_range(g.count, 1, RF_GAUSSIANS_MAX);
        for (unsigned i = 0; i < g.count; i++) {
            assert_true(rf32_is_finite(g.part[i].mean) && g.part[i].sd >= RF32_TINY && g.part[i].sd <= RF32_LIMIT &&
                        g.part[i].weight > 0);
            total += g.part[i].weight;
        }
        check_within(total, 1, 1e-5);
        assert_true(rf32_is_finite(g.loss) && rf32_is_finite(rf32_gaussians_quantile(&g, 0.025f)));
    }
}

/* ---- Whole runs ---- */

#if RF_GAUSSIANS_MAX == 1
/* Lifetimes anywhere in a decade, waits of 1.25 times the estimate. 95 % intervals of 2,000 runs: ± 0.5 %. The sd of
   the exact posterior is 0.1 after 150 outcomes. */
static void intervals_hold_a_lifetime(void **state)
{
    (void)state;
    enum { RUNS = 2000, RECORDS = 150 };
    uint64_t source = 3;
    unsigned held = 0;
    double squares = 0, loss = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        const double truth = test_uniform(&source, 0, log(10));
        rf32_gaussians g;
        rf32_gaussians_init(&g, 1.1513f, 0.6647f); /* mean and sd of the logarithm over the decade */
        for (unsigned n = 0; n < RECORDS; n++) {
            const float wait = 1.25f * rf32_exp(rf32_gaussians_mean(&g));
            rf32_gaussians_update(&g, decay, &wait, test_uniform(&source, 0, 1) < exp(-wait * exp(-truth)));
        }
        const double error = (double)rf32_gaussians_mean(&g) - truth;
        held += (double)rf32_gaussians_quantile(&g, 0.025f) <= truth &&
                truth <= (double)rf32_gaussians_quantile(&g, 0.975f);
        squares += error * error / RUNS;
        loss += g.loss / RUNS;
    }
    check_within(100.0 * held / RUNS, 95, 2);
    check_below(sqrt(squares), 0.11);
    check_below(loss, 0.01);
}
#endif

/* Given times 1..100: the intervals of eight Gaussians hold the frequency; one Gaussian's do not, and its loss shows
   it. */
static void intervals_hold_a_frequency(void **state)
{
    (void)state;
    enum { RUNS = RF_GAUSSIANS_MAX > 1 ? 1000 : 200, RECORDS = 100 };
    uint64_t source = 3;
    unsigned held = 0, far = 0, lossy = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        const double truth = test_uniform(&source, 0, PI);
        rf32_gaussians g;
        rf32_gaussians_init(&g, 0, 1);
        for (unsigned n = 1; n <= RECORDS; n++) {
            const float time = (float)n;
            rf32_gaussians_update(&g, precession, &time, test_uniform(&source, 0, 1) < 0.5 + 0.5 * cos(truth * n));
        }
        const double low = frequency(rf32_gaussians_quantile(&g, 0.025f)),
                     high = frequency(rf32_gaussians_quantile(&g, 0.975f));
        held += low <= truth && truth <= high;
        far += fabs(frequency(rf32_gaussians_mean(&g)) - truth) > 0.01; /* exact sds are 0.002 */
        lossy += g.loss > 1;
    }
#if RF_GAUSSIANS_MAX > 1
    check_within(100.0 * held / RUNS, 95, 2); /* ± 0.7 */
    check_below(100.0 * far / RUNS, 1);
    check_below(100.0 * lossy / RUNS, 15);
#else
    check_below(100.0 * held / RUNS, 80);
    check_below(40, 100.0 * far / RUNS);
    check_below(60, 100.0 * lossy / RUNS);
#endif
}

int main(void)
{
    _Static_assert(sizeof(rf32_gaussians) == 16 + 12 * RF_GAUSSIANS_MAX && sizeof(rf32_gaussians) <= 128, "state");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_a_standard_normal),
        cmocka_unit_test(nothing_learnt_changes_nothing),
        cmocka_unit_test(a_bell_is_exact),
        cmocka_unit_test(an_update_is_the_exact_one),
#if RF_GAUSSIANS_MAX > 1
        cmocka_unit_test(three_have_the_moments_of_one),
        cmocka_unit_test(the_cheapest_pair_is_merged),
        cmocka_unit_test(two_modes_stay),
#else
        cmocka_unit_test(intervals_hold_a_lifetime),
#endif
        cmocka_unit_test(widths_change_as_asked),
        cmocka_unit_test(refused_and_nothing_changed),
        cmocka_unit_test(bad_likelihoods_count_as_zero),
        cmocka_unit_test(the_impossible_widens),
        cmocka_unit_test(nothing_breaks_it),
        cmocka_unit_test(intervals_hold_a_frequency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
