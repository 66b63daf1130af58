/* The samplers RF_LATTICE and RF_WEIGHT against oracles and against RF_REJECT. Per precision.
   Linked with linear.h compiled for 1 to 8 parameters (tests/CMakeLists.txt). */
#include "testing.h"

#include <math.h>

#include "rejfilt/host.h"
#include "rejfilt/lattice.h"

#define EPS (RF_PRECISION == 32 ? 1e-6 : 1e-13)

#define LINEAR_(bits, dim) rf##bits##_model_linear##dim
#define LINEAR(bits, dim) LINEAR_(bits, dim)
extern const RF(instance) LINEAR(RF_PRECISION, 1), LINEAR(RF_PRECISION, 2), LINEAR(RF_PRECISION, 4), LINEAR(RF_PRECISION, 8);

enum { MANY = 65536, DIM = 8 };

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

typedef struct fixture {
    RF(chart) charts[RF_NAMES_MAX];
    RF(model) model;
    RF(options) options;
    RF(report) report;
    RF(filter) *f;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(DIM)];
} fixture;

static void set_up(fixture *x, const RF(instance) *instance, uint64_t seed, rf_sampler sampler, uint32_t attempts)
{
    memset(x, 0, sizeof *x);
    x->model = RF(instance_model)(instance, x->charts);
    x->options = RF(options_default)();
    x->options.sampler = sampler;
    x->options.attempts = attempts;
    assert_int_equal(RF(filter_init)(&x->f, x->memory, sizeof x->memory, x->model.dim, seed), RF_OK);
}

static void set_up_named(fixture *x, const char *name, uint64_t seed, rf_sampler sampler, uint32_t attempts)
{
    set_up(x, INSTANCE(rf_model_find(name)), seed, sampler, attempts);
}

/* A model of one parameter, one setting and no kernels. */
static void set_up_own(fixture *x, RF(likelihood) *likelihood, uint64_t seed, rf_sampler sampler, uint32_t attempts)
{
    memset(x, 0, sizeof *x);
    x->model = (RF(model)){.likelihood = likelihood, .dim = 1, .settings = 1};
    x->options = RF(options_default)();
    x->options.sampler = sampler;
    x->options.attempts = attempts;
    assert_int_equal(RF(filter_init)(&x->f, x->memory, sizeof x->memory, 1, seed), RF_OK);
}

static void set_prior(fixture *x, double mean, double sd)
{
    rf_real m = (rf_real)mean, v = (rf_real)sd * (rf_real)sd;
    assert_int_equal(RF(prior_covariance)(x->f, &m, &v), RF_OK);
}

static rf_status update(fixture *x, const rf_real *record, const RF(engine) *engine)
{
    return RF(update)(x->f, &x->model, record, 1, &x->options, engine, &x->report);
}

/* Accepted attempts, or with weights the mean number of them. */
static double accepted(const fixture *x) { return (double)x->report.acceptance * x->report.attempts; }

/* ---- Precession: the posterior's moments are known in closed form ---- */

typedef struct precession {
    double mu, sd, t, ref, s; /* outcome 1: s = 1, outcome 0: s = −1 */
    double Z, mean, var;
} precession;

static void solve_precession(precession *p)
{
    double v = p->sd * p->sd, e = exp(-p->t * p->t * v / 2);
    double C = e * cos(p->t * (p->mu - p->ref)), S = e * sin(p->t * (p->mu - p->ref));
    p->Z = (1 + p->s * C) / 2;
    double shift = -p->s * p->t * v * S / (2 * p->Z);
    p->mean = p->mu + shift;
    p->var = v - p->s * p->t * p->t * v * v * C / (2 * p->Z) - shift * shift;
}

static rf_status update_precession(fixture *x, const precession *p, const RF(engine) *engine)
{
    const rf_real record[] = {(rf_real)p->t, (rf_real)p->ref, p->s > 0 ? 1 : 0};
    set_prior(x, p->mu, p->sd);
    return update(x, record, engine);
}

