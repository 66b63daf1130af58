/* Passes over all records, compared with sums over fine grids and closed forms; on every engine; and bad input.

   Bounds: the last pass has 4,096 points (one parameter) or 8,192. With plain random points, 60 % of them effective,
   the standard error of the mean is 0.02 (0.014) standard deviations; the bounds are three of these, and the points
   are better than random. */
#include "baselines.h"

#include "engine_names.h"
#include "kalman.h"
#include "rejfilt/passes.h"

#define OFF 0.06

/* ---- Records and oracles ---- */

static void keep_still(rf_config *config) { memset(config->drift, 0, sizeof config->drift); }

static rf_config still(const char *model)
{
    rf_config config = rf_config_default(rf_model_find(model));
    keep_still(&config);
    return config;
}

/* Settings from the test; outcomes from the truth. */
typedef void choose(uint32_t k, uint64_t *state, double setting[]);

static double *measure(const rf_config *config, const double truth[], uint32_t count, uint64_t seed, choose *settings)
{
    const unsigned row = config->description.settings + 1;
    double *records = malloc(count * row * sizeof *records);
    assert_non_null(records);
    for (uint32_t k = 0; k < count; k++) {
        double *record = records + k * row;
        for (unsigned i = 0; i + 1 < row; i++)
            record[i] = config->description.setting[i].low;
        settings(k, &seed, record);
        record[row - 1] = rf64_instance_outcome(config->model->f64, truth, record, seed, k);
    }
    return records;
}

typedef struct posterior {
    double mean[2], sd[2], log_evidence, below[2]; /* below: probability below given places */
} posterior;

/* The prior's density in natural units, for uniform priors and for Gaussian ones in a real or positive chart. */
static double prior_of(const rf_config *config, unsigned i, double x)
{
    const rf_prior *prior = &config->prior[i];
    if (!prior->is_gaussian)
        return x >= prior->first && x <= prior->second ? 1 / (prior->second - prior->first) : 0;
    const int is_positive = config->description.parameter[i].chart == RF_POSITIVE;
    const double ratio = prior->second / prior->first, sd = is_positive ? sqrt(log(1 + ratio * ratio)) : prior->second;
    const double mean = is_positive ? log(prior->first) - sd * sd / 2 : prior->first;
    const double z = ((is_positive ? log(x) : x) - mean) / sd;
    return exp(-z * z / 2) / (sd * sqrt(2 * PI) * (is_positive ? x : 1));
}

/* Sums over the centres of cells from low to high of each parameter. */
static posterior sum_up(const rf_config *config, const double *records, uint32_t count, const double low[],
                        const double high[], const uint32_t cells[], const double places[])
{
    const unsigned dim = config->description.dim, row = config->description.settings + 1;
    rf64_chart charts[RF_DESCRIBED_MAX];
    const rf64_model model = rf64_instance_model(config->model->f64, charts);
    const size_t all = cells[0] * (dim > 1 ? (size_t)cells[1] : 1);
    double *value = malloc(all * sizeof *value), highest = -INFINITY, total = 0, size = 1;
    posterior p = {.log_evidence = 0};
    assert_non_null(value);
    for (unsigned i = 0; i < dim; i++)
        size *= (high[i] - low[i]) / cells[i];
    for (int step = 0; step < 2; step++)
        for (size_t k = 0; k < all; k++) {
            double x[2] = {low[0] + (high[0] - low[0]) * ((double)(k % cells[0]) + 0.5) / cells[0]}, sum = 0;
            if (dim > 1)
                x[1] = low[1] + (high[1] - low[1]) * ((double)(k / cells[0]) + 0.5) / cells[1];
            if (step == 0) {
                for (unsigned i = 0; i < dim; i++)
                    sum += log(prior_of(config, i, x[i]));
                for (uint32_t r = 0; r < count; r++) {
                    double likelihood;
                    assert_true(rf64_model_likelihoods(&model, x, dim, 1, records + r * row, records[r * row + row - 1],
                                                       &likelihood) == RF_OK);
                    sum += model.is_log ? likelihood : log(likelihood);
                }
                value[k] = sum;
                highest = fmax(highest, sum);
                continue;
            }
            const double weight = exp(value[k] - highest);
            total += weight;
            for (unsigned i = 0; i < dim; i++) {
                p.mean[i] += weight * (x[i] - low[i]);
                p.sd[i] += weight * (x[i] - low[i]) * (x[i] - low[i]);
                p.below[i] += places && x[i] < places[i] ? weight : 0;
            }
        }
    for (unsigned i = 0; i < dim; i++) {
        p.mean[i] /= total;
        p.below[i] /= total;
        p.sd[i] = sqrt(p.sd[i] / total - p.mean[i] * p.mean[i]);
        p.mean[i] += low[i];
    }
    p.log_evidence = highest + log(total * size);
    free(value);
    return p;
}

