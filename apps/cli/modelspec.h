/* A run's model, priors, drifts, ranges and costs as written on a command line. Functions return 0, or -1 with a
   message in `error`. */
#ifndef REJFILT_CLI_MODELSPEC_H
#define REJFILT_CLI_MODELSPEC_H

#include "rejfilt/session.h"

/* The built-in model `name`; or, if the name has a '/' or ends in ".c", a model compiled from C source. If the
   compiler reports errors, they are printed after a line that begins with "rejfilt: COMMAND: --model: ", and `error`
   stays empty. */
int cli_model_find(const char *command, const char *name, const rf_model **model, char *error, size_t size);

/* Sets the run's model, and with it the description, priors and drifts. */
void cli_model_use(rf_simulation *run, const rf_model *model);

/* Does the model have the parameter NAME of "NAME=..."? Without a name: yes. */
int cli_model_has(const rf_model *model, const char *text);

/* Splits "[NAME=]REST": the parameters are first .. last − 1. */
int cli_model_parameters(const rf_simulation *run, const char *text, unsigned *first, unsigned *last, const char **rest, char *error, size_t size);

/* "A:B", or "A+-B" if `gaussian`. Returns ':' or '+', or 0 with a message. */
int cli_parse_pair(const char *text, int gaussian, double *first, double *second, char *error, size_t size);
int cli_parse_prior(const char *text, rf_prior *prior, char *error, size_t size);

/* "[NAME=]LOW:HIGH" or "[NAME=]MEAN+-SD", for one parameter or for all. */
int cli_model_prior(rf_simulation *run, const char *text, char *error, size_t size);

/* "[NAME=]SD": sd of a step in the chart, for one parameter or for all. "[NAME=]CENTRE+-SD~TIME": reverting.
   "[NAME=]LEVEL:LEVEL~DWELL" or ~DWELL:DWELL: switching. "learn". Refused for a model with dynamics of its own. */
int cli_model_drift(rf_simulation *run, const char *text, char *error, size_t size);
/* The same without "learn", into drift[] and motion[] of parameters first .. last − 1. */
int cli_parse_drift(const rf_simulation *run, const char *text, double drift[], rf_motion motion[], unsigned *first, unsigned *last, char *error, size_t size);

/* "[NAME=]real", "positive", "bounded:LOW:HIGH" or "periodic:LOW:HIGH". */
int cli_model_chart(rf_simulation *run, const char *text, char *error, size_t size);

/* "NAME=UNIT" for a parameter, a setting or `time`. The text must outlive the run. */
int cli_model_unit(rf_simulation *run, const char *text, char *error, size_t size);

/* Checks "NAME=COLUMN": NAME is a setting, outcome, time, batch or truth.PARAMETER. */
int cli_model_column(rf_simulation *run, const char *text, char *error, size_t size);

/* "[NAME=]LOW:HIGH" for settings, and "[NAME=]COST" per unit of a setting. */
int cli_model_range(rf_simulation *run, const char *text, char *error, size_t size);
int cli_model_cost(rf_simulation *run, const char *text, char *error, size_t size);

/* Checks that every prior fits its parameter's chart. */
int cli_model_check(const rf_simulation *run, char *error, size_t size);

#endif
