/* What the rows share. */
#ifndef REJFILT_EXPERIMENTS_TRACKING_H
#define REJFILT_EXPERIMENTS_TRACKING_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "lab.h"
#include "runs.h"

/* Prints and keeps a row; its target is low..high, either of which may be infinite. */
void row(const char *name, double value, double low, double high);

/* For the terminal: how far a row is. */
void progress(const char *what, uint32_t done, uint32_t total);

/* An ordinary run (runs.h) with an engine, and seed 1 unless another is given. */
rf_simulation ordinary_run(const char *model, long steps);

/* Gives up, when memory is short or the library refuses. */
_Noreturn void fail(const char *what);

/* The rows of a model. */
void precession_rows(void);
void linear_rows(void);
void ramsey_rows(void);
void fixed_rows(void);
void decay_rows(void);

#endif
