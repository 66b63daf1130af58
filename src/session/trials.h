/* Statistics of many simulated trials: integer totals, which can be added in any order, and sums of squared errors per
   trial. Also trials on a GPU.

   There are 1 + dim kinds of error. Kind 0: the squared error of all parameters in the chart, in units of the walk.
   Kind 1 + i: |mean - truth| of parameter i, in natural units. */
#ifndef REJFILT_SESSION_TRIALS_H
#define REJFILT_SESSION_TRIALS_H

#include "rejfilt/session.h"

enum {
    RF_BURN_IN = 100,   /* earlier steps do not count; in shorter runs only the last step does */
    RF_LOST_STEPS = 20, /* a trial is lost if in more steps than this ... */
    RF_BACK_LATE =
        100, /* measurements within which the truth should be found again after an event; */
    RF_BACK_LAST = 150,                          /* the same with several parameters; */
    RF_BACK_FOR = 5,                             /* updates in a row with small errors that count as found */
    RF_FOLLOWED = RF_BACK_LATE + RF_BACK_FOR,    /* quiet measurements needed after an event for it to count, */
    RF_FOLLOWED_MAX = RF_BACK_LAST + RF_BACK_FOR /* and most that are followed */
};
#define RF_BACK_STEPS 5.0   /* smaller errors, in standard deviations of a step, are no loss; */
#define RF_BACK_WIDTHS 0.25 /* for parameters that stand still: in standard deviations of the prior */
#define RF_LOST_SIGMAS 5.0  /* ... the error exceeded this many of the filter's own standard deviations */

/* Criteria by which trials are judged. */
typedef struct rf_judging {
    long steps, first; /* per trial; the first step that counts */
    uint32_t batch;
    unsigned dim;
    double threshold[RF_DESCRIBED_MAX]; /* in the chart; smaller errors are no loss */
    double prior_sd[RF_DESCRIBED_MAX];
    double unit[RF_DESCRIBED_MAX];      /* of squared errors; 0: this parameter does not count */
    int is_final[1 + RF_DESCRIBED_MAX]; /* kinds counted in a trial's last step only: parameters that stand still */
    long row[2 + RF_DESCRIBED_MAX];     /* first row of each kind, and the end; one row per counted step */
} rf_judging;

/* The number of errors of a kind that a trial can have. */
static inline long rf_judging_rows(const rf_judging *j, unsigned kind) { return j->row[kind + 1] - j->row[kind]; }

/* Sums over all trials. */
typedef struct rf_totals {
    uint64_t finished, lost;                    /* trials */
    uint64_t counted[1 + RF_DESCRIBED_MAX];     /* number of errors of each kind */
    uint64_t held[RF_DESCRIBED_MAX], known;     /* truths within 95 % intervals, per parameter; out of */
    uint64_t covered, checked;                  /* errors within 1.96 standard deviations in the chart; out of */
    uint64_t events, back[RF_FOLLOWED_MAX + 1]; /* histogram of recovery times */
    uint64_t alarms, alarmed[RF_FOLLOWED_MAX + 1];
    uint64_t is_short; /* events cut off before RF_FOLLOWED_MAX */
    uint64_t quiet, false_lost, false_alarms, lost_steps, told;
    uint64_t attempts, updates, capped;
    uint64_t widest; /* greatest standard deviation in units of the prior's, as bits */
} rf_totals;

/* The follow-up of an event. */
typedef struct rf_follow_up {
    long at;        /* measurement; -1: no event */
    int good;       /* consecutive updates with a small error, or an alarm */
    int done_after; /* measurements until the truth was found again, or an alarm; -1: not yet */
} rf_follow_up;

/* One trial. */
typedef struct rf_trial {
    rf_follow_up recovery, alarm;
    long quiet_from;                  /* first step with no event close before it */
    int was_lost, was_alarm, was_far; /* in the previous step */
    int is_finished;
    uint32_t far; /* steps beyond RF_LOST_SIGMAS */
    uint32_t counted[1 + RF_ROOM], held[RF_ROOM];
    uint32_t known, covered, checked, quiet, false_lost, false_alarms, lost_steps, told, updates, capped;
    uint64_t attempts;
    double sum[1 + RF_ROOM]; /* of squared errors of each kind, step by step */
    double widest;
} rf_trial;

void rf_judging_begin(rf_judging *judging, const rf_simulation *simulation);
void rf_trial_begin(rf_trial *trial);
/* Adds a step. Writes errors[1 + dim], one per kind; NaN: not counted. */
void rf_trial_see(rf_trial *trial, const rf_judging *judging, const rf_step *step, rf_totals *totals, float errors[]);
void rf_trial_end(const rf_trial *trial, const rf_judging *judging, rf_totals *totals);

/* ---- Digits: exact quantiles of numbers stored anywhere ---- */

enum { RF_DIGIT = 11, RF_DIGITS = 1 << RF_DIGIT }; /* most bits of a digit */

/* A group of bits of a float: `bits` of them from bit `shift` on, for numbers whose higher bits are `above`. */
typedef struct rf_digit {
    unsigned shift, bits;
    uint32_t above;
} rf_digit;

/* The digit of a number, or -1 if its higher bits differ. */
RF_FN int32_t rf_digit_of(rf_digit which, float number)
{
    const uint64_t bits = rf32_bits(number);
    return bits >> (which.shift + which.bits) == which.above
               ? (int32_t)(bits >> which.shift & ((UINT32_C(1) << which.bits) - 1))
               : -1;
}

/* Sets counts[d] to the number of values with digit d. Returns 0, or -1. */
typedef int rf_digits(void *self, rf_digit which, uint64_t counts[RF_DIGITS]);

/* Finds the value of rank `rank` among non-negative numbers. Returns 0, or -1. */
int rf_digits_select(rf_digits *digits, void *self, uint64_t rank, float *number);

/* ---- Trials on a GPU ---- */

typedef struct rf_gpu_trials rf_gpu_trials;

/* For up to `trials` trials. Returns null with an empty `error` if the engine has no GPU or cannot run these trials;
   the caller then uses rf_simulate. Returns null with a message on failure. */
rf_gpu_trials *rf_gpu_trials_open(const rf_simulation *simulation, uint64_t trials, char *error, size_t size);
void rf_gpu_trials_close(rf_gpu_trials *trials);
/* The best number of trials per launch. */
uint32_t rf_gpu_trials_chunk(const rf_gpu_trials *trials);
/* Runs the next `count` trials; adds to the totals and to sums[1 + dim], trial by trial. Returns a negative status on
   refusal. */
rf_status rf_gpu_trials_run(rf_gpu_trials *trials, uint32_t count, rf_totals *totals, double sums[]);
/* As rf_digits, for the errors of a kind so far. */
int rf_gpu_trials_digits(rf_gpu_trials *trials, unsigned kind, rf_digit which, uint64_t counts[RF_DIGITS]);

#endif
