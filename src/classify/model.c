#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "machine.h"

enum { TRIED = 1000 };     /* training objects in a pilot that compares rules */
#define SHARPEST 8.0       /* sharpest temper with a smaller sample */

static int is_above_zero(const double *x, uint32_t count)
{
    for (uint32_t i = 0; x && i < count; i++)
        if (!(x[i] > 0 && x[i] < INFINITY))
            return 0;
    return 1;
}

int rfc_rules_check(const rfc_training *t, const rfc_rules *r, char *error, size_t size)
{
    int fine = r->stop >= 0 && r->stop <= 0.5 && r->budget > 0 && r->max_cost >= 0 && r->floor >= 0 &&
               r->floor <= 100 && r->least_sample >= 1 && r->least_sample <= 1e6 && r->most_sample >= 1 &&
               r->most_sample <= 1e6 && r->sharpest >= 1 && r->sharpest <= 8 && r->particles >= 2 &&
               r->particles <= 60000 && r->restarts >= 1 && r->restarts <= 1000 &&
               is_above_zero(r->prior, t->classes) && is_above_zero(r->weight, t->classes);
    for (uint32_t j = 0; j < t->features && fine; j++)
        fine = (!r->cost || (r->cost[j] >= 0 && r->cost[j] < INFINITY)) && (!r->group || r->group[j] <= t->features);
    return fine ? 0 : rf_fail(error, size, "the rules are out of range");
}

/* A copy of `count` elements; null stays null. Sets *failed when out of memory. */
static void *copy(const void *from, size_t count, size_t each, int *failed)
{
    void *to = from ? malloc(count * each + 1) : NULL;
    if (to)
        memcpy(to, from, count * each);
    *failed |= from && !to;
    return to;
}

void rfc_model_free(rfc_model *m)
{
    if (m->is_loaded) { /* free only its own arrays */
        m->laid.columns = m->laid.sketches = NULL;
        free(m->laid.class_begin);
    }
    rfc_training_unlay(&m->laid);
    rfc_names_free(&m->classes);
    rfc_names_free(&m->names);
    rfc_names_free(&m->labels);
    rfc_coding_free(m->coding);
    rfc_tree_free(&m->tree);
    rfc_pilot_free(&m->pilot);
    rfc_pilot_free(&m->fitted);
    free(m->mask);
    free(m->cost);
    free(m->group);
    free(m->prior);
    free(m->weight);
    free(m->bytes);
}

/* Lays the training set out for the weighted filter. Removes uninformative features from the model's rules. */
static int lay_out(const rfc_training *t, rfc_model *m, char *error, size_t size)
{
    const uint64_t rows = (uint64_t)t->count * t->features; /* again as columns, and half as much for sketches */
    if (rf_memory_check("a training set laid out for queries", rows * 5 / 2, error, size) < 0)
        return -1;
    for (uint32_t j = 0; j < t->features; j++)
        m->mask[j] = !(m->rules.mask && !m->rules.mask[j]);
    if (!m->rules.keeps_all && rfc_weighted_relevant(t, &m->rules, m->mask) < 0)
        return rf_fail(error, size, "out of memory for %u features", t->features);
    m->rules.mask = m->mask;
    if (rfc_training_lay(t, 0, m->mask, &m->laid) < 0 || rfc_tree_make(&m->laid, &m->rules, &m->tree) < 0)
        return rf_fail(error, size, "out of memory for %u training vectors", t->count);
    return 0;
}

int rfc_model_make(const rfc_training *t, const rfc_rules *rules, rfc_model *m, char *error, size_t size)
{
    int failed = 0, status = 0;
    if (rfc_rules_check(t, rules, error, size) < 0)
        return -1;
    *m = (rfc_model){.laid = *t, .budget = rules->budget, .rules = *rules};
    m->rules.cost = m->cost = copy(rules->cost, t->features, sizeof *m->cost, &failed);
    m->rules.group = m->group = copy(rules->group, t->features, sizeof *m->group, &failed);
    m->rules.prior = m->prior = copy(rules->prior, t->classes, sizeof *m->prior, &failed);
    m->rules.weight = m->weight = copy(rules->weight, t->classes, sizeof *m->weight, &failed);
    m->mask = malloc(t->features);
    if (failed || !m->mask)
        status = rf_fail(error, size, "out of memory for %u features", t->features);
    else if (rules->method == RFC_WEIGHTED)
        status = lay_out(t, m, error, size);
    if (status < 0)
        rfc_model_free(m);
    return status;
}