/* The descriptions here name nothing. */
static rf_passes_result pass(const rf_config *config, const double *records, size_t count)
{
    char error[200] = "";
    rf_passes_result result;
    rf_config named = *config;
    for (unsigned i = 0; i < RF_DESCRIBED_MAX; i++) {
        named.description.parameter[i].name = "x";
        named.description.setting[i].name = "h";
    }
    rf_passes *passes = rf_passes_open(&named, records, count, error, sizeof error);
    if (!passes)
        fail_msg("%s", error);
    assert_int_equal(rf_passes_run(passes, NULL, NULL, &result), RF_OK);
    rf_passes_close(passes);
    return result;
}

/* Means, widths, intervals and evidence are those of the grid. */
static void check_against_grid(const rf_config *config, const double *records, uint32_t count, const double low[],
                               const double high[], const uint32_t cells[])
{
    const rf_passes_result r = pass(config, records, count);
    const posterior p = sum_up(config, records, count, low, high, cells, r.low),
                    q = sum_up(config, records, count, low, high, cells, r.high);
    assert_int_equal(r.verdict, RF_PASSES_FINE);
    assert_int_equal(r.points, config->description.dim == 1 ? 4096 : 8192);
    for (unsigned i = 0; i < config->description.dim; i++) {
        check_within(r.mean[i], p.mean[i], OFF * p.sd[i]);
        check_within(r.sd[i], p.sd[i], OFF * p.sd[i]);
        check_within(p.below[i], 0.025, 0.01);
        check_within(q.below[i], 0.975, 0.01);
    }
    check_within(r.log_evidence, p.log_evidence, 0.06);
    check_below(fabs(r.log_evidence - p.log_evidence), 5 * r.log_evidence_sd + 1e-6);
    check_below(r.log_evidence_sd, 0.05);
}

/* ---- One parameter ---- */

/* The stated error of ln P is its spread over seeds: 12 of them tell it to 21 %. */
static void evidence_states_its_error(void **state)
{
    (void)state;
    enum { SEEDS = 12 };
    const double records[20] = {1, 0, 1, 1, 1, 1, 0, 1, 1};
    double sum = 0, square = 0, stated = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        rf_config config = rf_config_default(rf_model_find("coin"));
        config.seed = seed;
        const rf_passes_result r = pass(&config, records, 20);
        sum += r.log_evidence;
        square += r.log_evidence * r.log_evidence;
        stated += r.log_evidence_sd / SEEDS;
    }
    const double spread = sqrt((square - sum * sum / SEEDS) / (SEEDS - 1));
    check_below(spread, 2 * stated);
    check_below(stated, 2 * spread);
}

static void in_order(uint32_t k, uint64_t *state, double setting[])
{
    (void)state;
    setting[0] = k + 1.0;
}

static void at_random(uint32_t k, uint64_t *state, double setting[])
{
    (void)k;
    setting[0] = test_uniform(state, 0, 100);
}

