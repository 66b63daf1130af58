/* The threads engine: parts of the range on the workers of a pool. Compiled per precision. */
#include "threads.h"

typedef struct RF(job) {
    const rf_engine *inner;
    const rf_room *room;
    const RF(task) *task;
    uint32_t begin, count;
    unsigned parts;
    rf_status status[RF_THREADS_MAX];
} RF(job);

#if RF_PRECISION == 32
#define INNER(engine) (&(engine)->f32)
#else
#define INNER(engine) (&(engine)->f64)
#endif

static void RF(work)(void *context, unsigned worker)
{
    RF(job) *job = context;
    RF(tally) *tally = rf_room_at(job->room, worker);
    rf_part part = rf_part_at(job->begin, job->count, worker, job->parts);
    RF(tally_clear)(tally, job->task->model->dim, job->task->update);
    job->status[worker] = INNER(job->inner)->run(INNER(job->inner)->self, job->task, part.begin, part.count, tally);
}

rf_status RF(threads_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    rf_engine *engine = self;
    const rf_threads *threads = engine->state;
    unsigned parts = rf_parts(count, threads->workers);
    if (parts == 1 || task->model->dim > threads->room.dim)
        return INNER(engine->inner)->run(INNER(engine->inner)->self, task, begin, count, tally);

    RF(job) job;
    job.inner = engine->inner;
    job.room = &threads->room;
    job.task = task;
    job.begin = begin;
    job.count = count;
    job.parts = parts;
    rf_pool_run(threads->pool, RF(work), &job, parts);
    for (unsigned i = 0; i < parts; i++)
        if (job.status[i] < 0)
            return RF_REFUSED_ENGINE;
    for (unsigned i = 0; i < parts; i++)
        if (RF(tally_add)(tally, rf_room_at(&threads->room, i)) < 0)
            return RF_REFUSED_ENGINE;
    return RF_OK;
}

/* ---- Fleets: parts of the filters on the workers ---- */

typedef struct RF(fleet_job) {
    const RF(engine) *inner;
    const RF(fleet) *fleet;
    unsigned parts;
    rf_status status[RF_THREADS_MAX];
} RF(fleet_job);

static rf_status RF(inner_fleet)(const RF(engine) *inner, const RF(fleet) *fleet)
{
    return inner->fleet ? inner->fleet(inner->self, fleet) : RF(fleet_run)(fleet, NULL, inner);
}

static void RF(fleet_work)(void *context, unsigned worker)
{
    RF(fleet_job) *job = context;
    RF(fleet) part = *job->fleet;
    uint32_t groups = (part.count + RF_FLEET_LANES - 1) / RF_FLEET_LANES; /* whole groups fill the lanes */
    uint32_t from = (uint32_t)((uint64_t)groups * worker / job->parts) * RF_FLEET_LANES;
    uint32_t to = (uint32_t)((uint64_t)groups * (worker + 1) / job->parts) * RF_FLEET_LANES;
    to = to < part.count ? to : part.count;
    part.filters += from;
    part.records += (size_t)from * (part.model->settings + 1u);
    part.reports = part.reports ? part.reports + from : NULL;
    part.count = to - from;
    job->status[worker] = RF(inner_fleet)(job->inner, &part);
}

rf_status RF(threads_fleet)(void *self, const RF(fleet) *fleet)
{
    rf_engine *engine = self;
    const rf_threads *threads = engine->state;
    uint32_t groups = (fleet->count + RF_FLEET_LANES - 1) / RF_FLEET_LANES;
    unsigned parts = groups < threads->workers ? groups : threads->workers;
    if (parts < 2)
        return RF(inner_fleet)(INNER(engine->inner), fleet);

    RF(fleet_job) job;
    rf_status notes = RF_OK;
    job.inner = INNER(engine->inner);
    job.fleet = fleet;
    job.parts = parts;
    rf_pool_run(threads->pool, RF(fleet_work), &job, parts);
    for (unsigned i = 0; i < parts; i++) {
        if (job.status[i] < 0)
            return job.status[i];
        notes |= job.status[i];
    }
    return notes;
}
