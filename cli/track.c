/* rejfilt track: follow a drifting parameter, measurement by measurement. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "plot.h"
#include "summary.h"
#include "view.h"

typedef struct config {
    cli_run simulation;
    int simulate, is_float, json;
    uint64_t trials; /* 0: one run, step by step */
    double pace;     /* milliseconds between steps of the live view */
    const char *plot, *engine;
    rf_engine *opened;
    const char *prior[RF_NAMES_MAX + 1], *drift[RF_NAMES_MAX + 1]; /* as given, ending in null */
} config;

static const char *const sampler_names[] = {"reject", "lattice", "weight"};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* ---- Options ---- */

static int set_simulate(void *c, const char *value, char *error, size_t size)
{
    (void)value, (void)error, (void)size;
    ((config *)c)->simulate = 1;
    return 0;
}

/* A model from C source. What the compiler says follows our own line as it is. */
static int load_model(config *c, const char *path)
{
    char error[8192];
    c->simulation.model = rf_model_load(path, error, sizeof error);
    if (c->simulation.model)
        return 0;
    char *rest = error + strcspn(error, "\n");
    if (*rest)
        *rest++ = '\0';
    cli_error("track: --model: %s", error);
    fputs(rest, stderr);
    if (*rest)
        fputc('\n', stderr);
    return -1;
}

static int set_model(void *c, const char *value, char *error, size_t size)
{
    const char *names[64] = {NULL}, *dot = strrchr(value, '.');
    int is_file = strchr(value, '/') || (dot && strcmp(dot, ".c") == 0);
    if (is_file)
        return load_model(c, value);
    const rf_model *model = rf_model_find(value);
    ((config *)c)->simulation.model = model;
    if (model)
        return 0;
    for (unsigned i = 0; i < 63 && rf_model_at(i); i++)
        names[i] = rf_model_at(i)->f64->about->name;
    const char *close = cli_closest(value, names);
    snprintf(error, size, "no model '%s'%s%s%s ('rejfilt models' lists them)", value, close ? ", did you mean " : "",
             close ? close : "", close ? "?" : "");
    return -1;
}

static int set_steps(void *c, const char *value, char *error, size_t size)
{
    uint64_t steps;
    int status = cli_parse_whole(value, 1, 1000000000, &steps, error, size);
    if (status == 0)
        ((config *)c)->simulation.steps = (long)steps;
    return status;
}

static int set_trials(void *c, const char *value, char *error, size_t size)
{
    return cli_parse_whole(value, 1, 1000000000, &((config *)c)->trials, error, size);
}

static int set_seed(void *c, const char *value, char *error, size_t size)
{
    return cli_parse_whole(value, 0, UINT64_MAX, &((config *)c)->simulation.seed, error, size);
}

static int set_attempts(void *c, const char *value, char *error, size_t size)
{
    uint64_t attempts;
    int status = cli_parse_whole(value, 1, RF_ATTEMPTS_MAX, &attempts, error, size);
    if (status == 0)
        ((config *)c)->simulation.attempts = (uint32_t)attempts;
    return status;
}

static int set_design(void *c, const char *value, char *error, size_t size)
{
    (void)error, (void)size;
    ((config *)c)->simulation.design = value; /* looked up when the model is known */
    return 0;
}

static int set_batch(void *c, const char *value, char *error, size_t size)
{
    uint64_t batch;
    int status = cli_parse_whole(value, 1, CLI_BATCH_MAX, &batch, error, size);
    if (status == 0)
        ((config *)c)->simulation.batch = (uint32_t)batch;
    return status;
}

static int set_on_lost(void *c, const char *value, char *error, size_t size)
{
    static const char *const names[] = {"widen", "restart", "stop", "ignore"};
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(value, names[i]) == 0) {
            ((config *)c)->simulation.on_lost = (rf_on_lost)i;
            return 0;
        }
    snprintf(error, size, "'%s' is none of widen, restart, stop and ignore", value);
    return -1;
}

static int set_anchors(void *c, const char *value, char *error, size_t size)
{
    uint64_t every;
    int status = cli_parse_whole(value, 0, 1000000, &every, error, size);
    if (status == 0)
        ((config *)c)->simulation.anchor_every = (long)every;
    return status;
}

