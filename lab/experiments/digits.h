/* Digits to classify: MNIST where its files are given, synthetic ones otherwise. */
#ifndef REJFILT_EXPERIMENTS_DIGITS_H
#define REJFILT_EXPERIMENTS_DIGITS_H

#include "classify_data.h"
#include "lab.h"

/* Call it from an experiment's open: states in the report which digits are used. */
int digits_open(lab *l);

/* The digits of a task, loaded once and kept; null after lab_fail. With `split` both halves are joined, for shuffles
   of 10:1. */
const classify_data *digits_load(lab *l, const char *task, int split);

/* The options of classify: the method with 1,000 particles, 3 restarts, and stop at 0.001. */
classify_config digits_config(const lab *l, rfc_method method, int split);

typedef struct digits_result {
    uint64_t objects, errors, queries;
} digits_result;

double digits_error(const digits_result *r, double *standard_error);

/* Classifies all objects of a trial on all threads. Adds to times_asked, by feature, unless it is null. Returns 0,
   or -1 after lab_fail. */
int digits_classify(lab *l, const classify_trial *trial, uint64_t *times_asked, digits_result *result);

#endif
