#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include "view.h"

#include <langinfo.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <wchar.h>

enum {
    MAX_WIDTH = 512,
    MAX_PLOT_ROWS = 16,
    MAX_LINES = MAX_PLOT_ROWS + 3, /* title, plot, acceptance, status */
    AXIS_WIDTH = 11,               /* label and rule */
    MIN_WIDTH = 24, MIN_ROWS = 3,  /* with less, only the status is drawn */
    FRAME_BYTES = 1 << 18
};
#define SECONDS_A_FRAME (1.0 / 30.0)

typedef struct glyphs {
    const char *rule, *tick, *band, *estimate, *truth, *band_name, *plus_minus;
    const char *levels[8];
} glyphs;

static const glyphs unicode = {
    "│", "┤", "░", "●", "─", " ±2σ", "±", {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}};
static const glyphs ascii = {
    "|", "+", ":", "o", "-", " 2 sigma", "+-", {"_", ".", "-", "~", "=", "+", "*", "#"}};

typedef enum ink { PLAIN, DIM, BAND, ESTIMATE, TRUTH } ink;
static const char *const colours[] = {
    "\033[0m", "\033[38;5;245m", "\033[38;5;67m", "\033[1;38;5;33m", "\033[38;5;208m"};

struct cli_view {
    FILE *out;
    const glyphs *glyphs;
    bool coloured;
    char title[256], parameter[64];
    long total;
    cli_point ring[MAX_WIDTH];
    size_t count;         /* of steps taken; the ring holds the last of them */
    double low, high;     /* of the y axis */
    struct timespec when; /* the last frame was drawn */
    size_t shown;         /* `count` in the last frame */
    int width, rows;      /* of the last frame, of its plot */
    int lines, line_width[MAX_LINES];
    ink ink;
    size_t used; /* of the frame being composed */
    char frame[FRAME_BYTES];
};

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

/* Puts what fits in `cells` of `text`, in the locale's encoding; what that cannot show becomes `?`.
   Returns the cells taken. A null view only measures. */
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
    put(v, last ? "\033[J" : "\033[K\r\n");
    v->line_width[v->lines++] = width;
}

static const cli_point *point_at(const cli_view *v, size_t shown, size_t c)
{
    return &v->ring[(v->count - shown + c) % MAX_WIDTH];
}

/* Grows at once to hold every point shown; shrinks a little a step, and only when much is unused. */
static void rescale(cli_view *v, size_t points)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t c = 0; c < points; c++) {
        const cli_point *p = point_at(v, points, c);
        const double values[] = {p->low, p->high, p->mean, p->truth};
        for (int i = 0; i < 4; i++) {
            low = isfinite(values[i]) ? fmin(low, values[i]) : low;
            high = isfinite(values[i]) ? fmax(high, values[i]) : high;
        }
    }
    if (low > high)
        return;
    double pad = fmax(0.05 * (high - low), fmax(1e-9 * fmax(fabs(low), fabs(high)), 1e-12));
    if (v->shown == 0 || low < v->low)
        v->low = low - pad;
    if (v->shown == 0 || high > v->high)
        v->high = high + pad;
    if (high - low < 0.7 * (v->high - v->low)) {
        double rate = 1.0 - pow(0.9, (double)(v->count - v->shown));
        v->low += rate * (low - pad - v->low);
        v->high += rate * (high + pad - v->high);
    }
}

static int row_of(const cli_view *v, double value)
{
    if (isnan(value))
        return -1;
    double row = floor((v->high - value) / (v->high - v->low) * v->rows);
    return (int)fmin(fmax(row, 0.0), v->rows - 1.0);
}

/* The coarsest round step with at least three ticks on the axis; never more than five. */
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

static void label_rows(const cli_view *v, char labels[MAX_PLOT_ROWS][AXIS_WIDTH])
{
    double step = tick_step(v->low, v->high);
    int decimals = 0;
    for (double s = step; decimals < 9 && fabs(s - round(s)) > 1e-6 * s; s *= 10.0)
        decimals++;
    for (double k = ceil(v->low / step); k * step <= v->high; k += 1.0) {
        char text[400];
        if (snprintf(text, sizeof text, "%.*f", decimals, k * step + 0.0) >= AXIS_WIDTH - 1)
            snprintf(text, sizeof text, "%.3g", k * step);
        snprintf(labels[row_of(v, k * step)], AXIS_WIDTH, "%9.9s ", text);
    }
}

static ink ink_at(const cli_view *v, const cli_point *p, int row)
{
    int top = row_of(v, p->high), bottom = row_of(v, p->low);
    ink under = top >= 0 && row >= top && row <= bottom ? BAND : PLAIN;
    return row == row_of(v, p->mean) ? ESTIMATE : row == row_of(v, p->truth) ? TRUTH : under;
}

static void put_plot(cli_view *v, size_t points)
{
    const char *const glyph[] = {" ", " ", v->glyphs->band, v->glyphs->estimate, v->glyphs->truth};
    char labels[MAX_PLOT_ROWS][AXIS_WIDTH] = {{0}};
    label_rows(v, labels);
    for (int row = 0; row < v->rows; row++) {
        bool tick = labels[row][0] != '\0';
        put_ink(v, DIM);
        put(v, tick ? labels[row] : "          ");
        put(v, tick ? v->glyphs->tick : v->glyphs->rule);
        size_t end = points;
        while (end > 0 && ink_at(v, point_at(v, points, end - 1), row) == PLAIN)
            end--;
        for (size_t c = 0; c < end; c++) {
            put_ink(v, ink_at(v, point_at(v, points, c), row));
            put(v, glyph[v->ink]);
        }
        end_line(v, AXIS_WIDTH + (int)end, false);
    }
}

