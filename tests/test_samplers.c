/* The samplers RF_LATTICE and RF_WEIGHT compared with oracles and with RF_REJECT. Per precision. */
#include "updating.h"

#include "rejfilt/detail/lattice.h"

enum { MANY = 65536 };

static const rf_sampler samplers[] = {RF_LATTICE, RF_WEIGHT};
static const char *const sampler_names[] = {"reject", "lattice", "weight"};
static rf_engine *opened[2];
static const RF(engine) *engines[2]; /* serial, simd */

static int open_engines(void **state)
{
    static const char *const names[] = {"serial", "simd"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        if (!(opened[k] = rf_engine_open(names[k], NULL, 0)))
            return -1;
        engines[k] = ENGINE(opened[k]);
    }
    return 0;
}

static int close_engines(void **state)
{
    (void)state;
    rf_engine_close(opened[0]);
    rf_engine_close(opened[1]);
    return 0;
}

static void choose(fixture *x, rf_sampler sampler, uint32_t attempts)
{
    x->options.sampler = sampler;
    x->options.attempts = attempts;
}

/* ---- Oracles ---- */

static void precession_matches_closed_form(void **state)
{
    (void)state;
    uint64_t source = 21;
    fixture x;
    for (int k = 0; k < 40; k++) {
        const precession p = any_precession(k % 2, &source);
        for (int j = 0; j < 4; j++) {
            set_up_named(&x, "precession", (uint64_t)k);
            choose(&x, samplers[j % 2], MANY);
            assert_int_equal(update_precession(&x, &p, engines[j / 2]), RF_OK);
            check_precession(&x, &p);
            check_within(exp((double)x.report.log_evidence), p.Z, 5 * sqrt(p.Z * (1 - p.Z) / MANY) + 1.0 / MANY);
        }
    }
}

static void linear_matches_kalman(void **state)
{
    (void)state;
    uint64_t source = 22;
    fixture x;
    linear_case c;
    for (int i = 0; i < 40; i++) {
        make_linear(&c, 2, 1, 1, &source);
        for (int j = 0; j < 4; j++) {
            set_up_named(&x, "linear", (uint64_t)i);
            choose(&x, samplers[j % 2], MANY);
            assert_int_equal(update_linear(&x, &c, engines[j / 2]), RF_OK);
            check_linear(&x, &c);
            double share = c.Z * sqrt(2 * PI);
            check_within(exp((double)x.report.log_evidence), c.Z, c.Z * 5 * sqrt((1 - share) / (share * MANY)) + 1.0 / MANY + 4 * EPS);
        }
    }
}

/* ---- Three bounded parameters, and a circle: compared with rejection with sixteen times the attempts ---- */

static void check_like_rejection(fixture *x, const fixture *right, double kurtosis)
{
    const double n = accepted(x), per_n = 1 / n + 1 / accepted(right);
    for (unsigned i = 0; i < x->model.dim; i++) {
        double var = RF(filter_covariance)(right->f, i, i), off = RF(filter_mean)(x->f)[i] - RF(filter_mean)(right->f)[i];
        if (x->charts[i].kind == RF_PERIODIC)
            off = remainder(off, (double)(x->charts[i].high - x->charts[i].low));
        check_within(off, 0, 5 * sqrt(var * per_n));
        for (unsigned j = 0; j <= i; j++) {
            double other = RF(filter_covariance)(right->f, j, j), cov = RF(filter_covariance)(right->f, i, j);
            check_within(RF(filter_covariance)(x->f, i, j), cov, 5 * sqrt((kurtosis - 1) * var * other * per_n) + 3 / n * sqrt(var * other));
        }
    }
    check_within(x->report.acceptance, right->report.acceptance, 5 * sqrt((double)right->report.acceptance / MANY));
}

