/* Outcomes that are counts or readings: the lab models of examples/ compared with formulas in libm and posteriors on
   a grid. */
#include "testing.h"

#include <math.h>

#include "rejfilt/passes.h"

enum { RECORDS = 60, DRAWS = 2000, KINDS = 6 };

typedef struct subject {
    double (*expected)(const double x[], const double setting[]); /* the same formula, written again */
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

/* Settings as described; the first one at random. */
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
            /* in float the settings of a peak are rounded, as is a reading of 50,000 */
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
         r++) { /* any rate: at time 0, t1_counts has the rate `bright` */
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

/* Mean and standard deviation of every parameter, by sums over a grid of the uniform priors. With three parameters
   the last two are cut at seven standard deviations from the given mean. Returns ln of the evidence. */
static double on_a_grid(const rf_description *d, const subject *s, const double records[][RF_DESCRIBED_MAX + 1],
                      double mean[], double sd[])
{
    static const unsigned sides[4][3] = {{0}, {2000}, {160, 160}, {220, 16, 16}};
    const unsigned *side = sides[d->dim], points = side[0] * (d->dim > 1 ? side[1] : 1) * (d->dim > 2 ? side[2] : 1);
    double *log_weight = malloc(points * sizeof *log_weight), most = -HUGE_VAL, sum = 0, second[3] = {0};
    double low[3], high[3], log_share = 0; /* share of the prior in a cell */
    for (unsigned i = 0; i < d->dim; i++) {
        const double reach = d->dim > 2 && i > 0 ? 7 * sd[i] : HUGE_VAL;
        low[i] = fmax(d->parameter[i].low, mean[i] - reach);
        high[i] = fmin(d->parameter[i].high, mean[i] + reach);
        log_share += log((high[i] - low[i]) / side[i] / (d->parameter[i].high - d->parameter[i].low));
        mean[i] = 0;
    }
    for (int round = 0; round < 2; round++)
        for (unsigned p = 0; p < points; p++) {
            double x[3], w = 0;
            for (unsigned i = 0, rest = p; i < d->dim; rest /= side[i++])
                x[i] = low[i] + (high[i] - low[i]) * (rest % side[i] + 0.5) / side[i];
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
    return most + log(sum) + log_share;
}

/* Passes and the default belief compared with the grid. The bounds are derived beforehand:

   - Passes: mean, standard deviation and ln of the evidence, which `rejfilt compare` prints, have the sampling error
   of their effective points: 1/sqrt(n), in standard deviations and in nats. The bound is four of these.
   - The default belief: Talagrand's inequality. A distribution that is L nats from a Gaussian of standard deviation
   s has its mean, and its standard deviation, within s sqrt(2 L). L is the loss that the session reports.
   - The truth is within 4.5 standard deviations of the mean: exceeded with probability 1e-4, over all of them. */
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
        const double evidence = on_a_grid(d, s, (const double(*)[RF_DESCRIBED_MAX + 1]) records, mean, sd);
        const double sampling = 4 / sqrt(all.effective), lost = sqrt(2 * step.loss);
        for (unsigned i = 0; i < d->dim; i++) {
            print_message("  %-13s %-3s exact %9.5g ± %-6.3g passes %+.3f sd, × %.3f (± %.3f)   default %+.3f sd, %+.3f "
                          "sd (± %.3f)\n",
                          d->name, d->parameter[i].name, mean[i], sd[i], (all.mean[i] - mean[i]) / sd[i],
                          all.sd[i] / sd[i], sampling, (step.mean[i] - mean[i]) / step.sd[i], 1 - sd[i] / step.sd[i],
                          lost);
            are_right &= fabs(all.mean[i] - mean[i]) < sampling * sd[i] && fabs(all.sd[i] / sd[i] - 1) < sampling;
            are_right &= fabs(step.mean[i] - mean[i]) < lost * step.sd[i] && fabs(step.sd[i] - sd[i]) < lost * step.sd[i];
            are_right &= fabs(s->x[i] - mean[i]) < 4.5 * sd[i];
        }
        print_message("  %-13s ln P(E) exact %.4f, passes %+.4f ± %.4f\n", d->name, evidence, all.log_evidence - evidence,
                      all.log_evidence_sd);
        are_right &= fabs(all.log_evidence - evidence) < sampling;
        rf_passes_close(passes);
        rf_session_close(session);
    }
    assert_true(are_right);
}

