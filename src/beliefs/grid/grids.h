/* The grids of one parameter and of two, as beliefs. */
#ifndef REJFILT_GRIDS_H
#define REJFILT_GRIDS_H

#include "beliefs.h"

extern const rf_belief_kind rf_belief_line, rf_belief_plane;

/* A parameter's prior, in its chart: uniform, *first to *second, where that is so in the chart as well; else the
   Gaussian that stands for it, of that mean and variance. Returns 1, 0, or a refusal. */
int rf_grid_prior(const rf_problem *problem, unsigned parameter, double *first, double *second);

#endif