static void decay_matches_rejection(void **state)
{
    (void)state;
    const rf_real settings[] = {1, 8, 40, 150};
    fixture x, right;
    for (int k = 0; k < 8; k++) {
        const rf_real record[] = {settings[k / 2], (rf_real)(k % 2)};
        set_up_named(&right, "decay", 1000 + (uint64_t)k);
        choose(&right, RF_REJECT, 16 * MANY);
        assert_int_equal(update(&right, record, 1, engines[1]), RF_OK);
        for (int j = 0; j < 4; j++) {
            set_up_named(&x, "decay", (uint64_t)k);
            choose(&x, samplers[j % 2], MANY);
            assert_int_equal(update(&x, record, 1, engines[j / 2]), RF_OK);
            check_like_rejection(&x, &right, 4);
        }
    }
}

/* A flat prior on the circle. The posterior is opposite to a cut, so that one cut is clearly right. */
static void phase_wraps(void **state)
{
    (void)state;
    const rf_real low = 0, high = RF_C(6.283185307179586), refs[] = {0, RF_C(0.4), RF_C(2.8), RF_C(3.2), RF_C(5.9)};
    fixture x, right;
    for (int k = 0; k < 5; k++) {
        const rf_real record[] = {1, refs[k], 1};
        set_up_named(&right, "phase", 1000 + (uint64_t)k);
        choose(&right, RF_REJECT, 16 * MANY);
        assert_int_equal(RF(prior_box)(right.f, &right.model, &low, &high), RF_OK);
        assert_int_equal(update(&right, record, 1, engines[1]), RF_OK);
        for (int j = 0; j < 4; j++) {
            set_up_named(&x, "phase", (uint64_t)k);
            choose(&x, samplers[j % 2], MANY);
            assert_int_equal(RF(prior_box)(x.f, &x.model, &low, &high), RF_OK);
            assert_int_equal(update(&x, record, 1, engines[j / 2]), RF_OK);
            check_like_rejection(&x, &right, 4);
            if (k == 0 || k == 3) /* ½ + ½cos on a circle cut (nearly) opposite to it: variance π²/3 − 2 */
                check_within(RF(filter_covariance)(x.f, 0, 0), 1.28987, 5 * sqrt(3 / accepted(&x)) + 0.02);
        }
    }
}

/* ---- Whitened points, and the loss ---- */

static rf_real half(const rf_real x[], const rf_real s[], rf_real y) { (void)x, (void)s, (void)y; return RF_C(0.5); }
static rf_real fringe(const rf_real x[], const rf_real s[], rf_real y) { (void)y; return RF_C(0.5) + RF_C(0.5) * RF(cos)(s[0] * x[0]); }
static rf_real bell(const rf_real x[], const rf_real s[], rf_real y) { return RF(exp)(RF_C(-0.5) * (x[0] - y) * (x[0] - y) / (s[0] * s[0])); }

/* A flat likelihood changes nothing and has no loss, for any number of points. */
static void points_are_white(void **state)
{
    (void)state;
    const rf_real record[] = {0, 1};
    for (unsigned dim = 1; dim <= 5; dim++)
        for (uint32_t attempts = 8 * dim; attempts < 300; attempts = 2 * attempts + 3) {
            fixture x;
            rf_real mean[DIM], cov[DIM * DIM];
            memset(&x, 0, sizeof x);
            x.model = (RF(model)){.likelihood = half, .dim = (uint16_t)dim, .settings = 1};
            set_up_filter(&x, attempts);
            choose(&x, RF_WEIGHT, attempts);
            x.options.shrink = 0;
            x.options.accepted_min = 1;
            for (unsigned i = 0; i < dim; i++) {
                mean[i] = (rf_real)i - 1;
                for (unsigned j = 0; j < dim; j++)
                    cov[i * dim + j] = i == j ? (rf_real)(1 + i) : RF_C(0.25);
            }
            assert_int_equal(RF(prior_covariance)(x.f, mean, cov), RF_OK);
            for (int again = 0; again < 3; again++) {
                assert_int_equal(update(&x, record, 1, engines[again % 2]), RF_OK);
                check_within(x.report.loss, 0, 1e-5); /* the accuracy of the logarithm */
            }
            for (unsigned i = 0; i < dim; i++) {
                check_within(RF(filter_mean)(x.f)[i], mean[i], 3e-7 + 100 * EPS); /* sums are in units of 2⁻²⁵ */
                for (unsigned j = 0; j <= i; j++)
                    check_within(RF(filter_covariance)(x.f, i, j), cov[i * dim + j], 3e-7 + 100 * EPS);
            }
        }
}

