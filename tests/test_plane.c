/* The grid of two parameters, compared with direct integration, the Kalman filter and many particles. */
#include "baselines.h"

#include "kalman.h"
#include "plane.h"
#include "smc.h"

static rf_plane *make(const model *m, uint32_t side)
{
    rf_plane *g = malloc(rf_plane_bytes(side));
    assert_non_null(g);
    rf_plane_init(g, &m->is, side);
    return g;
}

static rf_plane *make_gaussian(const model *m, uint32_t side, double mean0, double sd0, double mean1, double sd1)
{
    const rf_plane_prior prior[2] = {{0, mean0, sd0}, {0, mean1, sd1}};
    rf_plane *g = make(m, side);
    assert_int_equal(rf_plane_start(g, prior), 0);
    return g;
}

/* ---- Brute force: the prior at fixed points, times all likelihoods ---- */

enum { FIXED = 600, PARTICLES = 100000 };

typedef struct moments {
    double mean[2], covariance[3], log_evidence;
} moments;

static moments integrate(const model *m, const double prior[2][2], const double *records, uint32_t count, double reach)
{
    static double weight[FIXED][FIXED];
    double sum = 0, before = 0;
    moments r = {{0}, {0}, 0};
    for (int i = 0; i < FIXED; i++)
        for (int j = 0; j < FIXED; j++) {
            const double z[2] = {reach * (2.0 * i / (FIXED - 1) - 1), reach * (2.0 * j / (FIXED - 1) - 1)};
            const double y[2] = {prior[0][0] + z[0] * prior[0][1], prior[1][0] + z[1] * prior[1][1]};
            const double x[2] = {rf64_chart_natural(&m->charts[0], y[0]), rf64_chart_natural(&m->charts[1], y[1])};
            double w = exp(-0.5 * (z[0] * z[0] + z[1] * z[1]));
            before += w;
            for (uint32_t k = 0; k < count; k++)
                w *= 2 * m->is.likelihood(x, records + 4 * k, records[4 * k + 3]);
            weight[i][j] = w;
            sum += w;
            r.mean[0] += w * y[0];
            r.mean[1] += w * y[1];
        }
    r.mean[0] /= sum;
    r.mean[1] /= sum;
    for (int i = 0; i < FIXED; i++)
        for (int j = 0; j < FIXED; j++) {
            const double away[2] = {prior[0][0] + reach * (2.0 * i / (FIXED - 1) - 1) * prior[0][1] - r.mean[0],
                                    prior[1][0] + reach * (2.0 * j / (FIXED - 1) - 1) * prior[1][1] - r.mean[1]};
            r.covariance[0] += weight[i][j] * away[0] * away[0] / sum;
            r.covariance[1] += weight[i][j] * away[0] * away[1] / sum;
            r.covariance[2] += weight[i][j] * away[1] * away[1] / sum;
        }
    r.log_evidence = log(sum / before) - count * log(2.0);
    return r;
}

/* Shots of a fading fringe: `count` records of four numbers. */
static void shoot(const model *m, uint64_t seed, uint32_t count, double longest, double *records)
{
    const double truth[2] = {0.62, 0.021};
    for (uint32_t k = 0; k < count; k++) {
        double *r = records + 4 * k;
        r[0] = test_uniform(&seed, 0.5, longest);
        r[1] = test_uniform(&seed, 0, 1);
        r[2] = 0.95;
        r[3] = test_uniform(&seed, 0, 1) < m->is.likelihood(truth, r, 1);
    }
}

