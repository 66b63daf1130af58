/* Models of any number of parameters, measured along one direction: h·x. */
#ifndef REJFILT_EXPERIMENTS_PROJECTION_H
#define REJFILT_EXPERIMENTS_PROJECTION_H

#include <math.h>

#include "random.h"

enum { PROJECTION_DIM_MAX = 64, PROJECTION_RECORD_MAX = PROJECTION_DIM_MAX + 3 };

/* Settings: the number of parameters, a phase or a noise, and the weights h. */
static inline double projection_along(const double x[], const double setting[])
{
    double sum = 0;
    for (unsigned i = 0; i < (unsigned)setting[0]; i++)
        sum += setting[2 + i] * x[i];
    return sum;
}

static inline double projection_fringe(const double x[], const double setting[], double outcome)
{
    const double cosine = rf64_cos(projection_along(x, setting) - setting[1]);
    return outcome != 0 ? 0.5 + 0.5 * cosine : 0.5 - 0.5 * cosine;
}

static inline double projection_linear(const double x[], const double setting[], double outcome)
{
    const double r = (outcome - projection_along(x, setting)) / setting[1];
    return -0.5 * r * r;
}

/* Writes a random unit vector to h. */
static inline void projection_direct(uint64_t seed, uint32_t first, unsigned dim, double h[])
{
    double squares = 0;
    for (unsigned i = 0; i < dim; i++) {
        h[i] = random_normal(seed, first + i);
        squares += h[i] * h[i];
    }
    for (unsigned i = 0; i < dim; i++)
        h[i] /= sqrt(squares);
}

#endif
