/* The options of `rejfilt track`: from files and arguments to a run, and back to a file. */
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plot.h"
#include "simulate.h"

const char *const cli_sampler_names[] = {"reject", "lattice", "weight", NULL};
const char *const cli_on_lost_names[] = {"widen", "restart", "stop", "ignore", NULL};
const char *const cli_health_names[] = {"tracking", "suspicious", "recovering", "lost-restart"};
static const char *const precision_names[] = {"double", "float", NULL};
static const char *const format_names[] = {"auto", "text", "json", "csv", NULL};

#define AT(field) offsetof(cli_track_config, field)

static int set_json(void *c, const char *value, char *error, size_t size)
{
    (void)value, (void)error, (void)size;
    ((cli_track_config *)c)->format = CLI_FORMAT_JSON;
    return 0;
}

static int set_nothing(void *c, const char *value, char *error, size_t size)
{
    (void)c, (void)value, (void)error, (void)size; /* read before all others */
    return 0;
}

static const cli_option options[] = {
    {"simulate", NULL, "simulate a truth that walks, and measurements of it", NULL, CLI_FLAG, AT(simulate), 0, 0, NULL},
    {"ask", NULL, "print the next experiment's settings, then wait for its\noutcome on standard input", NULL, CLI_FLAG, AT(ask), 0, 0, NULL},
    {"data", "FILE", "read records from FILE instead of standard input", NULL, CLI_TEXT, AT(data), 0, 0, NULL},
    {"config", "FILE", "take options from an INI file; those on the command line win", set_nothing, CLI_CUSTOM, 0, 0, 0, NULL},
    {"print-config", NULL, "print the options as such a file, which gives the same run,\nand exit", NULL, CLI_FLAG, AT(print_config), 0, 0, NULL},
    {"model", "NAME|FILE.c", "what is measured: a built-in model (default precession;\nsee 'rejfilt models') or your own, compiled from C", NULL, CLI_TEXT, AT(model), 0, 0, NULL},
    {"prior", "[NAME=]A:B", "uniform prior from A to B; or M+-S, a Gaussian with mean M\nand standard deviation S", NULL, CLI_LIST, AT(prior), 0, 0, NULL},
    {"drift", "[NAME=]SD", "standard deviation of a step of the parameter's walk (per\nunit of time where records have times); 0 keeps it still", NULL, CLI_LIST, AT(drift), 0, 0, NULL},
    {"range", "NAME=A:B", "hold a setting in A..B: the longest time, for one", NULL, CLI_LIST, AT(range), 0, 0, NULL},
    {"cost", "NAME=C", "an experiment costs 1 and C per unit of this setting; the\nrisk design weighs it", NULL, CLI_LIST, AT(cost), 0, 0, NULL},
    {"design", "NAME", "who chooses the next experiment: quadrature, pgh,\npgh-distance, risk, model (the model's own), given (the\ndata bring their settings), or auto (default)", NULL, CLI_TEXT, AT(run.design), 0, 0, NULL},
    {"anchors", "N", "one experiment of N tests the filter (quadrature: 5); fewer\nis safer and slower; 0: none", NULL, CLI_LONG, AT(run.anchor_every), 0, 1e6, NULL},
    {"on-lost", "WHAT", "when the filter has lost the truth: widen (default), restart\nfrom the prior, stop, or ignore (no tests)", NULL, CLI_NAME, AT(on_lost), 0, 0, cli_on_lost_names},
    {"batch", "N", "learn from N measurements at once (default 1)", NULL, CLI_U32, AT(run.batch), 1, CLI_BATCH_MAX, NULL},
    {"attempts", "M", "attempts per update (default 100)", NULL, CLI_U32, AT(run.attempts), 1, RF_ATTEMPTS_MAX, NULL},
    {"kappa", "K", "accept with probability P/K, K in units of the model's\nbound (default 1), or 'auto' to let it adapt", NULL, CLI_TEXT, AT(kappa), 0, 0, NULL},
    {"recovery", "R", "widen the covariance by 1+R when too few are accepted\n(default 0.1)", NULL, CLI_REAL, AT(run.recovery), 0, 1e9, NULL},
    {"strict", NULL, "Algorithm 1 of the paper to the letter, without tests of\nhealth; the design is pgh unless another is given", NULL, CLI_FLAG, AT(run.strict), 0, 0, NULL},
    {"sampler", "NAME", "reject (default), lattice, or weight", NULL, CLI_NAME, AT(sampler), 0, 0, cli_sampler_names},
    {"engine", "NAME", "who runs the attempts: serial, simd (default), threads[:N],\nmpi; the result does not depend on it", NULL, CLI_TEXT, AT(engine), 0, 0, NULL},
    {"precision", "P", "the filter's numbers: float or double (default)", NULL, CLI_NAME, AT(is_float), 0, 0, precision_names},
    {"seed", "S", "the same seed gives the same run, to the bit (default 1)", NULL, CLI_U64, AT(run.seed), 0, 0, NULL},
    {"steps", "N", "measurements of a simulated run (default 300)", NULL, CLI_LONG, AT(run.steps), 1, 1e9, NULL},
    {"trials", "N", "simulate N runs with different truths and print a summary", NULL, CLI_U64, AT(trials), 1, 1e9, NULL},
    {"jump", "SIZE@STEP", "let the simulated truth jump before that measurement", NULL, CLI_TEXT, AT(jump), 0, 0, NULL},
    {"state", "FILE", "keep a checkpoint there; a run that finds one goes on from it", NULL, CLI_TEXT, AT(state), 0, 0, NULL},
    {"state-every", "N", "write the checkpoint after every N updates (default 1)", NULL, CLI_U64, AT(state_every), 1, 1e9, NULL},
    {"state-durable", NULL, "make every checkpoint survive a power cut, too; slower", NULL, CLI_FLAG, AT(state_durable), 0, 0, NULL},
    {"skip-bad", NULL, "count bad records and go on", NULL, CLI_FLAG, AT(skip_bad), 0, 0, NULL},
    {"format", "NAME", "of a line per update: text, json or csv", NULL, CLI_NAME, AT(format), 0, 0, format_names},
    {"json", NULL, "the same as --format json; with --trials one summary object", set_json, CLI_CUSTOM, 0, 0, 0, NULL},
    {"plot", "FILE", "leave a picture of the run, .svg, .png or .html", NULL, CLI_TEXT, AT(plot), 0, 0, NULL},
    {"pace", "MS", "milliseconds per step of the live view (default 15)", NULL, CLI_REAL, AT(pace), 0, 10000, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "track",
    "[OPTION...] [< RECORDS]",
    "Follows parameters that drift: reads one record per measurement, as JSON lines\n"
    "or CSV with a header, and writes one line per update with what is known then.\n"
    "A record has the settings by name and the outcome: {\"t\": 3, \"x_\": 0.1, \"outcome\": 1}.\n"
    "Without outcome (null, or empty) only time passes. Optional: time, batch (records\n"
    "of equal batch are learnt from together), truth.NAME.\n\n"
    "With --ask it chooses the experiments, too: it prints the settings of the next\n"
    "one as a line of JSON and waits for a line with the outcome.\n\n"
    "With --simulate the measurements are made up. In a terminal the run is shown\n"
    "live. With --trials it is repeated and a summary is printed: squared error in\n"
    "units of q, the variance of one step of the walk, pooled over steps from 100\n"
    "on; the share of trials lost (error over 5 standard deviations in more than\n"
    "20 steps); and how often the 95 % interval covers the truth.",
    options,
    "  rejfilt track --simulate                          watch it\n"
    "  rejfilt track --simulate --plot run.svg           leave a picture\n"
    "  rejfilt track --simulate --trials 2000 --strict   the paper's algorithm\n"
    "  rejfilt track --drift 0.02 < data.csv             from a file\n"
    "  rejfilt track --ask --state qubit.state           drive an experiment\n"
    "  rejfilt track --config run.ini --print-config     what would be run",
};

/* ---- Parameters and settings by name ---- */

static int find_parameter(const rf_description *about, const char *name, size_t length)
{
    for (unsigned i = 0; i < about->dim; i++)
        if (strlen(about->parameter[i].name) == length && strncmp(about->parameter[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

static int find_setting(const rf_description *about, const char *name, size_t length)
{
    for (unsigned i = 0; i < about->settings; i++)
        if (strlen(about->setting[i].name) == length && strncmp(about->setting[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

/* "A:B" or "A+-B": returns ':' or '+', or 0 with a message. */
static int parse_pair(const char *text, int gaussian, double *first, double *second, char *error, size_t size)
{
    char left[64];
    const char *mark = gaussian ? strstr(text, "+-") : NULL, *at = mark ? mark : strchr(text, ':');
    size_t length = at ? (size_t)(at - text) : 0;
    snprintf(left, sizeof left, "%.*s", (int)length, text);
    if (!at || length >= sizeof left || cli_parse_real(left, -1e15, 1e15, first, error, size) < 0 ||
        cli_parse_real(at + (mark ? 2 : 1), -1e15, 1e15, second, error, size) < 0) {
        snprintf(error, size, "'%s' is %s, numbers within 1e15", text, gaussian ? "neither LOW:HIGH nor MEAN+-SD" : "not LOW:HIGH");
        return 0;
    }
    return mark ? '+' : ':';
}

static int parse_prior(const char *text, cli_prior *prior, char *error, size_t size)
{
    int mark = parse_pair(text, 1, &prior->first, &prior->second, error, size);
    prior->is_gaussian = mark == '+';
    if (!mark)
        return -1;
    if (prior->is_gaussian ? prior->second <= 0 : prior->second <= prior->first) {
        snprintf(error, size, prior->is_gaussian ? "the standard deviation in '%s' is not positive" : "'%s' is an empty range", text);
        return -1;
    }
    return 0;
}

typedef int apply(cli_run *run, unsigned index, const char *text, char *error, size_t size);

static int apply_prior(cli_run *run, unsigned i, const char *text, char *error, size_t size)
{
    return parse_prior(text, &run->prior[i], error, size);
}

static int apply_drift(cli_run *run, unsigned i, const char *text, char *error, size_t size)
{
    return cli_parse_real(text, 0, 1e9, &run->drift[i], error, size);
}

static int apply_range(cli_run *run, unsigned i, const char *text, char *error, size_t size)
{
    rf_setting *s = &run->about.setting[i];
    double low, high;
    if (!parse_pair(text, 0, &low, &high, error, size))
        return -1;
    if (high < low || (s->role == RF_SETTING_LOGRANGE && low <= 0) || (s->role == RF_SETTING_TIME && low < 0)) {
        snprintf(error, size, high < low ? "'%s' is an empty range" : "'%s' begins too low for this setting", text);
        return -1;
    }
    if (s->role == RF_SETTING_GUESS) {
        snprintf(error, size, "%s is a guess of a parameter and has no range", s->name);
        return -1;
    }
    s->low = low;
    s->high = high;
    return 0;
}

static int apply_cost(cli_run *run, unsigned i, const char *text, char *error, size_t size)
{
    return cli_parse_real(text, 0, 1e9, &run->about.setting[i].cost, error, size);
}

/* Every text of the list "[NAME=]REST" to the parameters, or settings, that it names; all without a name. */
static int apply_list(const char *option, const char *const *list, int is_setting, apply *to, cli_run *run)
{
    const rf_description *about = &run->about;
    const unsigned all = is_setting ? about->settings : about->dim;
    char error[256];
    for (; *list; list++) {
        const char *equals = strchr(*list, '='), *rest = equals ? equals + 1 : *list;
        const size_t length = equals ? (size_t)(equals - *list) : 0;
        int one = equals ? (is_setting ? find_setting : find_parameter)(about, *list, length) : -1;
        if (equals && one < 0) {
            char names[256] = "";
            for (unsigned i = 0; i < all; i++)
                snprintf(names + strlen(names), sizeof names - strlen(names), " %s", is_setting ? about->setting[i].name : about->parameter[i].name);
            return cli_error("track: --%s: no %s '%.*s' in model %s; it has%s", option, is_setting ? "setting" : "parameter",
                             (int)length, *list, about->name, all ? names : " none");
        }
        for (unsigned i = one < 0 ? 0 : (unsigned)one; i < (one < 0 ? all : (unsigned)one + 1); i++)
            if (to(run, i, rest, error, sizeof error) < 0)
                return cli_error("track: --%s: %s", option, error);
    }
    return CLI_OK;
}

/* ---- The model ---- */

/* A model from C source. What the compiler says follows our own line as it is. */
static const rf_model *load_model(const char *path)
{
    char error[8192];
    const rf_model *model = rf_model_load(path, error, sizeof error);
    if (model)
        return model;
    char *rest = error + strcspn(error, "\n");
    if (*rest)
        *rest++ = '\0';
    cli_error("track: --model: %s", error);
    fputs(rest, stderr);
    if (*rest)
        fputc('\n', stderr);
    return NULL;
}

static const rf_model *find_model(const char *name)
{
    const char *names[64] = {NULL}, *dot = strrchr(name, '.');
    if (strchr(name, '/') || (dot && strcmp(dot, ".c") == 0))
        return load_model(name);
    const rf_model *model = rf_model_find(name);
    if (model)
        return model;
    for (unsigned i = 0; i < 63 && rf_model_at(i); i++)
        names[i] = rf_model_at(i)->f64->about->name;
    const char *close = cli_closest(name, names);
    cli_error("track: --model: no model '%s'%s%s%s ('rejfilt models' lists them)", name, close ? ", did you mean " : "",
              close ? close : "", close ? "?" : "");
    return NULL;
}

/* ---- From texts to a run ---- */

static int parse_jump(cli_run *run, const char *text)
{
    char first[64], error[200];
    const char *at = strchr(text, '@');
    uint64_t step;
    snprintf(first, sizeof first, "%.*s", at ? (int)(at - text) : 0, text);
    if (!at || cli_parse_real(first, -1e15, 1e15, &run->jump, error, sizeof error) < 0 ||
        cli_parse_whole(at + 1, 1, 1000000000, &step, error, sizeof error) < 0)
        return cli_error("track: --jump: '%s' is not SIZE@STEP, as in 1.0@300", text);
    run->jump_at = (long)step;
    return CLI_OK;
}

static int parse_kappa(cli_run *run, const char *text)
{
    char error[200];
    run->kappa = 0;
    if (strcmp(text, "auto") != 0 && cli_parse_real(text, 1e-9, 1e9, &run->kappa, error, sizeof error) < 0)
        return cli_error("track: --kappa: %s", error);
    return CLI_OK;
}

/* The designer's real name; null in run->design for `given`. */
static int choose_design(cli_track_config *c)
{
    static const char *const names[] = {"quadrature", "pgh", "pgh-distance", "risk", "model", "given", "auto", NULL};
    cli_run *run = &c->run;
    const int chooses = c->simulate || c->ask;
    if (strcmp(run->design, "given") == 0 || (strcmp(run->design, "auto") == 0 && !chooses)) {
        run->design = NULL;
        return chooses ? cli_error("track: --design given: there are no data that bring their settings with --%s", c->ask ? "ask" : "simulate") : CLI_OK;
    }
    if (run->strict && strcmp(run->design, "auto") == 0)
        run->design = "pgh"; /* what the paper's algorithm comes with */
    const rf64_design *design = rf64_design_find(run->design, run->model->f64);
    const char *close = cli_closest(run->design, names);
    if (!design && close && strcmp(close, run->design) == 0)
        return cli_error("track: --design: %s does not work with model %s, which has no %s", run->design, run->about.name,
                         strcmp(close, "model") == 0 ? "designer of its own" : "fringe");
    if (!design)
        return cli_error("track: --design: no design '%s'%s%s%s", run->design, close ? ", did you mean " : "; there are quadrature, pgh, pgh-distance, risk, model, given, auto",
                         close ? close : "", close ? "?" : "");
    if (!chooses)
        return cli_error("track: --design %s chooses experiments; that needs --ask or --simulate", design->name);
    run->design = design->name;
    return CLI_OK;
}

static int resolve(cli_track_config *c)
{
    cli_run *run = &c->run;
    unsigned which = 0;
    char error[300];
    run->model = find_model(c->model);
    if (!run->model)
        return CLI_BAD_INPUT;
    run->about = *run->model->f64->about;
    run->sampler = (rf_sampler)c->sampler;
    run->on_lost = run->strict ? RF_ON_LOST_IGNORE : (rf_on_lost)c->on_lost;
    for (unsigned i = 0; i < run->about.dim; i++) {
        const cli_prior prior = {0, run->about.parameter[i].low, run->about.parameter[i].high};
        run->prior[i] = prior;
        run->drift[i] = run->about.parameter[i].drift;
    }
    int code = apply_list("prior", c->prior, 0, apply_prior, run);
    code = code ? code : apply_list("drift", c->drift, 0, apply_drift, run);
    code = code ? code : apply_list("range", c->range, 1, apply_range, run);
    code = code ? code : apply_list("cost", c->cost, 1, apply_cost, run);
    code = code ? code : parse_kappa(run, c->kappa);
    code = code ? code : c->jump ? parse_jump(run, c->jump) : CLI_OK;
    code = code ? code : choose_design(c);
    if (code)
        return code;
    rf_status status = (c->is_float ? rf32_simulate_check : rf64_simulate_check)(run, &which);
    if (status < 0)
        return cli_error("track: --prior: parameter %s: %s", run->about.parameter[which].name, rf_status_text(status));
    if (run->strict && run->sampler != RF_REJECT)
        return cli_error("track: --strict is rejection by definition; leave out --sampler");
    if (c->plot && cli_plot_check(c->plot, error, sizeof error) < 0)
        return cli_error("track: --plot: %s", error);
    return CLI_OK;
}

/* Options that would be without effect are refused, not ignored. */
static int check_combination(const cli_track_config *c)
{
    if (c->simulate && (c->ask || c->data || c->skip_bad))
        return cli_error("track: --simulate makes its own records; leave out --%s", c->ask ? "ask" : c->data ? "data" : "skip-bad");
    if (!c->simulate && (c->trials || c->jump))
        return cli_error("track: --%s needs --simulate", c->trials ? "trials" : "jump");
    if (c->trials && (c->plot || c->state))
        return cli_error("track: --%s is about one run; leave out --trials", c->plot ? "plot" : "state");
    if (c->simulate && c->state)
        return cli_error("track: --state keeps measurements that cannot be had again; simulated ones can, leave out --simulate");
    if (c->ask && c->format != CLI_FORMAT_AUTO && c->format != CLI_FORMAT_JSON)
        return cli_error("track: --ask speaks JSON; leave out --format");
    if (c->trials && c->format == CLI_FORMAT_CSV)
        return cli_error("track: a summary is text or JSON, not CSV");
    return CLI_OK;
}

/* ---- Back to a file ---- */

/* Everything that decides what is computed; with `all`, also how it is run and shown. */
static void print_config(const cli_track_config *c, int all, FILE *out)
{
    static const char *const aside[] = {"engine", "data", "state", "state-every", "state-durable", "format", "plot", "pace", "skip-bad", "ask", NULL};
    const rf_description *about = &c->run.about;
    char text[4096];
    fprintf(out, "[run]\n");
    for (const cli_option *o = options; o->name; o++) {
        int is_aside = 0;
        for (int i = 0; aside[i]; i++)
            is_aside |= strcmp(o->name, aside[i]) == 0;
        cli_option_print(o, c, text, sizeof text);
        if (strcmp(o->name, "design") == 0)
            snprintf(text, sizeof text, "%s", c->run.design ? c->run.design : "given");
        const int is_default = strcmp(o->name, "anchors") == 0 && c->run.anchor_every < 0;
        const int without = (strcmp(o->name, "trials") == 0 && c->trials == 0) || strcmp(o->name, "print-config") == 0;
        if (*text && (all || !is_aside) && !is_default && !without)
            fprintf(out, "%s = %s\n", o->name, text);
    }
    char first[CLI_REAL_TEXT], second[CLI_REAL_TEXT];
    for (unsigned i = 0; i < about->dim; i++) {
        const cli_prior *prior = &c->run.prior[i];
        fprintf(out, "\n[parameter %s]\nprior = %s%s%s\n", about->parameter[i].name, cli_real_text(prior->first, first),
                prior->is_gaussian ? "+-" : ":", cli_real_text(prior->second, second));
        fprintf(out, "drift = %s\n", cli_real_text(c->run.drift[i], first));
    }
    for (unsigned i = 0; i < about->settings; i++) {
        const rf_setting *s = &about->setting[i];
        fprintf(out, "\n[setting %s]\n", s->name);
        if (s->role != RF_SETTING_GUESS)
            fprintf(out, "range = %s:%s\n", cli_real_text(s->low, first), cli_real_text(s->high, second));
        fprintf(out, "cost = %s\n", cli_real_text(s->cost, first));
    }
}

uint64_t cli_track_fingerprint(const cli_track_config *c)
{
    char *text = NULL;
    size_t size = 0;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return 0;
    print_config(c, 0, out);
    fclose(out);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    free(text);
    return hash;
}

int cli_track_configure(cli_track_config *c, int argc, char **argv)
{
    const cli_track_config defaults = {.run = {.seed = 1, .steps = 300, .attempts = 100, .recovery = 0.1, .batch = 1, .anchor_every = -1, .design = "auto"},
                                       .pace = 15,
                                       .engine = "simd",
                                       .model = "precession",
                                       .kappa = "1",
                                       .state_every = 1};
    *c = defaults;
    for (int i = 1; i < argc; i++) {
        const char *path = strncmp(argv[i], "--config=", 9) == 0 ? argv[i] + 9 : strcmp(argv[i], "--config") == 0 && i + 1 < argc ? argv[i + 1] : NULL;
        if (path && cli_config_read(&usage, c, path) < 0)
            return -1;
    }
    int go = cli_parse(&usage, c, argc, argv);
    if (go <= 0)
        return go;
    if (resolve(c) != CLI_OK || check_combination(c) != CLI_OK)
        return -1;
    if (c->print_config)
        print_config(c, 1, stdout);
    return !c->print_config;
}
