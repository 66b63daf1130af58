/* Many objects, on several threads; or one, with its story. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "machine.h"
#include "pool.h"
#include "weighted.h"

enum { AT_ONCE = 8 };

typedef struct worker {
    rfc_filter *filter;
    rfc_answer answer;
    uint64_t *times_asked;
    uint64_t errors, queries;
    int failed;
} worker;

typedef struct job {
    const rfc_objects *objects;
    const rfc_training *training;
    rfc_outcome *outcome;
    rfc_progress *progress;
    void *context;
    worker *workers;
    atomic_uint next;
    double *cost; /* by object: summed in order, whoever did it */
} job;

static int answer_make(const rfc_training *t, const rfc_rules *rules, int with_story, rfc_answer *a)
{
    size_t max = rfc_filter_queries(t, rules);
    *a = (rfc_answer){0};
    a->posterior = calloc(t->classes, sizeof *a->posterior);
    a->asked = malloc((max + 1) * sizeof *a->asked);
    a->story = with_story ? malloc((max + 1) * t->classes * sizeof *a->story) : NULL;
    if (a->posterior && a->asked && (a->story || !with_story))
        return 0;
    rfc_answer_free(a);
    return -1;
}

void rfc_answer_free(rfc_answer *a)
{
    free(a->posterior);
    free(a->asked);
    free(a->story);
    *a = (rfc_answer){0};
}

static rfc_object object_at(const rfc_objects *objects, uint32_t i)
{
    size_t at = (size_t)rfc_objects_row(objects, i) * objects->table->features;
    rfc_object object = {objects->table->bytes + at, objects->table->missing ? objects->table->missing + at : NULL, i};
    return object;
}

static void record(const job *j, worker *w, uint32_t i)
{
    rfc_outcome *o = j->outcome;
    const rfc_answer *a = &w->answer;
    uint32_t classes = j->training->classes;
    const uint32_t *label = j->objects->table->label;
    w->errors += label && a->decided != label[rfc_objects_row(j->objects, i)];
    w->queries += a->queries;
    j->cost[i] = a->cost;
    for (uint32_t k = 0; k < a->queries; k++)
        w->times_asked[a->asked[k]]++;
    if (o->decided)
        o->decided[i] = (uint8_t)a->decided;
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
            rfc_object object = object_at(j->objects, i);
            rfc_filter_classify(w->filter, &object, &w->answer);
            record(j, w, i);
        }
        if (index == 0 && j->progress)
            j->progress(j->context, begin, j->objects->count);
    }
}

static int open_workers(const rfc_training *training, const rfc_rules *rules, worker *workers, unsigned count,
                        char *error, size_t size)
{
    for (unsigned i = 0; i < count; i++) {
        worker *w = &workers[i];
        w->times_asked = calloc(training->features, sizeof *w->times_asked);
        w->filter = rfc_filter_open(training, rules, error, size);
        if (!w->filter || !w->times_asked || answer_make(training, rules, 0, &w->answer) < 0)
            return rf_fail(error, size, "out of memory for %u threads", count);
    }
    return 0;
}

/* Are the rules what the header says, and the objects rows of bytes like the training set's? */
static int check(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects, char *error,
                 size_t size)
{
    const rfc_table *table = objects->table;
    int fine = rules->stop >= 0 && rules->stop <= 0.5 && rules->budget > 0 && rules->max_cost >= 0 &&
               rules->floor >= 0 && rules->floor <= 100 && rules->least_sample >= 1 && rules->least_sample <= 1e6 &&
               rules->particles >= 2 && rules->particles <= 60000 && rules->restarts >= 1 && rules->restarts <= 1000;
    for (uint32_t j = 0; j < training->features && rules->cost && fine; j++)
        fine = rules->cost[j] > 0 && rules->cost[j] < INFINITY;
    if (!fine)
        return rf_fail(error, size, "the rules are out of range");
    fine = table->bytes && table->features == training->features;
    for (uint32_t i = 0; i < objects->count && fine; i++)
        fine = rfc_objects_row(objects, i) < table->rows;
    return fine ? 0 : rf_fail(error, size, "%s: objects are not rows of %u bytes", table->source, training->features);
}

/* Lays the training set out for the weighted filter, without features that tell nothing, which are taken out of its
   rules; the mask is to be freed. The paper's filter reads rows. */
static int lay_out(const rfc_training *training, rfc_rules *rules, uint8_t **mask, rfc_training *laid, char *error,
                   size_t size)
{
    *laid = *training;
    if (rules->method != RFC_WEIGHTED)
        return 0;
    const uint64_t rows =
        (uint64_t)training->count * training->features; /* as they are, in columns, and half as much of sketches */
    if (rf_memory_check("a training set laid out for queries", rows * 5 / 2, error, size) < 0)
        return -1;
    *mask = malloc(training->features);
    if (!*mask || rfc_weighted_relevant(training, rules, *mask) < 0)
        return rf_fail(error, size, "out of memory for %u features", training->features);
    rules->mask = *mask;
    if (rfc_training_lay(training, 0, *mask, laid) < 0)
        return rf_fail(error, size, "out of memory for %u training vectors", training->count);
    return 0;
}

static int finish(const job *j, unsigned threads, char *error, size_t size)
{
    rfc_outcome *o = j->outcome;
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

int rfc_classify(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects, unsigned threads,
                 rfc_progress *progress, void *context, rfc_outcome *outcome, char *error, size_t size)
{
    if (check(training, rules, objects, error, size) < 0)
        return -1;
    threads = threads > 0 ? threads : 1;
    unsigned worth = (objects->count + AT_ONCE - 1) / AT_ONCE;
    threads = threads < worth ? threads : worth > 0 ? worth : 1;
    rfc_rules relevant = *rules;
    rfc_training laid = {0};
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
        rfc_filter_close(j.workers[i].filter);
        rfc_answer_free(&j.workers[i].answer);
        free(j.workers[i].times_asked);
    }
    free(j.workers);
    free(j.cost);
    rfc_training_unlay(&laid);
    free(mask);
    return status;
}

int rfc_classify_one(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects, uint32_t index,
                     rfc_answer *answer, char *error, size_t size)
{
    const rfc_objects wanted = {objects->table, objects->rows ? objects->rows + index : &index, 1};
    if (index >= objects->count)
        return rf_fail(error, size, "there is no object %u of %u", index, objects->count);
    if (check(training, rules, &wanted, error, size) < 0)
        return -1;
    rfc_object object = object_at(objects, index);
    rfc_rules relevant = *rules;
    rfc_training laid = {0};
    uint8_t *mask = NULL;
    rfc_filter *filter = lay_out(training, &relevant, &mask, &laid, error, size) < 0
                             ? NULL
                             : rfc_filter_open(&laid, &relevant, error, size);
    int status = filter ? answer_make(training, rules, 1, answer) : -1;
    if (status == 0)
        rfc_filter_classify(filter, &object, answer);
    else if (filter)
        rf_fail(error, size, "out of memory for a story");
    rfc_filter_close(filter);
    rfc_training_unlay(&laid);
    free(mask);
    return status;
}
