/* The baselines against each other, against closed forms, and against known/baselines.txt, which
   make_baselines.py integrates with 30 digits. Linked with linear.h compiled for 1 to 8 parameters. */
#include "testing.h"

#include <math.h>

#include "closed_form.h"
#include "grid.h"
#include "kalman.h"
#include "rejfilt/host.h"
#include "smc.h"

#define PI 3.14159265358979323846

extern const rf64_instance rf64_model_linear1, rf64_model_linear2;

typedef struct model { /* with room for its charts */
    rf64_chart charts[RF_NAMES_MAX];
    rf64_model is;
} model;

static void find(model *m, const char *name) { m->is = rf64_instance_model(rf_model_find(name)->f64, m->charts); }

/* The linear models used in tests have no description of their parameters: their charts are real. */
static rf64_model linear(const rf64_instance *instance, rf64_chart charts[])
{
    rf64_model m = rf64_instance_model(instance, charts);
    m.charts = NULL;
    return m;
}

static double normal(uint64_t *state)
{
    double u = test_uniform(state, 0x1p-54, 1), v = test_uniform(state, 0, 1);
    return sqrt(-2 * log(u)) * cos(2 * PI * v);
}

/* ---- Closed form ---- */

/* A short time: P(0) = t²x²/4 to a relative 1e-12, so that N(0, v) becomes x²N(0, v), of variance 3v; and
   x_ beside the mean by 1e3 standard deviations, where d(ln P(0))/dx = 2/(x − x_). */
static void closed_form_of_small_angles(void **state)
{
    (void)state;
    closed_form f = {0.25, 4, 0};
    check_within(closed_form_update(&f, 1e-6, 0.25, 0), log(1e-12), 1e-11);
    check_within(f.mean, 0.25, 1e-9);
    check_within(f.variance, 12, 1e-9);
    check_within(f.log_evidence, log(1e-12), 1e-11);
    closed_form_diffuse(&f, 3);
    check_within(f.variance, 15, 1e-9);
    closed_form g = {0, 1, 0};
    closed_form_update(&g, 1e-6, -1e3, 0);
    check_within(g.mean, 2e-3 / (1 + 1e-6), 1e-8);
    closed_form h = {0, 1, 0};
    assert_true(closed_form_update(&h, 0, 0, 0) == -INFINITY);
    assert_true(h.mean == 0 && h.variance == 1);
}

/* ---- Grid ---- */

/* 88 posteriors: one record at tσ from 0.01 to 10, several records with many peaks, a bounded chart, a
   periodic one from a uniform and a narrow prior. The grid's own errors are about 1e-9 (see grid.h). */
static void known_posteriors(void **state)
{
    FILE *file = fopen(RF_TEST_DATA_DIR "/baselines.txt", "r");
    char line[4096], name[32];
    int lines = 0;
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        double number[256];
        int count = 0, at = 0, used;
        assert_int_equal(sscanf(line, "%31s%n", name, &at), 1);
        for (; count < 256 && sscanf(line + at, "%lf%n", &number[count], &used) == 1; at += used)
            count++;
        model m;
        find(&m, name);
        const int records = (int)number[2], width = m.is.settings + 1;
        const double *answer = number + 3 + records * width;
        assert_int_equal(count, 3 + records * width + 5);
        grid *g = grid_create(&m.is, 1024);
        if (number[1] > 0)
            assert_int_equal(grid_prior_gaussian(g, number[0], number[1] * number[1]), 0);
        else
            assert_int_equal(grid_prior_box(g, m.charts[0].low, m.charts[0].high), 0);
        double total = 0, mean, variance;
        for (int k = 0; k < records; k++)
            total += grid_update(g, number + 3 + k * width);
        grid_moments(g, &mean, &variance);
        const double sd = sqrt(answer[2]);
        double turn = 0; /* whole periods between the two means */
        if (m.charts[0].kind == RF_PERIODIC)
            turn = 2 * PI * floor((mean - answer[1]) / (2 * PI) + 0.5);
        check_within(total, answer[0], 1e-8);
        check_within(grid_log_evidence(g), total, 1e-12);
        check_within((mean - turn - answer[1]) / sd, 0, 1e-8);
        check_within(variance / answer[2], 1, 1e-8);
        check_within((grid_quantile(g, 0.025) - turn - answer[3]) / sd, 0, 2e-6);
        check_within((grid_quantile(g, 0.975) - turn - answer[4]) / sd, 0, 2e-6);
        check_within(grid_below(g, answer[3]), 0.025, 1e-6);
        check_within(grid_below(g, answer[4]), 0.975, 1e-6);
        assert_true(grid_below(g, mean - 40 * sd) < 1e-9 || m.charts[0].kind == RF_PERIODIC);
        assert_int_equal(grid_unresolved(g), 0);
        assert_true(grid_dropped(g) == 0);
        if (records == 1 && strcmp(name, "precession") == 0) { /* and so the closed form */
            closed_form f = {number[0], number[1] * number[1], 0};
            check_within(closed_form_update(&f, number[3], number[4], number[5] != 0), answer[0], 1e-12);
            check_within((f.mean - answer[1]) / sd, 0, 1e-12);
            check_within(f.variance / answer[2], 1, 1e-12);
        }
        grid_free(g);
        lines++;
    }
    fclose(file);
    assert_int_equal(lines, 88);
}

/* Fringes of which one, two or three fit in a step of the prior's grid, and so look constant there;
   and tσ up to 150: the closed form is exact for one update. */
