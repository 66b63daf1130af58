/* Checks a compiled model, in a child process that the model may crash. */
#define _XOPEN_SOURCE 700
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "load.h"

enum { OUTCOMES_MAX = 65536, SECONDS_MAX = 5 };

int rf_load_fail(load *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(l->error, l->size, format, arguments);
    va_end(arguments);
    return -1;
}

int rf_load_open(load *l, rf_model *m)
{
    void *object = dlopen(l->object, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        const char *why = dlerror(), *inside = why && strncmp(why, l->place, strlen(l->place)) == 0 ? l->cache : "";
        return rf_load_fail(l, "%s cannot be loaded: %s%s", l->name, inside,
                            why ? why + (*inside ? strlen(l->place) : 0) : "no reason is given");
    }
    m->f32 = (const rf32_instance *)dlsym(object, "rf32_model_user");
    m->f64 = (const rf64_instance *)dlsym(object, "rf64_model_user");
    if (!m->f32 || !m->f64)
        return rf_load_fail(l, "%s cannot be loaded: it lacks rf32_model_user or rf64_model_user", l->name);
    if (m->f32->layout != RF32_LAYOUT || m->f64->layout != RF64_LAYOUT)
        return rf_load_fail(
            l, "%s was compiled with headers of another version of rejfilt; set REJFILT_INCLUDE to this one's",
            l->name);
    return 0;
}

/* ---- The description ---- */

/* Is low..high a range, for floats too? */
static int is_range(double low, double high)
{
    const double max = (double)RF32_LIMIT;
    return low >= -max && high <= max && (float)low < (float)high;
}

static int check_parameter(load *l, const rf_parameter *p, unsigned i)
{
    if (!p->name || !*p->name)
        return rf_load_fail(l, "%s: description.parameter[%u].name is missing (dim says how many there are)", l->name,
                            i);
    if ((unsigned)p->chart > RF_PERIODIC)
        return rf_load_fail(l, "%s: description.parameter[%u].chart is none of the charts", l->name, i);
    if (!is_range(p->low, p->high))
        return rf_load_fail(l, "%s: description.parameter[%u] (%s): low..high is %g..%g, not a range", l->name, i,
                            p->name, p->low, p->high);
    if (p->chart == RF_POSITIVE && p->low < 0)
        return rf_load_fail(l, "%s: description.parameter[%u] (%s): low is %g in a positive chart", l->name, i, p->name,
                            p->low);
    if (!(p->drift >= 0 && p->drift <= (double)RF32_LIMIT))
        return rf_load_fail(l, "%s: description.parameter[%u] (%s): drift is %g", l->name, i, p->name, p->drift);
    return 0;
}

static int check_setting(load *l, const rf_setting *s, unsigned i, unsigned dim)
{
    if (!s->name || !*s->name)
        return rf_load_fail(l, "%s: description.setting[%u].name is missing (settings says how many there are)",
                            l->name, i);
    if ((unsigned)s->role > RF_SETTING_GUESS)
        return rf_load_fail(l, "%s: description.setting[%u] (%s): role is none of the roles", l->name, i, s->name);
    if (s->parameter >= dim)
        return rf_load_fail(l, "%s: description.setting[%u] (%s): parameter is %u of %u", l->name, i, s->name,
                            s->parameter, dim);
    if (s->is_integer != 0 && s->is_integer != 1)
        return rf_load_fail(l, "%s: description.setting[%u] (%s): is_integer is %d", l->name, i, s->name,
                            s->is_integer);
    if (s->role == RF_SETTING_FIXED ? !rf64_is_finite(s->low)
                                    : s->role != RF_SETTING_GUESS && !is_range(s->low, s->high))
        return rf_load_fail(l, "%s: description.setting[%u] (%s): low..high is %g..%g, not a range", l->name, i,
                            s->name, s->low, s->high);
    if (s->role == RF_SETTING_LOGRANGE && !(s->low > 0))
        return rf_load_fail(l, "%s: description.setting[%u] (%s): low is %g in a logarithmic range", l->name, i,
                            s->name, s->low);
    if (!(s->cost >= 0 && s->cost <= (double)RF32_LIMIT))
        return rf_load_fail(l, "%s: description.setting[%u] (%s): cost is %g, not a number from 0 on", l->name, i, s->name, s->cost);
    return 0;
}

