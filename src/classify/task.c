#define _POSIX_C_SOURCE 200809L
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define NO_CLASS RFC_LABELS_MAX

static const struct {
    const char *name, *classes;
} known[] = {
    {"labels", ""},
    {"zero-one", "0:zero 1:one"},
    {"even-odd", "0,2,4,6,8:even 1,3,5,7,9:odd"},
    {"digits", "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 9:9"},
};

void rfc_task_free(rfc_task *task)
{
    if (!task)
        return;
    rfc_names_free(&task->classes);
    rfc_names_free(&task->labels);
}

/* Adds one "label,label:class" from `text`, which it modifies. */
static int add_class(rfc_task *task, char *text, char *error, size_t size)
{
    char *colon = strrchr(text, ':'), *rest = NULL;
    if (!colon || colon == text || colon[1] == '\0')
        return rf_fail(error, size, "'%s' is not LABEL,...:CLASS", text);
    *colon = '\0';
    if (rfc_names_find(&task->classes, colon + 1) < task->classes.count)
        return rf_fail(error, size, "class '%s' is there twice", colon + 1);
    uint32_t class = rfc_names_intern(&task->classes, colon + 1);
    if (class >= RFC_LABELS_MAX)
        return rf_fail(error, size, "more than %d classes", RFC_LABELS_MAX);
    for (char *label = strtok_r(text, ",", &rest); label; label = strtok_r(NULL, ",", &rest)) {
        if (rfc_names_find(&task->labels, label) < task->labels.count)
            return rf_fail(error, size, "label '%s' is in two classes", label);
        uint32_t at = rfc_names_intern(&task->labels, label);
        if (at >= RFC_LABELS_MAX)
            return rf_fail(error, size, "more than %d labels", RFC_LABELS_MAX);
        task->of_label[at] = (uint8_t) class;
    }
    return 0;
}

int rfc_task_parse(const char *name, const char *classes, rfc_task *task, char *error, size_t size)
{
    if (!task || (!name && !classes))
        return rf_fail(error, size, "a task needs a name or classes");
    memset(task, 0, sizeof *task);
    task->labels_must_occur = name == NULL;
    snprintf(task->name, sizeof task->name, "%s", name ? name : "classes");
    for (size_t i = 0; name && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0) {
            classes = known[i].classes;
            task->digits_only = i > 0;
        }
    if (!classes)
        return rf_fail(error, size, "no task '%s'; there are labels, zero-one, even-odd and digits", name);
    char *copy = strdup(classes), *rest = NULL;
    int status = copy ? 0 : rf_fail(error, size, "out of memory");
    for (char *text = copy ? strtok_r(copy, " ", &rest) : NULL; text && status == 0; text = strtok_r(NULL, " ", &rest))
        status = add_class(task, text, error, size);
    free(copy);
    if (status == 0 && !name && task->classes.count < 2)
        status = rf_fail(error, size, "'%s' has %u class; two or more are wanted", classes, task->classes.count);
    if (status < 0)
        rfc_task_free(task);
    return status;
}

/* ---- Applying it ---- */

static int compare_labels(const void *a, const void *b)
{
    const char *one = *(char *const *)a, *two = *(char *const *)b;
    char *end_one, *end_two;
    double x = strtod(one, &end_one), y = strtod(two, &end_two);
    int numbers = *end_one == '\0' && *end_two == '\0';
    return numbers && x != y ? (x > y) - (x < y) : strcmp(one, two);
}

/* Makes every label of the training data a class. */
static int from_labels(rfc_task *task, const rfc_table *train, char *error, size_t size)
{
    for (uint32_t i = 0; i < train->labels.count; i++)
        if (rfc_names_add(&task->labels, train->labels.text[i]) < 0)
            return rf_fail(error, size, "out of memory");
    qsort(task->labels.text, task->labels.count, sizeof *task->labels.text, compare_labels);
    for (uint32_t i = 0; i < task->labels.count; i++) {
        task->of_label[i] = (uint8_t)i;
        if (rfc_names_add(&task->classes, task->labels.text[i]) < 0)
            return rf_fail(error, size, "out of memory");
    }
    return 0;
}

static int is_in_task(const void *label, uint32_t row) { return ((const uint32_t *)label)[row] != NO_CLASS; }

static int apply(const rfc_task *task, rfc_table *t, int all_known, uint64_t *left_out, char *error, size_t size)
{
    uint32_t class_of[RFC_LABELS_MAX], kind_of[RFC_LABELS_MAX], before = t->rows;
    uint8_t *kind = task->labels.count > task->classes.count ? malloc(t->rows + (size_t)1) : NULL;
    if (task->labels.count > task->classes.count && !kind)
        return rf_fail(error, size, "out of memory");
    free(t->kind);
    t->kind = kind;
    for (uint32_t i = 0; i < t->labels.count; i++) {
        const char *text = t->labels.text[i];
        uint32_t at = rfc_names_find(&task->labels, text), first = 0;
        class_of[i] = at < task->labels.count ? task->of_label[at] : NO_CLASS;
        kind_of[i] = at < task->labels.count ? at : 0;
        int is_digit = text[0] >= '0' && text[0] <= '9' && text[1] == '\0';
        while (first < t->rows && t->label[first] != i)
            first++;
        if (class_of[i] == NO_CLASS && first < t->rows && (all_known || (task->digits_only && !is_digit)))
            return rf_fail(error, size, "%s: row %u: label '%s' is not in the task '%s'", t->source, first + 1, text,
                           task->name);
    }
    for (uint32_t i = 0; i < t->rows && kind; i++)
        kind[i] = (uint8_t)(t->label[i] == RFC_NO_LABEL ? 0 : kind_of[t->label[i]]);
    for (uint32_t i = 0; i < t->rows; i++)
        t->label[i] = t->label[i] == RFC_NO_LABEL ? RFC_NO_LABEL : class_of[t->label[i]];
    rfc_table_keep(t, is_in_task, t->label);
    *left_out += before - t->rows;
    return 0;
}

int rfc_task_apply(rfc_task *task, rfc_table *train, rfc_table *test, uint64_t *left_out, char *error, size_t size)
{
    if (!task || !train || !test || !left_out)
        return rf_fail(error, size, "a task needs a table of training rows and one to test");
    int all_known = task->labels.count == 0;
    if (all_known && from_labels(task, train, error, size) < 0)
        return -1;
    for (uint32_t i = 0; i < task->labels.count && task->labels_must_occur; i++)
        if (rfc_names_find(&train->labels, task->labels.text[i]) == train->labels.count)
            return rf_fail(error, size, "%s: no row has the label '%s' of class '%s'", train->source,
                           task->labels.text[i], task->classes.text[task->of_label[i]]);
    if (apply(task, train, all_known, left_out, error, size) < 0 ||
        (test->rows > 0 && apply(task, test, all_known, left_out, error, size) < 0))
        return -1;
    for (uint32_t class = 0, row; class < task->classes.count; class ++) {
        for (row = 0; row < train->rows && train->label[row] != class;)
            row++;
        if (row == train->rows)
            return rf_fail(error, size, "%s: class '%s' is empty: no row has a label of it", train->source,
                           task->classes.text[class]);
    }
    if (task->classes.count < 2)
        return rf_fail(error, size, "%s: all rows have the label '%s': one class only", train->source,
                       task->classes.count ? task->classes.text[0] : "");
    return 0;
}