static void grid_sees_fringes_between_points(void **state)
{
    model m;
    (void)state;
    find(&m, "precession");
    grid *g = grid_create(&m.is, 16384);
    for (int k = 0; k < 24; k++) {
        double t = k < 3 ? 2 * PI * 8 * (k + 1) / 0.5 : 0.01 * pow(1.5, k), record[3] = {t, 0.3, k % 2};
        closed_form f = {0.31, 0.25, 0};
        grid_prior_gaussian(g, 0.31, 0.25);
        double log_p = closed_form_update(&f, t, 0.3, k % 2);
        check_within(grid_update(g, record), log_p, 2e-9);
        check_within(grid_mean(g), f.mean, 2e-9);
        check_within(grid_variance(g), f.variance, 2e-9);
        assert_int_equal(grid_unresolved(g), 0);
    }
    grid_free(g);
}

/* A time that no grid resolves tells nothing: P(E) is a half and the density stays, but for the noise of
   16 samples in each of the 128 or more cells per standard deviation: 0.25·√½/√(128·3.5) = 0.008 of
   P(E), or 0.017 of ln P(E), and as much of the moments; bounds are 5 times these. At the odd times
   whole numbers of fringes fit in the finest step, 1/128, and all points are on a crest. */
static void grid_averages_what_it_cannot_resolve(void **state)
{
    model m;
    (void)state;
    find(&m, "precession");
    grid *g = grid_create(&m.is, 2048);
    for (int k = 0; k < 20; k++) {
        double record[3] = {k % 2 ? 2 * PI * 128 * k : 1e6 * (1 + k), 0.5, 1};
        grid_prior_gaussian(g, 0.5, 1);
        check_within(grid_update(g, record), -0.693147, 0.085);
        check_within(grid_mean(g), 0.5, 0.085);
        check_within(grid_variance(g), 1, 0.12);
        assert_int_equal(grid_unresolved(g), 1);
    }
    grid_free(g);
}

/* Times that grow leave fringes at all scales: with few points, ends are given up, and counted. What was
   within 100 standard deviations counts for 100 times its share in the mean, and 1e4 times in the
   variance. */
static void grid_counts_what_it_gives_up(void **state)
{
    model m;
    (void)state;
    find(&m, "precession");
    grid *few = grid_create(&m.is, 1024), *many = grid_create(&m.is, 1u << 17);
    for (int k = 0; k < 24; k++) {
        double t = pow(1.5, k / 2), x_ = 0.3 + 0.4 * (k % 3 - 1) / t, record[3] = {t, x_, 1};
        grid_update(few, record);
        grid_update(many, record);
    }
    double sd = sqrt(grid_variance(many));
    check_below(sd, 1e-2);
    assert_true(grid_dropped(few) > 0);
    check_below(grid_dropped(few), 1e-5);
    assert_true(grid_dropped(many) == 0);
    assert_int_equal(grid_unresolved(few), 0);
    assert_int_equal(grid_unresolved(many), 0);
    check_within((grid_mean(few) - grid_mean(many)) / sd, 0, 100 * grid_dropped(few));
    check_within(grid_variance(few) / (sd * sd), 1, 1e4 * grid_dropped(few));
    check_within(grid_log_evidence(few), grid_log_evidence(many), grid_dropped(few));
    grid_free(few);
    grid_free(many);
}

/* A linear-Gaussian model with steps from 1e-8 to 10 and noise from 1e-4 to 10, 500 times: blurs from a
   millionth of the width of the density to a hundred thousand times it. */
static void grid_agrees_with_kalman(void **state)
{
    rf64_chart charts[RF_NAMES_MAX];
    const rf64_model m = linear(&rf64_model_linear1, charts);
    uint64_t random = 11;
    double truth = 0.4, zero = 0, one = 1;
    kalman k;
    (void)state;
    grid *g = grid_create(&m, 1024);
    grid_prior_gaussian(g, 0, 1);
    assert_int_equal(kalman_init(&k, 1, &zero, &one), 0);
    for (int step = 0; step < 500; step++) {
        double sd, q = pow(10, test_uniform(&random, -8, step % 10 ? -2 : 1)), variance = q * q;
        truth += q * normal(&random);
        assert_int_equal(grid_diffuse(g, variance), 0);
        assert_int_equal(kalman_predict(&k, NULL, &variance), 0);
        sd = sqrt(kalman_covariance(&k, 0, 0));
        check_within((grid_mean(g) - k.mean[0]) / sd, 0, 1e-7);
        check_within(grid_variance(g) / (sd * sd), 1, 1e-7);
        double noise = pow(10, test_uniform(&random, -4, 1)), record[3] = {1, noise, truth + noise * normal(&random)};
        double log_p = kalman_update(&k, record, noise * noise, record[2]);
        check_within(grid_update(g, record), log_p, 1e-6);
        sd = sqrt(kalman_covariance(&k, 0, 0));
        check_within((grid_mean(g) - k.mean[0]) / sd, 0, 1e-6);
        check_within(grid_variance(g) / (sd * sd), 1, 1e-6);
        assert_in_range(grid_points(g), 40, 1024);
    }
    check_within(grid_log_evidence(g), k.log_evidence, 1e-5);
    assert_int_equal(grid_unresolved(g), 0);
    assert_true(grid_dropped(g) == 0);
    grid_free(g);
}

