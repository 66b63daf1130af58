/* The update compared with oracles: closed form, Kalman filter, grid, and the paper's pseudo-code. Per precision. */
#include "updating.h"

/* ---- Oracles ---- */

static void precession_matches_closed_form(void **state)
{
    (void)state;
    uint64_t source = 11;
    fixture x;
    for (int k = 0; k < 40; k++) {
        const precession p = any_precession(k % 2, &source);
        set_up_named(&x, "precession", (uint64_t)k);
        x.options.attempts = 100000;
        assert_int_equal(update_precession(&x, &p, NULL), RF_OK);
        check_precession(&x, &p);
        check_within(x.report.log_evidence, log(p.Z), 5 * sqrt((double)x.report.log_evidence_variance) + 1 / accepted(&x));
    }
}

/* Posterior mean and variance on a grid over the prior, in chart coordinates. */
static void grid_moments(const fixture *x, double mu, double sd, const rf_real *records, uint32_t count, double *mean, double *var, double *evidence)
{
    enum { POINTS = 20001 };
    double w = 0, wy = 0, wyy = 0, total = 0;
    for (int i = 0; i < POINTS; i++) {
        double z = -9 + 18.0 * i / (POINTS - 1), prior = exp(-z * z / 2), p = prior;
        rf_real natural = RF(chart_natural)(&x->charts[0], (rf_real)(mu + sd * z));
        for (uint32_t k = 0; k < count; k++) {
            const rf_real *r = records + k * (x->model.settings + 1u);
            p *= (double)x->model.likelihood(&natural, r, r[x->model.settings]);
        }
        w += p, wy += p * z, wyy += p * z * z, total += prior;
    }
    *mean = mu + sd * wy / w;
    *var = sd * sd * (wyy / w - wy / w * wy / w);
    *evidence = w / total;
}

/* Every one-dimensional model with a likelihood, one or several records, compared with the grid. */
static void models_match_grid(void **state)
{
    (void)state;
    uint64_t source = 12;
    const char *const names[] = {"precession", "coin", "phase"};
    fixture x;
    for (int k = 0; k < 30; k++) {
        set_up_named(&x, names[k % 3], (uint64_t)k + 100);
        double sd = k % 3 == 2 ? 0.6 : test_uniform(&source, 0.3, 1.2), mu = k % 3 == 2 ? 3 : test_uniform(&source, -0.5, 1);
        uint32_t count = 1 + (uint32_t)k % 4;
        rf_real records[4 * 3];
        for (uint32_t r = 0; r < count * (x.model.settings + 1u); r++)
            records[r] = (rf_real)test_uniform(&source, 0.5, 2.5);
        for (uint32_t r = 0; r < count; r++)
            records[r * (x.model.settings + 1u) + x.model.settings] = (rf_real)(test_word(&source) & 1);
        set_prior(&x, mu, sd);
        x.options.attempts = 200000;
        assert_int_equal(update(&x, records, count, NULL), RF_OK);
        double mean, var, evidence, n = x.report.accepted;
        grid_moments(&x, mu, sd, records, count, &mean, &var, &evidence);
        check_within(RF(filter_mean)(x.f)[0], mean, 5 * sqrt(var / n) + 4 * EPS);
        check_within(RF(filter_covariance)(x.f, 0, 0) / (rf_real)var, 1, 5 * sqrt(3 / n) + 3 / n);
        assert_true(count == 1 ? x.report.kappa == 1 : x.report.kappa <= 1); /* κ of a batch is the largest product */
        check_within(x.report.acceptance * x.report.kappa, evidence, 5 * sqrt(evidence * (double)x.report.kappa / x.report.attempts));
    }
}

