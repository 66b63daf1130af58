/* A few Gaussians: splitting, merging and projecting compared with moments and closed forms; the belief compared
   with exact grids. */
#include "believing.h"

#include "component.h"
#include "evaluate.h"
#include "mixture.h"
#include "rejfilt/passes.h"
#include "rejfilt/session.h"

/* ---- Gaussians ---- */

static const rf64_chart lines[RF_DESCRIBED_MAX] = {{RF_REAL, 0, 0}}; /* the others are zero: the chart `real` */

static void random_component(double *c, unsigned dim, uint64_t *state)
{
    c[0] = test_uniform(state, 0.1, 1);
    for (unsigned i = 0; i < dim; i++)
        rf_component_mean(c)[i] = test_uniform(state, -3, 3);
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++)
            rf_component_factor(c, dim)[RF_TRIANGLE(i) + j] =
                i == j ? test_uniform(state, 0.2, 2) : test_uniform(state, -1, 1);
}

/* Mean and covariance of several Gaussians together. */
static void moments_of(double *const c[], unsigned count, unsigned dim, double *weight, double mean[],
                       double covariance[])
{
    *weight = 0;
    memset(mean, 0, dim * sizeof *mean);
    memset(covariance, 0, RF_TRIANGLE(dim) * sizeof *covariance);
    for (unsigned k = 0; k < count; k++)
        *weight += c[k][0];
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < dim; i++)
            mean[i] += c[k][0] / *weight * c[k][1 + i];
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < dim; i++)
            for (unsigned j = 0; j <= i; j++)
                covariance[RF_TRIANGLE(i) + j] +=
                    c[k][0] / *weight *
                    (rf_component_covariance(c[k], dim, i, j) + (c[k][1 + i] - mean[i]) * (c[k][1 + j] - mean[j]));
}

static void test_split_and_merge_keep_moments(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (unsigned dim = 1; dim <= 5; dim++)
        for (unsigned axis = 0; axis < dim; axis++) {
            double whole[64], low[64], middle[64], high[64],
                merged[64], *const parts[] = {low, middle, high}, *const one[] = {whole};
            double weight[2], mean[2][5], covariance[2][15], joint[15];
            random_component(whole, dim, &random);
            rf_component_split(whole, dim, axis, low, middle, high);
            moments_of(one, 1, dim, &weight[0], mean[0], covariance[0]);
            moments_of(parts, 3, dim, &weight[1], mean[1], covariance[1]);
            check_within(weight[1], weight[0], 1e-14);
            for (unsigned i = 0; i < dim; i++)
                check_within(mean[1][i], mean[0][i], 1e-13);
            for (unsigned i = 0; i < RF_TRIANGLE(dim); i++)
                check_within(covariance[1][i], covariance[0][i], 1e-12);
            assert_true(low[1 + axis] != high[1 + axis] && low[0] == high[0]);

            /* the low and the high half merged: exactly the old moments */
            double *const pair[] = {low, high};
            double a[15], b[15];
            for (unsigned i = 0; i < dim; i++)
                for (unsigned j = 0; j <= i; j++) {
                    a[RF_TRIANGLE(i) + j] = rf_component_covariance(low, dim, i, j);
                    b[RF_TRIANGLE(i) + j] = rf_component_covariance(high, dim, i, j);
                }
            high[0] *= 3;
            moments_of(pair, 2, dim, &weight[0], mean[0], covariance[0]);
            memcpy(merged, low, sizeof merged);
            rf_component_joint(low, high, a, b, lines, dim, joint);
            rf_component_cholesky(joint, dim, NULL);
            rf_component_merge(merged, high, lines, dim, joint);
            check_within(merged[0], weight[0], 1e-14);
            for (unsigned i = 0; i < dim; i++) {
                check_within(merged[1 + i], mean[0][i], 1e-13);
                for (unsigned j = 0; j <= i; j++)
                    check_within(rf_component_covariance(merged, dim, i, j), covariance[0][RF_TRIANGLE(i) + j], 1e-12);
            }
        }
}

/* Along the axis, the three also have the fourth moment of the whole. */
static void test_split_keeps_the_fourth_moment(void **state)
{
    (void)state;
    const double whole[] = {1, 0, 1};
    double low[3], middle[3], high[3], *const parts[] = {low, middle, high}, fourth = 0;
    rf_component_split(whole, 1, 0, low, middle, high);
    for (unsigned k = 0; k < 3; k++) {
        const double m = parts[k][1], v = parts[k][2] * parts[k][2];
        fourth += parts[k][0] * (m * m * m * m + 6 * m * m * v + 3 * v * v);
    }
    check_within(fourth, 3, 1e-13);
}

static void test_merging_across_the_cut_of_a_circle(void **state)
{
    (void)state;
    const rf64_chart circle = {RF_PERIODIC, 0, 2};
    const double b[] = {0.25, 1.9, 0.1}, own = 0.01;
    double a[] = {0.75, 0.1, 0.1}, joint;
    rf_component_joint(a, b, &own, &own, &circle, 1, &joint);
    check_within(joint, 0.01 + 0.75 * 0.25 * 0.04, 1e-15);
    rf_component_cholesky(&joint, 1, NULL);
    rf_component_merge(a, b, &circle, 1, &joint);
    check_within(a[1], 0.1 - 0.25 * 0.2, 1e-15);
}

/* Nats that merging loses and Runnalls's bound, for components in a real chart. */
static double lost_by_merging(const double *a, const double *b, unsigned dim, double *bound)
{
    static const rf64_chart lines[3];
    double of_a[6], of_b[6], joint[6];
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++) {
            of_a[RF_TRIANGLE(i) + j] = rf_component_covariance(a, dim, i, j);
            of_b[RF_TRIANGLE(i) + j] = rf_component_covariance(b, dim, i, j);
        }
    rf_component_joint(a, b, of_a, of_b, lines, dim, joint);
    *bound = (a[0] + b[0]) * rf_component_cholesky(joint, dim, NULL) - a[0] * rf_component_log_size(a, dim) -
             b[0] * rf_component_log_size(b, dim);
    return rf_component_merger_loss(a, b, of_a, of_b, lines, dim, joint, *bound);
}

static double normal_density(double x, const double *c)
{
    const double z = (x - c[1]) / c[2];
    return exp(-z * z / 2) / (sqrt(2 * PI) * c[2]);
}