/* The bounds are those of independent rejection: 5 standard errors with N accepted. */
static void precession_matches_closed_form(void **state)
{
    (void)state;
    uint64_t source = 21;
    fixture x;
    for (int k = 0; k < 40; k++) {
        precession p = {.mu = test_uniform(&source, -2, 2), .sd = exp(test_uniform(&source, -4, 1)), .s = k % 2 ? 1 : -1};
        p.t = test_uniform(&source, 0.2, 3) / p.sd;
        p.ref = p.mu + p.sd * test_uniform(&source, -1.5, 1.5);
        solve_precession(&p);
        for (int j = 0; j < 4; j++) {
            set_up_named(&x, "precession", (uint64_t)k, samplers[j % 2], MANY);
            assert_int_equal(update_precession(&x, &p, engines[j / 2]), RF_OK);
            double n = accepted(&x);
            check_within(x.report.acceptance, p.Z, 5 * sqrt(p.Z * (1 - p.Z) / MANY));
            check_within(exp((double)x.report.log_evidence), p.Z, 5 * sqrt(p.Z * (1 - p.Z) / MANY) + 1.0 / MANY);
            check_within(RF(filter_mean)(x.f)[0], p.mean, 5 * sqrt(p.var / n) + 4 * EPS * fabs(p.mu));
            check_within((double)RF(filter_covariance)(x.f, 0, 0) / p.var, 1, 5 * sqrt(3 / n) + 3 / n);
        }
    }
}

/* ---- Linear: the Kalman filter is exact ---- */

typedef struct kalman {
    unsigned dim;
    double m[DIM], P[DIM * DIM], Z;
    rf_real mean[DIM], cov[DIM * DIM], record[DIM + 2];
} kalman;

/* A prior and a record, the record's evidence and the exact posterior. */
static void make_kalman(kalman *k, unsigned dim, int correlated, uint64_t *source)
{
    double a[DIM * DIM], Ph[DIM], s = 1, innovation = test_uniform(source, -1, 1);
    memset(k, 0, sizeof *k);
    k->dim = dim;
    for (unsigned i = 0; i < dim * dim; i++)
        a[i] = correlated ? test_uniform(source, -1, 1) : i % (dim + 1) == 0;
    for (unsigned i = 0; i < dim * dim; i++) {
        for (unsigned j = 0; j < dim; j++)
            k->P[i] += a[i / dim * dim + j] * a[i % dim * dim + j] + (correlated && i / dim == i % dim ? 0.1 / dim : 0);
        k->cov[i] = (rf_real)k->P[i];
    }
    k->record[dim] = 1;
    for (unsigned i = 0; i < dim; i++) {
        k->mean[i] = (rf_real)(k->m[i] = test_uniform(source, -1, 1));
        k->record[i] = (rf_real)test_uniform(source, -1, 1);
        k->record[dim + 1] += (rf_real)(k->m[i] * (double)k->record[i]);
    }
    k->record[dim + 1] += (rf_real)innovation;
    for (unsigned i = 0; i < dim; i++) {
        Ph[i] = 0;
        for (unsigned j = 0; j < dim; j++)
            Ph[i] += k->P[i * dim + j] * (double)k->record[j];
        s += (double)k->record[i] * Ph[i];
    }
    k->Z = exp(-innovation * innovation / (2 * s)) / sqrt(2 * 3.14159265358979324 * s);
    for (unsigned i = 0; i < dim; i++) {
        k->m[i] += Ph[i] * innovation / s;
        for (unsigned j = 0; j < dim; j++)
            k->P[i * dim + j] -= Ph[i] * Ph[j] / s;
    }
}

static rf_status update_kalman(fixture *x, const kalman *k, const RF(engine) *engine)
{
    assert_int_equal(RF(prior_covariance)(x->f, k->mean, k->cov), RF_OK);
    return update(x, k->record, engine);
}

