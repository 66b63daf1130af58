#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "plot.h"
#include "html.h"
#include "outputs.h"
#include "picture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127 };

typedef struct format {
    const char *ending;
    const char *terminal, *font, *options; /* for gnuplot; null: not drawn by gnuplot */
    double scale;                          /* pixels per pixel of the layout */
    const char *tail;                      /* found in the last bytes of a complete file */
} format;

static const format formats[] = {
    {".svg", "svg", "sans-serif", "", 1, "</svg>"},
    {".png", "pngcairo", "sans", "fontscale 1.15 linewidth 1.4 dashlength 1.5", 1.5, "IEND"},
    {".html", NULL, NULL, NULL, 1, "</html>"},
};

/* A picture in the making. */
typedef struct target {
    const format *format;
    rf_output output;
    char *error;
    size_t error_size;
} target;

/* Keeps the message on one line. Returns -1. */
static int plain(const target *t)
{
    for (char *c = t->error; t->error_size > 0 && *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return -1;
}

/* Writes a one-line message, whatever the arguments contain. Returns -1. */
static int fail(const target *t, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    vsnprintf(t->error, t->error_size, text, args);
    va_end(args);
    return plain(t);
}

static int target_open(target *t, const char *path)
{
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(ending, formats[i].ending) == 0)
            t->format = &formats[i];
    if (!t->format)
        return fail(t, "cannot tell the picture's format from '%s'; end its name in .svg, .png or .html", path);
    return rf_output_open(&t->output, path, RF_OUTPUT_ORDINARY, t->error, t->error_size) ? 0 : plain(t);
}

/* If `status` is 0 and the picture is complete, puts it in place. */
static int target_close(target *t, int status)
{
    static const char why[] = "the picture '%s' came out incomplete; is the disk full?";
    const size_t length = strlen(t->format->tail);
    if (status == 0 && fflush(t->output.stream) == 0) {
        size_t at = t->output.count > 32 ? t->output.count - 32 : 0;
        while (at + length <= t->output.count && memcmp(t->output.bytes + at, t->format->tail, length) != 0)
            at++;
        status = at + length <= t->output.count ? 0 : fail(t, why, t->output.path);
    }
    return rf_output_close(&t->output, status == 0, t->error, t->error_size) < 0 ? plain(t) : status;
}

/* ---- The script ---- */

/* Writes a single-quoted string: only the quote itself is special (no backquotes, macros or escapes). */
static void put_text(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text; text++)
        fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, script);
    fputc('\'', script);
}

static void put_number(FILE *script, double value)
{
    if (isfinite(value))
        fprintf(script, " %.14g", value);
    else
        fputs(" NaN", script);
}

/* $run: x, then the columns of the series; gnuplot counts columns from 1. */
static void put_rows(FILE *script, const cli_picture *p, const cli_series *s)
{
    fputs("$run << END\n", script);
    for (size_t i = 0; i < s->count; i++) {
        put_number(script, cli_series_at(s, i, p->x_column));
        for (size_t c = 0; c < cli_series_width(s); c++)
            put_number(script, cli_series_at(s, i, c));
        fputc('\n', script);
    }
    fputs("END\n", script);
}

static unsigned column_of(size_t column) { return (unsigned)column + 2; }

/* $health: from, to, level and colour of each interval whose state is not `tracking`. */
static void put_health(FILE *script, const cli_picture *p, const cli_series *s)
{
    fputs("$health << END\n", script);
    for (size_t i = 0, end; i < s->count; i = end) {
        const double level = cli_series_at(s, i, CLI_HEALTH);
        for (end = i + 1; end < s->count && cli_series_at(s, end, CLI_HEALTH) == level; end++)
            ;
        if (level > RF_TRACKING)
            fprintf(script, "%.14g %.14g %g 0x%s\n", cli_series_at(s, i, p->x_column) - p->dash,
                    fmax(end < s->count ? cli_series_at(s, end, p->x_column) - p->dash : 0,
                         cli_series_at(s, end - 1, p->x_column) + p->dash),
                    level, cli_palettes[s->theme].health[cli_health_level(level)] + 1);
    }
    fputs("END\n", script);
}

