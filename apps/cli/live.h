/* Tracking with records that come from outside. */
#ifndef REJFILT_CLI_LIVE_H
#define REJFILT_CLI_LIVE_H

#include "simulate.h"
#include "statefile.h"

typedef struct cli_live {
    const cli_track_config *config;
    const rf_engine *engine;
    const cli_state_file *state; /* open on the first rank, if the configuration has a state */
    cli_observer *observer;      /* of every update, and of every time that only passed */
    void *user;
} cli_live;

/* Reads records, asks where it is to ask, updates, reports, keeps the checkpoint; until the records end, the filter is
   lost and is to stop, or a signal comes. Returns an exit code, after a message if it is not CLI_OK. */
int rf32_live_run(const cli_live *live);
int rf64_live_run(const cli_live *live);

#endif
