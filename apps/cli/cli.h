/* Shared by the subcommands: exit codes, messages, option tables. */
#ifndef REJFILT_CLI_H
#define REJFILT_CLI_H

#include <stddef.h>
#include <stdint.h>

#include "text.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_BAD_INPUT = 2, CLI_INTERRUPTED = 130 };

/* One subcommand: `rejfilt NAME [options]`. */
typedef struct cli_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name */
} cli_command;

int cli_track(int argc, char **argv);
int cli_state(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_models(int argc, char **argv);
int cli_classify(int argc, char **argv);

/* "rejfilt: " and the message on standard error, as one line. Returns CLI_BAD_INPUT. */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on messages begin with `as` instead of `command`: for a command that reads the options of another. */
void cli_speak_for(const char *command, const char *as);

/* Silences standard output and cli_error: another rank reports. Returns 0, or -1. */
int cli_be_silent(void);

/* Flushes standard output. Returns CLI_OK or CLI_FAILED; reports the error once. */
int cli_flush(void);

/* ---- Options ---- */

/* Type of an option's value. The value is stored at `offset` in the configuration. */
typedef enum cli_kind {
    CLI_CUSTOM, /* handled by `set` */
    CLI_FLAG,   /* int: 1 when given; `yes` or `no` in a file */
    CLI_U32,    /* uint32_t in low..high */
    CLI_U64,    /* uint64_t in low..high; high 0: no upper limit */
    CLI_LONG,   /* long in low..high */
    CLI_REAL,   /* double in low..high */
    CLI_NAME,   /* int: index in `names`; the first if the argument is in [brackets] and missing */
    CLI_TEXT,   /* const char *: interpreted later */
    CLI_LIST,   /* const char *[CLI_LIST_MAX + 1], ending in null: the option adds one text each time */
    CLI_CONFIG, /* cli_wishes: an option of rf_option_find, set when the model is known */
    /* Files of the run; cli_parse refuses one that is named twice, if one of the two is written. As CLI_TEXT and CLI_LIST: */
    CLI_INPUT,    /* read; "-" is standard input */
    CLI_INPUTS,   /* several */
    CLI_OUTPUT,   /* written, or streamed to; if `set` is not null, it checks the name */
    CLI_REPLACED, /* written, an ordinary file only */
    CLI_STATE,    /* a checkpoint or a journal, and the files beside it */
    CLI_FOLDER    /* where files are written */
} cli_kind;

enum { CLI_LIST_MAX = 64 };

/* Options of a configuration, in the order in which they were given. */
typedef struct cli_wishes {
    unsigned count;
    struct {
        const char *name, *value;
    } wish[256];
} cli_wishes;

/* Sets an option from its value (NULL for a flag). Returns 0, or -1 with a message in `error`; `error` is empty if the
   message was already printed. */
typedef int cli_set(void *config, const char *value, char *error, size_t size);

typedef struct cli_option {
    const char *name;     /* without the dashes; "" takes the arguments that are not options; null ends a table */
    const char *argument; /* name of the value in the help, or null for a flag */
    const char *help;
    cli_set *set; /* for CLI_CUSTOM */
    cli_kind kind;
    size_t offset;
    double low, high;
    const char *const *names; /* ending in null */
} cli_option;

typedef struct cli_usage {
    const char *command;  /* "track" */
    const char *synopsis; /* "[--simulate] [OPTION...]" */
    const char *about;    /* what the command does and how to start; several lines */
    const cli_option *options;
    const char *examples; /* several lines */
    const char *program;  /* program name in the help, if not "rejfilt COMMAND" */
    size_t told;          /* offset in the configuration of a uint64_t: bit i is set when the table's row i is given; 0: none */
} cli_usage;

/* Where an option has an effect: in runs that have any of these bits, else it is refused with this message about its name. */
typedef struct cli_rule {
    const char *name;
    unsigned needs;
    const char *message; /* "--%s needs --simulate" */
} cli_rule;

/* Refuses options that were given and have no effect in a run of these bits. `rules` end in a null name. Returns an exit code. */
int cli_check_told(const cli_usage *usage, const void *config, const cli_rule rules[], unsigned run);

/* Was this option given? */
int cli_is_told(const cli_usage *usage, const void *config, const char *name);

/* Reads `--name value`, `--name=value` and `--flag`. Returns 1 to continue, 0 if --help was printed, -1 after a
   message about a bad option. */
int cli_parse(const cli_usage *usage, void *config, int argc, char **argv);

/* The help of --engine, from the list of engines. */
extern const char cli_engine_help[];

/* The option whose name is the first `length` characters of `name`, or null. */
const cli_option *cli_option_find(const cli_option *options, const char *name, size_t length);

/* Appends to a list that has room for `max` texts and ends in null. Returns 0, or -1 with a message. */
int cli_list_add(const char *list[], unsigned max, const char *value, char *error, size_t size);

/* Sets an option of this table. Returns 0, or -1 with a message in `error`; `error` is empty if the message was already printed. */
int cli_option_set(const cli_usage *usage, const cli_option *option, void *config, const char *value, char *error, size_t size);

/* Prints an option's value as cli_option_set takes it. Prints nothing for NULL texts, lists and custom options. */
void cli_option_print(const cli_option *option, const void *config, char *text, size_t size);

/* ---- Configuration files (INI) ----
   In section [run], `key = value` means --key value; in a section [parameter x] or [setting t], it means --key
   x=value. Returns 0, or -1 after a message with file and line. */
int cli_config_read(const cli_usage *usage, void *config, const char *path);
/* The same for a text, which must not be empty. Messages call it `name`. */
int cli_config_text(const cli_usage *usage, void *config, const char *text, const char *name);

/* Two arguments for "%s%s": a space and the unit, or two empty texts without a unit. */
#define CLI_UNIT(unit) (unit) ? " " : "", (unit) ? (unit) : ""

#endif
