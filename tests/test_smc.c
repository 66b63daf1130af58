/* Liu–West particles compared with the grid and the Kalman filter; what resampling preserves. */
#include "baselines.h"

#include "grid.h"
#include "kalman.h"
#include "smc.h"

enum { PARTICLES = 20000 };

/* Between resamplings the effective number E is at least half of N, or slightly less just before. Each of the R + 1
   stretches adds an error of at most sd/√(N/3) to the mean, and 3/N to the variance of ln P(E). Bounds are 5 of
   these; for the variance, times √2. */
#define STRETCHES(s) sqrt(3.0 * (rf_smc_resamplings(s) + 1) / PARTICLES)

/* Plain resampling, because with Liu–West's posteriors that are not Gaussian are biased. At tσ = 0.4 the other
   fringes are 15 standard deviations away. */
static void smc_agrees_with_grid(void **state)
{
    model m;
    double mean = 0.5, sd = 0.4, q = 0.02 * 0.02, m1, v1, m2, v2;
    uint64_t random = 21;
    (void)state;
    find(&m, "precession");
    rf_grid *g = rf_grid_create(&m.is, 2048);
    rf_smc *s = rf_smc_create(&m.is, PARTICLES, 77, &(rf_smc_options){1, 0.5});
    for (int trial = 0; trial < 4; trial++) {
        double truth = 0.5 + 0.4 * normal(&random);
        rf_grid_prior_gaussian(g, mean, sd * sd);
        assert_int_equal(rf_smc_prior_gaussian(s, &mean, &sd), 0);
        for (int k = 0; k < 30; k++) {
            rf_grid_diffuse(g, q);
            rf_smc_diffuse(s, &q);
            truth += 0.02 * normal(&random);
            rf_grid_moments(g, &m1, &v1);
            double t = 0.4 / sqrt(v1), x_ = m1 + (k % 2 ? 1.5 : -1.5) / t;
            double record[3] = {t, x_, test_uniform(&random, 0, 1) < 0.5 + 0.5 * cos(t * (truth - x_))};
            rf_grid_update(g, record);
            rf_smc_update(s, record, 1);
        }
        rf_grid_moments(g, &m1, &v1);
        rf_smc_moments(s, &m2, &v2);
        assert_in_range(rf_smc_resamplings(s), 2, 30);
        check_within((m2 - m1) / sqrt(v1), 0, 5 * STRETCHES(s));
        check_within(v2 / v1, 1, 5 * sqrt(2) * STRETCHES(s));
        check_within(rf_smc_log_evidence(s), rf_grid_log_evidence(g), 5 * STRETCHES(s));
    }
    rf_grid_free(g);
    rf_smc_free(s);
}

static void smc_agrees_with_kalman(void **state)
{
    model m;
    double zero[2] = {0, 0}, one[2] = {1, 1}, P0[4] = {1, 0, 0, 1}, step[2] = {0.01, 0}, Q[4] = {0.01, 0, 0, 0},
           mean[2], P[4];
    uint64_t random = 8;
    (void)state;
    take_linear(&m, &rf64_model_linear2);
    rf_smc *s = rf_smc_create(&m.is, PARTICLES, 5, NULL);
    kalman k;
    assert_int_equal(kalman_init(&k, 2, zero, P0), 0);
    assert_int_equal(rf_smc_prior_gaussian(s, zero, one), 0);
    for (int i = 0; i < 60; i++) {
        double h1 = test_uniform(&random, -1, 1), h2 = test_uniform(&random, -1, 1);
        double record[4] = {h1, h2, 0.5, 0.8 * h1 - 0.3 * h2 + 0.5 * normal(&random)};
        rf_smc_diffuse(s, step);
        kalman_predict(&k, NULL, Q);
        rf_smc_update(s, record, 1);
        kalman_update(&k, record, 0.25, record[3]);
    }
    rf_smc_moments(s, mean, P);
    for (unsigned i = 0; i < 2; i++) {
        check_within((mean[i] - k.mean[i]) / sqrt(kalman_covariance(&k, i, i)), 0, 5 * STRETCHES(s));
        for (unsigned j = 0; j < 2; j++) {
            double unit = sqrt(kalman_covariance(&k, i, i) * kalman_covariance(&k, j, j));
            check_within((P[2 * i + j] - kalman_covariance(&k, i, j)) / unit, 0, 5 * sqrt(2) * STRETCHES(s));
        }
    }
    assert_in_range(rf_smc_resamplings(s), 3, 30);
    check_within(rf_smc_log_evidence(s), k.log_evidence, 5 * STRETCHES(s));
    rf_smc_free(s);
}

