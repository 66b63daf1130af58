/* Classifies many objects on several threads; or one, with its story. */
#include "model.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "machine.h"
#include "pool.h"

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
    int is_stopped; /* written by the first worker */
    double *cost, *doubt; /* by object: summed in order, whichever thread computed them */
    const rfc_watch *watch;
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
    if (!a)
        return;
    free(a->posterior);
    free(a->asked);
    free(a->story);
    *a = (rfc_answer){0};
}

static rfc_object object_at(const rfc_objects *objects, uint32_t i)
{
    size_t at = (size_t)rfc_objects_row(objects, i) * objects->table->features;
    return (rfc_object){objects->table->bytes + at, objects->table->missing ? objects->table->missing + at : NULL, i,
                        0};
}

static void record(const job *j, worker *w, uint32_t i)
{
    rfc_outcome *o = j->outcome;
    const rfc_answer *a = &w->answer;
    uint32_t classes = j->training->classes;
    const uint32_t *label = j->objects->table->label;
    const uint32_t truth = label ? label[rfc_objects_row(j->objects, i)] : RFC_NO_LABEL;
    w->errors += truth != RFC_NO_LABEL && a->decided != truth;
    w->queries += a->queries;
    j->cost[i] = a->cost;
    j->doubt[i] = 1 - (double)a->posterior[a->decided];
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
            object.without = j->watch ? j->watch->vector[i] + 1 : 0;
            rfc_filter_classify(w->filter, &object, &w->answer);
            record(j, w, i);
            if (j->watch)
                j->watch->see(j->watch->context, i, &w->answer);
        }
        if (index == 0 && j->progress && j->progress(j->context, begin, j->objects->count)) {
            j->is_stopped = 1;
            atomic_store(&j->next, j->objects->count);
        }
    }
}

static int open_workers(const rfc_model *model, const rfc_watch *watch, worker *workers, unsigned count, char *error,
                        size_t size)
{
    const rfc_training *training = &model->laid;
    for (unsigned i = 0; i < count; i++) {
        worker *w = &workers[i];
        w->times_asked = calloc(training->features, sizeof *w->times_asked);
        w->filter = rfc_filter_open(training, &model->rules, &model->tree, error, size);
        if (!w->filter || !w->times_asked || answer_make(training, &model->rules, watch != NULL, &w->answer) < 0)
            return rf_fail(error, size, "out of memory for %u threads", count);
    }
    return 0;
}

/* Are the objects byte rows in the format of the training set? */
static int check(const rfc_training *training, const rfc_objects *objects, char *error, size_t size)
{
    const rfc_table *table = objects->table;
    int fine = table->bytes && table->features == training->features;
    for (uint32_t i = 0; i < objects->count && fine; i++)
        fine = rfc_objects_row(objects, i) < table->rows;
    return fine ? 0 : rf_fail(error, size, "%s: objects are not rows of %u bytes", table->source, training->features);
}

static int finish(const job *j, unsigned threads, char *error, size_t size)
{
    rfc_outcome *o = j->outcome;
    int failed = 0;
    o->errors = o->all_queries = 0;
    o->all_cost = o->all_doubt = 0;
    for (unsigned i = 0; i < threads; i++) {
        o->errors += j->workers[i].errors;
        o->all_queries += j->workers[i].queries;
        failed |= j->workers[i].failed;
        for (uint32_t f = 0; f < j->training->features && o->times_asked; f++)
            o->times_asked[f] += j->workers[i].times_asked[f];
    }
    for (uint32_t i = 0; i < j->objects->count; i++) {
        o->all_cost += j->cost[i];
        o->all_doubt += j->doubt[i];
    }
    return failed ? rf_fail(error, size, "out of memory for the answers") : 0;
}

