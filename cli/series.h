/* One step of a tracked parameter, as pictures and the live view show it. */
#ifndef REJFILT_CLI_SERIES_H
#define REJFILT_CLI_SERIES_H

#include <stddef.h>

typedef struct cli_point {
    long step;
    double truth;      /* NaN where it is not known */
    double mean;       /* natural units */
    double low, high;  /* the ±2σ band, natural units */
    double acceptance; /* accepted / attempts of the step's update */
    double outcome;
    double setting;    /* the first setting, NaN where the model has none */
} cli_point;

typedef struct cli_series {
    const char *title;     /* e.g. "precession, m = 100, design pgh, seed 1" */
    const char *parameter; /* name of the parameter shown */
    const char *setting;   /* name of the setting shown, or null */
    cli_point *points;
    size_t count;
} cli_series;

#endif