/* Against the divergence itself, summed; in three dimensions along an oblique line it is the same. */
static void test_loss_of_a_merger(void **state)
{
    (void)state;
    static const double pairs[][2][3] = {{{0.5, -0.68, 0.73}, {0.5, 0.68, 0.73}}, {{0.2, 1.2, 0.7}, {0.6, 0, 0.7}},
                                         {{0.3, 0.1, 0.5}, {0.2, 0, 1}},          {{0.1, 2, 0.6}, {0.9, 0, 1}},
                                         {{0.3, 1, 0.5}, {0.6, 0, 1}},            {{0.05, 3, 0.6}, {0.95, 0, 1}},
                                         {{0.5, -0.4, 0.95}, {0.5, 0.4, 0.85}},   {{0.9, 0, 1}, {0.1, 3, 1}},
                                         {{0.5, -9, 1}, {0.4, 9, 1}}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const double *a = pairs[k][0], *b = pairs[k][1], step = 1e-3, total = a[0] + b[0];
        const double mean = (a[0] * a[1] + b[0] * b[1]) / total, between = a[0] * b[0] / (total * total) * (a[1] - b[1]) * (a[1] - b[1]);
        const double merged[] = {total, mean, sqrt((a[0] * a[2] * a[2] + b[0] * b[2] * b[2]) / total + between)};
        double right = 0, bound, bound_there;
        for (double x = -40; x < 40; x += step) {
            const double p = a[0] * normal_density(x, a) + b[0] * normal_density(x, b);
            const double z = (x - merged[1]) / merged[2], log_merged = log(total / (sqrt(2 * PI) * merged[2])) - z * z / 2;
            right += p > 0 ? step * p * (log(p) - log_merged) : 0;
        }
        const double found = lost_by_merging(a, b, 1, &bound);
        check_below(right, bound);
        check_below(found, 2.5 * right);
        check_below(right, 2.5 * found);

        /* three parameters: the first as above, the others of the same Gaussian, all of them mixed by a factor */
        double there[2][10];
        for (unsigned c = 0; c < 2; c++) {
            const double sd = pairs[k][c][2], at = pairs[k][c][1];
            const double turned[10] = {pairs[k][c][0], at, 0.5 * at, -2 * at, sd, 0.5 * sd, 1.5, -2 * sd, 0.25, 0.125};
            memcpy(there[c], turned, sizeof turned);
        }
        check_within(lost_by_merging(there[0], there[1], 3, &bound_there), found, 1e-9 * found);
        check_within(bound_there, bound, 1e-9 * bound);
    }
}

/* ---- Evaluations ---- */

static double constant(const double x[], const double setting[], double outcome)
{
    (void)x, (void)setting, (void)outcome;
    return 0.3;
}

/* The sum of the parameters, measured with standard deviation 1. */
static double log_normal(const double x[], const double setting[], double outcome)
{
    double off = outcome;
    for (unsigned i = 0; i < (unsigned)setting[0]; i++)
        off -= x[i];
    return -0.5 * off * off;
}
static double plain_normal(const double x[], const double setting[], double outcome)
{
    return rf64_exp(log_normal(x, setting, outcome));
}

enum { FIXED_MOST = RF_POINTS_SIZE(3) }; /* number of fixed points */

static rf_evaluator evaluator_of(const rf64_model *model, const double *record, const double *fixed)
{
    const rf_evaluator e = {.model = model, .record = record, .fixed = fixed, .seed = 7, .power = 1};
    return e;
}

/* An uninformative record changes nothing: the points have exactly the Gaussian's moments. */
static void test_points_have_the_moments(void **state)
{
    (void)state;
    double fixed[FIXED_MOST];
    uint64_t random = 2;
    for (unsigned dim = 1; dim <= RF_DESCRIBED_MAX; dim++) {
        const double record[] = {1};
        const rf64_model model = {.likelihood = constant, .charts = lines, .dim = (uint16_t)dim};
        rf_points_make(dim, fixed);
        rf_evaluator e = evaluator_of(&model, record, fixed);
        double before[256], after[256];
        rf_evaluation found;
        random_component(before, dim, &random);
        for (unsigned again = 0; again < 3; again++) {
            assert_int_equal(rf_evaluate(&e, before, after, &found), RF_OK);
            check_within(found.likelihood, 0.3, 1e-14);
            check_below(found.loss, 1e-12);
            check_below(found.effective, rf_points_count(dim) + 1e-6);
            check_below(dim == 2 ? 7 : 8, found.effective); /* a plane has 19 points, 1.4 sd apart */
            for (unsigned i = 0; i < rf_component_size(dim); i++)
                check_within(after[i], before[i], 1e-11);
        }
        assert_int_equal(e.points, 3 * rf_points_count(dim));
    }
}

/* With a Gaussian likelihood the posterior is known: with one parameter to rounding of the tails; with more, to the
   error of a lattice. */
static void test_a_gaussian_likelihood(void **state)
{
    (void)state;
    double fixed[FIXED_MOST];
    for (unsigned dim = 1; dim <= 6; dim++)
        for (int is_log = 0; is_log <= 1; is_log++) {
            const double record[] = {dim, 1}, variance = 1.0 / dim; /* so that the prior variance of the sum is 1 */
            const rf64_model model = {.likelihood = is_log ? log_normal : plain_normal,
                                      .charts = lines,
                                      .dim = (uint16_t)dim,
                                      .settings = 1,
                                      .is_log = (uint16_t)is_log};
            rf_points_make(dim, fixed);
            rf_evaluator e = evaluator_of(&model, record, fixed);
            double before[64] = {1}, after[64], mean = 0, square = 0;
            rf_evaluation found;
            for (unsigned i = 0; i < dim; i++)
                rf_component_factor(before, dim)[RF_TRIANGLE(i) + i] = sqrt(variance);
            assert_int_equal(rf_evaluate(&e, before, after, &found), RF_OK);
            for (unsigned i = 0; i < dim; i++) {
                mean += after[1 + i];
                for (unsigned j = 0; j < dim; j++)
                    square += rf_component_covariance(after, dim, i, j);
            }
            const double slack = dim == 1 ? 1e-5 : 0.08;
            check_within(mean, 0.5, slack);
            check_within(square, 0.5, slack);
            check_within(log(found.likelihood) + found.scale, -0.25 - 0.5 * log(2), slack);
            check_below(found.loss, dim == 1 ? 1e-5 : 0.05);
        }
}

/* ---- The belief ---- */

enum { KINDS = 3, SETS = 6, RECORDS = 30 };
#define EXACT 0.1

typedef struct comparison {
    unsigned off[KINDS];    /* data sets with a mean more than half an exact standard deviation off */
    double evidence[KINDS]; /* the largest difference of ln P */
    double interval[KINDS]; /* the largest error of an end of a 95 % interval, in exact standard deviations, over
                               sets not off */
    unsigned most, last;    /* number of Gaussians: largest, and at the end */
} comparison;

