/* Exact posteriors on the records of a filter: where in them the truth is. Who chooses the settings does not matter to
   them, as long as it does not know the truth. */
#ifndef REJFILT_CALIBRATION_EXACT_H
#define REJFILT_CALIBRATION_EXACT_H

#include "rejfilt/session.h"

typedef struct exact exact;

/* Of trial number `trial` of a run in double that learns from one record at a time. Null when memory is short or the
   run is refused. */
exact *exact_open(const rf_simulation *run, uint32_t trial);
void exact_close(exact *e);

/* Learns the record of a step. */
void exact_learn(exact *e, const rf_step *step);

/* Of models of one parameter, from a grid: the probability below the truth of this, the latest, step. */
int exact_has_grid(const exact *e);
double exact_grid_rank(const exact *e, const rf_step *step);

/* Of any model, from draws of the prior weighted with their likelihood, among which is the truth: to them it is one
   like the others, so its rank is uniform however few they are. Rank of parameter i, and for i = dim of the
   likelihood, from the largest on. */
double exact_draws_rank(const exact *e, const rf_step *step, unsigned i);
/* How many draws the weights leave: (Σw)² / Σw². */
double exact_draws_left(const exact *e);

#endif