/* From 1 to 1e-9 in one update, in 30, and back by diffusion. |x| = 0.3 is known to 1e-16: 1e-7 sd. */
static void grid_follows_shrinkage(void **state)
{
    rf64_chart charts[RF_NAMES_MAX];
    const rf64_model m = linear(&rf64_model_linear1, charts);
    (void)state;
    grid *g = grid_create(&m, 1024);
    for (int updates = 1; updates <= 30; updates += 29) {
        kalman k;
        double zero = 0, one = 1, noise = 1;
        grid_prior_gaussian(g, 0, 1);
        assert_int_equal(kalman_init(&k, 1, &zero, &one), 0);
        for (int i = 0; i < updates; i++) {
            noise *= pow(1e-9, 1.0 / updates);
            double record[3] = {1, noise, 0.3 + noise * (i % 3 - 1)};
            double log_p = kalman_update(&k, record, noise * noise, record[2]);
            check_within(grid_update(g, record), log_p, 1e-6);
        }
        double sd = sqrt(kalman_covariance(&k, 0, 0));
        check_below(sd, 1.1e-9);
        check_within((grid_mean(g) - k.mean[0]) / sd, 0, 1e-6);
        check_within(grid_variance(g) / (sd * sd), 1, 1e-6);
        assert_int_equal(grid_unresolved(g), 0);
        assert_int_equal(grid_diffuse(g, 1), 0);
        check_within(grid_mean(g), 0.3, 1e-7);
        check_within(grid_variance(g), 1, 1e-7);
        check_within(grid_quantile(g, 0.975), 0.3 + 1.9599639845400545, 2e-6);
    }
    grid_free(g);
}

/* The same by plain sums on 3201 fixed points: h = 1/200, t at most 25, steps of variance 0.09². */
enum { FIXED = 3201, FIXED_REACH = 180 };
static double fixed_x(int i) { return (i - FIXED / 2) * 0.005; }

static void grid_agrees_with_direct_integration(void **state)
{
    static double p[FIXED], q[FIXED + 2 * FIXED_REACH], taps[2 * FIXED_REACH + 1];
    model m;
    uint64_t random = 5;
    double truth = 1.2, least_kept = 1, total = 0;
    (void)state;
    find(&m, "precession");
    grid *g = grid_create(&m.is, 2048);
    grid_prior_gaussian(g, 0, 1);
    for (int i = 0; i < FIXED; i++)
        p[i] = exp(-0.5 * fixed_x(i) * fixed_x(i)) / sqrt(2 * PI);
    for (int k = 0; k <= 2 * FIXED_REACH; k++) {
        double z = (k - FIXED_REACH) * 0.005 / 0.09;
        taps[k] = 0.005 * exp(-0.5 * z * z) / (0.09 * sqrt(2 * PI));
    }
    for (int step = 0; step < 40; step++) {
        truth += 0.09 * normal(&random);
        memset(q, 0, sizeof q);
        for (int i = 0; i < FIXED; i++)
            for (int k = 0; p[i] > 0 && k <= 2 * FIXED_REACH; k++)
                q[i + k] += p[i] * taps[k];
        memcpy(p, q + FIXED_REACH, sizeof p);
        assert_int_equal(grid_diffuse(g, 0.09 * 0.09), 0);
        double t = exp(test_uniform(&random, 0, 3.2)), x_ = test_uniform(&random, -2, 2);
        double record[3] = {t, x_, test_uniform(&random, 0, 1) < 0.5 + 0.5 * cos(t * (truth - x_))};
        double z = 0, mean = 0, variance = 0, top = 0, bottom = 0;
        for (int i = 0; i < FIXED; i++) {
            double c = 0.5 * cos(t * (fixed_x(i) - x_));
            p[i] *= record[2] != 0 ? 0.5 + c : 0.5 - c;
            z += p[i] * 0.005;
        }
        for (int i = 0; i < FIXED; i++)
            mean += (p[i] /= z) * fixed_x(i) * 0.005;
        for (int i = 0; i < FIXED; i++)
            variance += p[i] * (fixed_x(i) - mean) * (fixed_x(i) - mean) * 0.005;
        check_within(grid_update(g, record), log(z), 1e-7);
        check_within(grid_mean(g), mean, 1e-7 * sqrt(variance));
        check_within(grid_variance(g) / variance, 1, 1e-7);
        for (int i = 0; i < FIXED; i += 16) {
            top = p[i] > top ? p[i] : top;
            bottom = fmax(bottom, fabs(grid_density(g, fixed_x(i)) - p[i]));
        }
        check_below(bottom, 1e-7 * top);
        total += log(z);
        least_kept = fmin(least_kept, 1 / (sqrt(variance) * t));
    }
    check_within(grid_log_evidence(g), total, 1e-6);
    check_below(least_kept, 0.3); /* some posteriors had several peaks */
    assert_int_equal(grid_unresolved(g), 0);
    grid_free(g);
}

