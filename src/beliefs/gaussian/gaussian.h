/* The Gaussian in its two precisions. */
#include <stdlib.h>

#include "beliefs.h"

extern const rf_belief_kind rf32_belief_gaussian, rf64_belief_gaussian;

/* The filter inside. */
const rf32_filter *rf32_gaussian_filter(const rf_belief *belief);
const rf64_filter *rf64_gaussian_filter(const rf_belief *belief);