static void put_ticks(FILE *script, const char *name, const cli_axis *a, int is_labelled)
{
    fprintf(script, "set %stics (", name);
    for (unsigned i = 0; i < a->ticks; i++)
        fprintf(script, "%s'%s' %.15g", i ? ", " : "", is_labelled ? a->label[i] : "", a->tick[i]);
    fputs(")\n", script);
}

/* The picture being drawn. */
typedef struct page {
    FILE *script;
    const cli_picture *picture;
    const cli_series *series;
    const cli_palette *palette;
} page;

/* A label centred at a point in pixels. */
static void put_label(const page *g, int number, const char *text, double x, double y, const char *how)
{
    fprintf(g->script, "set label %d ", number);
    put_text(g->script, text);
    fprintf(g->script, " at screen %.6f,%.6f %s noenhanced textcolor rgb '%s'\n", x / g->picture->width,
            1 - y / g->picture->height, how, g->palette->text);
}

static void put_key(const page *g, const cli_key *key, int number)
{
    const cli_picture *p = g->picture;
    const double x = key->x / p->width, right = (key->x + CLI_SAMPLE - 8) / p->width, y = 1 - key->y / p->height;
    const int is_truth = key->kind == CLI_KEY_TRUTH;
    put_label(g, number, key->text, key->x + CLI_SAMPLE, key->y, "left");
    if (key->kind == CLI_KEY_ESTIMATE || is_truth)
        fprintf(g->script, "set arrow %d from screen %.6f,%.6f to screen %.6f,%.6f nohead lw %s lc rgb '%s'\n", number,
                x, y, right, y, is_truth ? "1.4 dt (8,5)" : "2.6", is_truth ? g->palette->truth : g->palette->mean);
    else if (key->kind == CLI_KEY_RESTART)
        fprintf(g->script, "set label %d '' at screen %.6f,%.6f point pt 11 ps 0.9 lc rgb '%s'\n", number + 20,
                (x + right) / 2, y, g->palette->truth);
    else
        fprintf(g->script,
                "set object %d rect from screen %.6f,%.6f to screen %.6f,%.6f fs solid noborder fc rgb '%s'\n", number,
                x, y - 6 / p->height, right, y + 6 / p->height,
                key->kind == CLI_KEY_BAND ? g->palette->band
                                          : g->palette->health[key->kind - CLI_KEY_COARSE]);
}

/* A box per row, as wide as the row, from column `low` to column `high`; its shade is column `share`. */
static void put_boxes(const page *g, const cli_panel *panel, unsigned low, unsigned high, unsigned share)
{
    const double half = CLI_WHOLE * g->picture->dash, period = panel->period;
    fprintf(g->script,
            "for [k=%d:%d] $run using 1:(held($%u - k*%.15g)):($1 - %.9g):($1 + %.9g):(held($%u - k*%.15g)):(held($%u "
            "- k*%.15g)):(shade($%u)) "
            "with boxxyerror fs solid noborder lc rgb variable, ",
            panel->turn_first, panel->turn_last, low, period, half, half, low, period, high, period, share);
}

/* Several modes replace the band: each mode is a shaded box. */
static void put_modes(const page *g, const cli_panel *panel)
{
    const unsigned c = column_of(panel->column);
    for (unsigned mode = c + CLI_MODES; mode < c + CLI_PARAMETER_COLUMNS; mode += CLI_MODE_COLUMNS)
        put_boxes(g, panel, mode + CLI_MODE_LOW, mode + CLI_MODE_HIGH, mode + CLI_MODE_SHARE);
}