static int set_jump(void *c, const char *value, char *error, size_t size)
{
    cli_run *simulation = &((config *)c)->simulation;
    char first[64];
    const char *at = strchr(value, '@');
    uint64_t step;
    snprintf(first, sizeof first, "%.*s", at ? (int)(at - value) : 0, value);
    if (!at || cli_parse_real(first, -1e15, 1e15, &simulation->jump, error, size) < 0 ||
        cli_parse_whole(at + 1, 1, 1000000000, &step, error, size) < 0) {
        snprintf(error, size, "'%s' is not SIZE@STEP, as in 1.0@300", value);
        return -1;
    }
    simulation->jump_at = (long)step;
    return 0;
}

static int keep(const char *list[], const char *value, char *error, size_t size)
{
    for (unsigned i = 0; i < RF_NAMES_MAX; i++)
        if (!list[i]) {
            list[i] = value;
            return 0;
        }
    snprintf(error, size, "given more than %u times", RF_NAMES_MAX);
    return -1;
}

static int set_drift(void *c, const char *value, char *error, size_t size)
{
    return keep(((config *)c)->drift, value, error, size);
}

static int set_prior(void *c, const char *value, char *error, size_t size)
{
    return keep(((config *)c)->prior, value, error, size);
}

static int set_kappa(void *c, const char *value, char *error, size_t size)
{
    double *kappa = &((config *)c)->simulation.kappa;
    if (strcmp(value, "auto") == 0) {
        *kappa = 0;
        return 0;
    }
    return cli_parse_real(value, 1e-9, 1e9, kappa, error, size);
}

static int set_engine(void *c, const char *value, char *error, size_t size)
{
    (void)error, (void)size;
    ((config *)c)->engine = value; /* opened after all options are read */
    return 0;
}

static int set_sampler(void *c, const char *value, char *error, size_t size)
{
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(value, sampler_names[i]) == 0) {
            ((config *)c)->simulation.sampler = (rf_sampler)i;
            return 0;
        }
    snprintf(error, size, "no sampler '%s'; there are reject, lattice and weight", value);
    return -1;
}

static int set_recovery(void *c, const char *value, char *error, size_t size)
{
    return cli_parse_real(value, 0, 1e9, &((config *)c)->simulation.recovery, error, size);
}

static int set_strict(void *c, const char *value, char *error, size_t size)
{
    (void)value, (void)error, (void)size;
    ((config *)c)->simulation.strict = 1;
    return 0;
}

static int set_precision(void *c, const char *value, char *error, size_t size)
{
    ((config *)c)->is_float = strcmp(value, "float") == 0;
    if (((config *)c)->is_float || strcmp(value, "double") == 0)
        return 0;
    snprintf(error, size, "'%s' is neither float nor double", value);
    return -1;
}

static int set_json(void *c, const char *value, char *error, size_t size)
{
    (void)value, (void)error, (void)size;
    ((config *)c)->json = 1;
    return 0;
}

static int set_pace(void *c, const char *value, char *error, size_t size)
{
    return cli_parse_real(value, 0, 10000, &((config *)c)->pace, error, size);
}

static int set_plot(void *c, const char *value, char *error, size_t size)
{
    ((config *)c)->plot = value;
    return cli_plot_check(value, error, size);
}

