#include "sums.h"

#include <math.h>
#include <string.h>

#include "random.h"

enum { DIM = SUMS_DIM_MAX, TRIANGLE = DIM * (DIM + 1) / 2 };
static unsigned at(unsigned i, unsigned j) { return i * (i + 1) / 2 + j; } /* index in a triangle by rows, i >= j */

/* Rounds x to `bits` bits (Veltkamp). Up to 26 bits, a sum or product of such numbers is exact enough in double that
   rounding it here is one rounding. */
static double held(double x, unsigned bits)
{
    if (bits >= SUMS_DOUBLE || x == 0)
        return x;
    const double c = x * (ldexp(1, (int)(SUMS_DOUBLE - bits)) + 1);
    return c - (c - x);
}

/* ---- Priors ---- */

/* Replaces c by its Cholesky factor. Returns -1 if c is not positive definite. */
static int factorise(long double c[TRIANGLE], unsigned dim)
{
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++) {
            long double sum = c[at(i, j)];
            for (unsigned k = 0; k < j; k++)
                sum -= c[at(i, k)] * c[at(j, k)];
            if (i == j && !(sum > 0))
                return -1;
            c[at(i, j)] = i == j ? sqrtl(sum) : sum / c[at(j, j)];
        }
    return 0;
}

sums_prior sums_prior_make(unsigned dim, double condition, double far, uint64_t seed)
{
    const double unit = 1 + random_uniform(seed, DIM * DIM); /* else means and draws are round numbers, and rounding is not random */
    sums_prior p = {.dim = dim};
    long double q[DIM][DIM], c[TRIANGLE] = {0};
    for (unsigned a = 0; a < dim; a++) { /* orthogonal axes */
        long double squares = 0;
        for (unsigned i = 0; i < dim; i++)
            q[a][i] = random_normal(seed, a * DIM + i);
        for (unsigned b = 0; b < a; b++) {
            long double along = 0;
            for (unsigned i = 0; i < dim; i++)
                along += q[a][i] * q[b][i];
            for (unsigned i = 0; i < dim; i++)
                q[a][i] -= along * q[b][i];
        }
        for (unsigned i = 0; i < dim; i++)
            squares += q[a][i] * q[a][i];
        for (unsigned i = 0; i < dim; i++)
            q[a][i] /= sqrtl(squares);
    }
    for (unsigned a = 0; a < dim; a++) {
        const long double variance = dim > 1 ? powl(condition, -(long double)a / (dim - 1)) : 1;
        for (unsigned i = 0; i < dim; i++)
            for (unsigned j = 0; j <= i; j++)
                c[at(i, j)] += variance * q[a][i] * q[a][j];
    }
    factorise(c, dim);
    for (unsigned i = 0; i < dim; i++)
        p.mean[i] = far * unit;
    for (unsigned i = 0; i < TRIANGLE; i++)
        p.factor[i] = (double)c[i] * unit;
    return p;
}

/* ---- Draws ---- */

/* The library's draw number `attempt`, standard normal (see attempts.h). */
static void draw(uint64_t seed, uint32_t attempt, unsigned dim, double z[DIM])
{
    for (unsigned i = 0; i < dim; i++) {
        rf_words w = rf_draw(seed, 0, attempt / 2, i / 2, RF_FOR_ATTEMPTS);
        float pair[2];
        rf32_normal_pair(w.word[2 * (i % 2)], w.word[2 * (i % 2) + 1], &pair[0], &pair[1]);
        z[i] = nearbyint((double)pair[attempt % 2] * 8192) / 8192;
    }
}

/* The covariance of the draws, in long double. */
static void reference(uint64_t seed, uint32_t draws, unsigned dim, long double c[TRIANGLE])
{
    long double mean[DIM] = {0};
    double z[DIM];
    memset(c, 0, TRIANGLE * sizeof *c);
    for (uint32_t k = 0; k < draws; k++) {
        draw(seed, k, dim, z);
        for (unsigned i = 0; i < dim; i++) {
            mean[i] += z[i];
            for (unsigned j = 0; j <= i; j++)
                c[at(i, j)] += (long double)z[i] * z[j];
        }
    }
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++)
            c[at(i, j)] = (c[at(i, j)] - mean[i] * mean[j] / draws) / (draws - 1);
}

/* ---- Ways ---- */

/* The covariance from sums of x and xxᵀ, or from distances to a running mean. */
static void add_up(const sums_prior *p, sums_way way, unsigned bits, uint32_t draws, uint64_t seed, long double c[TRIANGLE])
{
    double first[DIM] = {0}, second[TRIANGLE] = {0}, z[DIM], x[DIM], from[DIM];
    for (uint32_t k = 0; k < draws; k++) {
        draw(seed, k, p->dim, z);
        for (unsigned i = 0; i < p->dim; i++) {
            double move = 0;
            for (unsigned j = 0; j <= i; j++)
                move = held(move + held(held(p->factor[at(i, j)], bits) * z[j], bits), bits);
            x[i] = held(held(p->mean[i], bits) + move, bits);
            from[i] = held(x[i] - first[i], bits);
        }
        for (unsigned i = 0; i < p->dim; i++)
            first[i] = held(first[i] + (way == SUMS_RAW ? x[i] : held(from[i] / (k + 1), bits)), bits);
        for (unsigned i = 0; i < p->dim; i++)
            for (unsigned j = 0; j <= i; j++) {
                const double square = way == SUMS_RAW ? x[i] * x[j] : from[i] * held(x[j] - first[j], bits);
                second[at(i, j)] = held(second[at(i, j)] + held(square, bits), bits);
            }
    }
    for (unsigned i = 0; i < p->dim; i++)
        for (unsigned j = 0; j <= i; j++) {
            double square = 0;
            if (way == SUMS_RAW) /* N μ μᵀ, as in Algorithm 1 */
                square = held(held(held(first[i] / draws, bits) * held(first[j] / draws, bits), bits) * draws, bits);
            c[at(i, j)] = held(held(second[at(i, j)] - square, bits) / (draws - 1), bits);
        }
}

