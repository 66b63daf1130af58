/* Diffusion and dynamics; the factor always stays a valid Cholesky factor. Per precision. */
#include "testing.h"

#include <math.h>

#include "rejfilt/rejfilt.h"

#define EPS (RF_PRECISION == 32 ? 1e-6 : 1e-14)

enum { MOST = 8 };

typedef struct owned {
    RF(filter) *filter;
    unsigned char *memory;
    size_t bytes, state; /* `state`: bytes before the workspace, which a refused call must not change */
} owned;

static owned open_filter(unsigned dim, uint64_t seed)
{
    owned o;
    o.bytes = RF(filter_bytes)(dim);
    o.memory = calloc(1, o.bytes); /* zeroed, because it is compared as a whole */
    assert_int_equal(RF(filter_init)(&o.filter, o.memory, o.bytes, dim, seed), RF_OK);
    o.state = (size_t)((const unsigned char *)(RF(filter_factor)(o.filter) + RF_TRIANGLE(dim)) - o.memory);
    return o;
}

static void random_matrix(uint64_t *source, unsigned dim, double scale, rf_real *m)
{
    for (unsigned i = 0; i < dim * dim; i++)
        m[i] = (rf_real)test_uniform(source, -scale, scale);
}

/* out = a·aᵀ */
static void square(const rf_real *a, unsigned dim, rf_real *out)
{
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j < dim; j++) {
            double sum = 0;
            for (unsigned k = 0; k < dim; k++)
                sum += (double)a[i * dim + k] * a[j * dim + k];
            out[i * dim + j] = (rf_real)sum;
        }
}

static void random_covariance(uint64_t *source, unsigned dim, rf_real *out)
{
    rf_real a[MOST * MOST];
    random_matrix(source, dim, 1, a);
    square(a, dim, out);
    for (unsigned i = 0; i < dim; i++)
        out[i * dim + i] += RF_C(0.1);
}

static void diffusion_adds_variance(void **state)
{
    (void)state;
    uint64_t source = 3;
    for (unsigned dim = 1; dim <= MOST; dim++) {
        owned o = open_filter(dim, 1);
        rf_real a[MOST * MOST], cov[MOST * MOST], q[MOST * MOST], mean[MOST] = {0};
        random_covariance(&source, dim, cov);
        assert_int_equal(RF(prior_covariance)(o.filter, mean, cov), RF_OK);
        assert_int_equal(RF(diffuse)(o.filter, RF_C(0.25), 4), RF_OK);
        random_matrix(&source, dim, 1, a);
        for (unsigned i = 0; i < dim; i++)
            a[i * dim] = 0; /* singular rate: a zero column; with one parameter no drift */
        square(a, dim, q);
        assert_int_equal(RF(diffuse_covariance)(o.filter, q, 2), RF_OK);
        for (unsigned i = 0; i < dim; i++)
            for (unsigned j = 0; j < dim; j++)
                check_within(RF(filter_covariance)(o.filter, i, j), cov[i * dim + j] + (i == j) + 2 * q[i * dim + j], 200 * EPS);
        free(o.memory);
    }
}

static void evolution_is_linear(void **state)
{
    (void)state;
    uint64_t source = 4;
    for (unsigned dim = 1; dim <= MOST; dim++) {
        owned o = open_filter(dim, 1);
        rf_real a[MOST * MOST], cov[MOST * MOST], F[MOST * MOST], Q[MOST * MOST], mean[MOST];
        random_covariance(&source, dim, cov);
        for (unsigned i = 0; i < dim; i++)
            mean[i] = (rf_real)test_uniform(&source, -2, 2);
        random_matrix(&source, dim, 1, F);
        random_matrix(&source, dim, 1, a);
        square(a, dim, Q);
        assert_int_equal(RF(prior_covariance)(o.filter, mean, cov), RF_OK);
        assert_int_equal(RF(evolve)(o.filter, F, Q), RF_OK);
        for (unsigned i = 0; i < dim; i++) {
            double m = 0;
            for (unsigned k = 0; k < dim; k++)
                m += (double)F[i * dim + k] * mean[k];
            check_within(RF(filter_mean)(o.filter)[i], m, 50 * EPS);
            for (unsigned j = 0; j < dim; j++) {
                double c = Q[i * dim + j];
                for (unsigned k = 0; k < dim; k++)
                    for (unsigned l = 0; l < dim; l++)
                        c += (double)F[i * dim + k] * cov[k * dim + l] * F[j * dim + l];
                check_within(RF(filter_covariance)(o.filter, i, j), c, 500 * EPS);
            }
        }
        free(o.memory);
    }
}

/* Element ij of the covariance is multiplied by s_i·s_j; and the factor stays the covariance's root. */
/* What rounding took from the mean stays beside it. */
static void evolution_keeps_the_rest(void **state)
{
    (void)state;
    const rf_real mean[] = {1000, -1000}, factor[] = {1, 0, 1}, rest[] = {RF_PRECISION == 32 ? RF_C(1e-5) : RF_C(1e-14), 0}, swap[] = {0, 1, -1, 0};
    owned o = open_filter(2, 1);
    assert_int_equal(RF(filter_restore)(o.filter, 1, 0, mean, factor, rest), RF_OK);
    assert_int_equal(RF(evolve)(o.filter, swap, NULL), RF_OK);
    check_within(RF(filter_rest)(o.filter, 0), 0, 0);
    check_within(RF(filter_rest)(o.filter, 1), -rest[0], 0);
    free(o.memory);
}