/* Compares the kinds on records of a random truth; all settings except the first have their described values. */
static comparison compare(const rf_problem *problem, int in_order, double longest, uint32_t records, unsigned sets)
{
    const unsigned dim = problem->description.dim, settings = problem->description.settings;
    const char *const kinds[KINDS] = {"mixture", "gaussian", dim == 1 ? "grid:2048" : "grid:128"};
    comparison c = {{0}, {0}, {0}, 0, 0};
    uint64_t random = 5;
    for (unsigned set = 0; set < sets; set++) {
        rf_belief *belief[KINDS];
        double truth[RF_DESCRIBED_MAX], log_evidence[KINDS] = {0};
        for (unsigned b = 0; b < KINDS; b++)
            belief[b] = open_or_fail(kinds[b], problem);
        for (unsigned i = 0; i < dim; i++)
            truth[i] = test_uniform(&random, problem->prior[i].first, problem->prior[i].second);
        for (uint32_t k = 0; k < records; k++) {
            double record[RF_DESCRIBED_MAX + 1];
            for (unsigned i = 0; i < settings; i++)
                record[i] = problem->description.setting[i].low;
            record[0] = in_order ? k + 1.0 : test_uniform(&random, 0, longest);
            record[settings] = rf64_instance_outcome(problem->model->f64, truth, record, 100 + set, k);
            for (unsigned b = 0; b < KINDS; b++)
                log_evidence[b] += learn(belief[b], record, 1);
            const uint32_t count = rf_mixture_count(belief[0]);
            c.most = count > c.most ? count : c.most;
            c.last = k + 1 == records && count > c.last ? count : c.last;
        }
        double mean[KINDS][RF_DESCRIBED_MAX], covariance[RF_TRIANGLE(RF_DESCRIBED_MAX)];
        for (unsigned b = 0; b < KINDS; b++)
            belief[b]->kind->moments(belief[b], mean[b], covariance); /* after the loop: the grid's covariance */
        for (unsigned b = 0; b < KINDS; b++) {
            const double sd = sqrt(covariance[0]), apart = fabs(mean[b][0] - mean[2][0]) / sd;
            c.evidence[b] = fmax(c.evidence[b], fabs(log_evidence[b] - log_evidence[2]));
            c.off[b] += apart > 0.5;
            for (unsigned end = 0; end < 2 && apart <= 0.5; end++) {
                const double p = end ? 0.975 : 0.025;
                c.interval[b] = fmax(
                    c.interval[b],
                    fabs(belief[b]->kind->quantile(belief[b], 0, p) - belief[2]->kind->quantile(belief[2], 0, p)) / sd);
            }
        }
        for (unsigned b = 0; b < KINDS; b++)
            rf_belief_close(belief[b]);
    }
    return c;
}

static rf_problem bounded_precession(void)
{
    rf_problem problem = problem_of("precession");
    problem.prior[0] = (rf_prior){0, 0, PI};
    problem.description.parameter[0].chart = RF_BOUNDED;
    problem.description.parameter[0].high = PI;
    rf_problem_settle(&problem);
    return problem;
}

/* One reading, far more exact than the prior, of a weighted sum of two parameters: the posterior is a strip between
   the points of one evaluation. The exact posterior is the Kalman filter's. The sums of one evaluation are exact to
   a hundredth, and a record is learnt in at most eight parts. */
static void test_a_record_narrower_than_the_points(void **state)
{
    (void)state;
    rf_problem problem = problem_of("linear");
    for (unsigned i = 0; i < 2; i++)
        problem.prior[i] = (rf_prior){1, 0, 1};
    rf_problem_settle(&problem);
    const double noises[] = {0.3, 0.1, 0.03};
    for (unsigned n = 0; n < 3; n++)
        for (unsigned k = 0; k < 12; k++) {
            const double noise = noises[n], angle = 0.26 * k, y = 0.2 * k - 1.1, h[] = {rf64_cos(angle), rf64_sin(angle)};
            const double record[] = {h[0], h[1], noise, y}, total = 1 + noise * noise;
            double mean[2], covariance[3];
            rf_belief *belief = open_or_fail("mixture", &problem);
            const rf64_report report = report_of(belief, record, 1);
            belief->kind->moments(belief, mean, covariance);
            check_within(report.log_evidence, -0.5 * (y * y / total + rf64_log(total * 6.283185307179586)), 0.1);
            for (unsigned i = 0; i < 2; i++) {
                const double sd = rf64_sqrt(1 - h[i] * h[i] / total);
                check_within(mean[i], h[i] * y / total, 0.08 * sd);
                check_within(rf64_sqrt(covariance[RF_TRIANGLE(i) + i]), sd, 0.08 * sd);
            }
            rf_belief_close(belief);
        }
}

static double growth(const double x[], const double setting[], double outcome)
{
    const double off = (outcome - x[2] / (1 + rf64_exp(rf64_min(-x[0] * (setting[0] - x[1]), 80.0)))) / EXACT;
    return -0.5 * off * off;
}

/* Exact readings of logistic growth: the first ones leave thin, bent posteriors, which a few Gaussians blur. Passes are
   the judge; the error is that of some hundred effective points. */
static void test_the_first_records_are_learnt_again(void **state)
{
    (void)state;
    static const rf_description description = {
        .name = "growth", .dim = 3, .settings = 1, .is_log = 1,
        .parameter = {{"r", RF_POSITIVE, 0.2, 2, 0}, {"m", RF_REAL, 3, 17, 0}, {"n", RF_POSITIVE, 1, 10, 0}},
        .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0, 20, 0}}};
    const rf64_instance own = {.layout = RF64_LAYOUT, .description = &description, .likelihood = growth};
    const rf_model model = {NULL, &own};
    const rf_config config = rf_config_default(&model);
    double apart = 0;
    for (unsigned set = 0; set < SETS; set++) {
        char error[200];
        uint64_t random = 70 + set;
        double truth[3], records[RECORDS][2], mean[3], covariance[6];
        rf_problem problem = {.model = &model, .description = description};
        for (unsigned i = 0; i < 3; i++) {
            problem.prior[i] = config.prior[i];
            truth[i] = test_uniform(&random, config.prior[i].first, config.prior[i].second);
        }
        rf_problem_settle(&problem);
        rf_belief *belief = open_or_fail("mixture", &problem);
        for (unsigned k = 0; k < RECORDS; k++) {
            records[k][0] = test_uniform(&random, 0, 20);
            records[k][1] = truth[2] / (1 + exp(-truth[0] * (records[k][0] - truth[1]))) + EXACT * test_uniform(&random, -1.7, 1.7);
            learn(belief, records[k], 1);
        }
        rf_passes_result right;
        rf_passes *passes = rf_passes_open(&config, records[0], RECORDS, error, sizeof error);
        assert_non_null(passes);
        assert_int_equal(rf_passes_run(passes, NULL, NULL, &right), RF_OK);
        assert_int_equal(right.verdict, RF_PASSES_FINE);
        belief->kind->moments(belief, mean, covariance);
        for (unsigned i = 0; i < 3; i++)
            apart = fmax(apart, fabs(mean[i] - right.chart_mean[i]) / right.chart_sd[i]);
        rf_passes_close(passes);
        rf_belief_close(belief);
    }
    check_below(apart, 0.3);
}

static void test_times_in_order(void **state)
{
    (void)state;
    const rf_problem problem = bounded_precession();
    const comparison c = compare(&problem, 1, 0, 200, SETS);
    assert_int_equal(c.off[0], 0);
    check_below(2, c.off[1]); /* the reason for mixtures */
    check_below(c.evidence[0], 1);
    check_below(10, c.evidence[1]);
    check_below(c.interval[0], 0.1);
    check_below(4, c.most);
}

