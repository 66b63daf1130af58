/* Shared by the tests of updates: a filter with everything that an update needs, likelihoods that go wrong, and
   cases whose answer a baseline knows. Per precision. */
#ifndef REJFILT_TEST_UPDATING_H
#define REJFILT_TEST_UPDATING_H

#include "testing.h"

#include <math.h>

#include "closed_form.h"
#include "kalman.h"
#include "rejfilt/host.h"

#define EPS (RF_PRECISION == 32 ? 1e-6 : 1e-13)

enum { DIM = 8 };

typedef struct fixture {
    RF(chart) charts[RF_DESCRIBED_MAX];
    RF(model) model;
    RF(options) options;
    RF(report) report;
    RF(filter) *f;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(DIM)];
} fixture;

/* A new filter for x->model, with a prior of N(0, 1). */
static inline void set_up_filter(fixture *x, uint64_t seed)
{
    x->options = RF(options_default)();
    assert_int_equal(RF(filter_init)(&x->f, x->memory, sizeof x->memory, x->model.dim, seed), RF_OK);
}

static inline void set_up(fixture *x, const RF(instance) *instance, uint64_t seed)
{
    memset(x, 0, sizeof *x);
    x->model = RF(instance_model)(instance, x->charts);
    set_up_filter(x, seed);
}

static inline void set_up_named(fixture *x, const char *name, uint64_t seed) { set_up(x, INSTANCE(rf_model_find(name)), seed); }

/* A model of one parameter, one setting and no kernels. */
static inline void set_up_own(fixture *x, RF(likelihood) *likelihood, uint64_t seed)
{
    memset(x, 0, sizeof *x);
    x->model = (RF(model)){.likelihood = likelihood, .dim = 1, .settings = 1};
    set_up_filter(x, seed);
}

/* A prior for one parameter, in chart coordinates. */
static inline void set_prior(fixture *x, double mean, double sd)
{
    rf_real m = (rf_real)mean, v = (rf_real)sd * (rf_real)sd;
    assert_int_equal(RF(prior_covariance)(x->f, &m, &v), RF_OK);
}

static inline rf_status update(fixture *x, const rf_real *records, uint32_t count, const RF(engine) *engine)
{
    return RF(update)(x->f, &x->model, records, count, &x->options, engine, &x->report);
}

/* Accepted attempts; with weights their mean number. */
static inline double accepted(const fixture *x) { return (double)x->report.acceptance * x->report.attempts; }

/* ---- Likelihoods that go wrong above 1 ---- */

static inline rf_real nan_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? RF(nan)() : RF_C(0.5); }
static inline rf_real negative_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? -1 : RF_C(0.5); }
static inline rf_real infinite_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? RF(infinity)() : RF_C(0.5); }
static inline rf_real zero_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? 0 : RF_C(0.5); }

/* ---- Precession: the posterior's moments are known in closed form ---- */

typedef struct precession {
    double mu, sd, t, ref;
    int outcome;
    double Z, mean, var;
} precession;

static inline void solve_precession(precession *p)
{
    closed_form exact = {p->mu, p->sd * p->sd, 0};
    p->Z = exp(closed_form_update(&exact, p->t, p->ref, p->outcome));
    p->mean = exact.mean;
    p->var = exact.variance;
}

static inline precession any_precession(int outcome, uint64_t *source)
{
    precession p = {.mu = test_uniform(source, -2, 2), .sd = exp(test_uniform(source, -4, 1)), .outcome = outcome};
    p.t = test_uniform(source, 0.2, 3) / p.sd;
    p.ref = p.mu + p.sd * test_uniform(source, -1.5, 1.5);
    solve_precession(&p);
    return p;
}

static inline rf_status update_precession(fixture *x, const precession *p, const RF(engine) *engine)
{
    const rf_real record[] = {(rf_real)p->t, (rf_real)p->ref, (rf_real)p->outcome};
    set_prior(x, p->mu, p->sd);
    return update(x, record, 1, engine);
}

/* 5 standard errors of independent rejection with N accepted. */
static inline void check_precession(const fixture *x, const precession *p)
{
    const double n = accepted(x);
    check_within(x->report.acceptance, p->Z, 5 * sqrt(p->Z * (1 - p->Z) / x->report.attempts));
    check_within(RF(filter_mean)(x->f)[0], p->mean, 5 * sqrt(p->var / n) + 4 * EPS * fabs(p->mu));
    /* the relative error of a variance estimate is √((kurtosis − 1)/N), and the kurtosis here is below 4 */
    check_within((double)RF(filter_covariance)(x->f, 0, 0) / p->var, 1, 5 * sqrt(3 / n) + 3 / n);
}

/* From N(0, 1) with κ below the likelihood's peak: acceptance, δ̂ and the biased evidence compared with sums on a
   grid. */
