/* Outcomes that are counts or readings: the models of labs in examples/ against formulas of libm and posteriors on a
 * grid. */
#include "testing.h"

#include <math.h>

#include "rejfilt/passes.h"

enum { RECORDS = 60, DRAWS = 2000, SIDE = 30, KINDS = 6 };

typedef struct subject {
    double (*expected)(const double x[], const double setting[]); /* the formula again */
    double x[3];                                                  /* a truth */
    double low, high;                                             /* of the first setting in records */
} subject;

static double peak(const double x[], const double s[]) { return x[2] + x[1] / (1 + pow((s[0] - x[0]) / s[1], 2)); }
static double odmr(const double x[], const double s[])
{
    return s[1] * (1 - x[2] / (1 + pow((s[0] - x[0]) / x[1], 2)));
}
static double benchmarking(const double x[], const double s[]) { return x[1] * pow(x[0], s[0]) + x[2]; }
static double rabi(const double x[], const double s[])
{
    const double speed = hypot(x[0], x[1]);
    return pow(x[0] / speed * sin(0.5 * speed * s[0]), 2);
}
static double hahn(const double x[], const double s[]) { return 0.5 * (1 + exp(-pow(s[0] / x[0], x[1]))); }
static double t1(const double x[], const double s[]) { return s[2] + (s[1] - s[2]) * exp(-s[0] / x[0]); }

static const subject subjects[KINDS] = {
    {peak, {2.7, -1500, 50100}, 2.4, 3.0},
    {odmr, {3, 2, 0.3}, -8, 12},
    {benchmarking, {0.97, 0.45, 0.5}, 1, 100},
    {rabi, {0.9, 0.4}, 0, 6},
    {hahn, {80, 1.7}, 5, 200},
    {t1, {70}, 5, 200},
};

#define MODEL(name)                                                                                                    \
    extern const rf32_instance rf32_model_##name;                                                                      \
    extern const rf64_instance rf64_model_##name;                                                                      \
    static const rf_model name##_model = {&rf32_model_##name, &rf64_model_##name};
MODEL(peak)
MODEL(odmr)
MODEL(benchmarking)
MODEL(rabi_counts)
MODEL(hahn)
MODEL(t1_counts)
static const rf_model *const models[KINDS] = {&peak_model,        &odmr_model, &benchmarking_model,
                                              &rabi_counts_model, &hahn_model, &t1_counts_model};

/* ln of the likelihood of what is expected. */
static double log_of(const rf_description *d, double expected, const double setting[], double y)
{
    const double about = setting[rf_outcomes_setting(d->outcomes)], p = fmin(fmax(expected, 0), 1);
    if (d->outcomes == RF_POISSON)
        return y * log(expected) - expected - lgamma(y + 1);
    if (rf_outcomes_kind(d->outcomes) == RF_GAUSSIAN(0))
        return -0.5 * pow((y - expected) / about, 2) - log(about) - 0.5 * log(2 * 3.14159265358979323846);
    return lgamma(about + 1) - lgamma(y + 1) - lgamma(about - y + 1) + (y > 0 ? y * log(p) : 0) +
           (y < about ? (about - y) * log(1 - p) : 0);
}

/* Settings as the description has them, the first one somewhere. */
static void settings_of(const rf_description *d, const subject *s, double share, double setting[])
{
    for (unsigned i = 0; i < d->settings; i++)
        setting[i] = d->setting[i].low;
    setting[0] = s->low + (s->high - s->low) * share;
    setting[0] = d->setting[0].is_integer ? floor(setting[0]) : setting[0];
}

static void test_likelihoods(void **state)
{
    (void)state;
    for (unsigned k = 0; k < KINDS; k++) {
        const rf64_instance *m = models[k]->f64;
        const rf32_instance *f = models[k]->f32;
        const rf_description *d = m->description;
        for (uint32_t i = 0; i < 200; i++) {
            double setting[RF_DESCRIBED_MAX];
            float setting32[RF_DESCRIBED_MAX],
                x32[3] = {(float)subjects[k].x[0], (float)subjects[k].x[1], (float)subjects[k].x[2]};
            settings_of(d, &subjects[k], i / 200.0, setting);
            for (unsigned j = 0; j < RF_DESCRIBED_MAX; j++)
                setting32[j] = (float)setting[j];
            const double y = rf64_instance_outcome(m, subjects[k].x, setting, 7, i);
            const double right = log_of(d, subjects[k].expected(subjects[k].x, setting), setting, y);
            assert_true(rf64_outcome_is_possible(d, setting, y));
            assert_true(fabs(m->likelihood(subjects[k].x, setting, y) - right) < 1e-9 * (1 + fabs(right)));
            assert_true(m->likelihood(subjects[k].x, setting, y) <= m->bound(setting, y));
            /* in float the settings of a peak are rounded, and so is a reading of 50,000 */
            assert_true(fabs((double)f->likelihood(x32, setting32, (float)y) - right) < 2e-3 * (1 + fabs(right)));
        }
    }
}

