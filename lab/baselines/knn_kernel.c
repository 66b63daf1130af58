/* Compiled once for each target, RF_KERNEL_TARGET; knn.c chooses one. Uses VNNI, which adds four byte products in
   one instruction, if the target has it; else plain loops. */
#include "knn_kernel.h"

#define PASTE_(name, target) name##target
#define PASTE(name, target) PASTE_(name, target)

extern rf_knn_dots PASTE(rf_knn_dots_, RF_KERNEL_TARGET);

#if defined(__AVX512VNNI__)
#include <immintrin.h>
#include <string.h>

void PASTE(rf_knn_dots_, RF_KERNEL_TARGET)(const uint8_t *panel, const int8_t *query, uint32_t groups, int32_t *dot)
{
    __m512i sum[RF_KNN_ROWS][2];
    for (int q = 0; q < RF_KNN_ROWS; q++)
        sum[q][0] = sum[q][1] = _mm512_setzero_si512();
    for (uint32_t g = 0; g < groups; g++) {
        __m512i low = _mm512_loadu_si512(panel + g * 128), high = _mm512_loadu_si512(panel + g * 128 + 64);
#pragma GCC unroll 12
        for (int q = 0; q < RF_KNN_ROWS; q++) {
            int32_t four;
            memcpy(&four, query + (size_t)q * groups * 4 + g * 4, 4);
            __m512i same = _mm512_set1_epi32(four);
            sum[q][0] = _mm512_dpbusd_epi32(sum[q][0], low, same);
            sum[q][1] = _mm512_dpbusd_epi32(sum[q][1], high, same);
        }
    }
    for (int q = 0; q < RF_KNN_ROWS; q++) {
        _mm512_storeu_si512(dot + q * RF_KNN_LANES, sum[q][0]);
        _mm512_storeu_si512(dot + q * RF_KNN_LANES + 16, sum[q][1]);
    }
}
#else
void PASTE(rf_knn_dots_, RF_KERNEL_TARGET)(const uint8_t *panel, const int8_t *query, uint32_t groups, int32_t *dot)
{
    for (int q = 0; q < RF_KNN_ROWS; q++) {
        int32_t sum[RF_KNN_LANES] = {0};
        const int8_t *y = query + (uint64_t)q * groups * 4;
        for (uint32_t g = 0; g < groups; g++)
            for (int v = 0; v < RF_KNN_LANES; v++) {
                const uint8_t *x = panel + g * 4 * RF_KNN_LANES + 4 * v;
                sum[v] += (int16_t)x[0] * y[4 * g] + (int16_t)x[1] * y[4 * g + 1] + (int16_t)x[2] * y[4 * g + 2] +
                          (int16_t)x[3] * y[4 * g + 3];
            }
        for (int v = 0; v < RF_KNN_LANES; v++)
            dot[q * RF_KNN_LANES + v] = sum[v];
    }
}
#endif
