#include "sweep.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "machine.h"
#include "pool.h"
#include "weighted.h"

enum { AT_ONCE = 8 };

typedef struct worker {
    rf_cloud *cloud;
    rf_answer answer;
    uint64_t *times_asked;
    uint64_t errors, queries;
    int failed;
} worker;

typedef struct job {
    const rf_objects *objects;
    const rf_training *training;
    rf_outcome *outcome;
    rf_progress *progress;
    void *context;
    worker *workers;
    atomic_uint next;
    double *cost; /* by object: summed in order, whoever did it */
} job;

static int answer_make(const rf_training *t, const rf_rules *rules, int with_story, rf_answer *a)
{
    size_t most = rf_cloud_queries(t, rules);
    *a = (rf_answer){0};
    a->posterior = calloc(t->classes, sizeof *a->posterior);
    a->asked = malloc((most + 1) * sizeof *a->asked);
    a->story = with_story ? malloc((most + 1) * t->classes * sizeof *a->story) : NULL;
    if (a->posterior && a->asked && (a->story || !with_story))
        return 0;
    rf_answer_free(a);
    return -1;
}

void rf_answer_free(rf_answer *a)
{
    free(a->posterior);
    free(a->asked);
    free(a->story);
    *a = (rf_answer){0};
}

static rf_object object_at(const rf_objects *objects, uint32_t i)
{
    size_t at = (size_t)rf_objects_row(objects, i) * objects->table->features;
    rf_object object = {objects->table->bytes + at, objects->table->missing ? objects->table->missing + at : NULL, i};
    return object;
}

static void record(const job *j, worker *w, uint32_t i)
{
    rf_outcome *o = j->outcome;
    const rf_answer *a = &w->answer;
    uint32_t classes = j->training->classes;
    w->errors += a->class != j->objects->table->label[rf_objects_row(j->objects, i)];
    w->queries += a->queries;
    j->cost[i] = a->cost;
    for (uint32_t k = 0; k < a->queries; k++)
        w->times_asked[a->asked[k]]++;
    if (o->class)
        o->class[i] = (uint8_t)a->class;
    if (o->queries)
        o->queries[i] = a->queries;
    if (o->posterior)
        memcpy(o->posterior + (size_t)i * classes, a->posterior, classes * sizeof *a->posterior);
    if (o->asked) {
        o->asked[i] = malloc((a->queries + 1) * sizeof *a->asked);
        if (o->asked[i])
            memcpy(o->asked[i], a->asked, a->queries * sizeof *a->asked);
        else
            w->failed = 1;
    }
}

static void work(void *context, unsigned index)
{
    job *j = context;
    worker *w = &j->workers[index];
    for (;;) {
        uint32_t begin = atomic_fetch_add(&j->next, AT_ONCE);
        if (begin >= j->objects->count)
            return;
        for (uint32_t i = begin; i < begin + AT_ONCE && i < j->objects->count; i++) {
            rf_object object = object_at(j->objects, i);
            rf_cloud_classify(w->cloud, &object, &w->answer);
            record(j, w, i);
        }
        if (index == 0 && j->progress)
            j->progress(j->context, begin, j->objects->count);
    }
}

static int open_workers(const rf_training *training, const rf_rules *rules, worker *workers, unsigned count,
                        char *error, size_t size)
{
    for (unsigned i = 0; i < count; i++) {
        worker *w = &workers[i];
        w->times_asked = calloc(training->features, sizeof *w->times_asked);
        w->cloud = rf_cloud_open(training, rules, error, size);
        if (!w->cloud || !w->times_asked || answer_make(training, rules, 0, &w->answer) < 0)
            return rf_fail(error, size, "out of memory for %u threads", count);
    }
    return 0;
}

/* Lays the training set out for the weighted filter, without features that tell nothing, which are taken out of its
   rules; the mask is to be freed. The paper's filter reads rows. */
