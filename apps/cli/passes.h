/* Passes over a complete set of records: `track --passes`, `track --summary`, `compare`. */
#ifndef REJFILT_CLI_PASSES_H
#define REJFILT_CLI_PASSES_H

#include "rejfilt/passes.h"

/* --passes. */
typedef enum cli_passes_wish { CLI_PASSES_YES, CLI_PASSES_NO, CLI_PASSES_AUTO } cli_passes_wish;
extern const char *const cli_passes_names[4];

/* Records with an outcome, in the layout of rf_passes_open. Initialise with {0} and the number of settings. */
typedef struct cli_kept {
    unsigned settings;
    double *rows;
    size_t count, room;
} cli_kept;

/* Adds a record; one without an outcome is ignored. Returns 0, or -1 when memory is short. */
int cli_kept_add(cli_kept *kept, const rf_record *record);
void cli_kept_free(cli_kept *kept);

/* Is it a regular file? NULL: standard input. A file that cannot be opened counts; opening it reports the error. */
int cli_is_file(const char *path);

/* Runs the passes. Progress is shown if standard error is a terminal, with the name `what`. Returns an exit code,
   after a message unless it is CLI_OK or CLI_INTERRUPTED. */
int cli_passes_run(const char *command, const char *what, const rf_config *config, const cli_kept *kept,
                   rf_passes_result *result);

/* Prints the result on standard output, as lines of text or as one JSON object. */
void cli_passes_print(const rf_config *config, size_t records, const rf_passes_result *result);
void cli_passes_print_json(const rf_config *config, size_t records, const rf_passes_result *result);

/* Prints one line on standard error if the result is doubtful. Returns CLI_OK, or CLI_FAILED in that case. */
int cli_passes_alarm(const char *command, const rf_passes_result *result);

/* The largest difference between a step's means and those of the passes, in standard deviations of the passes. */
double cli_passes_apart(const rf_config *config, const rf_passes_result *result, const rf_step *step);

#endif
