/* The serial engine by name: that of the core. */
#include <string.h>

#include "engine.h"

static int serial_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    if (argument)
        return rf_fail(error, size, "engine 'serial' takes no argument, but got '%.40s'", argument);
    engine->f32 = rf32_serial;
    engine->f64 = rf64_serial;
    strcpy(engine->name, "serial");
    return 0;
}

const rf_engine_kind rf_kind_serial = {.name = "serial", .open = serial_open};
