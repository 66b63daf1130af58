/* The Kalman filter compared with the joint Gaussian of all states and observations, and with scalar filters. */
#include "testing.h"

#include <math.h>

#include "kalman.h"

enum { D = 4, STEPS = 12 };

/* Solves a·x = b of n equations, a symmetric and positive; returns ln det a. */
static double solve(long double *a, long double *b, int n, int columns)
{
    long double log_det = 0;
    for (int j = 0; j < n; j++) {
        log_det += logl(a[j * n + j]);
        for (int i = j + 1; i < n; i++) {
            long double f = a[i * n + j] / a[j * n + j];
            for (int k = j; k < n; k++)
                a[i * n + k] -= f * a[j * n + k];
            for (int c = 0; c < columns; c++)
                b[i * columns + c] -= f * b[j * columns + c];
        }
    }
    for (int j = n; j-- > 0;)
        for (int c = 0; c < columns; c++) {
            for (int k = j + 1; k < n; k++)
                b[j * columns + c] -= a[j * n + k] * b[k * columns + c];
            b[j * columns + c] /= a[j * n + j];
        }
    return (double)log_det;
}

/* States that move by x ← F·x + noise of covariance Q; each is then observed: y = h·x + noise of variance r. */
typedef struct world {
    double F[D * D], Q[D * D], P0[D * D], mean0[D], h[STEPS][D], r[STEPS], y[STEPS];
} world;

static void make_world(world *w, int has_noise_of_rank_one, uint64_t *random)
{
    double root[D * D];
    for (int i = 0; i < D * D; i++) {
        w->F[i] = (i % (D + 1) == 0) + test_uniform(random, -0.3, 0.3);
        root[i] = test_uniform(random, -1, 1);
    }
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            w->P0[i * D + j] = i == j ? 0.1 : 0;
            for (int k = 0; k < D; k++)
                w->P0[i * D + j] += root[i * D + k] * root[j * D + k];
            w->Q[i * D + j] = has_noise_of_rank_one ? 0.05 * root[i * D] * root[j * D] : 0.1 * w->P0[i * D + j];
        }
    for (int i = 0; i < D; i++)
        w->mean0[i] = test_uniform(random, -1, 1);
    for (int s = 0; s < STEPS; s++) {
        for (int i = 0; i < D; i++)
            w->h[s][i] = test_uniform(random, -1, 1);
        w->r[s] = pow(10, test_uniform(random, -3, 1));
        w->y[s] = test_uniform(random, -2, 2);
    }
}

/* The states without observations, beginning with the prior's: means, and covariances of each state with the earlier
   ones. */
typedef struct states {
    long double mean[STEPS + 1][D], cov[STEPS + 1][STEPS + 1][D * D];
} states;

/* F·a, or F·aᵀ */
static void apply(const double F[], const long double a[], int is_transposed, long double out[])
{
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            out[i * D + j] = 0;
            for (int k = 0; k < D; k++)
                out[i * D + j] += F[i * D + k] * (is_transposed ? a[j * D + k] : a[k * D + j]);
        }
}

static void move_states(const world *w, states *x)
{
    for (int i = 0; i < D * D; i++)
        x->cov[0][0][i] = w->P0[i];
    for (int i = 0; i < D; i++)
        x->mean[0][i] = w->mean0[i];
    for (int s = 1; s <= STEPS; s++) {
        for (int i = 0; i < D; i++) {
            x->mean[s][i] = 0;
            for (int j = 0; j < D; j++)
                x->mean[s][i] += w->F[i * D + j] * x->mean[s - 1][j];
        }
        for (int e = 0; e < s; e++) /* Cov(x_s, x_e) = F·Cov(x_(s−1), x_e) */
            apply(w->F, x->cov[s - 1][e], 0, x->cov[s][e]);
        apply(w->F, x->cov[s][s - 1], 1, x->cov[s][s]);
        for (int i = 0; i < D * D; i++)
            x->cov[s][s][i] += w->Q[i];
    }
}

/* All observations: covariance K, differences from their means, and covariance with the last state. `solution` is
   K⁻¹ times these two, with the differences in its last column. */
typedef struct observations {
    long double K[STEPS * STEPS], residual[STEPS], with_last[STEPS][D], solution[STEPS * (D + 1)];
    double log_det;
} observations;

static void observe(const world *w, const states *x, observations *o)
{
    for (int s = 0; s < STEPS; s++) { /* observation of state s + 1 */
        o->residual[s] = w->y[s];
        for (int i = 0; i < D; i++)
            o->residual[s] -= w->h[s][i] * x->mean[s + 1][i];
        for (int e = 0; e <= s; e++) {
            long double sum = s == e ? w->r[s] : 0;
            for (int i = 0; i < D; i++)
                for (int j = 0; j < D; j++)
                    sum += w->h[s][i] * x->cov[s + 1][e + 1][i * D + j] * w->h[e][j];
            o->K[s * STEPS + e] = o->K[e * STEPS + s] = sum;
        }
        for (int i = 0; i < D; i++) {
            o->with_last[s][i] = 0;
            for (int j = 0; j < D; j++)
                o->with_last[s][i] += x->cov[STEPS][s + 1][i * D + j] * w->h[s][j];
            o->solution[s * (D + 1) + i] = o->with_last[s][i];
        }
        o->solution[s * (D + 1) + D] = o->residual[s];
    }
    o->log_det = solve(o->K, o->solution, STEPS, D + 1);
}

