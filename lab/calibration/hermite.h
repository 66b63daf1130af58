/* Gauss–Hermite quadrature: moments of a Gaussian times a likelihood of one parameter, from a few fixed points. With
   three points it is the unscented transformation. */
#ifndef REJFILT_EXPERIMENTS_HERMITE_H
#define REJFILT_EXPERIMENTS_HERMITE_H

#include "rejfilt/rejfilt.h"

enum { HERMITE_MAX = 128 };

typedef struct hermite {
    unsigned points;
    double z[HERMITE_MAX], weight[HERMITE_MAX]; /* for N(0, 1); the sum of the weights is 1 */
} hermite;

/* points in 2..HERMITE_MAX. */
hermite hermite_rule(unsigned points);

/* Learns from a record: the Gaussian takes the moments of the posterior. If all points have likelihood zero, nothing
   changes; if the new variance would be below 1e-6 of the old one, only the mean changes. */
void hermite_update(const hermite *rule, const rf64_model *model, const double record[], double *mean, double *variance);

#endif