/* ∫ of N(z; 0, 1)·f, by the trapezoidal rule. */
static double normal_mean(double (*f)(double z, const void *of), const void *of)
{
    double sum = 0, all = 0;
    for (double z = -9; z <= 9; z += 1.0 / 512) {
        sum += exp(-0.5 * z * z) * f(z, of);
        all += exp(-0.5 * z * z);
    }
    return sum / all;
}

typedef struct power {
    double t;
    int of_z, is_log;
} power;

/* ℓ·zⁿ, or ℓ·ln ℓ. */
static double fringe_power(double z, const void *of)
{
    const power *p = of;
    const double l = 0.5 + 0.5 * cos(p->t * z);
    return p->is_log ? (l > 0 ? l * log(l) : 0) : l * pow(z, p->of_z);
}

/* The loss of a fringe is the Kullback–Leibler divergence of the Gaussian with the same moments from the posterior. */
static void loss_of_a_fringe(void **state)
{
    (void)state;
    for (double t = 0.25; t <= 4; t *= 2) {
        const power one = {t, 0, 0}, square = {t, 2, 0}, entropy = {t, 0, 1};
        const double Z = normal_mean(fringe_power, &one), var = normal_mean(fringe_power, &square) / Z;
        const double loss = normal_mean(fringe_power, &entropy) / Z - log(Z) - 0.5 * (var - 1 - log(var));
        const rf_real record[] = {(rf_real)t, 1};
        for (uint32_t attempts = 256; attempts <= 4096; attempts *= 2) {
            fixture x;
            set_up_own(&x, fringe, attempts);
            choose(&x, RF_WEIGHT, attempts);
            x.options.shrink = 0;
            assert_int_equal(update(&x, record, 1, engines[0]), RF_OK);
            check_within(x.report.loss, loss, 4.0 / attempts); /* quantiles are sparse in the tails */
        }
    }
}

/* A Gaussian likelihood makes a Gaussian posterior: no loss, except for what lies between the points. */
static void loss_of_a_bell(void **state)
{
    (void)state;
    for (double noise = 0.3; noise < 30; noise *= 3) {
        const rf_real record[] = {(rf_real)noise, RF_C(0.4)};
        for (uint32_t attempts = 256; attempts <= 4096; attempts *= 4) {
            fixture x;
            const double gain = 1 / (1 + noise * noise);
            set_up_own(&x, bell, attempts);
            choose(&x, RF_WEIGHT, attempts);
            x.options.shrink = 0;
            assert_int_equal(update(&x, record, 1, engines[0]), RF_OK);
            check_within(x.report.loss, 0, 4.0 / attempts);
            check_within(RF(filter_mean)(x.f)[0], 0.4 * gain, 1.0 / attempts);
            check_within(RF(filter_covariance)(x.f, 0, 0), 1 - gain, 2.0 / attempts);
        }
    }
}

/* Without measurement the loss is 0. */
static void loss_is_measured_with_weights(void **state)
{
    (void)state;
    const rf_real record[] = {2, 1};
    for (unsigned sampler = RF_REJECT; sampler <= RF_WEIGHT; sampler++)
        for (uint32_t attempts = 1000; attempts <= 5000; attempts += 4000) {
            fixture x;
            set_up_own(&x, fringe, 1);
            choose(&x, (rf_sampler)sampler, attempts);
            assert_int_equal(update(&x, record, 1, engines[0]) & ~RF_NOTE_FEW, RF_OK);
            assert_int_equal(x.report.loss > 0, sampler == RF_WEIGHT && attempts < 4096);
        }
}

/* ---- κ below the peak ---- */

