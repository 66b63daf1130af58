#include "digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int digits_open(lab *l)
{
    if (lab_data(l))
        lab_note(l, "The digits are those given with --data.");
    else
        lab_note(l, "**These are synthetic digits, not MNIST:** they show the shapes, and say nothing about the paper's numbers. "
                    "With `--data DIR`, the directory of MNIST's four files, all is about those.");
    return 0;
}

classify_config digits_config(const lab *l, rfc_method method, int split)
{
    classify_config c = classify_config_default("reproduce");
    c.source.data = lab_data(l) ? lab_data(l) : "synthetic";
    c.seed = lab_seed(l);
    c.threads = lab_threads(l);
    c.method = (int)method;
    if (split) {
        c.split[0] = 10;
        c.split[1] = 1;
    }
    return c;
}

const classify_data *digits_load(lab *l, const char *task, int split)
{
    static struct digits {
        char task[32];
        int split;
        classify_data data;
    } kept[4]; /* several experiments use the same digits */
    struct digits *d = kept;
    while (d < kept + 4 && d->task[0] && (strcmp(d->task, task) != 0 || d->split != split))
        d++;
    if (d == kept + 4) {
        lab_fail(l, "more digits than there is room for");
        return NULL;
    }
    if (d->task[0])
        return &d->data;
    classify_config c = digits_config(l, RFC_PAPER, split);
    c.task = task;
    if (classify_load(&c, &d->data) != CLI_OK) {
        lab_fail(l, "there are no digits");
        return NULL;
    }
    snprintf(d->task, sizeof d->task, "%s", task);
    d->split = split;
    return &d->data;
}

double digits_error(const digits_result *r, double *standard_error)
{
    const double n = (double)r->objects, p = (double)r->errors / n;
    *standard_error = sqrt(fmax(p * (1 - p), p > 0 ? 0 : 1 / n) / n);
    return p;
}

/* ---- Classifying ---- */

typedef struct sweep {
    const classify_trial *trial;
    uint32_t at_once;
    rfc_outcome *outcomes; /* by item */
} sweep;

static int classify_some(lab *l, void *context, uint32_t item, const rf_engine *engine)
{
    (void)engine;
    const sweep *s = context;
    rfc_objects objects = s->trial->objects;
    rfc_rules rules = s->trial->rules;
    char error[300];
    objects.rows += item * s->at_once;
    objects.count = objects.count - item * s->at_once < s->at_once ? objects.count - item * s->at_once : s->at_once;
    rules.seed += item; /* rfc_classify numbers the objects of each item from 0 on */
    return rfc_classify(s->trial->training, &rules, &objects, 1, NULL, NULL, &s->outcomes[item], error, sizeof error) < 0 ? lab_fail(l, "%s", error) : 0;
}

int digits_classify(lab *l, const classify_trial *trial, uint64_t *times_asked, digits_result *result)
{
    const uint32_t features = trial->objects.table->features, count = trial->objects.count;
    /* The weighted filter has a slow start, the paper's filter has none. The number of objects per item must not
       depend on the number of threads. */
    sweep s = {trial, trial->rules.method == RFC_WEIGHTED ? 2500 : 50, NULL};
    const uint32_t items = (count + s.at_once - 1) / s.at_once;
    uint64_t *asked = calloc((size_t)items * features, sizeof *asked);
    s.outcomes = calloc(items, sizeof *s.outcomes);
    int status = asked && s.outcomes ? 0 : lab_fail(l, "not enough memory");
    for (uint32_t i = 0; i < items && status == 0; i++)
        s.outcomes[i].times_asked = asked + (size_t)i * features;
    if (status == 0)
        status = lab_each(l, items, classify_some, &s);
    *result = (digits_result){count, 0, 0};
    for (uint32_t i = 0; i < items && status == 0; i++) {
        result->errors += s.outcomes[i].errors;
        result->queries += s.outcomes[i].all_queries;
        for (uint32_t f = 0; f < features && times_asked; f++)
            times_asked[f] += asked[(size_t)i * features + f];
    }
    free(asked);
    free(s.outcomes);
    return status;
}
