/* Targets: what kernels are compiled for. The list is CMake's (RF_TARGETS); each is better than the one before. */
#ifndef REJFILT_TARGETS_H
#define REJFILT_TARGETS_H

#include "rejfilt/host.h"

extern const char *const rf_target_names[]; /* "baseline", "avx2", ...; ends in null */

/* The best of them that this CPU has, as an index. */
unsigned rf_target_best(void);

/* The kernel of a list for the target, or one that was compiled on this machine; or null. */
const rf32_kernel *rf32_kernel_for(const rf32_kernel *kernels, const char *target);
const rf64_kernel *rf64_kernel_for(const rf64_kernel *kernels, const char *target);

#endif
