/* The description of a model, for people and designers: names, ranges, defaults, units. */
#ifndef REJFILT_DESCRIPTION_H
#define REJFILT_DESCRIPTION_H

#include "rejfilt.h"

#define RF_DESCRIBED_MAX 16u /* most parameters, and most settings, of a described model */
#define RF_UNIT_MAX 32u      /* bytes of a unit */
#ifndef RF_ROOM
#define RF_ROOM RF_DESCRIBED_MAX /* sizes of local arrays; on a GPU, the model's own numbers */
#endif

/* An unknown parameter. */
typedef struct rf_parameter {
    const char *name;    /* a word, as on the command line */
    rf_chart_kind chart; /* the space it lives in */
    double low, high; /* the chart's range (bounded, periodic), and the default: a uniform prior */
    double drift;     /* default standard deviation of a step of its random walk, in the chart */
} rf_parameter;

/* How a parameter moves, in its chart, per unit of time. */
typedef enum rf_motion_kind {
    RF_MOTION_WALK,      /* random walk with its drift */
    RF_MOTION_REVERTING, /* mean-reverting (Ornstein-Uhlenbeck) */
    RF_MOTION_TELEGRAPH  /* random telegraph signal between two levels */
} rf_motion_kind;

/* The numbers of a motion, in the chart. */
typedef struct rf_motion {
    rf_motion_kind kind;     /* all zeros: a walk */
    double centre, sd, time; /* reverting: centre, stationary standard deviation, correlation time > 0 */
    double level[2];         /* telegraph: the two levels */
    double dwell[2];         /* telegraph: mean dwell times > 0 */
} rf_motion;

#define RF_TIME_MAX 1e13 /* default limit of a time: beyond it, time · parameter has too few digits in double */

/* How a designer without knowledge of the model chooses a setting. */
typedef enum rf_setting_role {
    RF_SETTING_FIXED,    /* always `low` */
    RF_SETTING_RANGE,    /* uniform in low..high */
    RF_SETTING_LOGRANGE, /* log-uniform in low..high */
    RF_SETTING_TIME,     /* 1 / standard deviation of `parameter`, clamped to low..high */
    RF_SETTING_GUESS     /* a draw of `parameter` from the posterior */
} rf_setting_role;

/* A setting, chosen by the experimenter. */
typedef struct rf_setting {
    const char *name;     /* a word, as in records */
    rf_setting_role role; /* how a designer chooses it */
    unsigned parameter;   /* a time or a guess: number of the parameter it belongs to */
    int is_integer;       /* rounded to a whole number */
    double low, high;     /* its range */
    double cost;          /* per unit of this setting; an experiment costs 1 plus this */
} rf_setting;

/* The kind of outcomes: their number, 2 to 65536, if they are 0, 1, ...; or one of these. With the last three the model
   defines the function `expected`, and its likelihood is made from that (model.h). `i` is the number of a setting. */
#define RF_NUMBERS 0u                      /* real numbers; the likelihood is a density */
#define RF_COUNTS 0x1000000u               /* 0, 1, 2, ... without end */
#define RF_COUNTS_TO(i) (0x2000000u + (i)) /* 0, 1, ... to the value of setting i */
#define RF_POISSON 0x3000000u              /* counts, of which `expected` is the mean */
#define RF_BINOMIAL(i) (0x4000000u + (i))  /* successes in setting i trials, each with probability `expected` */
#define RF_GAUSSIAN(i) (0x5000000u + (i))  /* real numbers with the mean `expected` and the standard deviation of setting i */

/* The kind without its setting; 0 for real numbers and for a fixed number of outcomes. */
RF_FN unsigned rf_outcomes_kind(unsigned outcomes) { return outcomes & 0xff000000u; }
/* The number of its setting. */
RF_FN unsigned rf_outcomes_setting(unsigned outcomes) { return outcomes & 0xffffffu; }
/* Does it depend on a setting? */
RF_FN int rf_outcomes_has_setting(unsigned outcomes)
{
    const unsigned kind = rf_outcomes_kind(outcomes);
    return kind == RF_COUNTS_TO(0) || kind == RF_BINOMIAL(0) || kind == RF_GAUSSIAN(0);
}
/* Are outcomes whole numbers from 0 on? */
RF_FN int rf_outcomes_are_whole(unsigned outcomes) { return outcomes != RF_NUMBERS && rf_outcomes_kind(outcomes) != RF_GAUSSIAN(0); }
/* Are they counts, unlimited or limited by a setting? */
RF_FN int rf_outcomes_are_counts(unsigned outcomes) { return rf_outcomes_are_whole(outcomes) && rf_outcomes_kind(outcomes) != 0; }
/* Is the likelihood made from `expected`? */
RF_FN int rf_outcomes_are_expected(unsigned outcomes) { return outcomes >= RF_POISSON; }
/* Their number, if it does not depend on settings; else 0. */
RF_FN unsigned rf_outcomes_fixed(unsigned outcomes) { return rf_outcomes_kind(outcomes) ? 0 : outcomes; }

/* A model as people and designers see it. */
typedef struct rf_description {
    const char *name;    /* a word */
    const char *summary; /* one line */
    const char *formula; /* one line */
    unsigned dim, settings; /* numbers of parameters and settings, at most RF_DESCRIBED_MAX each */
    unsigned outcomes; /* their number or kind: see above */
    int is_log;        /* the likelihood function returns a logarithm; implied by `expected` */
    double fringe;     /* if the likelihood is a cosine of (parameter - guess) * time: its period; else 0 */
    unsigned interchangeable; /* the likelihood does not change if the first so many parameters are permuted; 0: none */
    rf_parameter parameter[RF_DESCRIBED_MAX]; /* in the order of x[] */
    rf_setting setting[RF_DESCRIBED_MAX];     /* in the order of setting[] */
    rf_motion motion[RF_DESCRIBED_MAX];       /* default of each parameter; zeros: a walk with its drift */
    /* Units, shown beside numbers and on axes: "MHz", "µs"; null or empty: none. Nothing is converted. */
    const char *unit[RF_DESCRIBED_MAX];         /* of each parameter */
    const char *setting_unit[RF_DESCRIBED_MAX]; /* of each setting */
    const char *time_unit;                      /* of the records' times */
} rf_description;

/* Is this value of setting i outside the range that is described, by more than rounding? A guess has no range, and the
   setting that outcomes depend on may have another value in each record. */
RF_FN int rf_setting_is_outside(const rf_description *d, unsigned i, double value)
{
    const rf_setting *s = &d->setting[i];
    const double low = s->low, high = s->role == RF_SETTING_FIXED ? low : s->high;
    const double a = low < 0 ? -low : low, b = high < 0 ? -high : high, rounding = 1e-6;
    if (s->role == RF_SETTING_GUESS || (rf_outcomes_has_setting(d->outcomes) && rf_outcomes_setting(d->outcomes) == i))
        return 0;
    return value < low - rounding * a || value > high + rounding * b;
}

/* Does the likelihood function return a logarithm? */
#define RF_IS_LOG(description) ((description).is_log || rf_outcomes_are_expected((description).outcomes))

#endif
