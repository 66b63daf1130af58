#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "../cli/plot.h"
#include "../cli/view.h"

enum { STEPS = 1000, COLUMNS = 80, ROWS = 24 };

static char directory[] = "/tmp/test_view.XXXXXX";
static cli_point points[5 * STEPS];

static cli_point synthetic(long step)
{
    double sigma = 0.3 * exp(-(double)step / 50.0) + 0.01;
    double mean = 0.8 + sigma * sin(0.3 * (double)step);
    return (cli_point){.step = step, .truth = 0.8, .mean = mean, .low = mean - 2.0 * sigma,
                       .high = mean + 2.0 * sigma, .acceptance = 0.5, .setting = 1.0 / sigma};
}

static cli_series series_of(size_t count)
{
    for (size_t i = 0; i < count; i++)
        points[i] = synthetic((long)i + 1);
    return (cli_series){"a run", "omega_0", "t", points, count};
}

static const char *in_directory(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static size_t files_left(void)
{
    size_t count = 0;
    DIR *d = opendir(directory);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

/* The whole file, terminated; the caller frees it. */
static char *read_all(FILE *file, size_t *length)
{
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    bytes[*length] = '\0';
    fclose(file);
    return bytes;
}

/* Plots and removes the picture, whose bytes the caller frees. */
static char *picture(const char *name, const cli_series *series, size_t *length)
{
    char error[256] = "";
    if (cli_plot(in_directory(name), series, error, sizeof error) != 0)
        fail_msg("%s", error);
    assert_int_equal(files_left(), 1);
    char *bytes = read_all(fopen(in_directory(name), "rb"), length);
    unlink(in_directory(name));
    return bytes;
}

static void assert_svg(const cli_series *series, const char *holds)
{
    size_t length;
    char *svg = picture("p.svg", series, &length);
    assert_memory_equal(svg, "<?xml", 5);
    assert_non_null(strstr(svg, holds));
    assert_in_range(length, 1000, 500000);
    free(svg);
}

/* Both entry points refuse, in one line that holds `reason`, and leave nothing. */
static void assert_refused(const char *name, const char *reason)
{
    cli_series series = series_of(10);
    for (int check = 0; check < 2; check++) {
        char error[256] = "";
        const char *path = in_directory(name);
        int status = check ? cli_plot_check(path, error, sizeof error) : cli_plot(path, &series, error, sizeof error);
        assert_int_equal(status, -1);
        assert_non_null(strstr(error, reason));
        assert_null(strchr(error, '\n'));
        assert_int_equal(files_left(), 0);
    }
}

static void test_plot_formats(void **state)
{
    (void)state;
    size_t length;
    cli_series series = series_of(300);
    assert_svg(&series, "omega_0");
    char *png = picture("P.PNG", &series, &length);
    assert_memory_equal(png, "\x89PNG\r\n\x1a\n", 8);
    free(png);
}

static void test_plot_long(void **state)
{
    (void)state;
    cli_series series = series_of(5 * STEPS);
    assert_svg(&series, "5000");
}

static void test_plot_odd_series(void **state)
{
    (void)state;
    char error[256] = "";
    cli_series series = series_of(40);
    for (size_t i = 0; i < series.count; i++)
        points[i].truth = points[i].setting = NAN;
    assert_svg(&series, "estimate");
    series.setting = NULL;
    assert_svg(&series, "estimate");
    series.count = 1;
    assert_svg(&series, "omega_0");
    for (size_t empty = 0; empty < 2; empty++) {
        points[0].mean = points[0].low = points[0].high = NAN;
        series.count = empty;
        assert_int_equal(cli_plot(in_directory("p.svg"), &series, error, sizeof error), -1);
        assert_non_null(strstr(error, "nothing to plot"));
        assert_int_equal(files_left(), 0);
    }
}

static void test_plot_text_is_literal(void **state)
{
    (void)state;
    cli_series series = series_of(20);
    char title[400];
    snprintf(title, sizeof title, "it's \"50%%\" \\\n`touch %s/ran` @drawn {a}_b ünï\xff\\", directory);
    series.title = title;
    series.parameter = "θ_1^{'}";
    assert_svg(&series, "ünï");
    assert_svg(&series, "@drawn {a}_b");
    assert_svg(&series, "θ_1^{'}");
}

static void test_plot_refusals(void **state)
{
    (void)state;
    assert_refused("p.gif", ".svg or .png");
    assert_refused("svg", ".svg or .png");
    assert_refused("missing/p.svg", "No such file or directory");
    assert_refused("missing\n/p.svg", "No such file or directory");
}

static void test_plot_without_gnuplot(void **state)
{
    (void)state;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", directory, 1);
    assert_refused("p.svg", "gnuplot is not installed; on Debian: apt-get install gnuplot-nox");
    setenv("PATH", path, 1);
    free(path);
}

/* A gnuplot that dies unread, with the script longer than any pipe holds. */
static void test_plot_with_failing_gnuplot(void **state)
{
    (void)state;
    char path[512], error[256] = "";
    cli_series series = series_of(2 * STEPS);
    assert_int_equal(mkdir(in_directory("bin"), 0700), 0);
    FILE *script = fopen(in_directory("bin/gnuplot"), "w");
    assert_non_null(script);
    fputs("#!/bin/sh\nexec <&-\nprintf 'gnuplot> x\\n  ^\\n   line 7: it broke\\nmore\\n' >&2\nexit 1\n", script);
    fclose(script);
    chmod(in_directory("bin/gnuplot"), 0700);
    char *before = strdup(getenv("PATH"));
    snprintf(path, sizeof path, "%s/bin:/bin:/usr/bin", directory);
    setenv("PATH", path, 1);
    assert_int_equal(cli_plot(in_directory("p.svg"), &series, error, sizeof error), -1);
    setenv("PATH", before, 1);
    free(before);
    assert_string_equal(error, "gnuplot failed: it broke");
    unlink(in_directory("bin/gnuplot"));
    rmdir(in_directory("bin"));
    assert_int_equal(files_left(), 0);
}

/* Skips an escape sequence (ESC [ parameters letter). */
static const char *after_escape(const char *c)
{
    c += 2;
    return c + strspn(c, "0123456789;?") + 1;
}

static void assert_lines_fit(const char *c)
{
    size_t cells = 0;
    mbstate_t state = {0};
    while (*c) {
        if (*c == '\033') {
            c = after_escape(c);
        } else if (*c == '\r' || *c == '\n') {
            cells = 0;
            c++;
        } else {
            wchar_t wide;
            size_t length = mbrtowc(&wide, c, MB_CUR_MAX, &state);
            assert_in_range(length, 1, MB_CUR_MAX);
            assert_in_range(wcwidth(wide), 0, 2);
            cells += (size_t)wcwidth(wide);
            assert_in_range(cells, 0, COLUMNS);
            c += length;
        }
    }
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        count++;
    return count;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What a view of STEPS steps writes; the caller frees it. */
static char *viewed(const char *title, double truth, double *seconds)
{
    FILE *out = tmpfile();
    double start = now();
    cli_view *view = cli_view_open(out, title, "omega_0", STEPS);
    assert_non_null(view);
    for (long step = 0; step < STEPS; step++) {
        cli_point p = synthetic(step);
        p.truth = truth;
        cli_view_add(view, &p);
    }
    cli_view_close(view);
    *seconds = now() - start;
    size_t length;
    return read_all(out, &length);
}

static void check_view(const char *locale, const char *title)
{
    double seconds;
    assert_non_null(setlocale(LC_CTYPE, locale));
    char *text = viewed(title, 0.8, &seconds);
    size_t frames = occurrences(text, "step ");
    assert_lines_fit(text);
    assert_in_range(frames, 2, STEPS - 1);
    assert_true((double)frames <= 30.0 * seconds + 2.0); /* the first and the last are free */
    assert_non_null(strstr(text, "step 1000/1000  omega_0 = "));
    assert_non_null(strstr(text, "truth 0.8000  acceptance 0.50"));
    assert_non_null(strstr(text, "\033[?25l"));
    assert_string_equal(text + strlen(text) - 6, "\033[?25h");
    assert_int_equal(occurrences(text, "\n"), frames * (ROWS - 6) + 1);
    free(text);
}

static void test_view(void **state)
{
    (void)state;
    check_view("C", "a run");
    check_view("C", "a run in UTF-8: ω, \xff\033[31m and a title far too long for the width of any terminal of ours");
    check_view("C.UTF-8", "a run, ω");
    check_view("C.UTF-8", "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字");
    setlocale(LC_CTYPE, "C");
}

static void test_view_unknown_truth_and_colours(void **state)
{
    (void)state;
    double seconds;
    setenv("TERM", "xterm", 1);
    char *text = viewed("a run", NAN, &seconds);
    assert_null(strstr(text, "truth"));
    assert_non_null(strstr(text, "\033[38;5;"));
    free(text);
    setenv("NO_COLOR", "1", 1);
    text = viewed("a run", NAN, &seconds);
    assert_null(strstr(text, "\033[38;5;"));
    assert_null(strstr(text, "\033[0m"));
    free(text);
    unsetenv("NO_COLOR");
}

static void test_view_without_steps(void **state)
{
    (void)state;
    size_t length;
    FILE *out = tmpfile();
    cli_view_close(cli_view_open(out, NULL, NULL, 0));
    char *text = read_all(out, &length);
    assert_string_equal(text, "\033[?25l\033[?25h");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plot_formats),         cmocka_unit_test(test_plot_long),
        cmocka_unit_test(test_plot_odd_series),      cmocka_unit_test(test_plot_text_is_literal),
        cmocka_unit_test(test_plot_refusals),        cmocka_unit_test(test_plot_without_gnuplot),
        cmocka_unit_test(test_plot_with_failing_gnuplot), cmocka_unit_test(test_view),
        cmocka_unit_test(test_view_unknown_truth_and_colours), cmocka_unit_test(test_view_without_steps),
    };
    if (!mkdtemp(directory))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
