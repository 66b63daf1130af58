/* Other filters on the trials of a run: each sees the same truth and the same random numbers for outcomes, but uses
   its own belief in the design. */
#ifndef REJFILT_EXPERIMENTS_REFERENCE_H
#define REJFILT_EXPERIMENTS_REFERENCE_H

#include "rejfilt/session.h"

typedef enum reference_kind {
    REFERENCE_EXACT,       /* the exact posterior, on a grid of at most `size` points */
    REFERENCE_CLOSED_FORM, /* a Gaussian with the exact moments of the precession model's posterior */
    REFERENCE_HERMITE,     /* a Gaussian with moments by Gauss–Hermite quadrature with `size` points */
    REFERENCE_PARTICLES,   /* `size` Liu–West particles */
    REFERENCE_RESTARTED    /* the run's own filter, which returns to its prior at random, on average once in `size`
                              steps; size 0: when a health test fails */
} reference_kind;

/* For models of one parameter. */
typedef struct reference {
    reference_kind kind;
    uint32_t size;
    rf_config config;
    char belief[32];
    rf_session *session;
    uint64_t seed;
    uint32_t widened;
} reference;

/* Returns 0, or -1 when memory is short or the run is refused. *r must not be moved. */
int reference_open(reference *r, reference_kind kind, uint32_t size, const rf_simulation *run, uint32_t trial);
void reference_close(reference *r);

/* Measures the truth of `step` once. A failed anchor widens a Gaussian, as in the filter; the exact posterior and
   particles need no widening. */
void reference_step(reference *r, const rf_step *step, rf_step *own);

#endif
