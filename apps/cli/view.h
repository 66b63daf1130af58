/* The live view of a run in a terminal. */
#ifndef REJFILT_CLI_VIEW_H
#define REJFILT_CLI_VIEW_H

#include <stdio.h>

#include "series.h"

typedef struct cli_view cli_view;

/* Opens a view on the terminal `out`; NULL if memory is short. `total` is the expected number of measurements; 0: unknown. On
   a terminal without cursor control (TERM unset or dumb) it prints a line from time to time. Closing the view restores the
   terminal; so do exit, SIGINT and SIGTERM, unless the program handles these signals. `description` must outlive the view. One
   view at a time. */
cli_view *cli_view_open(FILE *out, const char *title, const rf_description *description, long total);

/* Adds a step and redraws, at most 30 times a second. */
void cli_view_add(cli_view *view, const rf_step *step);

/* Draws pending steps; call it before waiting. */
void cli_view_refresh(cli_view *view);

/* Draws the last frame, leaves the cursor below it, and frees the view. */
void cli_view_close(cli_view *view);

#endif