static inline void check_small_kappa(fixture *x, double kappa, const RF(engine) *engine)
{
    const double t = 2, ref = 0.3;
    const rf_real record[] = {(rf_real)t, (rf_real)ref, 1};
    double over = 0, all = 0, capped = 0, total = 0, square = 0;
    x->options.kappa = (rf_real)kappa;
    assert_int_equal(update(x, record, 1, engine), RF_NOTE_ABOVE);
    for (int i = 0; i <= 20000; i++) {
        double z = -9 + 18.0 * i / 20000, w = exp(-z * z / 2), c = cos((z - ref) * t / 2), p = c * c;
        over += w * fmax(0, p - kappa), all += w * p, capped += w * fmin(p / kappa, 1), total += w;
        square += w * fmax(0, p / kappa - 1) * fmax(0, p / kappa - 1);
    }
    /* δ̂ = W/(N+W), with W the sum of excess weights of the accepted: its error by linearisation */
    double delta = over / all, accept = capped / total, excess = delta / (1 - delta);
    double sd_excess = sqrt(fmax(square / capped - excess * excess, 0) / accepted(x));
    check_within(x->report.acceptance, accept, 5 * sqrt(accept * (1 - accept) / x->report.attempts));
    check_within(x->report.acceptance, all / total * (1 - delta) / kappa, 5 * sqrt(accept / x->report.attempts));
    if (x->options.sampler == RF_WEIGHT) { /* as if all were cut as much as the largest */
        check_within(x->report.delta, 1 - kappa, 1e-3);
        assert_true((double)x->report.delta >= delta);
    } else {
        check_within(x->report.delta, delta, 5 * sd_excess * (1 - delta) * (1 - delta) + 2e-5);
    }
    /* the evidence contains ln κ, so it stays near the truth except for the part above κ */
    check_within(x->report.log_evidence, log(all / total * (1 - delta)), 5 * sqrt((double)x->report.log_evidence_variance) + 1e-5);
    check_within(x->report.largest, 1, 1e-3);
}

/* ---- Linear: the Kalman filter is exact ---- */

/* linear.h compiled for 1 to 8 parameters (tests/CMakeLists.txt). */
#define LINEAR_(bits, dim) rf##bits##_model_linear##dim
#define LINEAR(bits, dim) LINEAR_(bits, dim)
extern const RF(instance) LINEAR(RF_PRECISION, 1), LINEAR(RF_PRECISION, 2), LINEAR(RF_PRECISION, 3), LINEAR(RF_PRECISION, 4);
extern const RF(instance) LINEAR(RF_PRECISION, 5), LINEAR(RF_PRECISION, 6), LINEAR(RF_PRECISION, 7), LINEAR(RF_PRECISION, 8);

/* A prior and records, and the exact filter after these records. */
typedef struct linear_case {
    rf_real mean[DIM], cov[DIM * DIM], records[2 * (DIM + 2)];
    uint32_t count;
    kalman exact;
    double Z; /* of the last record */
} linear_case;

/* Adds a record with `h`, `noise` and an outcome that differs from the expected one by `innovation`. */
static inline void add_linear_record(linear_case *c, const rf_real h[], double noise, double innovation)
{
    const unsigned dim = c->exact.dim;
    rf_real *record = c->records + c->count++ * (dim + 2);
    double exact_h[DIM], y = innovation;
    for (unsigned i = 0; i < dim; i++) {
        record[i] = h[i];
        exact_h[i] = (double)h[i];
        y += exact_h[i] * c->exact.mean[i];
    }
    record[dim] = (rf_real)noise;
    record[dim + 1] = (rf_real)y;
    c->Z = exp(kalman_update(&c->exact, exact_h, noise * noise, (double)record[dim + 1]));
}

/* A random prior, correlated or with a covariance of one, and a record. */
static inline void make_linear(linear_case *c, unsigned dim, int is_correlated, double noise, uint64_t *source)
{
    double a[DIM * DIM], mean[DIM], cov[DIM * DIM] = {0}, innovation = test_uniform(source, -1, 1);
    rf_real h[DIM] = {0};
    for (unsigned i = 0; i < dim * dim; i++)
        a[i] = is_correlated ? test_uniform(source, -1, 1) : i % (dim + 1) == 0;
    for (unsigned i = 0; i < dim * dim; i++) {
        for (unsigned j = 0; j < dim; j++)
            cov[i] += a[i / dim * dim + j] * a[i % dim * dim + j] + (is_correlated && i / dim == i % dim ? 0.1 / dim : 0);
        c->cov[i] = (rf_real)cov[i];
        cov[i] = (double)c->cov[i];
    }
    for (unsigned i = 0; i < dim; i++) {
        c->mean[i] = (rf_real)test_uniform(source, -1, 1);
        mean[i] = (double)c->mean[i];
        h[i] = (rf_real)test_uniform(source, -1, 1);
    }
    c->count = 0;
    assert_int_equal(kalman_init(&c->exact, dim, mean, cov), 0);
    add_linear_record(c, h, noise, innovation);
}

static inline rf_status update_linear(fixture *x, const linear_case *c, const RF(engine) *engine)
{
    assert_int_equal(RF(prior_covariance)(x->f, c->mean, c->cov), RF_OK);
    return update(x, c->records, c->count, engine);
}

/* Mean and every element of the covariance: 5 standard errors of independent rejection with N accepted. */
static inline void check_linear(const fixture *x, const linear_case *c)
{
    const double n = accepted(x);
    for (unsigned i = 0; i < c->exact.dim; i++) {
        const double pii = kalman_covariance(&c->exact, i, i);
        check_within(RF(filter_mean)(x->f)[i], c->exact.mean[i], 5 * sqrt(pii / n));
        for (unsigned j = 0; j <= i; j++) {
            const double pjj = kalman_covariance(&c->exact, j, j), pij = kalman_covariance(&c->exact, i, j);
            check_within(RF(filter_covariance)(x->f, i, j), pij, 5 * sqrt((pii * pjj + pij * pij) / n));
        }
    }
}

#endif