static void put_estimate(const page *g, const cli_panel *panel, int has_restarts)
{
    const unsigned c = column_of(panel->column);
    const char *lines = g->series->count <= 60 ? "linespoints pt 7 ps 0.4" : "lines";
    fprintf(g->script,
            "plot for [k=%d:%d] $run using 1:(held($%u - k*%.15g)):(held($%u - k*%.15g)) with filledcurves "
            "lc rgb '%s', ",
            panel->turn_first, panel->turn_last, c + CLI_LOW, panel->period, c + CLI_HIGH, panel->period,
            g->palette->band);
    if (cli_panel_has_modes(panel, g->series))
        put_modes(g, panel);
    fprintf(g->script, "for [k=%d:%d] $run using 1:($%u - k*%.15g) with %s lw 2.6 lc rgb '%s', ", panel->turn_first,
            panel->turn_last, c + CLI_MEAN, panel->period, lines, g->palette->mean);
    fprintf(g->script, "for [k=%d:%d] $run using 1:($%u - k*%.15g) with lines lw 1.4 dt (8,5) lc rgb '%s'",
            panel->turn_first, panel->turn_last, c + CLI_TRUTH, panel->period, g->palette->truth);
    if (has_restarts)
        fprintf(g->script, ", $restarts using 1:(%.15g) with points pt 11 ps 0.9 lc rgb '%s'",
                panel->axis.high - 0.04 * (panel->axis.high - panel->axis.low), g->palette->truth);
    fputc('\n', g->script);
}

/* A dash for each row; if rows stand for several updates, a line through their extremes. */
static void put_dashes(const page *g, const cli_panel *panel)
{
    const char *colour = panel->column == CLI_ACCEPTANCE ? g->palette->rate : g->palette->setting;
    const unsigned column = column_of(panel->column);
    if (g->series->per_row > 1)
        fprintf(g->script, "plot $run using 1:%u with lines lw 1 lc rgb '%s'\n", column, colour);
    else
        fprintf(g->script, "plot $run using ($1 - %.9g):%u:(%.9g):(0) with vectors nohead lw 2 lc rgb '%s'\n",
                g->picture->dash, column, 2 * g->picture->dash, colour);
}

/* $restarts: where the count of restarts increases. Returns whether it does. */
static int put_restarts(FILE *script, const cli_picture *p, const cli_series *s)
{
    int some = 0;
    double before = 0;
    fputs("$restarts << END\n", script);
    for (size_t i = 0; i < s->count; i++) {
        double restarts = cli_series_at(s, i, CLI_RESTARTS);
        if (restarts > before && (some = 1))
            fprintf(script, "%.14g\n", cli_series_at(s, i, p->x_column));
        before = restarts;
    }
    fputs("END\n", script);
    return some;
}

static void put_panel(const page *g, const cli_panel *panel, int has_restarts)
{
    const cli_picture *p = g->picture;
    const cli_axis *a = &panel->axis;
    fprintf(g->script, "set tmargin at screen %.6f; set bmargin at screen %.6f\n", 1 - panel->top / p->height,
            1 - panel->bottom / p->height);
    fprintf(g->script, "set yrange [%.15g:%.15g]; low = %.15g; high = %.15g; %sset logscale y\n", a->low, a->high,
            a->low, a->high, a->is_log ? "" : "un");
    put_ticks(g->script, "y", a, 1);
    put_ticks(g->script, "x", &p->x, panel == &p->panel[p->panels - 1]);
    put_label(g, 2, panel->name, CLI_NAME_X, (panel->top + panel->bottom) / 2, "center rotate");
    if (panel->kind == CLI_PANEL_ESTIMATE)
        put_estimate(g, panel, has_restarts);
    else if (panel->kind == CLI_PANEL_HEALTH)
        fputs("unset grid; plot NaN, $health using 1:(0):1:2:(0):3:4 with boxxyerror fs solid noborder lc rgb "
              "variable; set grid ytics\n",
              g->script);
    else
        put_dashes(g, panel);
}

/* Defines gnuplot's shade(): the band's colour over the background, with the opacity of cli_shade. */
static void put_shade(const page *g)
{
    unsigned colour[2];
    sscanf(g->palette->background, "#%x", &colour[0]);
    sscanf(g->palette->band, "#%x", &colour[1]);
    fprintf(g->script, "share(s) = %.9g + %.9g * s\nshade(s) = ", cli_shade(0), cli_shade(0.5) * 2 - cli_shade(0) * 2);
    for (unsigned bits = 16; bits < 17; bits -= 8) /* red, green, blue */
        fprintf(g->script, "%sint(%u + %d * share(s)) * %u", bits == 16 ? "" : " + ", colour[0] >> bits & 255,
                (int)(colour[1] >> bits & 255) - (int)(colour[0] >> bits & 255), 1u << bits);
    fputc('\n', g->script);
}

