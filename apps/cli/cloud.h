/* What classify and features share: data, task, splits, rules, and their options. */
#ifndef REJFILT_CLI_CLOUD_H
#define REJFILT_CLI_CLOUD_H

#include <stdio.h>

#include "cli.h"
#include "sweep.h"
#include "load.h"
#include "scale.h"
#include "task.h"

typedef struct cloud_config {
    const char *command;
    rf_source source;
    const char *task, *classes, *cost, *mask;
    unsigned split[2]; /* train : test; 0 : 0 takes the test file */
    uint64_t shuffles, seed, threads, limit;
    int scaling, method, gain; /* of their names */
    uint64_t particles, restarts, budget;  /* budget 0: as many as there are features */
    double stop, most_cost, floor, sample; /* floor and sample < 0: the method's */
    int json;
    const char *plot;
} cloud_config;

/* Loaded, with classes for labels and bytes for numbers. */
typedef struct cloud_data {
    rf_table train, test; /* with --split all rows are in `train` */
    rf_task task;
    rf_scaling scaling;
    uint64_t left_out; /* rows whose label is not in the task */
    float *cost;
    uint8_t *mask;
    double load_seconds;
} cloud_data;

/* One training set and the objects to classify with it. */
typedef struct cloud_trial {
    rf_training training;
    rf_rules rules;
    rf_objects objects;
    uint32_t *order; /* with --split: rows in random order, the training rows first */
} cloud_trial;

cloud_config cloud_config_default(const char *command);

/* For the options in cloud_options.def: names of rf_method, rf_gain and rf_scaling, in their order. */
extern const char *const cloud_method_names[], *const cloud_gain_names[], *const cloud_scale_names[];
cli_set cloud_set_split, cloud_set_plot;

/* Both return CLI_OK, or an exit code after a message. */
int cloud_load(cloud_config *config, cloud_data *data);
int cloud_trial_open(const cloud_config *config, const cloud_data *data, uint32_t shuffle, cloud_trial *trial);
void cloud_trial_close(cloud_trial *trial);
void cloud_free(cloud_data *data);

/* A path without its directories; lines that say what the data is. */
const char *cloud_base_name(const char *path);
void cloud_describe(const cloud_config *config, const cloud_data *data);

/* A file to write, or null after a message. Closing says whether all was written. */
FILE *cloud_create(const cloud_config *config, const char *path);
int cloud_finish(const cloud_config *config, const char *path, FILE *file);

/* ---- Time and progress ---- */

double cloud_seconds(void);
double cloud_cpu_seconds(void); /* of all threads together */

typedef struct cloud_progress {
    const char *what;
    double start, shown;
    uint64_t before, total; /* work done before, and in all, in units of the calls */
} cloud_progress;

/* An rf_progress: a line on a terminal's standard error that says how far it is and how long it takes yet;
   nothing within the first second. */
void cloud_progress_show(void *progress, uint64_t done, uint64_t total);
void cloud_progress_end(const cloud_progress *progress);

/* ---- Nearest neighbours ---- */

/* Adds to errors[i] those of the k[i] nearest neighbours, on the `features` of largest variance (0: on all). Progress may be
   null. Returns CLI_OK, or an exit code after a message. */
int cloud_knn(const cloud_config *config, const cloud_data *data, const cloud_trial *trial, uint64_t features, const unsigned k[],
              unsigned ks, cloud_progress *progress, uint64_t errors[]);

#endif