static void stretching_scales_each_parameter(void **state)
{
    (void)state;
    uint64_t source = 5;
    for (unsigned dim = 1; dim <= MOST; dim++) {
        owned o = open_filter(dim, 1);
        rf_real cov[MOST * MOST], mean[MOST] = {0}, by[MOST], root[RF_TRIANGLE(MOST)];
        random_covariance(&source, dim, cov);
        for (unsigned i = 0; i < dim; i++)
            by[i] = (rf_real)test_uniform(&source, 0.1, 10);
        assert_int_equal(RF(prior_covariance)(o.filter, mean, cov), RF_OK);
        assert_int_equal(RF(stretch)(o.filter, by), RF_OK);
        assert_int_equal(RF(covariance_factor)(cov, dim, root), RF_OK);
        for (unsigned i = 0; i < dim; i++)
            for (unsigned j = 0; j <= i; j++) {
                double sum = 0, scale = (double)by[i] * (double)by[j];
                for (unsigned k = 0; k <= j; k++)
                    sum += (double)root[RF_TRIANGLE(i) + k] * (double)root[RF_TRIANGLE(j) + k];
                check_within(sum, cov[i * dim + j], 20 * EPS);
                check_within(RF(filter_covariance)(o.filter, i, j) / (rf_real)scale, cov[i * dim + j], 20 * EPS);
            }
        free(o.memory);
    }
}

static void drift_refuses(void **state)
{
    (void)state;
    owned o = open_filter(2, 1);
    unsigned char *before = malloc(o.bytes);
    memcpy(before, o.memory, o.bytes);
    const rf_real nan = RF(nan)(), inf = RF(infinity)();
    const rf_real fine[] = {1, 0, 0, 1}, bad[] = {1, nan, 0, 1}, negative[] = {1, 0, 0, -1}, skew[] = {1, 1, 0, 1};
    const rf_real huge[] = {RF_LIMIT, RF_LIMIT, RF_LIMIT, RF_LIMIT};
    rf_real far[] = {RF_LIMIT / 4, 0, 0}, wide[] = {1, 0, 0, 1};
    assert_int_equal(RF(diffuse)(o.filter, -1, 1), RF_REFUSED_VALUE);
    assert_int_equal(RF(diffuse)(o.filter, inf, 1), RF_REFUSED_VALUE);
    assert_int_equal(RF(diffuse)(o.filter, 1, -1), RF_REFUSED_TIME);
    assert_int_equal(RF(diffuse)(o.filter, 1, nan), RF_REFUSED_TIME);
    assert_int_equal(RF(diffuse_covariance)(o.filter, bad, 1), RF_REFUSED_VALUE);
    assert_int_equal(RF(diffuse_covariance)(o.filter, negative, 1), RF_REFUSED_COVARIANCE);
    assert_int_equal(RF(diffuse_covariance)(o.filter, skew, 1), RF_REFUSED_COVARIANCE);
    assert_int_equal(RF(diffuse_covariance)(o.filter, fine, inf), RF_REFUSED_TIME);
    assert_int_equal(RF(evolve)(o.filter, bad, NULL), RF_REFUSED_VALUE);
    assert_int_equal(RF(evolve)(o.filter, fine, negative), RF_REFUSED_COVARIANCE);
    assert_int_equal(RF(widen)(o.filter, 0), RF_REFUSED_VALUE);
    assert_int_equal(RF(widen)(o.filter, nan), RF_REFUSED_VALUE);
    assert_int_equal(RF(stretch)(o.filter, (const rf_real[]){1, 0}), RF_REFUSED_VALUE);
    assert_int_equal(RF(stretch)(o.filter, (const rf_real[]){1, inf}), RF_REFUSED_VALUE);
    assert_memory_equal(before, o.memory, o.state);
    assert_int_equal(RF(prior_covariance)(o.filter, far, wide), RF_OK);
    memcpy(before, o.memory, o.bytes);
    assert_int_equal(RF(evolve)(o.filter, huge, NULL), RF_REFUSED_OVERFLOW);
    assert_memory_equal(before, o.memory, o.state);
    assert_int_equal(RF(diffuse)(NULL, 1, 1), RF_REFUSED_NULL);
    assert_int_equal(RF(evolve)(o.filter, NULL, NULL), RF_REFUSED_NULL);
    assert_int_equal(RF(stretch)(o.filter, NULL), RF_REFUSED_NULL);
    assert_int_equal(RF(covariance_factor)(fine, 2, NULL), RF_REFUSED_NULL);
    assert_int_equal(RF(covariance_factor)(negative, 2, far), RF_REFUSED_COVARIANCE);
    free(before);
    free(o.memory);
}