/* Makes a model and runs its pilot. */
static rfc_model *fit(const rfc_training *t, const rfc_rules *rules, unsigned threads, rfc_progress *progress,
                      void *context, char *error, size_t size)
{
    rfc_model *m = malloc(sizeof *m);
    if (!m) {
        rf_fail(error, size, "out of memory for a model");
        return NULL;
    }
    if (rfc_model_make(t, rules, m, error, size) == 0) {
        if (rules->method != RFC_WEIGHTED || rfc_pilot_run(m, rules, threads, progress, context, error, size) == 0)
            return m;
        rfc_model_free(m);
    }
    free(m);
    return NULL;
}

/* Progress of work that is not shown: it may be stopped. */
typedef struct unseen {
    rfc_progress *progress;
    void *context;
} unseen;

static int may_stop(void *context, uint64_t done, uint64_t total)
{
    const unseen *u = context;
    (void)done;
    return u->progress ? u->progress(u->context, total, total) : 0;
}

/* Tries other rules. In some tables classes change faster between nearby vectors: a smaller sample then resolves more,
   with larger random errors. And a feature that is uninformative alone may be informative together with another. Keeps
   the model that loses less in the pilot by more than chance; frees `m`. */
static rfc_model *try_others(rfc_model *m, const rfc_training *t, const rfc_rules *rules, unsigned threads,
                             rfc_progress *progress, void *context, char *error, size_t size)
{
    static const double samples[] = {0, 100, 25, 6}; /* 0: the rules' own */
    rfc_rules chosen = *rules;
    int failed = 0, is_pruned = 0;
    uint8_t *seems_to_tell = copy(m->mask, t->features, 1, &failed);
    if (failed)
        rf_fail(error, size, "out of memory for %u features", t->features);
    for (uint32_t j = 0; j < t->features; j++)
        is_pruned |= !(rules->mask && !rules->mask[j]) && !m->mask[j];
    for (int all = 0; all <= is_pruned; all++)
        for (size_t i = !all; i < sizeof samples / sizeof samples[0] && !failed; i++) {
            rfc_rules other = *rules;
            if (samples[i] >= rules->most_sample)
                continue;
            if (samples[i] > 0) {
                other.most_sample = samples[i];
                other.least_sample = fmin(rules->least_sample, samples[i]);
                other.sharpest = SHARPEST;
            }
            if (!all && !rfc_pilot_is_wide(t, rules)) /* the same features would be found again */
                other.mask = seems_to_tell;
            other.keeps_all = all || other.mask == seems_to_tell;
            other.pilot = rules->pilot < TRIED ? rules->pilot : TRIED;
            unseen quietly = {progress, context};
            rfc_model *tried = fit(t, &other, threads, may_stop, &quietly, error, size), *worse = tried;
            failed = !tried;
            if (tried && rfc_pilot_gain(tried, m) > RFC_BEYOND_CHANCE) {
                worse = m;
                m = tried;
                chosen = other;
            }
            rfc_model_close(worse);
        }
    const uint32_t wanted = t->count < rules->pilot ? t->count : rules->pilot;
    if (!failed && m->pilot.objects < wanted) {
        m->rules.pilot = rules->pilot;
        rfc_pilot_free(&m->pilot);
        failed = rfc_pilot_run(m, &chosen, threads, progress, context, error, size) < 0;
    }
    free(seems_to_tell);
    if (!failed)
        return m;
    rfc_model_close(m);
    return NULL;
}

rfc_model *rfc_model_fit(const rfc_training *t, const rfc_rules *rules, unsigned threads, rfc_progress *progress,
                         void *context, char *error, size_t size)
{
    if (!t || !rules) {
        rf_fail(error, size, "a model needs a training set and rules");
        return NULL;
    }
    rfc_model *m = fit(t, rules, threads, progress, context, error, size);
    if (m && rules->method == RFC_WEIGHTED && rules->tries && rules->pilot > 0)
        m = try_others(m, t, rules, threads, progress, context, error, size);
    return m;
}

void rfc_model_close(rfc_model *m)
{
    if (m)
        rfc_model_free(m);
    free(m);
}

