/* Access to the particles inside a belief, for beliefs that contain one. */
#ifndef REJFILT_PARTICLES_H
#define REJFILT_PARTICLES_H

#include "smc.h"

/* The particle filter of a belief of kind "particles". */
const rf_smc *rf_particles_smc(const rf_belief *belief);
/* Replaces all particles by equally weighted draws from another belief about the same problem. Everything later depends
   on these draws and on `number`, which counts records, alone. */
void rf_particles_take(rf_belief *belief, const rf_belief *from, uint32_t number);

#endif