static void small_kappa_reports_delta(void **state)
{
    (void)state;
    fixture x;
    for (int k = 0; k < 12; k++)
        for (int j = 0; j < 4; j++) {
            set_up_named(&x, "precession", (uint64_t)k);
            choose(&x, samplers[j % 2], MANY);
            check_small_kappa(&x, 0.1 + 0.08 * k, engines[j / 2]);
            assert_int_equal(x.report.above > 0, samplers[j % 2] != RF_WEIGHT); /* RF_WEIGHT has no such count */
        }
}

/* ---- The value of m = 100 attempts ---- */

enum { SEEDS = 400, SMALL = 100 };

typedef struct spread {
    double rms, mean; /* error of the new mean, in posterior standard deviations, over seeds and parameters */
} spread;

static spread precession_spread(rf_sampler sampler, const RF(engine) *engine)
{
    uint64_t source = 23;
    double sum = 0, squares = 0;
    fixture x;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        precession p = {.mu = 0.7, .sd = 0.5, .t = 2, .outcome = seed % 2};
        do { /* settings of the particle guess heuristic with at least a fifth accepted: no top-up */
            p.ref = p.mu + p.sd * test_uniform(&source, -2, 2);
            solve_precession(&p);
        } while (p.Z < 0.3);
        set_up_named(&x, "precession", test_word(&source));
        choose(&x, sampler, SMALL);
        x.options.batches_max = 1;
        assert_true(update_precession(&x, &p, engine) >= 0);
        double error = (RF(filter_mean)(x.f)[0] - p.mean) / sqrt(p.var);
        sum += error, squares += error * error;
    }
    return (spread){sqrt(squares / SEEDS), sum / SEEDS};
}

static spread linear_spread(const RF(instance) *instance, rf_sampler sampler, const RF(engine) *engine)
{
    uint64_t source = 24;
    double sum = 0, squares = 0;
    unsigned dim = instance->description->dim;
    fixture x;
    linear_case c;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        make_linear(&c, dim, 0, 1, &source);
        set_up(&x, instance, test_word(&source));
        choose(&x, sampler, SMALL);
        x.options.batches_max = 1;
        assert_true(update_linear(&x, &c, engine) >= 0);
        for (unsigned i = 0; i < dim; i++) {
            double error = (RF(filter_mean)(x.f)[i] - c.exact.mean[i]) / sqrt(kalman_covariance(&c.exact, i, i));
            sum += error, squares += error * error;
        }
    }
    return (spread){sqrt(squares / (SEEDS * dim)), sum / (SEEDS * dim)};
}

static double spread_of(const char *what, spread of, const spread *reject)
{
    print_message("%-18s rms %.4f, %.2f of rejection's, mean error %+.5f\n", what, of.rms, of.rms / reject->rms, of.mean);
    return of.rms / reject->rms;
}

/* The RMS of 400 errors is known to 1/√800 = 3.5 %, a ratio of two to 5 %. The limits are 1.25 times the measured
   ratios (0.47 and 0.22): five such errors. */
static void precession_has_less_error(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        const spread reject = precession_spread(RF_REJECT, engines[e]);
        const spread lattice = precession_spread(RF_LATTICE, engines[e]), weight = precession_spread(RF_WEIGHT, engines[e]);
        spread_of("precession reject", reject, &reject);
        check_below(spread_of("precession lattice", lattice, &reject), 0.59);
        check_below(spread_of("precession weight", weight, &reject), 0.28);
        /* 5 standard errors, plus rms² for the bias of a ratio of two sums; the table's own error (below 4·10⁻⁴, see
           table_gives_the_moments) is negligible beside it */
        check_within(reject.mean, 0, 5 * reject.rms / sqrt(SEEDS) + reject.rms * reject.rms);
        check_within(lattice.mean, 0, 5 * lattice.rms / sqrt(SEEDS) + lattice.rms * lattice.rms);
        check_within(weight.mean, 0, 5 * weight.rms / sqrt(SEEDS) + weight.rms * weight.rms);
    }
}

