/* The view in a terminal: its output, at any width, and any end of the program. */
#define _XOPEN_SOURCE 700
#include "made_up_run.h"

#include <locale.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "../apps/cli/view.h"

enum { STEPS = 1000, COLUMNS = 80, ROWS = 24 };

static int set_up(void **state) { return describe(state) || setenv("TERM", "xterm", 1) || unsetenv("COLUMNS") || unsetenv("LINES"); }

/* Skips an escape sequence (ESC [ parameters letter). */
static const char *after_escape(const char *c)
{
    c += 2;
    return c + strspn(c, "0123456789;?") + 1;
}

static void assert_lines_fit(const char *c, size_t columns)
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
            assert_in_range(cells, 0, columns);
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

/* Output of a view of STEPS steps; the caller frees it. */
static char *viewed(const char *title, double truth, double *seconds)
{
    FILE *out = tmpfile();
    double start = now();
    cli_view *view = cli_view_open(out, title, &description, STEPS);
    assert_non_null(view);
    for (long step = 0; step < STEPS; step++) {
        rf_step s = synthetic(step);
        s.truth[0] = truth;
        cli_view_add(view, &s);
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
    assert_lines_fit(text, COLUMNS);
    assert_in_range(frames, 2, STEPS - 1);
    assert_true((double)frames <= 30.0 * seconds + 2.0); /* the first and the last frame are extra */
    assert_non_null(strstr(text, "step 1000/1000  omega_0 = "));
    assert_non_null(strstr(text, "truth 0.8000  acceptance 0.50"));
    assert_non_null(strstr(text, "t = 100"));
    assert_non_null(strstr(text, "\033[?25l"));
    assert_string_equal(text + strlen(text) - 6, "\033[?25h");
    assert_int_equal(occurrences(text, "\n"), frames * (ROWS - 3 - 1) + 1);
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

/* Health in words and as a row; restarts are counted. */
static void test_view_health(void **state)
{
    (void)state;
    const char *const words[] = {"tracking", "suspicious", "recovering", "lost", "fault"};
    for (int health = 0; health <= RF_FAULT; health++)
        for (uint32_t restarts = 0; restarts < 3; restarts += 2) {
            size_t length;
            char expected[64];
            FILE *out = tmpfile();
            cli_view *view = cli_view_open(out, "a run", &description, 0);
            rf_step s = synthetic(41);
            s.health = (rf_health)health;
            s.restarts = restarts;
            cli_view_add(view, &s);
            cli_view_close(view);
            char *text = read_all(out, &length);
            snprintf(expected, sizeof expected,
                     restarts == 0       ? "m%s\033"
                     : health == RF_LOST ? "m%s, restarted (2)\033"
                                         : "m%s, restarts: 2\033",
                     words[health]);
            assert_non_null(strstr(text, expected));
            assert_non_null(strstr(text, "step 42  omega_0")); /* only a count, if the length is unknown */
            free(text);
        }
}

/* Output of a view of `steps` steps on a terminal of that size; the caller frees it. */
static char *viewed_at(const char *columns, const char *lines, long steps, long total)
{
    size_t length;
    FILE *out = tmpfile();
    setenv("COLUMNS", columns, 1);
    setenv("LINES", lines, 1);
    cli_view *view = cli_view_open(out, "a run", &description, total);
    for (long i = 0; i < steps; i++) {
        rf_step s = synthetic(i);
        s.health = (rf_health)(i % 5);
        cli_view_add(view, &s);
    }
    cli_view_refresh(view);
    cli_view_close(view);
    return read_all(out, &length);
}

static void test_view_sizes(void **state)
{
    (void)state;
    const char *const sizes[][2] = {{"80", "24"}, {"40", "24"}, {"25", "9"},    {"24", "24"}, {"10", "24"},
                                    {"1", "1"},   {"80", "8"},  {"600", "100"}, {"0", "-3"},  {"", "x"}};
    description.dim = 3;
    description.parameter[1].name = "b";
    description.parameter[2] = (rf_parameter){.name = "c", .chart = RF_PERIODIC, .high = 1};
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        long columns = strtol(sizes[i][0], NULL, 10);
        for (long steps = 1; steps < 10000; steps *= 9) {
            char *text = viewed_at(sizes[i][0], sizes[i][1], steps, i % 2 ? steps : 0);
            assert_lines_fit(text, columns > 0 ? (size_t)columns : COLUMNS);
            free(text);
        }
    }
    setlocale(LC_CTYPE, "C");
}

/* A terminal without cursor control gets a few lines. */
static void test_view_dumb(void **state)
{
    (void)state;
    for (int is_set = 0; is_set < 2; is_set++) {
        is_set ? setenv("TERM", "dumb", 1) : unsetenv("TERM");
        char *text = viewed_at("80", "24", STEPS, STEPS);
        assert_null(strchr(text, '\033'));
        assert_null(strchr(text, '\r'));
        assert_in_range(occurrences(text, "\n"), 2, 20);
        assert_int_equal(occurrences(text, "\n"), occurrences(text, "step "));
        assert_non_null(strstr(text, "step 1000/1000  omega_0 = "));
        assert_string_equal(text + strlen(text) - 7, " fault\n");
        free(text);
    }
}

static void run_and(int number, FILE *out)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    cli_view *view = cli_view_open(out, "a run", &description, 0);
    rf_step s = synthetic(1);
    cli_view_add(view, &s);
    if (number == 0)
        exit(0);
    raise(number);
    _exit(1);
}

/* However the program ends, the cursor is restored, and the signal still ends the program. */
static void test_view_puts_the_terminal_right(void **state)
{
    (void)state;
    const int ends[] = {0, SIGINT, SIGTERM};
    for (size_t i = 0; i < 3; i++) {
        size_t length;
        int status = -1;
        FILE *out = tmpfile();
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            run_and(ends[i], out);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(ends[i] ? WIFSIGNALED(status) && WTERMSIG(status) == ends[i] : WIFEXITED(status));
        char *text = read_all(out, &length);
        assert_string_equal(text + strlen(text) - 6, "\033[?25h");
        free(text);
    }
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, NULL)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_view),
        TEST(test_view_unknown_truth_and_colours),
        TEST(test_view_health),
        TEST(test_view_sizes),
        TEST(test_view_dumb),
        TEST(test_view_puts_the_terminal_right),
        TEST(test_view_without_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
