/* The update against oracles: closed form, Kalman filter, grid, and the paper's pseudo-code. Per precision. */
#include "testing.h"

#include <math.h>

#include "rejfilt/host.h"

#define EPS (RF_PRECISION == 32 ? 1e-6 : 1e-13)

typedef struct fixture {
    RF(chart) charts[RF_NAMES_MAX];
    RF(model) model;
    RF(options) options;
    RF(report) report;
    RF(filter) *f;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(8)];
} fixture;

static void set_up(fixture *x, const RF(instance) *instance, uint64_t seed)
{
    x->model = RF(instance_model)(instance, x->charts);
    x->options = RF(options_default)();
    assert_int_equal(RF(filter_init)(&x->f, x->memory, sizeof x->memory, x->model.dim, seed), RF_OK);
}

static void set_up_named(fixture *x, const char *name, uint64_t seed) { set_up(x, INSTANCE(rf_model_find(name)), seed); }

/* A prior for one parameter, in chart coordinates. */
static void set_prior(fixture *x, double mean, double sd)
{
    rf_real m = (rf_real)mean, v = (rf_real)sd * (rf_real)sd;
    assert_int_equal(RF(prior_covariance)(x->f, &m, &v), RF_OK);
}

/* ---- Oracles ---- */

/* The cosine likelihood has closed-form posterior moments under a Gaussian prior. */
static void precession_matches_closed_form(void **state)
{
    (void)state;
    uint64_t source = 11;
    fixture x;
    for (int k = 0; k < 40; k++) {
        double mu = test_uniform(&source, -2, 2), sd = exp(test_uniform(&source, -4, 1)), t = test_uniform(&source, 0.2, 3) / sd;
        double ref = mu + sd * test_uniform(&source, -1.5, 1.5), s = k % 2 ? 1 : -1;
        set_up_named(&x, "precession", (uint64_t)k);
        set_prior(&x, mu, sd);
        x.options.attempts = 100000;
        rf_real record[] = {(rf_real)t, (rf_real)ref, (rf_real)(k % 2)};
        assert_int_equal(RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report), RF_OK);

        double v = sd * sd, e = exp(-t * t * v / 2), C = e * cos(t * (mu - ref)), S = e * sin(t * (mu - ref));
        double Z = (1 + s * C) / 2, shift = -s * t * v * S / (2 * Z), var = v - s * t * t * v * v * C / (2 * Z) - shift * shift;
        double n = x.report.accepted;
        check_within(x.report.acceptance, Z, 5 * sqrt(Z * (1 - Z) / x.report.attempts));
        check_within(x.report.log_evidence, log(Z), 5 * sqrt((double)x.report.log_evidence_variance) + 1 / n);
        check_within(RF(filter_mean)(x.f)[0], mu + shift, 5 * sqrt(var / n) + 4 * EPS * fabs(mu));
        /* a variance estimate's relative error is √((kurtosis − 1)/N), and the kurtosis here is below 4 */
        check_within(RF(filter_covariance)(x.f, 0, 0) / (rf_real)var, 1, 5 * sqrt(3 / n) + 3 / n);
    }
}

/* Posterior mean and variance on a grid over the prior, in chart coordinates. */
static void grid_moments(const fixture *x, double mu, double sd, const rf_real *records, uint32_t count, double *mean, double *var, double *evidence)
{
    enum { POINTS = 20001 };
    double w = 0, wy = 0, wyy = 0, total = 0;
    for (int i = 0; i < POINTS; i++) {
        double z = -9 + 18.0 * i / (POINTS - 1), prior = exp(-z * z / 2), p = prior;
        rf_real natural = RF(chart_natural)(&x->charts[0], (rf_real)(mu + sd * z));
        for (uint32_t k = 0; k < count; k++) {
            const rf_real *r = records + k * (x->model.settings + 1u);
            p *= (double)x->model.likelihood(&natural, r, r[x->model.settings]);
        }
        w += p, wy += p * z, wyy += p * z * z, total += prior;
    }
    *mean = mu + sd * wy / w;
    *var = sd * sd * (wyy / w - wy / w * wy / w);
    *evidence = w / total;
}

