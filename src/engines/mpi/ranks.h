/* The mpi engine's state and operations; self is its rf_engine. Fleets are not split: every rank updates all filters,
   since they are small and no message is then needed. */
#include "engine.h"
#include "mpi_module.h"

/* Numbers that are summed over the ranks: a flag and five counters, then the tally's sums. */
#define RF_RANKS_HEAD 6u
#define RF_RANKS_NUMBERS(dim) (RF_RANKS_HEAD + (dim) + RF_TRIANGLE(dim))

/* What all ranks must have in common. */
enum {
    RF_RANKS_VERSION,
    RF_RANKS_LAYOUT,
    RF_RANKS_MODEL,
    RF_RANKS_SOURCE,
    RF_RANKS_OPTIONS,
    RF_RANKS_SEED,
    RF_RANKS_RECORDS,
    RF_RANKS_BELIEF,
    RF_RANKS_LIKELIHOOD,
    RF_RANKS_SUBJECTS
};
#define RF_RANKS_START 0xcbf29ce484222325u /* of a hash */

typedef struct rf_ranks {
    const rf_mpi_module *mpi;
    uint64_t model; /* identifies that of the latest task; 0: none yet */
    rf_tallies tallies; /* one tally */
    uint64_t *numbers; /* sized for tallies.dim */
} rf_ranks;

/* Compares hashes with those of all ranks; every rank must call it. Returns 0, or -1 with a complaint that names what differs. */
int rf_ranks_compare(rf_engine *engine, const uint64_t of[RF_RANKS_SUBJECTS], uint32_t update);

rf32_run rf32_ranks_run;
rf64_run rf64_ranks_run;
rf32_run_fleet rf32_ranks_fleet;
rf64_run_fleet rf64_ranks_fleet;
