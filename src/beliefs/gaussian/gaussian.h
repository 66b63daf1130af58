/* The Gaussian belief in its two precisions. */
#include <stdlib.h>

#include "beliefs.h"

extern const rf_belief_kind rf32_belief_gaussian, rf64_belief_gaussian;
