#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include "view.h"

#include "clock.h"
#include "track_options.h"
#include "picture.h"

#include <langinfo.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

enum {
    MAX_WIDTH = 512,
    MAX_PLOT_ROWS = 16,
    ROWS_A_PANEL = 6, /* minimum for a parameter, if there are several */
    OTHER_LINES = 5,  /* title, health, acceptance, settings, status */
    MAX_LINES = MAX_PLOT_ROWS + OTHER_LINES,
    AXIS_WIDTH = 11, /* label and rule */
    MIN_WIDTH = 24,
    MIN_ROWS = 3,     /* with fewer, only the status is drawn */
    KEPT_ROWS = 1024, /* rows of the series */
    FRAME_BYTES = 1 << 18
};
#define SECONDS_A_FRAME (1.0 / 30.0)
#define SECONDS_A_LINE 1.0 /* on a terminal without cursor control */
#define SECONDS_KEPT 10.0  /* of an endless run, minimum; older rows are dropped when the series is full */

typedef struct glyphs {
    const char *rule, *tick, *band, *faint, *estimate, *truth, *band_name, *plus_minus;
    const char *levels[8], *health[CLI_HEALTHS];
} glyphs;

static const glyphs unicode = {
    "│", "┤", "░", "·", "●", "─", " 95 %", "±", {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, {" ", "▂", "▅", "█", "×"}};
static const glyphs ascii = {
    "|", "+", ":", ".", "o", "-", " 95 %", "+-", {"_", ".", "-", "~", "=", "+", "*", "#"}, {" ", "?", "^", "!", "x"}};

typedef enum ink { PLAIN, DIM, BAND, FAINT, ESTIMATE, TRUTH, TRACKING, SUSPICIOUS, RECOVERING, LOST, FAULT } ink;
static const char *const colours[] = {"\033[0m",         "\033[38;5;245m",   "\033[38;5;67m",   "\033[38;5;67m",
                                      "\033[1;38;5;33m", "\033[38;5;208m",   "\033[38;5;34m",   "\033[38;5;178m",
                                      "\033[38;5;202m",  "\033[1;38;5;196m", "\033[1;38;5;199m"};

struct cli_view {
    FILE *out;
    const glyphs *glyphs;
    bool coloured, dumb;
    char title[256];
    long total;
    cli_series series;
    rf_step last;                                 /* only some fields are kept: see keep() */
    size_t count;                                 /* steps received */
    cli_range axis[MAX_PLOT_ROWS / ROWS_A_PANEL]; /* by panel */
    double when;                         /* time of the last frame */
    double since;                        /* when the series was last full, or began */
    size_t shown;                                 /* `count` in the last frame */
    int width, rows;                              /* of the last frame: width, and rows of its plots */
    int lines, line_width[MAX_LINES];
    ink ink;
    size_t used; /* bytes of the current frame */
    char frame[FRAME_BYTES];
    struct sigaction before[2];
};

/* ---- Restoring the terminal ---- */

static const int signals[2] = {SIGINT, SIGTERM};
static const char to_right[] = "\033[?7h\033[0m\r\n\033[?25h"; /* wrapping on, no colour, new line, cursor shown */
static volatile sig_atomic_t changed = -1;                     /* the terminal whose cursor is hidden */

static void put_right(void)
{
    int terminal = changed;
    changed = -1;
    if (terminal >= 0 && write(terminal, to_right, sizeof to_right - 1) < 0)
        return; /* nothing can be done */
}

static void put_right_and_die(int number)
{
    put_right();
    raise(number); /* the default action follows: SA_RESETHAND */
}

/* Hides the cursor and arranges that it is restored. */
static void take_terminal(cli_view *v)
{
    static bool is_registered;
    struct sigaction ours = {.sa_handler = put_right_and_die, .sa_flags = (int)SA_RESETHAND};
    if (!is_registered)
        is_registered = atexit(put_right) == 0;
    changed = fileno(v->out);
    for (int i = 0; i < 2; i++)
        if (sigaction(signals[i], NULL, &v->before[i]) == 0 && v->before[i].sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
    fputs("\033[?25l", v->out);
    fflush(v->out);
}

static void give_terminal(cli_view *v)
{
    fputs(v->count > 0 ? "\r\n\033[?25h" : "\033[?25h", v->out);
    fflush(v->out);
    changed = -1;
    for (int i = 0; i < 2; i++)
        if (v->before[i].sa_handler == SIG_DFL)
            sigaction(signals[i], &v->before[i], NULL);
}

/* ---- Output of a frame ---- */

static void put_bytes(cli_view *v, const char *bytes, size_t length)
{
    if (length <= sizeof v->frame - v->used) {
        memcpy(v->frame + v->used, bytes, length);
        v->used += length;
    }
}

static void put(cli_view *v, const char *text) { put_bytes(v, text, strlen(text)); }

static void put_ink(cli_view *v, ink wanted)
{
    if (v->coloured && v->ink != wanted) {
        put(v, colours[PLAIN]);
        put(v, wanted == PLAIN ? "" : colours[wanted]);
    }
    v->ink = wanted;
}

/* Writes as much of `text` as fits in `cells`, in the locale's encoding; other characters become `?`. Returns the
   cells used. With a null view it only measures. */
static int put_text(cli_view *v, const char *text, int cells)
{
    mbstate_t state = {0};
    int taken = 0;
    while (*text) {
        wchar_t wide;
        size_t length = mbrtowc(&wide, text, strlen(text), &state);
        bool whole = length != (size_t)-1 && length != (size_t)-2;
        int width = whole ? wcwidth(wide) : -1;
        if (!whole) {
            state = (mbstate_t){0};
            length = 1;
        }
        if (taken + abs(width) > cells)
            break;
        if (v)
            put_bytes(v, width < 0 ? "?" : text, width < 0 ? 1 : length);
        taken += abs(width);
        text += length;
    }
    return taken;
}

static void end_line(cli_view *v, int width, bool last)
{
    put_ink(v, PLAIN);
    put(v, v->dumb ? "\n" : last ? "\033[J" : "\033[K\r\n");
    v->line_width[v->lines++] = width;
}

/* A column of cells: rows first .. last − 1 of the series merged. */
typedef struct cell {
    double truth, mean, low, high, acceptance;
    double modes[CLI_MODES_MAX * CLI_MODE_COLUMNS]; /* of the last row, as a series has them */
    int health;
} cell;

static cell cell_of(const cli_series *s, size_t first, size_t last, size_t parameter)
{
    cell c = {NAN, NAN, NAN, NAN, NAN, {NAN}, 0};
    double sum = 0, known = 0;
    for (size_t i = first; i < last; i++) {
        double acceptance = cli_series_at(s, i, CLI_ACCEPTANCE);
        c.truth = cli_series_at(s, i, cli_series_parameter(parameter, CLI_TRUTH));
        c.mean = cli_series_at(s, i, cli_series_parameter(parameter, CLI_MEAN));
        c.low = fmin(c.low, cli_series_at(s, i, cli_series_parameter(parameter, CLI_LOW)));
        c.high = fmax(c.high, cli_series_at(s, i, cli_series_parameter(parameter, CLI_HIGH)));
        for (size_t k = 0; k < CLI_MODES_MAX * CLI_MODE_COLUMNS; k++)
            c.modes[k] = cli_series_at(s, i, cli_series_parameter(parameter, CLI_MODES + k));
        c.health = (int)fmax(c.health, cli_series_at(s, i, CLI_HEALTH));
        sum += isfinite(acceptance) ? acceptance : 0;
        known += isfinite(acceptance);
    }
    c.acceptance = known > 0 ? sum / known : NAN;
    return c;
}

/* Fills cells from the left and returns their number. An endless run shows the latest half of the kept rows; a run
   of known length is scaled so that all of it fits. */
static size_t cells_of(const cli_view *v, size_t parameter, cell cells[MAX_WIDTH])
{
    const size_t room = (size_t)(v->width - AXIS_WIDTH), count = v->series.count;
    const size_t first = v->total == 0 && count > KEPT_ROWS / 2 ? count - KEPT_ROWS / 2 : 0;
    const size_t expected = v->total > 0 && v->total <= KEPT_ROWS ? (size_t)v->total : 0;
    const size_t extent = count - first > expected ? count - first : expected, group = (extent + room - 1) / room;
    size_t made = 0;
    for (size_t i = first - first % group; i < count && made < room; i += group)
        cells[made++] = cell_of(&v->series, i, i + group < count ? i + group : count, parameter);
    return made;
}

static cli_range extended(cli_range r, double value)
{
    return isfinite(value) ? (cli_range){fmin(r.low, value), fmax(r.high, value)} : r;
}

static cli_range range_of(const cell cells[], size_t count)
{
    cli_range lines = {INFINITY, -INFINITY}, band = lines;
    double widths[MAX_WIDTH];
    size_t known = 0;
    for (size_t c = 0; c < count; c++) {
        lines = extended(extended(lines, cells[c].mean), cells[c].truth);
        band = extended(extended(band, cells[c].low), cells[c].high);
        if (isfinite(cells[c].high - cells[c].low))
            widths[known++] = cells[c].high - cells[c].low;
    }
    return cli_estimate_range(lines, band, widths, known);
}

/* Grows at once to show everything; shrinks slowly, and only if much is unused. A periodic parameter shows its whole
   period. */
static void rescale(cli_view *v, size_t parameter, const cell cells[], size_t count)
{
    const rf_parameter *p = &v->series.description->parameter[parameter];
    const cli_range r = range_of(cells, count);
    cli_range *axis = &v->axis[parameter];
    if (p->chart == RF_PERIODIC)
        *axis = (cli_range){p->low, p->high};
    if (r.low > r.high || p->chart == RF_PERIODIC)
        return;
    const double pad = fmax(0.05 * (r.high - r.low), fmax(1e-9 * fmax(fabs(r.low), fabs(r.high)), 1e-12));
    const bool is_new = !(axis->low < axis->high);
    if (is_new || r.low < axis->low)
        axis->low = r.low - pad;
    if (is_new || r.high > axis->high)
        axis->high = r.high + pad;
    if (r.high - r.low < 0.7 * (axis->high - axis->low)) {
        const double rate = 1.0 - pow(0.9, (double)(v->count - v->shown));
        axis->low += rate * (r.low - pad - axis->low);
        axis->high += rate * (r.high + pad - axis->high);
    }
}

/* One parameter's plot of `rows` rows. */
typedef struct panel {
    cli_range axis;
    double period; /* 0: not periodic */
    int rows;
} panel;

static int row_of(const panel *p, double value)
{
    if (isnan(value))
        return -1;
    if (p->period > 0)
        value -= p->period * floor((value - p->axis.low) / p->period);
    double row = floor((p->axis.high - value) / (p->axis.high - p->axis.low) * p->rows);
    return (int)fmin(fmax(row, 0.0), p->rows - 1.0);
}

/* Does a row of the plot overlap low..high? */
static bool is_within(const panel *p, double low, double high, int row)
{
    if (!(low <= high))
        return false;
    if (p->period == 0)
        return row >= row_of(p, high) && row <= row_of(p, low);
    double height = p->period / p->rows, top = p->axis.high - row * height; /* some turn of the row may overlap */
    return ceil((low - top) / p->period) <= floor((high - top + height) / p->period);
}

/* The band at a row or, with several modes, the mode there, by its share. */
static ink band_at(const panel *p, const cell *c, int row)
{
    if (isnan(c->modes[0]))
        return is_within(p, c->low, c->high, row) ? BAND : PLAIN;
    for (size_t k = 0; k < CLI_MODES_MAX * CLI_MODE_COLUMNS && !isnan(c->modes[k]); k += CLI_MODE_COLUMNS)
        if (is_within(p, c->modes[k + CLI_MODE_LOW], c->modes[k + CLI_MODE_HIGH], row))
            return c->modes[k + CLI_MODE_SHARE] >= 0.5 ? BAND : FAINT;
    return PLAIN;
}

/* The coarsest round step with at least three ticks on the axis; never more than five ticks. */
static double tick_step(double low, double high)
{
    static const double parts[] = {1.0, 0.5, 0.25, 0.2};
    double unit = pow(10.0, ceil(log10(high - low)));
    for (int i = 0; i < 8; i++) {
        double step = unit * parts[i % 4] * (i < 4 ? 1.0 : 0.1);
        if (floor(high / step) - ceil(low / step) >= 2.0)
            return step;
    }
    return (high - low) / 3.0;
}

static void label_rows(const panel *p, char labels[MAX_PLOT_ROWS][AXIS_WIDTH])
{
    double low = p->axis.low, high = p->axis.high, step = tick_step(low, high);
    int decimals = 0;
    for (double s = step; decimals < 9 && fabs(s - round(s)) > 1e-6 * s; s *= 10.0)
        decimals++;
    for (double k = ceil(low / step); k * step < high; k += 1.0) {
        char text[400];
        if (snprintf(text, sizeof text, "%.*f", decimals, k * step + 0.0) >= AXIS_WIDTH - 1)
            snprintf(text, sizeof text, "%.3g", k * step);
        snprintf(labels[row_of(p, k * step)], AXIS_WIDTH, "%9.9s ", text);
    }
}

static ink ink_at(const panel *p, const cell *c, int row)
{
    ink under = band_at(p, c, row);
    return row == row_of(p, c->mean) ? ESTIMATE : row == row_of(p, c->truth) ? TRUTH : under;
}

/* If there are several parameters, the name is written above the axis. */
static void put_axis(cli_view *v, const char *label, const char *name)
{
    put_ink(v, name ? PLAIN : DIM);
    if (name) {
        int taken = put_text(NULL, name, AXIS_WIDTH - 2);
        for (; taken < AXIS_WIDTH - 2; taken++)
            put(v, " ");
        put_text(v, name, AXIS_WIDTH - 2);
        put(v, " ");
        put_ink(v, DIM);
    } else {
        put(v, *label ? label : "          ");
    }
    put(v, *label && !name ? v->glyphs->tick : v->glyphs->rule);
}

static void put_panel(cli_view *v, const panel *p, const cell cells[], size_t count, const char *name)
{
    const char *const glyph[] = {" ", " ", v->glyphs->band, v->glyphs->faint, v->glyphs->estimate, v->glyphs->truth};
    char labels[MAX_PLOT_ROWS][AXIS_WIDTH] = {{0}};
    label_rows(p, labels);
    for (int row = 0; row < p->rows; row++) {
        size_t end = count;
        put_axis(v, labels[row], row == 0 ? name : NULL);
        while (end > 0 && ink_at(p, &cells[end - 1], row) == PLAIN)
            end--;
        for (size_t c = 0; c < end; c++) {
            put_ink(v, ink_at(p, &cells[c], row));
            put(v, glyph[v->ink]);
        }
        end_line(v, AXIS_WIDTH + (int)end, false);
    }
}

/* Draws as many parameters as there is room for; the others appear only in the status line. */
static void put_plots(cli_view *v)
{
    const rf_description *description = v->series.description;
    cell cells[MAX_WIDTH];
    int panels = v->rows / ROWS_A_PANEL > 1 ? v->rows / ROWS_A_PANEL : 1;
    panels = panels < (int)description->dim ? panels : (int)description->dim;
    for (int i = 0; i < panels; i++) {
        const rf_parameter *parameter = &description->parameter[i];
        size_t count = cells_of(v, (size_t)i, cells);
        rescale(v, (size_t)i, cells, count);
        panel p = {v->axis[i], parameter->chart == RF_PERIODIC ? parameter->high - parameter->low : 0,
                   v->rows * (i + 1) / panels - v->rows * i / panels};
        put_panel(v, &p, cells, count, description->dim > 1 ? parameter->name : NULL);
    }
}

/* A row for health and a row for acceptance. */
static void put_rates(cli_view *v)
{
    cell cells[MAX_WIDTH];
    size_t count = cells_of(v, 0, cells), end = count;
    put_ink(v, DIM);
    put(v, "    health ");
    while (end > 0 && cells[end - 1].health == RF_TRACKING)
        end--;
    for (size_t c = 0; c < end; c++) {
        put_ink(v, (ink)(TRACKING + cells[c].health));
        put(v, v->glyphs->health[cli_health_level(cells[c].health)]);
    }
    end_line(v, AXIS_WIDTH + (int)end, false);
    put_ink(v, DIM);
    put(v, "acceptance ");
    for (size_t c = 0; c < count; c++) {
        double a = cells[c].acceptance;
        put(v, isnan(a) ? " " : v->glyphs->levels[(int)fmin(fmax(8.0 * a, 0.0), 7.0)]);
    }
    end_line(v, AXIS_WIDTH + (int)count, false);
}

/* The title, and the legend on the right if there is room. */
static void put_title(cli_view *v, bool truth)
{
    const struct {
        ink ink;
        const char *glyph, *name;
    } keys[] = {
        {TRUTH, v->glyphs->truth, " truth"},
        {ESTIMATE, v->glyphs->estimate, " estimate"},
        {BAND, v->glyphs->band, v->glyphs->band_name},
    };
    int legend = 0, taken = put_text(v, v->title, v->width);
    for (int i = !truth; i < 3; i++)
        legend += 3 + put_text(NULL, keys[i].name, MAX_WIDTH);
    bool fits = taken + legend <= v->width;
    for (; fits && taken < v->width - legend; taken++)
        put(v, " ");
    for (int i = !truth; fits && i < 3; i++) {
        put(v, "  ");
        put_ink(v, keys[i].ink);
        put(v, keys[i].glyph);
        put_ink(v, PLAIN);
        put(v, keys[i].name);
    }
    end_line(v, fits ? v->width : taken, false);
}

/* Adds a field to a line if it fits as a whole. Returns whether it does. */
static bool put_field(cli_view *v, int *taken, const char *format, ...)
{
    char text[512] = "  ";
    va_list args;
    va_start(args, format);
    vsnprintf(text + 2, sizeof text - 2, format, args);
    va_end(args);
    const char *field = *taken > 0 ? text : text + 2;
    const bool fits = *taken == 0 || *taken + put_text(NULL, field, MAX_WIDTH) <= v->width;
    if (fits)
        *taken += put_text(v, field, v->width - *taken);
    return fits;
}

static void put_health(cli_view *v, int *taken)
{
    const unsigned state = cli_health_level((double)v->last.health), restarts = v->last.restarts;
    const char *word = state == RF_LOST ? "lost" : cli_health_word(&v->last);
    put_ink(v, (ink)(TRACKING + state));
    if (restarts > 0)
        put_field(v, taken, state == RF_LOST ? "%s, restarted (%u)" : "%s, restarts: %u", word, restarts);
    else
        put_field(v, taken, "%s", word);
    put_ink(v, PLAIN);
}

static void put_settings(cli_view *v)
{
    const rf_description *description = v->series.description;
    int taken = 0;
    put_health(v, &taken);
    for (unsigned i = 0; i < description->settings; i++)
        if (!isnan(v->last.setting[i]))
            put_field(v, &taken, "%s = %.4g%s%s", description->setting[i].name, v->last.setting[i],
                      CLI_UNIT(description->setting_unit[i]));
    if (!isnan(v->last.outcome))
        put_field(v, &taken, "outcome %.4g", v->last.outcome);
    end_line(v, taken, false);
}

/* Standard deviations have two digits, values one digit more. */
static void put_status(cli_view *v)
{
    const rf_description *description = v->series.description;
    const rf_step *s = &v->last;
    int taken = 0;
    put_field(v, &taken, v->total > 0 ? "step %ld/%ld" : "step %ld", s->step + 1, v->total);
    for (unsigned i = 0; i < description->dim; i++) {
        const double sigma = s->sd[i];
        int digits = sigma > 0.0 ? (int)fmin(fmax(1.0 - floor(log10(sigma)), 0.0), 9.0) : 4;
        const bool fits = put_field(v, &taken, "%s = %.*f %s %.*f%s%s", description->parameter[i].name, digits + 1,
                                    s->mean[i], v->glyphs->plus_minus, digits, sigma, CLI_UNIT(description->unit[i]));
        if (fits && !isnan(s->truth[i]))
            put_field(v, &taken, "truth %.*f", digits + 1, s->truth[i]);
    }
    put_field(v, &taken, "acceptance %.2f", s->report.acceptance);
    if (v->dumb)
        put_health(v, &taken);
    end_line(v, taken, true);
}

/* The size from the environment, if the terminal reports none. */
static int size_from(unsigned short told, const char *name, int otherwise)
{
    const char *text = getenv(name);
    long number = told > 0 ? told : text ? strtol(text, NULL, 10) : 0;
    return number > 0 && number < 10000 ? (int)number : otherwise;
}

/* Measures the terminal and moves to the top of the last frame; a terminal that became narrower has wrapped its
   lines. */
static void begin_frame(cli_view *v)
{
    struct winsize size = {0};
    if (ioctl(fileno(v->out), TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    int columns = size_from(size.ws_col, "COLUMNS", 80), rows = size_from(size.ws_row, "LINES", 24) - OTHER_LINES - 1;
    int up = -1;
    for (int i = 0; i < v->lines; i++)
        up += v->line_width[i] > columns ? (v->line_width[i] + columns - 1) / columns : 1;
    char move[32] = "";
    if (up > 0)
        snprintf(move, sizeof move, "\033[%dA", up);
    v->used = 0;
    if (!v->dumb) {
        put(v, "\033[?7l\r");
        put(v, move);
    }
    v->width = columns - 1 < MAX_WIDTH ? columns - 1 : MAX_WIDTH;
    v->rows = rows < MAX_PLOT_ROWS ? rows : MAX_PLOT_ROWS;
    v->lines = 0;
}

static void draw(cli_view *v)
{
    begin_frame(v);
    if (!v->dumb && v->width >= MIN_WIDTH && v->rows >= MIN_ROWS) {
        put_title(v, v->series.description->dim > 0 && !isnan(v->last.truth[0]));
        put_plots(v);
        put_rates(v);
        put_settings(v);
    }
    put_status(v);
    put(v, v->dumb ? "" : "\033[?7h");
    fwrite(v->frame, 1, v->used, v->out);
    fflush(v->out);
    v->shown = v->count;
    v->when = rf_clock_seconds();
}

cli_view *cli_view_open(FILE *out, const char *title, const rf_description *description, long total)
{
    static const rf_description nothing;
    cli_view *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    const char *plain = getenv("NO_COLOR"), *terminal = getenv("TERM");
    v->out = out;
    v->glyphs = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? &unicode : &ascii;
    v->dumb = !terminal || !*terminal || strcmp(terminal, "dumb") == 0;
    v->coloured = !v->dumb && !(plain && *plain);
    v->total = total;
    v->series = (cli_series){.title = v->title, .description = description ? description : &nothing, .max = KEPT_ROWS};
    snprintf(v->title, sizeof v->title, "%s", title ? title : "");
    v->since = rf_clock_seconds();
    if (!v->dumb)
        take_terminal(v);
    return v;
}

/* Copies only the fields that the status line shows; copying the whole step would take longer. */
static void keep(cli_view *v, const rf_step *s)
{
    const rf_description *description = v->series.description;
    const size_t parameters = description->dim * sizeof(double);
    v->last.step = s->step;
    v->last.health = s->health;
    v->last.restarts = s->restarts;
    v->last.outcome = s->outcome;
    v->last.report.status = s->report.status;
    v->last.report.acceptance = s->report.acceptance;
    memcpy(v->last.truth, s->truth, parameters);
    memcpy(v->last.mean, s->mean, parameters);
    memcpy(v->last.sd, s->sd, parameters);
    memcpy(v->last.setting, s->setting, description->settings * sizeof(double));
}

/* A full series is thinned to half by the next step. An endless run instead drops its older half, if the kept rows
   cover SECONDS_KEPT. */
static void forget(cli_view *v, double now)
{
    cli_series *s = &v->series;
    if (s->count < KEPT_ROWS || s->pending > 0)
        return;
    if (v->total == 0 && now - v->since >= SECONDS_KEPT) {
        s->count = KEPT_ROWS / 2;
        memmove(s->rows, s->rows + s->count * cli_series_width(s), s->count * cli_series_width(s) * sizeof *s->rows);
    }
    v->since = now;
}

void cli_view_add(cli_view *v, const rf_step *step)
{
    const double now = rf_clock_seconds();
    forget(v, now);
    if (cli_series_add(&v->series, step, NAN) != 0)
        return; /* out of memory: this step is not shown */
    v->count++;
    keep(v, step);
    if (v->shown == 0 || now - v->when >= (v->dumb ? SECONDS_A_LINE : SECONDS_A_FRAME))
        draw(v);
}

void cli_view_refresh(cli_view *v)
{
    if (v->shown < v->count && !v->dumb)
        draw(v);
}

void cli_view_close(cli_view *v)
{
    if (!v)
        return;
    if (v->count > 0 && (v->shown < v->count || !v->dumb))
        draw(v);
    if (!v->dumb)
        give_terminal(v);
    cli_series_free(&v->series);
    free(v);
}
