/* The options of `rejfilt track`. */
#ifndef REJFILT_CLI_TRACK_OPTIONS_H
#define REJFILT_CLI_TRACK_OPTIONS_H

#include <stdio.h>

#include "checkpoint.h"
#include "cli.h"
#include "passes.h"

/* ---- The options of `rejfilt track` ---- */

typedef enum cli_format { CLI_FORMAT_AUTO, CLI_FORMAT_TEXT, CLI_FORMAT_JSON, CLI_FORMAT_CSV } cli_format;

typedef struct cli_track_config {
    rf_simulation run;
    int simulate, ask, skip_bad, print_config, summary;
    int passes; /* cli_passes_wish */
    int format; /* cli_format */
    uint64_t trials;      /* 0: a single run */
    double pace;          /* milliseconds between updates of the live view */
    const char *title, *panels; /* of the picture; null: default */
    int theme;                  /* cli_theme */
    const char *plot, *engine, *data, *state;
    uint64_t told;     /* options given: bits of the table's rows */
    cli_wishes wishes; /* those of the library */
    uint64_t state_every; /* updates between two checkpoints */
    int state_durable, go_on; /* go_on: cli_continue */
    const char *model; /* as given */
    const char *config[CLI_LIST_MAX + 1]; /* files of options */
    const char *column[CLI_LIST_MAX + 1]; /* "NAME=COLUMN" of records; lists end in null */
    const char *truth[CLI_LIST_MAX + 1], *true_drift[CLI_LIST_MAX + 1], *jump[CLI_LIST_MAX + 1], *outage[CLI_LIST_MAX + 1];
    double contrast, true_t2; /* of the simulated world; true_t2 0: no decoherence */
} cli_track_config;

/* Reads --config files, then the arguments, which take precedence. Returns 1 to continue, 0 if nothing is left to do
   (--help, --print-config), -1 after a message. */
int cli_track_configure(cli_track_config *config, int argc, char **argv);

/* The word for a step's health: that of its tests, or `coarse`. */
const char *cli_health_word(const rf_step *step);

/* Writes why an update was refused to `text`: the status in words and the engine's complaint. Returns `text`. */
enum { CLI_WHY = 2304 };
const char *cli_why(rf_status status, const rf_engine *engine, char text[CLI_WHY]);

/* Sets the configuration from the options of a checkpoint, called `name` in messages; if `model` is not null, with
   that model file. Returns 0, or -1 after a message. */
int cli_track_again(cli_track_config *config, const char *options, const char *name, const char *model);

#endif
