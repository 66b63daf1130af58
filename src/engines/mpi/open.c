/* The mpi engine by name: loads the module and opens the inner engine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "module.h"
#include "ranks.h"

static int ranks_reserve(rf_engine *engine, unsigned dim)
{
    rf_ranks *ranks = engine->state;
    if (ranks->numbers && dim <= ranks->tallies.dim)
        return 0;
    uint64_t *numbers = malloc(8 * RF_RANKS_NUMBERS(dim));
    if (!numbers || rf_tallies_make(&ranks->tallies, 1, dim) < 0) {
        free(numbers);
        return -1;
    }
    free(ranks->numbers);
    ranks->numbers = numbers;
    return 0;
}

/* The ranks of a machine share its CPUs equally, unless mpirun has bound them. */
static unsigned threads_of_rank(unsigned local)
{
    unsigned fair = rf_cpus_online() / local, max = rf_cpus_allowed();
    unsigned count = fair < max ? fair : max;
    return count < 1 ? 1 : count < RF_THREADS_MAX ? count : RF_THREADS_MAX;
}

static int ranks_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    char reason[512], name[32];
    if (argument && strstr(argument, "mpi"))
        return rf_fail(error, size, "engine 'mpi' cannot run '%.40s' inside: ranks are not split twice", argument);
    const rf_mpi_module *mpi = rf_module_load("mpi", RF_MPI_ABI, "install libopenmpi-dev and openmpi-bin and build again", error, size);
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
    rf_tallies_free(&ranks->tallies);
    free(ranks->numbers);
    free(ranks);
}

static int ranks_share(const rf_engine *engine, void *bytes, size_t count)
{
    return ((const rf_ranks *)engine->state)->mpi->share(bytes, count);
}

/* Every rank computes its part and leaves zero bits elsewhere; the sum of the bits over all ranks is the whole
   result. */
static rf_status ranks_spread(const rf_engine *engine, const rf_sharing *sharing, uint32_t begin, uint32_t count)
{
    const rf_ranks *ranks = engine->state;
    if (!sharing->out)
        return rf_engine_spread(engine->inner, sharing, begin, count);
    const rf_part part = rf_part_at(begin, count, engine->rank, ranks->mpi->size());
    uint64_t *bits = calloc(count, sizeof *bits);
    rf_status status = bits ? RF_OK : RF_REFUSED_ENGINE;
    if (status >= 0 && part.count > 0)
        status = rf_engine_spread(engine->inner, sharing, part.begin, part.count);
    uint64_t failed = status >= 0 ? 0 : 1;
    if (ranks->mpi->sum(&failed, 1) < 0 || failed > 0) {
        free(bits);
        return status < 0 ? status : RF_REFUSED_ENGINE;
    }
    if (part.count > 0)
        memcpy(bits + (part.begin - begin), sharing->out + part.begin, part.count * sizeof *bits);
    if (ranks->mpi->sum(bits, count) < 0)
        status = RF_REFUSED_ENGINE;
    else
        memcpy(sharing->out + begin, bits, count * sizeof *bits);
    free(bits);
    return status;
}

const rf_engine_kind rf_kind_mpi = {.name = "mpi", .open = ranks_open, .close = ranks_close, .reserve = ranks_reserve, .share = ranks_share, .spread = ranks_spread};