/* (1 + cos φ)/2π, blurred by a variance v, is (1 + e^(−v/2) cos φ)/2π; a narrow density goes round. */
static void grid_on_the_circle(void **state)
{
    model m;
    double record[3] = {1, 0.5, 1}, mean, variance;
    (void)state;
    find(&m, "phase");
    grid *g = grid_create(&m.is, 1024);
    for (double v = 1e-4; v < 200; v *= 3) {
        grid_prior_box(g, 0, 2 * PI);
        check_within(grid_update(g, record), log(0.5), 1e-9);
        assert_int_equal(grid_diffuse(g, v), 0);
        for (double phi = -1; phi < 7; phi += 0.31)
            check_within(grid_density(g, phi), (1 + exp(-v / 2) * cos(phi - 0.5)) / (2 * PI), 2e-8);
    }
    grid_prior_gaussian(g, 6.2, 1e-4);
    for (int k = 0; k < 4; k++) /* across the cut: 0.2 of a standard deviation 0.02, then all around */
        grid_diffuse(g, k < 3 ? 1e-4 : 100);
    check_within(grid_density(g, 1), 1 / (2 * PI), 1e-8);
    grid_prior_gaussian(g, 6.28, 0.04);
    grid_diffuse(g, 0.05);
    grid_moments(g, &mean, &variance);
    check_within(mean, 6.28, 1e-8);
    check_within(variance, 0.09, 1e-8);
    check_within(grid_quantile(g, 0.975), 6.28 + 0.3 * 1.9599639845400545, 1e-6);
    grid_prior_gaussian(g, 1, 1); /* wrapped: the circle's variance is not that of the line */
    double moment = PI * PI / 3;
    for (int k = 1; k < 12; k++)
        moment += 4 * (k % 2 ? -1 : 1) * exp(-0.5 * k * k) / (k * k);
    grid_moments(g, &mean, &variance);
    check_within(mean, 1, 1e-9);
    check_within(variance, moment, 1e-9);
    for (int k = 1; k < 10; k++)
        check_within(grid_below(g, grid_quantile(g, 0.1 * k) + 2 * PI * (k % 3)), 0.1 * k, 1e-6);
    grid_free(g);
}

static void grid_priors_and_refusals(void **state)
{
    model m, ramsey;
    double mean, variance, record[3] = {0, 0, 0};
    (void)state;
    find(&m, "precession");
    find(&ramsey, "ramsey");
    assert_null(grid_create(NULL, 2048));
    assert_null(grid_create(&ramsey.is, 2048));
    assert_null(grid_create(&m.is, 1000));
    grid *g = grid_create(&m.is, 1024);
    grid_moments(g, &mean, &variance);
    check_within(mean, 0, 1e-12);
    check_within(variance, 1, 1e-9);
    assert_int_equal(grid_prior_box(g, -1, 3), 0);
    grid_moments(g, &mean, &variance);
    check_within(mean, 1, 1e-12);
    check_within(variance, 16.0 / 12 + 1.0 / 256, 1e-9);
    check_within(grid_density(g, 2.5), 0.25, 1e-9);
    check_within(grid_quantile(g, 0.25), 0, 1e-9);
    assert_int_equal(grid_prior_gaussian(g, NAN, 1), -1);
    assert_int_equal(grid_prior_gaussian(g, 0, 0), -1);
    assert_int_equal(grid_prior_box(g, 1, 1), -1);
    assert_int_equal(grid_diffuse(g, -1), -1);
    assert_int_equal(grid_diffuse(g, 0), 0);
    assert_true(grid_update(g, record) == -INFINITY); /* t = 0: outcome 0 cannot be */
    check_within(grid_variance(g), 16.0 / 12 + 1.0 / 256, 1e-8);
    assert_true(grid_log_evidence(g) == 0);
    grid_free(g);
}

/* ---- Kalman ---- */

enum { D = 4, STEPS = 12 };

/* Solves a·x = b of n equations, a symmetric and positive; returns ln det a. */
static double solve(long double *a, long double *b, int n, int columns)
{
    long double log_det = 0;
    for (int j = 0; j < n; j++) {
        log_det += logl(a[j * n + j]);
        for (int i = j + 1; i < n; i++) {
            long double f = a[i * n + j] / a[j * n + j];
            for (int k = j; k < n; k++)
                a[i * n + k] -= f * a[j * n + k];
            for (int c = 0; c < columns; c++)
                b[i * columns + c] -= f * b[j * columns + c];
        }
    }
    for (int j = n; j-- > 0;)
        for (int c = 0; c < columns; c++) {
            for (int k = j + 1; k < n; k++)
                b[j * columns + c] -= a[j * n + k] * b[k * columns + c];
            b[j * columns + c] /= a[j * n + j];
        }
    return (double)log_det;
}

/* States and observations are jointly Gaussian: the posterior of the last state and the density of all
   observations follow from one big covariance, without any recursion over observations. */
