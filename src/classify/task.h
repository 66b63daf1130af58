/* A task: which labels make which class. */
#ifndef REJFILT_TASK_H
#define REJFILT_TASK_H

#include "table.h"

typedef struct rf_task {
    char name[64];
    rf_names classes;
    rf_names labels;                 /* that the task names; empty: every label is a class of its own */
    uint8_t of_label[RF_LABELS_MAX]; /* class of each of them */
    int digits_only;                 /* a label that is no digit is refused, not left out */
    int labels_must_occur;
} rf_task;

/* A task by name (labels, zero-one, even-odd, digits), or, with a null name, from a text like
   "0,2,4:even 1,3,5:odd". Returns 0, or -1 with a message. */
int rf_task_parse(const char *name, const char *classes, rf_task *task, char *error, size_t size);
void rf_task_free(rf_task *task);

/* Turns the labels of `train`, and of `test` where it has rows, into classes, and drops the rows of other
   labels; their number is added to *left_out. There are two classes or more, and each has a row in train.
   Returns 0, or -1 with a message. */
int rf_task_apply(rf_task *task, rf_table *train, rf_table *test, uint64_t *left_out, char *error, size_t size);

#endif
