/* The threads engine: parts of the range on the workers of a pool. Compiled per precision. */
#include "threads.h"

typedef struct RF(job) {
    const RF(engine) *inner;
    const rf_tallies *tallies;
    const RF(task) *task;
    uint32_t begin, count;
    unsigned parts;
    rf_status status[RF_THREADS_MAX];
} RF(job);

static void RF(work)(void *context, unsigned worker)
{
    RF(job) *job = context;
    RF(tally) *tally = rf_tallies_at(job->tallies, worker);
    rf_part part = rf_part_at(job->begin, job->count, worker, job->parts);
    RF(tally_clear)(tally, job->task->model->dim, job->task->update);
    job->status[worker] = job->inner->run(job->inner->self, job->task, part.begin, part.count, tally);
}

rf_status RF(threads_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    const rf_engine *engine = self;
    const RF(engine) *inner = RF_IN_PRECISION(engine->inner);
    const rf_threads *threads = engine->state;
    unsigned parts = rf_parts(count, threads->workers);
    if (parts == 1 || task->model->one_thread || !rf_engine_take(engine))
        return inner->run(inner->self, task, begin, count, tally);

    if (task->model->dim > threads->tallies.dim) {
        rf_engine_give(engine);
        return inner->run(inner->self, task, begin, count, tally);
    }
    RF(job) job;
    rf_status status = RF_OK;
    job.inner = inner;
    job.tallies = &threads->tallies;
    job.task = task;
    job.begin = begin;
    job.count = count;
    job.parts = parts;
    rf_pool_run(threads->pool, RF(work), &job, parts);
    for (unsigned i = 0; i < parts && status >= 0; i++)
        status = job.status[i];
    for (unsigned i = 0; i < parts && status >= 0; i++)
        status = RF(tally_add)(tally, rf_tallies_at(&threads->tallies, i)) < 0 ? RF_REFUSED_ENGINE : RF_OK;
    rf_engine_give(engine);
    return status;
}

/* ---- Fleets: parts of the filters on the workers ---- */

typedef struct RF(fleet_job) {
    const RF(engine) *inner;
    const RF(fleet) *fleet;
    unsigned parts;
    rf_status status[RF_THREADS_MAX];
} RF(fleet_job);

static void RF(fleet_work)(void *context, unsigned worker)
{
    RF(fleet_job) *job = context;
    RF(fleet) part = *job->fleet;
    uint32_t from = (uint32_t)((uint64_t)part.count * worker / job->parts), to = (uint32_t)((uint64_t)part.count * (worker + 1) / job->parts);
    part.filters += from;
    part.records += (size_t)from * (part.model->settings + 1u);
    part.reports = part.reports ? part.reports + from : NULL;
    part.count = to - from;
    job->status[worker] = RF(fleet_run)(&part, job->inner);
}

rf_status RF(threads_fleet)(void *self, const RF(fleet) *fleet)
{
    const rf_engine *engine = self;
    const RF(engine) *inner = RF_IN_PRECISION(engine->inner);
    const rf_threads *threads = engine->state;
    uint32_t worth = fleet->count / RF_PART_FILTERS;
    unsigned parts = worth < threads->workers ? worth : threads->workers;
    if (parts < 2 || fleet->model->one_thread || !rf_engine_take(engine))
        return RF(fleet_run)(fleet, inner);

    RF(fleet_job) job;
    rf_status notes = RF_OK;
    job.inner = inner;
    job.fleet = fleet;
    job.parts = parts;
    rf_pool_run(threads->pool, RF(fleet_work), &job, parts);
    rf_engine_give(engine);
    for (unsigned i = 0; i < parts; i++) {
        if (job.status[i] < 0)
            return job.status[i];
        notes |= job.status[i];
    }
    return notes;
}
