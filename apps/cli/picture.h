/* Layout of a run's picture, shared by gnuplot, HTML and terminal: panels over one horizontal axis. Lengths are in pixels
   from the top left corner. */
#ifndef REJFILT_CLI_PICTURE_H
#define REJFILT_CLI_PICTURE_H

#include "series.h"

enum {
    CLI_ESTIMATES_MAX = 4, /* parameters that are shown, unless panels are chosen */
    CLI_PANELS_MAX = 2 * RF_DESCRIBED_MAX + 3,
    CLI_TICKS_MAX = 16,
    CLI_KEYS_MAX = 8,
    CLI_HEALTHS = RF_FAULT + 1,
    CLI_CAPTION_MAX = 512,
    CLI_PICTURE_ROWS = 2000 /* of a series are enough for the picture's width */
};

typedef struct cli_axis {
    double low, high;
    int is_log;
    unsigned ticks;
    double tick[CLI_TICKS_MAX];
    char label[CLI_TICKS_MAX][24];
} cli_axis;

typedef enum cli_panel_kind { CLI_PANEL_ESTIMATE, CLI_PANEL_HEALTH, CLI_PANEL_DASHES } cli_panel_kind;

typedef struct cli_panel {
    cli_panel_kind kind;
    size_t column;              /* of the series; of an estimate, its parameter's first */
    char name[CLI_CAPTION_MAX]; /* cut to what fits */
    double period;              /* of a parameter drawn on its circle; else 0. The curve is drawn once per turn: */
    int turn_first, turn_last;
    double top, bottom;
    cli_axis axis;
} cli_panel;

typedef enum cli_key_kind {
    CLI_KEY_ESTIMATE,
    CLI_KEY_BAND,
    CLI_KEY_TRUTH,
    CLI_KEY_SUSPICIOUS,
    CLI_KEY_RECOVERING,
    CLI_KEY_LOST,
    CLI_KEY_FAULT,
    CLI_KEY_RESTART
} cli_key_kind;

typedef struct cli_key {
    cli_key_kind kind;
    const char *text;
    double x; /* of the sample; the text begins CLI_SAMPLE later */
} cli_key;

enum {
    CLI_SAMPLE = 34,
    CLI_TITLE_Y = 24,
    CLI_KEYS_Y = 52,
    CLI_FONT = 14,
    CLI_TITLE_FONT = 16,
    CLI_NAME_X = 18
}; /* pixels; the y of texts is their middle */

typedef struct cli_picture {
    char title[CLI_CAPTION_MAX];
    size_t x_column;               /* CLI_STEP or CLI_TIME */
    char x_name[RF_UNIT_MAX + 16]; /* with its unit */
    cli_axis x;
    double dash; /* half the length of the dash that stands for one row, in units of x */
    double width, height, left, right;
    unsigned panels, keys;
    cli_panel panel[CLI_PANELS_MAX];
    cli_key key[CLI_KEYS_MAX];
} cli_picture;

#define CLI_WHOLE 1.26 /* times a dash is the whole width of a row */

/* Returns 0, or -1 when there is nothing to show: no finite estimate. */
int cli_picture_lay(cli_picture *p, const cli_series *s);

/* The values an axis is for; empty when low > high. */
typedef struct cli_range {
    double low, high;
} cli_range;

/* The range of an axis: all of `lines` (estimates and truths), and as much of the `band` as leaves the lines enough room; a
   very wide band leaves the panel. Sorts `widths`, the widths of the band. */
cli_range cli_estimate_range(cli_range lines, cli_range band, double widths[], size_t count);

/* Where on the axis a value is, from 0 at its low end to 1 at its high end, and beyond. */
double cli_axis_at(const cli_axis *axis, double value);

/* Copies `text` as valid UTF-8; control characters become spaces. Cut to `limit` characters, ending in … */
void cli_plain(const char *text, size_t limit, char out[CLI_CAPTION_MAX]);

/* The colours of a theme, as "#rrggbb". */
typedef struct cli_palette {
    const char *background, *text, *axis, *grid, *band, *mean, *truth, *setting, *rate;
    const char *health[CLI_HEALTHS]; /* by its state, as columns of a series have it */
} cli_palette;

extern const cli_palette cli_palettes[2]; /* by cli_theme */

/* How much of the band's colour a mode has, the rest being background: 1 where all probability is in it. */
double cli_shade(double share);

/* Has any row several modes of the estimate that the panel shows? */
int cli_panel_has_modes(const cli_panel *panel, const cli_series *s);

/* Prepares a series for drawing: a row with one mode beside a row with several gets its band as a mode, so that boxes
   meet. Rows with a second mode (cli_is_split) have no band. */
void cli_series_split(cli_series *s);
int cli_is_split(const cli_series *s, size_t row, const cli_panel *panel);

/* Are these the names of panels, apart by commas: parameters, settings, `health`, `acceptance`, `loss`? Returns 0, or
   -1 with a one-line message. */
int cli_panels_check(const char *panels, const rf_description *description, char *error, size_t error_size);

unsigned cli_health_level(double health);

#endif
