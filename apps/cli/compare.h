/* What compare.c keeps while it reads, and what compare_report.c makes of it. */
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

/* --prior and --drift as given, ending in null. */
typedef struct compare_wishes {
    const char *prior[RF_DESCRIBED_MAX + 1], *drift[RF_DESCRIBED_MAX + 1];
} compare_wishes;

typedef struct compare_candidate {
    const rf_model *model;
    compare_wishes own;
    const char *label; /* as given, or null */
    char name[LABEL_MAX];
    rf_simulation run;
    unsigned from[RF_DESCRIBED_MAX]; /* where each of its settings is among those of all */
    cli_scorer *scorer;
    int by_passes;           /* over the records that are kept, not by repeats that learn from one after the other */
    cli_kept kept;
    rf_passes_result passes;
    cli_score *exact;        /* what they found, as if every repeat had */
} compare_candidate;

typedef struct compare_config {
    compare_candidate candidates[CANDIDATES_MAX];
    unsigned count;
    compare_wishes common;
    uint64_t seed, repeat, attempts;
    int sampler, precision; /* of their names */
    const char *engine, *data;
    int json, skip_bad, passes; /* the last a cli_passes_wish */
    rf_engine *opened;
    rf_description all; /* what the reader looks for: every candidate's settings */
} compare_config;

typedef struct compare_reading {
    compare_config *c;
    const char *source; /* in messages */
    rf_batch batch;     /* under way; settings of all candidates */
    uint64_t records, missing, bad;
    char first_bad[512];
} compare_reading;

/* How many candidates are judged by passes. */
unsigned compare_passes(const compare_config *c);

/* Evidence, Bayes factors and verdict on standard output, as a table or as JSON. */
void compare_report(const compare_config *c, const compare_reading *r);

#endif
