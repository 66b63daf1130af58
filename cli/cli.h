/* What the subcommands share: exit codes, messages, option tables. */
#ifndef REJFILT_CLI_H
#define REJFILT_CLI_H

#include <stddef.h>
#include <stdint.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_BAD_INPUT = 2, CLI_INTERRUPTED = 130 };

/* One subcommand: `rejfilt NAME [options]`. */
typedef struct cli_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name */
} cli_command;

int cli_track(int argc, char **argv);
int cli_models(int argc, char **argv);
int cli_classify(int argc, char **argv);
int cli_features(int argc, char **argv);

/* "rejfilt: " and the message on standard error, as one line. Returns CLI_BAD_INPUT. */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- Options ---- */

/* Takes an option's value (null for a flag). Returns 0, or -1 with what is wrong in `error`, which stays
   empty if it has said so itself. */
typedef int cli_set(void *config, const char *value, char *error, size_t size);

typedef struct cli_option {
    const char *name;     /* without the dashes; null ends a table */
    const char *argument; /* what the value is called in the help, or null for a flag */
    const char *help;
    cli_set *set;
} cli_option;

typedef struct cli_usage {
    const char *command;  /* "track" */
    const char *synopsis; /* "[--simulate] [OPTION...]" */
    const char *about;    /* what it does and how to start; several lines */
    const cli_option *options;
    const char *examples; /* several lines */
} cli_usage;

/* Reads `--name value`, `--name=value` and `--flag`. Returns 1 to go on, 0 when --help was answered,
   -1 after a message about a bad option. */
int cli_parse(const cli_usage *usage, void *config, int argc, char **argv);

/* Numbers, whole, without trailing characters, in range. Return 0, or -1 with a message. */
int cli_parse_real(const char *text, double low, double high, double *value, char *error, size_t size);
int cli_parse_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value, char *error, size_t size);

/* The entry of `names` (ending in null) closest to `name` when it is close enough to be a slip, or null. */
const char *cli_closest(const char *name, const char *const names[]);

#endif
