/* Lower triangular matrices, stored by rows: row i starts at RF_TRIANGLE(i) and has i + 1 numbers. */
#ifndef REJFILT_TRIANGLE_H
#define REJFILT_TRIANGLE_H

#include "core.h"

RF_FN size_t RF(at)(unsigned row, unsigned column) { return RF_TRIANGLE(row) + column; }

/* a ← its Cholesky factor, in place. Pivots below `least` or below rounding error are raised to it,
   so the result is always a valid factor. Returns how many were raised. */
RF_FN unsigned RF(triangle_cholesky)(rf_real *a, unsigned dim, rf_real least)
{
    const rf_real noise = (rf_real)dim * (sizeof(rf_real) == 4 ? RF_C(0x1p-23) : RF_C(0x1p-51));
    unsigned raised = 0;
    for (unsigned i = 0; i < dim; i++) {
        rf_real *row = a + RF_TRIANGLE(i);
        rf_real floor = RF(max)(least, noise * row[i]);
        for (unsigned j = 0; j <= i; j++) {
            const rf_real *other = a + RF_TRIANGLE(j);
            rf_real sum = row[j];
            for (unsigned k = 0; k < j; k++)
                sum -= row[k] * other[k];
            if (j < i) {
                row[j] = sum / other[j];
            } else {
                raised += sum >= floor ? 0u : 1u;
                row[i] = RF(sqrt)(sum >= floor ? sum : floor);
            }
        }
    }
    return raised;
}

/* out ← Cholesky factor of the full matrix `a` (dim × dim by rows), which may be singular: a column
   whose pivot vanishes is zero. Returns 0 when `a` is not symmetric or not positive semidefinite.
   The tolerance is half the digits, since near-singular leading blocks amplify rounding. */
static int RF(triangle_from_covariance)(rf_real *out, const rf_real a[], unsigned dim)
{
    const rf_real noise = (rf_real)(dim + 8) * (sizeof(rf_real) == 4 ? RF_C(0x1p-22) : RF_C(0x1p-50));
    const rf_real slack = sizeof(rf_real) == 4 ? RF_C(0x1p-12) : RF_C(0x1p-26);
    for (unsigned i = 0; i < dim; i++) {
        rf_real *row = out + RF_TRIANGLE(i);
        for (unsigned j = 0; j <= i; j++) {
            const rf_real *other = out + RF_TRIANGLE(j);
            rf_real scale = RF(sqrt)(RF(abs)(a[i * dim + i])) * RF(sqrt)(RF(abs)(a[j * dim + j]));
            rf_real sum = a[i * dim + j];
            if (!(RF(abs)(sum - a[j * dim + i]) <= noise * scale))
                return 0;
            for (unsigned k = 0; k < j; k++)
                sum -= row[k] * other[k];
            if (j < i) {
                if (other[j] > 0)
                    row[j] = sum / other[j];
                else if (RF(abs)(sum) <= slack * scale)
                    row[j] = 0;
                else
                    return 0;
            } else {
                if (!(sum >= -slack * scale))
                    return 0;
                row[i] = sum > noise * scale ? RF(sqrt)(sum) : 0;
            }
        }
    }
    return 1;
}

/* l·lᵀ ← l·lᵀ + v·vᵀ for the rows and columns first..dim−1, by rotations. Overwrites v. */
static void RF(triangle_add)(rf_real *l, rf_real *v, unsigned first, unsigned dim)
{
    for (unsigned j = first; j < dim; j++) {
        rf_real *diagonal = l + RF(at)(j, j);
        rf_real r = RF(sqrt)(*diagonal * *diagonal + v[j] * v[j]);
        if (!(r > 0))
            continue;
        rf_real c = *diagonal / r, s = v[j] / r;
        *diagonal = r;
        for (unsigned i = j + 1; i < dim; i++) {
            rf_real *element = l + RF(at)(i, j);
            rf_real old = *element;
            *element = c * old + s * v[i];
            v[i] = c * v[i] - s * old;
        }
    }
}

/* l ← l·c, both lower triangular. */
RF_FN void RF(triangle_multiply)(rf_real *l, const rf_real *c, unsigned dim)
{
    for (unsigned i = 0; i < dim; i++) {
        rf_real *row = l + RF_TRIANGLE(i);
        for (unsigned j = 0; j <= i; j++) {
            rf_real sum = 0;
            for (unsigned k = j; k <= i; k++)
                sum += row[k] * c[RF(at)(k, j)];
            row[j] = sum;
        }
    }
}

/* l ← scale·l. */
static void RF(triangle_scale)(rf_real *l, unsigned dim, rf_real scale)
{
    for (size_t i = 0; i < RF_TRIANGLE(dim); i++)
        l[i] *= scale;
}

/* Clamps a factor to the limits: diagonal in [RF_TINY, RF_LIMIT], the rest within ±RF_LIMIT.
   Returns RF_NOTE_CLAMPED if that changed anything. */
RF_FN rf_status RF(triangle_clamp)(rf_real *l, unsigned dim)
{
    rf_status note = RF_OK;
    for (unsigned i = 0; i < dim; i++) {
        for (unsigned j = 0; j <= i; j++) {
            rf_real *element = l + RF(at)(i, j);
            rf_real low = i == j ? RF_TINY : -RF_LIMIT;
            rf_real held = RF(min)(RF(max)(*element, low), RF_LIMIT);
            if (!(held == *element))
                note = RF_NOTE_CLAMPED;
            *element = held;
        }
    }
    return note;
}

#endif
