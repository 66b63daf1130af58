/* A simulated run: a truth that walks, measurements of it, and a filter that follows. */
#ifndef REJFILT_CLI_SIMULATE_H
#define REJFILT_CLI_SIMULATE_H

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
} cli_run;

/* One step, after its update. */
typedef struct cli_step {
    long step; /* the latest measurement's number, from 0 */
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

/* Called after each step of each trial; a non-zero answer ends the run. */
typedef int cli_observer(void *user, uint32_t trial, const cli_step *step);

/* Runs trials first .. first + count − 1, at most CLI_SIDE_BY_SIDE, step by step together. The filters
   work in float or in double. A negative status is a refusal; RF_REFUSED_ENGINE, too, when memory is short. */
rf_status rf32_simulate_trials(const cli_run *simulation, uint32_t first, uint32_t count, cli_observer *observer, void *user);
rf_status rf64_simulate_trials(const cli_run *simulation, uint32_t first, uint32_t count, cli_observer *observer, void *user);

/* Can each parameter have its prior? Returns a refusal, and in `parameter` whose prior it is about. */
rf_status rf32_simulate_check(const cli_run *simulation, unsigned *parameter);
rf_status rf64_simulate_check(const cli_run *simulation, unsigned *parameter);

/* A tracker at the run's prior, its filter in `memory`; and what a step shows of it. */
rf_status rf32_simulate_open(const cli_run *simulation, uint64_t seed, void *memory, size_t bytes, rf32_tracker *t);
rf_status rf64_simulate_open(const cli_run *simulation, uint64_t seed, void *memory, size_t bytes, rf64_tracker *t);
void rf32_simulate_describe(const rf32_tracker *t, const float truth[], cli_step *s);
void rf64_simulate_describe(const rf64_tracker *t, const double truth[], cli_step *s);
void rf32_simulate_widen_report(const rf32_report *from, rf64_report *to);
void rf64_simulate_widen_report(const rf64_report *from, rf64_report *to);

#endif
