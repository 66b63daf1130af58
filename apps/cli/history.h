/* The rows of a run's picture, kept beside its checkpoint. They let the picture of a resumed run show the whole run.

   FILE.history has a head and two parts, numbers in this machine's format: the rows of the series when the file was
   last rewritten, then one row per later update. It is rewritten when the second part gets long, so it stays small.
   Only pictures use it: a file that is missing, damaged or has other columns is started afresh. */
#ifndef REJFILT_CLI_HISTORY_H
#define REJFILT_CLI_HISTORY_H

#include <stdio.h>

#include "series.h"
#include "statefile.h"

enum { CLI_HISTORY_ROWS = 4096 }; /* limit of the series, and about the limit of the second part */

typedef struct cli_history {
    FILE *file;         /* null: rows are not kept */
    cli_series *series; /* the whole run, as far as known */
    size_t appended;    /* rows since the file was last rewritten */
    char path[RF_PATH_MAX];
    char failure[300]; /* why rows are not kept, in one line; else empty */
} cli_history;

/* Opens the history of the run with checkpoint `state` and loads the first `updates` updates into the series.
   Without a history, starts one if it `is_wanted`; else h->series stays null and nothing is kept. */
void cli_history_open(cli_history *h, const cli_state_file *state, cli_series *series, uint64_t updates, int is_wanted);

/* Adds an update. Returns 0, or -1 when memory is short. */
int cli_history_add(cli_history *h, const rf_step *step);

/* cli_history_flush: call before a checkpoint; the rows are then in the file. cli_history_tidy: call after one; may
   rewrite the file. */
void cli_history_flush(cli_history *h);
void cli_history_tidy(cli_history *h);

void cli_history_close(cli_history *h);

#endif
