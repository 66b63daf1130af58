/* Finds and loads modules. */
#define _GNU_SOURCE
#include "module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine.h"
#include "machine.h"

#ifndef RF_MULTIARCH
#define RF_MULTIARCH "."
#endif

enum { SYMBOL_MAX = 64, FOUND_MAX = PATH_MAX + 2 * SYMBOL_MAX };

/* Finds the module's path. Returns 0, or -1 if there is none. */
static int find(const char *file, char path[FOUND_MAX])
{
    static const char multiarch[] = "/../lib/" RF_MULTIARCH "/rejfilt";
    static const char *const places[] = {"", "/rejfilt", "/../lib/rejfilt", multiarch, NULL};
    const char *chosen = getenv("REJFILT_MODULES");
    char folder[PATH_MAX];
    if (chosen && *chosen) {
        snprintf(path, FOUND_MAX, "%s/%s", chosen, file);
        if (access(path, R_OK) == 0)
            return 0;
    }
    if (rf_find_beside(places, file, folder, sizeof folder) < 0)
        return -1;
    snprintf(path, FOUND_MAX, "%s/%s", folder, file);
    return 0;
}

const void *rf_module_load(const char *name, uint32_t abi, const char *advice, char *error, size_t size)
{
    char symbol[SYMBOL_MAX], file[SYMBOL_MAX + 4], path[FOUND_MAX];
    snprintf(symbol, sizeof symbol, "rejfilt_%.40s", name);
    snprintf(file, sizeof file, "%s.so", symbol);
    if (find(file, path) < 0) {
        rf_fail(error, size, "engine '%s' is not built in; %s", name, advice);
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* never closed: MPI cannot be unloaded */
    const uint32_t *table = library ? dlsym(library, symbol) : NULL;
    if (!table)
        rf_fail(error, size, "engine '%s' cannot be loaded: %s", name, dlerror());
    else if (*table != abi)
        rf_fail(error, size, "engine '%s' cannot be loaded: %s has ABI %u, but %u is needed: it belongs to another version", name, path,
                (unsigned)*table, (unsigned)abi);
    return table && *table == abi ? table : NULL;
}
