/* Passes over records that are all there: `track --passes`, `track --summary`, `compare`. */
#ifndef REJFILT_CLI_PASSES_H
#define REJFILT_CLI_PASSES_H

#include "rejfilt/passes.h"

/* --passes. */
typedef enum cli_passes_wish { CLI_PASSES_YES, CLI_PASSES_NO, CLI_PASSES_AUTO } cli_passes_wish;
extern const char *const cli_passes_names[4];

/* Records with an outcome, as rf_passes_open takes them. Start from {0}, with the number of settings. */
typedef struct cli_kept {
    unsigned settings;
    double *rows;
    size_t count, room;
} cli_kept;

/* One more; one without an outcome is left out. Returns 0, or -1 when memory is short. */
int cli_kept_add(cli_kept *kept, const rf_record *record);
void cli_kept_free(cli_kept *kept);

/* Is it a regular file? NULL: standard input. A file that cannot be opened counts; opening it reports the error. */
int cli_is_file(const char *path);

/* Runs the passes, with progress on a terminal's standard error, called `what` there. Returns an exit code, after a
   message if it is not CLI_OK: CLI_INTERRUPTED without one. */
int cli_passes_run(const char *command, const char *what, const rf_config *config, const cli_kept *kept,
                   rf_passes_result *result);

/* The result on standard output: as lines of text, or as one JSON object. */
void cli_passes_print(const rf_config *config, size_t records, const rf_passes_result *result);
void cli_passes_print_json(const rf_config *config, size_t records, const rf_passes_result *result);

/* Prints one line on standard error if the result is doubtful. Returns CLI_OK, or CLI_FAILED in that case. */
int cli_passes_alarm(const char *command, const rf_passes_result *result);

/* The largest distance of a step's means from those of the passes, in the passes' standard deviations. */
double cli_passes_apart(const rf_config *config, const rf_passes_result *result, const rf_step *step);

#endif
