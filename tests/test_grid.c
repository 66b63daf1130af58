/* The exact grid and the closed form, compared with each other, with a Kalman filter, with plain sums, and with
   known/baselines.txt, which make_baselines.py integrates with 30 digits. */
#include "baselines.h"

#include "closed_form.h"
#include "grid.h"
#include "kalman.h"

/* ---- Closed form ---- */

/* A short time: P(0) = t²x²/4 to a relative 1e-12, so N(0, v) becomes x²N(0, v), with variance 3v. And x_ at a
   distance of 1e3 standard deviations from the mean, where d(ln P(0))/dx = 2/(x − x_). */
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

/* 88 posteriors: one record at tσ from 0.01 to 10, several records with many peaks, a bounded chart, and a periodic
   chart from a uniform and a narrow prior. The grid's own errors are about 1e-9 (see grid.h). */
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
        rf_grid *g = rf_grid_create(&m.is, 1024);
        if (number[1] > 0)
            assert_int_equal(rf_grid_prior_gaussian(g, number[0], number[1] * number[1]), 0);
        else
            assert_int_equal(rf_grid_prior_box(g, m.charts[0].low, m.charts[0].high), 0);
        double total = 0, mean, variance;
        for (int k = 0; k < records; k++)
            total += rf_grid_update(g, number + 3 + k * width);
        rf_grid_moments(g, &mean, &variance);
        const double sd = sqrt(answer[2]);
        double turn = 0; /* whole periods between the two means */
        if (m.charts[0].kind == RF_PERIODIC)
            turn = 2 * PI * floor((mean - answer[1]) / (2 * PI) + 0.5);
        check_within(total, answer[0], 1e-8);
        check_within(rf_grid_log_evidence(g), total, 1e-12);
        check_within((mean - turn - answer[1]) / sd, 0, 1e-8);
        check_within(variance / answer[2], 1, 1e-8);
        check_within((rf_grid_quantile(g, 0.025) - turn - answer[3]) / sd, 0, 2e-6);
        check_within((rf_grid_quantile(g, 0.975) - turn - answer[4]) / sd, 0, 2e-6);
        check_within(rf_grid_below(g, answer[3]), 0.025, 1e-6);
        check_within(rf_grid_below(g, answer[4]), 0.975, 1e-6);
        assert_true(rf_grid_below(g, mean - 40 * sd) < 1e-9 || m.charts[0].kind == RF_PERIODIC);
        assert_int_equal(rf_grid_unresolved(g), 0);
        assert_true(rf_grid_dropped(g) == 0);
        if (records == 1 && strcmp(name, "precession") == 0) { /* the closed form as well */
            closed_form f = {number[0], number[1] * number[1], 0};
            check_within(closed_form_update(&f, number[3], number[4], number[5] != 0), answer[0], 1e-12);
            check_within((f.mean - answer[1]) / sd, 0, 1e-12);
            check_within(f.variance / answer[2], 1, 1e-12);
        }
        rf_grid_free(g);
        lines++;
    }
    fclose(file);
    assert_int_equal(lines, 88);
}

/* One, two or three fringes in a step of the prior's grid, where they look constant; and tσ up to 150. The closed
   form is exact for one update. */
static void grid_sees_fringes_between_points(void **state)
{
    model m;
    (void)state;
    find(&m, "precession");
    rf_grid *g = rf_grid_create(&m.is, 16384);
    for (int k = 0; k < 24; k++) {
        double t = k < 3 ? 2 * PI * 8 * (k + 1) / 0.5 : 0.01 * pow(1.5, k), record[3] = {t, 0.3, k % 2};
        closed_form f = {0.31, 0.25, 0};
        rf_grid_prior_gaussian(g, 0.31, 0.25);
        double log_p = closed_form_update(&f, t, 0.3, k % 2);
        check_within(rf_grid_update(g, record), log_p, 2e-9);
        check_within(rf_grid_mean(g), f.mean, 2e-9);
        check_within(rf_grid_variance(g), f.variance, 2e-9);
        assert_int_equal(rf_grid_unresolved(g), 0);
    }
    rf_grid_free(g);
}

