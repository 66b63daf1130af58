/* The rows of a run's picture, kept beside its checkpoint: a picture of a run that was resumed shows all of it.

   FILE.history has a head and two parts, numbers as this machine has them: the rows of a series as they were when the
   file was last rewritten, then one row per update since. It is rewritten when the second part gets long, so it stays
   small. It only matters to pictures: a file that is missing, damaged or of other columns is begun anew. */
#ifndef REJFILT_CLI_HISTORY_H
#define REJFILT_CLI_HISTORY_H

#include <stdio.h>

#include "series.h"
#include "statefile.h"

enum { CLI_HISTORY_ROWS = 4096 }; /* of the series, at most, and about as many of the second part */

typedef struct cli_history {
    FILE *file;         /* null: nothing is kept */
    cli_series *series; /* all of the run, as far as it is known */
    size_t appended;    /* rows since the file was last rewritten */
    char path[CLI_PATH_MAX];
    char failure[300]; /* why nothing is kept, in one line; else empty */
} cli_history;

/* Opens the history of the run with checkpoint `state`. The series becomes what it has of the first `updates` updates.
   Where there is no history one is begun, if it `is_wanted`; else h->series stays null and nothing is kept. */
void cli_history_open(cli_history *h, const cli_state_file *state, cli_series *series, uint64_t updates, int is_wanted);

/* One more update. Returns 0, or -1 when memory is short. */
int cli_history_add(cli_history *h, const rf_step *step);

/* Before a checkpoint: the rows are in the file. After one: the file may be rewritten. */
void cli_history_flush(cli_history *h);
void cli_history_tidy(cli_history *h);

void cli_history_close(cli_history *h);

#endif
