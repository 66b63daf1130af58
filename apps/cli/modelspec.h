/* A run's model, priors, drifts, ranges and costs as they are written on a command line. Functions return 0, or -1 with what is wrong
   in `error`. */
#ifndef REJFILT_CLI_MODELSPEC_H
#define REJFILT_CLI_MODELSPEC_H

#include "rejfilt/session.h"

/* The built-in model `name`, or one that is compiled from C source where the name has a '/' or ends in ".c". When a
   compiler has refused, its words are printed after a line that begins with "rejfilt: COMMAND: --model: ", and `error`
   stays empty. */
int cli_model_find(const char *command, const char *name, const rf_model **model, char *error, size_t size);

/* Gives the run its model, and of the model the description, the priors and the drifts. */
void cli_model_use(rf_simulation *run, const rf_model *model);

/* Does the model have the parameter that "NAME=..." is about? Without a name it is about all. */
int cli_model_has(const rf_model *model, const char *text);

/* Splits "[NAME=]REST": the parameters meant are first .. last − 1. */
int cli_model_parameters(const rf_simulation *run, const char *text, unsigned *first, unsigned *last, const char **rest, char *error, size_t size);

/* "A:B", or "A+-B" where that is allowed. Returns ':' or '+', or 0 with a message. */
int cli_parse_pair(const char *text, int gaussian, double *first, double *second, char *error, size_t size);
int cli_parse_prior(const char *text, rf_prior *prior, char *error, size_t size);

/* "[NAME=]LOW:HIGH" or "[NAME=]MEAN+-SD", of one or of every parameter. */
int cli_model_prior(rf_simulation *run, const char *text, char *error, size_t size);

/* "[NAME=]SD", of a step in the chart, of one or of every parameter; "[NAME=]CENTRE+-SD~TIME", reverting;
   "[NAME=]LEVEL:LEVEL~DWELL", or ~DWELL:DWELL, switching; "learn". A model with dynamics of its own has no drift. */
int cli_model_drift(rf_simulation *run, const char *text, char *error, size_t size);
/* The same but for "learn", into drift[] and motion[] of parameters first .. last − 1. */
int cli_parse_drift(const rf_simulation *run, const char *text, double drift[], rf_motion motion[], unsigned *first, unsigned *last, char *error, size_t size);

/* "[NAME=]real", "positive", "bounded:LOW:HIGH" or "periodic:LOW:HIGH". */
int cli_model_chart(rf_simulation *run, const char *text, char *error, size_t size);

/* "NAME=UNIT" of a parameter, a setting or `time`. The text must last. */
int cli_model_unit(rf_simulation *run, const char *text, char *error, size_t size);

/* Checks "NAME=COLUMN": NAME is a setting, outcome, time, batch or truth.PARAMETER. */
int cli_model_column(rf_simulation *run, const char *text, char *error, size_t size);

/* "[NAME=]LOW:HIGH" of settings, and "[NAME=]COST" per unit of them. */
int cli_model_range(rf_simulation *run, const char *text, char *error, size_t size);
int cli_model_cost(rf_simulation *run, const char *text, char *error, size_t size);

/* Can every parameter have its prior, in its chart? */
int cli_model_check(const rf_simulation *run, char *error, size_t size);

#endif
