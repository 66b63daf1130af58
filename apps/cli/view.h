/* The live view of a run in a terminal. */
#ifndef REJFILT_CLI_VIEW_H
#define REJFILT_CLI_VIEW_H

#include <stdio.h>

#include "series.h"

typedef struct cli_view cli_view;

/* A view that draws on `out`, a terminal; null when memory is short. `total` measurements are expected; 0: nobody
   knows. On a terminal that cannot move its cursor (TERM unset or dumb) it prints a line now and then instead.
   The terminal is put right when the view is closed, at exit, and, where the program leaves these signals to
   the system, at SIGINT and SIGTERM. `about` outlives the view. One view at a time. */
cli_view *cli_view_open(FILE *out, const char *title, const rf_description *about, long total);

/* Takes one more step and redraws, at most 30 times a second however fast steps come. */
void cli_view_add(cli_view *view, const rf_step *step);

/* Draws what is not drawn yet: before a wait of unknown length. */
void cli_view_refresh(cli_view *view);

/* Draws the last frame, leaves the cursor below it, and frees the view. */
void cli_view_close(cli_view *view);

#endif
