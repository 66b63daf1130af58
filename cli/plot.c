#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "plot.h"

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

enum { THIN_ABOVE = 2000, THIN_TO = 1000, NOT_FOUND = 127 };

typedef struct format {
    const char *ending, *terminal, *tail; /* `tail` occurs in the last bytes of a complete file */
} format;

static const format formats[] = {
    {".svg", "svg size 900,600 font 'sans-serif,12' background 'white'", "</svg>"},
    {".png", "pngcairo size 1200,800 font 'sans,14' linewidth 1.4 dashlength 1.5 background 'white'", "IEND"},
};

typedef struct target {
    const format *format;
    const char *path;
    char temporary[4096]; /* beside `path` */
    int fd;
    char *error;
    size_t error_size;
} target;

typedef struct range { double low, high; } range;

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
        return fail(t, "cannot tell the picture's format from '%s'; end its name in .svg or .png", t->path);
    if (stat(t->path, &there) == 0 && S_ISDIR(there.st_mode))
        return fail(t, "'%s' is a directory; choose another name", t->path);
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

/* Bytes of the UTF-8 character at `c`, 0 when malformed. */
static size_t character_length(const unsigned char *c)
{
    size_t length = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : *c < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* Sets a gnuplot variable to a single-quoted string, in which nothing but the quote is special (no
   backquotes, macros or escapes); at most `limit` characters, control and malformed ones as spaces. */
static void put_text(FILE *script, const char *name, const char *text, size_t limit)
{
    const unsigned char *c = (const unsigned char *)(text ? text : "");
    fprintf(script, "%s = '", name);
    for (; *c && limit > 0; limit--) {
        size_t length = character_length(c);
        if (length == 0 || *c < ' ' || *c == 0x7f)
            fputc(' ', script);
        else if (*c == '\'')
            fputs("''", script);
        else
            fwrite(c, 1, length, script);
        c += length ? length : 1;
    }
    fputs(*c ? "…'\n" : "'\n", script);
}

/* Empty (low > high) when no value of the field is finite. */
static range range_of(const cli_series *s, size_t field)
{
    range r = {INFINITY, -INFINITY};
    for (size_t i = 0; i < s->count; i++) {
        double value = *(const double *)(const void *)((const char *)&s->points[i] + field);
        if (isfinite(value))
            r = (range){fmin(r.low, value), fmax(r.high, value)};
    }
    return r;
}

static int is_empty(range r) { return r.low > r.high; }

static range hull(range a, range b) { return (range){fmin(a.low, b.low), fmax(a.high, b.high)}; }

static range parameter_range(const cli_series *s)
{
    range band = hull(range_of(s, offsetof(cli_point, low)), range_of(s, offsetof(cli_point, high)));
    range lines = hull(range_of(s, offsetof(cli_point, mean)), range_of(s, offsetof(cli_point, truth)));
    return hull(band, lines);
}

/* `count` points as one: the last, under the whole bucket's band and its mean acceptance. */
static cli_point bucket(const cli_point *points, size_t count)
{
    cli_point b = points[count - 1];
    double sum = 0.0, known = 0.0;
    for (size_t i = 0; i < count; i++) {
        b.low = fmin(b.low, points[i].low);
        b.high = fmax(b.high, points[i].high);
        if (isfinite(points[i].acceptance)) {
            sum += points[i].acceptance;
            known += 1.0;
        }
    }
    b.acceptance = sum / known;
    return b;
}

static void put_data(FILE *script, const cli_series *s, range shown)
{
    size_t stride = s->count > THIN_ABOVE ? (s->count + THIN_TO - 1) / THIN_TO : 1;
    fputs("$run << END\n", script);
    for (size_t i = 0; i < s->count; i += stride) {
        cli_point p = bucket(s->points + i, s->count - i < stride ? s->count - i : stride);
        p.low = isnan(p.low) ? p.mean : fmax(p.low, shown.low);
        p.high = isnan(p.high) ? p.mean : fmin(p.high, shown.high);
        fprintf(script, "%ld %.14g %.14g %.14g %.14g %.9g %.9g\n", p.step, p.low, p.high, p.mean, p.truth,
                p.setting, p.acceptance);
    }
    fputs("END\n", script);
}

/* An axis a little wider than `r`, with about `ticks` ticks and digits enough for them to differ. */
static void put_range(FILE *script, const char *name, range r, double ticks)
{
    double pad = 0.05 * (r.high - r.low), size = fmax(fabs(r.low), fabs(r.high));
    if (!(pad > 1e-9 * size))
        pad = size > 0.0 ? 0.1 * size : 1.0;
    double rough = (r.high - r.low + 2.0 * pad) / ticks, unit = pow(10.0, floor(log10(rough)));
    double step = rough <= 2.0 * unit ? 2.0 * unit : rough <= 5.0 * unit ? 5.0 * unit : 10.0 * unit;
    fprintf(script, "%s_low = %.15e; %s_high = %.15e; %s_format = '%%.%.0fg'; set ytics %.9g\n", name,
            r.low - pad, name, r.high + pad, name, fmax(4.0, 2.0 + ceil(log10(size / step))), step);
}

static void put_log_range(FILE *script, const char *name, range r)
{
    double low = floor(log10(r.low)), high = ceil(log10(r.high));
    const char *labels = low < -3.0 || high > 4.0 ? "10^{%L}" : "%g";
    fprintf(script, "%s_low = 1e%g; %s_high = 1e%g; %s_format = '%s'\nset logscale y; set ytics 1e%g\n", name,
            low, name, high, name, labels, ceil((high - low) / 3.0));
}

/* The pictures' layout; heights are fractions of the picture's. Macros (@) hold no text of the user's. */
static const char page[] =
    "set multiplot; set lmargin at screen 0.115; set rmargin at screen 0.96\n"
    "set border 3 lc rgb '#666666'; set tics nomirror out textcolor rgb '#222222'\n"
    "set grid ytics lt 1 lw 0.5 lc rgb '#dddddd'; set grid back; set mytics 1\n"
    "set label 1 title at screen 0.115,0.965 left noenhanced\n"
    "set key at screen 0.96,0.92 right top horizontal samplen 3 noenhanced\n"
    "set xrange [first:last]; set xtics format ''; if (last - first < 5) { set xtics 1 }\n"
    "set bmargin at screen bottom; set tmargin at screen 0.87\n"
    "set label 2 parameter at screen 0.025,(bottom + 0.87)/2 center rotate noenhanced\n"
    "set yrange [parameter_low:parameter_high]; set format y parameter_format\n"
    "plot $run using @band lc rgb '#c9dff0' title '±2σ band', "
    "$run using 1:4 with @drawn lw 2 lc rgb '#0072b2' title 'estimate' @truth\n"
    "unset label 1; unset key\n";

static const char setting_panel[] =
    "set bmargin at screen 0.28; set tmargin at screen 0.41\n"
    "set label 2 setting at screen 0.025,0.345 center rotate noenhanced\n"
    "set yrange [setting_low:setting_high]; set format y setting_format\n"
    "plot $run using 1:6 with @drawn lw 1 lc rgb '#d55e00'; unset logscale y\n";

static const char acceptance_panel[] =
    "set bmargin at screen 0.10; set tmargin at screen 0.23\n"
    "set label 2 'acceptance' at screen 0.025,0.165 center rotate\n"
    "set label 3 'step' at screen 0.5375,0.03 center\n"
    "set yrange [0:1]; set ytics 0.5; set format y '%g'; set xtics format '%.10g'\n"
    "plot $run using 1:7 with @drawn lw 1 lc rgb '#555555'\n"
    "unset multiplot\n";

static void put_picture(FILE *script, const cli_series *s)
{
    range setting = s->setting ? range_of(s, offsetof(cli_point, setting)) : (range){1.0, 0.0};
    range truth = range_of(s, offsetof(cli_point, truth));
    long first = s->points[0].step, last = s->points[s->count - 1].step;
    put_data(script, s, parameter_range(s));
    put_text(script, "title", s->title, 95);
    put_text(script, "parameter", s->parameter, 30);
    put_range(script, "parameter", parameter_range(s), 8.0);
    fprintf(script, "first = %ld; last = %ld; bottom = %g\n", last > first ? first : first - 1,
            last > first ? last : first + 1, is_empty(setting) ? 0.28 : 0.46);
    fprintf(script, "drawn = \"%s\"\n", s->count <= 50 ? "linespoints pt 7 ps 0.4" : "lines");
    fprintf(script, "band = \"%s\"\n",
            s->count == 1 ? "1:4:2:3 with yerrorbars pt 0 lw 8" : "1:2:3 with filledcurves");
    fprintf(script, "truth = \"%s\"\n", is_empty(truth) ? "" :
            ", $run using 1:5 with @drawn lw 1.5 dt (8,5) lc rgb '#222222' title 'truth'");
    fputs(page, script);
    if (!is_empty(setting)) {
        put_text(script, "setting", s->setting, 14);
        if (setting.low > 0.0 && setting.high > 20.0 * setting.low)
            put_log_range(script, "setting", setting);
        else
            put_range(script, "setting", setting, 3.0);
        fputs(setting_panel, script);
    }
    fputs(acceptance_panel, script);
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

/* Feeds gnuplot its script and closes the pipe; without a series, only the terminal is asked for.
   Writing after gnuplot has died does no harm. */
static void feed(int pipe_end, const format *f, const cli_series *s)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    FILE *script = fdopen(pipe_end, "w");
    if (!script) {
        close(pipe_end);
        return;
    }
    sigaction(SIGPIPE, &ignore, &before);
    fprintf(script, "set encoding utf8\nset terminal %s\n", f->terminal);
    if (s)
        put_picture(script, s);
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

static int draw(const target *t, const cli_series *s)
{
    int status = -1, pipe_end;
    FILE *complaints = tmpfile();
    pid_t child = complaints ? start_gnuplot(t->fd, fileno(complaints), &pipe_end) : -1;
    if (child >= 0) {
        feed(pipe_end, t->format, s);
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

int cli_plot(const char *path, const cli_series *series, char *error, size_t error_size)
{
    target t = {.path = path, .error = error, .error_size = error_size};
    if (is_empty(parameter_range(series)))
        return fail(&t, "nothing to plot: the run has no step with a finite estimate");
    if (target_open(&t) != 0)
        return -1;
    int status = draw(&t, series);
    if (status == 0)
        status = target_complete(&t);
    return target_close(&t, status, 1);
}

int cli_plot_check(const char *path, char *error, size_t error_size)
{
    target t = {.path = path, .error = error, .error_size = error_size};
    return target_open(&t) == 0 ? target_close(&t, draw(&t, NULL), 0) : -1;
}
