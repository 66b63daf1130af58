/* Particles, for beliefs that hold some. */
#ifndef REJFILT_PARTICLES_H
#define REJFILT_PARTICLES_H

#include "smc.h"

/* The particles of a belief of kind "particles". */
const rf_smc *rf_particles_smc(const rf_belief *belief);
/* All particles ← draws from another belief about the same problem, of equal weight. What follows depends on these
   draws and on `number` alone, which counts records. */
void rf_particles_take(rf_belief *belief, const rf_belief *from, uint32_t number);

#endif
