/* Squared errors of many trials that track a parameter, and their statistics. */
#ifndef REJFILT_EXPERIMENTS_TRACKS_H
#define REJFILT_EXPERIMENTS_TRACKS_H

#include "trials.h"

typedef struct tracks {
    uint32_t trials;
    long steps;
    double q;         /* unit: variance of a step of the walk, or 1 */
    float *error;     /* squared, in units of q; by trial and step */
    uint32_t *far;    /* by trial: steps with an error above RF_LOST_SIGMAS of the filter's standard deviations */
    double *attempts; /* by trial */
    double *column;   /* workspace */
} tracks;

/* Returns 0, or -1 after lab_fail. */
int tracks_open(lab *l, tracks *t, const rf_simulation *run, uint32_t trials);
void tracks_close(tracks *t);

/* An rf_observer; its user pointer is the tracks. */
int tracks_watch(void *tracks, uint32_t trial, const rf_step *step);

/* Puts rows `pooled`, `mean` and `p99` (of all steps from RF_BURN_IN on), `lost` (a fraction, as in summary.h) and
   `attempts` (per update), of `of` at x. Their standard errors come from groups of trials. */
void tracks_put(lab *l, const tracks *t, const char *of, double x);

/* Puts rows `by step`: the median over trials, every `every` steps. */
void tracks_put_steps(lab *l, const tracks *t, const char *of, long every);

#endif
