/* What many simulated trials say about a filter and a design. */
#ifndef REJFILT_CLI_SUMMARY_H
#define REJFILT_CLI_SUMMARY_H

#include "../../src/session/trials.h"

enum {
    CLI_BACK_SOON = 50,    /* measurements within which a filter should find the truth again after an event, */
    CLI_ALARM_WITHIN = 30, /* in which health should say so, */
    CLI_ALARM_LAST = 50    /* and of several parameters */
};

/* Of one parameter, in natural units. */
typedef struct cli_errors {
    int is_final;              /* it stands still: only the last step of each trial counts; else all from RF_BURN_IN on */
    double median, rms, p90, p99; /* of |mean - truth|, and its root mean square; NaN: none was seen */
    double coverage95;         /* share of its 95 % intervals, in all steps that count above, that hold the truth */
} cli_errors;

typedef struct cli_summary {
    uint64_t trials;
    unsigned dim;
    long first; /* step that counts */
    cli_errors of[RF_DESCRIBED_MAX];
    double q;                       /* variance of a step of the walk: the unit of the errors; 0: unit 1 */
    double median, mean, p90, p99; /* squared error, in units of q */
    double lost, coverage95;       /* fractions; coverage: errors within 1.96 standard deviations, in the chart */
    double ns_per_attempt;
    double mean_attempts; /* of an update, with top-up */
    uint64_t events;                /* jumps, and outages that ended: those followed by enough quiet steps */
    double back_soon, back_late, back_last; /* fractions of them: the truth was found again; NaN: not known */
    double back_median;             /* measurements that took, of those that did; NaN: none */
    double alarmed, alarmed_last, alarm_median; /* fractions of jumps and outages that health told in time; measurements that took */
    double false_lost, false_alarms; /* onsets of `lost`, and of any alarm, per 1,000 quiet steps in which nothing was wrong */
    double told;                    /* fraction of the steps with the truth lost in which health said so; NaN: none */
    double widest;                  /* largest standard deviation, in units of the prior's */
    double capped;                    /* fraction of the updates with a question at the end of a range */
    double as_gaussian, as_particles; /* fractions of the steps in which a belief that changes its form was that */
} cli_summary;

typedef struct cli_collector cli_collector;

/* Collects the steps of many trials; null when memory is short. It keeps 4 bytes per trial and step that counts, and
   as many for each parameter that moves. */
size_t cli_collector_bytes(const rf_simulation *simulation, uint64_t trials);
cli_collector *cli_collector_open(const rf_simulation *simulation, uint64_t trials);
void cli_collector_free(cli_collector *collector);

/* A rf_observer whose user is the collector. */
int cli_collector_step(void *collector, uint32_t trial, const rf_step *step);

/* The same of trials that run, and whose errors stay, on a GPU, which the collector then owns. */
cli_collector *cli_collector_open_gpu(const rf_simulation *simulation, rf_gpu_trials *gpu);
/* Runs the next `count` there. */
rf_status cli_collector_run(cli_collector *collector, uint32_t count);

/* The mean error is by the sum over trials of each trial's own sum. Quantiles are NaN when a GPU does not answer. */
cli_summary cli_collector_summary(cli_collector *collector);

#endif