/* Means and variances are within five standard errors. */
static void test_draws(void **state)
{
    static const double rates[] = {0.01, 0.7, 5, 40, 1e3, 1e6};
    (void)state;
    for (unsigned k = 0; k < KINDS; k++) {
        const rf64_instance *m = models[k]->f64;
        const rf_description *d = m->description;
        double setting[RF_DESCRIBED_MAX], sum = 0, square = 0;
        settings_of(d, &subjects[k], 0.3, setting);
        const double e = subjects[k].expected(subjects[k].x, setting),
                     about = setting[rf_outcomes_setting(d->outcomes)];
        const unsigned kind = rf_outcomes_kind(d->outcomes);
        const double mean = kind == RF_BINOMIAL(0) ? about * e : e;
        const double variance = kind == RF_BINOMIAL(0)   ? about * e * (1 - e)
                                : kind == RF_GAUSSIAN(0) ? about * about
                                                         : e;
        for (uint32_t i = 0; i < DRAWS; i++) {
            const double y = rf64_instance_outcome(m, subjects[k].x, setting, 3, i) - mean;
            sum += y;
            square += y * y;
        }
        assert_true(fabs(sum / DRAWS) < 5 * sqrt(variance / DRAWS));
        assert_true(fabs(square / DRAWS / variance - 1) < 5 * sqrt((2 + 1 / variance) / DRAWS));
    }
    for (unsigned r = 0; r < sizeof rates / sizeof *rates;
         r++) { /* of any size: after no time at all t1_counts has the rate `bright` */
        const double setting[] = {0, rates[r], 0};
        double sum = 0, square = 0;
        for (uint32_t i = 0; i < DRAWS; i++) {
            const double y = rf64_instance_outcome(models[5]->f64, subjects[5].x, setting, 5, i) - rates[r];
            sum += y;
            square += y * y;
        }
        assert_true(fabs(sum / DRAWS) < 5 * sqrt(rates[r] / DRAWS));
        assert_true(fabs(square / DRAWS / rates[r] - 1) < 5 * sqrt((2 + 1 / rates[r]) / DRAWS));
    }
}

/* Mean and standard deviation of every parameter from the points of a grid in the box of the priors, which are uniform.
 */
static void on_a_grid(const rf_description *d, const subject *s, const double records[][RF_DESCRIBED_MAX + 1],
                      double mean[], double sd[])
{
    const unsigned points = d->dim == 1   ? 2000
                            : d->dim == 2 ? SIDE * SIDE * 9
                                          : SIDE * SIDE * SIDE,
                   side = d->dim == 1   ? 2000
                          : d->dim == 2 ? 3 * SIDE
                                        : SIDE;
    double *log_weight = malloc(points * sizeof *log_weight), most = -HUGE_VAL, sum = 0, second[3] = {0};
    double low[3], high[3];
    for (unsigned i = 0; i < d->dim; i++) { /* within six standard deviations of what was found */
        low[i] = fmax(d->parameter[i].low, mean[i] - 6 * sd[i]),
        high[i] = fmin(d->parameter[i].high, mean[i] + 6 * sd[i]);
        mean[i] = 0;
    }
    for (int round = 0; round < 2; round++)
        for (unsigned p = 0; p < points; p++) {
            double x[3], w = 0;
            for (unsigned i = 0, rest = p; i < d->dim; i++, rest /= side)
                x[i] = low[i] + (high[i] - low[i]) * (rest % side + 0.5) / side;
            for (unsigned k = 0; k < RECORDS && round == 0; k++)
                w += log_of(d, s->expected(x, records[k]), records[k], records[k][RF_DESCRIBED_MAX]);
            if (round == 0) {
                log_weight[p] = w;
                most = fmax(most, w);
                continue;
            }
            w = exp(log_weight[p] - most);
            sum += w;
            for (unsigned i = 0; i < d->dim; i++) {
                mean[i] += w * x[i];
                second[i] += w * x[i] * x[i];
            }
        }
    for (unsigned i = 0; i < d->dim; i++) {
        mean[i] /= sum;
        sd[i] = sqrt(second[i] / sum - mean[i] * mean[i]);
    }
    free(log_weight);
}

