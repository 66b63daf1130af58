/* Gaussians with computed instead of sampled moments: beliefs of one parameter for comparison with filters. */
#ifndef REJFILT_EXPERIMENTS_PROJECTED_H
#define REJFILT_EXPERIMENTS_PROJECTED_H

#include "rejfilt/belief.h"

/* Exact moments; only for the precession model. */
extern const rf_belief_kind projected_closed_form;

/* Gauss–Hermite quadrature with that number of points; equal numbers give the same kind. */
const rf_belief_kind *projected_hermite(unsigned points);

#endif
