/* Arguments of simulated trials on a GPU. Included by host and device; all pointers are device pointers. */
#ifndef REJFILT_SESSION_DEVICE_TYPES_H
#define REJFILT_SESSION_DEVICE_TYPES_H

#include "trials.h"

enum {
    RF_DEVICE_TRIAL_THREADS = 128, /* of a block */
    RF_DEVICE_BATCH = 4            /* most measurements asked for together */
};

/* Trials first .. first + count − 1. */
typedef struct rf_device_trials {
    const rf_simulation *simulation; /* pointers inside these are the host's and not used */
    const rf_problem *problem;
    const rf_judging *judging;
    rf_totals *totals;
    double *sums;  /* per trial of the launch, 1 + dim numbers */
    float *errors; /* of trial t in row i at i · trials + t; NaN: not counted */
    uint64_t trials;
    int32_t *status; /* the worst status */
    rf64_options options;
    double kappa;
    uint32_t anchor_every;
    uint32_t first, count;
    char design[20]; /* the design's name */
} rf_device_trials;

/* Fills the part that comes from a session opened on the host for this simulation. */
void rf_device_trials_tell(rf_device_trials *trials, const rf_session *session);

/* Counts digits of the errors, row by row: the first `count` of each row. */
typedef struct rf_device_digits {
    rf_digit which;
    const float *errors;
    uint64_t rows, trials, count;
    uint64_t *counts; /* RF_DIGITS counters, zeroed before */
} rf_device_digits;

#endif
