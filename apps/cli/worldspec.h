/* A simulated world as it is written on a command line. Functions return 0, or -1 with what is wrong in `error`. */
#ifndef REJFILT_CLI_WORLDSPEC_H
#define REJFILT_CLI_WORLDSPEC_H

#include "rejfilt/session.h"

/* "[NAME=]SIZE@STEP"; the size may be LOW:HIGH, drawn, up or down; the step ~N, one measurement of N at random. */
int cli_world_jump(rf_simulation *run, const char *text, char *error, size_t size);

/* "WHAT@STEP+LENGTH": an outcome at which the detector is stuck, or OUTCOME~SHARE with so many others, "coin" or
   "missing". */
int cli_world_outage(rf_simulation *run, const char *text, char *error, size_t size);

/* "[NAME=]VALUE", "LOW:HIGH" or "MEAN+-SD": what the first truth is drawn from. */
int cli_world_truth(rf_simulation *run, const char *text, char *error, size_t size);

/* How the truth moves: as --drift has it. */
int cli_world_drift(rf_simulation *run, const char *text, char *error, size_t size);

/* Can decoherence be seen in this model: does it have a time? */
int cli_world_has_time(const rf_simulation *run);

#endif