static void test_times_at_random(void **state)
{
    (void)state;
    const rf_problem problem = bounded_precession();
    const comparison c = compare(&problem, 0, 100, 100, SETS);
    check_below(c.off[0], 1); /* in a fifth of the sets fringes are finer than 16 Gaussians */
    check_below(c.off[0] + 2, c.off[1]);
    check_below(c.evidence[0], 0.5 * c.evidence[1]);
}

/* ---- Uniform priors ---- */

/* Exactly uniform at first, whatever the chart. */
static void test_uniform_priors(void **state)
{
    (void)state;
    static const char *const names[] = {"precession", "ramsey", "rabi", "bearing", "coin", "decay"};
    for (unsigned m = 0; m < sizeof names / sizeof *names; m++) {
        rf_problem problem = problem_of(names[m]);
        const unsigned dim = problem.description.dim;
        if (strcmp(names[m], "coin") == 0) /* narrower than its chart */
            problem.prior[0] = (rf_prior){0, 0.2, 0.4};
        rf_belief *belief = open_or_fail("mixture", &problem);
        double mean[RF_DESCRIBED_MAX], covariance[RF_TRIANGLE(RF_DESCRIBED_MAX)], x[RF_DESCRIBED_MAX];
        assert_int_equal(rf_mixture_count(belief), 1);
        belief->kind->moments(belief, mean, covariance);
        for (unsigned i = 0; i < dim; i++) {
            const rf64_chart *chart = &problem.charts[i];
            const double low = problem.prior[i].first, width = problem.prior[i].second - low;
            for (double p = 0.01; p < 1; p += 0.07)
                check_within(rf64_chart_natural(chart, belief->kind->quantile(belief, i, p)), low + p * width,
                             1e-9 * width);
            if (chart->kind != RF_REAL)
                continue;
            check_within(mean[i], low + 0.5 * width, 1e-12 * width);
            check_within(covariance[RF_TRIANGLE(i) + i], width * width / 12, 2e-3 * width * width);
        }
        for (uint32_t k = 0; k < 2000; k++) {
            belief->kind->draw(belief, k, RF_FOR_USER, x);
            for (unsigned i = 0; i < dim; i++)
                assert_true(x[i] >= problem.prior[i].first && x[i] <= problem.prior[i].second);
        }
        rf_belief_close(belief);
    }
}

/* A fringe cannot distinguish x from −x, but the prior can, up to its very end. A bounded chart, which has no other
   side, gives the reference. */
static void test_nothing_lies_outside_a_uniform_prior(void **state)
{
    (void)state;
    const rf_problem bounded = bounded_precession();
    rf_problem real = problem_of("precession");
    real.prior[0] = bounded.prior[0];
    static const double truths[] = {0.02, 0.05, 0.1, 0.4, 2.9, 3.1, 3.12};
    for (unsigned k = 0; k < sizeof truths / sizeof *truths; k++) {
        rf_belief *belief = open_or_fail("mixture", &real), *exact = open_or_fail("grid:16384", &bounded);
        double end[3], evidence[2] = {0, 0};
        for (uint32_t t = 1; t <= 150; t++) {
            const double setting[] = {t, 0},
                         record[] = {t, 0, rf64_instance_outcome(real.model->f64, &truths[k], setting, 300 + k, t)};
            evidence[0] += learn(belief, record, 1);
            evidence[1] += learn(exact, record, 1);
        }
        for (unsigned i = 0; i < 3; i++)
            end[i] = rf64_chart_natural(bounded.charts, exact->kind->quantile(exact, 0,
                                                                              i == 0   ? 0.025
                                                                              : i == 1 ? 0.5
                                                                                       : 0.975));
        for (unsigned i = 0; i < 3; i++) /* within a quarter of the interval, about one standard deviation */
            check_within((belief->kind->quantile(belief, 0,
                                                 i == 0   ? 0.025
                                                 : i == 1 ? 0.5
                                                          : 0.975) -
                          end[i]) /
                             (end[2] - end[0]),
                         0, 0.25);
        check_within(evidence[0], evidence[1], 1.5);
        rf_belief_close(belief);
        rf_belief_close(exact);
    }
}

/* A walk, and a stretch, may leave the range of the prior. */
static void test_a_walk_leaves_its_box(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("precession"); /* 0..π/2 */
    const double Q[] = {1e-3}, factor[] = {2};
    for (unsigned what = 0; what < 2; what++) {
        rf_belief *belief = open_or_fail("mixture", &problem);
        double before[2], after[2];
        belief->kind->moments(belief, &before[0], &before[1]);
        assert_int_equal(rf_mixture_charts(belief)->kind, RF_BOUNDED);
        assert_int_equal(belief->kind->pass(belief, NULL, Q, 1), RF_OK); /* 1/50 of the range */
        assert_int_equal(rf_mixture_charts(belief)->kind, RF_BOUNDED);
        belief->kind->moments(belief, &after[0], &after[1]);
        check_below(before[1], after[1]);
        check_below(after[1], before[1] + 2 * Q[0]);
        assert_int_equal(what ? belief->kind->stretch(belief, factor) : belief->kind->pass(belief, NULL, Q, 1000),
                         RF_OK);
        assert_int_equal(rf_mixture_charts(belief)->kind, RF_REAL);
        belief->kind->moments(belief, &before[0], &before[1]);
        check_within(before[0], after[0], 1e-12);
        check_within(before[1], what ? 4 * after[1] : after[1] + 1, 1e-9);
        assert_int_equal(belief->kind->restart(belief), RF_OK);
        assert_int_equal(rf_mixture_charts(belief)->kind, RF_BOUNDED);
        rf_belief_close(belief);
    }
}

/* A run in which a Gaussian comes so near to the end of a range that it has no width outside: a walk there was
   refused. */
static int pass_on(void *user, uint32_t trial, const rf_step *step)
{
    (void)trial;
    *(long *)user = step->step;
    return 0;
}

static void test_the_end_of_a_box(void **state)
{
    (void)state;
    rf_simulation run = {.config = rf_config_default(rf_model_find("rabi")), .steps = 100, .batch = 1};
    long last = 0;
    run.config.design = "pgh";
    run.config.seed = 2;
    assert_int_equal(rf_simulate(&run, 955, 1, pass_on, &last), RF_OK);
    assert_int_equal(last, 99);
}

static void test_ramsey(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("ramsey");
    const comparison c = compare(&problem, 0, 30, 40, 2);
    check_below(c.off[0], 0);
    check_below(c.evidence[0], 3);
}

/* Where one Gaussian is enough, there is only one. */
static void test_coin(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("coin");
    const comparison c = compare(&problem, 0, 1, 100, 3);
    assert_int_equal(c.most, 1);
    assert_int_equal(c.off[0], 0);
    check_below(c.evidence[0], 0.1);
    check_below(c.interval[0], 0.1);
}

