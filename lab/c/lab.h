/* Statistics of samples. */
#ifndef REJFILT_EXPERIMENTS_LAB_H
#define REJFILT_EXPERIMENTS_LAB_H

#include <stddef.h>
#include <stdint.h>

#include "rejfilt/host.h"

/* Sorts the values. Returns the quantile `share`, by linear interpolation. */
double lab_quantile(double values[], size_t count, double share);
/* Sorts the values. Returns the median; `error` is its standard error, from ranks. */
double lab_median(double values[], size_t count, double *error);

#endif
