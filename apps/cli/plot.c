#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "plot.h"
#include "html.h"
#include "picture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127 };

typedef struct format {
    const char *ending;
    const char *terminal, *options; /* of gnuplot; null: drawn without it */
    double scale;                   /* pixels per pixel of the layout */
    const char *tail;               /* occurs in the last bytes of a complete file */
} format;

static const format formats[] = {
    {".svg", "svg", "font 'sans-serif,12' background 'white'", 1, "</svg>"},
    {".png", "pngcairo", "font 'sans,12' fontscale 1.15 linewidth 1.4 dashlength 1.5 background 'white'", 1.5, "IEND"},
    {".html", NULL, NULL, 1, "</html>"},
};

typedef struct target {
    const format *format;
    const char *path;
    char temporary[4096]; /* beside `path` */
    int fd;
    char *error;
    size_t error_size;
} target;

/* One line whatever the arguments hold. Returns -1. */
static int fail(const target *t, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    vsnprintf(t->error, t->error_size, text, args);
    va_end(args);
    for (char *c = t->error; t->error_size > 0 && *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return -1;
}

/* Makes the temporary file; on failure there is none. */
static int target_open(target *t)
{
    struct stat there;
    const char *ending = strrchr(t->path, '.');
    for (size_t i = 0; ending && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(ending, formats[i].ending) == 0)
            t->format = &formats[i];
    if (!t->format)
        return fail(t, "cannot tell the picture's format from '%s'; end its name in .svg, .png or .html", t->path);
    if (stat(t->path, &there) == 0 && !S_ISREG(there.st_mode))
        return fail(t, "'%s' is %s; choose another name", t->path,
                    S_ISDIR(there.st_mode) ? "a directory" : "not an ordinary file");
    int size = snprintf(t->temporary, sizeof t->temporary, "%s.%ld.tmp", t->path, (long)getpid());
    if (size < 0 || (size_t)size >= sizeof t->temporary)
        return fail(t, "the picture's name is too long; choose a shorter one");
    t->fd = open(t->temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (t->fd < 0)
        return fail(t, "cannot write '%s': %s; choose a directory that exists and can be written", t->path,
                    strerror(errno));
    return 0;
}

/* Renames the picture into place when it is wanted and `status` is 0, else removes it. */
static int target_close(target *t, int status, int wanted)
{
    if (close(t->fd) != 0 && status == 0)
        status = fail(t, "cannot write '%s': %s", t->path, strerror(errno));
    if (status == 0 && wanted && rename(t->temporary, t->path) != 0)
        status = fail(t, "cannot replace '%s': %s; choose another name", t->path, strerror(errno));
    if (status != 0 || !wanted)
        unlink(t->temporary);
    return status;
}

static int target_complete(const target *t)
{
    char tail[33] = {0};
    off_t end = lseek(t->fd, 0, SEEK_END);
    ssize_t got = pread(t->fd, tail, sizeof tail - 1, end > 32 ? end - 32 : 0);
    for (ssize_t i = 0; i < got; i++)
        if (strncmp(tail + i, t->format->tail, strlen(t->format->tail)) == 0)
            return 0;
    return fail(t, "the picture '%s' came out incomplete; is the disk full?", t->path);
}

/* ---- The script ---- */

/* A single-quoted string, in which nothing but the quote is special (no backquotes, macros or escapes). */
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

/* $run has x and then the series' columns; gnuplot counts from 1. */
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

/* $health: from, to, level, colour of each stretch that is not tracking. */
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
                    level, cli_health_colours[cli_health_level(level)] + 1);
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

/* A label whose middle is at a point in pixels. */
static void put_label(FILE *script, const cli_picture *p, int number, const char *text, double x, double y,
                      const char *how)
{
    fprintf(script, "set label %d ", number);
    put_text(script, text);
    fprintf(script, " at screen %.6f,%.6f %s noenhanced\n", x / p->width, 1 - y / p->height, how);
}

static void put_key(FILE *script, const cli_picture *p, const cli_key *key, int number)
{
    static const char *const styles[] = {"lw 2.4 lc rgb '#0060a0'", "", "lw 1.2 dt (8,5) lc rgb '#000000'"};
    const double x = key->x / p->width, right = (key->x + CLI_SAMPLE - 8) / p->width, y = 1 - CLI_KEYS_Y / p->height;
    put_label(script, p, number, key->text, key->x + CLI_SAMPLE, CLI_KEYS_Y, "left");
    if (key->kind == CLI_KEY_ESTIMATE || key->kind == CLI_KEY_TRUTH)
        fprintf(script, "set arrow %d from screen %.6f,%.6f to screen %.6f,%.6f nohead %s\n", number, x, y, right, y,
                styles[key->kind]);
    else if (key->kind == CLI_KEY_RESTART)
        fprintf(script, "set label %d '' at screen %.6f,%.6f point pt 11 ps 0.9 lc rgb '#000000'\n", number + 20,
                (x + right) / 2, y);
    else
        fprintf(script, "set object %d rect from screen %.6f,%.6f to screen %.6f,%.6f fs solid noborder fc rgb '%s'\n",
                number, x, y - 6 / p->height, right, y + 6 / p->height,
                key->kind == CLI_KEY_BAND ? "#c9dff0"
                                          : cli_health_colours[key->kind - CLI_KEY_SUSPICIOUS + RF_SUSPICIOUS]);
}

static void put_estimate(FILE *script, const cli_panel *panel, double dash, size_t count, int has_restarts)
{
    const unsigned c = column_of(panel->column);
    const char *lines = count <= 60 ? "linespoints pt 7 ps 0.4" : "lines";
    fprintf(script,
            "plot for [k=%d:%d] $run using 1:(held($%u - k*%.15g)):(held($%u - k*%.15g)) with filledcurves "
            "lc rgb '#c9dff0', ",
            panel->turn_first, panel->turn_last, c + CLI_LOW, panel->period, c + CLI_HIGH, panel->period);
    for (unsigned gap = c + CLI_GAPS; gap < c + CLI_PARAMETER_COLUMNS; gap += 2)
        fprintf(script,
                "for [k=%d:%d] $run using 1:(held($%u - k*%.15g)):($1 - %.9g):($1 + %.9g):(held($%u - k*%.15g)):(held($%u - "
                "k*%.15g)) with boxxyerror fs solid noborder lc rgb '#ffffff', ",
                panel->turn_first, panel->turn_last, gap, panel->period, dash, dash, gap, panel->period, gap + 1,
                panel->period);
    fprintf(script, "for [k=%d:%d] $run using 1:($%u - k*%.15g) with %s lw 2.4 lc rgb '#0060a0', ", panel->turn_first,
            panel->turn_last, c + CLI_MEAN, panel->period, lines);
    fprintf(script, "for [k=%d:%d] $run using 1:($%u - k*%.15g) with lines lw 1.2 dt (8,5) lc rgb '#000000'",
            panel->turn_first, panel->turn_last, c + CLI_TRUTH, panel->period);
    if (has_restarts)
        fprintf(script, ", $restarts using 1:(%.15g) with points pt 11 ps 0.9 lc rgb '#000000'",
                panel->axis.high - 0.04 * (panel->axis.high - panel->axis.low));
    fputc('\n', script);
}

/* A dash for each row; a line through their extremes where rows stand for several updates. */
static void put_dashes(FILE *script, const cli_picture *p, const cli_panel *panel, int is_thinned)
{
    const char *colour = panel->column == CLI_ACCEPTANCE ? "#555555" : "#9c3d00";
    const unsigned column = column_of(panel->column);
    if (is_thinned)
        fprintf(script, "plot $run using 1:%u with lines lw 1 lc rgb '%s'\n", column, colour);
    else
        fprintf(script, "plot $run using ($1 - %.9g):%u:(%.9g):(0) with vectors nohead lw 2 lc rgb '%s'\n", p->dash,
                column, 2 * p->dash, colour);
}

/* $restarts: where the count of restarts goes up. Returns whether it does. */
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

static void put_panel(FILE *script, const cli_picture *p, const cli_panel *panel, const cli_series *s, int has_restarts)
{
    const cli_axis *a = &panel->axis;
    fprintf(script, "set tmargin at screen %.6f; set bmargin at screen %.6f\n", 1 - panel->top / p->height,
            1 - panel->bottom / p->height);
    fprintf(script, "set yrange [%.15g:%.15g]; low = %.15g; high = %.15g; %sset logscale y\n", a->low, a->high, a->low,
            a->high, a->is_log ? "" : "un");
    put_ticks(script, "y", a, 1);
    put_ticks(script, "x", &p->x, panel == &p->panel[p->panels - 1]);
    put_label(script, p, 2, panel->name, 16, (panel->top + panel->bottom) / 2, "center rotate");
    if (panel->kind == CLI_PANEL_ESTIMATE)
        put_estimate(script, panel, CLI_WHOLE * p->dash, s->count, has_restarts);
    else if (panel->kind == CLI_PANEL_HEALTH)
        fputs("unset grid; plot $health using 1:(0):1:2:(0):3:4 with boxxyerror fs solid noborder lc rgb variable; "
              "set grid ytics\n",
              script);
    else
        put_dashes(script, p, panel, s->per_row > 1);
}

static void put_picture(FILE *script, const cli_picture *p, const cli_series *s)
{
    put_rows(script, p, s);
    put_health(script, p, s);
    const int has_restarts = put_restarts(script, p, s);
    fprintf(script,
            "held(y) = y < low ? low : y > high ? high : y\nset multiplot; unset key\n"
            "set lmargin at screen %.6f; set rmargin at screen %.6f; set xrange [%.15g:%.15g]\n",
            p->left / p->width, p->right / p->width, p->x.low, p->x.high);
    fputs("set border 3 lc rgb '#666666'; set tics nomirror out scale 0.5 textcolor rgb '#222222'\n"
          "set grid ytics lt 1 lw 0.5 lc rgb '#dddddd'; set grid back; set style fill solid noborder\n",
          script);
    put_label(script, p, 1, p->title, p->left, CLI_TITLE_Y, "left");
    put_label(script, p, 3, p->x_name, (p->left + p->right) / 2, p->height - 12, "center");
    for (unsigned k = 0; k < p->keys; k++)
        put_key(script, p, &p->key[k], (int)k + 10);
    for (unsigned k = 0; k < p->panels; k++) {
        put_panel(script, p, &p->panel[k], s, has_restarts);
        if (k == 0)
            fputs("unset label; unset arrow; unset object\n", script);
    }
    fputs("unset multiplot\n", script);
}

/* Starts gnuplot, never through a shell, on a pipe whose write end goes to `pipe_end`. Its pid, or -1. */
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

/* What gnuplot draws: a picture of a series, or what a script says, or nothing: then the terminal alone is asked for.
 */
typedef struct drawing {
    double width, height;
    const cli_picture *picture;
    const cli_series *series;
    const char *script;
} drawing;

/* Feeds gnuplot its script and closes the pipe. Writing after gnuplot has died does no harm. */
static void feed(int pipe_end, const format *f, const drawing *d)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    FILE *script = fdopen(pipe_end, "w");
    if (!script) {
        close(pipe_end);
        return;
    }
    sigaction(SIGPIPE, &ignore, &before);
    fprintf(script, "set encoding utf8\nset terminal %s size %.0f,%.0f %s\n", f->terminal, f->scale * d->width,
            f->scale * d->height, f->options);
    if (d->picture)
        put_picture(script, d->picture, d->series);
    if (d->script)
        fputs(d->script, script);
    fclose(script);
    sigaction(SIGPIPE, &before, NULL);
}

