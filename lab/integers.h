/* The integer filter (src/fixed/) in a simulated run: same truths, outages and random numbers; it chooses its own
   experiments. */
#ifndef REJFILT_LAB_INTEGERS_H
#define REJFILT_LAB_INTEGERS_H

#include "fixed.h"
#include "rejfilt/session.h"

/* Measures the truth of `step` with this filter and learns; `own` is the resulting step. Health is RF_FAULT while
   the detector seems stuck, RF_RECOVERING after a failed test. Step 0 of a trial resets the filter. */
void integers_step(rfi_filter *f, const rf_simulation *run, uint64_t seed, const rf_step *step, rf_step *own);

#endif