/* Times of many scales, shuffled: nearly all are finer than the points of the first pass. */
static void at_all_scales(uint32_t k, uint64_t *state, double setting[])
{
    (void)k;
    setting[0] = exp(test_uniform(state, 0, log(3e8)));
}

static void test_fringes(void **state)
{
    (void)state;
    choose *const settings[] = {in_order, at_random};
    for (unsigned which = 0; which < 2; which++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            rf_config config = still("precession");
            const double truth = 0.3 + 0.7 * (double)seed, low[2] = {0}, high[2] = {PI};
            const uint32_t cells[2] = {16384};
            config.prior[0] = (rf_prior){0, low[0], high[0]};
            config.seed = seed;
            double *records = measure(&config, &truth, 120, seed, settings[which]);
            check_against_grid(&config, records, 120, low, high, cells);
            free(records);
        }
}

/* The truth's mirror image is equally probable: cos² is even. */
static void test_two_modes(void **state)
{
    (void)state;
    rf_config config = still("precession");
    const double truth = 0.8, low[2] = {-1.5}, high[2] = {1.5};
    const uint32_t cells[2] = {16384};
    config.prior[0] = (rf_prior){0, low[0], high[0]};
    double *records = measure(&config, &truth, 100, 7, in_order);
    const rf_passes_result r = pass(&config, records, 100);
    const posterior p = sum_up(&config, records, 100, low, high, cells, NULL);
    check_within(r.mean[0], 0, OFF * p.sd[0]);
    check_within(r.sd[0], p.sd[0], OFF * p.sd[0]);
    check_within(r.low[0], -truth, 0.02);
    check_within(r.high[0], truth, 0.02);
    check_within(r.log_evidence, p.log_evidence, 0.06);
    free(records);
}

static void test_many_scales(void **state)
{
    (void)state;
    rf_config config = still("precession");
    const double truth = 0.7234567;
    double *records = measure(&config, &truth, 300, 3, at_all_scales);
    const rf_passes_result r = pass(&config, records, 300);
    const double low[2] = {r.mean[0] - 40 * r.sd[0]}, high[2] = {r.mean[0] + 40 * r.sd[0]};
    const uint32_t cells[2] = {8192};
    const posterior p = sum_up(&config, records, 300, low, high, cells, NULL);
    assert_int_equal(r.verdict, RF_PASSES_FINE);
    check_within(r.mean[0], truth, 5 * r.sd[0]);
    check_below(r.sd[0], 1e-8);
    check_within(r.chart_sd[0], r.sd[0], 1e-6 * r.sd[0]);
    check_within(r.mean[0], p.mean[0], OFF * p.sd[0]);
    check_within(r.log_evidence, p.log_evidence, 0.06);
    free(records);
}

static void once_around(uint32_t k, uint64_t *state, double setting[])
{
    setting[0] = 1 + k % 3;
    setting[1] = test_uniform(state, 0, 2 * PI);
}

/* On a circle, also across its cut, and with few records. */
static void test_circles(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 6; which++) {
        rf_config config = still("phase");
        const uint32_t count = which % 2 ? 3 : 60, cells[2] = {16384};
        const double truth = which < 2 ? 3 : which < 4 ? 0.05 : 6.2;
        config.seed = which;
        double *records = measure(&config, &truth, count, which, once_around);
        const rf_passes_result r = pass(&config, records, count);
        const double middle = r.chart_mean[0] + 2 * PI * round((r.mean[0] - r.chart_mean[0]) / (2 * PI));
        const double low[2] = {middle - PI}, high[2] = {middle + PI}; /* cut opposite to the chart's mean */
        config.prior[0] = (rf_prior){0, low[0], high[0]};
        const posterior p = sum_up(&config, records, count, low, high, cells, r.low),
                        q = sum_up(&config, records, count, low, high, cells, r.high);
        check_within(middle, p.mean[0], OFF * p.sd[0]);
        check_within(r.chart_sd[0], p.sd[0], OFF * p.sd[0]);
        check_within(r.mean[0], middle, count == 60 ? OFF * p.sd[0] : 0.5 * p.sd[0]); /* circular mean: only near */
        check_within(r.sd[0] / p.sd[0], 1, count == 60 ? 0.05 : 1);
        check_within(p.below[0], 0.025, 0.01);
        check_within(q.below[0], 0.975, 0.01);
        check_within(r.log_evidence, p.log_evidence, 0.06);
        free(records);
    }
}

