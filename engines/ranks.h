/* The mpi engine's state and operation; self is its rf_engine. */
#include "engine.h"
#include "mpi_module.h"

/* Numbers that are summed over the ranks: a flag and five counters, then the sums of the tally. */
#define RF_RANKS_HEAD 6u
#define RF_RANKS_NUMBERS(dim) (RF_RANKS_HEAD + (dim) + RF_TRIANGLE(dim))

typedef struct rf_ranks {
    const rf_mpi_module *mpi;
    rf_room room;      /* one tally */
    uint64_t *numbers; /* for room.dim */
} rf_ranks;

rf32_run rf32_ranks_run;
rf64_run rf64_ranks_run;
