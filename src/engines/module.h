/* Modules: shared objects loaded at run time, so that the library itself need not link MPI or CUDA. */
#ifndef REJFILT_MODULE_H
#define REJFILT_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* Loads the module file rejfilt_NAME.so and returns the table that it exports under the name rejfilt_NAME. A table begins
   with a uint32_t that must equal `abi`, a number that changes with the table. The file is searched in $REJFILT_MODULES and
   near this library (docs/engines.md); it stays loaded. Returns NULL and fills `error` on failure; `advice` tells the user how
   to get a missing module. */
const void *rf_module_load(const char *name, uint32_t abi, const char *advice, char *error, size_t size);

#endif