const rfc_rules *rfc_model_rules(const rfc_model *m) { return &m->rules; }
uint32_t rfc_model_features(const rfc_model *m) { return m->laid.features; }
const rfc_names *rfc_model_classes(const rfc_model *m) { return &m->classes; }
const rfc_names *rfc_model_names(const rfc_model *m) { return &m->names; }
const rfc_coding *rfc_model_coding(const rfc_model *m) { return m->coding; }
uint64_t rfc_model_checksum(const rfc_model *m) { return m->checksum; }

const char *rfc_model_label(const rfc_model *m) { return m->labels.count > 0 ? m->labels.text[0] : ""; }

uint32_t rfc_model_class(const rfc_model *m, const char *label)
{
    if (m->labels.count <= 1) { /* every label is a class */
        const uint32_t c = rfc_names_find(&m->classes, label);
        return c < m->classes.count ? c : RFC_NO_LABEL;
    }
    for (uint32_t i = 1; i < m->labels.count; i++)
        if (strcmp(m->labels.text[i], label) == 0)
            return m->of_label[i - 1];
    return RFC_NO_LABEL;
}

int rfc_model_describe(rfc_model *m, const rfc_task *task, const rfc_table *table, rfc_coding *coding)
{
    if (!m || !task || !table)
        return -1;
    char number[16];
    int failed = 0;
    rfc_names_free(&m->classes);
    rfc_names_free(&m->names);
    rfc_names_free(&m->labels);
    for (uint32_t c = 0; c < task->classes.count; c++)
        failed |= rfc_names_add(&m->classes, task->classes.text[c]) < 0;
    failed |= rfc_names_add(&m->labels, table->label_name) < 0;
    for (uint32_t i = 0; i < task->labels.count; i++)
        failed |= rfc_names_add(&m->labels, task->labels.text[i]) < 0;
    memcpy(m->of_label, task->of_label, sizeof m->of_label);
    for (uint32_t j = 0; j < m->laid.features; j++) {
        snprintf(number, sizeof number, "%u", j);
        failed |= rfc_names_add(&m->names, j < table->names.count ? table->names.text[j] : number) < 0;
    }
    if (failed)
        return -1;
    rfc_coding_free(m->coding);
    m->coding = coding;
    return 0;
}

/* The model from its saved bytes, without the training set. */
static rfc_model *free_of_table(const rfc_model *from, char *error, size_t size)
{
    const size_t count = rfc_model_save(from, NULL, 0);
    void *bytes = count ? aligned_alloc(RFC_MODEL_HEAD, count) : NULL; /* a multiple of it */
    rfc_model *m = NULL;
    if (!bytes || rfc_model_save(from, bytes, count) != count)
        rf_fail(error, size, "out of memory for a model");
    else if ((m = rfc_model_load(bytes, count, error, size)))
        m->bytes = bytes;
    if (!m)
        free(bytes);
    return m;
}

rfc_model *rfc_model_learn(rfc_table *table, const rfc_wish *wish, rfc_expected *expected, char *error, size_t size)
{
    rfc_table none = {0};
    rfc_task task;
    rfc_coding *coding = NULL;
    rfc_training *training = NULL;
    rfc_model *fitted = NULL, *m = NULL;
    uint64_t left_out = 0;
    if (!table || !wish || !expected) {
        rf_fail(error, size, "a model needs a table, a wish, and room for what is expected");
        return NULL;
    }
    if (rfc_task_parse("labels", NULL, &task, error, size) < 0)
        return NULL;
    if (rfc_task_apply(&task, table, &none, &left_out, error, size) == 0 &&
        (coding = rfc_coding_make(table, RFC_SCALE_AUTO, error, size)) &&
        rfc_coding_apply(coding, table, error, size) == 0)
        training = rfc_training_open(table, NULL, table->rows, task.classes.count, wish->seed, error, size);
    if (training) {
        rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, training);
        rules.seed = wish->seed;
        rules.cost = wish->cost;
        rules.budget = wish->budget > 0 ? wish->budget : rules.budget;
        fitted = rfc_model_fit(training, &rules, wish->threads, wish->progress, wish->context, error, size);
    }
    if (fitted) {
        rfc_model_stop(fitted, wish->goal, wish->value, expected);
        if (rfc_model_describe(fitted, &task, table, coding) < 0)
            rf_fail(error, size, "out of memory for a model");
        else {
            coding = NULL;
            m = free_of_table(fitted, error, size);
        }
    }
    rfc_model_close(fitted);
    rfc_training_close(training);
    rfc_coding_free(coding);
    rfc_task_free(&task);
    return m;
}