static void kalman_agrees_with_the_joint_gaussian(void **state)
{
    double F[D * D], Q[D * D] = {0}, P0[D * D] = {0}, mean0[D], root[D * D], h[STEPS][D], r[STEPS], y[STEPS];
    uint64_t random = 3;
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        for (int i = 0; i < D * D; i++) {
            F[i] = (i % (D + 1) == 0) + test_uniform(&random, -0.3, 0.3);
            root[i] = test_uniform(&random, -1, 1);
        }
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) {
                P0[i * D + j] = i == j ? 0.1 : 0;
                for (int k = 0; k < D; k++)
                    P0[i * D + j] += root[i * D + k] * root[j * D + k];
                Q[i * D + j] =
                    trial % 3 == 0 ? 0.05 * root[i * D] * root[j * D] : 0.1 * P0[i * D + j]; /* or of rank one */
            }
        for (int i = 0; i < D; i++)
            mean0[i] = test_uniform(&random, -1, 1);
        /* states 1..STEPS without observations: mean, covariance, and covariance with later ones */
        static long double m[STEPS][D], P[STEPS][D * D], cross[STEPS][STEPS][D * D];
        for (int s = 0; s < STEPS; s++) {
            long double was[D * D], moved[D * D] = {0}, now[D * D] = {0}, centre[D] = {0};
            for (int i = 0; i < D * D; i++)
                was[i] = s ? P[s - 1][i] : P0[i];
            for (int i = 0; i < D; i++)
                for (int j = 0; j < D; j++) {
                    centre[i] += F[i * D + j] * (s ? m[s - 1][j] : mean0[j]);
                    for (int k = 0; k < D; k++)
                        moved[i * D + j] += F[i * D + k] * was[k * D + j];
                }
            for (int i = 0; i < D; i++)
                for (int j = 0; j < D; j++) {
                    for (int k = 0; k < D; k++)
                        now[i * D + j] += moved[i * D + k] * F[j * D + k];
                    P[s][i * D + j] = now[i * D + j] + Q[i * D + j];
                    cross[s][s][i * D + j] = P[s][i * D + j];
                }
            memcpy(m[s], centre, sizeof centre);
            for (int e = 0; e < s; e++) /* Cov(x_s, x_e) = F·Cov(x_(s−1), x_e) */
                for (int i = 0; i < D; i++)
                    for (int j = 0; j < D; j++) {
                        cross[s][e][i * D + j] = 0;
                        for (int k = 0; k < D; k++)
                            cross[s][e][i * D + j] += F[i * D + k] * cross[s - 1][e][k * D + j];
                    }
            for (int i = 0; i < D; i++)
                h[s][i] = test_uniform(&random, -1, 1);
            r[s] = pow(10, test_uniform(&random, -3, 1));
            y[s] = test_uniform(&random, -2, 2);
        }
        static long double K[STEPS * STEPS], b[STEPS * (D + 1)], residual[STEPS], with[D][STEPS];
        for (int s = 0; s < STEPS; s++) {
            residual[s] = y[s];
            for (int i = 0; i < D; i++)
                residual[s] -= h[s][i] * m[s][i];
            for (int e = 0; e <= s; e++) {
                long double sum = s == e ? r[s] : 0;
                for (int i = 0; i < D; i++)
                    for (int j = 0; j < D; j++)
                        sum += h[s][i] * cross[s][e][i * D + j] * h[e][j];
                K[s * STEPS + e] = K[e * STEPS + s] = sum;
            }
            for (int i = 0; i < D; i++) {
                with[i][s] = 0;
                for (int j = 0; j < D; j++)
                    with[i][s] += cross[STEPS - 1][s][i * D + j] * h[s][j];
                b[s * (D + 1) + i] = with[i][s];
            }
            b[s * (D + 1) + D] = residual[s];
        }
        double log_p = -0.5 * (STEPS * log(2 * PI) + solve(K, b, STEPS, D + 1));
        kalman k;
        assert_int_equal(kalman_init(&k, D, mean0, P0), 0);
        double sum = 0;
        for (int s = 0; s < STEPS; s++) {
            assert_int_equal(kalman_predict(&k, F, Q), 0);
            sum += kalman_update(&k, h[s], r[s], y[s]);
            log_p -= 0.5 * (double)(residual[s] * b[s * (D + 1) + D]);
        }
        check_within(k.log_evidence, sum, 1e-12);
        check_within(sum, log_p, 1e-9 * fabs(log_p));
        for (int i = 0; i < D; i++) {
            long double mean = m[STEPS - 1][i];
            for (int s = 0; s < STEPS; s++)
                mean += with[i][s] * b[s * (D + 1) + D];
            check_within(k.mean[i], mean, 1e-9);
            for (int j = 0; j < D; j++) {
                long double c = P[STEPS - 1][i * D + j];
                for (int s = 0; s < STEPS; s++)
                    c -= with[i][s] * b[s * (D + 1) + j];
                check_within(kalman_covariance(&k, (unsigned)i, (unsigned)j), c, 1e-9);
            }
        }
    }
}

/* Along the orthogonal columns of R everything is scalar, so that scalar filters tell the answer; the
   covariance has condition number 1e10 and its axes lie in no coordinate's direction. 1e5 steps. */
static void kalman_stays_positive_definite(void **state)
{
    enum { N = 6 };
    double R[N][N], Q[N * N] = {0}, P0[N * N] = {0}, mean[N] = {0}, scale[N];
    long double variance[N];
    kalman k;
    (void)state;
    for (int i = 0; i < N; i++) { /* a reflection: I − 2vvᵀ/v·v with v = 1, 2, ... N */
        for (int j = 0; j < N; j++)
            R[i][j] = (i == j) - 2.0 * (i + 1) * (j + 1) / (N * (N + 1) * (2 * N + 1) / 6);
        scale[i] = pow(10, -10.0 * i / (N - 1));
        variance[i] = scale[i];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int a = 0; a < N; a++) {
                P0[i * N + j] += R[i][a] * R[j][a] * scale[a];
                Q[i * N + j] += R[i][a] * R[j][a] * scale[a] * 0.01;
            }
    assert_int_equal(kalman_init(&k, N, mean, P0), 0);
    for (int step = 0; step < 100000; step++) {
        int a = step % N;
        assert_int_equal(kalman_predict(&k, NULL, Q), 0);
        assert_true(!isnan(kalman_update(&k, R[a], scale[a] * 0.3, 0.001)));
        for (int i = 0; i < N; i++)
            variance[i] += 0.01L * scale[i];
        variance[a] = variance[a] * (0.3L * scale[a]) / (variance[a] + 0.3L * scale[a]);
    }
    for (int a = 0; a < N; a++) { /* Q itself is rounded to 1e-16 of its largest: 1e-6 of the smallest */
        double along = 0;
        for (int c = 0; c < N; c++) {
            double f = 0;
            for (int i = 0; i < N; i++)
                f += k.root[i * N + c] * R[i][a];
            along += f * f;
        }
        check_within(along / (double)variance[a], 1, 1e-5);
    }
    long double L[N][N] = {{0}}; /* and the covariance as a matrix has a factor */
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j <= i; j++) {
            long double left = kalman_covariance(&k, i, j);
            assert_true(kalman_covariance(&k, i, j) == kalman_covariance(&k, j, i));
            for (unsigned c = 0; c < j; c++)
                left -= L[i][c] * L[j][c];
            if (i == j)
                assert_true(left > 0);
            L[i][j] = i == j ? sqrtl(left) : left / L[j][j];
        }
}

