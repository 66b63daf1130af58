#include "kalman.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SQUARE = KALMAN_DIM_MAX * KALMAN_DIM_MAX };

static int all_finite(const double *x, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

/* Lower-triangular L with L·Lᵀ = a. `a` may be singular; returns -1 if it has a negative eigenvalue beyond rounding.
   Only the lower half of `a` is read. */
static int factor(const double *a, unsigned dim, double *L)
{
    memset(L, 0, dim * dim * sizeof *L);
    for (unsigned j = 0; j < dim; j++) {
        double left = a[j * dim + j], noise = 8 * dim * DBL_EPSILON * fabs(left);
        for (unsigned k = 0; k < j; k++)
            left -= L[j * dim + k] * L[j * dim + k];
        if (left < -noise)
            return -1;
        L[j * dim + j] = left > noise ? sqrt(left) : 0;
        for (unsigned i = j + 1; i < dim; i++) {
            double cross = a[i * dim + j];
            for (unsigned k = 0; k < j; k++)
                cross -= L[i * dim + k] * L[j * dim + k];
            if (L[j * dim + j] > 0)
                L[i * dim + j] = cross / L[j * dim + j];
            else if (fabs(cross) > 64 * dim * sqrt(DBL_EPSILON * fabs(a[i * dim + i]) * fabs(a[j * dim + j])))
                return -1; /* correlated with a component without variance */
        }
    }
    return 0;
}

int kalman_init(kalman *k, unsigned dim, const double mean[], const double covariance[])
{
    double L[SQUARE];
    if (dim < 1 || dim > KALMAN_DIM_MAX || !all_finite(mean, dim) || !all_finite(covariance, dim * dim) ||
        factor(covariance, dim, L) < 0)
        return -1;
    memset(k, 0, sizeof *k);
    k->dim = dim;
    memcpy(k->mean, mean, dim * sizeof *mean);
    memcpy(k->root, L, dim * dim * sizeof *L);
    return 0;
}

/* Householder reflections from the right make a dim × columns matrix lower-triangular in its first dim columns and
   zero in the others. */
static void triangularise(double *a, unsigned dim, unsigned columns)
{
    for (unsigned j = 0; j < dim; j++) {
        double *row = a + j * columns, norm = 0, size = 0;
        for (unsigned c = j; c < columns; c++)
            size = fabs(row[c]) > size ? fabs(row[c]) : size;
        if (size == 0)
            continue;
        for (unsigned c = j; c < columns; c++)
            norm += row[c] / size * (row[c] / size);
        norm = row[j] > 0 ? -size * sqrt(norm) : size * sqrt(norm);
        /* v = row − norm·e_j; each row b becomes b − v (v·b) / (norm² − norm·row_j) */
        double v[2 * KALMAN_DIM_MAX], scale = norm * (norm - row[j]);
        for (unsigned c = j; c < columns; c++)
            v[c] = row[c];
        v[j] -= norm;
        for (unsigned i = j; i < dim; i++) {
            double *b = a + i * columns, dot = 0;
            for (unsigned c = j; c < columns; c++)
                dot += v[c] / scale * b[c];
            for (unsigned c = j; c < columns; c++)
                b[c] -= v[c] * dot;
        }
        for (unsigned c = j + 1; c < columns; c++)
            row[c] = 0;
    }
}

int kalman_predict(kalman *k, const double F[], const double Q[])
{
    const unsigned dim = k->dim;
    double noise[SQUARE] = {0}, both[2 * SQUARE], mean[KALMAN_DIM_MAX];
    if ((F && !all_finite(F, dim * dim)) || (Q && (!all_finite(Q, dim * dim) || factor(Q, dim, noise) < 0)))
        return -1;
    for (unsigned i = 0; i < dim; i++) {
        mean[i] = F ? 0 : k->mean[i];
        for (unsigned j = 0; F && j < dim; j++)
            mean[i] += F[i * dim + j] * k->mean[j];
        for (unsigned j = 0; j < dim; j++) {
            double moved = F ? 0 : k->root[i * dim + j];
            for (unsigned l = 0; F && l < dim; l++)
                moved += F[i * dim + l] * k->root[l * dim + j];
            both[i * 2 * dim + j] = moved;
            both[i * 2 * dim + dim + j] = noise[i * dim + j];
        }
    }
    triangularise(both, dim, 2 * dim);
    memcpy(k->mean, mean, dim * sizeof *mean);
    for (unsigned i = 0; i < dim; i++)
        memcpy(k->root + i * dim, both + i * 2 * dim, dim * sizeof *both);
    return 0;
}

/* f = Sᵀh, s = f·f + r: the gain is S·f/s, and S becomes S·(I − f·fᵀ/(s + √(r·s))). */
double kalman_update(kalman *k, const double h[], double r, double y)
{
    const unsigned dim = k->dim;
    double f[KALMAN_DIM_MAX], s = r, residual = y;
    if (!all_finite(h, dim) || !(r >= 0 && isfinite(r)) || !isfinite(y))
        return NAN;
    for (unsigned j = 0; j < dim; j++) {
        f[j] = 0;
        for (unsigned i = 0; i < dim; i++)
            f[j] += k->root[i * dim + j] * h[i];
        s += f[j] * f[j];
        residual -= h[j] * k->mean[j];
    }
    if (!(s > 0 && isfinite(s)))
        return NAN;
    for (unsigned i = 0; i < dim; i++) {
        double gain = 0; /* multiplied by s */
        for (unsigned j = 0; j < dim; j++)
            gain += k->root[i * dim + j] * f[j];
        k->mean[i] += gain / s * residual;
        for (unsigned j = 0; j < dim; j++)
            k->root[i * dim + j] -= gain / (s + sqrt(r * s)) * f[j];
    }
    const double log_probability = -0.5 * (log(6.283185307179586 * s) + residual / s * residual);
    k->log_evidence += log_probability;
    return log_probability;
}

double kalman_covariance(const kalman *k, unsigned i, unsigned j)
{
    double sum = 0;
    for (unsigned c = 0; c < k->dim; c++)
        sum += k->root[i * k->dim + c] * k->root[j * k->dim + c];
    return sum;
}
