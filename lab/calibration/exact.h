/* Exact posteriors on a filter's records: the rank of the truth in them. They are right for any choice of settings
   that does not depend on the truth. */
#ifndef REJFILT_CALIBRATION_EXACT_H
#define REJFILT_CALIBRATION_EXACT_H

#include "rejfilt/session.h"

typedef struct exact exact;

/* Opens the posterior of trial number `trial` of a run in double with one record per update. Null if memory is short
   or the run is refused. */
exact *exact_open(const rf_simulation *run, uint32_t trial);
void exact_close(exact *e);

/* Learns from the record of a step. */
void exact_learn(exact *e, const rf_step *step);

/* For models of one parameter, from a grid: the probability below the truth of `step`, the latest one. */
int exact_has_grid(const exact *e);
double exact_grid_rank(const exact *e, const rf_step *step);

/* For any model, from draws of the prior weighted by their likelihood. The truth is one of the draws, like the
   others, so its rank is uniform for any number of draws. Rank of parameter i; for i = dim, of the likelihood,
   largest first. */
double exact_draws_rank(const exact *e, const rf_step *step, unsigned i);
/* The effective number of draws, (Σw)² / Σw². */
double exact_draws_left(const exact *e);

#endif