/* A time that no grid resolves is uninformative: P(E) is a half and the density stays, except for the noise of 16
   samples in each of the 128 or more cells per standard deviation: 0.25·√½/√(128·3.5) = 0.008 of P(E), or 0.017 of
   ln P(E), and the same for the moments; bounds are 5 times these. At the odd times, whole numbers of fringes fit in
   the finest step, 1/128, and all points are on a crest. */
static void grid_averages_what_it_cannot_resolve(void **state)
{
    model m;
    (void)state;
    find(&m, "precession");
    rf_grid *g = rf_grid_create(&m.is, 2048);
    for (int k = 0; k < 20; k++) {
        double record[3] = {k % 2 ? 2 * PI * 128 * k : 1e6 * (1 + k), 0.5, 1};
        rf_grid_prior_gaussian(g, 0.5, 1);
        check_within(rf_grid_update(g, record), -0.693147, 0.085);
        check_within(rf_grid_mean(g), 0.5, 0.085);
        check_within(rf_grid_variance(g), 1, 0.12);
        assert_int_equal(rf_grid_unresolved(g), 1);
    }
    rf_grid_free(g);
}

/* Growing times make fringes of all scales: with few points, the ends of the grid are dropped, and counted. A
   dropped part within 100 standard deviations counts 100 times its share in the mean, and 1e4 times in the variance. */
static void grid_counts_what_it_gives_up(void **state)
{
    model m;
    (void)state;
    find(&m, "precession");
    rf_grid *few = rf_grid_create(&m.is, 1024), *many = rf_grid_create(&m.is, 1u << 17);
    for (int k = 0; k < 24; k++) {
        double t = pow(1.5, k / 2), x_ = 0.3 + 0.4 * (k % 3 - 1) / t, record[3] = {t, x_, 1};
        rf_grid_update(few, record);
        rf_grid_update(many, record);
    }
    double sd = sqrt(rf_grid_variance(many));
    check_below(sd, 1e-2);
    assert_true(rf_grid_dropped(few) > 0);
    check_below(rf_grid_dropped(few), 1e-5);
    assert_true(rf_grid_dropped(many) == 0);
    assert_int_equal(rf_grid_unresolved(few), 0);
    assert_int_equal(rf_grid_unresolved(many), 0);
    check_within((rf_grid_mean(few) - rf_grid_mean(many)) / sd, 0, 100 * rf_grid_dropped(few));
    check_within(rf_grid_variance(few) / (sd * sd), 1, 1e4 * rf_grid_dropped(few));
    check_within(rf_grid_log_evidence(few), rf_grid_log_evidence(many), rf_grid_dropped(few));
    rf_grid_free(few);
    rf_grid_free(many);
}

/* A linear-Gaussian model with steps from 1e-8 to 10 and noise from 1e-4 to 10, 500 times: blurs from 1e-6 to 1e5
   times the width of the density. */
static void grid_agrees_with_kalman(void **state)
{
    model m;
    uint64_t random = 11;
    double truth = 0.4, zero = 0, one = 1;
    kalman k;
    (void)state;
    take_linear(&m, &rf64_model_linear1);
    rf_grid *g = rf_grid_create(&m.is, 1024);
    rf_grid_prior_gaussian(g, 0, 1);
    assert_int_equal(kalman_init(&k, 1, &zero, &one), 0);
    for (int step = 0; step < 500; step++) {
        double sd, q = pow(10, test_uniform(&random, -8, step % 10 ? -2 : 1)), variance = q * q;
        truth += q * normal(&random);
        assert_int_equal(rf_grid_diffuse(g, variance), 0);
        assert_int_equal(kalman_predict(&k, NULL, &variance), 0);
        sd = sqrt(kalman_covariance(&k, 0, 0));
        check_within((rf_grid_mean(g) - k.mean[0]) / sd, 0, 1e-7);
        check_within(rf_grid_variance(g) / (sd * sd), 1, 1e-7);
        double noise = pow(10, test_uniform(&random, -4, 1)), record[3] = {1, noise, truth + noise * normal(&random)};
        double log_p = kalman_update(&k, record, noise * noise, record[2]);
        check_within(rf_grid_update(g, record), log_p, 1e-6);
        sd = sqrt(kalman_covariance(&k, 0, 0));
        check_within((rf_grid_mean(g) - k.mean[0]) / sd, 0, 1e-6);
        check_within(rf_grid_variance(g) / (sd * sd), 1, 1e-6);
        assert_in_range(rf_grid_points(g), 40, 1024);
    }
    check_within(rf_grid_log_evidence(g), k.log_evidence, 1e-5);
    assert_int_equal(rf_grid_unresolved(g), 0);
    assert_true(rf_grid_dropped(g) == 0);
    rf_grid_free(g);
}