/* A session saved and loaded half way continues bit for bit like one that was never saved. */
static void test_checkpoints(void **state)
{
    enum { HALF = 15 };
    char error[512];
    (void)state;
    for (unsigned k = 0; k < KINDS; k++) {
        rf_config config = rf_config_default(models[k]);
        config.design = models[k]->f64->description->dim == 1 ? config.design : "pgh"; /* the default, `risk`, is slow */
        rf_session *whole = rf_session_open(&config, error, sizeof error), *resumed = NULL;
        unsigned char *bytes[2] = {NULL, NULL};
        assert_non_null(whole);
        for (uint32_t i = 0; i < 2 * HALF; i++) {
            rf_record r;
            assert_int_equal(rf_session_ask(whole, 1, &r), RF_OK);
            r.outcome = rf64_instance_outcome(models[k]->f64, subjects[k].x, r.setting, 13, i);
            assert_true(rf_session_tell(whole, &r, 1, NULL) >= 0);
            if (resumed) { /* asks the same question */
                rf_record again;
                assert_int_equal(rf_session_ask(resumed, 1, &again), RF_OK);
                assert_memory_equal(again.setting, r.setting, models[k]->f64->description->settings * sizeof *r.setting);
                assert_true(rf_session_tell(resumed, &r, 1, NULL) >= 0);
            }
            if (i + 1 == HALF) {
                const size_t size = rf_session_save(whole, NULL);
                bytes[0] = malloc(size);
                rf_session_save(whole, bytes[0]);
                resumed = rf_session_open(&config, error, sizeof error);
                assert_int_equal(rf_session_load(resumed, bytes[0], size), 0);
                free(bytes[0]);
            }
        }
        const size_t size = rf_session_save(whole, NULL);
        assert_int_equal(rf_session_save(resumed, NULL), size);
        for (unsigned i = 0; i < 2; i++)
            rf_session_save(i ? resumed : whole, bytes[i] = malloc(size));
        assert_memory_equal(bytes[0], bytes[1], size);
        free(bytes[0]);
        free(bytes[1]);
        rf_session_close(whole);
        rf_session_close(resumed);
    }
}

/* ---- Simulated worlds ---- */

typedef struct watcher {
    const subject *s;
    const rf_description *d;
    int is_blind;
    uint32_t seen, missing;
    double away, variance; /* sums over outcomes: difference from the expected value, and variance */
} watcher;

enum { STEPS = 200, STUCK_AT = 50, MISSING_AT = 100, BROKEN = 20 };

/* Mean and variance of an uninformative outcome: any of n + 1 counts, or the outcome of another truth from the
   prior. */
static void of_noise(const watcher *w, const double setting[], double *mean, double *variance)
{
    enum { SIDE = 6 };
    const double about = setting[rf_outcomes_setting(w->d->outcomes)];
    double sum = 0, squares = 0, own = 0;
    const unsigned points = SIDE * SIDE * SIDE;
    if (rf_outcomes_kind(w->d->outcomes) == RF_BINOMIAL(0)) {
        *mean = about / 2;
        *variance = about * (about + 2) / 12;
        return;
    }
    for (unsigned p = 0; p < points; p++) {
        double x[3];
        const unsigned side = w->d->dim == 1 ? points : SIDE;
        for (unsigned i = 0, rest = p; i < w->d->dim; i++, rest /= side)
            x[i] = w->d->parameter[i].low +
                   (w->d->parameter[i].high - w->d->parameter[i].low) * (rest % side + 0.5) / side;
        const double e = w->s->expected(x, setting);
        sum += e / points;
        squares += e * e / points;
        own += (w->d->outcomes == RF_POISSON ? e : about * about) / points;
    }
    *mean = sum;
    *variance = own + squares - sum * sum;
}

static int watch(void *user, uint32_t trial, const rf_step *step)
{
    watcher *w = user;
    const long shot = (long)step->step;
    (void)trial;
    if (shot >= MISSING_AT && shot < MISSING_AT + BROKEN) {
        assert_true(isnan(step->outcome));
        w->missing++;
        return 0;
    }
    assert_true(rf64_outcome_is_possible(w->d, step->setting, step->outcome));
    if (shot >= STUCK_AT && shot < STUCK_AT + BROKEN) {
        assert_true(step->outcome == 3);
        return 0;
    }
    const double about = step->setting[rf_outcomes_setting(w->d->outcomes)], e = w->s->expected(step->truth, step->setting);
    const unsigned kind = rf_outcomes_kind(w->d->outcomes);
    double mean = kind == RF_BINOMIAL(0) ? about * e : e, variance = kind == RF_BINOMIAL(0)   ? about * e * (1 - e)
                                                                     : kind == RF_GAUSSIAN(0) ? about * about
                                                                                              : e;
    if (w->is_blind)
        of_noise(w, step->setting, &mean, &variance);
    w->away += step->outcome - mean;
    w->variance += variance;
    w->seen++;
    return 0;
}

