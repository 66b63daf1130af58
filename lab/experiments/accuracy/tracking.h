/* Shared by the rows. */
#ifndef REJFILT_EXPERIMENTS_TRACKING_H
#define REJFILT_EXPERIMENTS_TRACKING_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "lab.h"
#include "runs.h"

/* Prints and keeps a row. The target is low..high; either may be infinite. */
void row(const char *name, double value, double low, double high);

/* Shows on the terminal the progress of a row. */
void progress(const char *what, uint32_t done, uint32_t total);

/* An ordinary run (runs.h) with an engine; seed 1 unless another is given. */
rf_simulation ordinary_run(const char *model, long steps);

/* Ends the program: memory is short or the library refused something. */
_Noreturn void fail(const char *what);

/* The rows of a model. */
void precession_rows(void);
void linear_rows(void);
void ramsey_rows(void);
void fixed_rows(void);
void decay_rows(void);

#endif
