/* Other filters on the trials of a run: each sees the same truth and the same luck, but drives the design with what it
   believes itself. */
#ifndef REJFILT_EXPERIMENTS_COMPANION_H
#define REJFILT_EXPERIMENTS_COMPANION_H

#include "closed_form.h"
#include "grid.h"
#include "hermite.h"
#include "simulate.h"
#include "smc.h"

typedef enum companion_kind {
    COMPANION_EXACT,       /* the exact posterior, on a grid of at most `size` points */
    COMPANION_CLOSED_FORM, /* a Gaussian with the exact moments of the precession model's posterior */
    COMPANION_HERMITE,     /* a Gaussian with moments by Gauss and Hermite's rule of `size` points */
    COMPANION_PARTICLES,   /* Liu and West's particles, `size` of them */
    COMPANION_RESTARTED    /* the run's own filter, which goes back to its prior at random, once in `size` steps; or with 0,
                              when a test of its health fails */
} companion_kind;

/* Of a model of one real parameter. The tracker designs and judges anchors, from a filter that is set to the moments
   of the other. */
typedef struct companion {
    companion_kind kind;
    grid *exact;
    smc *particles;
    const hermite *rule; /* COMPANION_HERMITE's, given by the caller */
    closed_form form;
    uint32_t size;
    rf64_tracker tracker;
    const rf64_engine *engine;
    uint64_t seed;
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
} companion;

/* Returns 0, or -1 when memory is short or the run is refused. The rule: of COMPANION_HERMITE, else null. */
int companion_open(companion *c, companion_kind kind, uint32_t size, const hermite *rule, const cli_run *run, uint32_t trial);
void companion_close(companion *c);

/* One measurement of the truth that `step` shows. What a failed anchor widens is a Gaussian, as it is the filter's; the
   exact posterior and particles need no widening. */
void companion_step(companion *c, const cli_step *step, cli_step *own);

#endif