static const rf_description torus_description = {
    .name = "torus",
    .dim = 2,
    .settings = 3,
    .outcomes = 2,
    .parameter = {{"a", RF_PERIODIC, 0, 1, 0}, {"b", RF_PERIODIC, -3, 3, 0}}};

static double torus(const double x[], const double setting[], double outcome)
{
    const double one = 0.5 + 0.48 * cos(2 * PI * (setting[0] * x[0] + setting[1] * x[1] / 6) - setting[2]);
    return outcome != 0 ? one : 1 - one;
}

static void on_torus(uint32_t k, uint64_t *state, double setting[])
{
    setting[0] = k % 4;
    setting[1] = k / 4 % 3;
    setting[2] = test_uniform(state, 0, 2 * PI);
}

/* Two circles, with priors that are uniform, a part of the circle (across its cut), and Gaussian: the evidence shows
   whether the densities are right, for wide and narrow posteriors. */
static void test_torus(void **state)
{
    (void)state;
    const rf64_instance instance = {.layout = RF64_LAYOUT, .description = &torus_description, .likelihood = torus};
    const rf_model model = {NULL, &instance};
    const uint32_t counts[] = {1, 4, 12, 100}, side = 200;
    for (unsigned which = 0; which < 12; which++) {
        rf_config config = rf_config_default(&model);
        const double truth[] = {0.97, 2.9};
        const uint32_t count = counts[which % 4];
        double mean = 0, sd = 0, total = 0;
        if (which / 4 == 1)
            config.prior[0] = (rf_prior){0, 0.8, 1.3};
        if (which / 4 == 2) {
            config.prior[0] = (rf_prior){1, 0.9, 0.2};
            config.prior[1] = (rf_prior){1, -2.5, 2};
        }
        config.seed = which;
        double *records = measure(&config, truth, count, which, on_torus);
        const rf_passes_result r = pass(&config, records, count);
        for (uint32_t cell = 0; cell < side * side; cell++) {
            const double x[] = {(cell % side + 0.5) / side, -3 + 6 * (cell / side + 0.5) / side};
            double value = 1.0 / (side * side), on_circle = 0;
            for (int image = -8; image <= 8; image++) {
                const double a = x[0] + image, b = x[1] + 6 * image, z = (a - 0.9) / 0.2, other = (b + 2.5) / 2;
                if (which / 4 == 1)
                    on_circle += a > 0.8 && a < 1.3 ? 1 / 0.5 : 0;
                if (which / 4 == 2) {
                    on_circle += exp(-z * z / 2) / (0.2 * sqrt(2 * PI));
                    total += exp(-other * other / 2) / (2 * sqrt(2 * PI)) * 6;
                }
            }
            value *= which / 4 == 0 ? 1 : on_circle;
            value *= which / 4 == 2 ? total : 1;
            total = 0;
            for (uint32_t k = 0; k < count; k++)
                value *= torus(x, records + 4 * k, records[4 * k + 3]);
            sd += value * pow(remainder(x[0] - r.chart_mean[0], 1), 2);
            mean += value;
        }
        check_within(r.log_evidence, log(mean),
                     5 * r.log_evidence_sd + 3e-4); /* 3e-4: ends of the range on the grid */
        check_within(r.log_evidence, log(mean), 0.02);
        check_within(r.chart_sd[0], sqrt(sd / mean), OFF * r.chart_sd[0]);
        assert_int_equal(r.verdict, RF_PASSES_FINE);
        free(records);
    }
}

