/* A simulated run: a truth that walks, measurements of it, and a filter that follows. */
#ifndef REJFILT_CLI_SIMULATE_H
#define REJFILT_CLI_SIMULATE_H

#include "rejfilt/host.h"

typedef struct cli_prior {
    int is_gaussian;     /* else uniform */
    double first, second; /* mean and standard deviation; else low and high. Natural units */
} cli_prior;

typedef struct cli_simulation {
    const rf_model *model;
    uint64_t seed; /* of the run: trials draw theirs from it */
    long steps;
    uint32_t attempts;
    int strict;
    rf_sampler sampler;
    const rf_engine *engine;
    double kappa; /* 0: controlled, from 1 */
    double recovery;
    cli_prior prior[RF_NAMES_MAX];
    double drift[RF_NAMES_MAX]; /* standard deviation of a step, in the chart */
} cli_simulation;

/* One step, after its update. */
typedef struct cli_step {
    long step;
    unsigned dim;
    double truth[RF_NAMES_MAX], mean[RF_NAMES_MAX];   /* natural units */
    double low[RF_NAMES_MAX], high[RF_NAMES_MAX];     /* the ±2σ band, natural units */
    double error[RF_NAMES_MAX], sd[RF_NAMES_MAX];     /* estimate − truth, and σ, in the chart */
    double setting[RF_NAMES_MAX], outcome;
    rf64_report report;
    double log_evidence; /* of all steps so far */
    double seconds;      /* spent in the update */
} cli_step;

/* Called after each step of each trial; a non-zero answer ends the run. */
typedef int cli_observer(void *user, uint32_t trial, const cli_step *step);

/* Trials that run side by side, as one fleet. */
enum { CLI_SIDE_BY_SIDE = 256 };

/* Runs trials first .. first + count − 1, at most CLI_SIDE_BY_SIDE, step by step together. The filters
   work in float or in double. A negative status is a refusal; RF_REFUSED_ENGINE, too, when memory is short. */
rf_status rf32_simulate_trials(const cli_simulation *simulation, uint32_t first, uint32_t count, cli_observer *observer, void *user);
rf_status rf64_simulate_trials(const cli_simulation *simulation, uint32_t first, uint32_t count, cli_observer *observer, void *user);

/* Can each parameter have its prior? Returns a refusal, and in `parameter` whose prior it is about. */
rf_status rf32_simulate_check(const cli_simulation *simulation, unsigned *parameter);
rf_status rf64_simulate_check(const cli_simulation *simulation, unsigned *parameter);

#endif
