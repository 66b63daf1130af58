/* Gaussians whose moments are computed, not drawn: beliefs of one parameter that filters are compared with. */
#ifndef REJFILT_EXPERIMENTS_PROJECTED_H
#define REJFILT_EXPERIMENTS_PROJECTED_H

#include "rejfilt/belief.h"

/* Exact moments, of the precession model alone. */
extern const rf_belief_kind projected_closed_form;

/* By Gauss and Hermite's rule of so many points; the same kind for the same number. */
const rf_belief_kind *projected_hermite(unsigned points);

#endif