static double likely(const double x[], const double setting[], double outcome) { return (void)x, (void)setting, (void)outcome, 1; }
static float likely32(const float x[], const float setting[], float outcome) { return (void)x, (void)setting, (void)outcome, 1; }

/* The new factor, computed by the library. */
static void update64(const sums_prior *p, uint32_t draws, uint64_t seed, long double factor[TRIANGLE])
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(DIM)];
    const rf64_model model = {.likelihood = likely, .dim = (uint16_t)p->dim};
    rf64_options options = rf64_options_default();
    rf64_filter *filter;
    const double outcome = 0;
    options.strict = 1;
    options.attempts = draws;
    rf64_filter_init(&filter, memory, sizeof memory, p->dim, seed);
    rf64_filter_restore(filter, seed, 0, p->mean, p->factor, 0);
    rf64_update(filter, &model, &outcome, 1, &options, NULL, NULL);
    for (unsigned i = 0; i < RF_TRIANGLE(p->dim); i++)
        factor[i] = rf64_filter_factor(filter)[i];
}

static void update32(const sums_prior *p, uint32_t draws, uint64_t seed, long double factor[TRIANGLE])
{
    RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(DIM)];
    const rf32_model model = {.likelihood = likely32, .dim = (uint16_t)p->dim};
    rf32_options options = rf32_options_default();
    rf32_filter *filter;
    float mean[DIM], own[TRIANGLE];
    const float outcome = 0;
    for (unsigned i = 0; i < p->dim; i++)
        mean[i] = (float)p->mean[i];
    for (unsigned i = 0; i < RF_TRIANGLE(p->dim); i++)
        own[i] = (float)p->factor[i];
    options.strict = 1;
    options.attempts = draws;
    rf32_filter_init(&filter, memory, sizeof memory, p->dim, seed);
    rf32_filter_restore(filter, seed, 0, mean, own, 0);
    rf32_update(filter, &model, &outcome, 1, &options, NULL, NULL);
    for (unsigned i = 0; i < RF_TRIANGLE(p->dim); i++)
        factor[i] = rf32_filter_factor(filter)[i];
}

/* ---- Errors ---- */

/* Copies column k of a lower triangle, or with `whole` of a symmetric matrix, to v. solve: v ← L⁻¹v. */
static void column(const long double m[TRIANGLE], unsigned dim, unsigned k, int whole, long double v[DIM])
{
    for (unsigned i = 0; i < dim; i++)
        v[i] = i >= k ? m[at(i, k)] : whole ? m[at(k, i)] : 0;
}

static void solve(const sums_prior *p, unsigned bits, long double v[DIM])
{
    for (unsigned i = 0; i < p->dim; i++) {
        for (unsigned j = 0; j < i; j++)
            v[i] -= held(p->factor[at(i, j)], bits) * v[j];
        v[i] /= held(p->factor[at(i, i)], bits);
    }
}

/* L⁻¹CL⁻ᵀ of a covariance C, or L⁻¹F(L⁻¹F)ᵀ of its factor F. */
static void whiten(const sums_prior *p, unsigned bits, const long double from[TRIANGLE], int is_factor, long double to[TRIANGLE])
{
    long double a[DIM][DIM], v[DIM];
    const unsigned dim = p->dim;
    for (unsigned k = 0; k < dim; k++) {
        column(from, dim, k, !is_factor, v);
        solve(p, bits, v);
        for (unsigned i = 0; i < dim; i++)
            a[i][k] = v[i];
    }
    for (unsigned i = 0; i < dim; i++) {
        if (!is_factor)
            solve(p, bits, a[i]); /* row i: the multiplication from the right */
        for (unsigned j = 0; j <= i; j++) {
            to[at(i, j)] = is_factor ? 0 : a[i][j];
            for (unsigned k = 0; k < dim && is_factor; k++)
                to[at(i, j)] += a[i][k] * a[j][k];
        }
    }
}

sums_error sums_try(const sums_prior *prior, sums_way way, unsigned bits, uint32_t draws, uint64_t seed)
{
    long double exact[TRIANGLE], found[TRIANGLE] = {0}, own[TRIANGLE];
    sums_error e = {0, 0};
    reference(seed, draws, prior->dim, exact);
    if (way == SUMS_WHITENED)
        (bits == SUMS_FLOAT ? update32 : update64)(prior, draws, seed, found);
    else
        add_up(prior, way, bits, draws, seed, found);
    whiten(prior, bits, found, way == SUMS_WHITENED, own);
    for (unsigned i = 0; i < RF_TRIANGLE(prior->dim); i++)
        e.error = fmax(e.error, (double)fabsl(own[i] - exact[i]));
    if (way == SUMS_WHITENED)
        for (unsigned i = 0; i < prior->dim; i++)
            e.is_lost |= !(found[at(i, i)] > 0);
    else
        e.is_lost = factorise(found, prior->dim) < 0;
    return e;
}
