/* Digits to classify: MNIST where its files are given, synthetic ones otherwise. */
#ifndef REJFILT_EXPERIMENTS_DIGITS_H
#define REJFILT_EXPERIMENTS_DIGITS_H

#include "cloud.h"
#include "lab.h"

/* For an experiment's open: says in its report which digits they are. */
int digits_open(lab *l);

/* The digits of a task, loaded once and kept; null after lab_fail. With `split` halves are put together, for shuffles of 10:1. */
const cloud_data *digits_load(lab *l, const char *task, int split);

/* What classify's options would be: the method with 1,000 particles, 3 restarts, and stop at 0.001. */
cloud_config digits_config(const lab *l, rf_method method, int split);

typedef struct digits_result {
    uint64_t objects, errors, queries;
} digits_result;

double digits_error(const digits_result *r, double *standard_error);

/* Classifies all objects of a trial, on all threads; adds to times_asked, by feature, unless null. 0, or -1 after lab_fail. */
int digits_classify(lab *l, const cloud_trial *trial, uint64_t *times_asked, digits_result *result);

#endif
