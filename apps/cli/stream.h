/* Tracking with records that come from outside. */
#ifndef REJFILT_CLI_STREAM_H
#define REJFILT_CLI_STREAM_H

#include "history.h"
#include "passes.h"
#include "statefile.h"
#include "track_options.h"

typedef struct cli_stream {
    const cli_track_config *config;
    const cli_state_file *state; /* open on the first rank, if the configuration has a state */
    rf_observer *observer;       /* of every update, and of every time that only passed */
    void *user;
    cli_kept *kept;   /* where the records go as well; or null */
    int is_kept_only; /* and nothing else happens to them */
    cli_series *series; /* of a run with a state: all its updates, also those before it was resumed; or null */
} cli_stream;

/* Reads records, asks where it is to ask, updates, reports, keeps the checkpoint; until the records end, the filter is
   lost and is to stop, or a signal comes. Returns an exit code, after a message if it is not CLI_OK. */
int cli_stream_run(const cli_stream *stream);

#endif