/* The posterior of ramsey has several modes in w at first, and is skew in g. */
static void plane_agrees_with_direct_integration(void **state)
{
    (void)state;
    static const double prior[2][2] = {{0.6, 0.15}, {-4, 0.6}};
    model m;
    double records[4 * 60];
    find(&m, "ramsey");
    for (uint64_t seed = 1; seed <= 2; seed++)
        for (uint32_t count = 3; count <= 60; count += 19) {
            shoot(&m, seed, count, 25, records);
            rf_plane *g = make_gaussian(&m, 512, prior[0][0], prior[0][1], prior[1][0], prior[1][1]);
            double log_evidence = 0, mean[2], covariance[3];
            for (uint32_t k = 0; k < count; k++)
                log_evidence += rf_plane_update(g, records + 4 * k);
            const moments exact = integrate(&m, prior, records, count, 6);
            rf_plane_moments(g, mean, covariance);
            assert_int_equal(rf_plane_unresolved(g), 0);
            check_below(rf_plane_dropped(g), 1e-5);
            check_within(log_evidence, exact.log_evidence, 1e-4);
            for (unsigned a = 0; a < 2; a++) {
                check_within(mean[a], exact.mean[a], 1e-4 * sqrt(exact.covariance[2 * a]));
                check_within(covariance[2 * a] / exact.covariance[2 * a], 1, 1e-3);
            }
            check_within(covariance[1], exact.covariance[1], 1e-3 * sqrt(exact.covariance[0] * exact.covariance[2]));
            free(g);
        }
}

/* Exact where everything is Gaussian, with a walk between the records, a moving window, and a width that shrinks and
   grows. */
static void plane_agrees_with_kalman(void **state)
{
    (void)state;
    uint64_t seed = 9;
    model m;
    kalman k;
    take_linear(&m, &rf64_model_linear2);
    static rf64_chart real[2];
    m.is.charts = real;
    const double zero[2] = {0}, one[4] = {1, 0, 0, 1};
    double truth[2] = {0.7, -0.4};
    rf_plane *g = make_gaussian(&m, 256, 0, 1, 0, 1);
    assert_int_equal(kalman_init(&k, 2, zero, one), 0);
    double difference = 0;
    for (unsigned step = 0; step < 160; step++) {
        const double drift = step % 100 == 50 ? 0.5 : step < 100 ? 0.02 : 0; /* sometimes a large step */
        const double q[4] = {drift * drift, 0, 0, 4 * drift * drift};
        double record[4], mean[2], covariance[3];
        truth[0] += drift * normal(&seed);
        truth[1] += 2 * drift * normal(&seed);
        assert_int_equal(rf_plane_diffuse(g, 0, q[0]), 0);
        assert_int_equal(rf_plane_diffuse(g, 1, q[3]), 0);
        assert_int_equal(kalman_predict(&k, NULL, q), 0);
        record[0] = cos(2.4 * step);
        record[1] = sin(2.4 * step);
        record[2] = 0.3; /* the noise: a ridge three times as long as wide */
        record[3] = record[0] * truth[0] + record[1] * truth[1] + record[2] * normal(&seed);
        difference += rf_plane_update(g, record);
        difference -= kalman_update(&k, record, 0.09, record[3]);
        rf_plane_moments(g, mean, covariance);
        for (unsigned a = 0; a < 2; a++) {
            const double variance = kalman_covariance(&k, a, a);
            check_within(mean[a], k.mean[a], 2e-3 * sqrt(variance));
            check_within(covariance[2 * a] / variance, 1, 2e-3);
        }
        check_within(covariance[1], kalman_covariance(&k, 0, 1), 2e-3 * sqrt(covariance[0] * covariance[2]));
    }
    check_within(difference, 0, 0.02);
    assert_int_equal(rf_plane_unresolved(g), 0);
    free(g);
}

/* The weight of the particles below a coordinate. */
static double below(const rf_smc *s, unsigned a, double y)
{
    double weight = 0;
    for (uint32_t i = 0; i < PARTICLES; i++) {
        double at[2];
        const double own = rf_smc_particle(s, i, at);
        weight += at[a] < y ? own : 0;
    }
    return weight;
}

/* A long run of ramsey with drift; the uncertainty of the particles, hundreds of thousands, follows from their
   effective number. */