/* Two records at once in 1 to 8 dimensions. */
static void linear_matches_kalman(void **state)
{
    (void)state;
    static const RF(instance) *const linear[] = {
        &LINEAR(RF_PRECISION, 1), &LINEAR(RF_PRECISION, 2), &LINEAR(RF_PRECISION, 3), &LINEAR(RF_PRECISION, 4),
        &LINEAR(RF_PRECISION, 5), &LINEAR(RF_PRECISION, 6), &LINEAR(RF_PRECISION, 7), &LINEAR(RF_PRECISION, 8),
    };
    uint64_t source = 13;
    fixture x;
    linear_case c;
    for (unsigned dim = 1; dim <= 8; dim++) {
        rf_real h[DIM] = {0};
        make_linear(&c, dim, 1, 1.5, &source);
        for (unsigned i = 0; i < dim; i++)
            h[i] = (rf_real)test_uniform(&source, -1, 1);
        add_linear_record(&c, h, 1.5, test_uniform(&source, -1, 1));
        set_up(&x, linear[dim - 1], dim);
        x.options.attempts = 200000;
        assert_int_equal(update_linear(&x, &c, NULL), RF_OK);
        assert_true(x.report.accepted > 10000);
        check_linear(&x, &c);
    }
}

/* ---- Algorithm 1, written from its pseudo-code ---- */

typedef struct plain {
    long double mean, variance;
    uint32_t update, accepted;
} plain;

/* The attempt's draw as documented in include/rejfilt/detail/attempts.h: pairs share a counter; words 0 and 1 make
   two normals rounded to 1/8192; words 2 and 3 decide about acceptance. */
static void plain_update(plain *p, uint64_t seed, const fixture *x, const rf_real *record, uint32_t m, double kappa, double r)
{
    long double M = 0, S = 0;
    uint32_t N = 0;
    rf_real sd = RF(sqrt)((rf_real)p->variance);
    for (uint32_t i = 0; i < m; i++) {
        rf_words w = rf_draw(seed, p->update, i / 2, 0, RF_FOR_ATTEMPTS);
        float z[2];
        rf32_normal_pair(w.word[0], w.word[1], &z[0], &z[1]);
        rf_real on_grid = (rf_real)nearbyint((double)z[i % 2] * 8192) / 8192;
        rf_real candidate = (rf_real)p->mean + sd * on_grid;
        double likelihood = (double)x->model.likelihood(&candidate, record, record[x->model.settings]);
        if (fmin(likelihood / kappa, 1) >= (double)rf32_uniform(w.word[2 + i % 2])) {
            long double exact = (long double)(rf_real)p->mean + (long double)sd * on_grid;
            M += exact;
            S += exact * exact;
            N++;
        }
    }
    if (N >= 2) {
        p->mean = M / N;
        p->variance = (S - N * p->mean * p->mean) / (N - 1);
    } else if (N == 1) {
        p->mean = M; /* the pseudo-code divides by zero here; the covariance is kept */
    } else {
        p->variance *= 1 + r;
    }
    p->accepted = N;
    p->update++;
}

static void strict_is_algorithm_1(void **state)
{
    (void)state;
    fixture x;
    unsigned seen[3] = {0};
    for (uint32_t m = 1; m <= 64; m *= 2)
        for (uint64_t seed = 0; seed < 40; seed++) {
            double kappa = seed % 3 == 0 ? 0.7 : 1;
            set_up_named(&x, "precession", seed);
            set_prior(&x, 0.8, 0.45);
            plain p = {0.8L, 0.45L * 0.45L, 0, 0};
            x.options.attempts = m;
            x.options.strict = 1;
            x.options.kappa = (rf_real)kappa;
            for (int k = 0; k < 4; k++) {
                rf_real record[] = {3, (rf_real)(0.5 + 0.1 * k), (rf_real)(k % 2)};
                p.mean = RF(filter_mean)(x.f)[0]; /* each update is compared separately */
                p.variance = (long double)RF(filter_factor)(x.f)[0] * RF(filter_factor)(x.f)[0];
                long double v0 = p.variance;
                rf_status status = update(&x, record, 1, NULL);
                plain_update(&p, seed, &x, record, m, kappa, (double)x.options.recovery);
                assert_int_equal(x.report.attempts, m);
                assert_int_equal(x.report.accepted, p.accepted);
                assert_int_equal(!!(status & RF_NOTE_WIDENED), p.accepted == 0);
                assert_int_equal(!!(status & RF_NOTE_SINGLE), p.accepted == 1);
                if (status & RF_NOTE_CLAMPED)
                    continue; /* all accepted at one point of the grid: Algorithm 1 gives variance zero */
                check_within(RF(filter_mean)(x.f)[0], p.mean, 8 * EPS);
                check_within(RF(filter_covariance)(x.f, 0, 0), p.variance, 64 * EPS * (double)v0);
                seen[p.accepted < 2 ? p.accepted : 2]++;
            }
        }
    assert_true(seen[0] > 20 && seen[1] > 20 && seen[2] > 200);
}