/* Weights of 1, 2 and 0 in turn, on correlated particles: the moments of N resampled particles differ by sampling
   errors of at most 1/√N sd and √(2/N) variances. Without the spread the variance would be 4 % too small, and
   without the shrinkage 4 % too large: 12 of these errors. */
static double zero_one_two(const double x[], const double setting[], double outcome)
{
    (void)outcome;
    return x[0] + setting[0] < 0 ? 1 : x[1] < setting[1] ? 2 : 0;
}

static void resampling_keeps_two_moments(void **state)
{
    enum { N = 200000 };
    rf64_chart charts[2] = {{RF_REAL, 0, 0}, {RF_REAL, 0, 0}};
    rf64_model m = {zero_one_two, NULL, charts, 2, 2, 0, 0, NULL, NULL, NULL};
    const rf_smc_options never = {0.98, 0};
    double mean[2] = {3, -1}, sd[2] = {0.5, 2}, record[3] = {-3.1, 0.5, 0}, m1[2], P1[4], m2[2], P2[4], y[2],
           weight = 0;
    (void)state;
    rf_smc *s = rf_smc_create(&m, N, 9, &never);
    assert_int_equal(rf_smc_prior_gaussian(s, mean, sd), 0);
    rf_smc_update(s, record, 1);
    assert_int_equal(rf_smc_resamplings(s), 0);
    rf_smc_moments(s, m1, P1);
    assert_true(fabs(P1[1]) > 0.1);
    rf_smc_resample(s);
    rf_smc_moments(s, m2, P2);
    for (unsigned i = 0; i < 2; i++) {
        check_within((m2[i] - m1[i]) / sqrt(P1[3 * i]), 0, 5 / sqrt(N));
        check_within(P2[3 * i] / P1[3 * i], 1, 5 * sqrt(2.0 / N));
    }
    check_within((P2[1] - P1[1]) / sqrt(P1[0] * P1[3]), 0, 5 * sqrt(2.0 / N));
    for (uint32_t i = 0; i < N; i++)
        weight += rf_smc_particle(s, i, y);
    check_within(weight, 1, 1e-9);
    check_within(rf_smc_effective(s), N, 1e-6);
    rf_smc_free(s);
}

/* Systematic choice: particle i is taken ⌊N·w⌋ or ⌈N·w⌉ times. */
static void resampling_takes_its_share(void **state)
{
    enum { N = 300 };
    rf64_chart charts[2] = {{RF_REAL, 0, 0}, {RF_REAL, 0, 0}};
    rf64_model m = {zero_one_two, NULL, charts, 2, 2, 0, 0, NULL, NULL, NULL};
    const rf_smc_options plain = {1, 0};
    double zero[2] = {0, 0}, one[2] = {1, 1}, record[3] = {0.3, 0.1, 0}, y[2], was[N][2], w[N];
    (void)state;
    rf_smc *s = rf_smc_create(&m, N, 10, &plain);
    rf_smc_prior_gaussian(s, zero, one);
    rf_smc_update(s, record, 1);
    for (uint32_t i = 0; i < N; i++)
        w[i] = rf_smc_particle(s, i, was[i]);
    rf_smc_resample(s);
    uint32_t from = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t times = 0;
        for (; from < N; from++, times++) {
            rf_smc_particle(s, from, y);
            if (fabs(y[0] - was[i][0]) > 1e-12)
                break;
        }
        check_within(times, N * w[i], 1);
    }
    assert_true(from == N);
    rf_smc_free(s);
}

/* With a = 0 a resampling draws all particles from the Gaussian with their moments. Draws of one resampling, of the
   next, and of the diffusion steps share no random numbers: correlations are within 5/√N. */