/* At first the whole circle is possible: the posterior must not depend on the place of the cut. */
static void test_a_circle(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("phase");
    const rf64_chart *chart = &problem.charts[0];
    assert_int_equal(chart->kind, RF_PERIODIC);
    const double period = chart->high - chart->low;
    for (unsigned set = 0; set < 4; set++) {
        rf_belief *belief = open_or_fail("mixture", &problem), *exact = open_or_fail("grid:2048", &problem);
        const double truth[1] = {chart->low + period * (set + 0.02) / 4};
        double record[RF_DESCRIBED_MAX + 1], mean[2], variance[2], evidence[2] = {0, 0};
        uint64_t random = set;
        for (uint32_t k = 0; k < 60; k++) {
            for (unsigned i = 0; i < problem.description.settings; i++) {
                const rf_setting *s = &problem.description.setting[i];
                record[i] = s->role == RF_SETTING_GUESS ? test_uniform(&random, chart->low, chart->high)
                            : s->low > 0                ? s->low
                                                        : 1;
            }
            record[problem.description.settings] =
                rf64_instance_outcome(problem.model->f64, truth, record, 50 + set, k);
            evidence[0] += learn(belief, record, 1);
            evidence[1] += learn(exact, record, 1);
        }
        belief->kind->moments(belief, &mean[0], &variance[0]);
        exact->kind->moments(exact, &mean[1], &variance[1]);
        assert_true(mean[0] >= chart->low && mean[0] < chart->high);
        const double sd = sqrt(variance[1]);
        check_within(rf_component_apart(chart, mean[0] - mean[1]) / sd, 0, 0.1);
        check_within(variance[0] / variance[1], 1, 0.15);
        check_within(evidence[0], evidence[1], 0.3);
        for (unsigned end = 0; end < 2; end++) {
            const double p = end ? 0.975 : 0.025;
            const double apart = belief->kind->quantile(belief, 0, p) - exact->kind->quantile(exact, 0, p);
            check_within(rf_component_apart(chart, apart) / sd, 0, 0.2);
        }
        rf_belief_close(belief);
        rf_belief_close(exact);
    }
}

/* ---- Interchangeable parameters ---- */

/* All around, a belief is as wide as the uniform distribution, not wider: health would take it for too wide. */
static void test_a_whole_circle(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("phase");
    rf_belief *belief = open_or_fail("mixture", &problem);
    const double period = problem.charts[0].high - problem.charts[0].low;
    double mean, variance;
    belief->kind->moments(belief, &mean, &variance);
    check_within(variance, period * period / 12, 1e-4 * period * period);
    check_below(variance, period * period / 12);
    rf_belief_close(belief);
}

/* Stretching one parameter keeps the ends of the others' uniform priors. */
static void test_stretching_one(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("ramsey");
    const double factor[] = {1.5, 1};
    rf_belief *belief = open_or_fail("mixture", &problem);
    const double high = rf_mixture_charts(belief)[1].high;
    assert_true(rf_mixture_charts(belief)[1].kind == RF_BOUNDED && high == problem.prior[1].second);
    assert_int_equal(belief->kind->stretch(belief, factor), RF_OK);
    assert_true(rf_mixture_charts(belief)[0].kind == problem.charts[0].kind);
    assert_true(rf_mixture_charts(belief)[1].kind == RF_BOUNDED && rf_mixture_charts(belief)[1].high == high);
    rf_belief_close(belief);
}

static void test_permuting(void **state)
{
    (void)state;
    uint64_t random = 8;
    const unsigned order[] = {2, 0, 3, 1};
    double before[64], after[64];
    random_component(before, 4, &random);
    memcpy(after, before, sizeof after);
    rf_component_permute(after, 4, order);
    assert_true(after[0] == before[0]);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(after[1 + i] == before[1 + order[i]]);
        for (unsigned j = 0; j <= i; j++)
            check_within(rf_component_covariance(after, 4, i, j),
                         rf_component_covariance(before, 4, order[i], order[j]), 1e-12);
    }
}

static double beat(const double x[], const double setting[], double outcome)
{
    const double one = 0.5 + 0.25 * (rf64_cos(x[0] * setting[0]) + rf64_cos(x[1] * setting[0]));
    return outcome != 0 ? one : 1 - one;
}

/* Two indistinguishable frequencies: the lower one comes first in every belief. The other order, which would have
   half of the probability, is gone. */
static void test_interchangeable(void **state)
{
    (void)state;
    rf_problem problem = problem_of("ramsey");
    rf64_instance own = *problem.model->f64;
    const rf_model model = {problem.model->f32, &own};
    own.likelihood = beat;
    own.kernels = NULL;
    problem.model = &model;
    problem.description.parameter[1] = problem.description.parameter[0];
    problem.prior[1] = problem.prior[0];
    rf_problem_settle(&problem);
    assert_int_equal(rf_problem_interchangeable(&problem), 0);
    problem.description.interchangeable = 2;
    assert_int_equal(rf_problem_interchangeable(&problem), 2);
    rf_problem other = problem;
    other.prior[1].second = 0.9;
    assert_int_equal(rf_problem_interchangeable(&other), 0); /* the prior distinguishes them */

    static const char *const names[] = {"mixture:32", "particles:5000"};
    for (unsigned b = 0; b < 2; b++)
        for (unsigned set = 0; set < 3; set++) {
            rf_belief *belief = open_or_fail(names[b], &problem);
            const double truth[2] = {set == 1 ? 0.6 : 0.25, set == 1 ? 0.25 : 0.6};
            uint64_t random = 40 + set;
            double mean[2], covariance[3], x[2];
            for (uint32_t k = 0; k < 400; k++) {
                double record[4] = {test_uniform(&random, 0, 40), 0, 0.95, 0};
                record[3] = rf64_instance_outcome(&own, truth, record, 70 + set, k);
                learn(belief, record, 1);
            }
            belief->kind->moments(belief, mean, covariance);
            check_within((mean[0] - 0.25) / sqrt(covariance[0]), 0, 4);
            check_within((mean[1] - 0.6) / sqrt(covariance[2]), 0, 4);
            check_below(sqrt(covariance[0]), 0.02);
            check_below(sqrt(covariance[2]), 0.02);
            for (uint32_t k = 0; k < 200; k++) {
                belief->kind->draw(belief, k, RF_FOR_USER, x);
                check_below(x[0], x[1]);
            }
            rf_belief_close(belief);
        }
}

/* A belief with several Gaussians. */
static rf_belief *several(const rf_problem *problem, const char *name)
{
    rf_belief *belief = open_or_fail(name, problem);
    for (uint32_t k = 0; k < 8; k++) {
        double record[RF_DESCRIBED_MAX + 1] = {0};
        for (unsigned i = 0; i < problem->description.settings; i++)
            record[i] = problem->description.setting[i].low;
        record[0] = 4 + k;
        record[problem->description.settings] = k % 2;
        learn(belief, record, 1);
    }
    check_below(3, rf_mixture_count(belief));
    return belief;
}