/* gnuplot reports as `line N: what`, below the command and a caret. */
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
    FILE *complaints = tmpfile();
    pid_t child = complaints ? start_gnuplot(t->fd, fileno(complaints), &pipe_end) : -1;
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
    if (complaints)
        fclose(complaints);
    return status == 0 ? 0 : -1;
}

static int draw_html(const target *t, const cli_picture *p, const cli_series *shown, const cli_series *all)
{
    int copy = dup(t->fd);
    FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
    int status = out ? cli_html_write(out, p, shown, all) : -1;
    if (out ? fclose(out) != 0 : copy >= 0 && close(copy) != 0)
        status = -1;
    return status == 0 ? 0 : fail(t, "cannot write '%s': %s", t->path, strerror(errno));
}

/* A single row has no width: it is drawn as two, a little apart. */
static void split_single_row(cli_series *s, const cli_picture *p)
{
    if (s->count != 1 || s->room < 2)
        return;
    memcpy(s->rows + cli_series_width(s), s->rows, cli_series_width(s) * sizeof *s->rows);
    s->rows[p->x_column] -= p->dash;
    s->rows[cli_series_width(s) + p->x_column] += p->dash;
    s->count = 2;
}

int cli_plot(const char *path, const cli_series *series, char *error, size_t error_size)
{
    target t = {.path = path, .error = error, .error_size = error_size};
    cli_picture picture;
    cli_series shown;
    if (cli_series_thin(series, CLI_PICTURE_ROWS, &shown) != 0)
        return fail(&t, "not enough memory for the picture");
    int status = cli_picture_lay(&picture, &shown);
    if (status != 0)
        fail(&t, "nothing to plot: the run has no step with a finite estimate");
    else if ((status = target_open(&t)) == 0) {
        split_single_row(&shown, &picture);
        const drawing d = {picture.width, picture.height, &picture, &shown, NULL};
        status = t.format->terminal ? draw_with_gnuplot(&t, &d) : draw_html(&t, &picture, &shown, series);
        if (status == 0)
            status = target_complete(&t);
        status = target_close(&t, status, 1);
    }
    cli_series_free(&shown);
    return status;
}

int cli_plot_check(const char *path, char *error, size_t error_size)
{
    target t = {.path = path, .error = error, .error_size = error_size};
    const drawing nothing = {.width = 900, .height = 600};
    if (target_open(&t) != 0)
        return -1;
    return target_close(&t, t.format->terminal ? draw_with_gnuplot(&t, &nothing) : 0, 0);
}

int cli_plot_script(const char *path, double width, double height, const char *script, char *error, size_t error_size)
{
    target t = {.path = path, .error = error, .error_size = error_size};
    const drawing d = {.width = width, .height = height, .script = script};
    if (target_open(&t) != 0)
        return -1;
    int status = draw_with_gnuplot(&t, &d);
    return target_close(&t, status == 0 ? target_complete(&t) : status, 1);
}
