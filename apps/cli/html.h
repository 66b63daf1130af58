/* A run's picture as one HTML file that needs nothing else: a picture, the data, and a script that lets one zoom,
   pan, and read values. Without the script it is still the picture. */
#ifndef REJFILT_CLI_HTML_H
#define REJFILT_CLI_HTML_H

#include <stdio.h>

#include "picture.h"

/* `shown` is what `picture` was laid for; `all` the whole run, of which as many rows are embedded as keep the file
   under 2 MB. Returns 0, or -1 with errno: memory is short, or the file could not be written. */
int cli_html_write(FILE *out, const cli_picture *picture, const cli_series *shown, const cli_series *all);

#endif
