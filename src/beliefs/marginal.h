/* From a chart to natural units, for weighted Gaussians or weighted points. */
#ifndef REJFILT_MARGINAL_H
#define REJFILT_MARGINAL_H

#include "rejfilt/host.h"

/* The marginal of one parameter as a sum of weighted Gaussians in one chart. */
typedef struct rf_marginal {
    size_t count;
    const double *weight; /* need not sum to 1 */
    const double *at;     /* means; null: first, first + step, ... */
    const double *sd;     /* null: points without width */
    double first, step;
} rf_marginal;

/* Mean and standard deviation in natural units. For a periodic chart they are circular: the direction of the mean
   vector, and sqrt(-2 ln R), at most 3/4 of the period. On entry *mean is the origin from which angles count; the
   result stays within half a period of it. */
void rf_marginal_natural(const rf64_chart *chart, const rf_marginal *parts, double *mean, double *sd);

#endif