/* Every one-dimensional model with a likelihood, one or several records, against the grid. */
static void models_match_grid(void **state)
{
    (void)state;
    uint64_t source = 12;
    const char *const names[] = {"precession", "coin", "phase"};
    fixture x;
    for (int k = 0; k < 30; k++) {
        set_up_named(&x, names[k % 3], (uint64_t)k + 100);
        double sd = k % 3 == 2 ? 0.6 : test_uniform(&source, 0.3, 1.2), mu = k % 3 == 2 ? 3 : test_uniform(&source, -0.5, 1);
        uint32_t count = 1 + (uint32_t)k % 4;
        rf_real records[4 * 3];
        for (uint32_t r = 0; r < count * (x.model.settings + 1u); r++)
            records[r] = (rf_real)test_uniform(&source, 0.5, 2.5);
        for (uint32_t r = 0; r < count; r++)
            records[r * (x.model.settings + 1u) + x.model.settings] = (rf_real)(test_word(&source) & 1);
        set_prior(&x, mu, sd);
        x.options.attempts = 200000;
        assert_int_equal(RF(update)(x.f, &x.model, records, count, &x.options, NULL, &x.report), RF_OK);
        double mean, var, evidence, n = x.report.accepted;
        grid_moments(&x, mu, sd, records, count, &mean, &var, &evidence);
        check_within(RF(filter_mean)(x.f)[0], mean, 5 * sqrt(var / n) + 4 * EPS);
        check_within(RF(filter_covariance)(x.f, 0, 0) / (rf_real)var, 1, 5 * sqrt(3 / n) + 3 / n);
        assert_true(count == 1 ? x.report.kappa == 1 : x.report.kappa <= 1); /* a batch's κ is its largest product */
        check_within(x.report.acceptance * x.report.kappa, evidence, 5 * sqrt(evidence * (double)x.report.kappa / x.report.attempts));
    }
}

/* linear.h compiled for 1 to 8 parameters (tests/CMakeLists.txt). */
#define LINEAR_(bits, dim) rf##bits##_model_linear##dim
#define LINEAR(bits, dim) LINEAR_(bits, dim)
extern const RF(instance) LINEAR(RF_PRECISION, 1), LINEAR(RF_PRECISION, 2), LINEAR(RF_PRECISION, 3), LINEAR(RF_PRECISION, 4);
extern const RF(instance) LINEAR(RF_PRECISION, 5), LINEAR(RF_PRECISION, 6), LINEAR(RF_PRECISION, 7), LINEAR(RF_PRECISION, 8);
static const RF(instance) *const linear[] = {
    &LINEAR(RF_PRECISION, 1), &LINEAR(RF_PRECISION, 2), &LINEAR(RF_PRECISION, 3), &LINEAR(RF_PRECISION, 4),
    &LINEAR(RF_PRECISION, 5), &LINEAR(RF_PRECISION, 6), &LINEAR(RF_PRECISION, 7), &LINEAR(RF_PRECISION, 8),
};

/* Two records at once in 1 to 8 dimensions: mean and every element of the covariance. */
static void linear_matches_kalman(void **state)
{
    (void)state;
    uint64_t source = 13;
    fixture x;
    for (unsigned dim = 1; dim <= 8; dim++) {
        set_up(&x, linear[dim - 1], dim);
        double a[64], P[64] = {0}, m[8], noise = 1.5;
        rf_real mean[8], cov[64], records[2 * 10];
        for (unsigned i = 0; i < dim * dim; i++)
            a[i] = test_uniform(&source, -1, 1);
        for (unsigned i = 0; i < dim; i++)
            for (unsigned j = 0; j < dim; j++) {
                for (unsigned k = 0; k < dim; k++)
                    P[i * dim + j] += a[i * dim + k] * a[j * dim + k] + (i == j ? 0.1 / dim : 0);
                cov[i * dim + j] = (rf_real)P[i * dim + j];
            }
        for (unsigned i = 0; i < dim; i++)
            mean[i] = (rf_real)(m[i] = test_uniform(&source, -2, 2));
        assert_int_equal(RF(prior_covariance)(x.f, mean, cov), RF_OK);
        for (unsigned r = 0; r < 2; r++) {
            rf_real *h = records + r * (dim + 2);
            double y = test_uniform(&source, -1, 1), Ph[8], s = noise * noise, innovation;
            for (unsigned i = 0; i < dim; i++) {
                h[i] = (rf_real)test_uniform(&source, -1, 1);
                y += (double)h[i] * m[i];
            }
            h[dim] = (rf_real)noise;
            h[dim + 1] = (rf_real)y;
            innovation = y;
            for (unsigned i = 0; i < dim; i++) {
                Ph[i] = 0;
                for (unsigned j = 0; j < dim; j++)
                    Ph[i] += P[i * dim + j] * (double)h[j];
                s += (double)h[i] * Ph[i];
                innovation -= (double)h[i] * m[i];
            }
            for (unsigned i = 0; i < dim; i++) {
                m[i] += Ph[i] * innovation / s;
                for (unsigned j = 0; j < dim; j++)
                    P[i * dim + j] -= Ph[i] * Ph[j] / s;
            }
        }
        x.options.attempts = 200000;
        assert_int_equal(RF(update)(x.f, &x.model, records, 2, &x.options, NULL, &x.report), RF_OK);
        double n = x.report.accepted;
        assert_true(n > 10000);
        for (unsigned i = 0; i < dim; i++) {
            check_within(RF(filter_mean)(x.f)[i], m[i], 5 * sqrt(P[i * dim + i] / n));
            for (unsigned j = 0; j <= i; j++) {
                double se = sqrt((P[i * dim + i] * P[j * dim + j] + P[i * dim + j] * P[i * dim + j]) / n);
                check_within(RF(filter_covariance)(x.f, i, j), P[i * dim + j], 5 * se);
            }
        }
    }
}