static void nothing(uint32_t k, uint64_t *state, double setting[]) { (void)k, (void)state, (void)setting; }

/* A coin's posterior is a beta distribution; also for 30,000 records, whose probability is far below the smallest
   double. */
static void test_long_files(void **state)
{
    (void)state;
    const uint32_t counts[] = {1, 20, 30000};
    for (unsigned which = 0; which < 3; which++) {
        rf_config config = still("coin");
        const double truth = 0.3;
        double *records = measure(&config, &truth, counts[which], 11, nothing), ones = 0, n = counts[which];
        for (uint32_t k = 0; k < counts[which]; k++)
            ones += records[k];
        const rf_passes_result r = pass(&config, records, counts[which]);
        const double a = ones + 1, b = n - ones + 1, sd = sqrt(a * b / ((a + b) * (a + b) * (a + b + 1)));
        check_within(r.mean[0], a / (a + b), OFF * sd);
        check_within(r.sd[0], sd, OFF * sd);
        check_within(r.log_evidence, lgamma(a) + lgamma(b) - lgamma(a + b), 0.06);
        free(records);
    }
}

/* Outside its range the prior is zero: a posterior at the end of the range is cut off there. */
static void test_box(void **state)
{
    (void)state;
    rf_config config = still("precession");
    const double truth = 1.0, low[2] = {0.3}, high[2] = {1.001};
    const uint32_t cells[2] = {16384};
    config.prior[0] = (rf_prior){0, low[0], high[0]};
    double *records = measure(&config, &truth, 60, 5, in_order);
    check_against_grid(&config, records, 60, low, high, cells);
    check_below(pass(&config, records, 60).high[0], high[0]);
    free(records);
}

/* ---- Several ---- */

static void test_two_parameters(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 3; which++) {
        rf_config config = still("ramsey");
        const double truth[] = {0.4, 0.02}, low[] = {0, which == 2 ? 0.0005 : 0.005},
                     high[] = {1, which == 2 ? 0.12 : 0.05};
        const uint32_t cells[] = {700, which == 2 ? 200 : 64};
        if (which == 2) {
            config.prior[0] = (rf_prior){1, 0.5, 0.1};
            config.prior[1] = (rf_prior){1, 0.02, 0.01};
        }
        double *records = measure(&config, truth, which ? 150 : 10, 17 + which, at_random);
        check_against_grid(&config, records, which ? 150 : 10, low, high, cells);
        free(records);
    }
}

extern const rf64_instance rf64_model_linear3, rf64_model_linear4, rf64_model_linear5, rf64_model_linear6,
    rf64_model_linear7, rf64_model_linear8;

/* Gaussian priors and likelihoods: the Kalman filter is exact. */
static void test_linear(void **state)
{
    (void)state;
    const rf64_instance *const instances[] = {&rf64_model_linear1, &rf64_model_linear2, &rf64_model_linear3,
                                              &rf64_model_linear4, &rf64_model_linear6, &rf64_model_linear8};
    uint64_t random = 1;
    for (unsigned which = 0; which < sizeof instances / sizeof *instances; which++) {
        enum { COUNT = 40 };
        const rf_model model = {NULL, instances[which]};
        rf_config config = rf_config_default(&model);
        const unsigned dim = config.description.dim, row = dim + 2;
        keep_still(&config);
        double records[COUNT * 10], mean[8] = {0}, covariance[64] = {0}, truth[8];
        kalman exact;
        for (unsigned i = 0; i < dim; i++) {
            config.prior[i] = (rf_prior){1, 0.5, 2};
            mean[i] = 0.5;
            covariance[i * dim + i] = 4;
            truth[i] = 0.5 + 2 * normal(&random);
        }
        assert_int_equal(kalman_init(&exact, dim, mean, covariance), 0);
        for (unsigned k = 0; k < COUNT; k++) {
            double *record = records + k * row, y = 0;
            for (unsigned i = 0; i < dim; i++)
                y += truth[i] * (record[i] = test_uniform(&random, -1, 1));
            record[dim] = 0.3;
            record[dim + 1] = y + 0.3 * normal(&random);
            kalman_update(&exact, record, 0.09, record[dim + 1]);
        }
        const rf_passes_result r = pass(&config, records, COUNT);
        assert_int_equal(r.verdict, RF_PASSES_FINE);
        for (unsigned i = 0; i < dim; i++) {
            const double sd = sqrt(kalman_covariance(&exact, i, i));
            check_within(r.mean[i], exact.mean[i], OFF * sd);
            for (unsigned j = 0; j <= i; j++)
                check_within(r.chart_covariance[RF_TRIANGLE(i) + j], kalman_covariance(&exact, i, j),
                             2 * OFF * sd * sqrt(kalman_covariance(&exact, j, j)));
        }
        check_within(r.log_evidence, exact.log_evidence, 0.06);
    }
}