static void linear_matches_kalman(void **state)
{
    (void)state;
    uint64_t source = 22;
    fixture x;
    kalman k;
    for (int i = 0; i < 40; i++) {
        make_kalman(&k, 2, 1, &source);
        for (int j = 0; j < 4; j++) {
            set_up_named(&x, "linear", (uint64_t)i, samplers[j % 2], MANY);
            assert_int_equal(update_kalman(&x, &k, engines[j / 2]), RF_OK);
            double n = accepted(&x), share = k.Z * sqrt(2 * 3.14159265358979324);
            check_within(exp((double)x.report.log_evidence), k.Z, k.Z * 5 * sqrt((1 - share) / (share * MANY)) + 1.0 / MANY + 4 * EPS);
            for (unsigned a = 0; a < 2; a++)
                for (unsigned b = 0; b <= a; b++) {
                    double paa = k.P[3 * a], pbb = k.P[3 * b], pab = k.P[2 * a + b];
                    check_within(RF(filter_mean)(x.f)[a], k.m[a], 5 * sqrt(paa / n));
                    check_within(RF(filter_covariance)(x.f, a, b), pab, 5 * sqrt((paa * pbb + pab * pab) / n) + 3 / n);
                }
        }
    }
}

/* ---- Three bounded parameters, and a circle: against rejection with sixteen times the attempts ---- */

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
        set_up_named(&right, "decay", 1000 + (uint64_t)k, RF_REJECT, 16 * MANY);
        assert_int_equal(update(&right, record, engines[1]), RF_OK);
        for (int j = 0; j < 4; j++) {
            set_up_named(&x, "decay", (uint64_t)k, samplers[j % 2], MANY);
            assert_int_equal(update(&x, record, engines[j / 2]), RF_OK);
            check_like_rejection(&x, &right, 4);
        }
    }
}

/* A flat prior on the circle. The posterior sits opposite a cut, so that one cut is clearly right. */
static void phase_wraps(void **state)
{
    (void)state;
    const rf_real low = 0, high = RF_C(6.283185307179586), refs[] = {0, RF_C(0.4), RF_C(2.8), RF_C(3.2), RF_C(5.9)};
    fixture x, right;
    for (int k = 0; k < 5; k++) {
        const rf_real record[] = {1, refs[k], 1};
        set_up_named(&right, "phase", 1000 + (uint64_t)k, RF_REJECT, 16 * MANY);
        assert_int_equal(RF(prior_box)(right.f, &right.model, &low, &high), RF_OK);
        assert_int_equal(update(&right, record, engines[1]), RF_OK);
        for (int j = 0; j < 4; j++) {
            set_up_named(&x, "phase", (uint64_t)k, samplers[j % 2], MANY);
            assert_int_equal(RF(prior_box)(x.f, &x.model, &low, &high), RF_OK);
            assert_int_equal(update(&x, record, engines[j / 2]), RF_OK);
            check_like_rejection(&x, &right, 4);
            if (k == 0 || k == 3) /* ½ + ½cos on a circle that is cut (nearly) opposite: variance π²/3 − 2 */
                check_within(RF(filter_covariance)(x.f, 0, 0), 1.28987, 5 * sqrt(3 / accepted(&x)) + 0.02);
        }
    }
}

/* ---- κ below the peak ---- */

