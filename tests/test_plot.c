/* Pictures of a run: by gnuplot, as a page, and the layout of both. */
#define _XOPEN_SOURCE 700
#include "directory.h"
#include "made_up_run.h"

#include <sys/stat.h>

#include "../apps/cli/picture.h"
#include "../apps/cli/plot.h"

static cli_series all; /* of the current test */

static int tear_down(void **state)
{
    (void)state;
    cli_series_free(&all);
    return 0;
}

static void add(const rf_step *step) { assert_int_equal(cli_series_add(&all, step, NAN), 0); }

static cli_series *series_of(size_t count)
{
    cli_series_free(&all);
    all = (cli_series){.title = "a run", .description = &description};
    for (size_t i = 0; i < count; i++) {
        rf_step s = synthetic((long)i + 1);
        add(&s);
    }
    return &all;
}

/* Draws and removes a picture; the caller frees its bytes. */
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

/* Both functions refuse with one line that contains `reason`, and leave no file. */
static void assert_refused(const char *name, const char *reason)
{
    cli_series *series = series_of(10);
    for (int check = 0; check < 2; check++) {
        char error[256] = "";
        const char *path = in_directory(name);
        int status = check ? cli_plot_check(path, error, sizeof error) : cli_plot(path, series, error, sizeof error);
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
    cli_series *series = series_of(300);
    assert_svg(series, "omega_0");
    char *png = picture("P.PNG", series, &length);
    assert_memory_equal(png, "\x89PNG\r\n\x1a\n", 8);
    free(png);
}

static void test_plot_long(void **state)
{
    (void)state;
    assert_svg(series_of(5000), "5000");
}

/* The text between the first `from` and the next `to`. The caller frees it. */
static char *between(const char *text, const char *from, const char *to)
{
    const char *start = strstr(text, from);
    assert_non_null(start);
    start += strlen(from);
    const char *end = strstr(start, to);
    assert_non_null(end);
    return strndup(start, (size_t)(end - start));
}

static void test_plot_odd_series(void **state)
{
    (void)state;
    char error[256] = "";
    cli_series *series = series_of(0);
    for (long i = 0; i < 40; i++) {
        rf_step s = synthetic(i);
        s.truth[0] = s.setting[0] = NAN;
        add(&s);
    }
    assert_svg(series, "estimate");
    description.settings = 0;
    series_of(40);
    assert_svg(series, "estimate");
    assert_svg(series_of(1), "omega_0");
    for (size_t count = 0; count < 2; count++) {
        series_of(0);
        rf_step s = synthetic(0);
        s.mean[0] = s.low[0] = s.high[0] = NAN;
        if (count > 0)
            add(&s);
        assert_int_equal(cli_plot(in_directory("p.svg"), series, error, sizeof error), -1);
        assert_non_null(strstr(error, "nothing to plot"));
        assert_int_equal(files_left(), 0);
    }
}

/* An unknown truth has no line and no legend entry, nor has a state that does not occur. */
static void test_plot_shows_what_there_is(void **state)
{
    (void)state;
    size_t length;
    for (int known = 0; known < 2; known++)
        for (const char *const *name = (const char *const[]){"p.svg", "p.html", NULL}; *name; name++) {
            series_of(0);
            for (long i = 0; i < 100; i++) {
                rf_step s = synthetic(i);
                s.truth[0] = known ? 0.8 : NAN;
                s.health = known && i > 50 && i < 60 ? RF_RECOVERING : i == 70 ? RF_SUSPICIOUS : i == 75 ? RF_FAULT : RF_TRACKING;
                add(&s);
            }
            char *text = picture(*name, &all, &length), *svg = between(text, "<svg", "</svg>");
            assert_int_equal(strstr(svg, ">truth<") != NULL, known);
            assert_int_equal(strstr(svg, ">recovering<") != NULL, known);
            assert_non_null(strstr(svg, ">suspicious<"));
            assert_non_null(strstr(svg, ">fault<"));
            assert_null(strstr(svg, ">lost<"));
            assert_null(strstr(svg, "nan"));
            free(svg);
            free(text);
        }
}

/* Every parameter and every setting, up to the limits; the file stays small for any length of the run. */
static void test_plot_large(void **state)
{
    (void)state;
    static char names[2 * RF_DESCRIBED_MAX][16];
    size_t length;
    description.dim = description.settings = RF_DESCRIBED_MAX;
    for (unsigned i = 0; i < RF_DESCRIBED_MAX; i++) {
        snprintf(names[i], sizeof names[i], "p%u", i);
        snprintf(names[RF_DESCRIBED_MAX + i], sizeof names[i], "s%u", i);
        description.parameter[i] = (rf_parameter){.name = names[i], .high = 1};
        description.setting[i].name = names[RF_DESCRIBED_MAX + i];
    }
    char *html = picture("p.html", series_of(20000), &length);
    assert_in_range(length, 500000, 2000000);
    assert_non_null(strstr(html, "the first 4 of 16 parameters"));
    assert_non_null(strstr(html, ">p3<"));
    assert_null(strstr(html, ">p4<"));
    for (unsigned i = 0; i < RF_DESCRIBED_MAX; i++) {
        char label[24];
        snprintf(label, sizeof label, ">%s<", names[RF_DESCRIBED_MAX + i]);
        assert_non_null(strstr(html, label));
    }
    free(html);
}

static void test_plot_a_million(void **state)
{
    (void)state;
    size_t length;
    cli_series *series = series_of(0);
    for (long i = 0; i < 1000000; i++) {
        rf_step s = synthetic(i % 200);
        s.step = i;
        s.mean[0] = s.truth[0] = i == 654321 ? 7.25 : s.mean[0]; /* a single peak, which thinning must keep */
        add(&s);
    }
    char *html = picture("p.html", series, &length);
    assert_in_range(length, 500000, 2000000);
    char *mean = between(html, "\"mean\":[", "]");
    assert_non_null(strstr(mean, ",7.25,"));
    free(mean);
    free(html);
    assert_svg(series, "1000000");
}

/* Times of records are the axis; without them, or if they go back, the number of the measurement is. */
static void test_plot_axis(void **state)
{
    (void)state;
    size_t length;
    for (int goes_back = 0; goes_back < 2; goes_back++) {
        series_of(0);
        for (long i = 0; i < 50; i++) {
            rf_step s = synthetic(i);
            assert_int_equal(cli_series_add(&all, &s, goes_back && i == 20 ? 0.0 : 1000.0 + 0.5 * (double)i), 0);
        }
        char *html = picture("p.html", &all, &length);
        assert_non_null(strstr(html, goes_back ? ">measurement<" : ">time<"));
        assert_non_null(strstr(html, goes_back ? "\"x\":[0,1,2," : "\"x\":[1000,1000.5,1001,"));
        free(html);
    }
}

/* A phase that leaves the panel at the top returns at the bottom: no line crosses it. */
static void test_plot_periodic(void **state)
{
    (void)state;
    size_t length;
    description.parameter[0] = (rf_parameter){.name = "phi", .chart = RF_PERIODIC, .high = 10};
    series_of(0);
    for (long i = 0; i < 100; i++) {
        rf_step s = synthetic(i);
        s.truth[0] = NAN;
        s.mean[0] = fmod(0.25 * (double)i, 10.0);
        s.low[0] = s.mean[0] - 1;
        s.high[0] = s.mean[0] + 1;
        add(&s);
    }
    char *html = picture("p.html", &all, &length), *svg = between(html, "<svg", "</svg>");
    size_t lines = 0, points = 0;
    for (const char *c = svg; (c = strstr(c, "class=\"mean\" d=\"M")) != NULL; lines++) {
        char *path = between(c, "d=\"M", "\""), *point = path;
        double y = 0;
        for (int i = 0; point; i++, point = strchr(point, 'L'), point += point != NULL) {
            double next = strtod(strchr(point, ' '), NULL);
            points++;
            if (i > 0)
                assert_true(fabs(next - y) < 10);
            y = next;
        }
        free(path);
        c++;
    }
    assert_in_range(lines, 4, 5);      /* 0 to 25 is two and a half turns; one line is the legend's */
    assert_in_range(points, 100, 110); /* each turn draws its own part of the run */
    free(svg);
    free(html);
}

static void test_plot_text_is_literal(void **state)
{
    (void)state;
    size_t length;
    char title[400];
    cli_series *series = series_of(20);
    snprintf(title, sizeof title, "it's \"50%%\" \\\n`touch %s/ran` @drawn {a}_b ünï\xff\\", directory);
    series->title = title;
    description.parameter[0].name = "θ_1^{'}";
    assert_svg(series, "ünï");
    assert_svg(series, "@drawn {a}_b");
    assert_svg(series, "θ_1^{'}");
    series->title = "</script><b>&amp; \xed\xa0\x80 \xc2\x85";
    char *html = picture("p.html", series, &length);
    assert_non_null(strstr(html, "&lt;/script&gt;&lt;b&gt;&amp;amp; "));
    assert_null(strstr(html, "<b>"));
    assert_null(strstr(html, "\xed"));
    assert_null(strstr(html, "\xc2\x85"));
    free(html);
}

static void test_plain_text(void **state)
{
    (void)state;
    char out[CLI_CAPTION_MAX], longest[2 * CLI_CAPTION_MAX];
    const char *const cases[][2] = {{"abc", "abc"},    {"abcd", "abcd"}, {"abcde", "abc…"}, {"äöüß", "äöüß"},
                                    {"äöüßx", "äöü…"}, {"a\tb", "a b"},  {"", ""},          {"\xff", " "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_plain(cases[i][0], 4, out);
        assert_string_equal(out, cases[i][1]);
    }
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    cli_plain(longest, SIZE_MAX, out);
    assert_in_range(strlen(out), CLI_CAPTION_MAX - 20, CLI_CAPTION_MAX - 1);
    cli_plain(NULL, 4, out);
    assert_string_equal(out, "");
}

/* At least two ticks, inside the axis, with different labels; a logarithmic axis from two decades on. */
static void test_axes(void **state)
{
    (void)state;
    const double ranges[][2] = {{0, 1},       {-4.6, 3.2}, {1e6, 1e6 + 0.01}, {1e-9, 5e-9}, {3, 3},     {0, 0},
                                {1e12, 3e12}, {0.3, 29},   {0.3, 31},         {-1, 1e9},    {1e-8, 1e8}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        cli_picture p;
        series_of(0);
        for (int k = 0; k < 2; k++) {
            rf_step s = synthetic(k);
            s.setting[0] = ranges[i][k];
            add(&s);
        }
        assert_int_equal(cli_picture_lay(&p, &all), 0);
        const cli_axis *a = &p.panel[1].axis;
        assert_int_equal(a->is_log, ranges[i][0] > 0 && ranges[i][1] > 100 * ranges[i][0]);
        assert_in_range(a->ticks, 2, 8);
        for (unsigned k = 0; k < a->ticks; k++) {
            assert_true(cli_axis_at(a, a->tick[k]) > -1e-6 && cli_axis_at(a, a->tick[k]) < 1 + 1e-6);
            if (k > 0)
                assert_string_not_equal(a->label[k], a->label[k - 1]);
        }
    }
}

static void test_plot_refusals(void **state)
{
    (void)state;
    assert_refused("p.gif", ".svg, .png or .html");
    assert_refused("svg", ".svg, .png or .html");
    assert_refused("missing/p.svg", "No such file or directory");
    assert_refused("missing\n/p.svg", "No such file or directory");
}

static void test_plot_without_gnuplot(void **state)
{
    (void)state;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", directory, 1);
    assert_refused("p.svg", "gnuplot is not installed; on Debian: apt-get install gnuplot-nox");
    assert_refused("p.png", "gnuplot is not installed; on Debian: apt-get install gnuplot-nox");
    char error[256] = "";
    size_t length;
    free(picture("p.html", series_of(10), &length));
    assert_int_equal(cli_plot_check(in_directory("p.html"), error, sizeof error), 0);
    assert_int_equal(files_left(), 0);
    setenv("PATH", path, 1);
    free(path);
}

/* A gnuplot that ends without reading, with a script longer than any pipe buffer. */
static void test_plot_with_failing_gnuplot(void **state)
{
    (void)state;
    const char script[] = "#!/bin/sh\nexec <&-\nprintf 'gnuplot> x\\n  ^\\n   line 7: it broke\\nmore\\n' >&2\nexit 1\n";
    char path[512], error[256] = "";
    cli_series *series = series_of(2000);
    assert_int_equal(mkdir(in_directory("bin"), 0700), 0);
    write_file(in_directory("bin/gnuplot"), script, strlen(script));
    chmod(in_directory("bin/gnuplot"), 0700);
    char *before = strdup(getenv("PATH"));
    snprintf(path, sizeof path, "%s/bin:/bin:/usr/bin", directory);
    setenv("PATH", path, 1);
    assert_int_equal(cli_plot(in_directory("p.svg"), series, error, sizeof error), -1);
    setenv("PATH", before, 1);
    free(before);
    assert_string_equal(error, "gnuplot failed: it broke");
    unlink(in_directory("bin/gnuplot"));
    rmdir(in_directory("bin"));
    assert_int_equal(files_left(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, describe, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plot_formats),
        TEST(test_plot_long),
        TEST(test_plot_odd_series),
        TEST(test_plot_shows_what_there_is),
        TEST(test_plot_large),
        TEST(test_plot_a_million),
        TEST(test_plot_axis),
        TEST(test_plot_periodic),
        TEST(test_plot_text_is_literal),
        TEST(test_plain_text),
        TEST(test_axes),
        TEST(test_plot_refusals),
        TEST(test_plot_without_gnuplot),
        TEST(test_plot_with_failing_gnuplot),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