static const cli_option options[] = {
    {"simulate", NULL, "simulate a truth that walks, and measurements of it", set_simulate},
    {"model", "NAME|FILE.c", "what is measured: a built-in model (default precession;\nsee 'rejfilt models') or your own, compiled from C", set_model},
    {"steps", "N", "measurements of a run (default 300)", set_steps},
    {"trials", "N", "run N times with different truths and print a summary", set_trials},
    {"seed", "S", "the same seed gives the same run, to the bit (default 1)", set_seed},
    {"attempts", "M", "attempts per update (default 100)", set_attempts},
    {"design", "NAME", "who chooses the next experiment: quadrature, pgh,\npgh-distance, risk, model, or auto (default)", set_design},
    {"batch", "N", "learn from N measurements at once (default 1)", set_batch},
    {"on-lost", "WHAT", "when the filter has lost the truth: widen (default), restart\nfrom the prior, stop, or ignore (no tests)", set_on_lost},
    {"anchors", "N", "one experiment of N tests the filter (quadrature: 5); fewer\nis safer and slower; 0: none", set_anchors},
    {"jump", "SIZE@STEP", "let the truth jump before that measurement", set_jump},
    {"drift", "[NAME=]SD", "standard deviation of a step of the truth's walk, for one\nor for every parameter; 0 keeps it still", set_drift},
    {"prior", "[NAME=]A:B", "uniform prior from A to B; or M+-S, a Gaussian with mean M\nand standard deviation S", set_prior},
    {"kappa", "K", "accept with probability P/K, K in units of the model's\nbound (default 1), or 'auto' to let it adapt", set_kappa},
    {"recovery", "R", "widen the covariance by 1+R when too few are accepted\n(default 0.1)", set_recovery},
    {"strict", NULL, "Algorithm 1 of the paper to the letter", set_strict},
    {"engine", "NAME", "who runs the attempts: serial, simd (default), threads[:N],\nmpi; the result does not depend on it", set_engine},
    {"sampler", "NAME", "reject (default), lattice, or weight", set_sampler},
    {"precision", "P", "the filter's numbers: float or double (default)", set_precision},
    {"json", NULL, "JSON: a line per step, or one summary object with --trials", set_json},
    {"plot", "FILE", "leave a picture of the run, .svg, .png or .html", set_plot},
    {"pace", "MS", "milliseconds per step of the live view (default 15)", set_pace},
    {NULL, NULL, NULL, NULL},
};

static const cli_usage usage = {
    "track",
    "--simulate [OPTION...]",
    "Simulates a parameter that drifts and a filter that tracks it: before each\n"
    "measurement the design chooses the settings, after it the filter updates.\n"
    "In a terminal the run is shown live; otherwise there is one line per step.\n"
    "With --trials the run is repeated and a summary is printed: squared error in\n"
    "units of q, the variance of one step of the walk, pooled over steps from 100\n"
    "on; the share of trials lost (error over 5 standard deviations in more than\n"
    "20 steps); and how often the 95 % interval covers the truth.",
    options,
    "  rejfilt track --simulate                          watch it\n"
    "  rejfilt track --simulate --plot run.svg           leave a picture\n"
    "  rejfilt track --simulate --trials 2000 --strict   the paper's algorithm\n"
    "  rejfilt track --simulate --model phase --json     machine-readable",
};

/* ---- Parameters by name ---- */

/* Splits "name=rest". The parameters meant are [*first, *last); all of them without a name. */
static int parameters_of(const rf_description *about, const char *text, unsigned *first, unsigned *last, const char **rest)
{
    const char *equals = strchr(text, '=');
    *first = 0;
    *last = about->dim;
    *rest = equals ? equals + 1 : text;
    if (!equals)
        return 0;
    for (unsigned i = 0; i < about->dim; i++)
        if (strlen(about->parameter[i].name) == (size_t)(equals - text) &&
            strncmp(about->parameter[i].name, text, (size_t)(equals - text)) == 0) {
            *first = i;
            *last = i + 1;
            return 0;
        }
    return -1;
}

static int parse_prior(const char *text, cli_prior *prior, char *error, size_t size)
{
    char first[64];
    const char *mark = strstr(text, "+-"), *colon = strchr(text, ':');
    const char *at = mark ? mark : colon;
    size_t length = at ? (size_t)(at - text) : 0;
    prior->is_gaussian = mark != NULL;
    snprintf(first, sizeof first, "%.*s", (int)length, text);
    if (!at || length >= sizeof first || cli_parse_real(first, -1e15, 1e15, &prior->first, error, size) < 0 ||
        cli_parse_real(at + (mark ? 2 : 1), -1e15, 1e15, &prior->second, error, size) < 0) {
        snprintf(error, size, "'%s' is neither LOW:HIGH nor MEAN+-SD, numbers within 1e15", text);
        return -1;
    }
    if (mark ? prior->second <= 0 : prior->second <= prior->first) {
        snprintf(error, size, mark ? "the standard deviation in '%s' is not positive" : "'%s' is an empty range", text);
        return -1;
    }
    return 0;
}