static void small_kappa_reports_delta(void **state)
{
    (void)state;
    fixture x;
    for (int k = 0; k < 12; k++) {
        double kappa = 0.1 + 0.08 * k, t = 2, ref = 0.3, over = 0, all = 0, capped = 0, total = 0, square = 0;
        const rf_real record[] = {(rf_real)t, (rf_real)ref, 1};
        for (int i = 0; i <= 20000; i++) {
            double z = -9 + 18.0 * i / 20000, w = exp(-z * z / 2), c = cos((z - ref) * t / 2), p = c * c;
            over += w * fmax(0, p - kappa), all += w * p, capped += w * fmin(p / kappa, 1), total += w;
            square += w * fmax(0, p / kappa - 1) * fmax(0, p / kappa - 1);
        }
        for (int j = 0; j < 4; j++) {
            set_up_named(&x, "precession", (uint64_t)k, samplers[j % 2], MANY);
            x.options.kappa = (rf_real)kappa;
            assert_int_equal(update(&x, record, engines[j / 2]), RF_NOTE_ABOVE);
            double delta = over / all, accept = capped / total, excess = delta / (1 - delta);
            double sd_excess = sqrt(fmax(square / capped - excess * excess, 0) / accepted(&x));
            check_within(x.report.acceptance, accept, 5 * sqrt(accept * (1 - accept) / MANY));
            check_within(x.report.delta, delta, 5 * sd_excess * (1 - delta) * (1 - delta) + 2e-5);
            check_within(x.report.log_evidence, log(all / total * (1 - delta)), 5 * sqrt((double)x.report.log_evidence_variance) + 1e-5);
            check_within(x.report.largest, 1, 1e-3);
            assert_int_equal(x.report.above > 0, samplers[j % 2] != RF_WEIGHT); /* weights have no such count */
        }
    }
}

/* ---- What m = 100 is worth ---- */

enum { SEEDS = 400, SMALL = 100 };

typedef struct spread {
    double rms, mean; /* of the error of the new mean, in posterior standard deviations, over seeds and parameters */
} spread;

