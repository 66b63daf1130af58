/* The mpi engine's state and operations; self is its rf_engine. Fleets are not split: every rank updates all filters,
   since they are small and no message is then needed. */
#include "engine.h"
#include "mpi_module.h"

/* Numbers that are summed over the ranks: a flag and five counters, then the tally's sums. */
#define RF_RANKS_HEAD 6u
#define RF_RANKS_NUMBERS(dim) (RF_RANKS_HEAD + (dim) + RF_TRIANGLE(dim))

typedef struct rf_ranks {
    const rf_mpi_module *mpi;
    rf_tallies tallies; /* one tally */
    uint64_t *numbers; /* sized for tallies.dim */
} rf_ranks;

rf32_run rf32_ranks_run;
rf64_run rf64_ranks_run;
rf32_run_fleet rf32_ranks_fleet;
rf64_run_fleet rf64_ranks_fleet;