static double below(const rf_belief *belief, unsigned dim, unsigned parameter, double y)
{
    double total = 0;
    for (uint32_t k = 0; k < rf_mixture_count(belief); k++) {
        const double *c = rf_mixture_component(belief, k);
        const double natural = rf64_chart_natural(&belief->problem->charts[parameter], y),
                     own = rf64_chart_coordinate(&rf_mixture_charts(belief)[parameter], natural);
        total += c[0] * 0.5 *
                 erfc((c[1 + parameter] - own) / sqrt(2 * rf_component_covariance(c, dim, parameter, parameter)));
    }
    return total;
}

static void test_quantiles(void **state)
{
    (void)state;
    static const char *const names[] = {"precession", "ramsey"};
    for (unsigned m = 0; m < 2; m++) {
        const rf_problem problem = problem_of(names[m]);
        rf_belief *belief = several(&problem, "mixture");
        for (unsigned i = 0; i < problem.description.dim; i++)
            for (double p = 0.0005; p < 1; p += 0.037)
                check_within(below(belief, problem.description.dim, i, belief->kind->quantile(belief, i, p)), p, 1e-8);
        rf_belief_close(belief);
    }
}

/* Widths that differ by a factor of 10,000, on a line and on a circle: the probability between two quantiles is
   right. */
static void test_quantiles_of_unequal_widths(void **state)
{
    (void)state;
    static const char *const names[] = {"precession", "phase"};
    uint64_t random = 5;
    for (unsigned trial = 0; trial < 400; trial++) {
        const rf_problem problem = problem_of(names[trial % 2]);
        const double period = trial % 2 ? 6.283185307179586 : 0;
        rf_belief *belief = open_or_fail("mixture", &problem);
        rf_gaussian parts[6] = {{0}};
        for (unsigned k = 0; k < 6; k++) {
            const double sd = exp(test_uniform(&random, log(1e-4), 0));
            parts[k].weight = exp(test_uniform(&random, log(1e-4), 0));
            parts[k].mean[0] = test_uniform(&random, 0.1, 6);
            parts[k].covariance[0] = sd * sd;
        }
        assert_int_equal(rf_belief_become(belief, parts, 1 + trial % 6), RF_OK);
        double before = 0, at = 0;
        for (double p = 0.01; p < 1; p += 0.0965) {
            const double q = belief->kind->quantile(belief, 0, p);
            double between = 0;
            for (uint32_t k = 0; k < rf_mixture_count(belief); k++)
                for (int turn = period > 0 ? -3 : 0; turn <= (period > 0 ? 3 : 0); turn++) {
                    const double *c = rf_mixture_component(belief, k), mean = c[1] + turn * period, scale = sqrt(2) * c[2];
                    between += 0.5 * c[0] * (erfc((mean - q) / scale) - erfc((mean - at) / scale));
                }
            if (before > 0)
                check_within(between, p - before, 2e-4);
            assert_true(before == 0 || q > at);
            before = p;
            at = q;
        }
        rf_belief_close(belief);
    }
}

/* A fringe around 0 cannot distinguish x from −x: two modes until a record elsewhere decides. */
static void test_modes(void **state)
{
    (void)state;
    rf_problem problem = problem_of("precession");
    problem.prior[0] = (rf_prior){0, -1, 1};
    rf_problem_settle(&problem);
    const double truth = 0.5;
    {
        rf_belief *belief = open_or_fail("mixture", &problem);
        rf_mode modes[RF_MODES_MAX];
        assert_int_equal(rf_belief_modes(belief, 0, modes), 1);
        assert_true(modes[0].share == 1 && modes[0].low < -0.9 && modes[0].high > 0.9);
        for (uint32_t k = 1; k <= 60; k++) {
            const double setting[] = {0.5 * k, 0};
            learn(belief, (const double[]){setting[0], 0, rf64_instance_outcome(problem.model->f64, &truth, setting, 4, k)}, 1);
        }
        assert_int_equal(rf_belief_modes(belief, 0, modes), 2);
        check_within(modes[0].share, 0.5, 0.05);
        check_within(modes[1].share, 0.5, 0.05);
        assert_true(modes[1].low > 0 && modes[1].low < truth && truth < modes[1].high);
        check_within(modes[0].low, -modes[1].high, 0.01);
        check_within(modes[0].high, -modes[1].low, 0.01);
        for (uint32_t k = 0; k < 20; k++)
            learn(belief, (const double[]){3, 0.5, 1}, 1);
        assert_int_equal(rf_belief_modes(belief, 0, modes), 1);
        check_within(modes[0].low, belief->kind->quantile(belief, 0, 0.025), 1e-12);
        rf_belief_close(belief);
    }
    rf_belief *one = open_or_fail("particles", &problem); /* a kind without modes */
    rf_mode modes[RF_MODES_MAX];
    assert_int_equal(rf_belief_modes(one, 0, modes), 1);
    rf_belief_close(one);
}

/* Draws have the belief's moments, within five standard errors. */
static void test_draws(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    const rf_problem problem = problem_of("ramsey");
    rf_belief *belief = several(&problem, "mixture");
    double mean[2], covariance[3], sum[2] = {0}, products[3] = {0}, x[2], again[2];
    belief->kind->moments(belief, mean, covariance);
    for (uint32_t k = 0; k < DRAWS; k++) {
        belief->kind->draw(belief, k, RF_FOR_USER, x);
        for (unsigned i = 0; i < 2; i++) {
            const double y = rf64_chart_coordinate(&problem.charts[i], x[i]) - mean[i];
            x[i] = y;
            sum[i] += y / DRAWS;
            for (unsigned j = 0; j <= i; j++)
                products[RF_TRIANGLE(i) + j] += x[i] * x[j] / DRAWS;
        }
    }
    for (unsigned i = 0; i < 2; i++)
        check_below(fabs(sum[i]), 5 * sqrt(covariance[RF_TRIANGLE(i) + i] / DRAWS));
    for (unsigned i = 0; i < 3; i++) { /* the square of a Gaussian has variance 2 */
        const double scale = sqrt(covariance[i == 2 ? 2 : 0] * covariance[i == 0 ? 0 : 2]);
        check_within(products[i] / scale, covariance[i] / scale, 5 * 2 / sqrt(DRAWS));
    }
    belief->kind->draw(belief, 3, RF_FOR_USER, x);
    belief->kind->draw(belief, 3, RF_FOR_USER, again);
    assert_memory_equal(x, again, sizeof x);
    belief->kind->draw(belief, 4, RF_FOR_USER, again);
    assert_memory_not_equal(x, again, sizeof x);
    rf_belief_close(belief);
}

