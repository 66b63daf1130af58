/* Layout of a run's picture, shared by gnuplot, HTML and terminal: panels over one horizontal axis. Lengths are in
   pixels from the top left corner. */
#ifndef REJFILT_CLI_PICTURE_H
#define REJFILT_CLI_PICTURE_H

#include "series.h"

enum {
    CLI_ESTIMATES_MAX = 4, /* parameters shown unless panels are chosen */
    CLI_PANELS_MAX = 2 * RF_DESCRIBED_MAX + 3,
    CLI_TICKS_MAX = 16,
    CLI_KEYS_MAX = 9,
    CLI_HEALTHS = RF_FAULT + 1,
    CLI_CAPTION_MAX = 512,
    CLI_PICTURE_ROWS = 2000 /* rows of a series; more would not be visible */
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
    size_t column;              /* of the series; for an estimate, the first column of its parameter */
    char name[CLI_CAPTION_MAX]; /* shortened to fit */
    double period;              /* of a periodic parameter, else 0; the curve is drawn once for each turn: */
    int turn_first, turn_last;
    double top, bottom;
    cli_axis axis;
} cli_panel;

typedef enum cli_key_kind {
    CLI_KEY_ESTIMATE,
    CLI_KEY_BAND,
    CLI_KEY_TRUTH,
    CLI_KEY_COARSE,
    CLI_KEY_SUSPICIOUS,
    CLI_KEY_RECOVERING,
    CLI_KEY_LOST,
    CLI_KEY_FAULT,
    CLI_KEY_RESTART
} cli_key_kind;

typedef struct cli_key {
    cli_key_kind kind;
    const char *text;
    double x, y; /* left end of the sample line; the text begins CLI_SAMPLE further right */
} cli_key;

enum {
    CLI_SAMPLE = 34,
    CLI_TITLE_Y = 24,
    CLI_KEYS_Y = 52,
    CLI_FONT = 14,
    CLI_TITLE_FONT = 16,
    CLI_NAME_X = 18
}; /* pixels; y of a text is its middle */

typedef struct cli_picture {
    char title[CLI_CAPTION_MAX];
    size_t x_column;               /* CLI_STEP or CLI_TIME */
    char x_name[RF_UNIT_MAX + 16]; /* with its unit */
    cli_axis x;
    double dash; /* half the length of one row's dash, in units of x */
    double width, height, left, right;
    unsigned panels, keys;
    cli_panel panel[CLI_PANELS_MAX];
    cli_key key[CLI_KEYS_MAX];
} cli_picture;

#define CLI_WHOLE 1.26 /* factor from a dash to the full width of a row */

/* Lays out the picture. Returns 0, or -1 if no estimate is finite. */
int cli_picture_lay(cli_picture *p, const cli_series *s);

/* Range of values; empty if low > high. */
typedef struct cli_range {
    double low, high;
} cli_range;

/* The range of an axis: all of `lines` (estimates and truths) and the `band` as far as the lines keep enough room; a
   very wide band exceeds the panel. Sorts `widths`, the widths of the band. */
cli_range cli_estimate_range(cli_range lines, cli_range band, double widths[], size_t count);

/* Position of a value on the axis: 0 at the low end, 1 at the high end; outside: below 0 or above 1. */
double cli_axis_at(const cli_axis *axis, double value);

/* Copies `text` as valid UTF-8; control characters become spaces. Texts over `limit` characters are cut and end in … */
void cli_plain(const char *text, size_t limit, char out[CLI_CAPTION_MAX]);

/* The colours of a theme, as "#rrggbb". */
typedef struct cli_palette {
    const char *background, *text, *axis, *grid, *band, *mean, *truth, *setting, *rate;
    const char *health[CLI_HEALTHS]; /* by health state; the first is for `coarse` */
} cli_palette;

extern const cli_palette cli_palettes[2]; /* indexed by cli_theme */

/* Opacity of a mode's box, from the mode's share of the probability: 1 for share 1. */
double cli_shade(double share);

/* Does any row have several modes of the estimate in this panel? */
int cli_panel_has_modes(const cli_panel *panel, const cli_series *s);

/* Prepares a series for drawing: where a row with one mode is next to a row with several, its band becomes a mode,
   so that the boxes meet. Rows with a second mode (cli_is_split) have no band. */
void cli_series_split(cli_series *s);
int cli_is_split(const cli_series *s, size_t row, const cli_panel *panel);

/* Checks a list of panel names separated by commas: parameters, settings, `health`, `acceptance`, `loss`. Returns 0,
   or -1 with a one-line message. */
int cli_panels_check(const char *panels, const rf_description *description, char *error, size_t error_size);

unsigned cli_health_level(double health);

#endif
