/* The two products that cost O(D²) per attempt, for many parameters and a block of vector lanes: L·z
   before the likelihood, Σzzᵀ after it. Register tiles of vectors; the same numbers as the plain
   loops of attempts.h, to the bit: L·z adds in the same order, and Σzzᵀ is a sum of whole numbers
   below 2⁵³, exact in double whatever the order. Included by attempts.h. */
#ifndef REJFILT_MANY_H
#define REJFILT_MANY_H

#define RF_MANY 3u /* parameters from which on this pays */

typedef rf_real RF(vector) __attribute__((vector_size(64)));
typedef double rf_doubles __attribute__((vector_size(64)));

/* x[i][lane] = mean[i] + Σ_j L[i][j]·z[j][lane], j ascending. `lanes` is a multiple of 64. */
RF_FN void RF(many_place)(const rf_real *mean, const rf_real *factor, unsigned dim, unsigned lanes, const rf_real *z, rf_real *x)
{
    enum { WIDTH = 64 / sizeof(rf_real), ACROSS = 4 };
    for (unsigned i = 0; i < dim; i++) {
        const rf_real *row = factor + RF_TRIANGLE(i);
        for (unsigned lane = 0; lane < lanes; lane += ACROSS * WIDTH) {
            const RF(vector) *from = (const RF(vector) *)(const void *)(z + lane);
            RF(vector) *to = (RF(vector) *)(void *)(x + i * lanes + lane), sum[ACROSS];
            for (unsigned k = 0; k < ACROSS; k++)
                sum[k] = row[0] * from[k];
            for (unsigned j = 1; j <= i; j++) {
                from += lanes / WIDTH;
                for (unsigned k = 0; k < ACROSS; k++)
                    sum[k] += row[j] * from[k];
            }
            for (unsigned k = 0; k < ACROSS; k++)
                to[k] = mean[i] + sum[k];
        }
    }
}

/* zz[i][j] += Σ over lanes of z[i]·z[j], j ≤ i. z has whole numbers, and rows of zeros up to a multiple
   of 4; `lanes` is a multiple of 8. */
RF_FN void rf_many_sum(const double *z, unsigned dim, unsigned lanes, int64_t *zz)
{
    enum { TILE = 4, WIDTH = 8 };
    for (unsigned i = 0; i < dim; i += TILE)
        for (unsigned j = 0; j <= i; j += TILE) {
            rf_doubles sum[TILE][TILE] = {{{0}}};
            for (unsigned lane = 0; lane < lanes; lane += WIDTH) {
                rf_doubles a[TILE], b[TILE];
                for (unsigned k = 0; k < TILE; k++) {
                    a[k] = *(const rf_doubles *)(const void *)(z + (i + k) * lanes + lane);
                    b[k] = *(const rf_doubles *)(const void *)(z + (j + k) * lanes + lane);
                }
                for (unsigned k = 0; k < TILE; k++)
                    for (unsigned l = 0; l < TILE; l++)
                        sum[k][l] += a[k] * b[l];
            }
            for (unsigned k = 0; k < TILE && i + k < dim; k++)
                for (unsigned l = 0; l < TILE && j + l <= i + k; l++) {
                    double total = 0;
                    for (unsigned w = 0; w < WIDTH; w++)
                        total += sum[k][l][w];
                    zz[RF_TRIANGLE(i + k) + j + l] += (int64_t)total;
                }
        }
}

#endif
