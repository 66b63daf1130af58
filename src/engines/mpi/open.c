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
    if (!rf_engine_take(engine))
        return -1;
    const int failed = ((const rf_ranks *)engine->state)->mpi->share(bytes, count);
    rf_engine_give(engine);
    return failed;
}

int rf_ranks_compare(rf_engine *engine, const uint64_t of[RF_RANKS_SUBJECTS], uint32_t update)
{
    static const char *const names[] = {"versions of rejfilt", "precisions or layouts of structures", "parameters, settings or charts of the model", "sources of the model",
                                        "options", "seeds", "records", "beliefs", "likelihoods"};
    const rf_ranks *ranks = engine->state;
    int64_t max[2 * RF_RANKS_SUBJECTS];
    char differ[512] = "";
    for (unsigned i = 0; i < RF_RANKS_SUBJECTS; i++) {
        max[2 * i] = (int64_t)of[i];
        max[2 * i + 1] = ~(int64_t)of[i];
    }
    if (ranks->mpi->max(max, 2 * RF_RANKS_SUBJECTS) < 0)
        return rf_fail(engine->complaint, sizeof engine->complaint, "MPI failed at update %u", update);
    for (unsigned i = 0; i < RF_RANKS_SUBJECTS; i++) {
        const size_t length = strlen(differ);
        if (max[2 * i] != ~max[2 * i + 1] && (i != RF_RANKS_LIKELIHOOD || !length)) /* other likelihoods may follow from the rest */
            snprintf(differ + length, sizeof differ - length, "%s%s", length ? "; " : "", names[i]);
    }
    return !*differ ? 0 : rf_fail(engine->complaint, sizeof engine->complaint, "the ranks of the MPI job disagree at update %u; different on them: %s", update, differ);
}

enum { SHARED = 8 }; /* items that every rank computes, to be compared */

/* FNV-1a over the bits of the first items, and their range. A NaN has many bits. */
static uint64_t hash_first(const rf_sharing *sharing, uint32_t begin, uint32_t count, uint32_t first)
{
    uint64_t hash = (RF_RANKS_START ^ begin) * 0x100000001b3u ^ count;
    for (uint32_t i = begin; i < begin + first; i++) {
        const double value = sharing->out[i] == sharing->out[i] ? sharing->out[i] : 0;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Runs this rank's part, and compares with other ranks. The first items are computed by all. Returns a status that is negative on
   all ranks, or on none. `status`: of the rank so far. */
static rf_status spread_part(rf_engine *engine, const rf_sharing *sharing, uint32_t begin, uint32_t count, rf_part part, rf_status status)
{
    const rf_ranks *ranks = engine->state;
    const uint32_t first = count < SHARED ? count : SHARED;
    if (status >= 0 && (part.begin > begin || part.count == 0))
        status = sharing->work(sharing->context, begin, first);
    if (status >= 0 && part.count > 0)
        status = rf_engine_spread(engine->inner, sharing, part.begin, part.count);
    const int64_t hash = (int64_t)hash_first(sharing, begin, count, first);
    int64_t max[] = {status < 0, hash, ~hash};
    if (ranks->mpi->max(max, 3) < 0)
        return RF_REFUSED_ENGINE;
    if (max[0])
        return status < 0 ? status : RF_REFUSED_ENGINE;
    if (max[1] == ~max[2])
        return RF_OK;
    rf_fail(engine->complaint, sizeof engine->complaint, "the ranks of the MPI job compute different numbers: their models, options, seeds, records or versions differ");
    return RF_REFUSED_ENGINE;
}

/* Every rank computes its part and leaves zero bits elsewhere; the sum of the bits over all ranks is the whole
   result. */
static rf_status spread(rf_engine *engine, const rf_sharing *sharing, uint32_t begin, uint32_t count)
{
    const rf_ranks *ranks = engine->state;
    const rf_part part = rf_part_at(begin, count, engine->rank, ranks->mpi->size());
    uint64_t *bits = calloc(count + 1u, sizeof *bits);
    engine->complaint[0] = '\0';
    rf_status status = spread_part(engine, sharing, begin, count, part, bits ? RF_OK : RF_REFUSED_ENGINE);
    if (status >= 0 && part.count > 0)
        memcpy(bits + (part.begin - begin), sharing->out + part.begin, part.count * sizeof *bits);
    if (status >= 0 && ranks->mpi->sum(bits, count) < 0)
        status = RF_REFUSED_ENGINE;
    if (status >= 0)
        memcpy(sharing->out + begin, bits, count * sizeof *bits);
    free(bits);
    return status;
}

static rf_status ranks_spread(const rf_engine *engine, const rf_sharing *sharing, uint32_t begin, uint32_t count)
{
    if (!sharing->out)
        return rf_engine_spread(engine->inner, sharing, begin, count);
    if (!rf_engine_take(engine))
        return RF_REFUSED_BUSY;
    const rf_status status = spread((rf_engine *)(uintptr_t)engine, sharing, begin, count);
    rf_engine_give(engine);
    return status;
}

const rf_engine_kind rf_kind_mpi = {.name = "mpi", .open = ranks_open, .close = ranks_close, .reserve = ranks_reserve, .share = ranks_share, .spread = ranks_spread};
