/* The mpi engine by name: finds and loads its module. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "ranks.h"

#ifndef RF_MULTIARCH
#define RF_MULTIARCH "."
#endif

/* Where the module is. Returns 0, or -1 when it is nowhere. */
static int module_find(char *path, size_t size)
{
    static const char multiarch[] = "/../lib/" RF_MULTIARCH "/rejfilt";
    static const char *const places[] = {"", "/rejfilt", "/../lib/rejfilt", multiarch, NULL};
    const char *chosen = getenv("REJFILT_MODULES");
    char folder[PATH_MAX];
    if (chosen && *chosen) {
        snprintf(path, size, "%s/%s", chosen, RF_MPI_MODULE_FILE);
        if (access(path, R_OK) == 0)
            return 0;
    }
    if (rf_find_beside(places, RF_MPI_MODULE_FILE, folder, sizeof folder) < 0)
        return -1;
    snprintf(path, size, "%s/%s", folder, RF_MPI_MODULE_FILE);
    return 0;
}

/* Stays loaded: MPI does not bear to be unloaded. */
static const rf_mpi_module *module_load(char *error, size_t size)
{
    char path[PATH_MAX + 64];
    if (module_find(path, sizeof path) < 0) {
        rf_fail(error, size, "engine 'mpi' is not built in; install libopenmpi-dev and openmpi-bin and build again");
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    const rf_mpi_module *module = library ? dlsym(library, RF_MPI_MODULE_SYMBOL) : NULL;
    if (!module)
        rf_fail(error, size, "engine 'mpi' cannot be loaded: %s", dlerror());
    else if (module->version != RF_MPI_MODULE_VERSION)
        rf_fail(error, size, "engine 'mpi' cannot be loaded: %s belongs to another version", path);
    return module && module->version == RF_MPI_MODULE_VERSION ? module : NULL;
}

static int ranks_reserve(rf_engine *engine, unsigned dim)
{
    rf_ranks *ranks = engine->state;
    if (ranks->numbers && dim <= ranks->room.dim)
        return 0;
    uint64_t *numbers = malloc(8 * RF_RANKS_NUMBERS(dim));
    if (!numbers || rf_room_make(&ranks->room, 1, dim) < 0) {
        free(numbers);
        return -1;
    }
    free(ranks->numbers);
    ranks->numbers = numbers;
    return 0;
}

/* The CPUs are shared among the ranks of a machine, unless mpirun has bound them to some. */
static unsigned threads_of_rank(unsigned local)
{
    unsigned fair = rf_cpus_online() / local, most = rf_cpus_allowed();
    unsigned count = fair < most ? fair : most;
    return count < 1 ? 1 : count < RF_THREADS_MAX ? count : RF_THREADS_MAX;
}

static int ranks_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    char reason[512], name[32];
    if (argument && strstr(argument, "mpi"))
        return rf_fail(error, size, "engine 'mpi' cannot run '%.40s' inside: ranks are not split twice", argument);
    const rf_mpi_module *mpi = module_load(error, size);
    if (!mpi)
        return -1;
    rf_ranks *ranks = engine->state = calloc(1, sizeof *ranks);
    if (!ranks || ranks_reserve(engine, RF_RESERVED_DIM) < 0)
        return rf_fail(error, size, "engine 'mpi': out of memory");
    if (mpi->init(reason, sizeof reason) < 0)
        return rf_fail(error, size, "engine 'mpi': %s", reason);
    ranks->mpi = mpi;
    engine->rank = mpi->rank();
    snprintf(name, sizeof name, "threads:%u", threads_of_rank(mpi->local()));
    if (rf_engine_inner(engine, argument ? argument : name, error, size) < 0)
        return -1;
    engine->f32.run = rf32_ranks_run;
    engine->f64.run = rf64_ranks_run;
    engine->f32.self = engine->f64.self = engine;
    engine->f32.fleet = rf32_ranks_fleet;
    engine->f64.fleet = rf64_ranks_fleet;
    rf_fail(engine->name, sizeof engine->name, "mpi:%s", rf_engine_name(engine->inner));
    return 0;
}

static void ranks_close(rf_engine *engine)
{
    rf_ranks *ranks = engine->state;
    if (!ranks)
        return;
    if (ranks->mpi)
        ranks->mpi->finalize();
    rf_room_free(&ranks->room);
    free(ranks->numbers);
    free(ranks);
}

static int ranks_share(const rf_engine *engine, void *bytes, size_t count)
{
    return ((const rf_ranks *)engine->state)->mpi->share(bytes, count);
}

const rf_engine_kind rf_kind_mpi = {"mpi", ranks_open, ranks_close, ranks_reserve, ranks_share};
