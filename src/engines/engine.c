/* Engines by name: finds their kind, composes them, owns them. */
#include "engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rf_fail(char *error, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (error && size > 0)
        vsnprintf(error, size, format, arguments);
    va_end(arguments);
    return -1;
}

/* ---- Kinds ---- */

static int serial_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    if (argument)
        return rf_fail(error, size, "engine 'serial' takes no argument, but got '%.40s'", argument);
    engine->f32 = rf32_serial;
    engine->f64 = rf64_serial;
    strcpy(engine->name, "serial");
    return 0;
}

static const rf_engine_kind kind_serial = {"serial", serial_open, NULL, NULL, NULL};
static const rf_engine_kind kind_leaf = {"leaf", NULL, NULL, NULL, NULL};
static const rf_engine_kind *const kinds[] = {&kind_serial, &rf_kind_simd, &rf_kind_threads, &rf_kind_mpi, &rf_kind_paranoid};

static const rf_engine_kind *find_kind(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strlen(kinds[i]->name) == length && memcmp(kinds[i]->name, name, length) == 0)
            return kinds[i];
    return NULL;
}

/* ---- Making ---- */

static rf_engine *engine_new(const rf_engine_kind *kind, rf_engine *inner)
{
    rf_engine *engine = calloc(1, sizeof *engine);
    if (engine) {
        engine->kind = kind;
        engine->inner = inner;
    }
    return engine;
}

rf_engine *rf_engine_leaf(const char *name, rf32_engine f32, rf64_engine f64)
{
    rf_engine *engine = engine_new(&kind_leaf, NULL);
    if (engine) {
        engine->f32 = f32;
        engine->f64 = f64;
        snprintf(engine->name, sizeof engine->name, "%s", name);
    }
    return engine;
}

rf_engine *rf_engine_open_over(const char *name, rf_engine *inner, char *error, size_t size)
{
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    const rf_engine_kind *kind = find_kind(name, length);
    rf_engine *engine = NULL;
    if (!kind || strlen(name) > RF_NAME_MAX)
        rf_fail(error, size, "there is no engine '%.40s'; engines are serial, simd[:ISA], threads[:N], mpi[:ENGINE], paranoid[:ENGINE]", name);
    else if (!(engine = engine_new(kind, inner)))
        rf_fail(error, size, "engine '%s': out of memory", name);
    if (!engine) {
        rf_engine_close(inner);
        return NULL;
    }
    if (kind->open(engine, colon ? colon + 1 : NULL, error, size) < 0) {
        rf_engine_close(engine);
        return NULL;
    }
    if (engine->inner && engine->inner->rank)
        engine->rank = engine->inner->rank;
    return engine;
}

rf_engine *rf_engine_open(const char *name, char *error, size_t size) { return rf_engine_open_over(name, NULL, error, size); }

int rf_engine_inner(rf_engine *engine, const char *name, char *error, size_t size)
{
    if (!engine->inner)
        engine->inner = rf_engine_open(name, error, size);
    return engine->inner ? 0 : -1;
}

void rf_engine_close(rf_engine *engine)
{
    if (!engine)
        return;
    if (engine->kind->close)
        engine->kind->close(engine);
    rf_engine_close(engine->inner);
    free(engine);
}

int rf_engine_reserve(rf_engine *engine, unsigned dim)
{
    if (dim == 0 || dim > RF_DIM_MAX)
        return -1;
    if (engine->inner && rf_engine_reserve(engine->inner, dim) < 0)
        return -1;
    return engine->kind->reserve ? engine->kind->reserve(engine, dim) : 0;
}

/* ---- Asking ---- */

const rf32_engine *rf_engine_f32(const rf_engine *engine) { return &engine->f32; }
const rf64_engine *rf_engine_f64(const rf_engine *engine) { return &engine->f64; }
const char *rf_engine_name(const rf_engine *engine) { return engine->name; }
unsigned rf_engine_rank(const rf_engine *engine) { return engine->rank; }

const char *rf_engine_complaint(const rf_engine *engine)
{
    for (; engine; engine = engine->inner)
        if (engine->complaint[0])
            return engine->complaint;
    return "";
}

int rf_engine_share(const rf_engine *engine, void *bytes, size_t count)
{
    for (; engine; engine = engine->inner)
        if (engine->kind && engine->kind->share)
            return engine->kind->share(engine, bytes, count);
    return 0;
}