int rfc_sweep(const rfc_model *model, const rfc_watch *watch, const rfc_objects *objects, unsigned threads,
              rfc_progress *progress, void *context, rfc_outcome *outcome, char *error, size_t size)
{
    if (check(&model->laid, objects, error, size) < 0)
        return -1;
    threads = threads > 0 ? threads : 1;
    unsigned worth = (objects->count + AT_ONCE - 1) / AT_ONCE;
    threads = threads < worth ? threads : worth > 0 ? worth : 1;
    job j = {.objects = objects,
             .training = &model->laid,
             .outcome = outcome,
             .progress = progress,
             .context = context,
             .watch = watch};
    j.workers = calloc(threads, sizeof *j.workers);
    j.cost = calloc((size_t)objects->count + 1, sizeof *j.cost);
    j.doubt = calloc((size_t)objects->count + 1, sizeof *j.doubt);
    rf_pool *pool = rf_pool_open(threads, error, size);
    int status = pool ? 0 : -1;
    if (status == 0 && (!j.workers || !j.cost || !j.doubt))
        status = rf_fail(error, size, "out of memory for %u threads", threads);
    if (status == 0)
        status = open_workers(model, watch, j.workers, threads, error, size);
    if (status == 0) {
        atomic_init(&j.next, 0);
        rf_pool_run(pool, work, &j, threads);
        if (!j.is_stopped && progress)
            j.is_stopped = progress(context, objects->count, objects->count);
        status = j.is_stopped ? rf_fail(error, size, "stopped") : finish(&j, threads, error, size);
    }
    rf_pool_close(pool);
    for (unsigned i = 0; i < threads && j.workers; i++) {
        rfc_filter_close(j.workers[i].filter);
        rfc_answer_free(&j.workers[i].answer);
        free(j.workers[i].times_asked);
    }
    free(j.workers);
    free(j.cost);
    free(j.doubt);
    return status;
}

int rfc_model_classify(const rfc_model *model, const rfc_objects *objects, unsigned threads, rfc_progress *progress,
                       void *context, rfc_outcome *outcome, char *error, size_t size)
{
    if (!model || !objects || !objects->table || !outcome)
        return rf_fail(error, size, "classifying needs a model and objects");
    return rfc_sweep(model, NULL, objects, threads, progress, context, outcome, error, size);
}

int rfc_model_classify_one(const rfc_model *model, const rfc_objects *objects, uint32_t index, rfc_answer *answer,
                           char *error, size_t size)
{
    if (!model || !objects || !objects->table || !answer)
        return rf_fail(error, size, "classifying needs a model and objects");
    const rfc_objects wanted = {objects->table, objects->rows ? objects->rows + index : &index, 1};
    if (index >= objects->count)
        return rf_fail(error, size, "there is no object %u of %u", index, objects->count);
    if (check(&model->laid, &wanted, error, size) < 0)
        return -1;
    rfc_object object = object_at(objects, index);
    rfc_filter *filter = rfc_filter_open(&model->laid, &model->rules, &model->tree, error, size);
    int status = filter ? answer_make(&model->laid, &model->rules, 1, answer) : -1;
    if (status == 0)
        rfc_filter_classify(filter, &object, answer);
    else if (filter)
        rf_fail(error, size, "out of memory for a story");
    rfc_filter_close(filter);
    return status;
}

int rfc_classify(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects, unsigned threads,
                 rfc_progress *progress, void *context, rfc_outcome *outcome, char *error, size_t size)
{
    if (!training || !rules || !objects || !objects->table || !outcome)
        return rf_fail(error, size, "classifying needs a training set, rules and objects");
    rfc_model model;
    if (rfc_model_make(training, rules, &model, error, size) < 0)
        return -1;
    int status = rfc_sweep(&model, NULL, objects, threads, progress, context, outcome, error, size);
    rfc_model_free(&model);
    return status;
}

int rfc_classify_one(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects, uint32_t index,
                     rfc_answer *answer, char *error, size_t size)
{
    if (!training || !rules || !objects || !objects->table || !answer)
        return rf_fail(error, size, "classifying needs a training set, rules and objects");
    rfc_model model;
    if (rfc_model_make(training, rules, &model, error, size) < 0)
        return -1;
    int status = rfc_model_classify_one(&model, objects, index, answer, error, size);
    rfc_model_free(&model);
    return status;
}
