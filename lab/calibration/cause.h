/* Why intervals of weak records are too narrow: because of the noise of the filter's mean, or of its width? */
#ifndef REJFILT_CALIBRATION_CAUSE_H
#define REJFILT_CALIBRATION_CAUSE_H

#include <stdint.h>

/* 200 tosses of a coin, one per update. After each update the mean, the variance or both are replaced by values
   without sampling error, from Gauss–Hermite quadrature. If only the mean has sampling error, the variance allows
   for it. Prints the fraction of 95 % intervals that hold the truth, and the spread of ln σ over the data sets. */
void cause_print(uint32_t sets, uint64_t seed);

#endif