/* ---- Algorithm 1, written down from its pseudo-code ---- */

typedef struct plain {
    long double mean, variance;
    uint32_t update, accepted;
} plain;

/* The attempt's draw as core/attempts.h documents it: pairs share a counter, words 0 and 1 make two
   normals rounded to 1/8192, words 2 and 3 decide. */
static void plain_update(plain *p, uint64_t seed, const fixture *x, const rf_real *record, uint32_t m, double kappa, double r)
{
    long double M = 0, S = 0;
    uint32_t N = 0;
    rf_real sd = RF(sqrt)((rf_real)p->variance);
    for (uint32_t i = 0; i < m; i++) {
        rf_words w = rf_draw(seed, p->update, i / 2, 0, RF_FOR_ATTEMPTS);
        float z[2];
        rf32_normal_pair(w.word[0], w.word[1], &z[0], &z[1]);
        rf_real on_grid = (rf_real)nearbyint((double)z[i % 2] * 8192) / 8192;
        rf_real candidate = (rf_real)p->mean + sd * on_grid;
        double likelihood = (double)x->model.likelihood(&candidate, record, record[x->model.settings]);
        if (fmin(likelihood / kappa, 1) >= (double)rf32_uniform(w.word[2 + i % 2])) {
            long double exact = (long double)(rf_real)p->mean + (long double)sd * on_grid;
            M += exact;
            S += exact * exact;
            N++;
        }
    }
    if (N >= 2) {
        p->mean = M / N;
        p->variance = (S - N * p->mean * p->mean) / (N - 1);
    } else if (N == 1) {
        p->mean = M; /* the pseudo-code divides by zero; the covariance is kept */
    } else {
        p->variance *= 1 + r;
    }
    p->accepted = N;
    p->update++;
}

static void strict_is_algorithm_1(void **state)
{
    (void)state;
    fixture x;
    unsigned seen[3] = {0};
    for (uint32_t m = 1; m <= 64; m *= 2)
        for (uint64_t seed = 0; seed < 40; seed++) {
            double kappa = seed % 3 == 0 ? 0.7 : 1;
            set_up_named(&x, "precession", seed);
            set_prior(&x, 0.8, 0.45);
            plain p = {0.8L, 0.45L * 0.45L, 0, 0};
            x.options.attempts = m;
            x.options.strict = 1;
            x.options.kappa = (rf_real)kappa;
            for (int k = 0; k < 4; k++) {
                rf_real record[] = {3, (rf_real)(0.5 + 0.1 * k), (rf_real)(k % 2)};
                p.mean = RF(filter_mean)(x.f)[0]; /* each update is compared on its own */
                p.variance = (long double)RF(filter_factor)(x.f)[0] * RF(filter_factor)(x.f)[0];
                long double v0 = p.variance;
                rf_status status = RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report);
                plain_update(&p, seed, &x, record, m, kappa, (double)x.options.recovery);
                assert_int_equal(x.report.attempts, m);
                assert_int_equal(x.report.accepted, p.accepted);
                assert_int_equal(!!(status & RF_NOTE_WIDENED), p.accepted == 0);
                assert_int_equal(!!(status & RF_NOTE_SINGLE), p.accepted == 1);
                if (status & RF_NOTE_CLAMPED)
                    continue; /* all accepted at one point of the grid: Algorithm 1's variance is zero */
                check_within(RF(filter_mean)(x.f)[0], p.mean, 8 * EPS);
                check_within(RF(filter_covariance)(x.f, 0, 0), p.variance, 64 * EPS * (double)v0);
                seen[p.accepted < 2 ? p.accepted : 2]++;
            }
        }
    assert_true(seen[0] > 20 && seen[1] > 20 && seen[2] > 200);
}

/* ---- Small numbers ---- */

/* A likelihood that accepts with certainty what lies above setting[0], and nothing else. */
static rf_real step(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    (void)outcome;
    return x[0] > setting[0] ? 1 : 0;
}

static void set_up_step(fixture *x, uint64_t seed)
{
    memset(x, 0, sizeof *x);
    x->model.likelihood = step;
    x->model.dim = 1;
    x->model.settings = 1;
    x->options = RF(options_default)();
    assert_int_equal(RF(filter_init)(&x->f, x->memory, sizeof x->memory, 1, seed), RF_OK);
}

static void none_accepted_widens(void **state)
{
    (void)state;
    fixture x;
    const rf_real record[] = {100, 1};
    for (uint32_t strict = 0; strict < 2; strict++) {
        set_up_step(&x, 1);
        x.options.strict = strict;
        x.options.recovery = RF_C(0.5);
        rf_status status = RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report);
        assert_int_equal(status, RF_NOTE_WIDENED | (strict ? 0 : RF_NOTE_SHORT));
        assert_int_equal(x.report.attempts, strict ? 100 : 2000); /* topped up to the cap first */
        check_within(RF(filter_mean)(x.f)[0], 0, 0);
        check_within(RF(filter_covariance)(x.f, 0, 0), 1.5, 4 * EPS);
        double n = x.report.attempts;
        check_within(x.report.log_evidence, log(0.5 / (n + 1)), 8 * EPS);
        assert_int_equal(RF(filter_updates)(x.f), 1);
    }
}

