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

/* Called after each step; a non-zero answer ends the trial. */
typedef int cli_observer(void *user, const cli_step *step);

/* Runs trial number `trial`. The filter works in float or in double. A negative status is a refusal. */
rf_status rf32_simulate_trial(const cli_simulation *simulation, uint32_t trial, cli_observer *observer, void *user);
rf_status rf64_simulate_trial(const cli_simulation *simulation, uint32_t trial, cli_observer *observer, void *user);

/* Can each parameter have its prior? Returns a refusal, and in `parameter` whose prior it is about. */
rf_status rf32_simulate_check(const cli_simulation *simulation, unsigned *parameter);
rf_status rf64_simulate_check(const cli_simulation *simulation, unsigned *parameter);

#endif
