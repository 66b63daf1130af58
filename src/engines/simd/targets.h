/* Targets: instruction sets that kernels are compiled for. CMake's RF_TARGETS lists them, from worst to best. */
#ifndef REJFILT_TARGETS_H
#define REJFILT_TARGETS_H

#include "rejfilt/host.h"

extern const char *const rf_target_names[]; /* "baseline", "avx2", ...; ends in null */

/* The index of the best target that this CPU supports. */
unsigned rf_target_best(void);

/* The kernel of a list for the target, or one compiled on this machine; or null. */
const rf32_kernel *rf32_kernel_for(const rf32_kernel *kernels, const char *target);
const rf64_kernel *rf64_kernel_for(const rf64_kernel *kernels, const char *target);

#endif
