/* What the host gives a GPU for simulated trials. Included on both sides; all pointers are the device's. */
#ifndef REJFILT_SESSION_DEVICE_TYPES_H
#define REJFILT_SESSION_DEVICE_TYPES_H

#include "trials.h"

enum {
    RF_DEVICE_TRIAL_THREADS = 128, /* of a block */
    RF_DEVICE_BATCH = 4            /* measurements that are asked for together, at most */
};

/* Trials first .. first + count − 1. */
typedef struct rf_device_trials {
    const rf_simulation *simulation; /* pointers in them are the host's, and not used */
    const rf_problem *problem;
    const rf_judging *judging;
    rf_totals *totals;
    double *sums;  /* of each trial of the launch, 1 + dim */
    float *errors; /* of trial t in row i at i · trials + t; NaN: it does not count */
    uint64_t trials;
    int32_t *status; /* the worst */
    rf64_options options;
    double kappa;
    uint32_t anchor_every;
    uint32_t first, count;
    char design[20]; /* its name */
} rf_device_trials;

/* What of it comes from a session that was opened for the simulation, on the host. */
void rf_device_trials_tell(rf_device_trials *trials, const rf_session *session);

/* Counts digits of the errors, row by row; of a row the first `count`. */
typedef struct rf_device_digits {
    rf_digit which;
    const float *errors;
    uint64_t rows, trials, count;
    uint64_t *counts; /* RF_DIGITS, zero before */
} rf_device_digits;

#endif