static int lay_out(const rf_training *training, rf_rules *rules, uint8_t **mask, rf_training *laid, char *error, size_t size)
{
    *laid = *training;
    if (rules->method != RF_WEIGHTED)
        return 0;
    const uint64_t rows = (uint64_t)training->count * training->features; /* as they are, in columns, and half as much of sketches */
    if (rf_memory_check("a training set laid out for queries", rows * 5 / 2, error, size) < 0)
        return -1;
    *mask = malloc(training->features);
    if (!*mask || rf_weighted_relevant(training, rules, *mask) < 0)
        return rf_fail(error, size, "out of memory for %u features", training->features);
    rules->mask = *mask;
    if (rf_training_lay(training, 0, *mask, laid) < 0)
        return rf_fail(error, size, "out of memory for %u training vectors", training->count);
    return 0;
}

static int finish(const job *j, unsigned threads, char *error, size_t size)
{
    rf_outcome *o = j->outcome;
    int failed = 0;
    o->errors = o->all_queries = 0;
    o->all_cost = 0;
    for (unsigned i = 0; i < threads; i++) {
        o->errors += j->workers[i].errors;
        o->all_queries += j->workers[i].queries;
        failed |= j->workers[i].failed;
        for (uint32_t f = 0; f < j->training->features && o->times_asked; f++)
            o->times_asked[f] += j->workers[i].times_asked[f];
    }
    for (uint32_t i = 0; i < j->objects->count; i++)
        o->all_cost += j->cost[i];
    return failed ? rf_fail(error, size, "out of memory for the answers") : 0;
}

int rf_run(const rf_training *training, const rf_rules *rules, const rf_objects *objects, unsigned threads,
           rf_outcome *outcome, rf_progress *progress, void *context, char *error, size_t size)
{
    unsigned worth = (objects->count + AT_ONCE - 1) / AT_ONCE;
    threads = threads < worth ? threads : worth > 0 ? worth : 1;
    rf_rules relevant = *rules;
    rf_training laid = {0};
    uint8_t *mask = NULL;
    job j = {.objects = objects, .training = training, .outcome = outcome, .progress = progress, .context = context};
    j.workers = calloc(threads, sizeof *j.workers);
    j.cost = calloc((size_t)objects->count + 1, sizeof *j.cost);
    rf_pool *pool = rf_pool_open(threads, error, size);
    int status = pool ? 0 : -1;
    if (status == 0 && (!j.workers || !j.cost))
        status = rf_fail(error, size, "out of memory for %u threads", threads);
    if (status == 0)
        status = lay_out(training, &relevant, &mask, &laid, error, size);
    if (status == 0)
        status = open_workers(&laid, &relevant, j.workers, threads, error, size);
    if (status == 0) {
        atomic_init(&j.next, 0);
        rf_pool_run(pool, work, &j, threads);
        if (progress)
            progress(context, objects->count, objects->count);
        status = finish(&j, threads, error, size);
    }
    rf_pool_close(pool);
    for (unsigned i = 0; i < threads && j.workers; i++) {
        rf_cloud_close(j.workers[i].cloud);
        rf_answer_free(&j.workers[i].answer);
        free(j.workers[i].times_asked);
    }
    free(j.workers);
    free(j.cost);
    rf_training_unlay(&laid);
    free(mask);
    return status;
}

int rf_run_one(const rf_training *training, const rf_rules *rules, const rf_objects *objects, uint32_t index,
               rf_answer *answer, char *error, size_t size)
{
    rf_object object = object_at(objects, index);
    rf_rules relevant = *rules;
    rf_training laid = {0};
    uint8_t *mask = NULL;
    rf_cloud *cloud = lay_out(training, &relevant, &mask, &laid, error, size) < 0
                          ? NULL
                          : rf_cloud_open(&laid, &relevant, error, size);
    int status = cloud ? answer_make(training, rules, 1, answer) : -1;
    if (status == 0)
        rf_cloud_classify(cloud, &object, answer);
    else if (cloud)
        rf_fail(error, size, "out of memory for a story");
    rf_cloud_close(cloud);
    rf_training_unlay(&laid);
    free(mask);
    return status;
}
