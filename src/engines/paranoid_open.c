/* The paranoid engine by name. */
#include <stdio.h>
#include <stdlib.h>

#include "paranoid.h"

static int paranoid_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    if (rf_engine_inner(engine, argument ? argument : "serial", error, size) < 0)
        return -1;
    rf_room *room = engine->state = calloc(1, sizeof *room);
    if (!room || rf_room_make(room, RF_PARANOID_TALLIES, RF_RESERVED_DIM) < 0)
        return rf_fail(error, size, "engine 'paranoid': out of memory");
    engine->f32.run = rf32_paranoid_run;
    engine->f64.run = rf64_paranoid_run;
    engine->f32.self = engine->f64.self = engine;
    rf_fail(engine->name, sizeof engine->name, "paranoid:%s", rf_engine_name(engine->inner));
    return 0;
}

static void paranoid_close(rf_engine *engine)
{
    rf_room *room = engine->state;
    if (room)
        rf_room_free(room);
    free(room);
}

static int paranoid_reserve(rf_engine *engine, unsigned dim) { return rf_room_make(engine->state, RF_PARANOID_TALLIES, dim); }

const rf_engine_kind rf_kind_paranoid = {"paranoid", paranoid_open, paranoid_close, paranoid_reserve, NULL};
