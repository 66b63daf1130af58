/* A run as a table for pictures: a row per update, growing with the run. */
#ifndef REJFILT_CLI_SERIES_H
#define REJFILT_CLI_SERIES_H

#include <stddef.h>

#include "rejfilt/session.h"

/* Columns. Each parameter has several, from CLI_PARAMETERS on; then each setting has one. NaN: unknown, or larger
   than 1e100. If a parameter has several modes, they begin at CLI_MODES in ascending order: low, high and share of
   each. With one mode these columns are NaN. */
enum { CLI_STEP, CLI_TIME, CLI_ACCEPTANCE, CLI_OUTCOME, CLI_LOSS, CLI_HEALTH, CLI_RESTARTS, CLI_PARAMETERS };
#define CLI_COARSE 0.9 /* in column CLI_HEALTH, whose other values are of rf_health */
enum { CLI_MODE_LOW, CLI_MODE_HIGH, CLI_MODE_SHARE, CLI_MODE_COLUMNS };
enum {
    CLI_TRUTH,
    CLI_MEAN,
    CLI_LOW,
    CLI_HIGH,
    CLI_MODES,
    CLI_MODES_MAX = 4,
    CLI_PARAMETER_COLUMNS = CLI_MODES + CLI_MODES_MAX * CLI_MODE_COLUMNS,
    CLI_ROW_MAX = CLI_PARAMETERS + (CLI_PARAMETER_COLUMNS + 1) * RF_DESCRIBED_MAX /* width of the widest series */
};

/* Do the tests pass while the belief is too coarse for the data, or a standard deviation is held at the spacing of
   numbers? */
int cli_is_coarse(const rf_step *step);

typedef enum cli_theme { CLI_LIGHT, CLI_DARK } cli_theme; /* of a picture */
extern const char *const cli_theme_names[3];

typedef struct cli_series {
    const char *title;                 /* e.g. "precession, 100 attempts per update, seed 1" */
    const rf_description *description; /* both outlive the series; initialise the rest with zeros */
    const char *panels; /* of the picture, "NAME,NAME": see cli_panels_check; null: every panel with data */
    cli_theme theme;
    size_t max; /* rows; 0: as many as fit in 128 MB. A full series is thinned to half */
    double *rows;
    size_t count, room; /* of rows */
    size_t per_row;     /* updates per row: 1, 2, 4, ... */
    size_t pending;     /* updates in the last two rows, if rows stand for several */
    double turn[RF_DESCRIBED_MAX], mean[RF_DESCRIBED_MAX]; /* of periodic parameters: whole turns so far, latest mean */
} cli_series;

static inline size_t cli_series_width(const cli_series *s)
{
    return CLI_PARAMETERS + CLI_PARAMETER_COLUMNS * s->description->dim + s->description->settings;
}

static inline size_t cli_series_parameter(size_t parameter, size_t which)
{
    return CLI_PARAMETERS + CLI_PARAMETER_COLUMNS * parameter + which;
}

static inline size_t cli_series_setting(const cli_series *s, size_t setting)
{
    return CLI_PARAMETERS + CLI_PARAMETER_COLUMNS * s->description->dim + setting;
}

static inline double cli_series_at(const cli_series *s, size_t row, size_t column)
{
    return s->rows[row * cli_series_width(s) + column];
}

/* Writes the modes of a parameter after a step to modes[RF_MODES_MAX]; returns their number, or 0 if there is only one. */
unsigned cli_modes(const rf_step *step, unsigned parameter, rf_mode modes[]);

/* Adds an update at `time` (NaN: unknown). Periodic parameters are unwrapped: values may leave the chart's range.
   Returns 0, or -1 if memory is short; the series stays valid. */
int cli_series_add(cli_series *s, const rf_step *step, double time);

/* Writes the row of an update to row[CLI_ROW_MAX]. */
void cli_series_fill(cli_series *s, const rf_step *step, double time, double row[]);

/* Adds a row made by cli_series_fill. Returns as cli_series_add. */
int cli_series_add_row(cli_series *s, const double row[]);

/* Thins a run to at most `max` rows, at least 2. Each group of rows becomes two: the extremes of each column in their
   order, the hull of the band, the worst health. Returns 0, or -1 if memory is short. */
int cli_series_thin(const cli_series *from, size_t max, cli_series *to);

void cli_series_free(cli_series *s);

#endif
