/* Modules: parts of an engine in a file of their own, so that nothing else is linked with what they need. */
#ifndef REJFILT_MODULE_H
#define REJFILT_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* Loads the module file rejfilt_NAME.so and returns the table that it exports under the name rejfilt_NAME. A table begins
   with a uint32_t, which must be `abi`: the engine and its module count it up when the table changes. The file is looked for
   in $REJFILT_MODULES and around this library (docs/engines.md); it stays loaded. Null with a message in `error` on failure;
   `advice` says how to get a module that is not there. */
const void *rf_module_load(const char *name, uint32_t abi, const char *advice, char *error, size_t size);

#endif
