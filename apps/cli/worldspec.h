/* A simulated world as written on a command line. Functions return 0, or -1 with a message in `error`. */
#ifndef REJFILT_CLI_WORLDSPEC_H
#define REJFILT_CLI_WORLDSPEC_H

#include "rejfilt/session.h"

/* "[NAME=]SIZE@STEP". SIZE may be LOW:HIGH: drawn at random, with random sign. STEP may be ~N: each measurement
   jumps with probability 1 / N. */
int cli_world_jump(rf_simulation *run, const char *text, char *error, size_t size);

/* "WHAT@STEP+LENGTH". WHAT is the outcome at which the detector is stuck; or OUTCOME~SHARE, with that share of other
   outcomes; "coin" or "missing". */
int cli_world_outage(rf_simulation *run, const char *text, char *error, size_t size);

/* "[NAME=]VALUE", "LOW:HIGH" or "MEAN+-SD": the distribution of the first truth. */
int cli_world_truth(rf_simulation *run, const char *text, char *error, size_t size);

/* How the truth moves, in the form of --drift. */
int cli_world_drift(rf_simulation *run, const char *text, char *error, size_t size);

/* Does the model have a time among its settings? Decoherence needs one. */
int cli_world_has_time(const rf_simulation *run);

#endif
