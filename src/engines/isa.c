/* The simd engine by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simd.h"

static const char *const isa_names[RF_ISA_COUNT] = {"baseline", "avx2", "avx512"};

/* The instruction set of that name, by default the best; RF_ISA_COUNT for an unknown one. */
static rf_isa isa_find(const char *name)
{
    if (!name)
        return rf_isa_best();
    unsigned isa = 0;
    while (isa < RF_ISA_COUNT && strcmp(name, isa_names[isa]) != 0)
        isa++;
    return (rf_isa)isa;
}

static int simd_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    rf_isa isa = isa_find(argument);
    if (isa == RF_ISA_COUNT)
        return rf_fail(error, size, "engine 'simd' knows no instruction set '%.40s'; there are baseline, avx2, avx512", argument);
    if (isa > rf_isa_best())
        return rf_fail(error, size, "engine 'simd:%s': this CPU does not have it; its best is simd:%s", argument, isa_names[rf_isa_best()]);
    rf_isa *self = malloc(sizeof *self);
    if (!self)
        return rf_fail(error, size, "engine 'simd': out of memory");
    *self = isa;
    engine->state = self;
    engine->f32.run = rf32_simd_run;
    engine->f64.run = rf64_simd_run;
    engine->f32.fleet = rf32_simd_fleet;
    engine->f64.fleet = rf64_simd_fleet;
    engine->f32.self = engine->f64.self = self;
    snprintf(engine->name, sizeof engine->name, "simd:%s", isa_names[isa]);
    return 0;
}

static void simd_close(rf_engine *engine) { free(engine->state); }

const rf_engine_kind rf_kind_simd = {"simd", simd_open, simd_close, NULL, NULL};
