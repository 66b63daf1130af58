/* Properties of the machine, for engines and models. */
#ifndef REJFILT_MACHINE_H
#define REJFILT_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* CPUs of this machine, and those that this process may use; at least 1. */
unsigned rf_cpus_online(void);
unsigned rf_cpus_allowed(void);

/* Checks that this much memory exists; checked up front because overcommit lets malloc succeed. Returns 0, or -1 with
   "WHAT needs 4398046511104 bytes of memory; there are 25276518400". */
int rf_memory_check(const char *what, uint64_t bytes, char *error, size_t size);

/* Searches for `file` in `places` (ending in null), relative to the directory of this library, or of the program if linked
   statically. Writes the first directory that has it to `path`. Returns 0, or -1. */
int rf_find_beside(const char *const places[], const char *file, char *path, size_t size);

#endif