/* Checks the kind of outcomes and the setting that belongs to it. */
static int check_outcomes(load *l, const rf_description *d, int can_simulate)
{
    const unsigned n = d->outcomes, i = rf_outcomes_setting(n), kind = rf_outcomes_kind(n);
    const int has_setting = rf_outcomes_has_setting(n);
    if (kind == 0 ? n == 1 || n > OUTCOMES_MAX : kind > RF_GAUSSIAN(0) || (!has_setting && i > 0))
        return rf_load_fail(l, "%s: description.outcomes is %u, not 0 (a real number), 2 to %d or one of the kinds",
                            l->name, n, OUTCOMES_MAX);
    if (rf_outcomes_are_expected(n) && !can_simulate)
        return rf_load_fail(l, "%s: description.outcomes needs the function expected and #define RF_HAS_EXPECTED",
                            l->name);
    if (n == RF_NUMBERS && !can_simulate)
        return rf_load_fail(
            l, "%s: description.outcomes is 0 (a real number), which needs simulate and #define RF_HAS_SIMULATE",
            l->name);
    if (has_setting && i >= d->settings)
        return rf_load_fail(l, "%s: description.outcomes is about setting %u, and there are %u", l->name, i,
                            d->settings);
    const rf_setting *s = &d->setting[i];
    if (has_setting && kind == RF_GAUSSIAN(0) && !(s->low > 0))
        return rf_load_fail(l, "%s: description.setting[%u] (%s): low is %g, and it is a standard deviation", l->name,
                            i, s->name, s->low);
    if (has_setting && kind != RF_GAUSSIAN(0) &&
        !(s->low >= 1 && (s->role == RF_SETTING_FIXED ? s->low == rf64_floor(s->low) : s->is_integer)))
        return rf_load_fail(
            l, "%s: description.setting[%u] (%s) is the largest outcome: it must be a whole number from 1 on", l->name,
            i, s->name);
    return 0;
}

/* A unit is short and has no control characters. */
static int check_unit(load *l, const char *unit, const char *of)
{
    const unsigned char *c = (const unsigned char *)unit;
    while (c && *c >= ' ' && *c != 0x7f)
        c++;
    if (!c || (*c == '\0' && strlen(unit) <= RF_UNIT_MAX))
        return 0;
    return rf_load_fail(l, "%s: the unit of %s is longer than %u bytes or has a control character", l->name, of, RF_UNIT_MAX);
}

/* Options and columns go by name: parameters, and settings, must have different names. */
static int check_names(load *l, const rf_description *d)
{
    for (unsigned i = 0; i < d->dim; i++)
        for (unsigned j = 0; j < i; j++)
            if (strcmp(d->parameter[i].name, d->parameter[j].name) == 0)
                return rf_load_fail(l, "%s: two parameters are called '%s'", l->name, d->parameter[i].name);
    for (unsigned i = 0; i < d->settings; i++)
        for (unsigned j = 0; j < i; j++)
            if (strcmp(d->setting[i].name, d->setting[j].name) == 0)
                return rf_load_fail(l, "%s: two settings are called '%s'", l->name, d->setting[i].name);
    return 0;
}

static int check_description(load *l, const rf_description *d, int can_simulate)
{
    int status = 0;
    if (!d->name || !*d->name)
        return rf_load_fail(l, "%s: description.name is missing", l->name);
    if (d->dim < 1 || d->dim > RF_DESCRIBED_MAX)
        return rf_load_fail(l, "%s: description.dim is %u, not 1 to %u", l->name, d->dim, RF_DESCRIBED_MAX);
    if (d->settings > RF_DESCRIBED_MAX)
        return rf_load_fail(l, "%s: description.settings is %u, over %u", l->name, d->settings, RF_DESCRIBED_MAX);
    if (d->is_log != 0 && d->is_log != 1)
        return rf_load_fail(l, "%s: description.is_log is %d, not 0 or 1", l->name, d->is_log);
    if (!(d->fringe >= 0 && d->fringe <= (double)RF32_LIMIT))
        return rf_load_fail(l, "%s: description.fringe is %g, not a number from 0 on", l->name, d->fringe);
    for (unsigned i = 0; i < d->dim && status == 0; i++)
        status = check_parameter(l, &d->parameter[i], i);
    for (unsigned i = 1; i < d->interchangeable && status == 0; i++) {
        const rf_parameter *a = &d->parameter[0], *b = &d->parameter[i];
        if (d->interchangeable > d->dim)
            return rf_load_fail(l, "%s: description.interchangeable is %u, and there are %u parameters", l->name,
                                d->interchangeable, d->dim);
        if (a->chart != b->chart || a->low != b->low || a->high != b->high || a->drift != b->drift)
            return rf_load_fail(l, "%s: description.interchangeable: %s and %s differ in chart, range or drift",
                                l->name, a->name, b->name);
    }
    for (unsigned i = 0; i < d->settings && status == 0; i++)
        status = check_setting(l, &d->setting[i], i, d->dim);
    status = status == 0 ? check_names(l, d) : status;
    for (unsigned i = 0; i < d->dim && status == 0; i++)
        status = check_unit(l, d->unit[i], d->parameter[i].name);
    for (unsigned i = 0; i < d->settings && status == 0; i++)
        status = check_unit(l, d->setting_unit[i], d->setting[i].name);
    status = status == 0 ? check_unit(l, d->time_unit, "time") : status;
    return status == 0 ? check_outcomes(l, d, can_simulate) : status;
}