static void draws_are_never_used_twice(void **state)
{
    enum { N = 20000, TIMES = 5 };
    model m;
    static double z[2 * TIMES][N];
    double zero[2] = {0, 0}, one[2] = {1, 1}, mean[2], P[4], y[2];
    (void)state;
    take_linear(&m, &rf64_model_linear2);
    rf_smc *s = rf_smc_create(&m.is, N, 12, &(rf_smc_options){0, 0});
    rf_smc_prior_gaussian(s, zero, one);
    for (int k = 0; k < TIMES; k++) {
        if (k == 1)
            rf_smc_prior_gaussian(s, zero, one);
        if (k == 2 || k == 3)
            rf_smc_resample(s);
        rf_smc_moments(s, mean, P);
        for (uint32_t i = 0; k < 4 && i < N; i++) {
            rf_smc_particle(s, i, y);
            for (int d = 0; d < 2; d++)
                z[2 * k + d][i] = (y[d] - mean[d]) / sqrt(P[3 * d]);
        }
    }
    double step[2] = {1e12, 1e12}; /* so large that the particles' old positions do not matter */
    rf_smc_diffuse(s, step);
    for (uint32_t i = 0; i < N; i++) {
        rf_smc_particle(s, i, y);
        z[8][i] = y[0] / 1e6;
        z[9][i] = y[1] / 1e6;
    }
    for (int a = 0; a < 2 * TIMES; a++)
        for (int b = 0; b <= a; b++) {
            double sum = 0;
            for (uint32_t i = 0; i < N; i++)
                sum += z[a][i] * z[b][i];
            check_within(sum / N, a == b, 5 * sqrt((a == b) + 1.0) / sqrt(N));
        }
    rf_smc_free(s);
}

static void smc_is_reproducible(void **state)
{
    model m;
    double low[2] = {0, 0.005}, high[2] = {1, 0.05}, records[40][4], step[2] = {1e-4, 1e-3}, a[2], b[2], c[2], P[4],
           R[4];
    uint64_t random = 1;
    (void)state;
    find(&m, "ramsey");
    for (int k = 0; k < 40; k++) {
        records[k][0] = test_uniform(&random, 0, 60);
        records[k][1] = 0.1;
        records[k][2] = 0.95;
        records[k][3] = (double)(test_word(&random) & 1);
    }
    rf_smc *s = rf_smc_create(&m.is, 1000, 1, NULL), *t = rf_smc_create(&m.is, 1000, 1, NULL),
        *u = rf_smc_create(&m.is, 1000, 2, NULL);
    rf_smc_prior_box(s, low, high);
    rf_smc_prior_box(t, low, high);
    rf_smc_prior_box(u, low, high);
    for (int k = 0; k < 2; k++) { /* as one batch, and one by one */
        rf_smc_diffuse(s, step);
        rf_smc_diffuse(t, step);
        rf_smc_diffuse(u, step);
        rf_smc_update(s, records[20 * k], 20);
        rf_smc_update(u, records[20 * k], 20);
        for (int i = 0; i < 20; i++)
            rf_smc_update(t, records[20 * k + i], 1);
    }
    rf_smc_moments(s, a, P);
    rf_smc_moments(t, b, R);
    rf_smc_moments(u, c, NULL);
    assert_in_range(rf_smc_resamplings(s), 1, 20);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_equal(P, R, sizeof P);
    assert_true(rf_smc_log_evidence(s) == rf_smc_log_evidence(t));
    assert_true(a[0] != c[0] && a[1] != c[1]);
    rf_smc_free(s);
    rf_smc_free(t);
    rf_smc_free(u);
}

