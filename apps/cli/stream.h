/* Tracking with records from a file, a pipe or answers to questions. */
#ifndef REJFILT_CLI_STREAM_H
#define REJFILT_CLI_STREAM_H

#include "history.h"
#include "passes.h"
#include "statefile.h"
#include "track_options.h"

typedef struct cli_stream {
    const cli_track_config *config;
    const cli_state_file *state; /* open on rank 0, if the configuration has a state */
    rf_observer *observer;       /* called after every step */
    void *user;
    cli_kept *kept;   /* collects the records for passes; or null */
    int is_kept_only; /* only collect records, without updates */
    cli_series *series; /* with a checkpoint: receives all updates, also those before a resume; or null */
} cli_stream;

/* Reads records (and asks questions, with --ask), updates, reports and writes checkpoints until the input ends, the filter
   is lost with --on-lost stop, or a signal comes. Returns an exit code; unless it is CLI_OK, an error was reported. */
int cli_stream_run(const cli_stream *stream);

#endif
