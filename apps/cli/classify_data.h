/* What classify and features share: data, task, splits, rules, and their options. */
#ifndef REJFILT_CLI_CLASSIFY_DATA_H
#define REJFILT_CLI_CLASSIFY_DATA_H

#include <stdio.h>

#include "cli.h"
#include "progress.h"
#include "rejfilt/classify.h"
#include "tables/load.h"

typedef struct classify_config {
    const char *command;
    tables_source source;
    const char *task, *classes, *cost, *mask, *priors, *class_cost;
    const char *drop[CLI_LIST_MAX + 1];
    unsigned split[2]; /* train : test; 0 : 0 takes the test file */
    uint64_t shuffles, seed, threads, limit;
    int scaling, method, gain;                   /* of their names */
    uint64_t particles, restarts, budget, pilot; /* budget 0: the method's */
    double stop, max_cost, floor, sample;        /* stop, floor and sample < 0: the method's */
    double error, mean_questions;                /* what to stop for; < 0: not given */
    int json;
    int is_fit; /* all rows are for training */
    const char *plot;
} classify_config;

/* Loaded, with classes for labels and bytes for numbers. */
typedef struct classify_data {
    rfc_table train, test; /* with --split all rows are in `train` */
    rfc_task task;
    rfc_scaling scaling;
    uint64_t left_out; /* rows whose label is not in the task */
    rfc_coding *coding;
    float *cost;
    uint32_t *group;
    uint8_t *mask;
    double *priors, *class_cost; /* by class; priors: probabilities; null: not given */
    double load_seconds;
    char warnings[2048]; /* lines, about columns that look like no features */
} classify_data;

/* One training set and the objects to classify with it. */
typedef struct classify_trial {
    rfc_training *training;
    rfc_rules rules;
    rfc_objects objects;
    uint32_t *order;  /* with --split: rows in random order, the training rows first */
    double *prior;    /* by class: factors of odds */
    rfc_model *model; /* after classify_trial_fit() */
    rfc_expected expected;
    int is_reached; /* what was wished for */
} classify_trial;

classify_config classify_config_default(const char *command);

/* For the options in classify_options.def: names of rfc_method, rfc_gain and rfc_scaling, in their order. */
extern const char *const classify_method_names[], *const classify_gain_names[], *const classify_scale_names[];
cli_set classify_set_split, classify_set_plot, classify_set_error;

/* Both return CLI_OK, or an exit code after a message. */
int classify_load(classify_config *config, classify_data *data);
int classify_trial_open(const classify_config *config, const classify_data *data, uint32_t shuffle,
                        classify_trial *trial);
/* Makes the model, with the stop that was wished for. Progress may be null. Returns CLI_OK, or an exit code after a
   message. */
int classify_trial_fit(const classify_config *config, classify_trial *trial, cli_progress *progress);
void classify_trial_close(classify_trial *trial);
void classify_free(classify_data *data);

/* Prints the warnings; for commands that came to their end. */
void classify_warn(const classify_data *data);

/* A path without its directories; lines that say what the data is. */
const char *classify_base_name(const char *path);
void classify_describe(const classify_config *config, const classify_data *data);

/* A file to write, or null after a message. Closing says whether all was written. */
FILE *classify_create(const classify_config *config, const char *path);
int classify_finish(const classify_config *config, const char *path, FILE *file);

/* ---- One CSV row per object ---- */

/* Memory for the answers of so many objects. Returns 0, or -1 without memory; it is to be freed either way. */
int classify_answers_make(uint32_t count, uint32_t classes, rfc_outcome *outcome);
void classify_answers_free(rfc_outcome *outcome, uint32_t count);

/* A header; a row per object, the first of which is number `first`, where `named` names the features. Returns 0, or -1
   without memory. */
void classify_put_header(FILE *out, const rfc_names *classes);
int classify_put_objects(FILE *out, const rfc_names *classes, const rfc_table *named, const rfc_objects *objects,
                         const rfc_outcome *outcome, uint64_t first);

/* ---- Models in files ---- */

int cli_classify_fit(int argc, char **argv);
int cli_classify_predict(int argc, char **argv);
int cli_classify_ask(int argc, char **argv);

/* ---- Nearest neighbours ---- */

/* Adds to errors[i] those of the k[i] nearest neighbours, on the `features` of largest variance (0: on all). Progress
   may be null. Returns CLI_OK, or an exit code after a message. */
int classify_knn(const classify_config *config, const classify_data *data, const classify_trial *trial,
                 uint64_t features, const unsigned k[], unsigned ks, cli_progress *progress, uint64_t errors[]);

#endif