static void test_time_and_recovery(void **state)
{
    (void)state;
    static const double Q[] = {0.5, 0.1, 0.1, 0.3}, F[] = {1, 0.5, 0, 1}, factor[] = {2.2, 3};
    const rf_problem problem = problem_of("ramsey");
    for (unsigned what = 0; what < 3; what++) {
        rf_belief *belief = several(&problem, "mixture");
        double mean[2][2], c[2][3], wanted[3];
        belief->kind->moments(belief, mean[0], c[0]);
        assert_int_equal(what == 2 ? belief->kind->stretch(belief, factor)
                                   : belief->kind->pass(belief, what ? F : NULL, Q, 2),
                         RF_OK);
        const double own[3] = {rf_component_covariance(rf_mixture_component(belief, 1), 2, 0, 0), 0, 0};
        belief->kind->moments(belief, mean[1], c[1]);
        if (what == 0) {
            for (unsigned i = 0; i < 3; i++)
                check_within(c[1][i], c[0][i] + 2 * Q[i == 2 ? 3 : i], 1e-12);
            assert_true(fabs(mean[1][0] - mean[0][0]) < 1e-12);
        } else if (what == 1) {
            wanted[0] = c[0][0] + c[0][1] + 0.25 * c[0][2] + Q[0];
            wanted[1] = c[0][1] + 0.5 * c[0][2] + Q[1];
            wanted[2] = c[0][2] + Q[3];
            for (unsigned i = 0; i < 3; i++)
                check_within(c[1][i], wanted[i], 1e-12);
            check_within(mean[1][0], mean[0][0] + 0.5 * mean[0][1], 1e-12);
        } else { /* each Gaussian at its place */
            static const double same[] = {1, 0, 0, 1};
            rf_belief *before = several(&problem, "mixture");
            assert_int_equal(before->kind->pass(before, same, NULL, 0), RF_OK); /* in the charts of the problem */
            const double *b = rf_mixture_component(before, 1), *a = rf_mixture_component(belief, 1);
            check_within(own[0], 2.2 * 2.2 * rf_component_covariance(b, 2, 0, 0), 1e-12);
            check_within(rf_component_covariance(a, 2, 1, 1), 9 * rf_component_covariance(b, 2, 1, 1), 1e-12);
            check_within(a[1], b[1], 1e-12);
            check_within(a[2], b[2], 1e-12);
            rf_belief_close(before);
        }
        assert_int_equal(belief->kind->restart(belief), RF_OK);
        assert_int_equal(rf_mixture_count(belief), 1);
        assert_true(rf_mixture_loss(belief) == 0 && belief->kind->updates(belief) == 8);
        rf_belief_close(belief);
    }
}

/* With one parameter nothing is random: records together equal records one after the other. */
static void test_records_together(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("precession");
    static const double records[] = {5, 0.2, 1, 9, 0.3, 0, 14, 0.1, 1};
    rf_belief *together = open_or_fail("mixture", &problem), *apart = open_or_fail("mixture", &problem);
    double evidence = 0;
    for (unsigned k = 0; k < 3; k++)
        evidence += learn(apart, records + 3 * k, 1);
    check_within(learn(together, records, 3), evidence, 1e-13);
    assert_int_equal(rf_mixture_count(together), rf_mixture_count(apart));
    for (uint32_t k = 0; k < rf_mixture_count(apart); k++)
        assert_memory_equal(rf_mixture_component(together, k), rf_mixture_component(apart, k), 3 * sizeof(double));
    assert_true(rf_mixture_loss(together) == rf_mixture_loss(apart) && rf_mixture_loss(apart) > 0);
    rf_belief_close(together);
    rf_belief_close(apart);
}

/* More Gaussians lose less. */
static void test_the_meter_counts(void **state)
{
    (void)state;
    const rf_problem problem = bounded_precession();
    double before = INFINITY;
    for (unsigned k = 0; k < 3; k++) {
        static const char *const names[] = {"mixture:1", "mixture:6", "mixture:48"};
        double loss = 0;
        for (double truth = 0.3; truth < 3; truth += 0.4) {
            rf_belief *belief = open_or_fail(names[k], &problem);
            for (uint32_t t = 1; t <= 40; t++) {
                const double setting[] = {t, 0};
                learn(belief, (const double[]){t, 0, rf64_instance_outcome(problem.model->f64, &truth, setting, 9, t)},
                      1);
            }
            loss += rf_mixture_loss(belief);
            rf_belief_close(belief);
        }
        check_below(loss, 0.5 * before);
        before = loss;
    }
}

static double impossible(const double x[], const double setting[], double outcome)
{
    (void)x, (void)setting, (void)outcome;
    return 0;
}

static double partly_bad(const double x[], const double setting[], double outcome)
{
    (void)setting, (void)outcome;
    return x[0] < 0.2 ? NAN : x[0] > 1.4 ? -1 : x[0] > 1.3 ? INFINITY : 0.5;
}

static void test_strange_likelihoods(void **state)
{
    (void)state;
    rf_problem problem = problem_of("precession");
    rf64_instance own = *problem.model->f64;
    const rf_model model = {problem.model->f32, &own};
    const rf64_options options = rf64_options_default();
    const double record[] = {1, 0, 1}, infinite[] = {1, INFINITY, 1};
    double mean[2], variance[2];
    rf64_report report;
    problem.model = &model;
    rf_belief *belief = open_or_fail("mixture", &problem);
    belief->kind->moments(belief, &mean[0], &variance[0]);
    own.likelihood = impossible;
    own.kernels = NULL;
    assert_int_equal(belief->kind->update(belief, record, 1, &options, NULL, &report), RF_NOTE_SHORT | RF_NOTE_WIDENED);
    belief->kind->moments(belief, &mean[1], &variance[1]);
    check_within(variance[1] / variance[0], 1 + options.recovery, 1e-12);
    assert_true(mean[0] == mean[1] && report.log_evidence < 0 && isfinite(report.log_evidence));
    own.likelihood = partly_bad;
    assert_true(belief->kind->update(belief, record, 1, &options, NULL, &report) & RF_NOTE_BAD);
    assert_true(report.nan > 0 && report.negative > 0 && report.infinite > 0);
    assert_int_equal(belief->kind->update(belief, infinite, 1, &options, NULL, &report), RF_REFUSED_EVIDENCE);
    assert_int_equal(belief->kind->update(belief, record, 0, &options, NULL, &report), RF_REFUSED_EVIDENCE);
    rf_belief_close(belief);
}

static double needle(const double x[], const double setting[], double outcome)
{
    const double off = (x[0] - 0.7) * setting[0];
    (void)outcome;
    return rf64_exp(-0.5 * off * off);
}

/* Ever sharper records, up to the resolution of numbers. */
static void test_the_spacing_of_numbers(void **state)
{
    (void)state;
    rf_problem problem = problem_of("precession");
    rf64_instance own = *problem.model->f64;
    const rf_model model = {problem.model->f32, &own};
    const rf64_options options = rf64_options_default();
    rf_status notes = 0;
    own.likelihood = needle;
    own.kernels = NULL;
    problem.model = &model;
    problem.prior[0] = (rf_prior){1, 0.8, 0.4};
    rf_belief *belief = open_or_fail("mixture", &problem);
    for (uint32_t k = 0; k < 120; k++) {
        double mean, variance;
        rf64_report report;
        belief->kind->moments(belief, &mean, &variance);
        check_within((mean - 0.7) / sqrt(variance), 0, 2);
        const double record[] = {1 / sqrt(variance), 0, 1};
        notes |= belief->kind->update(belief, record, 1, &options, NULL, &report);
        assert_true(notes >= 0);
        if (k < 40) /* exactly Gaussian within the resolution of numbers */
            assert_int_equal(rf_mixture_count(belief), 1);
    }
    assert_true(notes & RF_NOTE_COARSE);
    rf_belief_close(belief);
}