/* Records tell the sum of two parameters alone. Their difference, larger minus smaller, keeps the prior: half a Gaussian. */
static void test_interchangeable(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    rf_config config = still("linear");
    double records[COUNT * 4];
    config.description.interchangeable = 2;
    config.prior[0] = config.prior[1] = (rf_prior){1, 0.5, 2};
    for (unsigned k = 0; k < COUNT; k++) {
        const double record[] = {1, 1, 0.3, 1.5 + (k % 2 ? 0.3 : -0.3)};
        memcpy(records + k * 4, record, sizeof record);
    }
    const rf_passes_result r = pass(&config, records, COUNT);
    const double precision = 1 / 8.0 + COUNT / 0.09, sum = (1 / 8.0 + 1.5 * COUNT / 0.09) / precision;
    const double sd = sqrt(8), apart = sd * sqrt(2 / PI); /* of the difference: before it is folded, and its mean after */
    assert_int_equal(r.verdict, RF_PASSES_FINE);
    check_within(r.mean[0] + r.mean[1], sum, OFF / sqrt(precision));
    check_within(r.mean[1] - r.mean[0], apart, OFF * sd);
    check_within(r.low[1] - r.high[0], 0, OFF * sd); /* 2.5 % of the differences are below 0.09 */
    config.prior[1].second = 2.1; /* not interchangeable any more */
    check_within(pass(&config, records, COUNT).mean[0], sum / 2, OFF * sd);
}

/* ---- Engines ---- */

static void test_same_on_every_engine(void **state)
{
    (void)state;
    const engine_list engines = list_engines(4);
    rf_config config = still("ramsey");
    const double truth[] = {0.4, 0.02};
    double *records = measure(&config, truth, 80, 3, at_random);
    const rf_passes_result first = pass(&config, records, 80), again = pass(&config, records, 80);
    assert_memory_equal(&first, &again, sizeof first);
    for (unsigned i = 0; i < engines.count; i++) {
        char error[200];
        rf_engine *engine = rf_engine_open(engines.name[i].text, error, sizeof error);
        if (!engine && (engines.name[i].is_module || strstr(error, "this CPU does not have it")))
            continue;
        assert_non_null(engine);
        config.engine = engine;
        const rf_passes_result other = pass(&config, records, 80);
        assert_memory_equal(&first, &other, sizeof first);
        rf_engine_close(engine);
    }
    config.engine = NULL;
    config.seed = 2;
    const rf_passes_result another = pass(&config, records, 80);
    assert_true(another.mean[0] != first.mean[0]);
    free(records);
}

typedef struct blocks {
    const rf64_instance *of;
    int fails, calls;
} blocks;

static rf_status in_blocks(const double x[], uint32_t n, const double setting[], double outcome, double out[],
                           void *data)
{
    blocks *b = data;
    const unsigned dim = b->of->description->dim;
    b->calls++;
    for (uint32_t k = 0; k < n; k++) {
        double one[RF_DESCRIBED_MAX];
        for (unsigned i = 0; i < dim; i++)
            one[i] = x[i * n + k];
        out[k] = b->of->likelihood(one, setting, outcome);
    }
    return b->fails && b->calls > b->fails ? RF_REFUSED_MODEL : RF_OK;
}

