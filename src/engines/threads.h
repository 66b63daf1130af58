/* The threads engine's state and operations; self is its rf_engine. */
#include "engine.h"
#include "pool.h"

typedef struct rf_threads {
    rf_pool *pool;
    unsigned workers;
    rf_room room; /* a tally for each worker */
} rf_threads;

rf32_run rf32_threads_run;
rf64_run rf64_threads_run;
rf32_run_fleet rf32_threads_fleet;
rf64_run_fleet rf64_threads_fleet;
