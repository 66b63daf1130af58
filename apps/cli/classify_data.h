/* What classify and classify rank share: data, task, splits, rules, and their options. */
#ifndef REJFILT_CLI_CLASSIFY_DATA_H
#define REJFILT_CLI_CLASSIFY_DATA_H

#include <stdio.h>

#include "cli.h"
#include "outputs.h"
#include "progress.h"
#include "few.h"
#include "tables/load.h"

typedef struct classify_config {
    const char *command;
    tables_source source;
    const char *task, *classes, *cost, *mask, *priors, *class_cost;
    const char *drop[CLI_LIST_MAX + 1];
    unsigned split[2]; /* 0 : 0: use the test file */
    uint64_t shuffles, seed, threads, limit;
    int scaling, method, gain;                   /* indices into their names */
    uint64_t particles, restarts, budget, pilot; /* budget 0: the default of the method */
    double stop, max_cost, floor, sample;        /* stop, floor and sample < 0: the default of the method */
    double error, mean_questions;                /* goals that set `stop`; < 0: not given */
    int json;
    int is_fit; /* use all rows for training */
    uint64_t told; /* options given: bits of the table's rows */
    const char *plot;
} classify_config;

/* Loaded data: labels as classes, numbers as bytes. */
typedef struct classify_data {
    rfc_table train, test; /* with --split all rows are in `train` */
    rfc_task task;
    rfc_scaling scaling;
    uint64_t left_out; /* rows whose label is not in the task */
    rfc_coding *coding;
    float *cost;
    uint32_t *group;
    uint8_t *mask;
    double *priors, *class_cost; /* by class; priors are probabilities; NULL: not given */
    double load_seconds;
    char warnings[2048]; /* lines about columns that should perhaps not be features */
} classify_data;

/* One training set and the objects to classify with it. */
typedef struct classify_trial {
    rfc_training *training;
    rfc_rules rules;
    rfc_objects objects;
    uint32_t *order;  /* with --split: rows in random order, the training rows first */
    double *prior;    /* by class: factors of odds */
    rfc_model *model; /* set by classify_trial_fit() */
    rfc_expected expected;
    int is_reached; /* the goal (`error` or `mean_questions`) was reached */
} classify_trial;

classify_config classify_config_default(const char *command);

/* For the options in classify_options.def: names of rfc_method, rfc_gain and rfc_scaling, in their order. */
extern const char *const classify_method_names[], *const classify_gain_names[], *const classify_scale_names[];
cli_set classify_set_split, classify_set_plot, classify_set_error;

/* Refuses options that were given and that this method, or this way to run, does not read. `run`: CLASSIFY_EXPLAINS, CLASSIFY_COMPARES. Returns an
   exit code. */
enum { CLASSIFY_EXPLAINS = 1, CLASSIFY_COMPARES = 2 };
int classify_check_told(const cli_usage *usage, const classify_config *c, unsigned run);

/* Both return CLI_OK, or an exit code after a message. */
int classify_load(classify_config *config, classify_data *data);
int classify_trial_open(const classify_config *config, const classify_data *data, uint32_t shuffle,
                        classify_trial *trial);
/* Fits the model and sets its stop for the goal, if one is given. Progress may be null. Returns CLI_OK, or an exit
   code after a message. */
int classify_trial_fit(const classify_config *config, classify_trial *trial, cli_progress *progress);
/* ", at most 3 queries" if the goal made the budget smaller, else "". Returns `text`. */
const char *classify_limit(const classify_trial *trial, char *text, size_t size);
void classify_trial_close(classify_trial *trial);
void classify_free(classify_data *data);

/* Prints the warnings. Call it only when the command has succeeded. */
void classify_warn(const classify_data *data);

/* classify_base_name: the path without its directories. classify_describe: prints what the data is. */
const char *classify_base_name(const char *path);
void classify_describe(const classify_config *config, const classify_data *data);

/* Opens an output. Returns its stream, or null after a message. classify_finish puts it in place if it `is_wanted`, and returns
   CLI_OK, or an exit code after a message. */
FILE *classify_create(const classify_config *config, const char *path, rf_output *output);
int classify_finish(const classify_config *config, rf_output *output, int is_wanted);

/* ---- One CSV row per object ---- */

/* Memory for the answers of `count` objects. Returns 0, or -1 without memory; call classify_answers_free in both
   cases. */
int classify_answers_make(uint32_t count, uint32_t classes, rfc_outcome *outcome);
void classify_answers_free(rfc_outcome *outcome, uint32_t count);

/* A header, and a row per object. `first` is the number of the first object; `named` has the feature names. Returns
   0, or -1 without memory. */
void classify_put_header(FILE *out, const rfc_names *classes);
int classify_put_objects(FILE *out, const rfc_names *classes, const rfc_table *named, const rfc_objects *objects,
                         const rfc_outcome *outcome, uint64_t first);

/* ---- Models in files ---- */

int cli_classify_fit(int argc, char **argv);
int cli_classify_predict(int argc, char **argv);
int cli_classify_ask(int argc, char **argv);
int cli_classify_rank(int argc, char **argv);

/* ---- Nearest neighbours ---- */

/* Adds to errors[i] the errors of k[i] nearest neighbours, on the `features` of largest variance (0: all). Progress
   may be null. Returns CLI_OK, or an exit code after a message. */
int classify_knn(const classify_config *config, const classify_data *data, const classify_trial *trial,
                 uint64_t features, const unsigned k[], unsigned ks, cli_progress *progress, uint64_t errors[]);

#endif