/* A model with only a block function gives the same; one that fails ends the run. With threads it stays on the
   caller's thread. */
static void test_blocks(void **state)
{
    (void)state;
    rf_config config = still("ramsey");
    const double truth[] = {0.4, 0.02};
    double *records = measure(&config, truth, 50, 3, at_random);
    const rf_passes_result plain = pass(&config, records, 50);
    blocks data = {.of = config.model->f64};
    rf64_instance instance = *data.of;
    const rf_model model = {NULL, &instance};
    char error[200];
    rf_passes_result r;
    instance.likelihood = NULL;
    instance.kernels = NULL;
    instance.block = in_blocks;
    instance.data = &data;
    instance.one_thread = 1;
    config.model = &model;
    rf_engine *engine = rf_engine_open("threads:3", error, sizeof error);
    assert_non_null(engine);
    config.engine = engine;
    r = pass(&config, records, 50);
    assert_memory_equal(&plain, &r, sizeof r);
    const int calls = data.calls;
    for (unsigned i = 0; i < 3; i++) { /* at the order of the records, in the first pass, in the last pass */
        const int fails[] = {7, 500, calls - 3};
        data.calls = 0;
        data.fails = fails[i];
        rf_passes *passes = rf_passes_open(&config, records, 50, error, sizeof error);
        assert_int_equal(rf_passes_run(passes, NULL, NULL, &r), RF_REFUSED_MODEL);
        rf_passes_close(passes);
    }
    rf_engine_close(engine);
    free(records);
}

/* ---- What goes wrong ---- */

static void refused(const rf_config *config, const double *records, size_t count, const char *why)
{
    char error[200] = "";
    rf_passes *passes = rf_passes_open(config, records, count, error, sizeof error);
    assert_null(passes);
    if (!strstr(error, why))
        fail_msg("'%s' does not say '%s'", error, why);
}

static void dynamics(double elapsed, double F[], double Q[]) { F[0] = 1, Q[0] = elapsed; }

static void test_refusals(void **state)
{
    (void)state;
    double records[] = {1, 0, 1, 2, 0, 0};
    rf_config config = still("precession"), other = config;
    other.drift[0] = 0.1;
    refused(&other, records, 2, "parameter x drifts");
    rf64_instance moving = *config.model->f64;
    const rf_model model = {NULL, &moving};
    moving.dynamics = dynamics;
    other = config;
    other.model = &model;
    refused(&other, records, 2, "model precession has dynamics");
    refused(&config, records, 0, "there are no records with an outcome");
    other = config;
    other.prior[0] = (rf_prior){0, 1, 1};
    refused(&other, records, 2, "a range is empty");
    records[4] = NAN;
    refused(&config, records, 2, "record 1 holds a number that is not finite");
    rf_passes_close(NULL);
}

static int stop_at_third(void *user, const rf_passes_progress *p)
{
    assert_true(p->records <= p->count && p->pass >= 1);
    return ++*(int *)user == 3;
}

static int count_last(void *user, const rf_passes_progress *p)
{
    *(int *)user += p->is_last && p->records == p->count;
    return 0;
}

