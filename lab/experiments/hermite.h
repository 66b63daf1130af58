/* Gauss and Hermite's rule: moments of a Gaussian times a likelihood, of one parameter, from a few fixed points. With
   three points it is the unscented transformation. */
#ifndef REJFILT_EXPERIMENTS_HERMITE_H
#define REJFILT_EXPERIMENTS_HERMITE_H

#include "rejfilt/rejfilt.h"

enum { HERMITE_MAX = 128 };

typedef struct hermite {
    unsigned points;
    double z[HERMITE_MAX], weight[HERMITE_MAX]; /* of N(0, 1); the weights have sum 1 */
} hermite;

/* points in 2..HERMITE_MAX. */
hermite hermite_rule(unsigned points);

/* Learns from a record: the Gaussian becomes that of the posterior's moments. Nothing changes where all points have
   likelihood zero, and the variance alone does not where it would vanish. */
void hermite_update(const hermite *rule, const rf64_model *model, const double record[], double *mean, double *variance);

#endif