static void put_acceptance(cli_view *v, size_t points)
{
    put_ink(v, DIM);
    put(v, "acceptance ");
    for (size_t c = 0; c < points; c++) {
        double a = point_at(v, points, c)->acceptance;
        put(v, isnan(a) ? " " : v->glyphs->levels[(int)fmin(fmax(8.0 * a, 0.0), 7.0)]);
    }
    end_line(v, AXIS_WIDTH + (int)points, false);
}

/* The title, and the legend at the right where there is room for it. */
static void put_title(cli_view *v, bool truth)
{
    const struct { ink ink; const char *glyph, *name; } keys[] = {
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

/* Adds a field of the status line when all of it fits. */
static void put_field(cli_view *v, int *taken, const char *format, ...)
{
    char text[512] = "  ";
    va_list args;
    va_start(args, format);
    vsnprintf(text + 2, sizeof text - 2, format, args);
    va_end(args);
    const char *field = *taken > 0 ? text : text + 2;
    if (*taken == 0 || *taken + put_text(NULL, field, MAX_WIDTH) <= v->width)
        *taken += put_text(v, field, v->width - *taken);
}

/* σ is a quarter of the band, shown to two digits; the values to one digit more. */
static void put_status(cli_view *v, const cli_point *p)
{
    double sigma = 0.25 * (p->high - p->low);
    int digits = sigma > 0.0 ? (int)fmin(fmax(1.0 - floor(log10(sigma)), 0.0), 9.0) : 4;
    int taken = 0;
    put_field(v, &taken, v->total > 0 ? "step %ld/%ld" : "step %ld", p->step + 1, v->total);
    put_field(v, &taken, "%s = %.*f %s %.*f", v->parameter, digits + 1, p->mean, v->glyphs->plus_minus, digits,
              sigma);
    if (!isnan(p->truth))
        put_field(v, &taken, "truth %.*f", digits + 1, p->truth);
    put_field(v, &taken, "acceptance %.2f", p->acceptance);
    end_line(v, taken, true);
}

/* Measures the terminal and moves to the top of the last frame, whose lines a terminal that became
   narrower has wrapped. */
static void begin_frame(cli_view *v)
{
    struct winsize size = {0};
    if (ioctl(fileno(v->out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    int width = size.ws_col - 1 < MAX_WIDTH ? size.ws_col - 1 : MAX_WIDTH;
    int rows = size.ws_row - 4 < MAX_PLOT_ROWS ? size.ws_row - 4 : MAX_PLOT_ROWS;
    int up = -1;
    for (int i = 0; i < v->lines; i++)
        up += v->line_width[i] > size.ws_col ? (v->line_width[i] + size.ws_col - 1) / size.ws_col : 1;
    char move[32] = "";
    if (up > 0)
        snprintf(move, sizeof move, "\033[%dA", up);
    v->used = 0;
    put(v, "\033[?7l\r");
    put(v, move);
    v->width = width;
    v->rows = rows;
    v->lines = 0;
}

static void draw(cli_view *v)
{
    begin_frame(v);
    if (v->width >= MIN_WIDTH && v->rows >= MIN_ROWS) {
        size_t room = (size_t)(v->width - AXIS_WIDTH), points = v->count < room ? v->count : room;
        rescale(v, points);
        put_title(v, !isnan(point_at(v, 1, 0)->truth));
        put_plot(v, points);
        put_acceptance(v, points);
    }
    put_status(v, point_at(v, 1, 0));
    put(v, "\033[?7h");
    fwrite(v->frame, 1, v->used, v->out);
    fflush(v->out);
    v->shown = v->count;
    clock_gettime(CLOCK_MONOTONIC, &v->when);
}

cli_view *cli_view_open(FILE *out, const char *title, const char *parameter, long total)
{
    cli_view *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    const char *plain = getenv("NO_COLOR"), *terminal = getenv("TERM");
    v->out = out;
    v->glyphs = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? &unicode : &ascii;
    v->coloured = !(plain && *plain) && terminal && strcmp(terminal, "dumb") != 0;
    v->total = total;
    v->high = 1.0;
    snprintf(v->title, sizeof v->title, "%s", title ? title : "");
    snprintf(v->parameter, sizeof v->parameter, "%s", parameter ? parameter : "");
    fputs("\033[?25l", out);
    fflush(out);
    return v;
}

void cli_view_add(cli_view *view, const cli_point *point)
{
    struct timespec now;
    view->ring[view->count++ % MAX_WIDTH] = *point;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = difftime(now.tv_sec, view->when.tv_sec);
    seconds += 1e-9 * (double)(now.tv_nsec - view->when.tv_nsec);
    if (view->shown == 0 || seconds >= SECONDS_A_FRAME)
        draw(view);
}

void cli_view_close(cli_view *view)
{
    if (!view)
        return;
    if (view->count > 0)
        draw(view);
    fputs(view->count > 0 ? "\r\n\033[?25h" : "\033[?25h", view->out);
    fflush(view->out);
    free(view);
}
