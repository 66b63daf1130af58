/* A run's model and columns as written on a command line. Functions return 0, or -1 with a
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

/* Checks "NAME=COLUMN": NAME is a setting, outcome, time, batch or truth.PARAMETER. */
int cli_model_column(rf_simulation *run, const char *text, char *error, size_t size);

#endif
