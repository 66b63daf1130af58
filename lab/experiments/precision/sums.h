/* Three ways to the covariance of the draws of an update, in registers of so many bits, and how wrong each is. */
#ifndef REJFILT_EXPERIMENTS_SUMS_H
#define REJFILT_EXPERIMENTS_SUMS_H

#include <stdint.h>

enum { SUMS_DIM_MAX = 8, SUMS_FLOAT = 24, SUMS_DOUBLE = 53 };

typedef enum sums_way { SUMS_RAW, SUMS_WELFORD, SUMS_WHITENED } sums_way; /* whitened is the library's own update */

typedef struct sums_prior {
    unsigned dim;
    double mean[SUMS_DIM_MAX];
    double factor[SUMS_DIM_MAX * (SUMS_DIM_MAX + 1) / 2]; /* by rows */
} sums_prior;

typedef struct sums_error {
    double error; /* largest of the covariance's elements, in units of the prior's standard deviations along its axes */
    int is_lost;  /* the covariance is not positive definite */
} sums_error;

/* A covariance of this condition number, turned at random, and a mean this far from 0 along every parameter, in units of the
   largest standard deviation, which is between 1 and 2. */
sums_prior sums_prior_make(unsigned dim, double condition, double far, uint64_t seed);

/* All draws of an update are accepted and summed; `bits` of whitened sums are FLOAT or DOUBLE. */
sums_error sums_try(const sums_prior *prior, sums_way way, unsigned bits, uint32_t draws, uint64_t seed);

#endif