/* With few attempts the numbers 0, 1, 2 of accepted occur; each is handled as documented. */
static void one_and_two_accepted(void **state)
{
    (void)state;
    fixture x;
    const rf_real record[] = {1, 1};
    unsigned seen[3] = {0};
    for (uint64_t seed = 0; seed < 300; seed++)
        for (uint32_t strict = 0; strict < 2; strict++) {
            set_up_step(&x, seed);
            x.options.attempts = 6;
            x.options.batches_max = 1;
            x.options.strict = strict;
            rf_status status = RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report);
            double mean = RF(filter_mean)(x.f)[0], var = RF(filter_covariance)(x.f, 0, 0);
            uint32_t n = x.report.accepted;
            const int64_t *sums = RF(tally_z)(&x.f->tally);
            double z = (double)sums[0] / 8192, zz = (double)sums[1] / (8192.0 * 8192);
            if (n > 2)
                continue;
            seen[n]++;
            if (n == 0 || (n == 1 && !strict)) {
                assert_true(status & RF_NOTE_WIDENED);
                check_within(mean, 0, 0);
                check_within(var, 1.1, 4 * EPS);
            } else if (n == 1) {
                assert_true(status & RF_NOTE_SINGLE);
                check_within(mean, z, 4 * EPS);
                check_within(var, 1, 4 * EPS);
            } else {
                double scatter = zz - z * z / 2;
                check_within(mean, z / 2, 4 * EPS);
                check_within(var, strict ? scatter : (scatter + 1) / 2 * 1.5, 8 * EPS);
            }
        }
    assert_true(seen[0] > 30 && seen[1] > 30 && seen[2] > 30);
}

static void top_up_stops_when_enough(void **state)
{
    (void)state;
    fixture x;
    const rf_real record[] = {2, 1}; /* one in 44 is accepted */
    set_up_step(&x, 3);
    x.options.batches_max = 1000;
    assert_int_equal(RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report), RF_OK);
    assert_true(x.report.accepted >= 20 && x.report.accepted < 20 + 10);
    assert_int_equal(x.report.attempts % 100, 0);
    assert_true(x.report.attempts > 300 && x.report.attempts < 3000);
    set_up_step(&x, 3);
    x.options.batches_max = 2;
    assert_int_equal(RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report) & RF_NOTE_SHORT, RF_NOTE_SHORT);
    assert_int_equal(x.report.attempts, 200);
}

/* ---- Bounds ---- */

/* κ below the likelihood's peak: acceptance, δ̂ and the biased posterior against the grid. */
static void small_kappa_reports_delta(void **state)
{
    (void)state;
    fixture x;
    for (int k = 0; k < 12; k++) {
        double kappa = 0.1 + 0.08 * k, t = 2, ref = 0.3, mu = 0, sd = 1, over = 0, all = 0, capped = 0, total = 0, square = 0;
        set_up_named(&x, "precession", (uint64_t)k);
        x.options.attempts = 200000;
        x.options.kappa = (rf_real)kappa;
        rf_real record[] = {(rf_real)t, (rf_real)ref, 1};
        rf_status status = RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report);
        for (int i = 0; i <= 20000; i++) {
            double z = -9 + 18.0 * i / 20000, w = exp(-z * z / 2), c = cos((mu + sd * z - ref) * t / 2), p = c * c;
            over += w * fmax(0, p - kappa), all += w * p, capped += w * fmin(p / kappa, 1), total += w;
            square += w * fmax(0, p / kappa - 1) * fmax(0, p / kappa - 1);
        }
        double delta = over / all, accept = capped / total, n = x.report.accepted;
        /* δ̂ = W/(N+W), W the sum of excess weights of the accepted: its error by linearisation */
        double excess = delta / (1 - delta), sd_excess = sqrt(fmax(square / capped - excess * excess, 0) / n);
        assert_int_equal(status, RF_NOTE_ABOVE);
        check_within(x.report.acceptance, accept, 5 * sqrt(accept * (1 - accept) / x.report.attempts));
        check_within(x.report.delta, delta, 5 * sd_excess * (1 - delta) * (1 - delta) + 2e-5);
        check_within(x.report.acceptance, all / total * (1 - delta) / kappa, 5 * sqrt(accept / x.report.attempts));
        check_within(x.report.largest, 1, 1e-3);
        /* evidence carries ln κ, so it stays near the truth but for the clipped part */
        check_within(x.report.log_evidence, log(all / total * (1 - delta)), 5 * sqrt((double)x.report.log_evidence_variance) + 1e-5);
        assert_true(x.report.above > 0);
    }
}

