/* What people and designers need to know of a model: names, ranges, defaults. */
#ifndef REJFILT_DESCRIPTION_H
#define REJFILT_DESCRIPTION_H

#include "rejfilt.h"

#define RF_DESCRIBED_MAX 16u /* parameters, or settings, that a described model can have */
#define RF_UNIT_MAX 32u      /* bytes of a unit */
#ifndef RF_ROOM
#define RF_ROOM RF_DESCRIBED_MAX /* and that the library's own code has room for; for a GPU, those of its model */
#endif

/* An unknown. */
typedef struct rf_parameter {
    const char *name;    /* a word, as on the command line */
    rf_chart_kind chart; /* the space it lives in */
    double low, high; /* the chart's range (bounded, periodic), and the default uniform prior */
    double drift;     /* default standard deviation of a step of its random walk, in the chart */
} rf_parameter;

/* How a parameter moves. All in the chart; per unit of time. */
typedef enum rf_motion_kind {
    RF_MOTION_WALK,      /* at random, by its drift */
    RF_MOTION_REVERTING, /* at random, but drawn back to a centre (Ornstein-Uhlenbeck) */
    RF_MOTION_TELEGRAPH  /* from one of two levels to the other, at random times */
} rf_motion_kind;

/* How a parameter moves, in its chart. */
typedef struct rf_motion {
    rf_motion_kind kind;     /* one of zeros is a walk */
    double centre, sd, time; /* reverting: where to, its standard deviation after a long time, its correlation time > 0 */
    double level[2];         /* telegraph: where it dwells, */
    double dwell[2];         /* and for how long on average, > 0 */
} rf_motion;

#define RF_TIME_MAX 1e13 /* of a time without another limit: beyond it a phase time · parameter has few digits, in double */

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
    unsigned interchangeable; /* the first so many parameters may change places: the likelihood is the same; 0: none */
    rf_parameter parameter[RF_DESCRIBED_MAX]; /* in the order of x[] */
    rf_setting setting[RF_DESCRIBED_MAX];     /* in the order of setting[] */
    rf_motion motion[RF_DESCRIBED_MAX];       /* by default of each parameter; zeros: it walks by its drift */
    /* Units, shown beside numbers and on axes: "MHz", "µs"; null: none. Nothing is converted. */
    const char *unit[RF_DESCRIBED_MAX];         /* of each parameter */
    const char *setting_unit[RF_DESCRIBED_MAX]; /* of each setting */
    const char *time_unit;                      /* of the records' times */
} rf_description;

#endif
