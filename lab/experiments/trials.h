/* Many trials of a run, on all threads. */
#ifndef REJFILT_EXPERIMENTS_TRIALS_H
#define REJFILT_EXPERIMENTS_TRIALS_H

#include "lab.h"
#include "reference.h"
#include "runs.h"

/* Runs all trials, in double, on all threads. The observer receives the steps of one trial in order, while other
   threads call it for other trials. Returns 0, or -1 after lab_fail or an interruption. */
int trials_run(lab *l, const rf_simulation *run, uint32_t trials, rf_observer *observer, void *user);

/* The same for a reference filter beside the run's: the observer receives its steps. */
int trials_run_beside(lab *l, const rf_simulation *run, reference_kind kind, uint32_t size, uint32_t trials, rf_observer *observer, void *user);

#endif