/* From a κ ten times too small, and from one too large, the controller settles where δ̂ is small. */
static void controller_finds_kappa(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        fixture x;
        double late = 0, kappa = 0;
        set_up_named(&x, "precession", 5);
        x.options.kappa = k ? RF_C(0.1) : 1;
        x.options.attempts = 1000;
        for (int i = 0; i < 200; i++) {
            rf_real record[] = {1, RF_C(0.2), 1};
            set_prior(&x, 0, 1);
            assert_true(RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report) >= 0);
            x.options.kappa = x.report.kappa_next;
            late += i >= 100 ? (double)x.report.delta / 100 : 0;
            kappa += i >= 100 ? (double)x.report.kappa / 100 : 0;
        }
        check_within(late, 0.02, 0.02);
        check_within(kappa, 0.85, 0.1);
    }
}

/* ---- Bad likelihoods ---- */

static rf_real nan_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? RF(nan)() : RF_C(0.5); }
static rf_real negative_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? -1 : RF_C(0.5); }
static rf_real infinite_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? RF(infinity)() : RF_C(0.5); }
static rf_real zero_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? 0 : RF_C(0.5); }
static rf_real log_nan_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? RF(nan)() : RF(log)(RF_C(0.5)); }
static rf_real log_zero_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? -RF(infinity)() : RF(log)(RF_C(0.5)); }

/* Each kind is counted exactly, and the state is what a likelihood of zero there would have given. */
static void bad_likelihoods_count_as_zero(void **state)
{
    (void)state;
    RF(likelihood) *const bad[] = {nan_above, negative_above, infinite_above, log_nan_above};
    for (int k = 0; k < 4; k++) {
        fixture x, good;
        const rf_real record[] = {0, 0};
        set_up_step(&x, 9);
        set_up_step(&good, 9);
        x.model.likelihood = bad[k];
        good.model.likelihood = k < 3 ? zero_above : log_zero_above;
        x.model.is_log = good.model.is_log = k == 3;
        x.options.attempts = good.options.attempts = 5000;
        assert_int_equal(RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report), RF_NOTE_BAD);
        assert_int_equal(RF(update)(good.f, &good.model, record, 1, &good.options, NULL, &good.report), RF_OK);
        const uint32_t counts[] = {x.report.nan, x.report.negative, x.report.infinite};
        int kind = k == 3 ? 0 : k;
        for (int j = 0; j < 3; j++)
            assert_int_equal(counts[j] > 0, j == kind);
        check_within(counts[kind] / 5000.0, 0.5 * erfc(1 / sqrt(2)), 5 * sqrt(0.16 * 0.84 / 5000));
        assert_memory_equal(RF(filter_mean)(x.f), RF(filter_mean)(good.f), sizeof(rf_real));
        assert_memory_equal(RF(filter_factor)(x.f), RF(filter_factor)(good.f), sizeof(rf_real));
    }
}

static void counts_of_bad_values_saturate(void **state)
{
    (void)state;
    fixture x;
    const rf_real record[] = {0, 0};
    set_up_step(&x, 9);
    x.model.likelihood = nan_above;
    x.options.attempts = 1000000;
    assert_int_equal(RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report), RF_NOTE_BAD);
    assert_int_equal(x.report.nan, 65535);
}

static void updates_refuse(void **state)
{
    (void)state;
    fixture x;
    set_up_named(&x, "precession", 1);
    unsigned char before[sizeof x.memory];
    memcpy(before, x.memory, sizeof before);
    rf_real record[] = {1, 0, 1}, broken[] = {1, RF(nan)(), 1};
    RF(options) good = x.options, o;
#define REFUSES(expected, change, ...)                                                                                 \
    o = good, change, assert_int_equal(RF(update)(__VA_ARGS__), expected), assert_memory_equal(before, x.memory, sizeof before)
    REFUSES(RF_REFUSED_NULL, (void)0, NULL, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_NULL, (void)0, x.f, NULL, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_NULL, (void)0, x.f, &x.model, NULL, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_NULL, (void)0, x.f, &x.model, record, 1, NULL, NULL, NULL);
    REFUSES(RF_REFUSED_EVIDENCE, (void)0, x.f, &x.model, record, 0, &o, NULL, NULL);
    REFUSES(RF_REFUSED_EVIDENCE, (void)0, x.f, &x.model, broken, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.attempts = 0, x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.attempts = RF_ATTEMPTS_MAX + 1, x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.kappa = 0, x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.kappa = RF(nan)(), x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.recovery = -1, x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.hedge = RF(nan)(), x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.shrink = -1, x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.batches_max = 0, x.f, &x.model, record, 1, &o, NULL, NULL);
    x.model.dim = 2;
    REFUSES(RF_REFUSED_DIMENSION, (void)0, x.f, &x.model, record, 1, &o, NULL, NULL);
#undef REFUSES
}

static rf_status broken_run(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    (void)self, (void)task, (void)begin, (void)count;
    tally->accepted = 77;
    return RF_REFUSED_ENGINE;
}