/* The width goes from 1 to 1e-9 in one update, in 30 updates, and back by diffusion. |x| = 0.3 is known to 1e-16:
   1e-7 sd. */
static void grid_follows_shrinkage(void **state)
{
    model m;
    (void)state;
    take_linear(&m, &rf64_model_linear1);
    rf_grid *g = rf_grid_create(&m.is, 1024);
    for (int updates = 1; updates <= 30; updates += 29) {
        kalman k;
        double zero = 0, one = 1, noise = 1;
        rf_grid_prior_gaussian(g, 0, 1);
        assert_int_equal(kalman_init(&k, 1, &zero, &one), 0);
        for (int i = 0; i < updates; i++) {
            noise *= pow(1e-9, 1.0 / updates);
            double record[3] = {1, noise, 0.3 + noise * (i % 3 - 1)};
            double log_p = kalman_update(&k, record, noise * noise, record[2]);
            check_within(rf_grid_update(g, record), log_p, 1e-6);
        }
        double sd = sqrt(kalman_covariance(&k, 0, 0));
        check_below(sd, 1.1e-9);
        check_within((rf_grid_mean(g) - k.mean[0]) / sd, 0, 1e-6);
        check_within(rf_grid_variance(g) / (sd * sd), 1, 1e-6);
        assert_int_equal(rf_grid_unresolved(g), 0);
        assert_int_equal(rf_grid_diffuse(g, 1), 0);
        check_within(rf_grid_mean(g), 0.3, 1e-7);
        check_within(rf_grid_variance(g), 1, 1e-7);
        check_within(rf_grid_quantile(g, 0.975), 0.3 + 1.9599639845400545, 2e-6);
    }
    rf_grid_free(g);
}

/* The same by plain sums over 3201 fixed points: h = 1/200, t at most 25, steps of variance 0.09². */
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
    rf_grid *g = rf_grid_create(&m.is, 2048);
    rf_grid_prior_gaussian(g, 0, 1);
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
        assert_int_equal(rf_grid_diffuse(g, 0.09 * 0.09), 0);
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
        check_within(rf_grid_update(g, record), log(z), 1e-7);
        check_within(rf_grid_mean(g), mean, 1e-7 * sqrt(variance));
        check_within(rf_grid_variance(g) / variance, 1, 1e-7);
        for (int i = 0; i < FIXED; i += 16) {
            top = p[i] > top ? p[i] : top;
            bottom = fmax(bottom, fabs(rf_grid_density(g, fixed_x(i)) - p[i]));
        }
        check_below(bottom, 1e-7 * top);
        total += log(z);
        least_kept = fmin(least_kept, 1 / (sqrt(variance) * t));
    }
    check_within(rf_grid_log_evidence(g), total, 1e-6);
    check_below(least_kept, 0.3); /* some posteriors had several peaks */
    assert_int_equal(rf_grid_unresolved(g), 0);
    rf_grid_free(g);
}

