/* Pictures of a run: .svg and .png by gnuplot, .html by this program. */
#ifndef REJFILT_CLI_PLOT_H
#define REJFILT_CLI_PLOT_H

#include "series.h"

/* Writes the series to `path`; the ending (.svg, .png or .html) chooses the format. Returns 0, or -1 with a
   one-line message in `error`; no partial file is left behind. */
int cli_plot(const char *path, const cli_series *series, char *error, size_t error_size);

/* Checks before a long run that `path` can be drawn. Returns 0, or -1 with a one-line message. */
int cli_plot_check(const char *path, char *error, size_t error_size);

/* Draws a gnuplot script as .svg or .png of the given size in pixels. Returns 0, or -1 as above. */
int cli_plot_script(const char *path, double width, double height, const char *script, char *error, size_t error_size);

#endif
