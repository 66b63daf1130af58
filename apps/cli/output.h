/* A line per update: text for people, JSON or CSV for programs. */
#ifndef REJFILT_CLI_OUTPUT_H
#define REJFILT_CLI_OUTPUT_H

#include "track_options.h"

/* What comes before the first line, if anything. */
void cli_output_header(FILE *out, cli_format format, const rf_description *about);

void cli_output_step(FILE *out, cli_format format, const rf_description *about, const rf_step *s);

/* A question: the settings of the experiments that come next, as one line of JSON. */
void cli_output_ask(FILE *out, const rf_description *about, long number, int is_anchor, const double setting[]);

#endif
