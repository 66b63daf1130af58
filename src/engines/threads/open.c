/* The threads engine by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "threads.h"

/* The number of threads from the argument, by default one per CPU; 0 if it is invalid. */
static unsigned thread_count(const char *argument)
{
    if (!argument)
        return rf_cpus_allowed() < RF_THREADS_MAX ? rf_cpus_allowed() : RF_THREADS_MAX;
    size_t digits = strspn(argument, "0123456789");
    if (digits == 0 || digits > 9 || argument[digits] != '\0')
        return 0;
    unsigned long count = strtoul(argument, NULL, 10);
    return count <= RF_THREADS_MAX ? (unsigned)count : 0;
}

static int threads_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    unsigned workers = thread_count(argument);
    if (workers == 0)
        return rf_fail(error, size, "engine 'threads:%.40s': the number of threads must be 1 to %d", argument, RF_THREADS_MAX);
    if (rf_engine_inner(engine, "simd", error, size) < 0)
        return -1;
    rf_threads *threads = engine->state = calloc(1, sizeof *threads);
    if (!threads || rf_tallies_make(&threads->tallies, workers, RF_RESERVED_DIM) < 0)
        return rf_fail(error, size, "engine 'threads:%u': out of memory", workers);
    char reason[128];
    threads->workers = workers;
    threads->pool = rf_pool_open(workers, reason, sizeof reason);
    if (!threads->pool)
        return rf_fail(error, size, "engine 'threads:%u': %s", workers, reason);
    engine->f32.run = rf32_threads_run;
    engine->f64.run = rf64_threads_run;
    engine->f32.fleet = rf32_threads_fleet;
    engine->f64.fleet = rf64_threads_fleet;
    engine->f32.self = engine->f64.self = engine;
    snprintf(engine->name, sizeof engine->name, "threads:%u", workers);
    return 0;
}

static void threads_close(rf_engine *engine)
{
    rf_threads *threads = engine->state;
    if (!threads)
        return;
    rf_pool_close(threads->pool);
    rf_tallies_free(&threads->tallies);
    free(threads);
}

static int threads_reserve(rf_engine *engine, unsigned dim)
{
    rf_threads *threads = engine->state;
    return rf_tallies_make(&threads->tallies, threads->workers, dim);
}

typedef struct spreading {
    const rf_sharing *sharing;
    uint32_t begin, count;
    unsigned parts;
    rf_status status[RF_THREADS_MAX];
} spreading;

static void spread_part(void *context, unsigned worker)
{
    spreading *s = context;
    const rf_part part = rf_part_at(s->begin, s->count, worker, s->parts);
    s->status[worker] = part.count > 0 ? s->sharing->work(s->sharing->context, part.begin, part.count) : RF_OK;
}

static rf_status threads_spread(const rf_engine *engine, const rf_sharing *sharing, uint32_t begin, uint32_t count)
{
    const rf_threads *threads = engine->state;
    const uint32_t worth = count / RF_PART_ALIGN;
    spreading s = {.sharing = sharing, .begin = begin, .count = count, .parts = worth < threads->workers ? worth : threads->workers};
    if (s.parts < 2 || sharing->one_thread || !rf_engine_take(engine))
        return sharing->work(sharing->context, begin, count);
    rf_pool_run(threads->pool, spread_part, &s, s.parts);
    rf_engine_give(engine);
    for (unsigned i = 0; i < s.parts; i++)
        if (s.status[i] < 0)
            return s.status[i];
    return RF_OK;
}

const rf_engine_kind rf_kind_threads = {.name = "threads", .open = threads_open, .close = threads_close, .reserve = threads_reserve, .spread = threads_spread};