static void check_last_state(const kalman *k, const states *x, const observations *o)
{
    for (int i = 0; i < D; i++) {
        long double mean = x->mean[STEPS][i];
        for (int s = 0; s < STEPS; s++)
            mean += o->with_last[s][i] * o->solution[s * (D + 1) + D];
        check_within(k->mean[i], mean, 1e-9);
        for (int j = 0; j < D; j++) {
            long double c = x->cov[STEPS][STEPS][i * D + j];
            for (int s = 0; s < STEPS; s++)
                c -= o->with_last[s][i] * o->solution[s * (D + 1) + j];
            check_within(kalman_covariance(k, (unsigned)i, (unsigned)j), c, 1e-9);
        }
    }
}

/* States and observations are jointly Gaussian: the posterior of the last state and the density of all observations
   follow from one large covariance, without recursion. */
static void kalman_agrees_with_the_joint_gaussian(void **state)
{
    static world w;
    static states x;
    static observations o;
    uint64_t random = 3;
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        make_world(&w, trial % 3 == 0, &random);
        move_states(&w, &x);
        observe(&w, &x, &o);
        kalman k;
        double sum = 0, log_p = -0.5 * (STEPS * log(2 * PI) + o.log_det);
        assert_int_equal(kalman_init(&k, D, w.mean0, w.P0), 0);
        for (int s = 0; s < STEPS; s++) {
            assert_int_equal(kalman_predict(&k, w.F, w.Q), 0);
            sum += kalman_update(&k, w.h[s], w.r[s], w.y[s]);
            log_p -= 0.5 * (double)(o.residual[s] * o.solution[s * (D + 1) + D]);
        }
        check_within(k.log_evidence, sum, 1e-12);
        check_within(sum, log_p, 1e-9 * fabs(log_p));
        check_last_state(&k, &x, &o);
    }
}

/* Along the orthogonal columns of R everything is scalar, so scalar filters give the answer. The covariance has
   condition number 1e10, and its axes are not along coordinates. 1e5 steps. */
static void kalman_stays_positive_definite(void **state)
{
    enum { N = 6 };
    double R[N][N], Q[N * N] = {0}, P0[N * N] = {0}, mean[N] = {0}, scale[N];
    long double variance[N];
    kalman k;
    (void)state;
    for (int i = 0; i < N; i++) { /* a reflection: I − 2vvᵀ/v·v with v = 1, 2, ... N */
        for (int j = 0; j < N; j++)
            R[i][j] = (i == j) - 2.0 * (i + 1) * (j + 1) / (N * (N + 1) * (2 * N + 1) / 6);
        scale[i] = pow(10, -10.0 * i / (N - 1));
        variance[i] = scale[i];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int a = 0; a < N; a++) {
                P0[i * N + j] += R[i][a] * R[j][a] * scale[a];
                Q[i * N + j] += R[i][a] * R[j][a] * scale[a] * 0.01;
            }
    assert_int_equal(kalman_init(&k, N, mean, P0), 0);
    for (int step = 0; step < 100000; step++) {
        int a = step % N;
        assert_int_equal(kalman_predict(&k, NULL, Q), 0);
        assert_true(!isnan(kalman_update(&k, R[a], scale[a] * 0.3, 0.001)));
        for (int i = 0; i < N; i++)
            variance[i] += 0.01L * scale[i];
        variance[a] = variance[a] * (0.3L * scale[a]) / (variance[a] + 0.3L * scale[a]);
    }
    for (int a = 0; a < N; a++) { /* Q itself is rounded to 1e-16 of its largest element: 1e-6 of the smallest */
        double along = 0;
        for (int c = 0; c < N; c++) {
            double f = 0;
            for (int i = 0; i < N; i++)
                f += k.root[i * N + c] * R[i][a];
            along += f * f;
        }
        check_within(along / (double)variance[a], 1, 1e-5);
    }
    long double L[N][N] = {{0}}; /* and the covariance matrix has a factor */
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j <= i; j++) {
            long double left = kalman_covariance(&k, i, j);
            assert_true(kalman_covariance(&k, i, j) == kalman_covariance(&k, j, i));
            for (unsigned c = 0; c < j; c++)
                left -= L[i][c] * L[j][c];
            if (i == j)
                assert_true(left > 0);
            L[i][j] = i == j ? sqrtl(left) : left / L[j][j];
        }
}

static void kalman_refusals(void **state)
{
    kalman k, before;
    double mean[2] = {0, 0}, bad[4] = {1, 2, 2, 1}, fine[4] = {1, 0, 0, 0}, h[2] = {0, 1}, e[2] = {1, 1},
           wrong[4] = {NAN, 0, 0, 1};
    (void)state;
    assert_int_equal(kalman_init(&k, 0, mean, fine), -1);
    assert_int_equal(kalman_init(&k, KALMAN_DIM_MAX + 1, mean, fine), -1);
    assert_int_equal(kalman_init(&k, 2, mean, bad), -1);
    assert_int_equal(kalman_init(&k, 2, mean, fine), 0);
    before = k;
    assert_true(isnan(kalman_update(&k, h, 0, 1))); /* already certain */
    assert_true(isnan(kalman_update(&k, e, -1, 1)));
    assert_int_equal(kalman_predict(&k, wrong, NULL), -1);
    assert_int_equal(kalman_predict(&k, NULL, bad), -1);
    assert_memory_equal(&k, &before, sizeof k);
    check_within(kalman_update(&k, e, 0, 0.7), -0.5 * (log(2 * PI) + 0.49), 1e-14); /* without noise */
    check_within(k.mean[0], 0.7, 1e-14);
    check_within(kalman_covariance(&k, 0, 0), 0, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kalman_agrees_with_the_joint_gaussian),
        cmocka_unit_test(kalman_stays_positive_definite),
        cmocka_unit_test(kalman_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