static void kalman_refusals(void **state)
{
    kalman k, before;
    double mean[2] = {0, 0}, bad[4] = {1, 2, 2, 1}, fine[4] = {1, 0, 0, 0}, h[2] = {0, 1}, e[2] = {1, 1},
           wrong[4] = {NAN, 0, 0, 1};
    (void)state;
    assert_int_equal(kalman_init(&k, 0, mean, fine), -1);
    assert_int_equal(kalman_init(&k, KALMAN_DIM_MAX + 1, mean, fine), -1);
    assert_int_equal(kalman_init(&k, 2, mean, bad), -1);
    assert_int_equal(kalman_init(&k, 2, mean, fine), 0);
    before = k;
    assert_true(isnan(kalman_update(&k, h, 0, 1))); /* known already */
    assert_true(isnan(kalman_update(&k, e, -1, 1)));
    assert_int_equal(kalman_predict(&k, wrong, NULL), -1);
    assert_int_equal(kalman_predict(&k, NULL, bad), -1);
    assert_memory_equal(&k, &before, sizeof k);
    check_within(kalman_update(&k, e, 0, 0.7), -0.5 * (log(2 * PI) + 0.49), 1e-14); /* without noise */
    check_within(k.mean[0], 0.7, 1e-14);
    check_within(kalman_covariance(&k, 0, 0), 0, 1e-14);
}

/* ---- Particles ---- */

enum { PARTICLES = 20000 };

/* Between resamplings the effective number E is at least half of N, or a little less just before; each of
   the R + 1 stretches adds an error of at most sd/√(N/3) to the mean, and 3/N to the variance of
   ln P(E). Bounds are 5 of these; of the variance, times √2. */
#define STRETCHES(s) sqrt(3.0 * (smc_resamplings(s) + 1) / PARTICLES)

/* Plain resampling: with Liu and West's, posteriors that are not Gaussian are biased. At tσ = 0.4 the
   other fringes are 15 standard deviations away. */
static void smc_agrees_with_grid(void **state)
{
    model m;
    double mean = 0.5, sd = 0.4, q = 0.02 * 0.02, m1, v1, m2, v2;
    uint64_t random = 21;
    (void)state;
    find(&m, "precession");
    grid *g = grid_create(&m.is, 2048);
    smc *s = smc_create(&m.is, PARTICLES, 77, &(smc_options){1, 0.5});
    for (int trial = 0; trial < 4; trial++) {
        double truth = 0.5 + 0.4 * normal(&random);
        grid_prior_gaussian(g, mean, sd * sd);
        assert_int_equal(smc_prior_gaussian(s, &mean, &sd), 0);
        for (int k = 0; k < 30; k++) {
            grid_diffuse(g, q);
            smc_diffuse(s, &q);
            truth += 0.02 * normal(&random);
            grid_moments(g, &m1, &v1);
            double t = 0.4 / sqrt(v1), x_ = m1 + (k % 2 ? 1.5 : -1.5) / t;
            double record[3] = {t, x_, test_uniform(&random, 0, 1) < 0.5 + 0.5 * cos(t * (truth - x_))};
            grid_update(g, record);
            smc_update(s, record, 1);
        }
        grid_moments(g, &m1, &v1);
        smc_moments(s, &m2, &v2);
        assert_in_range(smc_resamplings(s), 2, 30);
        check_within((m2 - m1) / sqrt(v1), 0, 5 * STRETCHES(s));
        check_within(v2 / v1, 1, 5 * sqrt(2) * STRETCHES(s));
        check_within(smc_log_evidence(s), grid_log_evidence(g), 5 * STRETCHES(s));
    }
    grid_free(g);
    smc_free(s);
}

static void smc_agrees_with_kalman(void **state)
{
    rf64_chart charts[RF_NAMES_MAX];
    const rf64_model m = linear(&rf64_model_linear2, charts);
    double zero[2] = {0, 0}, one[2] = {1, 1}, P0[4] = {1, 0, 0, 1}, step[2] = {0.01, 0}, Q[4] = {0.01, 0, 0, 0},
           mean[2], P[4];
    uint64_t random = 8;
    (void)state;
    smc *s = smc_create(&m, PARTICLES, 5, NULL);
    kalman k;
    assert_int_equal(kalman_init(&k, 2, zero, P0), 0);
    assert_int_equal(smc_prior_gaussian(s, zero, one), 0);
    for (int i = 0; i < 60; i++) {
        double h1 = test_uniform(&random, -1, 1), h2 = test_uniform(&random, -1, 1);
        double record[4] = {h1, h2, 0.5, 0.8 * h1 - 0.3 * h2 + 0.5 * normal(&random)};
        smc_diffuse(s, step);
        kalman_predict(&k, NULL, Q);
        smc_update(s, record, 1);
        kalman_update(&k, record, 0.25, record[3]);
    }
    smc_moments(s, mean, P);
    for (unsigned i = 0; i < 2; i++) {
        check_within((mean[i] - k.mean[i]) / sqrt(kalman_covariance(&k, i, i)), 0, 5 * STRETCHES(s));
        for (unsigned j = 0; j < 2; j++) {
            double unit = sqrt(kalman_covariance(&k, i, i) * kalman_covariance(&k, j, j));
            check_within((P[2 * i + j] - kalman_covariance(&k, i, j)) / unit, 0, 5 * sqrt(2) * STRETCHES(s));
        }
    }
    assert_in_range(smc_resamplings(s), 3, 30);
    check_within(smc_log_evidence(s), k.log_evidence, 5 * STRETCHES(s));
    smc_free(s);
}