/* ---- Precision ---- */

/* Whitened sums: the new variance does not depend on the distance of the mean from zero. The reference uses the
   accepted draws themselves, recomputed in long double. */
static void variance_is_exact_far_from_zero(void **state)
{
    (void)state;
    fixture x;
    const double far[] = {0, 1, 1e2, 1e4, 1e6, 1e8, 1e9};
    for (size_t k = 0; k < sizeof far / sizeof far[0]; k++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            set_up_own(&x, zero_above, seed); /* half of what is below 1; far below, everything */
            x.options.strict = 1;
            double sd = 0.01;
            set_prior(&x, -far[k] * sd, sd);
            const rf_real record[] = {0, 0};
            rf_real l = RF(filter_factor)(x.f)[0];
            const int is_coarse = far[k] * (double)RF_EPSILON > 1; /* the sd is below the spacing, and is held there */
            assert_int_equal(update(&x, record, 1, NULL) & ~RF_NOTE_FEW, is_coarse ? RF_NOTE_COARSE : RF_OK);
            if (is_coarse)
                continue;
            long double M = 0, S = 0, N = 0;
            for (uint32_t i = 0; i < 100; i++) {
                rf_words w = rf_draw(seed, 0, i / 2, 0, RF_FOR_ATTEMPTS);
                float z[2];
                rf32_normal_pair(w.word[0], w.word[1], &z[0], &z[1]);
                if (rf32_uniform(w.word[2 + i % 2]) > 0.5f)
                    continue;
                long double q = nearbyintl((long double)z[i % 2] * 8192) / 8192;
                M += q, S += q * q, N++;
            }
            assert_int_equal(x.report.accepted, (int)N);
            double expected = (double)((S - M * M / N) / (N - 1) * (long double)l * (long double)l);
            check_within(RF(filter_covariance)(x.f, 0, 0) / (rf_real)expected, 1, RF_PRECISION == 32 ? 1e-6 : 1e-14);
        }
}

/* ---- Charts in updates ---- */

/* A uniform prior on a coin: the posterior after h heads in n is Beta(h + 1, n − h + 1). One batch is a single
   projection, so the moments of Φ⁻¹(p) under the Beta distribution are exact. */
static void uniform_prior_is_exact(void **state)
{
    (void)state;
    fixture x;
    set_up_named(&x, "coin", 17);
    const rf_real low = 0, high = 1, records[] = {1, 1, 0, 1};
    assert_int_equal(RF(prior_box)(x.f, &x.model, &low, &high), RF_OK);
    x.options.attempts = 400000;
    assert_int_equal(update(&x, records, 4, NULL), RF_OK);
    double mean, var, evidence, n = x.report.accepted;
    grid_moments(&x, 0, 1, records, 4, &mean, &var, &evidence);
    check_within(x.report.acceptance * x.report.kappa, 1.0 / 20, 5 * sqrt(0.05 / 400000)); /* B(4, 2) = 1/20 */
    check_within(x.report.kappa, 27.0 / 256, 1e-3); /* the maximum of p³(1 − p) */
    check_within(evidence, 1.0 / 20, 1e-6);
    check_within(RF(filter_mean)(x.f)[0], mean, 5 * sqrt(var / n));
    check_within(RF(filter_covariance)(x.f, 0, 0), var, 5 * var * sqrt(3 / n));
}