static void plane_agrees_with_particles(void **state)
{
    (void)state;
    static double records[4 * 40];
    model m;
    find(&m, "ramsey");
    shoot(&m, 17, 40, 40, records);
    rf_plane *g = make_gaussian(&m, 256, 0.5, 0.25, -4, 0.6);
    const rf_smc_options plain = {1, 0.5};
    rf_smc *s = rf_smc_create(&m.is, PARTICLES, 5, &plain);
    const double start[2] = {0.5, -4}, sd[2] = {0.25, 0.6}, walk[2] = {1e-6, 1e-4};
    assert_int_equal(rf_smc_prior_gaussian(s, start, sd), 0);
    for (uint32_t k = 0; k < 40; k++) {
        double mean[2], covariance[3], theirs[2], all[4];
        rf_plane_diffuse(g, 0, walk[0]);
        rf_plane_diffuse(g, 1, walk[1]);
        rf_smc_diffuse(s, walk);
        rf_plane_update(g, records + 4 * k);
        rf_smc_update(s, records + 4 * k, 1);
        rf_plane_moments(g, mean, covariance);
        rf_smc_moments(s, theirs, all);
        for (unsigned a = 0; a < 2; a++) {
            check_within(mean[a], theirs[a],
                         0.03 * sqrt(covariance[2 * a])); /* six standard errors of 40,000 or more */
            check_within(all[3 * a] / covariance[2 * a], 1, 0.1);
            check_within(below(s, a, rf_plane_quantile(g, a, 0.9)), 0.9, 0.02);
        }
    }
    rf_smc_free(s);
    free(g);
}

/* ---- On a circle ---- */

static double phase_and_rate(const double x[], const double setting[], double outcome)
{
    const double p = 0.5 + 0.45 * cos(setting[0] * (x[0] - setting[1]) + x[1] * setting[2]);
    return outcome != 0 ? p : 1 - p;
}

/* The phase wraps; its window is cut open and closed again. A fixed sum over the circle is exact for periodic
   functions. */
static void plane_on_the_circle(void **state)
{
    (void)state;
    enum { TURN = 180, ACROSS = 200 };
    model m = {.charts = {{RF_PERIODIC, 0, 2 * PI}, {RF_REAL, 0, 0}}};
    m.is = (rf64_model){.likelihood = phase_and_rate, .charts = m.charts, .dim = 2, .settings = 3};
    static double p[TURN][ACROSS], blurred[TURN][ACROSS];
    const rf_plane_prior prior[2] = {{1, 0, 2 * PI}, {0, 0.3, 0.5}};
    rf_plane *g = make(&m, 256);
    assert_int_equal(rf_plane_start(g, prior), 0);
    for (int i = 0; i < TURN; i++)
        for (int j = 0; j < ACROSS; j++) {
            const double z = 16.0 * j / (ACROSS - 1) - 8;
            p[i][j] = exp(-0.5 * z * z);
        }
    uint64_t seed = 4;
    const double truth[2] = {6.2, 0.5};
    for (unsigned step = 0; step < 45; step++) {
        const double drift = step == 20 ? 3 : step == 30 ? 8 : 0.05; /* twice over the whole circle */
        double record[4] = {1 + step % 4, test_uniform(&seed, 0, 2 * PI), test_uniform(&seed, -1, 1), 0};
        record[3] = test_uniform(&seed, 0, 1) < phase_and_rate(truth, record, 1);
        assert_int_equal(rf_plane_diffuse(g, 0, drift * drift), 0);
        double taps[TURN];
        for (int d = 0; d < TURN; d++) {
            taps[d] = 0;
            for (int turn = -20; turn <= 20; turn++)
                taps[d] += exp(-0.5 * pow((2 * PI * d / TURN + 2 * PI * turn) / drift, 2));
        }
        double sum = 0, mean1 = 0, square1 = 0, s = 0, c = 0;
        for (int i = 0; i < TURN; i++)
            for (int j = 0; j < ACROSS; j++)
                blurred[i][j] = 0;
        for (int i = 0; i < TURN; i++)
            for (int k = 0; k < TURN; k++) {
                const double tap = taps[(k - i + TURN) % TURN];
                for (int j = 0; tap > 1e-14 * taps[0] && j < ACROSS; j++)
                    blurred[k][j] += tap * p[i][j];
            }
        for (int i = 0; i < TURN; i++)
            for (int j = 0; j < ACROSS; j++) {
                const double y[2] = {2 * PI * i / TURN, 0.3 + 0.5 * (16.0 * j / (ACROSS - 1) - 8)};
                p[i][j] = blurred[i][j] * phase_and_rate(y, record, record[3]);
                sum += p[i][j];
                mean1 += p[i][j] * y[1];
                square1 += p[i][j] * y[1] * y[1];
                s += p[i][j] * sin(y[0]);
                c += p[i][j] * cos(y[0]);
            }
        for (int i = 0; i < TURN; i++)
            for (int j = 0; j < ACROSS; j++)
                p[i][j] /= sum;
        rf_plane_update(g, record);
        double mean[2], covariance[3];
        rf_plane_moments(g, mean, covariance);
        const double sd1 = sqrt(square1 / sum - mean1 * mean1 / (sum * sum)), length = sqrt(s * s + c * c) / sum;
        check_within(mean[1], mean1 / sum, 1e-3 * sd1);
        check_within(sqrt(covariance[2]) / sd1, 1, 1e-3);
        assert_true(mean[0] >= 0 && mean[0] < 2 * PI);
        if (length > 0.999) { /* in a narrow window the mean is nearly the circular mean */
            double off = mean[0] - atan2(s, c);
            off -= 2 * PI * floor(off / (2 * PI) + 0.5);
            check_within(off, 0, 0.01 * sqrt(covariance[0]));
        }
        const double low = rf_plane_quantile(g, 0, 0.025), high = rf_plane_quantile(g, 0, 0.975);
        assert_true(low < high && high - low < 2 * PI);
    }
    assert_int_equal(rf_plane_unresolved(g), 0);
    free(g);
}