static void failing_engine_changes_nothing(void **state)
{
    (void)state;
    fixture x;
    const RF(engine) broken = {broken_run, NULL, NULL};
    const char *const names[] = {"precession", "phase"};
    for (int k = 0; k < 2; k++) {
        set_up_named(&x, names[k], 1);
        set_prior(&x, 1, 2);
        unsigned char before[sizeof x.memory];
        memcpy(before, x.memory, sizeof before);
        rf_real record[] = {1, 0, 1};
        assert_int_equal(RF(update)(x.f, &x.model, record, 1, &x.options, &broken, &x.report), RF_REFUSED_ENGINE);
        assert_memory_equal(before, x.memory, RF(filter_bytes)(1));
    }
}

/* ---- Reproducible, in pieces and through the seam ---- */

/* An engine that splits a range into unequal pieces, runs them backwards, and adds their tallies. */
static rf_status pieces_run(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    uint32_t size = *(uint32_t *)self, done = 0, pieces = (count + size - 1) / size;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(8)];
    RF(tally) *part = (RF(tally) *)(void *)memory;
    for (uint32_t i = pieces; i-- > 0;) {
        uint32_t length = i == pieces - 1 ? count - i * size : size;
        RF(tally_clear)(part, task->model->dim, task->update);
        RF(serial).run(NULL, task, begin + i * size, length, part);
        assert_int_equal(RF(tally_add)(tally, part), RF_OK);
        done += length;
    }
    assert_int_equal(done, count);
    return RF_OK;
}

static void pieces_give_the_same_bits(void **state)
{
    (void)state;
    const char *const names[] = {"precession", "decay", "linear", "phase"};
    for (int k = 0; k < 4; k++)
        for (uint32_t size = 1; size < 200; size = size * 3 + 1) {
            fixture whole, parts;
            const RF(engine) engine = {pieces_run, &size, NULL};
            set_up_named(&whole, names[k], 7);
            set_up_named(&parts, names[k], 7);
            for (int i = 0; i < 5; i++) {
                rf_real record[RF_NAMES_MAX];
                choose_settings(whole.f, &whole.model, INSTANCE(rf_model_find(names[k]))->about, record);
                record[whole.model.settings] = 1;
                RF(update)(whole.f, &whole.model, record, 1, &whole.options, NULL, &whole.report);
                RF(update)(parts.f, &parts.model, record, 1, &parts.options, &engine, &parts.report);
                size_t triangle = RF_TRIANGLE(whole.model.dim);
                size_t sums = 8 + sizeof(RF(tally)) + 8 * (whole.model.dim + triangle);
                assert_memory_equal(whole.memory, parts.memory, sums); /* seed, tally and its sums */
                assert_memory_equal(RF(filter_mean)(whole.f), RF(filter_mean)(parts.f), (whole.model.dim + triangle) * sizeof(rf_real));
                assert_memory_equal(&whole.report, &parts.report, sizeof whole.report);
            }
        }
}

static void tallies_of_different_updates_do_not_add(void **state)
{
    (void)state;
    RF_ALIGNED unsigned char a[FILTER_BYTES(2)], b[FILTER_BYTES(2)];
    RF(tally_clear)((RF(tally) *)(void *)a, 1, 3);
    RF(tally_clear)((RF(tally) *)(void *)b, 1, 4);
    assert_int_equal(RF(tally_add)((RF(tally) *)(void *)a, (RF(tally) *)(void *)b), RF_REFUSED_TALLY);
    RF(tally_clear)((RF(tally) *)(void *)b, 2, 3);
    assert_int_equal(RF(tally_add)((RF(tally) *)(void *)a, (RF(tally) *)(void *)b), RF_REFUSED_TALLY);
}

/* The same likelihood as probability and as logarithm accepts the same attempts, but for rounding. */
static rf_real gauss(const rf_real x[], const rf_real s[], rf_real y) { rf_real r = (y - x[0]) / s[0]; return RF(exp)(RF_C(-0.5) * r * r); }
static rf_real log_gauss(const rf_real x[], const rf_real s[], rf_real y) { rf_real r = (y - x[0]) / s[0]; return RF_C(-0.5) * r * r; }

static void logarithms_agree(void **state)
{
    (void)state;
    fixture a, b;
    rf_real records[40];
    for (int i = 0; i < 20; i++)
        records[2 * i] = 2, records[2 * i + 1] = RF_C(0.3) * (rf_real)(i % 5);
    set_up_step(&a, 21);
    set_up_step(&b, 21);
    a.model.likelihood = gauss;
    b.model.likelihood = log_gauss;
    b.model.is_log = 1;
    a.options.attempts = b.options.attempts = 20000;
    assert_int_equal(RF(update)(a.f, &a.model, records, 20, &a.options, NULL, &a.report), RF_OK);
    assert_int_equal(RF(update)(b.f, &b.model, records, 20, &b.options, NULL, &b.report), RF_OK);
    check_within(a.report.accepted, b.report.accepted, 2);
    check_within(RF(filter_mean)(a.f)[0], RF(filter_mean)(b.f)[0], 1e-3);
    double precision = 1 + 20 / 4.0, expected = 0.6 * 5 / precision; /* conjugate */
    check_within(RF(filter_mean)(a.f)[0], expected, 5 * sqrt(1 / precision / a.report.accepted));
}