/* The same for one, two, four and eight parameters. The limits are 1.25 times the measured ratios. */
static void linear_has_less_error(void **state)
{
    (void)state;
    const RF(instance) *const instances[] = {&LINEAR(RF_PRECISION, 1), &LINEAR(RF_PRECISION, 2), &LINEAR(RF_PRECISION, 4),
                                             &LINEAR(RF_PRECISION, 8)};
    const double limits[][2] = {{0.49, 0.20}, {0.53, 0.28}, {0.71, 0.44}, {0.84, 0.61}};
    for (int d = 0; d < 4; d++) {
        const double n = SEEDS * instances[d]->description->dim;
        const spread reject = linear_spread(instances[d], RF_REJECT, NULL);
        print_message("linear, %u parameters\n", instances[d]->description->dim);
        spread_of("reject", reject, &reject);
        for (int s = 0; s < 2; s++) {
            const spread got = linear_spread(instances[d], samplers[s], NULL);
            check_below(spread_of(sampler_names[samplers[s]], got, &reject), limits[d][s]);
            check_within(got.mean, 0, 5 * got.rms / sqrt(n) + got.rms * got.rms);
        }
    }
    const RF(instance) *built_in = INSTANCE(rf_model_find("linear")); /* with a kernel: the same numbers */
    for (int s = 0; s < 2; s++)
        check_within(linear_spread(built_in, samplers[s], engines[1]).rms, linear_spread(instances[1], samplers[s], NULL).rms, 0);
}

/* ---- The table ---- */

static int in_order(const void *a, const void *b) { return *(const int16_t *)a - *(const int16_t *)b; }

/* 4096 strata of equal probability, scaled to variance one and rounded to the grid. */
static void table_is_the_strata(void **state)
{
    (void)state;
    int16_t sorted[RF_LATTICE_SIZE];
    double z[RF_LATTICE_SIZE], squares = 0, sum = 0, own = 0;
    assert_int_equal(RF_LATTICE_SIZE, 4096);
    assert_int_equal(sizeof rf_lattice_normal / sizeof rf_lattice_normal[0], 4096 + 128);
    assert_memory_equal(rf_lattice_normal, rf_lattice_normal + RF_LATTICE_SIZE, 128 * sizeof rf_lattice_normal[0]);
    memcpy(sorted, rf_lattice_normal, sizeof sorted);
    qsort(sorted, RF_LATTICE_SIZE, sizeof sorted[0], in_order);
    for (unsigned i = 0; i < RF_LATTICE_SIZE; i++) {
        z[i] = rf64_normal_quantile((i + 0.5) / RF_LATTICE_SIZE);
        squares += z[i] * z[i];
        sum += sorted[i];
        own += (double)sorted[i] * sorted[i];
    }
    for (unsigned i = 0; i < RF_LATTICE_SIZE; i++)
        check_within(sorted[i], z[i] * sqrt(RF_LATTICE_SIZE / squares) * 8192, 0.5001);
    check_within(sum, 0, 0); /* it is symmetric */
    /* rounding by up to half a unit: √(4/12)/8192/√4096 = 1.1e−6 is its standard deviation; 1.3e−6 measured */
    check_within(own / RF_LATTICE_SIZE / (8192.0 * 8192), 1, 2e-6);
}

static int in_order_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Any 100 in a row, also at the ends, leave no gap in probability above 0.0203 (measured); 100 random numbers leave
   0.05. */
static void table_is_spread(void **state)
{
    (void)state;
    for (unsigned from = 0; from < RF_LATTICE_SIZE; from++) {
        double cdf[102] = {0, 1};
        for (unsigned i = 0; i < 100; i++)
            cdf[2 + i] = 0.5 * erfc(-rf_lattice_normal[(from + i) % RF_LATTICE_SIZE] / (8192 * sqrt(2)));
        qsort(cdf, 102, sizeof cdf[0], in_order_double);
        for (unsigned i = 1; i < 102; i++)
            check_below(cdf[i] - cdf[i - 1], 0.0204);
    }
}

