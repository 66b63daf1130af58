/* Runs of the standard kind. */
#ifndef REJFILT_EXPERIMENTS_RUNS_H
#define REJFILT_EXPERIMENTS_RUNS_H

#include "rejfilt/session.h"

/* The run of `rejfilt track --simulate --sampler reject --attempts 100` for a built-in model and `steps`
   measurements: the description's prior and drift, the automatic design. Without an engine. */
rf_simulation runs_ordinary(const char *model, long steps, uint64_t seed);
/* The same for any model. */
rf_simulation runs_of(const rf_model *model, long steps, uint64_t seed);

/* The same with the paper's Algorithm 1, unchanged, and its heuristic, without anchors or health tests. */
rf_simulation runs_paper(const char *model, long steps, uint64_t seed);

/* The seed of a run's trial. */
uint64_t runs_seed(const rf_simulation *run, uint32_t trial);

#endif