static int no_parameter(const char *option, const rf_description *about, const char *text)
{
    char names[128] = "";
    for (unsigned i = 0; i < about->dim; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s", about->parameter[i].name);
    return cli_error("track: --%s: no parameter '%.*s' in model %s; it has%s", option, (int)strcspn(text, "="), text,
                     about->name, names);
}

/* The model's defaults, then what --prior and --drift say. */
static int read_parameters(config *c)
{
    const rf_description *about = c->simulation.model->f64->about;
    char error[200];
    unsigned first, last;
    const char *rest;
    for (unsigned i = 0; i < about->dim; i++) {
        cli_prior prior = {0, about->parameter[i].low, about->parameter[i].high};
        c->simulation.prior[i] = prior;
        c->simulation.drift[i] = about->parameter[i].drift;
    }
    for (unsigned k = 0; c->prior[k]; k++) {
        if (parameters_of(about, c->prior[k], &first, &last, &rest) < 0)
            return no_parameter("prior", about, c->prior[k]);
        for (unsigned i = first; i < last; i++)
            if (parse_prior(rest, &c->simulation.prior[i], error, sizeof error) < 0)
                return cli_error("track: --prior: %s", error);
    }
    for (unsigned k = 0; c->drift[k]; k++) {
        if (parameters_of(about, c->drift[k], &first, &last, &rest) < 0)
            return no_parameter("drift", about, c->drift[k]);
        for (unsigned i = first; i < last; i++)
            if (cli_parse_real(rest, 0, 1e9, &c->simulation.drift[i], error, sizeof error) < 0)
                return cli_error("track: --drift: %s", error);
    }
    rf_status status = (c->is_float ? rf32_simulate_check : rf64_simulate_check)(&c->simulation, &first);
    if (status < 0)
        return cli_error("track: --prior: parameter %s: %s", about->parameter[first].name, rf_status_text(status));
    return CLI_OK;
}

/* ---- One run, step by step ---- */

typedef struct watcher {
    const config *c;
    const rf_description *about;
    cli_view *view;
    cli_series series; /* kept only for a plot */
    int short_of_memory;
} watcher;

static void print_step(const rf_description *about, const cli_step *s)
{
    printf("%5ld", s->step);
    for (unsigned i = 0; i < s->dim; i++)
        printf("  %11.6g %11.6g %10.3g", s->truth[i], s->mean[i], s->sd[i]);
    for (unsigned i = 0; i < about->settings; i++)
        printf("  %10.4g", s->setting[i]);
    printf("  %8.4g %6u %8.3f\n", s->outcome, s->report.accepted, s->report.acceptance);
}

static void print_header(const rf_description *about)
{
    printf("# %s: estimates and truth in natural units, sd in the parameter's chart\n# step", about->name);
    for (unsigned i = 0; i < about->dim; i++)
        printf("  %6s.truth %7s.mean %7s.sd", about->parameter[i].name, about->parameter[i].name, about->parameter[i].name);
    for (unsigned i = 0; i < about->settings; i++)
        printf("  %10s", about->setting[i].name);
    printf("   outcome accepted acceptance\n");
}

static void print_json_step(const rf_description *about, const cli_step *s)
{
    cli_json json = cli_json_open(stdout);
    cli_json_whole(&json, "step", (uint64_t)s->step);
    cli_json_list(&json, "parameters");
    for (unsigned i = 0; i < s->dim; i++) {
        cli_json_item(&json);
        cli_json_text(&json, "name", about->parameter[i].name);
        cli_json_real(&json, "truth", s->truth[i]);
        cli_json_real(&json, "mean", s->mean[i]);
        cli_json_real(&json, "sd", s->sd[i]);
        cli_json_real(&json, "low", s->low[i]);
        cli_json_real(&json, "high", s->high[i]);
    }
    cli_json_list_end(&json);
    cli_json_list(&json, "settings");
    for (unsigned i = 0; i < about->settings; i++) {
        cli_json_item(&json);
        cli_json_text(&json, "name", about->setting[i].name);
        cli_json_real(&json, "value", s->setting[i]);
    }
    cli_json_list_end(&json);
    cli_json_real(&json, "outcome", s->outcome);
    cli_json_whole(&json, "attempts", s->report.attempts);
    cli_json_whole(&json, "accepted", s->report.accepted);
    cli_json_real(&json, "acceptance", s->report.acceptance);
    cli_json_real(&json, "kappa", s->report.kappa);
    cli_json_real(&json, "delta", s->report.delta);
    cli_json_real(&json, "log_evidence", s->log_evidence);
    cli_json_whole(&json, "notes", (uint64_t)s->report.status);
    cli_json_close(&json);
}

static int watch(void *user, uint32_t trial, const cli_step *s)
{
    (void)trial;
    watcher *w = user;
    if (w->c->plot && cli_series_add(&w->series, s, NAN) != 0)
        w->short_of_memory = 1;
    if (w->view) {
        struct timespec pause = {(time_t)(w->c->pace / 1000), (long)(fmod(w->c->pace, 1000) * 1e6)};
        cli_view_add(w->view, s);
        nanosleep(&pause, NULL);
    } else if (w->c->json) {
        print_json_step(w->about, s);
    } else {
        print_step(w->about, s);
    }
    return interrupted || ferror(stdout) || w->short_of_memory;
}

static rf_status run_some(const config *c, uint32_t first, uint32_t count, cli_observer *observer, void *user)
{
    return (c->is_float ? rf32_simulate_trials : rf64_simulate_trials)(&c->simulation, first, count, observer, user);
}

static int run_once(const config *c)
{
    char title[160], error[300];
    const rf_description *about = c->simulation.model->f64->about;
    watcher w = {.c = c, .about = about, .series = {.title = title, .about = about}};
    snprintf(title, sizeof title, "%s, %u attempts per update, design %s%s, seed %llu", about->name,
             c->simulation.attempts, c->simulation.design, c->simulation.strict ? ", strict" : "", (unsigned long long)c->simulation.seed);
    if (!c->json && isatty(STDOUT_FILENO))
        w.view = cli_view_open(stdout, title, about, c->simulation.steps);
    if (!c->json && !w.view)
        print_header(about);

    int code = CLI_OK;
    rf_status status = run_some(c, 0, 1, watch, &w);
    if (w.view)
        cli_view_close(w.view);
    if (status < 0)
        code = cli_error("track: %s", rf_status_text(status));
    else if (w.short_of_memory)
        code = cli_error("track: not enough memory for the picture");
    else if (c->plot && !ferror(stdout) && cli_plot(c->plot, &w.series, error, sizeof error) < 0)
        code = cli_error("track: %s", error);
    else if (c->plot && !ferror(stdout))
        fprintf(stderr, "picture: %s\n", c->plot);
    cli_series_free(&w.series);
    return code == CLI_OK && interrupted ? CLI_INTERRUPTED : code;
}

/* ---- Many trials ---- */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line on the terminal that says how far it is; nothing within the first second. */
static void progress(double start, double *shown, uint64_t done, uint64_t total)
{
    double now = seconds_now(), spent = now - start;
    if (!isatty(STDERR_FILENO) || spent < 1 || (now - *shown < 0.2 && done < total))
        return;
    *shown = now;
    if (done == total)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r\033[Ktrial %llu of %llu, %.0f s left", (unsigned long long)done, (unsigned long long)total,
                spent / (double)done * (double)(total - done));
}

static void print_summary(const config *c, const cli_summary *s)
{
    const char *unit = s->q > 0 ? " q" : "";
    printf("%llu trials of %ld steps, %u attempts per update (%.1f with top-up), design %s%s, seed %llu\n",
           (unsigned long long)s->trials, c->simulation.steps, c->simulation.attempts, s->mean_attempts,
           c->simulation.design, c->simulation.strict ? ", strict" : "", (unsigned long long)c->simulation.seed);
    if (s->q > 0)
        printf("squared error in units of q = %.6g, from step %d on:\n", s->q, c->simulation.steps > CLI_BURN_IN ? CLI_BURN_IN : (int)c->simulation.steps - 1);
    else
        printf("squared error of a truth that stays still:\n");
    printf("  median %.4g%s   mean %.4g%s   90 %% below %.4g%s   99 %% below %.4g%s\n", s->median, unit, s->mean, unit, s->p90,
           unit, s->p99, unit);
    printf("  lost %.2f %%   the 95 %% interval covers the truth in %.1f %%\n  %.1f ns per attempt\n", 100 * s->lost,
           100 * s->coverage95, s->ns_per_attempt);
}

static void print_json_summary(const config *c, const cli_summary *s)
{
    cli_json json = cli_json_open(stdout);
    cli_json_whole(&json, "trials", s->trials);
    cli_json_whole(&json, "steps", (uint64_t)c->simulation.steps);
    cli_json_whole(&json, "attempts", c->simulation.attempts);
    cli_json_text(&json, "design", c->simulation.design);
    cli_json_text(&json, "sampler", sampler_names[c->simulation.sampler]);
    cli_json_text(&json, "engine", rf_engine_name(c->opened));
    cli_json_whole(&json, "seed", c->simulation.seed);
    cli_json_real(&json, "q", s->q);
    cli_json_real(&json, "median", s->median);
    cli_json_real(&json, "mean", s->mean);
    cli_json_real(&json, "p90", s->p90);
    cli_json_real(&json, "p99", s->p99);
    cli_json_real(&json, "lost", s->lost);
    cli_json_real(&json, "coverage95", s->coverage95);
    cli_json_real(&json, "ns_per_attempt", s->ns_per_attempt);
    cli_json_text(&json, "model", c->simulation.model->f64->about->name);
    cli_json_text(&json, "precision", c->is_float ? "float" : "double");
    cli_json_bool(&json, "strict", c->simulation.strict);
    cli_json_real(&json, "mean_attempts", s->mean_attempts);
    cli_json_close(&json);
}

static int collect(void *collector, uint32_t trial, const cli_step *step)
{
    return cli_collector_step(collector, trial, step) || interrupted;
}

static int run_trials(const config *c)
{
    const size_t most = (size_t)8 << 30, bytes = cli_collector_bytes(&c->simulation, c->trials);
    if (bytes > most)
        return cli_error("track: the errors of %llu trials of %ld steps take %.3g GB; fewer trials or steps, please",
                         (unsigned long long)c->trials, c->simulation.steps, (double)bytes * 1e-9);
    cli_collector *collector = cli_collector_open(&c->simulation, c->trials);
    if (!collector)
        return cli_error("track: not enough memory: %.3g GB are needed", (double)bytes * 1e-9);
    double start = seconds_now(), shown = start;
    rf_status status = RF_OK;
    for (uint64_t done = 0; done < c->trials && status >= 0 && !interrupted;) {
        uint64_t some = c->trials - done < CLI_SIDE_BY_SIDE ? c->trials - done : CLI_SIDE_BY_SIDE;
        status = run_some(c, (uint32_t)done, (uint32_t)some, collect, collector);
        done += some;
        progress(start, &shown, done, c->trials);
    }
    if (status >= 0) {
        cli_summary summary = cli_collector_summary(collector);
        (c->json ? print_json_summary : print_summary)(c, &summary);
    }
    cli_collector_free(collector);
    if (status < 0)
        return cli_error("track: %s", rf_status_text(status));
    return interrupted ? CLI_INTERRUPTED : CLI_OK;
}

int cli_track(int argc, char **argv)
{
    config c = {.simulation = {.model = rf_model_at(0), .seed = 1, .steps = 300, .attempts = 100, .kappa = 1, .batch = 1, .anchor_every = -1, .design = "auto", .recovery = 0.1},
                .pace = 15,
                .engine = "simd"};
    int go = cli_parse(&usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    if (!c.simulate)
        return cli_error("track: there are no measurements to read; give --simulate (see 'rejfilt track --help')");
    if (c.trials && c.plot)
        return cli_error("track: --plot shows one run; leave out --trials");
    c.simulation.about = *c.simulation.model->f64->about;
    const rf64_design *design = rf64_design_find(c.simulation.design, c.simulation.model->f64);
    if (!design)
        return cli_error("track: --design: no design '%s' for model %s", c.simulation.design, c.simulation.about.name);
    c.simulation.design = design->name;
    if (c.simulation.strict)
        c.simulation.on_lost = RF_ON_LOST_IGNORE;
    int code = read_parameters(&c);
    if (code != CLI_OK)
        return code;
    if (c.simulation.strict && c.simulation.sampler != RF_REJECT)
        return cli_error("track: --strict is rejection by definition; leave out --sampler");
    char error[300];
    c.opened = rf_engine_open(c.engine, error, sizeof error);
    if (!c.opened)
        return cli_error("track: --engine: %s", error);
    c.simulation.engine = c.opened;
    if (rf_engine_rank(c.opened) != 0 && !freopen("/dev/null", "w", stdout)) /* one rank speaks */
        return cli_error("track: rank %u cannot be silenced", rf_engine_rank(c.opened));
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    code = c.trials ? run_trials(&c) : run_once(&c);
    rf_engine_close(c.opened);
    return code;
}