/* ---- Read-outs ---- */

static void plane_quantiles_and_draws(void **state)
{
    (void)state;
    enum { DRAWS = 10000 };
    model m;
    find(&m, "ramsey");
    rf_plane *g = make_gaussian(&m, 256, 0.5, 0.25, -4, 0.6);
    uint64_t seed = 1;
    for (double p = 0.01; p < 1; p += 0.07) {
        check_within(rf_plane_quantile(g, 0, p), 0.5 + 0.25 * rf64_normal_quantile(p), 0.25 * 5e-3);
        check_within(rf_plane_quantile(g, 1, p), -4 + 0.6 * rf64_normal_quantile(p), 0.6 * 5e-3);
    }
    const double record[4] = {30, 0.6, 0.95, 1};
    rf_plane_update(g, record);
    double mean[2], covariance[3], sum[2] = {0}, square[3] = {0};
    rf_plane_moments(g, mean, covariance);
    for (unsigned k = 0; k < DRAWS; k++) {
        double u[4], y[2];
        for (unsigned i = 0; i < 4; i++)
            u[i] = test_uniform(&seed, 0, 1);
        rf_plane_draw(g, u, y);
        sum[0] += y[0], sum[1] += y[1];
        square[0] += (y[0] - mean[0]) * (y[0] - mean[0]);
        square[1] += (y[0] - mean[0]) * (y[1] - mean[1]);
        square[2] += (y[1] - mean[1]) * (y[1] - mean[1]);
    }
    for (unsigned a = 0; a < 2; a++) { /* five standard errors */
        check_within(sum[a] / DRAWS, mean[a], 5 * sqrt(covariance[2 * a] / DRAWS));
        check_within(square[2 * a] / DRAWS / covariance[2 * a], 1, 5 * sqrt(3.0 / DRAWS));
    }
    check_within(square[1] / DRAWS, covariance[1], 5 * sqrt(covariance[0] * covariance[2] / DRAWS));
    free(g);
}

