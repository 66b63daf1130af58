/* A line per update: text for people, JSON or CSV for programs. */
#ifndef REJFILT_CLI_OUTPUT_H
#define REJFILT_CLI_OUTPUT_H

#include "track_options.h"

/* Prints what precedes the first line: the header of CSV, the column titles of text. */
void cli_output_header(FILE *out, cli_format format, const rf_config *config);

/* `first`: the configuration, for the first line of a run, which in JSON tells what option made the belief one Gaussian, and the units;
   else null. */
void cli_output_step(FILE *out, cli_format format, const rf_description *description, const rf_step *s, const rf_config *first);

/* Prints what precedes the first question: for CSV a line of names that begins with `ask`, as questions do. */
void cli_output_ask_header(FILE *out, cli_format format, const rf_description *description);

/* Prints a question: the settings of the next experiment, as one line of JSON or CSV. */
void cli_output_ask(FILE *out, cli_format format, const rf_description *description, long number, int is_anchor, const double setting[]);

#endif