int rf_description_check(const rf_description *description, int can_simulate, const char *name, char *error,
                         size_t size)
{
    if (!description || !name) {
        snprintf(error, size, "there is no description");
        return -1;
    }
    load *l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(error, size, "%s: not enough memory", name);
        return -1;
    }
    l->name = name;
    l->error = error;
    l->size = size;
    const int status = check_description(l, description, can_simulate);
    free(l);
    return status;
}

/* ---- The model ---- */

static int check_model(load *l, const rf_model *m)
{
    const rf_description *a = m->f32->description, *b = m->f64->description;
    if (check_description(l, a, m->f32->simulate != NULL) < 0 || check_description(l, b, m->f64->simulate != NULL) < 0)
        return -1;
    if (a->dim != b->dim || a->settings != b->settings || a->outcomes != b->outcomes || a->is_log != b->is_log)
        return rf_load_fail(l, "%s: description is not the same in float and in double", l->name);
    return rf32_instance_check(m->f32, a, NULL, l->name, l->error, l->size) < 0 ||
                   rf64_instance_check(m->f64, b, NULL, l->name, l->error, l->size) < 0
               ? -1
               : 0;
}

/* ---- The child ---- */

/* Sends 'l' once the model is loaded, then 'y', or 'n' and the reason. */
static void be_child(load *l, int answer)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    const struct rlimit none = {0, 0};
    rf_model m;
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0), dup2(nowhere, 1), dup2(nowhere, 2); /* discard what the model prints */
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        signal(deadly[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    sigprocmask(SIG_SETMASK, &l->signals, NULL);
    ssize_t written = 1;
    int is_good = rf_load_open(l, &m) == 0 && (written = write(answer, "l", 1)) == 1 && check_model(l, &m) == 0;
    written = written == 1 ? write(answer, is_good ? "y" : "n", 1) : -1;
    if (written == 1 && !is_good)
        written = write(answer, l->error, strnlen(l->error, l->size < PIPE_BUF ? l->size : PIPE_BUF));
    _exit(written < 0);
}

/* Waits for the child and kills it after a timeout. Returns its status, or -1 after a timeout. */
static int wait_at_most(pid_t child, int seconds)
{
    const struct timespec pause = {0, 1000000};
    const double begin = rf_clock_seconds();
    int status;
    do {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        nanosleep(&pause, NULL);
    } while (rf_clock_seconds() - begin <= seconds);
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return -1;
}

int rf_load_try(load *l)
{
    int ends[2];
    char answer[PIPE_BUF + 3] = "";
    if (pipe(ends) != 0)
        return rf_load_fail(l, "cannot try %s: %s", l->name, strerror(errno));
    pid_t child = fork();
    if (child == 0)
        be_child(l, ends[1]);
    close(ends[1]);
    int status = child < 0 ? 0 : wait_at_most(child, SECONDS_MAX);
    fcntl(ends[0], F_SETFL, O_NONBLOCK); /* in case a grandchild survives */
    ssize_t got = read(ends[0], answer, sizeof answer - 1);
    close(ends[0]);
    if (child < 0)
        return rf_load_fail(l, "cannot try %s in a process of its own: %s", l->name, strerror(errno));
    answer[got > 0 ? got : 0] = '\0';
    const char *verdict = answer + (answer[0] == 'l'), *when = answer[0] == 'l' ? "evaluated" : "loaded";
    if (*verdict == 'n')
        return rf_load_fail(l, "%s", verdict + 1);
    if (status == -1)
        return rf_load_fail(l, "%s does not come to an end when it is %s: it was stopped after %d seconds", l->name,
                            when, SECONDS_MAX);
    if (WIFSIGNALED(status))
        return rf_load_fail(l, "%s crashes when it is %s: %s", l->name, when, strsignal(WTERMSIG(status)));
    return *verdict == 'y' ? 0 : rf_load_fail(l, "%s ends the program when it is %s", l->name, when);
}
