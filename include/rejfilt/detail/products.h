/* The two products that cost O(D²) per attempt, for many parameters and a block of vector lanes: L·z before the
   likelihood, Σzzᵀ after it. Computed in register tiles of vectors. The results have the same bits as the plain loops
   of attempts.h: L·z adds in the same order, and Σzzᵀ is a sum of integers, exact in any order. */
#ifndef REJFILT_PRODUCTS_H
#define REJFILT_PRODUCTS_H

#include "real.h"

#define RF_PRODUCTS_MIN 3u    /* worthwhile from this many parameters on */
#define RF_PRODUCTS_TILE 4u   /* rows and columns of a tile */
#define RF_PRODUCTS_ROOM 512u /* accepted attempts whose z are collected, [d][attempt], before products are summed */
#define RF_PRODUCTS_STRIDE (RF_PRODUCTS_ROOM + 32u) /* not a power of two, to avoid cache conflicts between rows */
#define RF_PRODUCTS_KEPT(dim) (((dim) + RF_PRODUCTS_TILE - 1) / RF_PRODUCTS_TILE * RF_PRODUCTS_TILE * RF_PRODUCTS_STRIDE)

#define RF_PRODUCTS_BYTES (RF_WIDE_LANES > 2 ? 8 * RF_WIDE_LANES : 16) /* bytes of a vector register */
typedef rf_real RF(vector) __attribute__((vector_size(RF_PRODUCTS_BYTES)));

/* x[i][lane] ← mean[i] + Σ_j L[i][j]·x[j][lane], j ascending, in place from the last row to the first. `lanes` is a
   multiple of 64. */
RF_FN void RF(products_place)(const rf_real *mean, const rf_real *factor, unsigned dim, unsigned lanes, rf_real *x)
{
    enum { WIDTH = RF_PRODUCTS_BYTES / sizeof(rf_real), ACROSS = RF_WIDE_LANES == 8 ? 4 : 2, TILE = RF_PRODUCTS_TILE }; /* 32 registers, or 16 */
    for (unsigned lane = 0; lane < lanes; lane += ACROSS * WIDTH)
        for (unsigned tile = (dim + TILE - 1) / TILE; tile-- > 0;) {
            const unsigned i = tile * TILE, rows = dim - i < TILE ? dim - i : TILE;
            RF(vector) *from = (RF(vector) *)(void *)(x + lane), sum[TILE][ACROSS];
            const rf_real *row[TILE];
            for (unsigned r = 0; r < TILE; r++) {
                row[r] = factor + RF_TRIANGLE(r < rows ? i + r : i); /* rows past the end are computed and discarded */
                for (unsigned k = 0; k < ACROSS; k++)
                    sum[r][k] = row[r][0] * from[k];
            }
            for (unsigned j = 1; j <= i; j++) {
                from += lanes / WIDTH;
                for (unsigned r = 0; r < TILE; r++)
                    for (unsigned k = 0; k < ACROSS; k++)
                        sum[r][k] += row[r][j] * from[k];
            }
            RF(vector) *const to = from;
            for (unsigned j = 1; j < rows; j++) {
                from += lanes / WIDTH;
                for (unsigned r = j; r < rows; r++)
                    for (unsigned k = 0; k < ACROSS; k++)
                        sum[r][k] += row[r][i + j] * from[k];
            }
            for (unsigned r = 0; r < rows; r++)
                for (unsigned k = 0; k < ACROSS; k++)
                    to[r * (lanes / WIDTH) + k] = mean[i + r] + sum[r][k];
        }
}

/* sums[k][l] ← Σ a[k]·b[l] over `count` numbers, a multiple of 32, modulo 2³². */
RF_FN void rf_products_tile(const int16_t *a, const int16_t *b, unsigned count, uint32_t sums[RF_PRODUCTS_TILE][RF_PRODUCTS_TILE])
{
    enum { TILE = RF_PRODUCTS_TILE };
    rf_wide dots[TILE][TILE];
    for (unsigned k = 0; k < TILE; k++)
        for (unsigned l = 0; l < TILE; l++)
            dots[k][l] = rf_wide_set(0);
    for (unsigned n = 0; n < count; n += 4 * RF_WIDE_LANES) {
        rf_wide left[TILE], right[TILE];
        for (unsigned k = 0; k < TILE; k++) {
            left[k] = rf_wide_load_shorts(a + k * RF_PRODUCTS_STRIDE + n);
            right[k] = rf_wide_load_shorts(b + k * RF_PRODUCTS_STRIDE + n);
        }
        for (unsigned k = 0; k < TILE; k++)
            for (unsigned l = 0; l < TILE; l++)
                dots[k][l] = rf_wide_add_dots(dots[k][l], rf_wide_dot(left[k], right[l]));
    }
    for (unsigned k = 0; k < TILE; k++)
        rf_wide_sum_dots(sums[k], dots[k]);
}

/* Adds one attempt's z to the sums; its coordinates are `stride` numbers apart. */
RF_FN void rf_products_add(const int32_t *z, unsigned dim, unsigned stride, int64_t *sum_z, int64_t *sum_zz)
{
    for (unsigned i = 0; i < dim; i++) {
        sum_z[i] += z[i * stride];
        for (unsigned j = 0; j <= i; j++)
            sum_zz[RF_TRIANGLE(i) + j] += (int64_t)z[i * stride] * z[j * stride];
    }
}

/* Adds `count` collected columns of z to the sums; `high`: space for as many. With z = 2⁵h + l, 0 ≤ l < 2⁵, both Σhh'
   and Σzz' − 2¹⁰Σhh' are below 2³¹ for RF_PRODUCTS_ROOM numbers of 16 bits, so their values modulo 2³² determine
   them. */
RF_FN void rf_products_sum(int16_t *z, unsigned dim, unsigned count, int16_t *high, int64_t *sum_z, int64_t *sum_zz)
{
    enum { TILE = RF_PRODUCTS_TILE };
    const unsigned rows = (dim + TILE - 1) / TILE * TILE, whole = (count + 31) / 32 * 32;
    for (unsigned i = 0; i < rows; i++) {
        int16_t *row = z + i * RF_PRODUCTS_STRIDE, *restrict short_row = high + i * RF_PRODUCTS_STRIDE;
        int32_t sum = 0;
        for (unsigned n = i < dim ? count : 0; n < whole; n++)
            row[n] = 0;
        for (unsigned n = 0; n < whole; n++) {
            sum += row[n];
            short_row[n] = (int16_t)(row[n] >> 5);
        }
        if (i < dim)
            sum_z[i] += sum;
    }
    for (unsigned i = 0; i < dim; i += TILE)
        for (unsigned j = 0; j <= i; j += TILE) {
            uint32_t all[TILE][TILE], highs[TILE][TILE];
            rf_products_tile(z + i * RF_PRODUCTS_STRIDE, z + j * RF_PRODUCTS_STRIDE, whole, all);
            rf_products_tile(high + i * RF_PRODUCTS_STRIDE, high + j * RF_PRODUCTS_STRIDE, whole, highs);
            for (unsigned k = 0; k < TILE && i + k < dim; k++)
                for (unsigned l = 0; l < TILE && j + l <= i + k; l++)
                    sum_zz[RF_TRIANGLE(i + k) + j + l] += (int64_t)(int32_t)highs[k][l] * 1024 + (int32_t)(all[k][l] - highs[k][l] * 1024u);
        }
}

#endif
