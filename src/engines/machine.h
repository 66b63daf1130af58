/* What engines and models need to know of the machine. */
#ifndef REJFILT_MACHINE_H
#define REJFILT_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* CPUs of this machine, and those that this process may use; at least 1. */
unsigned rf_cpus_online(void);
unsigned rf_cpus_allowed(void);

/* Can this process have so many bytes of memory at all? Asked before they are, since systems promise more than they have.
   Returns 0, or -1 with "WHAT needs 4398046511104 bytes of memory; there are 25276518400". */
int rf_memory_check(const char *what, uint64_t bytes, char *error, size_t size);

/* Looks for `file` in places, ending in null, that are relative to the directory where this library lies; or the program,
   where the library is linked into it. Leaves the directory of the first that has it in `path`. Returns 0, or -1. */
int rf_find_beside(const char *const places[], const char *file, char *path, size_t size);

#endif
