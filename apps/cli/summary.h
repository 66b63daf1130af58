/* What many simulated trials say about a filter and a design. */
#ifndef REJFILT_CLI_SUMMARY_H
#define REJFILT_CLI_SUMMARY_H

#include "rejfilt/session.h"

enum {
    CLI_BURN_IN = 100,    /* steps before this one do not count; shorter runs count their last step alone */
    CLI_LOST_STEPS = 20,  /* a trial is lost when in more steps than this ... */
};
enum {
    CLI_BACK_SOON = 50,   /* measurements within which a filter should find the truth again after an event, */
    CLI_BACK_LATE = 100,  /* or at least within these; */
    CLI_BACK_LAST = 150,  /* of several parameters, within these; */
    CLI_BACK_FOR = 5,     /* and for so many it must last */
    CLI_ALARM_WITHIN = 30, /* measurements after an event in which health should say so, */
    CLI_ALARM_LAST = 50    /* and of several parameters */
};
#define CLI_BACK_STEPS 5.0   /* an error below so many standard deviations of a step is no loss; */
#define CLI_BACK_WIDTHS 0.25 /* of a parameter that stands still, below so many of its prior's */

#define CLI_LOST_SIGMAS 5.0 /* ... the error exceeded so many of the filter's own standard deviations */

/* Of one parameter, in natural units. */
typedef struct cli_errors {
    int is_final;              /* it stands still: only the last step of each trial counts; else all from CLI_BURN_IN on */
    double median, rms, p90, p99; /* of |mean - truth|, and its root mean square; NaN: none was seen */
    double coverage95;         /* share of its 95 % intervals, in all steps that count above, that hold the truth */
} cli_errors;

typedef struct cli_summary {
    uint64_t trials;
    unsigned dim;
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

cli_summary cli_collector_summary(cli_collector *collector);

#endif
