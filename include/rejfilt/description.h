/* What people and designers need to know of a model: names, ranges, defaults. */
#ifndef REJFILT_DESCRIPTION_H
#define REJFILT_DESCRIPTION_H

#include "rejfilt.h"

#define RF_NAMES_MAX 16u /* parameters, or settings, that a described model can have */

/* An unknown. */
typedef struct rf_parameter {
    const char *name;    /* a word, as on the command line */
    rf_chart_kind chart; /* the space it lives in */
    double low, high; /* the chart's range (bounded, periodic), and the default uniform prior */
    double drift;     /* default standard deviation of a step of its random walk, in the chart */
} rf_parameter;

/* How a designer that knows nothing of the model chooses a setting. */
typedef enum rf_setting_role {
    RF_SETTING_FIXED,    /* always `low` */
    RF_SETTING_RANGE,    /* uniform in low..high */
    RF_SETTING_LOGRANGE, /* log-uniform in low..high */
    RF_SETTING_TIME,     /* 1 / standard deviation of `parameter`, held in low..high */
    RF_SETTING_GUESS     /* a draw of `parameter` from what the filter believes */
} rf_setting_role;

/* What the experimenter chooses. */
typedef struct rf_setting {
    const char *name;     /* a word, as in records */
    rf_setting_role role; /* how a designer chooses it */
    unsigned parameter;   /* number of the parameter it is about, for a time or a guess */
    int is_integer;       /* rounded to a whole number */
    double low, high;     /* its range */
    double cost;          /* of an experiment, per unit of this setting; an experiment costs 1 in any case */
} rf_setting;

/* A model as people and designers see it. */
typedef struct rf_description {
    const char *name;    /* a word */
    const char *summary; /* one line */
    const char *formula; /* one line */
    unsigned dim, settings; /* parameters, and settings: at most RF_NAMES_MAX of each */
    unsigned outcomes; /* 0, 1, ... outcomes − 1; or 0 when the outcome is a real number */
    int is_log;        /* the likelihood function returns a logarithm */
    double fringe;     /* if the likelihood is a cosine of (parameter - guess) * time: its period; else 0 */
    rf_parameter parameter[RF_NAMES_MAX]; /* in the order of x[] */
    rf_setting setting[RF_NAMES_MAX];     /* in the order of setting[] */
} rf_description;

/* What is thought of a filter: see track.h. */
typedef enum rf_health {
    RF_TRACKING = 0,   /* the latest test was passed */
    RF_SUSPICIOUS = 1, /* outcomes are less likely than they should be */
    RF_RECOVERING = 2, /* widened, until the tests pass again */
    RF_LOST = 3        /* widening did not help: the filter went back to its prior, or stops */
} rf_health;

/* What to do when tests of the filter's health fail. */
typedef enum rf_on_lost {
    RF_ON_LOST_WIDEN = 0,   /* widen and go on widening */
    RF_ON_LOST_RESTART = 1, /* widen; after eight failed tests in a row, back to the prior */
    RF_ON_LOST_STOP = 2,    /* widen; after eight failed tests in a row, stop */
    RF_ON_LOST_IGNORE = 3   /* no tests, no anchors: the bare filter */
} rf_on_lost;

#endif
