/* Engines by name: finds their kind, composes them, owns them. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Making ---- */

static const rf_engine_kind *const kinds[] = {
#define RF_ENGINE(name, argument, is_module) &rf_kind_##name,
#include "list.def"
#undef RF_ENGINE
};

static const char names[] = /* ", serial, simd[:TARGET], ..." */
#define RF_ENGINE(name, argument, is_module) ", " #name argument
#include "list.def"
#undef RF_ENGINE
    ;

static const rf_engine_kind *find_kind(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strlen(kinds[i]->name) == length && memcmp(kinds[i]->name, name, length) == 0)
            return kinds[i];
    return NULL;
}

rf_engine *rf_engine_open(const char *name, char *error, size_t size)
{
    if (!name || !memchr(name, '\0', RF_NAME_MAX + 1)) {
        rf_fail(error, size, "there is no engine '%.40s'; engines are %s", name ? name : "", names + 2);
        return NULL;
    }
    const char *colon = strchr(name, ':');
    const rf_engine_kind *kind = find_kind(name, colon ? (size_t)(colon - name) : strlen(name));
    if (!kind) {
        rf_fail(error, size, "there is no engine '%.40s'; engines are %s", name, names + 2);
        return NULL;
    }
    rf_engine *engine = calloc(1, sizeof *engine);
    if (!engine) {
        rf_fail(error, size, "engine '%s': out of memory", name);
        return NULL;
    }
    engine->kind = kind;
    atomic_flag_clear(&engine->is_busy);
    if (kind->open(engine, colon ? colon + 1 : NULL, error, size) < 0) {
        rf_engine_close(engine);
        return NULL;
    }
    if (engine->inner && engine->inner->rank)
        engine->rank = engine->inner->rank;
    return engine;
}

int rf_engine_inner(rf_engine *engine, const char *name, char *error, size_t size)
{
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
    if (!engine || dim == 0 || dim > RF_DIM_MAX)
        return -1;
    if (engine->inner && rf_engine_reserve(engine->inner, dim) < 0)
        return -1;
    if (!rf_engine_take(engine))
        return -1;
    const int failed = engine->kind->reserve ? engine->kind->reserve(engine, dim) : 0;
    rf_engine_give(engine);
    return failed;
}

/* ---- Asking ---- */

const rf32_engine *rf_engine_f32(const rf_engine *engine) { return engine ? &engine->f32 : NULL; }
const rf64_engine *rf_engine_f64(const rf_engine *engine) { return engine ? &engine->f64 : NULL; }
const char *rf_engine_name(const rf_engine *engine) { return engine ? engine->name : "serial"; }
unsigned rf_engine_rank(const rf_engine *engine) { return engine ? engine->rank : 0; }

const char *rf_engine_complaint(const rf_engine *engine)
{
    for (; engine; engine = engine->inner)
        if (engine->complaint[0])
            return engine->complaint;
    return "";
}

int rf_engine_share(const rf_engine *engine, void *bytes, size_t count)
{
    if (!bytes && count > 0)
        return -1;
    for (; engine; engine = engine->inner)
        if (engine->kind->share)
            return engine->kind->share(engine, bytes, count);
    return 0;
}

rf_status rf_engine_spread(const rf_engine *engine, const rf_sharing *sharing, uint32_t begin, uint32_t count)
{
    for (; engine; engine = engine->inner)
        if (engine->kind->spread)
            return engine->kind->spread(engine, sharing, begin, count);
    return sharing->work(sharing->context, begin, count);
}
