/* The paranoid engine by name. */
#include <stdio.h>
#include <stdlib.h>

#include "paranoid.h"

static int paranoid_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    if (rf_engine_inner(engine, argument ? argument : "serial", error, size) < 0)
        return -1;
    rf_tallies *tallies = engine->state = calloc(1, sizeof *tallies);
    if (!tallies || rf_tallies_make(tallies, RF_PARANOID_TALLIES, RF_RESERVED_DIM) < 0)
        return rf_fail(error, size, "engine 'paranoid': out of memory");
    engine->f32.run = rf32_paranoid_run;
    engine->f64.run = rf64_paranoid_run;
    engine->f32.self = engine->f64.self = engine;
    rf_fail(engine->name, sizeof engine->name, "paranoid:%s", rf_engine_name(engine->inner));
    return 0;
}

static void paranoid_close(rf_engine *engine)
{
    rf_tallies *tallies = engine->state;
    if (tallies)
        rf_tallies_free(tallies);
    free(tallies);
}

static int paranoid_reserve(rf_engine *engine, unsigned dim) { return rf_tallies_make(engine->state, RF_PARANOID_TALLIES, dim); }

const rf_engine_kind rf_kind_paranoid = {.name = "paranoid", .open = paranoid_open, .close = paranoid_close, .reserve = paranoid_reserve};