static void put_picture(FILE *script, const cli_picture *p, const cli_series *s)
{
    const page g = {script, p, s, &cli_palettes[s->theme]};
    char title[32];
    put_rows(script, p, s);
    put_health(script, p, s);
    put_shade(&g);
    const int has_restarts = put_restarts(script, p, s);
    fprintf(script,
            "held(y) = y < low ? low : y > high ? high : y\nset multiplot; unset key\n"
            "set lmargin at screen %.6f; set rmargin at screen %.6f; set xrange [%.15g:%.15g]\n",
            p->left / p->width, p->right / p->width, p->x.low, p->x.high);
    fprintf(script,
            "set border 3 lc rgb '%s'; set tics nomirror out scale 0.5 textcolor rgb '%s'\n"
            "set grid ytics lt 1 lw 0.5 lc rgb '%s'; set grid back; set style fill solid noborder\n",
            g.palette->axis, g.palette->text, g.palette->grid);
    snprintf(title, sizeof title, "left font ',%d'", CLI_TITLE_FONT);
    put_label(&g, 1, p->title, p->left, CLI_TITLE_Y, title);
    put_label(&g, 3, p->x_name, (p->left + p->right) / 2, p->height - 14, "center");
    for (unsigned k = 0; k < p->keys; k++)
        put_key(&g, &p->key[k], (int)k + 10);
    for (unsigned k = 0; k < p->panels; k++) {
        put_panel(&g, &p->panel[k], has_restarts);
        if (k == 0)
            fputs("unset label; unset arrow; unset object\n", script);
    }
    fputs("unset multiplot\n", script);
}

/* Starts gnuplot, never through a shell. Its standard input is a pipe; the write end goes to `pipe_end`. Returns the
   pid, or -1. */
static pid_t start_gnuplot(int out, int err, int *pipe_end)
{
    char *const command[] = {"gnuplot", "--default-settings", NULL};
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    if (child == 0) {
        if (dup2(ends[0], 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0)
            execvp(command[0], command);
        _exit(NOT_FOUND);
    }
    close(ends[0]);
    *pipe_end = ends[1];
    if (child < 0)
        close(ends[1]);
    return child;
}

/* Input of gnuplot: a picture of a series, or a script. Without either, only the terminal is set, as a check. */
typedef struct drawing {
    double width, height;
    const cli_picture *picture;
    const cli_series *series;
    const char *script;
} drawing;

/* Sends gnuplot its script and closes the pipe. If gnuplot has ended, SIGPIPE is ignored. */
static void feed(int pipe_end, const format *f, const drawing *d)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    FILE *script = fdopen(pipe_end, "w");
    if (!script) {
        close(pipe_end);
        return;
    }
    sigaction(SIGPIPE, &ignore, &before);
    fprintf(script, "set encoding utf8\nset terminal %s size %.0f,%.0f font '%s,%d' %s background '%s'\n", f->terminal,
            f->scale * d->width, f->scale * d->height, f->font, d->picture ? CLI_FONT : 12, f->options,
            cli_palettes[d->series ? d->series->theme : CLI_LIGHT].background);
    if (d->picture)
        put_picture(script, d->picture, d->series);
    if (d->script)
        fputs(d->script, script);
    fclose(script);
    sigaction(SIGPIPE, &before, NULL);
}

/* gnuplot's report has `line N: reason` after the command and a caret. */
static int fail_as_gnuplot(const target *t, FILE *complaints)
{
    char line[256], reason[256] = "";
    int number, start = 0;
    rewind(complaints);
    while (start == 0 && fgets(line, sizeof line, complaints))
        if (sscanf(line, " line %d: %n", &number, &start) == 1 || reason[0] == '\0')
            snprintf(reason, sizeof reason, "%.*s", (int)strcspn(line + start, "\n"), line + start);
    return fail(t, "gnuplot failed: %s", reason[0] ? reason : "it gave no reason");
}