/* The whole table, weighted with a likelihood, has the closed form's mean except for the missing tails. */
static void table_gives_the_moments(void **state)
{
    (void)state;
    uint64_t source = 25;
    for (int k = 0; k < 100; k++) {
        precession p = {.mu = 0, .sd = 1, .t = test_uniform(&source, 0.2, 3), .ref = test_uniform(&source, -1.5, 1.5), .outcome = 1};
        double w = 0, wz = 0;
        solve_precession(&p);
        for (unsigned i = 0; i < RF_LATTICE_SIZE; i++) {
            double z = rf_lattice_normal[i] / 8192.0, likelihood = 0.5 + 0.5 * cos(p.t * (z - p.ref));
            w += likelihood, wz += likelihood * z;
        }
        check_within(wz / w, p.mean, 4e-4 * sqrt(p.var));
        check_within(w / RF_LATTICE_SIZE, p.Z, 1e-4);
    }
}

/* Coordinates are uncorrelated with each other and with the uniform one: over random shifts, the RMS of the mean
   product of two of them is at most 1.5 times that of independent numbers, for few and for all points. */
static void coordinates_are_unrelated(void **state)
{
    (void)state;
    enum { COORDINATES = 8, SHIFTS = 60 };
    const unsigned counts[] = {100, 1000, RF_LATTICE_SIZE};
    uint64_t source = 26;
    for (int c = 0; c < 3; c++)
        for (unsigned a = 0; a <= COORDINATES; a++) /* the last is the uniform one */
            for (unsigned b = 0; b < a && b < COORDINATES; b++) {
                double squares = 0;
                for (int k = 0; k < SHIFTS; k++) {
                    uint32_t x = (uint32_t)test_word(&source), y = (uint32_t)test_word(&source);
                    double sum = 0;
                    for (unsigned i = 0; i < counts[c]; i++) {
                        double u = ((double)(uint32_t)(x + i * RF_LATTICE_UNIFORM) * 0x1p-32 - 0.5) * sqrt(12);
                        double first = a < COORDINATES ? rf_lattice_normal[(x + i * rf_lattice_stride[a % COORDINATES]) % RF_LATTICE_SIZE] / 8192.0 : u;
                        sum += first * rf_lattice_normal[(y + i * rf_lattice_stride[b]) % RF_LATTICE_SIZE] / 8192.0;
                    }
                    squares += sum * sum / (counts[c] * (double)SHIFTS);
                }
                if (sqrt(squares) > 1.5)
                    fail_msg("coordinates %u and %u of %u points: %.2f times the correlation of independent ones", b, a, counts[c], sqrt(squares));
            }
}

/* ---- Rounds ---- */

static double seen[3 * 4096];
static unsigned seen_count;

static rf_real record_x(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    (void)setting, (void)outcome;
    if (seen_count < sizeof seen / sizeof seen[0])
        seen[seen_count++] = (double)x[0] * 8192;
    return RF_C(0.5);
}

/* Each 4096 attempts are the whole table in its order, from a new starting place. */
static void rounds_begin_anew(void **state)
{
    (void)state;
    const rf_real record[] = {0, 0};
    unsigned places[3];
    fixture x;
    for (int s = 0; s < 2; s++) {
        seen_count = 0;
        set_up_own(&x, record_x, 3);
        choose(&x, samplers[s], 3 * 4096);
        assert_int_equal(update(&x, record, 1, NULL) & ~RF_NOTE_FEW, RF_OK);
        assert_int_equal(seen_count, 3 * 4096);
        for (int round = 0; round < 3; round++) {
            const double *from = seen + round * 4096;
            unsigned place = 0;
            for (unsigned match = 0; match < 128 && place < 4096; place += match < 128)
                for (match = 0; match < 128 && from[match] == rf_lattice_normal[(place + match) % 4096];)
                    match++;
            places[round] = place;
            for (unsigned i = 0; i < 4096; i++)
                assert_true(from[i] == rf_lattice_normal[(place + i) % 4096]);
        }
        assert_true(places[0] != places[1] && places[1] != places[2] && places[0] != places[2]);
    }
}

