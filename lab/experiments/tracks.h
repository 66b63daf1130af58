/* Squared errors of many trials that follow a parameter, and what they say. */
#ifndef REJFILT_EXPERIMENTS_TRACKS_H
#define REJFILT_EXPERIMENTS_TRACKS_H

#include "trials.h"

typedef struct tracks {
    uint32_t trials;
    long steps;
    double q;         /* the unit: variance of a step of the walk, or 1 */
    float *error;     /* squared, in units of q; by trial and step */
    uint32_t *far;    /* by trial: steps in which the error exceeds so many of the filter's own standard deviations */
    double *attempts; /* by trial */
    double *column;   /* workspace */
} tracks;

/* Returns 0, or -1 after lab_fail. */
int tracks_open(lab *l, tracks *t, const rf_simulation *run, uint32_t trials);
void tracks_close(tracks *t);

/* A rf_observer whose user is the tracks. */
int tracks_watch(void *tracks, uint32_t trial, const rf_step *step);

/* Rows `pooled`, `mean` and `p99` (of all steps from RF_BURN_IN on), `lost` (a share, as in summary.h) and `attempts` (of an
   update), of `of` at x. Their errors come from groups of trials. */
void tracks_put(lab *l, const tracks *t, const char *of, double x);

/* Rows `by step`: the median over trials at every so many steps. */
void tracks_put_steps(lab *l, const tracks *t, const char *of, long every);

#endif