/* Records at places that are spread. Passes over them give the grid's posterior, to a tenth of its standard deviation;
   the default belief, which sees each of them once and is one Gaussian as long as that will do, to half of it. */
static void test_posteriors(void **state)
{
    char error[512];
    int are_right = 1;
    (void)state;
    for (unsigned k = 0; k < KINDS; k++) {
        const subject *s = &subjects[k];
        const rf_description *d = models[k]->f64->description;
        rf_config config = rf_config_default(models[k]);
        config.design = NULL;
        double records[RECORDS][RF_DESCRIBED_MAX + 1], rows[RECORDS * (RF_DESCRIBED_MAX + 1)], mean[3], sd[3];
        rf_session *session = rf_session_open(&config, error, sizeof error);
        rf_step step;
        assert_non_null(session);
        for (unsigned i = 0; i < RECORDS; i++) {
            rf_record r = {.time = NAN};
            settings_of(d, s, fmod(0.618033988749895 * (i + 1), 1), r.setting);
            r.outcome = rf64_instance_outcome(models[k]->f64, s->x, r.setting, 11, i);
            memcpy(records[i], r.setting, sizeof r.setting);
            records[i][RF_DESCRIBED_MAX] = r.outcome;
            memcpy(rows + i * (d->settings + 1), r.setting, d->settings * sizeof *rows);
            rows[i * (d->settings + 1) + d->settings] = r.outcome;
            assert_true(rf_session_tell(session, &r, 1, &step) >= 0);
        }
        assert_int_equal(step.health, RF_TRACKING);
        rf_passes *passes = rf_passes_open(&config, rows, RECORDS, error, sizeof error);
        rf_passes_result all;
        assert_non_null(passes);
        assert_true(rf_passes_run(passes, NULL, NULL, &all) >= 0 && all.verdict == RF_PASSES_FINE);
        for (unsigned i = 0; i < d->dim; i++)
            mean[i] = all.mean[i], sd[i] = all.sd[i];
        on_a_grid(d, s, (const double(*)[RF_DESCRIBED_MAX + 1]) records, mean, sd);
        for (unsigned i = 0; i < d->dim; i++) {
            print_message("  %-13s %-3s exact %10.5g ± %.3g, passes %10.5g ± %.3g, on the way %10.5g ± %.3g\n", d->name,
                          d->parameter[i].name, mean[i], sd[i], all.mean[i], all.sd[i], step.mean[i], step.sd[i]);
            are_right &= fabs(all.mean[i] - mean[i]) < 0.1 * sd[i] && fabs(all.sd[i] / sd[i] - 1) < 0.1;
            are_right &= fabs(step.mean[i] - mean[i]) < 0.5 * sd[i] && fabs(log(step.sd[i] / sd[i])) < log(1.5);
            are_right &= fabs(s->x[i] - mean[i]) < 4.5 * sd[i];
        }
        rf_passes_close(passes);
        rf_session_close(session);
    }
    assert_true(are_right);
}

/* A count that cannot be is refused, and nothing changes; n may change from record to record. */
static void test_refusals(void **state)
{
    static const struct {
        double n, k;
        int is_fine;
    } cases[] = {{20, 20, 1}, {20, 21, 0}, {30, 21, 1}, {20, -1, 0}, {20, 2.5, 0}, {1, 1, 1}, {1e6, 4e5, 1}};
    char error[512];
    rf_config config = rf_config_default(models[2]);
    config.design = NULL;
    rf_session *session = rf_session_open(&config, error, sizeof error);
    (void)state;
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        const rf_record r = {.setting = {10, cases[k].n}, .outcome = cases[k].k, .time = NAN};
        const rf_status tried = rf_session_try(session, &r, 1);
        assert_int_equal(rf_session_tell(session, &r, 1, NULL), cases[k].is_fine ? RF_OK : RF_REFUSED_OUTCOME);
        assert_int_equal(tried < 0, !cases[k].is_fine);
    }
    rf_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_likelihoods),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_posteriors),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