/* ---- Bad likelihoods and refusals ---- */

static void bad_likelihoods_count_as_zero(void **state)
{
    (void)state;
    RF(likelihood) *const bad[] = {nan_above, negative_above, infinite_above};
    const rf_real record[] = {0, 0};
    unsigned above_one = 0;
    fixture x, good;
    for (unsigned i = 0; i < RF_LATTICE_SIZE; i++)
        above_one += rf_lattice_normal[i] > 8192;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 4; j++) {
            set_up_own(&x, bad[k], 9);
            choose(&x, samplers[j % 2], 2 * RF_LATTICE_SIZE);
            set_up_own(&good, zero_above, 9);
            choose(&good, samplers[j % 2], 2 * RF_LATTICE_SIZE);
            assert_int_equal(update(&x, record, 1, engines[j / 2]), RF_NOTE_BAD);
            assert_int_equal(update(&good, record, 1, engines[j / 2]), RF_OK);
            const uint32_t counts[] = {x.report.nan, x.report.negative, x.report.infinite};
            for (int i = 0; i < 3; i++)
                assert_int_equal(counts[i], i == k ? 2 * above_one : 0); /* two whole tables */
            assert_memory_equal(RF(filter_mean)(x.f), RF(filter_mean)(good.f), 2 * sizeof(rf_real));
        }
}

/* Overflow in a kernel: e^(−g·t) at t = −10⁶ is infinite. */
static void bad_likelihoods_in_kernels(void **state)
{
    (void)state;
    const rf_real record[] = {-1000000, 0, RF_C(0.95), 1};
    for (int s = 0; s < 2; s++) {
        fixture x[2];
        for (int e = 0; e < 2; e++) {
            set_up_named(&x[e], "ramsey", 9);
            choose(&x[e], samplers[s], 1000);
            assert_int_equal(update(&x[e], record, 1, engines[e]) & RF_NOTE_BAD, RF_NOTE_BAD);
            assert_true(x[e].report.infinite + x[e].report.negative + x[e].report.nan > 900);
        }
        assert_memory_equal(&x[0].report, &x[1].report, sizeof x[0].report);
    }
}

static void refusals(void **state)
{
    (void)state;
    const rf_real record[] = {1, 0, 1};
    fixture x;
    unsigned char before[sizeof x.memory];
    set_up_named(&x, "precession", 1);
    memcpy(before, x.memory, sizeof before);
    for (int e = 0; e < 2; e++) {
        for (int s = 0; s < 3; s++) {
            x.options.sampler = s < 2 ? samplers[s] : (rf_sampler)7;
            x.options.strict = s < 2;
            assert_int_equal(update(&x, record, 1, engines[e]), RF_REFUSED_OPTIONS);
            assert_memory_equal(before, x.memory, sizeof before);
        }
    }
    x.options.sampler = RF_REJECT;
    x.options.strict = 1;
    assert_true(update(&x, record, 1, engines[1]) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precession_matches_closed_form),
        cmocka_unit_test(linear_matches_kalman),
        cmocka_unit_test(decay_matches_rejection),
        cmocka_unit_test(phase_wraps),
        cmocka_unit_test(points_are_white),
        cmocka_unit_test(loss_of_a_fringe),
        cmocka_unit_test(loss_of_a_bell),
        cmocka_unit_test(loss_is_measured_with_weights),
        cmocka_unit_test(small_kappa_reports_delta),
        cmocka_unit_test(precession_has_less_error),
        cmocka_unit_test(linear_has_less_error),
        cmocka_unit_test(table_is_the_strata),
        cmocka_unit_test(table_is_spread),
        cmocka_unit_test(table_gives_the_moments),
        cmocka_unit_test(coordinates_are_unrelated),
        cmocka_unit_test(rounds_begin_anew),
        cmocka_unit_test(bad_likelihoods_count_as_zero),
        cmocka_unit_test(bad_likelihoods_in_kernels),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, open_engines, close_engines);
}