/* Weights of 1, 2 and 0 in turn, on correlated particles: the moments of N particles drawn anew are off
   by sampling errors of 1/√N sd and √(2/N) variances at most; without the spread the variance would
   be 4 % too small, and without the shrinkage 4 % too large: 12 of these errors. */
static double zero_one_two(const double x[], const double setting[], double outcome)
{
    (void)outcome;
    return x[0] + setting[0] < 0 ? 1 : x[1] < setting[1] ? 2 : 0;
}

static void resampling_keeps_two_moments(void **state)
{
    enum { N = 200000 };
    rf64_chart charts[2] = {{RF_REAL, 0, 0}, {RF_REAL, 0, 0}};
    rf64_model m = {zero_one_two, NULL, charts, 2, 2, 0, NULL};
    const smc_options never = {0.98, 0};
    double mean[2] = {3, -1}, sd[2] = {0.5, 2}, record[3] = {-3.1, 0.5, 0}, m1[2], P1[4], m2[2], P2[4], y[2],
           weight = 0;
    (void)state;
    smc *s = smc_create(&m, N, 9, &never);
    assert_int_equal(smc_prior_gaussian(s, mean, sd), 0);
    smc_update(s, record, 1);
    assert_int_equal(smc_resamplings(s), 0);
    smc_moments(s, m1, P1);
    assert_true(fabs(P1[1]) > 0.1);
    smc_resample(s);
    smc_moments(s, m2, P2);
    for (unsigned i = 0; i < 2; i++) {
        check_within((m2[i] - m1[i]) / sqrt(P1[3 * i]), 0, 5 / sqrt(N));
        check_within(P2[3 * i] / P1[3 * i], 1, 5 * sqrt(2.0 / N));
    }
    check_within((P2[1] - P1[1]) / sqrt(P1[0] * P1[3]), 0, 5 * sqrt(2.0 / N));
    for (uint32_t i = 0; i < N; i++)
        weight += smc_particle(s, i, y);
    check_within(weight, 1, 1e-9);
    check_within(smc_effective(s), N, 1e-6);
    smc_free(s);
}

/* Systematic choice: particle i is taken ⌊N·w⌋ or ⌈N·w⌉ times. */
static void resampling_takes_its_share(void **state)
{
    enum { N = 300 };
    rf64_chart charts[2] = {{RF_REAL, 0, 0}, {RF_REAL, 0, 0}};
    rf64_model m = {zero_one_two, NULL, charts, 2, 2, 0, NULL};
    const smc_options plain = {1, 0};
    double zero[2] = {0, 0}, one[2] = {1, 1}, record[3] = {0.3, 0.1, 0}, y[2], was[N][2], w[N];
    (void)state;
    smc *s = smc_create(&m, N, 10, &plain);
    smc_prior_gaussian(s, zero, one);
    smc_update(s, record, 1);
    for (uint32_t i = 0; i < N; i++)
        w[i] = smc_particle(s, i, was[i]);
    smc_resample(s);
    uint32_t from = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t times = 0;
        for (; from < N; from++, times++) {
            smc_particle(s, from, y);
            if (fabs(y[0] - was[i][0]) > 1e-12)
                break;
        }
        check_within(times, N * w[i], 1);
    }
    assert_true(from == N);
    smc_free(s);
}

/* With a = 0 a resampling draws all particles from the Gaussian of their moments. Those of one and of
   the next, and the steps of diffusion, share no random numbers: correlations are within 5/√N. */