/* ---- Bytes, names ---- */

static void test_saving(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("ramsey");
    rf_belief *belief = several(&problem, "mixture"), *loaded = open_or_fail("mixture", &problem),
              *small = open_or_fail("mixture:2", &problem);
    unsigned char bytes[8192], other[8192];
    const size_t size = belief->kind->save(belief, NULL);
    assert_true(size < sizeof bytes - 8);
    assert_int_equal(belief->kind->save(belief, bytes), size);
    assert_int_equal(loaded->kind->load(loaded, bytes, size), 0);
    const double record[] = {20, 0, 0.95, 1};
    learn(belief, record, 1);
    learn(loaded, record, 1);
    assert_int_equal(loaded->kind->save(loaded, other), belief->kind->save(belief, NULL));
    belief->kind->save(belief, bytes);
    assert_memory_equal(bytes, other, belief->kind->save(belief, NULL));
    assert_true(rf_mixture_loss(loaded) == rf_mixture_loss(belief));

    const size_t whole = belief->kind->save(belief, bytes);
    for (size_t less = 0; less < whole; less++)
        assert_int_equal(loaded->kind->load(loaded, bytes, less), -1);
    memset(bytes + whole, 0, 8);
    assert_int_equal(loaded->kind->load(loaded, bytes, whole + 8), -1);
    assert_int_equal(small->kind->load(small, bytes, whole), -1); /* more than its capacity */
    static const double bad[] = {-1, NAN, INFINITY, 2};
    for (unsigned k = 0; k < 4;
         k++) { /* the loss, the share of it that time leaves, the drift, and the first weight, the first number of a
                   component */
        for (unsigned at = 24; at <= 48; at += 8) {
            memcpy(other, bytes, whole);
            memcpy(other + at, &bad[k], 8);
            assert_int_equal(loaded->kind->load(loaded, other, whole), (at == 24 || at == 40) && bad[k] == 2 ? 0 : -1);
        }
    }
    memcpy(other, bytes, whole);
    other[16] ^= 4; /* the range of a parameter that does not exist */
    assert_int_equal(loaded->kind->load(loaded, other, whole), -1);
    rf_belief_close(belief);
    rf_belief_close(loaded);
    rf_belief_close(small);
}

/* With three parameters the first records are saved, too, until something else changes the belief. */
static void test_saving_records(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("decay");
    rf_belief *belief = open_or_fail("mixture", &problem), *loaded = open_or_fail("mixture", &problem);
    unsigned char bytes[16384], other[16384];
    const double stretch[] = {1.1, 1.1, 1.1}, none[9] = {0}, drift[9] = {0.01};
    size_t size = 0;
    for (unsigned k = 0; k < 70; k++) { /* the last ones are too many to keep */
        const double record[] = {1.0 + k, k % 2};
        assert_true(problem.description.settings == 1);
        learn(belief, record, 1);
        assert_int_equal(belief->kind->pass(belief, NULL, none, 1), RF_OK);
        if (k % 16 != 15)
            continue;
        size = belief->kind->save(belief, bytes);
        assert_true(size < sizeof bytes - 8);
        assert_int_equal(loaded->kind->load(loaded, bytes, size), 0);
        loaded->live = belief->live;
        learn(belief, record, 1);
        learn(loaded, record, 1);
        assert_int_equal(loaded->kind->save(loaded, other), belief->kind->save(belief, bytes));
        assert_memory_equal(bytes, other, belief->kind->save(belief, NULL));
    }
    belief->kind->restart(belief);
    learn(belief, (const double[]){5, 1}, 1);
    size = belief->kind->save(belief, bytes);
    for (size_t less = 0; less < size; less++)
        assert_int_equal(loaded->kind->load(loaded, bytes, less), -1);
    memcpy(other, bytes, size);
    memset(other + size - 8, 0xff, 8); /* an outcome that is NaN */
    assert_int_equal(loaded->kind->load(loaded, other, size), -1);
    memcpy(other, bytes, size);
    other[size - 32] = 65; /* more records than are kept */
    assert_int_equal(loaded->kind->load(loaded, other, size), -1);
    assert_int_equal(loaded->kind->load(loaded, bytes, size), 0);
    assert_int_equal(belief->kind->pass(belief, NULL, drift, 1), RF_OK);
    assert_int_equal(belief->kind->save(belief, NULL), size - 16); /* one record of two numbers */
    assert_int_equal(loaded->kind->stretch(loaded, stretch), RF_OK);
    assert_int_equal(loaded->kind->save(loaded, NULL), size - 16);
    rf_belief_close(belief);
    rf_belief_close(loaded);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const refused[] = {"mixture:0", "mixture:65", "mixture:", "mixture:x", "mixture:1.5"};
    const rf_problem problem = problem_of("precession");
    char error[200];
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_null(rf_belief_open(refused[i], &problem, 1, 0, error, sizeof error));
        assert_non_null(strstr(error, "1 to 64"));
    }
    rf_belief *belief = rf_belief_open("mixture", &problem, 1, 1, error, sizeof error); /* works in double */
    assert_non_null(belief);
    rf_belief_close(belief);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_and_merge_keep_moments),
        cmocka_unit_test(test_split_keeps_the_fourth_moment),
        cmocka_unit_test(test_merging_across_the_cut_of_a_circle),
        cmocka_unit_test(test_loss_of_a_merger),
        cmocka_unit_test(test_points_have_the_moments),
        cmocka_unit_test(test_a_gaussian_likelihood),
        cmocka_unit_test(test_a_record_narrower_than_the_points),
        cmocka_unit_test(test_the_first_records_are_learnt_again),
        cmocka_unit_test(test_times_in_order),
        cmocka_unit_test(test_times_at_random),
        cmocka_unit_test(test_uniform_priors),
        cmocka_unit_test(test_nothing_lies_outside_a_uniform_prior),
        cmocka_unit_test(test_a_walk_leaves_its_box),
        cmocka_unit_test(test_the_end_of_a_box),
        cmocka_unit_test(test_ramsey),
        cmocka_unit_test(test_coin),
        cmocka_unit_test(test_a_circle),
        cmocka_unit_test(test_a_whole_circle),
        cmocka_unit_test(test_stretching_one),
        cmocka_unit_test(test_permuting),
        cmocka_unit_test(test_interchangeable),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_quantiles_of_unequal_widths),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_time_and_recovery),
        cmocka_unit_test(test_records_together),
        cmocka_unit_test(test_the_meter_counts),
        cmocka_unit_test(test_strange_likelihoods),
        cmocka_unit_test(test_the_spacing_of_numbers),
        cmocka_unit_test(test_saving),
        cmocka_unit_test(test_saving_records),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
