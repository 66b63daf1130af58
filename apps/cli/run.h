/* What a run of `rejfilt track` is made of, and what a step of it shows. */
#ifndef REJFILT_CLI_RUN_H
#define REJFILT_CLI_RUN_H

#include <stdio.h>

#include "cli.h"
#include "rejfilt/host.h"

typedef struct cli_prior {
    int is_gaussian;     /* else uniform */
    double first, second; /* mean and standard deviation; else low and high. Natural units */
} cli_prior;

enum {
    CLI_SIDE_BY_SIDE = 256, /* trials that run side by side, as one fleet */
    CLI_BATCH_MAX = 32      /* experiments that are asked for together */
};

/* What a run is made of, simulated or not. */
typedef struct cli_run {
    const rf_model *model;
    rf_description about; /* the model's, with the run's ranges and costs */
    const char *design;   /* null: settings come with the data */
    uint64_t seed;        /* of the run: trials draw theirs from it */
    long steps;           /* measurements */
    uint32_t batch;       /* of them that are learnt from together */
    uint32_t attempts;
    uint32_t accepted_min; /* 0: the default of rf64_options */
    int strict;
    rf_sampler sampler;
    const rf_engine *engine;
    double kappa; /* 0: controlled, from 1 */
    double recovery;
    rf_on_lost on_lost;
    long anchor_every; /* -1: as the design has it */
    cli_prior prior[RF_NAMES_MAX];
    double drift[RF_NAMES_MAX]; /* standard deviation of a step, in the chart */
    double jump;                /* of the first parameter's truth, in the chart, before measurement jump_at; 0: none */
    long jump_at;
    int is_truth_gaussian; /* the truth is drawn from the filter's Gaussian, not from the prior that it stands for */
} cli_run;

/* One step, after its update. */
typedef struct cli_step {
    long step; /* the latest measurement's number, from 0 */
    double time; /* of the latest record; NaN: records have no times */
    uint32_t records; /* learnt from in this step: 0 when only time passed */
    unsigned dim;
    double truth[RF_NAMES_MAX], mean[RF_NAMES_MAX];   /* natural units; a truth of NaN is not known */
    double low[RF_NAMES_MAX], high[RF_NAMES_MAX];     /* the 95 % interval, natural units */
    double error[RF_NAMES_MAX], sd[RF_NAMES_MAX];     /* estimate − truth, and σ, in the chart */
    double covariance[RF_NAMES_MAX * (RF_NAMES_MAX + 1) / 2]; /* in the chart, by rows of the lower triangle */
    double setting[RF_NAMES_MAX], outcome;
    rf64_report report;
    rf_health health;
    uint32_t widened, restarts;
    double log_evidence, log_evidence_variance; /* of all steps so far */
    double seconds;      /* spent in the update */
} cli_step;

/* ---- The options of `rejfilt track` ---- */

typedef enum cli_format { CLI_FORMAT_AUTO, CLI_FORMAT_TEXT, CLI_FORMAT_JSON, CLI_FORMAT_CSV } cli_format;

typedef struct cli_track_config {
    cli_run run;
    int simulate, ask, is_float, skip_bad, print_config, summary;
    int format; /* cli_format */
    uint64_t trials;      /* 0: one run, step by step */
    double pace;          /* milliseconds between steps of the live view */
    const char *plot, *engine, *data, *state, *kappa, *jump;
    int sampler, on_lost;
    uint64_t state_every; /* updates between two checkpoints */
    int state_durable;
    const char *model; /* as given */
    const char *prior[CLI_LIST_MAX + 1], *drift[CLI_LIST_MAX + 1]; /* as given, ending in null */
    const char *range[CLI_LIST_MAX + 1], *cost[CLI_LIST_MAX + 1], *chart[CLI_LIST_MAX + 1];
} cli_track_config;

/* Reads --config files, then the arguments; the latter win. Returns 1 to go on, 0 when there is nothing more to do
   (--help, --print-config), -1 after a message. */
int cli_track_configure(cli_track_config *config, int argc, char **argv);

/* The word for a step's health: that of its tests, or `coarse` where they are passed and a standard deviation is held at the
   spacing of numbers. */
const char *cli_health_word(const cli_step *step);

extern const char *const cli_sampler_names[4], *const cli_on_lost_names[5], *const cli_health_names[4], *const cli_precision_names[3];

/* Why an update was refused: the status in words, and what the engine has to say to it, in `text`, which is returned. */
enum { CLI_WHY = 320 };
const char *cli_why(rf_status status, const rf_engine *engine, char text[CLI_WHY]);

/* A checksum of all that decides what a run computes. */
uint64_t cli_track_fingerprint(const cli_track_config *config);

#endif
