/* What compare.c keeps while it reads, and what compare_report.c makes of it. */
#ifndef REJFILT_CLI_COMPARE_H
#define REJFILT_CLI_COMPARE_H

#include "cli.h"
#include "modelspec.h"
#include "records.h"
#include "score.h"

enum {
    CANDIDATES_MAX = 16,
    REPEAT_MAX = 256,
    TOGETHER_MAX = 1024, /* records of a batch */
    ROW = RF_NAMES_MAX + 1,
    LABEL_MAX = 80
};

/* One of the two precisions. */
typedef struct compare_precision {
    const char *name;
    cli_scorer *(*open)(const cli_run *run, uint32_t count, rf_status *status);
    void (*close)(cli_scorer *s);
    rf_status (*would_take)(cli_scorer *s, const double records[], uint32_t count, double elapsed);
    rf_status (*learn)(cli_scorer *s, const double records[], uint32_t count, double elapsed);
    const cli_score *(*read)(const cli_scorer *s);
} compare_precision;

/* --prior and --drift as given, ending in null. */
typedef struct compare_wishes {
    const char *prior[RF_NAMES_MAX + 1], *drift[RF_NAMES_MAX + 1];
} compare_wishes;

typedef struct compare_candidate {
    const rf_model *model;
    compare_wishes own;
    const char *label; /* as given, or null */
    char name[LABEL_MAX];
    cli_run run;
    unsigned from[RF_NAMES_MAX]; /* where each of its settings is among those of all */
    cli_scorer *scorer;
} compare_candidate;

typedef struct compare_config {
    compare_candidate candidates[CANDIDATES_MAX];
    unsigned count;
    compare_wishes common;
    uint64_t seed, repeat, attempts;
    int sampler, precision; /* of their names */
    const char *engine, *data;
    const compare_precision *in;
    int json, skip_bad;
    rf_engine *opened;
    rf_description all; /* what the reader looks for: every candidate's settings */
} compare_config;

typedef struct compare_reading {
    compare_config *c;
    const char *source;              /* in messages */
    double rows[TOGETHER_MAX * ROW]; /* the batch under way: settings of all, then the outcome */
    uint32_t together;
    char batch[sizeof((cli_record *)0)->batch];
    int is_batch;
    double elapsed; /* from the batch before to this one's last record */
    double clock;   /* of the latest record */
    int has_begun, has_clock;
    uint64_t records, missing, bad;
    char first_bad[512];
} compare_reading;

/* Evidence, Bayes factors and verdict on standard output, as a table or as JSON. */
void compare_report(const compare_config *c, const compare_reading *r);

#endif
