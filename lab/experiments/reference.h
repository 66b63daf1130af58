/* Other filters on the trials of a run: each sees the same truth and the same luck, but drives the design with what it
   believes itself. */
#ifndef REJFILT_EXPERIMENTS_REFERENCE_H
#define REJFILT_EXPERIMENTS_REFERENCE_H

#include "rejfilt/session.h"

typedef enum reference_kind {
    REFERENCE_EXACT,       /* the exact posterior, on a grid of at most `size` points */
    REFERENCE_CLOSED_FORM, /* a Gaussian with the exact moments of the precession model's posterior */
    REFERENCE_HERMITE,     /* a Gaussian with moments by Gauss and Hermite's rule of `size` points */
    REFERENCE_PARTICLES,   /* Liu and West's particles, `size` of them */
    REFERENCE_RESTARTED    /* the run's own filter, which goes back to its prior at random, once in `size` steps; or with 0,
                              when a test of its health fails */
} reference_kind;

/* Of a model of one parameter. */
typedef struct reference {
    reference_kind kind;
    uint32_t size;
    rf_config config;
    char belief[32];
    rf_session *session;
    uint64_t seed;
    uint32_t widened;
} reference;

/* Returns 0, or -1 when memory is short or the run is refused. It stays where it is. */
int reference_open(reference *r, reference_kind kind, uint32_t size, const rf_simulation *run, uint32_t trial);
void reference_close(reference *r);

/* One measurement of the truth that `step` shows. A failed anchor widens a Gaussian, as it does the filter's; the exact
   posterior and particles need no widening. */
void reference_step(reference *r, const rf_step *step, rf_step *own);

#endif