/* Fringes that no grid of this size resolves are averaged: counted, and the density keeps its width. */
static void plane_counts_what_it_cannot_resolve(void **state)
{
    (void)state;
    model m;
    find(&m, "ramsey");
    rf_plane *g = make_gaussian(&m, 128, 0.5, 0.25, -9, 0.6); /* slow decay, so that there are fringes */
    double before[3], after[3], mean[2];
    rf_plane_moments(g, mean, before);
    for (unsigned k = 1; k <= 5; k++) {
        const double record[4] = {3000, 0.1 * k, 0.95, 1};
        check_within(rf_plane_update(g, record), log(0.5), 0.05);
        assert_int_equal(rf_plane_unresolved(g), k);
    }
    rf_plane_moments(g, mean, after);
    check_within(sqrt(after[0] / before[0]), 1, 0.1);
    /* an impossible record changes nothing */
    unsigned char *bytes = malloc(rf_plane_save(g, NULL)), *same = malloc(rf_plane_save(g, NULL));
    const size_t count = rf_plane_save(g, bytes);
    const double impossible[4] = {3, NAN, 0.95, 1};
    assert_true(rf_plane_update(g, impossible) == -HUGE_VAL);
    assert_int_equal(rf_plane_save(g, same), count);
    assert_memory_equal(bytes, same, count);
    free(bytes);
    free(same);
    free(g);
}

/* A diagonal ridge ten times as long as wide, which 128 points a side do not resolve: it is counted, and comes out
   wider, not narrower. */
static void plane_is_wide_where_it_is_too_coarse(void **state)
{
    (void)state;
    model m;
    kalman k;
    static rf64_chart real[2];
    const double zero[2] = {0}, one[4] = {1, 0, 0, 1}, record[4] = {0.7, 0.7, 0.07, 0.1};
    double mean[2], covariance[3];
    take_linear(&m, &rf64_model_linear2);
    m.is.charts = real;
    rf_plane *g = make_gaussian(&m, 128, 0, 1, 0, 1);
    assert_int_equal(kalman_init(&k, 2, zero, one), 0);
    rf_plane_update(g, record);
    kalman_update(&k, record, record[2] * record[2], record[3]);
    rf_plane_moments(g, mean, covariance);
    assert_int_equal(rf_plane_unresolved(g), 1);
    const double across = covariance[0] + 2 * covariance[1] + covariance[2];
    const double exact = kalman_covariance(&k, 0, 0) + 2 * kalman_covariance(&k, 0, 1) + kalman_covariance(&k, 1, 1);
    check_below(exact, across);
    check_below(across, 2 * exact);
    free(g);
}

/* A uniform prior: its mean, its variance, and its ends, which are smoothed over a known width. */
static void plane_uniform_priors_and_refusals(void **state)
{
    (void)state;
    model m;
    find(&m, "ramsey");
    rf_plane *g = make(&m, 256);
    const rf_plane_prior box[2] = {{1, 0, 1}, {1, -6, -3}};
    assert_int_equal(rf_plane_start(g, box), 0);
    double mean[2], covariance[3];
    rf_plane_moments(g, mean, covariance);
    check_within(mean[0], 0.5, 1e-6);
    check_within(mean[1], -4.5, 1e-6);
    check_within(covariance[0] * 12, 1, 0.03); /* smoothing adds the variance of 1/25 standard deviation */
    check_within(rf_plane_quantile(g, 1, 0.25), -5.25, 0.02);
    const rf_plane_prior bad[][2] = {{{1, 1, 1}, {0, 0, 1}},
                                     {{0, 0, 0}, {0, 0, 1}},
                                     {{0, NAN, 1}, {0, 0, 1}},
                                     {{0, 0, 1}, {0, 0, INFINITY}},
                                     {{0, 0, 1}, {1, 2, -2}}};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(rf_plane_start(g, bad[i]), -1);
    assert_int_equal(rf_plane_diffuse(g, 0, -1), -1);
    assert_int_equal(rf_plane_diffuse(g, 1, NAN), -1);
    assert_int_equal(rf_plane_diffuse(g, 1, INFINITY), -1);
    free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plane_agrees_with_direct_integration),
        cmocka_unit_test(plane_agrees_with_kalman),
        cmocka_unit_test(plane_agrees_with_particles),
        cmocka_unit_test(plane_on_the_circle),
        cmocka_unit_test(plane_quantiles_and_draws),
        cmocka_unit_test(plane_counts_what_it_cannot_resolve),
        cmocka_unit_test(plane_is_wide_where_it_is_too_coarse),
        cmocka_unit_test(plane_uniform_priors_and_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