static void assert_valid(const RF(filter) *f)
{
    unsigned dim = f->tally.dim;
    const rf_real *mean = RF(filter_mean)(f), *l = RF(filter_factor)(f);
    for (unsigned i = 0; i < dim; i++) {
        assert_true(RF(abs)(mean[i]) <= RF_LIMIT);
        for (unsigned j = 0; j <= i; j++)
            assert_true(RF(abs)(l[RF_TRIANGLE(i) + j]) <= RF_LIMIT);
        assert_true(l[RF_TRIANGLE(i) + i] >= RF_TINY);
    }
}

/* A likelihood that is right or as wrong as possible, depending on the setting. */
static rf_real moody(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real good = RF_C(0.5) + RF_C(0.5) * RF(cos)(x[0] * setting[1] + outcome);
    switch ((int)setting[0]) {
    case 1: return RF(nan)();
    case 2: return RF(infinity)();
    case 3: return -good;
    case 4: return x[0] > 0 ? RF(nan)() : good;
    case 5: return good * RF_C(1e30);
    case 6: return 0;
    case 7: return x[0] > 0 ? RF(infinity)() : -1;
    case 8: return RF_C(1e-30) * good;
    default: return good;
    }
}

static rf_real any_size(uint64_t *source)
{
    double exponent = test_uniform(source, -1, 1) * (RF_PRECISION == 32 ? 66 : 520); /* also beyond the limits */
    return (rf_real)((test_word(source) & 1 ? 1 : -1) * exp2(exponent));
}

static void factor_survives_anything(void **state)
{
    (void)state;
    uint64_t source = 99;
    const RF(chart) kinds[] = {{RF_REAL, 0, 0}, {RF_POSITIVE, 0, 0}, {RF_BOUNDED, -1, 2}, {RF_PERIODIC, 0, 3}};
    unsigned refused = 0, done = 0;
    for (int run = 0; run < 400; run++) {
        unsigned dim = 1 + (unsigned)(test_word(&source) % 6);
        owned o = open_filter(dim, test_word(&source));
        unsigned char *before = malloc(o.bytes);
        RF(chart) charts[MOST];
        for (unsigned i = 0; i < dim; i++)
            charts[i] = kinds[test_word(&source) % 4];
        RF(model) model = {moody, NULL, charts, (uint16_t)dim, 2, 0, 0, NULL, NULL, NULL};
        for (int k = 0; k < 150; k++) {
            rf_real m[MOST * MOST], m2[MOST * MOST], mean[MOST];
            RF(options) options = RF(options_default)();
            rf_status status;
            int wild = test_word(&source) % 3 == 0;
            random_matrix(&source, dim, 1, m);
            square(m, dim, m2);
            if (wild)
                for (unsigned i = 0; i < dim; i++)
                    m[i] = m2[i * dim + i] = any_size(&source);
            for (unsigned i = 0; i < dim; i++)
                mean[i] = wild ? any_size(&source) : 1;
            memcpy(before, o.memory, o.bytes);
            switch (test_word(&source) % 8) {
            case 0: status = RF(diffuse)(o.filter, wild ? any_size(&source) : 1, 1); break;
            case 1: status = RF(diffuse_covariance)(o.filter, m2, wild ? any_size(&source) : 1); break;
            case 2: status = RF(evolve)(o.filter, m, k % 2 ? m2 : NULL); break;
            case 3: status = RF(widen)(o.filter, wild ? any_size(&source) : 2); break;
            case 4: status = wild ? RF(prior_covariance)(o.filter, mean, m2) : RF_OK; break;
            default: {
                rf_real records[3 * 3];
                uint32_t count = 1 + (uint32_t)(test_word(&source) % 3);
                for (uint32_t r = 0; r < count; r++) {
                    records[3 * r] = (rf_real)(test_word(&source) % 12);
                    records[3 * r + 1] = wild ? any_size(&source) : 1;
                    records[3 * r + 2] = 1;
                }
                options.attempts = 1 + (uint32_t)(test_word(&source) % 40);
                options.strict = (uint32_t)(test_word(&source) & 1);
                options.kappa = wild ? any_size(&source) : RF_C(0.5);
                options.batches_max = 3;
                RF(report) report;
                status = RF(update)(o.filter, &model, records, count, &options, NULL, &report);
                if (status >= 0) {
                    assert_true(RF(is_finite)(report.log_evidence) && RF(is_finite)(report.delta) && RF(is_finite)(report.largest));
                    assert_true(report.delta >= 0 && report.delta <= 1 && report.accepted <= report.attempts);
                    assert_true(report.kappa_next >= RF_TINY && report.log_evidence_variance >= 0);
                }
            }
            }
            assert_valid(o.filter);
            if (status < 0)
                assert_memory_equal(before, o.memory, o.state);
            refused += status < 0;
            done += status >= 0;
        }
        free(before);
        free(o.memory);
    }
    assert_true(refused > 1000 && done > 10000); /* both sides were tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diffusion_adds_variance),
        cmocka_unit_test(evolution_is_linear),
        cmocka_unit_test(evolution_keeps_the_rest),
        cmocka_unit_test(stretching_scales_each_parameter),
        cmocka_unit_test(drift_refuses),
        cmocka_unit_test(factor_survives_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
