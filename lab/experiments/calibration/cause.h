/* Why intervals of weak records are too narrow: is it the noise of the filter's mean, or that of its width? */
#ifndef REJFILT_CALIBRATION_CAUSE_H
#define REJFILT_CALIBRATION_CAUSE_H

#include <stdint.h>

/* 200 tosses of a coin, one to an update. After each, mean or variance or both are replaced by those without sampling
   error, from Gauss and Hermite's rule; where only the mean has one, the variance allows for it. Prints how often the
   95 % interval holds the truth, and the spread of ln σ over the data sets. */
void cause_print(uint32_t sets, uint64_t seed);

#endif
