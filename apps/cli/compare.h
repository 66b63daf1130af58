/* State of compare while it reads, and the report made from it. */
#ifndef REJFILT_CLI_COMPARE_H
#define REJFILT_CLI_COMPARE_H

#include "cli.h"
#include "modelspec.h"
#include "passes.h"
#include "records.h"
#include "score.h"
#include "track_options.h"

enum {
    CANDIDATES_MAX = 16,
    REPEAT_MAX = 256,
    LABEL_MAX = 80
};

/* --prior and --drift as given; the lists end in null. */
typedef struct compare_wishes {
    const char *prior[RF_DESCRIBED_MAX + 1], *drift[RF_DESCRIBED_MAX + 1];
} compare_wishes;

typedef struct compare_candidate {
    const rf_model *model;
    compare_wishes own;
    const char *label; /* as given, or null */
    char name[LABEL_MAX];
    rf_simulation run;
    unsigned from[RF_DESCRIBED_MAX]; /* index of each own setting in the common list */
    cli_scorer *scorer;
    int by_passes;           /* judged by passes over the kept records, not by repeats that learn batch by batch */
    cli_kept kept;
    rf_passes_result passes;
    cli_score *exact;        /* results of the passes, copied to every repeat */
} compare_candidate;

typedef struct compare_config {
    compare_candidate candidates[CANDIDATES_MAX];
    unsigned count;
    compare_wishes common;
    uint64_t seed, repeat, attempts;
    int sampler, precision; /* indices into their names */
    const char *engine, *data;
    const char *column[CLI_LIST_MAX + 1]; /* "NAME=COLUMN" of records */
    int json, skip_bad, passes;           /* passes: a cli_passes_wish */
    rf_engine *opened;
    rf_description all; /* for the reader: the settings of all candidates */
} compare_config;

typedef struct compare_reading {
    compare_config *c;
    const char *source; /* name in messages */
    rf_batch batch;     /* being filled; settings of all candidates */
    uint64_t records, missing, bad;
    char first_bad[512];
} compare_reading;

/* Number of candidates judged by passes. */
unsigned compare_passes(const compare_config *c);

/* Prints evidence, Bayes factors and verdict on standard output, as a table or as JSON. */
void compare_report(const compare_config *c, const compare_reading *r);

#endif
