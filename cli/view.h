/* The live view of a run in a terminal. */
#ifndef REJFILT_CLI_VIEW_H
#define REJFILT_CLI_VIEW_H

#include <stdio.h>

#include "series.h"

typedef struct cli_view cli_view;

/* A view that draws on `out`, a terminal; null when memory is short. `total` steps are expected. */
cli_view *cli_view_open(FILE *out, const char *title, const char *parameter, long total);

/* Takes one more step and redraws, at most 30 times a second however fast steps come. */
void cli_view_add(cli_view *view, const cli_point *point);

/* Draws the last frame, leaves the cursor below it, and frees the view. */
void cli_view_close(cli_view *view);

#endif
