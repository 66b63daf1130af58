/* Summary of many simulated trials: quality of a filter and a design. */
#ifndef REJFILT_CLI_SUMMARY_H
#define REJFILT_CLI_SUMMARY_H

#include "../../src/session/trials.h"

enum {
    CLI_BACK_SOON = 50,    /* measurements after an event within which the filter should find the truth again, */
    CLI_ALARM_WITHIN = 30, /* within which health should report it, */
    CLI_ALARM_LAST = 50    /* and the same with several parameters */
};

/* Errors of one parameter, in natural units. */
typedef struct cli_errors {
    int is_final;              /* does not move: only a trial's last step counts; else all from RF_BURN_IN on */
    double median, rms, p90, p99; /* of |mean - truth|, and its root mean square; NaN: no data */
    double coverage95;         /* fraction of steps from RF_BURN_IN on whose 95 % interval holds the truth */
} cli_errors;

typedef struct cli_summary {
    uint64_t trials;
    unsigned dim;
    long first; /* first step that counts */
    cli_errors of[RF_DESCRIBED_MAX];
    double q;                       /* variance of a step of the walk, the unit of the errors; 0: no walk, unit 1 */
    double median, mean, p90, p99; /* squared error, in units of q */
    double lost, coverage95;       /* fractions; coverage: errors within 1.96 standard deviations, in the chart */
    double ns_per_attempt;
    double mean_attempts; /* per update, with top-up */
    uint64_t events;                /* jumps and ended outages that were followed by enough quiet steps */
    double back_soon, back_late, back_last; /* fractions: truth found again after an event; NaN: unknown */
    double back_median;             /* measurements until found again, over those that were; NaN: none */
    double alarmed, alarmed_last, alarm_median; /* fractions of faults reported in time; measurements taken */
    double false_lost, false_alarms; /* onsets of `lost`, and of any alarm, per 1,000 quiet steps without a fault */
    double told;                    /* fraction of the steps with the truth lost that health reported; NaN: none */
    double widest;                  /* largest standard deviation, in units of the prior's */
    double capped;                    /* fraction of updates with a question limited by a setting's range */
} cli_summary;

typedef struct cli_collector cli_collector;

/* Collects the steps of many trials; NULL when memory is short. It keeps 4 bytes per trial and counted step, and the
   same for each parameter that moves. */
size_t cli_collector_bytes(const rf_simulation *simulation, uint64_t trials);
cli_collector *cli_collector_open(const rf_simulation *simulation, uint64_t trials);
void cli_collector_free(cli_collector *collector);

/* An rf_observer; its user pointer is the collector. */
int cli_collector_step(void *collector, uint32_t trial, const rf_step *step);

/* The same for trials on a GPU, where their errors stay. The collector owns `gpu`. */
cli_collector *cli_collector_open_gpu(const rf_simulation *simulation, rf_gpu_trials *gpu);
/* Runs the next `count` trials on the GPU. */
rf_status cli_collector_run(cli_collector *collector, uint32_t count);

/* The mean error is computed from each trial's own sum. Quantiles are NaN when a GPU does not answer. */
cli_summary cli_collector_summary(cli_collector *collector);

#endif
