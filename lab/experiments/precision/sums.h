/* Three ways to compute the covariance of an update's draws in registers of few bits, and their errors. */
#ifndef REJFILT_EXPERIMENTS_SUMS_H
#define REJFILT_EXPERIMENTS_SUMS_H

#include <stdint.h>

enum { SUMS_DIM_MAX = 8, SUMS_FLOAT = 24, SUMS_DOUBLE = 53 };

typedef enum sums_way { SUMS_RAW, SUMS_WELFORD, SUMS_WHITENED } sums_way; /* whitened: the library's way */

typedef struct sums_prior {
    unsigned dim;
    double mean[SUMS_DIM_MAX];
    double factor[SUMS_DIM_MAX * (SUMS_DIM_MAX + 1) / 2]; /* row-major */
} sums_prior;

typedef struct sums_error {
    double error; /* largest error of a covariance element, in units of the prior's standard deviations along its
                     axes */
    int is_lost;  /* the covariance is not positive definite */
} sums_error;

/* A randomly rotated covariance with this condition number. The mean is `far` from 0 in every parameter, in units of
   the largest standard deviation, which is between 1 and 2. */
sums_prior sums_prior_make(unsigned dim, double condition, double far, uint64_t seed);

/* All draws of an update are accepted and summed. For whitened sums `bits` must be FLOAT or DOUBLE. */
sums_error sums_try(const sums_prior *prior, sums_way way, unsigned bits, uint32_t draws, uint64_t seed);

#endif