/* (1 + cos φ)/2π blurred by a variance v is (1 + e^(−v/2) cos φ)/2π; a narrow density moves once round the circle. */
static void grid_on_the_circle(void **state)
{
    model m;
    double record[3] = {1, 0.5, 1}, mean, variance;
    (void)state;
    find(&m, "phase");
    rf_grid *g = rf_grid_create(&m.is, 1024);
    for (double v = 1e-4; v < 200; v *= 3) {
        rf_grid_prior_box(g, 0, 2 * PI);
        check_within(rf_grid_update(g, record), log(0.5), 1e-9);
        assert_int_equal(rf_grid_diffuse(g, v), 0);
        for (double phi = -1; phi < 7; phi += 0.31)
            check_within(rf_grid_density(g, phi), (1 + exp(-v / 2) * cos(phi - 0.5)) / (2 * PI), 2e-8);
    }
    rf_grid_prior_gaussian(g, 6.2, 1e-4);
    for (int k = 0; k < 4; k++) /* across the cut: 0.2 with a standard deviation of 0.02, then once round */
        rf_grid_diffuse(g, k < 3 ? 1e-4 : 100);
    check_within(rf_grid_density(g, 1), 1 / (2 * PI), 1e-8);
    rf_grid_prior_gaussian(g, 6.28, 0.04);
    rf_grid_diffuse(g, 0.05);
    rf_grid_moments(g, &mean, &variance);
    check_within(mean, 6.28, 1e-8);
    check_within(variance, 0.09, 1e-8);
    check_within(rf_grid_quantile(g, 0.975), 6.28 + 0.3 * 1.9599639845400545, 1e-6);
    rf_grid_prior_gaussian(g, 1, 1); /* wrapped: its variance on the circle differs from that on the line */
    double moment = PI * PI / 3;
    for (int k = 1; k < 12; k++)
        moment += 4 * (k % 2 ? -1 : 1) * exp(-0.5 * k * k) / (k * k);
    rf_grid_moments(g, &mean, &variance);
    check_within(mean, 1, 1e-9);
    check_within(variance, moment, 1e-9);
    for (int k = 1; k < 10; k++)
        check_within(rf_grid_below(g, rf_grid_quantile(g, 0.1 * k) + 2 * PI * (k % 3)), 0.1 * k, 1e-6);
    rf_grid_free(g);
}

static void grid_priors_and_refusals(void **state)
{
    model m, ramsey;
    double mean, variance, record[3] = {0, 0, 0};
    (void)state;
    find(&m, "precession");
    find(&ramsey, "ramsey");
    assert_null(rf_grid_create(NULL, 2048));
    assert_null(rf_grid_create(&ramsey.is, 2048));
    assert_null(rf_grid_create(&m.is, 1000));
    rf_grid *g = rf_grid_create(&m.is, 1024);
    rf_grid_moments(g, &mean, &variance);
    check_within(mean, 0, 1e-12);
    check_within(variance, 1, 1e-9);
    assert_int_equal(rf_grid_prior_box(g, -1, 3), 0);
    rf_grid_moments(g, &mean, &variance);
    check_within(mean, 1, 1e-12);
    check_within(variance, 16.0 / 12 + 1.0 / 256, 1e-9);
    check_within(rf_grid_density(g, 2.5), 0.25, 1e-9);
    check_within(rf_grid_quantile(g, 0.25), 0, 1e-9);
    assert_int_equal(rf_grid_prior_gaussian(g, NAN, 1), -1);
    assert_int_equal(rf_grid_prior_gaussian(g, 0, 0), -1);
    assert_int_equal(rf_grid_prior_box(g, 1, 1), -1);
    assert_int_equal(rf_grid_diffuse(g, -1), -1);
    assert_int_equal(rf_grid_diffuse(g, 0), 0);
    assert_true(rf_grid_update(g, record) == -INFINITY); /* t = 0: outcome 0 is impossible */
    check_within(rf_grid_variance(g), 16.0 / 12 + 1.0 / 256, 1e-8);
    assert_true(rf_grid_log_evidence(g) == 0);
    rf_grid_free(g);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