/* ---- Precision ---- */

/* Whitened sums: the new variance does not care how far the mean is from zero. The reference uses
   the accepted draws themselves, recomputed in long double. */
static void variance_is_exact_far_from_zero(void **state)
{
    (void)state;
    fixture x;
    const double far[] = {0, 1, 1e2, 1e4, 1e6, 1e8, 1e9};
    for (size_t k = 0; k < sizeof far / sizeof far[0]; k++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            set_up_step(&x, seed);
            x.model.likelihood = zero_above; /* half of what lies below 1: everything, once the mean is far below */
            x.options.strict = 1;
            double sd = 0.01;
            set_prior(&x, -far[k] * sd, sd);
            const rf_real record[] = {0, 0};
            rf_real l = RF(filter_factor)(x.f)[0];
            assert_int_equal(RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report), RF_OK);
            long double M = 0, S = 0, N = 0;
            for (uint32_t i = 0; i < 100; i++) {
                rf_words w = rf_draw(seed, 0, i / 2, 0, RF_FOR_ATTEMPTS);
                float z[2];
                rf32_normal_pair(w.word[0], w.word[1], &z[0], &z[1]);
                if (rf32_uniform(w.word[2 + i % 2]) > 0.5f)
                    continue;
                long double q = nearbyintl((long double)z[i % 2] * 8192) / 8192;
                M += q, S += q * q, N++;
            }
            assert_int_equal(x.report.accepted, (int)N);
            double expected = (double)((S - M * M / N) / (N - 1) * (long double)l * (long double)l);
            check_within(RF(filter_covariance)(x.f, 0, 0) / (rf_real)expected, 1, RF_PRECISION == 32 ? 1e-6 : 1e-14);
        }
}

/* ---- Charts in updates ---- */

/* A uniform prior on a coin: the posterior after h heads in n is Beta(h + 1, n − h + 1). One batch
   update has no projection in between, so the moments of Φ⁻¹(p) under the Beta are exact. */
static void uniform_prior_is_exact(void **state)
{
    (void)state;
    fixture x;
    set_up_named(&x, "coin", 17);
    const rf_real low = 0, high = 1, records[] = {1, 1, 0, 1};
    assert_int_equal(RF(prior_box)(x.f, &x.model, &low, &high), RF_OK);
    x.options.attempts = 400000;
    assert_int_equal(RF(update)(x.f, &x.model, records, 4, &x.options, NULL, &x.report), RF_OK);
    double mean, var, evidence, n = x.report.accepted;
    grid_moments(&x, 0, 1, records, 4, &mean, &var, &evidence);
    check_within(x.report.acceptance * x.report.kappa, 1.0 / 20, 5 * sqrt(0.05 / 400000)); /* B(4, 2) = 1/20 */
    check_within(x.report.kappa, 27.0 / 256, 1e-3); /* p³(1 − p) at its largest */
    check_within(evidence, 1.0 / 20, 1e-6);
    check_within(RF(filter_mean)(x.f)[0], mean, 5 * sqrt(var / n));
    check_within(RF(filter_covariance)(x.f, 0, 0), var, 5 * var * sqrt(3 / n));
}

/* A phase whose truth sits at the wrap, from a prior that covers the whole circle. */
static void phase_at_the_wrap(void **state)
{
    (void)state;
    fixture x;
    const double pi = 3.14159265358979323846;
    const double truths[] = {0, 1e-3, 2 * 3.14159265358979323846 - 1e-3, 1, 3.14159265358979323846, 5};
    for (size_t k = 0; k < sizeof truths / sizeof truths[0]; k++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            set_up_named(&x, "phase", seed * 10 + k);
            const rf_real low = 0, high = (rf_real)(2 * pi);
            assert_int_equal(RF(prior_box)(x.f, &x.model, &low, &high), RF_OK);
            x.options.attempts = 20000;
            /* forty shots at four references: the posterior is narrow and known from the counts */
            double grid_s = 0, grid_c = 0, best = -1e300;
            rf_real records[3 * 40];
            for (int i = 0; i < 40; i++) {
                double ref = (i % 4) * pi / 2, p1 = 0.5 + 0.5 * cos(truths[k] - ref);
                records[3 * i] = 1, records[3 * i + 1] = (rf_real)ref;
                records[3 * i + 2] = (i / 4) + 0.5 < 10 * p1 ? 1 : 0; /* as often as expected */
            }
            for (int i = 0; i < 10; i++) {
                rf_real four[12];
                memcpy(four, records + 12 * i, sizeof four);
                assert_true(RF(update)(x.f, &x.model, four, 4, &x.options, NULL, &x.report) >= 0);
                assert_true(RF(filter_mean)(x.f)[0] >= 0 && RF(filter_mean)(x.f)[0] < high);
            }
            double width = 0;
            for (int pass = 0; pass < 2; pass++)
                for (int i = 0; i < 4000; i++) {
                    double phi = 2 * pi * i / 4000, l = 0;
                    for (int r = 0; r < 40; r++) {
                        double p1 = 0.5 + 0.5 * cos(phi - (double)records[3 * r + 1]);
                        l += log(fmax(records[3 * r + 2] != 0 ? p1 : 1 - p1, 1e-300));
                    }
                    if (pass == 0)
                        best = fmax(best, l);
                    else
                        grid_s += exp(l - best) * sin(phi), grid_c += exp(l - best) * cos(phi), width += exp(l - best);
                }
            double mean = atan2(grid_s, grid_c), sd = sqrt(-2 * log(hypot(grid_s, grid_c) / width));
            double off = RF(filter_mean)(x.f)[0] - mean;
            off -= 2 * pi * floor(off / (2 * pi) + 0.5);
            check_within(off, 0, 0.5 * sd); /* ten Gaussian projections cost some; a wrong side of the circle costs π */
            check_within(RF(filter_sd)(x.f, 0) / (rf_real)sd, 1, 0.35);
        }
}

