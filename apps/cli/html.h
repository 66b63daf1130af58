/* A run's picture as one self-contained HTML file: the picture, the data, and a script to zoom, pan and read values.
   Without the script the picture is still shown. */
#ifndef REJFILT_CLI_HTML_H
#define REJFILT_CLI_HTML_H

#include <stdio.h>

#include "picture.h"

/* `picture` was laid out for `shown`. `all` is the whole run; as many of its rows are embedded as keep the file
   under 2 MB. Returns 0, or -1 with errno set: memory is short, or the file could not be written. */
int cli_html_write(FILE *out, const cli_picture *picture, const cli_series *shown, const cli_series *all);

#endif