static void draws_are_never_used_twice(void **state)
{
    enum { N = 20000, TIMES = 5 };
    rf64_chart charts[RF_NAMES_MAX];
    const rf64_model m = linear(&rf64_model_linear2, charts);
    static double z[2 * TIMES][N];
    double zero[2] = {0, 0}, one[2] = {1, 1}, mean[2], P[4], y[2];
    (void)state;
    smc *s = smc_create(&m, N, 12, &(smc_options){0, 0});
    smc_prior_gaussian(s, zero, one);
    for (int k = 0; k < TIMES; k++) {
        if (k == 1)
            smc_prior_gaussian(s, zero, one);
        if (k == 2 || k == 3)
            smc_resample(s);
        smc_moments(s, mean, P);
        for (uint32_t i = 0; k < 4 && i < N; i++) {
            smc_particle(s, i, y);
            for (int d = 0; d < 2; d++)
                z[2 * k + d][i] = (y[d] - mean[d]) / sqrt(P[3 * d]);
        }
    }
    double step[2] = {1e12, 1e12}; /* of which the particles' places are no part */
    smc_diffuse(s, step);
    for (uint32_t i = 0; i < N; i++) {
        smc_particle(s, i, y);
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
    smc_free(s);
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
    smc *s = smc_create(&m.is, 1000, 1, NULL), *t = smc_create(&m.is, 1000, 1, NULL),
        *u = smc_create(&m.is, 1000, 2, NULL);
    smc_prior_box(s, low, high);
    smc_prior_box(t, low, high);
    smc_prior_box(u, low, high);
    for (int k = 0; k < 2; k++) { /* in one batch, and one by one */
        smc_diffuse(s, step);
        smc_diffuse(t, step);
        smc_diffuse(u, step);
        smc_update(s, records[20 * k], 20);
        smc_update(u, records[20 * k], 20);
        for (int i = 0; i < 20; i++)
            smc_update(t, records[20 * k + i], 1);
    }
    smc_moments(s, a, P);
    smc_moments(t, b, R);
    smc_moments(u, c, NULL);
    assert_in_range(smc_resamplings(s), 1, 20);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_equal(P, R, sizeof P);
    assert_true(smc_log_evidence(s) == smc_log_evidence(t));
    assert_true(a[0] != c[0] && a[1] != c[1]);
    smc_free(s);
    smc_free(t);
    smc_free(u);
}

/* A phase on both sides of the cut, and a bounded parameter: mean and variance from the grid. */
static void smc_in_charts(void **state)
{
    model m;
    double mean = 6.2, sd = 0.3, q = 0.01, record[3] = {2, 0.2, 1}, zero = 0, one = 1, heads[20], m1, v1, m2, v2;
    double whole[2] = {0, 1};
    (void)state;
    find(&m, "phase");
    grid *g = grid_create(&m.is, 1024);
    smc *s = smc_create(&m.is, PARTICLES, 3, &(smc_options){0.98, 1});
    grid_prior_gaussian(g, mean, sd * sd);
    smc_prior_gaussian(s, &mean, &sd);
    for (int k = 0; k < 2; k++) {
        grid_diffuse(g, q);
        smc_diffuse(s, &q);
        grid_update(g, record);
        smc_update(s, record, 1); /* resamples each time */
    }
    grid_moments(g, &m1, &v1);
    smc_moments(s, &m2, &v2);
    assert_int_equal(smc_resamplings(s), 2);
    check_within(sin(m2 - m1) / sqrt(v1), 0, 5 * STRETCHES(s));
    check_within(v2 / v1, 1, 5 * sqrt(2) * STRETCHES(s));
    grid_free(g);
    smc_free(s);

    find(&m, "coin");
    g = grid_create(&m.is, 1024);
    s = smc_create(&m.is, PARTICLES, 4, NULL);
    grid_prior_gaussian(g, zero, one);
    assert_int_equal(smc_prior_box(s, &whole[0], &whole[1]), 0); /* uniform: N(0, 1) in the chart */
    for (int k = 0; k < 20; k++) {
        heads[k] = k % 4 > 0;
        grid_update(g, &heads[k]);
    }
    double total = smc_update(s, heads, 20);
    grid_moments(g, &m1, &v1);
    smc_moments(s, &m2, &v2);
    check_within((m2 - m1) / sqrt(v1), 0, 5 * STRETCHES(s));
    check_within(v2 / v1, 1, 5 * sqrt(2) * STRETCHES(s));
    check_within(total, lgamma(16) + lgamma(6) - lgamma(22), 5 * STRETCHES(s));
    check_within(grid_log_evidence(g), lgamma(16) + lgamma(6) - lgamma(22), 1e-8);
    grid_free(g);
    smc_free(s);
}

static void smc_refusals(void **state)
{
    model m;
    double low[2] = {0, 0.01}, high[2] = {1, 0.05}, negative[2] = {0, -1}, record[4] = {0, 0, 1, 0}, a[2], b[2];
    (void)state;
    find(&m, "ramsey");
    assert_null(smc_create(NULL, 10, 0, NULL));
    assert_null(smc_create(&m.is, 1, 0, NULL));
    assert_null(smc_create(&m.is, 10, 0, &(smc_options){1.1, 0.5}));
    smc *s = smc_create(&m.is, 1000, 0, NULL);
    assert_int_equal(smc_prior_box(s, low, high), 0);
    smc_moments(s, a, NULL);
    assert_int_equal(smc_prior_box(s, high, low), -1);
    assert_int_equal(smc_prior_box(s, negative, high), -1);
    assert_int_equal(smc_prior_gaussian(s, low, negative), -1);
    assert_int_equal(smc_diffuse(s, negative), -1);
    assert_true(smc_update(s, record, 1) == -INFINITY); /* t = 0, contrast 1: outcome 0 cannot be */
    smc_moments(s, b, NULL);
    assert_memory_equal(a, b, sizeof a);
    assert_true(smc_log_evidence(s) == 0);
    smc_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form_of_small_angles),
        cmocka_unit_test(known_posteriors),
        cmocka_unit_test(grid_sees_fringes_between_points),
        cmocka_unit_test(grid_averages_what_it_cannot_resolve),
        cmocka_unit_test(grid_counts_what_it_gives_up),
        cmocka_unit_test(grid_agrees_with_kalman),
        cmocka_unit_test(grid_follows_shrinkage),
        cmocka_unit_test(grid_agrees_with_direct_integration),
        cmocka_unit_test(grid_on_the_circle),
        cmocka_unit_test(grid_priors_and_refusals),
        cmocka_unit_test(kalman_agrees_with_the_joint_gaussian),
        cmocka_unit_test(kalman_stays_positive_definite),
        cmocka_unit_test(kalman_refusals),
        cmocka_unit_test(smc_agrees_with_grid),
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