/* One update from a flat circle: the wrapped posterior 1 + cos is known in closed form. */
static void flat_circle_first_update(void **state)
{
    (void)state;
    fixture x;
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < 16; k++) {
        double ref = 2 * pi * k / 16;
        set_up_named(&x, "phase", (uint64_t)k);
        const rf_real low = 0, high = (rf_real)(2 * pi), record[] = {1, (rf_real)ref, 1};
        assert_int_equal(RF(prior_box)(x.f, &x.model, &low, &high), RF_OK);
        x.options.attempts = 100000;
        assert_int_equal(RF(update)(x.f, &x.model, record, 1, &x.options, NULL, &x.report), RF_OK);
        check_within(x.report.acceptance, 0.5, 5 * sqrt(0.25 / 100000));
        double mean = RF(filter_mean)(x.f)[0], distance;
        /* the cut is opposite or at the prior mean π, so the density is 1 + cos on an interval that
           starts at 0 or π: exact moments there */
        double best = 1e9, m = 0;
        for (int cut = 0; cut < 2; cut++) {
            double w = 0, wy = 0, wyy = 0;
            for (int i = 0; i < 20000; i++) {
                double y = (cut ? pi : 0) + 2 * pi * (i + 0.5) / 20000, p = 1 + cos(y - ref);
                w += p, wy += p * y, wyy += p * y * y;
            }
            double var = wyy / w - wy / w * wy / w;
            if (var < best - 1e-9)
                best = var, m = wy / w;
        }
        distance = mean - m;
        distance -= 2 * pi * floor(distance / (2 * pi) + 0.5);
        double n = x.report.accepted;
        if (k % 8 != 4) /* at these two both cuts are as good */
            check_within(distance, 0, 5 * sqrt(best / n) + 1e-3);
        check_within(RF(filter_covariance)(x.f, 0, 0) / (rf_real)best, 1, 5 * sqrt(3 / n) + 1e-3);
    }
}

static void evidence_register_keeps_its_digits(void **state)
{
    (void)state;
    RF(evidence) e = {0, 0, 0, 0};
    RF(report) r = {0};
    r.log_evidence = RF_C(-0.1);
    r.log_evidence_variance = RF_C(0.3);
    for (int i = 0; i < 1000000; i++)
        RF(evidence_add)(&e, &r);
    double exact = 1000000 * (double)RF_C(-0.1);
    check_within((double)e.log + (double)e.carry, exact, EPS * 1e5); /* 2ε of the sum */
    check_within((double)e.variance + (double)e.variance_carry, 1000000 * (double)RF_C(0.3), EPS * 3e5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precession_matches_closed_form),
        cmocka_unit_test(models_match_grid),
        cmocka_unit_test(linear_matches_kalman),
        cmocka_unit_test(strict_is_algorithm_1),
        cmocka_unit_test(none_accepted_widens),
        cmocka_unit_test(one_and_two_accepted),
        cmocka_unit_test(top_up_stops_when_enough),
        cmocka_unit_test(small_kappa_reports_delta),
        cmocka_unit_test(controller_finds_kappa),
        cmocka_unit_test(bad_likelihoods_count_as_zero),
        cmocka_unit_test(counts_of_bad_values_saturate),
        cmocka_unit_test(updates_refuse),
        cmocka_unit_test(failing_engine_changes_nothing),
        cmocka_unit_test(pieces_give_the_same_bits),
        cmocka_unit_test(tallies_of_different_updates_do_not_add),
        cmocka_unit_test(logarithms_agree),
        cmocka_unit_test(variance_is_exact_far_from_zero),
        cmocka_unit_test(uniform_prior_is_exact),
        cmocka_unit_test(phase_at_the_wrap),
        cmocka_unit_test(flat_circle_first_update),
        cmocka_unit_test(evidence_register_keeps_its_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
