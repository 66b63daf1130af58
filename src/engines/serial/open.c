/* The serial engine by name. */
#include <string.h>

#include "serial.h"

static int serial_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    if (argument)
        return rf_fail(error, size, "engine 'serial' takes no argument, but got '%.40s'", argument);
    engine->f32.run = rf32_any_run;
    engine->f64.run = rf64_any_run;
    strcpy(engine->name, "serial");
    return 0;
}

const rf_engine_kind rf_kind_serial = {.name = "serial", .open = serial_open};
