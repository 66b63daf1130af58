/* Targets: what kernels are compiled for. The list is CMake's (RF_TARGETS); each is better than the one before. */
#ifndef REJFILT_TARGETS_H
#define REJFILT_TARGETS_H

extern const char *const rf_target_names[]; /* "baseline", "avx2", ...; ends in null */

/* The best of them that this CPU has, as an index. */
unsigned rf_target_best(void);

#endif