static void test_watching(void **state)
{
    (void)state;
    rf_config config = still("coin");
    const double truth = 0.3;
    double *records = measure(&config, &truth, 50, 1, nothing);
    char error[200];
    int calls = 0, last = 0;
    rf_passes_result r;
    rf_passes *passes = rf_passes_open(&config, records, 50, error, sizeof error);
    assert_int_equal(rf_passes_run(passes, stop_at_third, &calls, &r), RF_OK);
    assert_int_equal(r.verdict, RF_PASSES_STOPPED);
    assert_int_equal(calls, 3);
    assert_int_equal(rf_passes_run(passes, count_last, &last, &r), RF_OK); /* from the start */
    assert_int_equal(r.verdict, RF_PASSES_FINE);
    assert_int_equal(last, 1);
    const rf_passes_result whole = pass(&config, records, 50);
    assert_memory_equal(&r, &whole, sizeof r);
    check_within(rf64_chart_natural(&(rf64_chart){RF_BOUNDED, 0, 1}, rf_passes_quantile(passes, 0, 0.5)), r.mean[0],
                 0.02);
    assert_true(rf_passes_quantile(passes, 0, 0.1) < rf_passes_quantile(passes, 0, 0.2));
    rf_passes_close(passes);
    free(records);
}

static const rf_description bare = {
    .name = "bare", .dim = 1, .settings = 0, .outcomes = 0, .parameter = {{"x", RF_REAL, 0, 1, 0}}};
static const rf_description fine = {
    .name = "fine", .dim = 1, .settings = 1, .outcomes = 2, .parameter = {{"x", RF_REAL, 0, 1, 0}}};

static double never(const double x[], const double setting[], double outcome)
{
    return (void)x, (void)setting, (void)outcome, 0;
}
static double no_number(const double x[], const double setting[], double outcome)
{
    return (void)setting, (void)outcome, x[0] > 0.5 ? NAN : 1;
}
static double spike(const double x[], const double setting[], double outcome)
{
    (void)setting;
    return fabs(x[0] - outcome) < 1e-9 ? 1 : 0;
}
static double fringe(const double x[], const double setting[], double outcome)
{
    const double one = pow(cos(x[0] * setting[0]), 2);
    return outcome != 0 ? one : 1 - one;
}

/* When few points are effective, the result says so; and no number is invalid. */
static void test_alarm(void **state)
{
    (void)state;
    double records[60] = {0.123456789, 0.123456789};
    rf64_instance instance = {.layout = RF64_LAYOUT, .description = &bare, .likelihood = never};
    const rf_model model = {NULL, &instance};
    rf_config config = rf_config_default(&model);
    rf_passes_result r = pass(&config, records, 2);
    assert_int_equal(r.verdict, RF_PASSES_DOUBTFUL);
    assert_true(r.log_evidence == -INFINITY && r.effective == 0 && isnan(r.mean[0]) && isnan(r.low[0]));
    instance.likelihood = spike;
    assert_int_equal(pass(&config, records, 2).verdict, RF_PASSES_DOUBTFUL);
    instance.likelihood = no_number;
    r = pass(&config, records, 2);
    assert_int_equal(r.verdict, RF_PASSES_FINE);
    assert_true(r.bad > 100);
    check_within(r.log_evidence, log(0.5), 0.06);

    /* 30 records, all far finer than the distance of the points */
    uint64_t random = 5;
    instance.description = &fine;
    instance.likelihood = fringe;
    config = rf_config_default(&model);
    for (unsigned k = 0; k < 30; k++) {
        records[2 * k] = test_uniform(&random, 1e8, 1e9);
        records[2 * k + 1] = fringe((const double[]){0.37}, records + 2 * k, 1) > test_uniform(&random, 0, 1);
    }
    assert_int_equal(pass(&config, records, 30).verdict, RF_PASSES_DOUBTFUL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_states_its_error),
        cmocka_unit_test(test_fringes),     cmocka_unit_test(test_two_modes),
        cmocka_unit_test(test_many_scales), cmocka_unit_test(test_circles),
        cmocka_unit_test(test_torus),       cmocka_unit_test(test_long_files),
        cmocka_unit_test(test_box),         cmocka_unit_test(test_two_parameters),
        cmocka_unit_test(test_linear),      cmocka_unit_test(test_interchangeable),
        cmocka_unit_test(test_same_on_every_engine),
        cmocka_unit_test(test_blocks),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_watching),    cmocka_unit_test(test_alarm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
