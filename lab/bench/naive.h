/* A straightforward implementation, an hour's work: PCG random numbers, Box–Muller, libm, one loop. */
#ifndef REJFILT_BENCH_NAIVE_H
#define REJFILT_BENCH_NAIVE_H

#include <stdint.h>

typedef struct naive_filter {
    double mean, sd;
    uint64_t rng;
} naive_filter;

/* One update with m attempts of the precession model. Returns the number accepted. */
uint32_t naive_update(naive_filter *f, double t, double reference, int outcome, uint32_t m);

/* The same in `dim` dimensions for a weighted sum with Gaussian noise: plain scalar loops in float. Adds the
   accepted candidates to sum[dim] and their products to sums[dim][dim] (lower triangle). */
uint32_t naive_linear(unsigned dim, const float *mean, const float *factor, const float *weights, float noise, float outcome,
                      uint32_t m, uint64_t *rng, float *work, float *sum, float *sums);

#endif