/* A detector that is stuck, one that gives a coin, and one without signal: outcomes are possible, and their mean is
   right within five standard errors. */
static void test_worlds(void **state)
{
    (void)state;
    for (unsigned k = 0; k < KINDS; k++)
        for (int is_blind = 0; is_blind < 2; is_blind++) {
            rf_simulation run = {.config = rf_config_default(models[k]), .steps = STEPS, .batch = 1};
            watcher w = {.s = &subjects[k], .d = models[k]->f64->description, .is_blind = is_blind};
            run.config.design = "pgh";
            run.config.belief = "gaussian";
            run.config.attempts = 50;
            run.world.blind = is_blind;
            run.world.outages = 2;
            run.world.outage[0] = (rf_outage){.kind = RF_OUTAGE_STUCK, .outcome = 3, .at = STUCK_AT, .length = BROKEN};
            run.world.outage[1] = (rf_outage){.kind = RF_OUTAGE_MISSING, .at = MISSING_AT, .length = BROKEN};
            assert_true(rf_simulate(&run, 0, 3, watch, &w) >= 0);
            assert_int_equal(w.missing, 3 * BROKEN);
            assert_int_equal(w.seen, 3 * (STEPS - 2 * BROKEN));
            print_message("  %-13s %s: off by %+.2f standard errors\n", w.d->name, is_blind ? "blind" : "seeing",
                          w.away / sqrt(w.variance));
            assert_true(fabs(w.away) < 5 * sqrt(w.variance));
        }
}

/* An impossible count is refused, and nothing changes; n may differ between records. */
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

/* Readings with outliers: probabilities sum to 1 (densities integrate to 1), no likelihood is above its bound, and the share of
   simulated Gaussian readings far away is that of the outliers. */
static void test_outliers(void **state)
{
    static const struct {
        unsigned outcomes;
        double expected, about, low, high, step;
    } of[] = {{RF_POISSON, 7.3, 0, 0, 99, 1}, {RF_POISSON, 0, 0, 3, 40, 1}, {RF_BINOMIAL(0), 0.2, 30, 0, 0, 1}, {RF_BINOMIAL(0), 1, 5, 0, 0, 1}, {RF_GAUSSIAN(0), 1, 0.1, -5, 8, 1e-3}};
    enum { DRAWS = 40000 };
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int s = 0; s < 3; s++) {
            const double share = s == 0 ? 1e-6 : s == 1 ? 0.02 : 0.5, setting[] = {of[k].about};
            const int is_real = of[k].outcomes == RF_GAUSSIAN(0), is_binomial = of[k].outcomes == RF_BINOMIAL(0);
            double sum = 0;
            for (double y = is_real ? -8 : 0; y <= (is_binomial ? of[k].about : 120); y += of[k].step) {
                const double log_p = rf64_expected_log(of[k].outcomes, of[k].expected, setting, y);
                const double p = rf64_exp(rf64_outliers_log(of[k].outcomes, log_p, share, of[k].low, of[k].high, setting, y));
                const double peak = rf64_expected_peak(of[k].outcomes, setting, y);
                assert_true(p <= 1.0000001 * rf64_exp(rf64_outliers_log(of[k].outcomes, peak, share, of[k].low, of[k].high, setting, y)));
                sum += p * of[k].step;
            }
            check_within(sum, 1, is_real ? 1e-3 : 1e-9);
            unsigned far = 0;
            for (uint32_t n = 0; n < DRAWS && is_real; n++) {
                const double normal = rf64_normal_quantile((n + 0.5) / DRAWS);
                const double y = rf64_outliers_outcome(of[k].outcomes, of[k].expected, share, of[k].low, of[k].high, setting, normal);
                assert_true(y >= of[k].low && y <= of[k].high);
                far += fabs(y - of[k].expected) > 1;
            }
            if (is_real)
                check_within((double)far / DRAWS, share * 11 / 13, 1.0 / DRAWS);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_likelihoods),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_posteriors),
        cmocka_unit_test(test_checkpoints),
        cmocka_unit_test(test_worlds),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
