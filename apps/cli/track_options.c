/* The options of `rejfilt track`: from files and arguments to a run, and back to a configuration file. */
#define _POSIX_C_SOURCE 200809L
#include "track_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "known.h"
#include "modelspec.h"
#include "picture.h"
#include "plot.h"
#include "worldspec.h"

const char *cli_health_word(const rf_step *step) { return cli_is_coarse(step) ? "coarse" : rf_health_name(step->health); }

static const char *const format_names[] = {"auto", "text", "json", "csv", NULL};

enum { STEPS = 300 };

#define AT(field) offsetof(cli_track_config, field)

static int set_json(void *c, const char *value, char *error, size_t size)
{
    (void)value, (void)error, (void)size;
    ((cli_track_config *)c)->format = CLI_FORMAT_JSON;
    return 0;
}

/* An option of the library, which has its help. */
#define CONFIG(name) {name, NULL, NULL, NULL, CLI_CONFIG, AT(wishes), 0, 0, NULL}

static cli_option options[] = {
    {"simulate", NULL, "simulate a truth that walks, and measurements of it", NULL, CLI_FLAG, AT(simulate), 0, 0, NULL},
    {"ask", NULL, "print the next experiment's settings, then wait for its\noutcome on standard input", NULL, CLI_FLAG, AT(ask), 0, 0, NULL},
    {"data", "FILE", "read records from FILE instead of standard input; FILE\nalone, without --data, means the same", NULL, CLI_INPUT, AT(data), 0, 0, NULL},
    {"column", "NAME=COLUMN", "read a setting, outcome, time, batch or truth.PARAMETER\nfrom the column of this name: --column t='Wait [us]'", NULL, CLI_LIST, AT(column), 0, 0, NULL},
    {"", "FILE", "", NULL, CLI_INPUT, AT(data), 0, 0, NULL}, /* same value as --data */
    {"config", "FILE", "take options from an INI file; those on the command line win", NULL, CLI_INPUTS, AT(config), 0, 0, NULL},
    {"print-config", NULL, "print all options as such a file, and exit; the file gives\nthe same run", NULL, CLI_FLAG, AT(print_config), 0, 0, NULL},
    {"model", "NAME|FILE.c", "what is measured: a built-in model (default precession;\nsee 'rejfilt models') or your own, compiled from C", NULL, CLI_INPUT, AT(model), 0, 0, NULL},
    CONFIG("prior"),
    CONFIG("chart"),
    CONFIG("drift"),
    CONFIG("range"),
    CONFIG("cost"),
    CONFIG("unit"),
    CONFIG("belief"),
    CONFIG("design"),
    CONFIG("anchors"),
    CONFIG("on-lost"),
    {"batch", "N", "learn from N measurements at once (default 1)", NULL, CLI_U32, AT(run.batch), 1, RF_BATCH_MAX, NULL},
    CONFIG("attempts"),
    CONFIG("accepted"),
    CONFIG("kappa"),
    CONFIG("recovery"),
    CONFIG("shrink"),
    CONFIG("strict"),
    CONFIG("sampler"),
    {"engine", "NAME", cli_engine_help, NULL, CLI_TEXT, AT(engine), 0, 0, NULL},
    CONFIG("precision"),
    CONFIG("seed"),
    {"steps", "N", "measurements of a simulated run (default 300)", NULL, CLI_LONG, AT(run.steps), 1, 1e9, NULL},
    {"trials", "N", "simulate N runs with different truths and print a summary", NULL, CLI_U64, AT(trials), 1, 1e9, NULL},
    {"truth", "[NAME=]X", "the simulated truth begins at X, or at a draw from A:B or\nM+-S (default: a draw from the prior)", NULL, CLI_LIST, AT(truth), 0, 0, NULL},
    {"true-drift", "[NAME=]SD", "the simulated truth walks by this (default: --drift)", NULL, CLI_LIST, AT(true_drift), 0, 0, NULL},
    {"jump", "[NAME=]SIZE@STEP", "let the simulated truth jump before that measurement. SIZE\nA:B: drawn, with random sign. STEP ~N: one of N, on average", NULL, CLI_LIST, AT(jump), 0, 0, NULL},
    {"outage", "WHAT@STEP+N", "let the simulated detector fail for N measurements. WHAT is\nan outcome at which it is stuck, OUTCOME~SHARE (this share\ndiffers), coin, missing or swapped", NULL, CLI_LIST, AT(outage), 0, 0, NULL},
    {"flips", "P", "share of the simulated outcomes that are misread", NULL, CLI_REAL, AT(run.world.flips), 0, 1, NULL},
    {"contrast", "C", "a share 1-C of the simulated outcomes is random (default 1)", NULL, CLI_REAL, AT(contrast), 0, 1, NULL},
    {"true-t2", "T", "simulated decoherence that the model does not know of:\ncontrast exp(-t/T)", NULL, CLI_REAL, AT(true_t2), 1e-15, 1e15, NULL},
    {"summary", NULL, "end with a few lines on standard error: the result, the name\nof the picture, what to try next; for a file without drift,\nalso the result of --passes", NULL, CLI_FLAG, AT(summary), 0, 0, NULL},
    {"passes", "[yes|no]", "the exact posterior of a file without drift, by several\npasses over all records, instead of a line per update;\n--summary adds it by default", NULL, CLI_NAME, AT(passes), 0, 0, cli_passes_names},
    {"state", "FILE", "keep a checkpoint in FILE; if it is there, resume from it", NULL, CLI_STATE, AT(state), 0, 0, NULL},
    {"continue", "HOW", "the input of a resumed run: it has grown (it begins with the\nknown records) or is new (auto, the default: found out by\ncomparison; one that matches in part is refused)", NULL, CLI_NAME, AT(go_on), 0, 0, cli_continue_names},
    {"state-every", "N", "write the checkpoint after every N updates (default 1)", NULL, CLI_U64, AT(state_every), 1, 1e9, NULL},
    {"state-durable", NULL, "make every checkpoint survive a power cut; slower", NULL, CLI_FLAG, AT(state_durable), 0, 0, NULL},
    {"skip-bad", NULL, "skip bad records and count them", NULL, CLI_FLAG, AT(skip_bad), 0, 0, NULL},
    {"format", "NAME", "format of the output lines: text, json or csv", NULL, CLI_NAME, AT(format), 0, 0, format_names},
    {"json", NULL, "the same as --format json; with --trials one summary object", set_json, CLI_CUSTOM, 0, 0, 0, NULL},
    {"plot", "FILE", "draw a picture of the run, .svg, .png or .html; with\n--state it shows the whole run, also after a resume", NULL, CLI_REPLACED, AT(plot), 0, 0, NULL},
    {"title", "TEXT", "title of the picture and of the live view", NULL, CLI_TEXT, AT(title), 0, 0, NULL},
    {"panels", "NAME,...", "panels of the picture: parameters, settings, health,\nacceptance, loss (default: those with something to show)", NULL, CLI_TEXT, AT(panels), 0, 0, NULL},
    {"theme", "NAME", "colours of the picture: light (default) or dark; .html\nfollows the viewer's choice", NULL, CLI_NAME, AT(theme), 0, 0, cli_theme_names},
    {"pace", "MS", "milliseconds per step of the live view (default 15)", NULL, CLI_REAL, AT(pace), 0, 10000, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "track",
    "[OPTION...] [FILE | < RECORDS]",
    "Follows parameters that drift. It reads one record per measurement, as JSON lines\n"
    "or as CSV with a header, and writes one line per update with the estimates.\n"
    "A record has the settings by name and the outcome: {\"t\": 3, \"x_\": 0.1, \"outcome\": 1}.\n"
    "Without outcome (null, or empty) only time passes. Optional: time, batch (records\n"
    "of equal batch are learnt from together), truth.NAME.\n\n"
    "With --ask it also chooses the experiments. It prints the settings of the next\n"
    "one as a line of JSON (or of CSV) and waits for a line with the outcome.\n\n"
    "With --simulate the measurements are simulated. In a terminal the run is shown\n"
    "live. With --trials it is repeated, and a summary is printed:\n"
    "- the squared error, pooled over steps from 100 on, in units of q, the variance\n"
    "  of one step of the walk;\n"
    "- for each parameter the error in natural units (at the end, if it is static),\n"
    "  and how often the 95 % interval covers the truth;\n"
    "- the share of trials lost (error over 5 standard deviations in more than 20 steps).",
    options,
    "  rejfilt track --simulate                          watch it\n"
    "  rejfilt track --simulate --plot run.svg           leave a picture\n"
    "  rejfilt track --simulate --trials 2000 --strict   the paper's algorithm\n"
    "  rejfilt track --drift 0.02 < data.csv             from a file\n"
    "  rejfilt track data.csv --drift 0 --passes         exactly, where nothing drifts\n"
    "  rejfilt track --ask --state qubit.state           drive an experiment\n"
    "  rejfilt track --config run.ini --print-config     what would be run",
    NULL,
    AT(told),
};

/* ---- From option texts to a run ---- */

/* Sets run->config.design to the designer's name, or to null if the settings are given by the data. */
static int choose_design(cli_track_config *c)
{
    static const char *const design_names[] = {
#define RF_DESIGN(identifier, name, ...) name,
#include "../../src/design/list.def"
#undef RF_DESIGN
        "model", "given", "auto", NULL};
    char error[300];
    rf_config *config = &c->run.config;
    const int chooses = c->simulate || c->ask;
    if (!config->design && chooses)
        return cli_error("track: --design given takes the settings from data; --%s has none", c->ask ? "ask" : "simulate");
    if (!config->design || (strcmp(config->design, "auto") == 0 && !chooses)) {
        config->design = NULL;
        return CLI_OK;
    }
    const rf64_design *design = rf64_design_find(config->design, &config->description, config->model->f64->design);
    if (!design && rf_which(config->design, design_names, error, sizeof error) < 0)
        return cli_error("track: --design: %s", error);
    if (!design)
        return cli_error("track: --design: %s does not work with model %s, which has no %s", config->design, config->description.name,
                         strcmp(config->design, "model") == 0 ? "designer of its own" : "fringe");
    if (!chooses && c->run.config.strict && !cli_is_told(&usage, c, "design"))
        design = NULL;
    if (!chooses && design)
        return cli_error("track: --design %s chooses experiments; that needs --ask or --simulate", design->name);
    config->design = design ? design->name : NULL;
    return CLI_OK;
}

/* Applies each text of a list to the run. */
static int apply(const char *option, const char *const *list, int (*to)(rf_simulation *, const char *, char *, size_t), rf_simulation *run)
{
    char error[300];
    for (; *list; list++)
        if (to(run, *list, error, sizeof error) < 0)
            return cli_error("track: --%s: %s", option, error);
    return CLI_OK;
}

/* Sets the library's options, in its order. */
static int apply_wishes(cli_track_config *c)
{
    char error[300];
    const rf_option *o;
    for (unsigned i = 0; (o = rf_option_at(i)); i++)
        for (unsigned k = 0; k < c->wishes.count; k++)
            if (strcmp(c->wishes.wish[k].name, o->name) == 0 && rf_config_set(&c->run.config, o->name, c->wishes.wish[k].value, error, sizeof error) < 0)
                return cli_error("track: --%s: %s", o->name, error);
    return CLI_OK;
}

/* From the texts to the run, without a look at what is read. */
static int resolve(cli_track_config *c)
{
    rf_simulation *run = &c->run;
    const rf_model *model;
    char error[300] = "";
    if (cli_model_find("track", c->model, &model, error, sizeof error) < 0)
        return *error ? cli_error("track: --model: %s", error) : CLI_BAD_INPUT;
    run->config = rf_config_default(model);
    int code = apply_wishes(c);
    rf_config_complete(&run->config);
    code = code ? code : apply("column", c->column, cli_model_column, run);
    code = code ? code : apply("truth", c->truth, cli_world_truth, run);
    code = code ? code : apply("true-drift", c->true_drift, cli_world_drift, run);
    code = code ? code : apply("jump", c->jump, cli_world_jump, run);
    code = code ? code : apply("outage", c->outage, cli_world_outage, run);
    run->world.blind = 1 - c->contrast;
    run->world.decay = c->true_t2 > 0 ? 1 / c->true_t2 : 0;
    if (!code && c->true_t2 > 0 && !cli_world_has_time(run))
        return cli_error("track: --true-t2: model %s has no time among its settings", run->config.description.name);
    return code ? code : choose_design(c);
}

/* Tries what depends on several options. */
static int try_run(const cli_track_config *c)
{
    char error[300];
    const rf_simulation *run = &c->run;
    rf_session *probe = rf_session_open(&run->config, error, sizeof error);
    if (!probe)
        return cli_error("track: --%s%s", strncmp(error, "drift: ", strlen("drift: ")) == 0 ? "" : "belief: ", error);
    rf_session_close(probe);
    if (c->simulate && rf_simulation_check(run, error, sizeof error) < 0)
        return cli_error("track: --%s", error);
    if (c->plot && cli_plot_check(c->plot, error, sizeof error) < 0)
        return cli_error("track: --plot: %s", error);
    if (c->panels && cli_panels_check(c->panels, &run->config.description, error, sizeof error) < 0)
        return cli_error("track: --panels: %s", error);
    return CLI_OK;
}

/* ---- Options without effect ---- */

/* What a run is like. */
enum { SIMULATED = 1, RECORDS = 2, PLOT = 4, STATE = 8, ONE = 16, STEPWISE = 32, VIEW = 64, SUMMED = 128, UNITS = 256, MAY_PASS = 512, GIVEN = 1024 };

static const cli_rule rules[] = {
    {"ask", RECORDS, "--simulate makes its own records; leave out --%s"},
    {"data", RECORDS, "--simulate makes its own records; leave out --%s"},
    {"", RECORDS, "--simulate makes its own records; leave out FILE%s"},
    {"column", RECORDS, "--simulate makes its own records; leave out --%s"},
    {"skip-bad", RECORDS, "--simulate makes its own records; leave out --%s"},
    {"trials", SIMULATED, "--%s needs --simulate"},
    {"steps", SIMULATED, "--%s needs --simulate"},
    {"jump", SIMULATED, "--%s needs --simulate"},
    {"outage", SIMULATED, "--%s needs --simulate"},
    {"truth", SIMULATED, "--%s needs --simulate"},
    {"true-drift", SIMULATED, "--%s needs --simulate"},
    {"flips", SIMULATED, "--%s needs --simulate"},
    {"contrast", SIMULATED, "--%s needs --simulate"},
    {"true-t2", SIMULATED, "--%s needs --simulate"},
    {"panels", PLOT, "--%s is about a picture; it needs --plot"},
    {"theme", PLOT, "--%s is about a picture; it needs --plot"},
    {"title", PLOT | VIEW, "--%s is about a picture or the live view; it needs --plot or a terminal"},
    {"pace", VIEW, "--%s is about the live view of --simulate; it needs a terminal"},
    {"state-durable", STATE, "--%s is about a checkpoint; it needs --state"},
    {"state-every", STATE, "--%s is about a checkpoint; it needs --state"},
    {"continue", STATE, "--%s is about a checkpoint; it needs --state"},
    {"continue", GIVEN, "--%s is about records; leave out --ask"},
    {"plot", ONE, "--%s is about one run; leave out --trials"},
    {"state", ONE, "--%s is about one run; leave out --trials"},
    {"summary", ONE, "--%s is about one run; leave out --trials"},
    {"state", RECORDS, "--%s cannot be combined with --simulate"},
    {"state", STEPWISE, "--passes cannot resume a run; leave out --%s"},
    {"plot", STEPWISE, "--passes has one result, as text or JSON; leave out --%s"},
    {"batch", STEPWISE, "--%s has no effect on passes; leave it out"},
    {"passes", MAY_PASS, "--%s is about a file of records; leave it out, or say --passes or --summary"},
    {"unit", UNITS, "--%s is shown in pictures, text, JSON and by --summary, not in CSV or one result"},
    {NULL, 0, NULL},
};

static unsigned kind_of_run(const cli_track_config *c)
{
    const int is_passes = c->passes == CLI_PASSES_YES && !c->summary, is_file = !c->simulate && !c->ask;
    const int is_auto = c->format == CLI_FORMAT_AUTO, is_view = is_auto && !c->ask && !c->trials && !is_passes && isatty(STDOUT_FILENO);
    const int is_text = c->format == CLI_FORMAT_TEXT || (is_auto && (c->simulate || is_passes));
    const int is_json = !c->trials && !is_passes && (c->format == CLI_FORMAT_JSON || is_auto);
    return (c->simulate ? SIMULATED : RECORDS) | (c->plot ? PLOT : 0) | (c->state ? STATE : 0) | (c->trials ? 0 : ONE) | (is_passes ? 0 : STEPWISE) |
           (is_view ? VIEW : 0) | (c->plot || is_view || is_text || is_json || c->summary ? UNITS : 0) |
           (is_file && (is_passes || c->summary) ? MAY_PASS : 0) | (is_file ? GIVEN : 0);
}

/* --passes needs all records at once and parameters that do not move. */
static int check_passes(const cli_track_config *c)
{
    char error[200];
    if (c->passes != CLI_PASSES_YES)
        return CLI_OK;
    if (c->simulate || c->ask)
        return cli_error("track: --passes needs all records at once; leave out --%s", c->simulate ? "simulate" : "ask");
    if (c->state)
        return cli_error("track: --passes cannot resume a run; leave out --state");
    if (c->run.config.strict)
        return cli_error("track: --strict learns record by record; leave out --passes");
    if (!c->summary && c->format == CLI_FORMAT_CSV)
        return cli_error("track: --passes has one result, as text or JSON; leave out --format csv");
    if (rf_passes_check(&c->run.config, error, sizeof error) < 0)
        return cli_error("track: --passes: %s", error);
    return CLI_OK;
}

/* Refuses options that would have no effect. */
static int check_combination(const cli_track_config *c)
{
    const unsigned run = kind_of_run(c);
    char error[300];
    if (check_passes(c) != CLI_OK || cli_check_told(&usage, c, rules, run) != CLI_OK)
        return CLI_BAD_INPUT;
    if (rf_config_check(&c->run.config, run & STEPWISE ? RF_FOR_STEPS : RF_FOR_PASSES, error, sizeof error) < 0)
        return cli_error("track: --%s", error);
    if (c->trials && c->run.config.on_lost == RF_ON_LOST_STOP)
        return cli_error("track: --on-lost stop is about one run; leave out --trials");
    if (c->ask && c->format == CLI_FORMAT_TEXT)
        return cli_error("track: --ask speaks JSON or CSV; leave out --format text");
    if (c->trials && c->format == CLI_FORMAT_CSV)
        return cli_error("track: --format csv: a summary is text or JSON, not CSV");
    return CLI_OK;
}

/* ---- Back to a configuration file ---- */

/* Has the option an effect in this run, or was it given? */
static int is_worth_printing(const cli_track_config *c, const char *name, unsigned run)
{
    for (const cli_rule *r = rules; r->name; r++)
        if (strcmp(r->name, name) == 0 && !(r->needs & run))
            return 0;
    return strcmp(name, "pace") != 0 || cli_is_told(&usage, c, name);
}

/* Prints every option that affects the results, the way of running, or the output. */
static void print_config(const cli_track_config *c, FILE *out)
{
    static char text[CLI_OPTIONS_TEXT];
    const unsigned run = kind_of_run(c);
    fprintf(out, "[run]\n");
    for (const cli_option *o = options; o->name; o++) {
        if (!o->name[0] || o->kind == CLI_CONFIG || o->kind == CLI_CUSTOM || !is_worth_printing(c, o->name, run))
            continue;
        cli_option_print(o, c, text, sizeof text);
        for (const char *const *item = (const char *const *)(const void *)((const char *)c + o->offset); o->kind == CLI_LIST && *item; item++)
            fprintf(out, "%s = %s\n", o->name, *item);
        const int without = (strcmp(o->name, "trials") == 0 && c->trials == 0) || (strcmp(o->name, "true-t2") == 0 && c->true_t2 == 0) || strcmp(o->name, "print-config") == 0;
        if (*text && !without)
            fprintf(out, "%s = %s\n", o->name, text);
    }
    rf_config_text(&c->run.config, run & STEPWISE ? RF_FOR_STEPS : RF_FOR_PASSES, text, sizeof text);
    fputs(text, out);
}

const char *cli_why(rf_status status, const rf_engine *engine, char text[CLI_WHY])
{
    const char *complaint = rf_engine_complaint(engine);
    snprintf(text, CLI_WHY, "%s%s%s", rf_status_text(status), *complaint ? ": " : "", complaint);
    return text;
}

static const cli_track_config defaults = {.run = {.steps = STEPS, .batch = 1},
                                          .pace = 15,
                                          .contrast = 1,
                                          .engine = "simd",
                                          .model = "precession",
                                          .passes = CLI_PASSES_AUTO,
                                          .state_every = 1};

static void begin(cli_track_config *c)
{
    *c = defaults;
    for (cli_option *o = options; o->name; o++)
        if (o->kind == CLI_CONFIG) {
            o->argument = rf_option_find(o->name)->argument;
            o->help = rf_option_find(o->name)->help;
        }
}

int cli_track_again(cli_track_config *c, const char *options, const char *name, const char *model)
{
    begin(c);
    if (cli_config_text(&usage, c, options, name) < 0)
        return -1;
    if (!model && !rf_model_find(c->model)) {
        cli_error("state: %s is a run of your own model '%s'; name its source with --model FILE.c", name, c->model);
        return -1;
    }
    if (model && rf_model_find(c->model) && strcmp(model, c->model) != 0) {
        cli_error("state: %s is a run of the built-in model %s; leave out --model", name, c->model);
        return -1;
    }
    c->model = model ? model : c->model;
    for (unsigned i = 0; i < c->wishes.count; i++)
        c->ask |= strcmp(c->wishes.wish[i].name, "design") == 0 && strcmp(c->wishes.wish[i].value, "given") != 0;
    return resolve(c) == CLI_OK && try_run(c) == CLI_OK ? 0 : -1;
}

int cli_track_configure(cli_track_config *c, int argc, char **argv)
{
    begin(c);
    for (int i = 1; i < argc; i++) {
        const char *path = strncmp(argv[i], "--config=", 9) == 0 ? argv[i] + 9 : strcmp(argv[i], "--config") == 0 && i + 1 < argc ? argv[i + 1] : NULL;
        if (path && cli_config_read(&usage, c, path) < 0)
            return -1;
    }
    int go = cli_parse(&usage, c, argc, argv);
    if (go <= 0)
        return go;
    if (resolve(c) != CLI_OK || check_combination(c) != CLI_OK || try_run(c) != CLI_OK)
        return -1;
    if (c->data && strcmp(c->data, "-") == 0)
        c->data = NULL; /* records come from standard input */
    if (c->print_config)
        print_config(c, stdout);
    return !c->print_config;
}