/* A phase with its truth at the wrap, from a prior over the whole circle. */
static void phase_at_the_wrap(void **state)
{
    (void)state;
    fixture x;
    const double truths[] = {0, 1e-3, 2 * PI - 1e-3, 1, PI, 5};
    for (size_t k = 0; k < sizeof truths / sizeof truths[0]; k++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            set_up_named(&x, "phase", seed * 10 + k);
            const rf_real low = 0, high = (rf_real)(2 * PI);
            assert_int_equal(RF(prior_box)(x.f, &x.model, &low, &high), RF_OK);
            x.options.attempts = 20000;
            /* forty shots at four references: the posterior is narrow and follows from the counts */
            double grid_s = 0, grid_c = 0, best = -1e300;
            rf_real records[3 * 40];
            for (int i = 0; i < 40; i++) {
                double ref = (i % 4) * PI / 2, p1 = 0.5 + 0.5 * cos(truths[k] - ref);
                records[3 * i] = 1, records[3 * i + 1] = (rf_real)ref;
                records[3 * i + 2] = (i / 4) + 0.5 < 10 * p1 ? 1 : 0; /* as often as expected */
            }
            for (int i = 0; i < 10; i++) {
                rf_real four[12];
                memcpy(four, records + 12 * i, sizeof four);
                assert_true(update(&x, four, 4, NULL) >= 0);
                assert_true(RF(filter_mean)(x.f)[0] >= 0 && RF(filter_mean)(x.f)[0] < high);
            }
            double width = 0;
            for (int pass = 0; pass < 2; pass++)
                for (int i = 0; i < 4000; i++) {
                    double phi = 2 * PI * i / 4000, l = 0;
                    for (int r = 0; r < 40; r++) {
                        double p1 = 0.5 + 0.5 * cos(phi - (double)records[3 * r + 1]);
                        l += log(fmax(records[3 * r + 2] != 0 ? p1 : 1 - p1, 1e-300));
                    }
                    if (pass == 0)
                        best = fmax(best, l);
                    else
                        grid_s += exp(l - best) * sin(phi), grid_c += exp(l - best) * cos(phi), width += exp(l - best);
                }
            double mean = atan2(grid_s, grid_c), sd = sqrt(-2 * log(hypot(grid_s, grid_c) / width));
            double off = remainder(RF(filter_mean)(x.f)[0] - mean, 2 * PI);
            check_within(off, 0, 0.5 * sd); /* ten Gaussian projections cost some; the wrong side costs π */
            check_within(RF(filter_sd)(x.f, 0) / (rf_real)sd, 1, 0.35);
        }
}

/* One update from a flat circle: the wrapped posterior 1 + cos is known in closed form. */
static void flat_circle_first_update(void **state)
{
    (void)state;
    fixture x;
    for (int k = 0; k < 16; k++) {
        double ref = 2 * PI * k / 16;
        set_up_named(&x, "phase", (uint64_t)k);
        const rf_real low = 0, high = (rf_real)(2 * PI), record[] = {1, (rf_real)ref, 1};
        assert_int_equal(RF(prior_box)(x.f, &x.model, &low, &high), RF_OK);
        x.options.attempts = 100000;
        assert_int_equal(update(&x, record, 1, NULL), RF_OK);
        check_within(x.report.acceptance, 0.5, 5 * sqrt(0.25 / 100000));
        /* the cut is at the prior mean π or opposite to it, so the density is 1 + cos on an interval that starts at
           0 or π: exact moments there */
        double best = 1e9, m = 0;
        for (int cut = 0; cut < 2; cut++) {
            double w = 0, wy = 0, wyy = 0;
            for (int i = 0; i < 20000; i++) {
                double y = (cut ? PI : 0) + 2 * PI * (i + 0.5) / 20000, p = 1 + cos(y - ref);
                w += p, wy += p * y, wyy += p * y * y;
            }
            double var = wyy / w - wy / w * wy / w;
            if (var < best - 1e-9)
                best = var, m = wy / w;
        }
        double n = x.report.accepted, distance = remainder(RF(filter_mean)(x.f)[0] - m, 2 * PI);
        if (k % 8 != 4) /* at these two, both cuts are equally good */
            check_within(distance, 0, 5 * sqrt(best / n) + 1e-3);
        check_within(RF(filter_covariance)(x.f, 0, 0) / (rf_real)best, 1, 5 * sqrt(3 / n) + 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precession_matches_closed_form),
        cmocka_unit_test(models_match_grid),
        cmocka_unit_test(linear_matches_kalman),
        cmocka_unit_test(strict_is_algorithm_1),
        cmocka_unit_test(variance_is_exact_far_from_zero),
        cmocka_unit_test(uniform_prior_is_exact),
        cmocka_unit_test(phase_at_the_wrap),
        cmocka_unit_test(flat_circle_first_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
