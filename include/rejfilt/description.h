/* What people and designers need to know of a model: names, ranges, defaults. */
#ifndef REJFILT_DESCRIPTION_H
#define REJFILT_DESCRIPTION_H

#include "rejfilt.h"

#define RF_NAMES_MAX 16u /* parameters, or settings, that a described model can have */

typedef struct rf_parameter {
    const char *name;
    rf_chart_kind chart;
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

typedef struct rf_setting {
    const char *name;
    rf_setting_role role;
    unsigned parameter;
    int is_integer; /* rounded to a whole number */
    double low, high;
} rf_setting;

typedef struct rf_description {
    const char *name;
    const char *summary; /* one line */
    const char *formula; /* one line */
    unsigned dim, settings;
    unsigned outcomes; /* 0, 1, ... outcomes − 1; or 0 when the outcome is a real number */
    int is_log;        /* the likelihood function returns a logarithm */
    rf_parameter parameter[RF_NAMES_MAX];
    rf_setting setting[RF_NAMES_MAX];
} rf_description;

#endif
