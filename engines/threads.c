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