static int draw_with_gnuplot(const target *t, const drawing *d)
{
    int status = -1, pipe_end;
    char bytes[4096];
    FILE *complaints = tmpfile(), *drawn = tmpfile();
    pid_t child = complaints && drawn ? start_gnuplot(fileno(drawn), fileno(complaints), &pipe_end) : -1;
    if (child >= 0) {
        feed(pipe_end, t->format, d);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (child < 0)
        fail(t, "cannot start gnuplot: %s", strerror(errno));
    else if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        fail(t, "gnuplot is not installed; on Debian: apt-get install gnuplot-nox");
    else if (status != 0)
        fail_as_gnuplot(t, complaints);
    else if (t->output.stream)
        for (size_t got = (rewind(drawn), 1); got > 0;)
            fwrite(bytes, 1, got = fread(bytes, 1, sizeof bytes, drawn), t->output.stream);
    if (complaints)
        fclose(complaints);
    if (drawn)
        fclose(drawn);
    return status == 0 ? 0 : -1;
}

/* A single row has no width: draw it as two rows a little apart. */
static void split_single_row(cli_series *s, const cli_picture *p)
{
    if (s->count != 1 || s->room < 2)
        return;
    memcpy(s->rows + cli_series_width(s), s->rows, cli_series_width(s) * sizeof *s->rows);
    s->rows[p->x_column] -= p->dash;
    s->rows[cli_series_width(s) + p->x_column] += p->dash;
    s->count = 2;
}

/* Rows with several modes have no band: gnuplot draws none for them. */
static void drop_bands(cli_series *s, const cli_picture *p)
{
    for (size_t row = 0; row < s->count; row++)
        for (unsigned k = 0; k < p->panels; k++)
            if (cli_is_split(s, row, &p->panel[k])) {
                double *of = s->rows + row * cli_series_width(s) + p->panel[k].column;
                of[CLI_LOW] = of[CLI_HIGH] = NAN;
            }
}

int cli_plot(const char *path, const cli_series *series, char *error, size_t error_size)
{
    target t = {.error = error, .error_size = error_size};
    cli_picture picture;
    cli_series shown;
    if (cli_series_thin(series, CLI_PICTURE_ROWS, &shown) != 0)
        return fail(&t, "not enough memory for the picture");
    int status = cli_picture_lay(&picture, &shown);
    if (status != 0)
        fail(&t, "nothing to plot: the run has no step with a finite estimate");
    else if ((status = target_open(&t, path)) == 0) {
        split_single_row(&shown, &picture);
        cli_series_split(&shown);
        if (t.format->terminal)
            drop_bands(&shown, &picture);
        const drawing d = {picture.width, picture.height, &picture, &shown, NULL};
        if (t.format->terminal)
            status = draw_with_gnuplot(&t, &d);
        else if ((status = cli_html_write(t.output.stream, &picture, &shown, series)) != 0)
            fail(&t, "cannot write %s: %s", path, strerror(errno));
        status = target_close(&t, status);
    }
    cli_series_free(&shown);
    return status;
}

int cli_plot_check(const char *path, char *error, size_t error_size)
{
    target t = {.error = error, .error_size = error_size};
    const drawing nothing = {.width = 900, .height = 600};
    const int status = target_open(&t, path) != 0 ? -1 : t.format->terminal ? draw_with_gnuplot(&t, &nothing) : 0;
    rf_output_close(&t.output, 0, error, error_size);
    return status;
}

int cli_plot_script(const char *path, double width, double height, const char *script, char *error, size_t error_size)
{
    target t = {.error = error, .error_size = error_size};
    const drawing d = {.width = width, .height = height, .script = script};
    return target_open(&t, path) != 0 ? -1 : target_close(&t, draw_with_gnuplot(&t, &d));
}
