/* From a chart to natural units, of anything that is Gaussians, or points, side by side. */
#ifndef REJFILT_MARGINAL_H
#define REJFILT_MARGINAL_H

#include "rejfilt/host.h"

/* What is believed of one parameter as Gaussians side by side, in one chart. */
typedef struct rf_marginal {
    size_t count;
    const double *weight; /* of any sum */
    const double *at;     /* means; null: first, first + step, ... */
    const double *sd;     /* null: they are points */
    double first, step;
} rf_marginal;

/* Mean and standard deviation in natural units. Of a periodic chart they are circular: the direction of the mean of
   points on the circle, and sqrt(-2 ln R), at most 3/4 of the period; *mean is where angles are counted from, and it
   stays within half a period of that. */
void rf_marginal_natural(const rf64_chart *chart, const rf_marginal *parts, double *mean, double *sd);

#endif