static spread precession_spread(rf_sampler sampler, const RF(engine) *engine)
{
    uint64_t source = 23;
    double sum = 0, squares = 0;
    fixture x;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        precession p = {.mu = 0.7, .sd = 0.5, .t = 2, .s = seed % 2 ? 1 : -1};
        do { /* what the particle guess heuristic asks, where at least a fifth is accepted: no top-up */
            p.ref = p.mu + p.sd * test_uniform(&source, -2, 2);
            solve_precession(&p);
        } while (p.Z < 0.3);
        set_up_named(&x, "precession", test_word(&source), sampler, SMALL);
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
    unsigned dim = instance->about->dim;
    fixture x;
    kalman k;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        make_kalman(&k, dim, 0, &source);
        set_up(&x, instance, test_word(&source), sampler, SMALL);
        x.options.batches_max = 1;
        assert_true(update_kalman(&x, &k, engine) >= 0);
        for (unsigned i = 0; i < dim; i++) {
            double error = (RF(filter_mean)(x.f)[i] - k.m[i]) / sqrt(k.P[i * (dim + 1)]);
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

/* The RMS of 400 errors is known to 1/√800 = 3.5 %, a ratio of two to 5 %. The limits are the ratios
   measured (0.47 and 0.22) and five times that: 1.25 of them. */
static void precession_has_less_error(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        const spread reject = precession_spread(RF_REJECT, engines[e]);
        const spread lattice = precession_spread(RF_LATTICE, engines[e]), weight = precession_spread(RF_WEIGHT, engines[e]);
        spread_of("precession reject", reject, &reject);
        check_below(spread_of("precession lattice", lattice, &reject), 0.59);
        check_below(spread_of("precession weight", weight, &reject), 0.28);
        /* 5 standard errors; and an allowance of rms² for the bias of a ratio of two sums, in which the
           table's own (below 4·10⁻⁴, see table_gives_the_moments) is lost */
        check_within(reject.mean, 0, 5 * reject.rms / sqrt(SEEDS) + reject.rms * reject.rms);
        check_within(lattice.mean, 0, 5 * lattice.rms / sqrt(SEEDS) + lattice.rms * lattice.rms);
        check_within(weight.mean, 0, 5 * weight.rms / sqrt(SEEDS) + weight.rms * weight.rms);
    }
}

/* The same for one, two, four and eight parameters. Limits as above: 1.25 of the ratios measured. */
static void linear_has_less_error(void **state)
{
    (void)state;
    const RF(instance) *const instances[] = {&LINEAR(RF_PRECISION, 1), &LINEAR(RF_PRECISION, 2), &LINEAR(RF_PRECISION, 4),
                                             &LINEAR(RF_PRECISION, 8)};
    const double limits[][2] = {{0.49, 0.20}, {0.53, 0.28}, {0.71, 0.44}, {0.84, 0.61}};
    for (int d = 0; d < 4; d++) {
        const double n = SEEDS * instances[d]->about->dim;
        const spread reject = linear_spread(instances[d], RF_REJECT, NULL);
        print_message("linear, %u parameters\n", instances[d]->about->dim);
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

/* 4096 strata of equal probability, scaled to a variance of one and rounded to the grid. */
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

/* Any 100 in a row leave no gap in probability, at the ends too, above 0.0203 (measured); 100 random
   numbers leave 0.05. */
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

/* The whole table, weighted with a likelihood, has the closed form's mean but for its missing tails. */
static void table_gives_the_moments(void **state)
{
    (void)state;
    uint64_t source = 25;
    for (int k = 0; k < 100; k++) {
        precession p = {.mu = 0, .sd = 1, .t = test_uniform(&source, 0.2, 3), .ref = test_uniform(&source, -1.5, 1.5), .s = 1};
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

/* Coordinates do not follow each other, nor the uniform one: over random shifts, the RMS of the mean
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

/* Each 4096 attempts are the whole table, in its order from a new place. */
static void rounds_begin_anew(void **state)
{
    (void)state;
    const rf_real record[] = {0, 0};
    unsigned places[3];
    fixture x;
    for (int s = 0; s < 2; s++) {
        seen_count = 0;
        set_up_own(&x, record_x, 3, samplers[s], 3 * 4096);
        assert_int_equal(update(&x, record, NULL), RF_OK);
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

static rf_real nan_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? RF(nan)() : RF_C(0.5); }
static rf_real negative_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? -1 : RF_C(0.5); }
static rf_real infinite_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? RF(infinity)() : RF_C(0.5); }
static rf_real zero_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? 0 : RF_C(0.5); }

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
            set_up_own(&x, bad[k], 9, samplers[j % 2], 2 * RF_LATTICE_SIZE);
            set_up_own(&good, zero_above, 9, samplers[j % 2], 2 * RF_LATTICE_SIZE);
            assert_int_equal(update(&x, record, engines[j / 2]), RF_NOTE_BAD);
            assert_int_equal(update(&good, record, engines[j / 2]), RF_OK);
            const uint32_t counts[] = {x.report.nan, x.report.negative, x.report.infinite};
            for (int i = 0; i < 3; i++)
                assert_int_equal(counts[i], i == k ? 2 * above_one : 0); /* two whole tables */
            assert_memory_equal(RF(filter_mean)(x.f), RF(filter_mean)(good.f), 2 * sizeof(rf_real));
        }
}

/* A kernel's own overflow: e^(−g·t) at t = −10⁶ is infinite. */
static void bad_likelihoods_in_kernels(void **state)
{
    (void)state;
    const rf_real record[] = {-1000000, 0, RF_C(0.95), 1};
    for (int s = 0; s < 2; s++) {
        fixture x[2];
        for (int e = 0; e < 2; e++) {
            set_up_named(&x[e], "ramsey", 9, samplers[s], 1000);
            assert_int_equal(update(&x[e], record, engines[e]) & RF_NOTE_BAD, RF_NOTE_BAD);
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
    set_up_named(&x, "precession", 1, RF_REJECT, 100);
    memcpy(before, x.memory, sizeof before);
    for (int e = 0; e < 2; e++) {
        for (int s = 0; s < 3; s++) {
            x.options.sampler = s < 2 ? samplers[s] : (rf_sampler)7;
            x.options.strict = s < 2;
            assert_int_equal(update(&x, record, engines[e]), RF_REFUSED_OPTIONS);
            assert_memory_equal(before, x.memory, sizeof before);
        }
    }
    x.options.sampler = RF_REJECT;
    x.options.strict = 1;
    assert_true(update(&x, record, engines[1]) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precession_matches_closed_form),
        cmocka_unit_test(linear_matches_kalman),
        cmocka_unit_test(decay_matches_rejection),
        cmocka_unit_test(phase_wraps),
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
