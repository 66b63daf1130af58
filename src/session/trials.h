/* Statistics of many simulated trials: integer totals, which can be added in any order, and sums of squared errors per
   trial. Also trials on a GPU.

   Errors are of 1 + dim kinds: 0 is the squared error of all parameters in the chart, in units of the walk; 1 + i that
   of parameter i, |mean - truth| in natural units. */
#ifndef REJFILT_SESSION_TRIALS_H
#define REJFILT_SESSION_TRIALS_H

#include "rejfilt/session.h"

enum {
    RF_BURN_IN = 100,   /* steps before this one do not count; shorter runs count their last step alone */
    RF_LOST_STEPS = 20, /* a trial is lost when in more steps than this ... */
    RF_BACK_LATE =
        100, /* measurements within which a filter should at least have found the truth again after an event; */
    RF_BACK_LAST = 150,                          /* of several parameters, within these; */
    RF_BACK_FOR = 5,                             /* and for so many it must last */
    RF_FOLLOWED = RF_BACK_LATE + RF_BACK_FOR,    /* measurements after an event that must be quiet for it to count, */
    RF_FOLLOWED_MAX = RF_BACK_LAST + RF_BACK_FOR /* and that are looked at */
};
#define RF_BACK_STEPS 5.0   /* an error below so many standard deviations of a step is no loss; */
#define RF_BACK_WIDTHS 0.25 /* of a parameter that stands still, below so many of its prior's */
#define RF_LOST_SIGMAS 5.0  /* ... the error exceeded so many of the filter's own standard deviations */

/* What trials are judged by. */
typedef struct rf_judging {
    long steps, first; /* of a trial; the first that counts */
    uint32_t batch;
    unsigned dim;
    double threshold[RF_DESCRIBED_MAX]; /* errors that are no loss, in the chart */
    double prior_sd[RF_DESCRIBED_MAX];
    double unit[RF_DESCRIBED_MAX];      /* of squared errors; 0: the parameter's do not count */
    int is_final[1 + RF_DESCRIBED_MAX]; /* kinds of errors that only a trial's last step has: of what stands still */
    long row[2 + RF_DESCRIBED_MAX];     /* where each kind's rows begin, and they end: one for every step that counts */
} rf_judging;

/* Errors of that kind that a trial can have. */
static inline long rf_judging_rows(const rf_judging *j, unsigned kind) { return j->row[kind + 1] - j->row[kind]; }

/* Over all trials. */
typedef struct rf_totals {
    uint64_t finished, lost;                    /* trials */
    uint64_t counted[1 + RF_DESCRIBED_MAX];     /* errors of each kind */
    uint64_t held[RF_DESCRIBED_MAX], known;     /* truths within 95 % intervals, of each parameter; of how many */
    uint64_t covered, checked;                  /* errors within 1.96 standard deviations in the chart; of how many */
    uint64_t events, back[RF_FOLLOWED_MAX + 1]; /* by how long it took */
    uint64_t alarms, alarmed[RF_FOLLOWED_MAX + 1];
    uint64_t is_short; /* runs that ended before RF_FOLLOWED_MAX */
    uint64_t quiet, false_lost, false_alarms, lost_steps, told;
    uint64_t attempts, updates, capped;
    uint64_t widest; /* standard deviation, in units of the prior's: the bits of that number */
} rf_totals;

/* What follows an event. */
typedef struct rf_follow_up {
    long at;        /* measurement; -1: there was none */
    int good;       /* updates in a row with a small error, or alarms */
    int done_after; /* measurements until the truth was found again, or health told; -1: not yet */
} rf_follow_up;

/* The trial under way. */
typedef struct rf_trial {
    rf_follow_up recovery, alarm;
    long quiet_from;                  /* its first step without an event in reach */
    int was_lost, was_alarm, was_far; /* in its step before */
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
/* Adds a step. Writes errors[1 + dim] of every kind; NaN: not counted. */
void rf_trial_see(rf_trial *trial, const rf_judging *judging, const rf_step *step, rf_totals *totals, float errors[]);
void rf_trial_end(const rf_trial *trial, const rf_judging *judging, rf_totals *totals);

/* ---- Digits: exact quantiles of numbers that are anywhere ---- */

enum { RF_DIGIT = 11, RF_DIGITS = 1 << RF_DIGIT }; /* bits of one, at most */

/* Which of the bits of a float: `bits` of them from bit `shift` on; and what is above those. */
typedef struct rf_digit {
    unsigned shift, bits;
    uint32_t above;
} rf_digit;

/* The digit of a number, or -1 where something else is above it. */
RF_FN int32_t rf_digit_of(rf_digit which, float number)
{
    const uint64_t bits = rf32_bits(number);
    return bits >> (which.shift + which.bits) == which.above
               ? (int32_t)(bits >> which.shift & ((UINT32_C(1) << which.bits) - 1))
               : -1;
}

/* counts[d] is the number of values with digit d. Returns 0, or -1. */
typedef int rf_digits(void *self, rf_digit which, uint64_t counts[RF_DIGITS]);

/* Finds the value of rank `rank` among non-negative numbers. Returns 0, or -1. */
int rf_digits_select(rf_digits *digits, void *self, uint64_t rank, float *number);

/* ---- Trials on a GPU ---- */

typedef struct rf_gpu_trials rf_gpu_trials;

/* For up to `trials` of them. Null where the engine has no GPU, or it cannot run these: then `error` is empty, and
   rf_simulate does; else with a message. */
rf_gpu_trials *rf_gpu_trials_open(const rf_simulation *simulation, uint64_t trials, char *error, size_t size);
void rf_gpu_trials_close(rf_gpu_trials *trials);
/* How many are run best at once. */
uint32_t rf_gpu_trials_chunk(const rf_gpu_trials *trials);
/* Runs the next `count`, adds to the totals and, trial by trial, to the sums[1 + dim]. A negative status is a refusal.
 */
rf_status rf_gpu_trials_run(rf_gpu_trials *trials, uint32_t count, rf_totals *totals, double sums[]);
/* As rf_digits, of the errors of a kind so far. */
int rf_gpu_trials_digits(rf_gpu_trials *trials, unsigned kind, rf_digit which, uint64_t counts[RF_DIGITS]);

#endif
