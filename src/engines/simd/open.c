/* The simd engine by name. */
#include <stdio.h>
#include <string.h>

#include "simd.h"
#include "targets.h"

static int simd_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    const unsigned best = rf_target_best();
    unsigned target = argument ? 0 : best;
    char known[128] = "";
    while (argument && rf_target_names[target] && strcmp(argument, rf_target_names[target]) != 0) {
        const size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", length ? ", " : "", rf_target_names[target++]);
    }
    if (!rf_target_names[target])
        return rf_fail(error, size, "engine 'simd' knows no target '%.40s'; there are %s", argument, known);
    if (target > best)
        return rf_fail(error, size, "engine 'simd:%s': this CPU does not have it; its best is simd:%s", argument, rf_target_names[best]);
    engine->state = (void *)(uintptr_t)rf_target_names[target];
    engine->f32.run = rf32_simd_run;
    engine->f64.run = rf64_simd_run;
    engine->f32.self = engine->f64.self = engine->state;
    snprintf(engine->name, sizeof engine->name, "simd:%s", rf_target_names[target]);
    return 0;
}

const rf_engine_kind rf_kind_simd = {.name = "simd", .open = simd_open};
