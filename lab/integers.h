/* The integer filter (src/fixed/) in a simulated run: the same truths, outages and luck, with experiments of its own choice. */
#ifndef REJFILT_LAB_INTEGERS_H
#define REJFILT_LAB_INTEGERS_H

#include "fixed.h"
#include "rejfilt/session.h"

/* Learns in its own way of the truth of `step`; `own` is the step as it would be with this filter. Health is RF_FAULT while
   the detector is taken to be stuck, RF_RECOVERING after a failed test. The first step of a trial begins anew. */
void integers_step(rfi_filter *f, const rf_simulation *run, uint64_t seed, const rf_step *step, rf_step *own);

#endif
