/* A line per update: text for people, JSON or CSV for programs. */
#ifndef REJFILT_CLI_OUTPUT_H
#define REJFILT_CLI_OUTPUT_H

#include "track_options.h"

/* What comes before the first line, if anything. */
void cli_output_header(FILE *out, cli_format format, const rf_description *description);

void cli_output_step(FILE *out, cli_format format, const rf_description *description, const rf_step *s);

/* What comes before the first question: of CSV the names, in a line of their own that begins with `ask`, as questions do. */
void cli_output_ask_header(FILE *out, cli_format format, const rf_description *description);

/* A question: the settings of the experiment that comes next, as one line of JSON or CSV. */
void cli_output_ask(FILE *out, cli_format format, const rf_description *description, long number, int is_anchor, const double setting[]);

#endif