/* A phase on both sides of the cut, and a bounded parameter: mean and variance from the grid. */
static void smc_in_charts(void **state)
{
    model m;
    double mean = 6.2, sd = 0.3, q = 0.01, record[3] = {2, 0.2, 1}, zero = 0, one = 1, heads[20], m1, v1, m2, v2;
    double whole[2] = {0, 1};
    (void)state;
    find(&m, "phase");
    rf_grid *g = rf_grid_create(&m.is, 1024);
    rf_smc *s = rf_smc_create(&m.is, PARTICLES, 3, &(rf_smc_options){0.98, 1});
    rf_grid_prior_gaussian(g, mean, sd * sd);
    rf_smc_prior_gaussian(s, &mean, &sd);
    for (int k = 0; k < 2; k++) {
        rf_grid_diffuse(g, q);
        rf_smc_diffuse(s, &q);
        rf_grid_update(g, record);
        rf_smc_update(s, record, 1); /* resamples each time */
    }
    rf_grid_moments(g, &m1, &v1);
    rf_smc_moments(s, &m2, &v2);
    assert_int_equal(rf_smc_resamplings(s), 2);
    check_within(sin(m2 - m1) / sqrt(v1), 0, 5 * STRETCHES(s));
    check_within(v2 / v1, 1, 5 * sqrt(2) * STRETCHES(s));
    rf_grid_free(g);
    rf_smc_free(s);

    find(&m, "coin");
    g = rf_grid_create(&m.is, 1024);
    s = rf_smc_create(&m.is, PARTICLES, 4, NULL);
    rf_grid_prior_gaussian(g, zero, one);
    assert_int_equal(rf_smc_prior_box(s, &whole[0], &whole[1]), 0); /* uniform: N(0, 1) in the chart */
    for (int k = 0; k < 20; k++) {
        heads[k] = k % 4 > 0;
        rf_grid_update(g, &heads[k]);
    }
    double total = rf_smc_update(s, heads, 20);
    rf_grid_moments(g, &m1, &v1);
    rf_smc_moments(s, &m2, &v2);
    check_within((m2 - m1) / sqrt(v1), 0, 5 * STRETCHES(s));
    check_within(v2 / v1, 1, 5 * sqrt(2) * STRETCHES(s));
    check_within(total, lgamma(16) + lgamma(6) - lgamma(22), 5 * STRETCHES(s));
    check_within(rf_grid_log_evidence(g), lgamma(16) + lgamma(6) - lgamma(22), 1e-8);
    rf_grid_free(g);
    rf_smc_free(s);
}

static void smc_refusals(void **state)
{
    model m;
    double low[2] = {0, 0.01}, high[2] = {1, 0.05}, negative[2] = {0, -1}, record[4] = {0, 0, 1, 0}, a[2], b[2];
    (void)state;
    find(&m, "ramsey");
    assert_null(rf_smc_create(NULL, 10, 0, NULL));
    assert_null(rf_smc_create(&m.is, 1, 0, NULL));
    assert_null(rf_smc_create(&m.is, 10, 0, &(rf_smc_options){1.1, 0.5}));
    rf_smc *s = rf_smc_create(&m.is, 1000, 0, NULL);
    assert_int_equal(rf_smc_prior_box(s, low, high), 0);
    rf_smc_moments(s, a, NULL);
    assert_int_equal(rf_smc_prior_box(s, high, low), -1);
    assert_int_equal(rf_smc_prior_box(s, negative, high), -1);
    assert_int_equal(rf_smc_prior_gaussian(s, low, negative), -1);
    assert_int_equal(rf_smc_diffuse(s, negative), -1);
    assert_true(rf_smc_update(s, record, 1) == -INFINITY); /* t = 0, contrast 1: outcome 0 is impossible */
    rf_smc_moments(s, b, NULL);
    assert_memory_equal(a, b, sizeof a);
    assert_true(rf_smc_log_evidence(s) == 0);
    rf_smc_free(s);
}

static double only_here;
static double only_one(const double x[], const double setting[], double outcome)
{
    (void)setting, (void)outcome;
    return x[0] == only_here;
}

/* A record that only one particle explains: the width is small but not zero, and can be increased again. */
static void one_particle_is_not_the_end(void **state)
{
    (void)state;
    const rf64_model m = {.likelihood = only_one, .dim = 1};
    double mean = 3, sd = 1, record[] = {1}, variance;
    rf_smc *s = rf_smc_create(&m, 20, 5, NULL);
    assert_int_equal(rf_smc_prior_gaussian(s, &mean, &sd), 0);
    rf_smc_particle(s, 7, &only_here);
    assert_true(rf_smc_update(s, record, 1) < 0);
    rf_smc_moments(s, &mean, &variance);
    check_within(mean, only_here, 1e-12);
    assert_true(variance > 0 && variance < 1e-20);
    for (int k = 0; k < 60; k++)
        rf_smc_stretch(s, (const double[]){2.2});
    rf_smc_moments(s, &mean, &variance);
    assert_true(variance > 1e-3);
    rf_smc_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smc_agrees_with_grid),
        cmocka_unit_test(one_particle_is_not_the_end),
        cmocka_unit_test(smc_agrees_with_kalman),
        cmocka_unit_test(resampling_keeps_two_moments),
        cmocka_unit_test(resampling_takes_its_share),
        cmocka_unit_test(draws_are_never_used_twice),
        cmocka_unit_test(smc_is_reproducible),
        cmocka_unit_test(smc_in_charts),
        cmocka_unit_test(smc_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
