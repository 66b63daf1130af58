/* What the rows share. */
#ifndef REJFILT_EXPERIMENTS_TRACKING_H
#define REJFILT_EXPERIMENTS_TRACKING_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "simulate.h"

/* Prints and keeps a row; its target is low..high, either of which may be infinite. */
void row(const char *name, double value, double low, double high);

/* For the terminal: how far a row is. */
void progress(const char *what, uint32_t done, uint32_t total);

/* The run that `rejfilt track --simulate` makes of this model and these measurements: the description's prior and
   drift, the automatic design, 100 attempts, seed 1 (unless another
   is given). */
cli_run ordinary_run(const char *model, long steps);

/* The seed of a run's trial. */
uint64_t trial_seed(const cli_run *run, uint32_t trial);

/* Sorts. Quantile `share` of the values, by linear interpolation. */
double quantile(double values[], size_t count, double share);

/* Gives up, when memory is short or the library refuses. */
_Noreturn void fail(const char *what);

/* The rows of a model. */
void precession_rows(void);
void linear_rows(void);
void ramsey_rows(void);

#endif
