/* rejfilt state: exports what a run has learnt from a checkpoint, and imports it into a new one. */
#define _POSIX_C_SOURCE 200809L
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "file.h"
#include "json.h"
#include "statefile.h"
#include "track_options.h"

typedef struct config {
    const char *file, *model;
} config;

#define AT(field) offsetof(config, field)

static const cli_option options[] = {
    {"", "FILE", "", NULL, CLI_INPUT, AT(file), 0, 0, NULL},
    {"model", "FILE.c", "for show and export: the source of the run's model, if it is\nyour own", NULL, CLI_INPUT,
     AT(model), 0, 0, NULL},
    {"state", "FILE",
     "for import: the checkpoint to write, a new file; import also takes\nall options of the new run, as 'rejfilt track' does",
     NULL, CLI_INPUT, AT(file), 0, 0, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "state",
    "show FILE | export FILE | import POSTERIOR.json --state FILE [OPTION...]",
    "Works on the checkpoints of 'rejfilt track --state FILE'. show prints the posterior\n"
    "and the options of the run. export prints them as JSON, with the Gaussians of the\n"
    "belief. import makes a checkpoint for a new run from such JSON, so that the\n"
    "posterior of one run is the prior of the next. It reads 'gaussians' alone. You may\n"
    "write them by hand, for a prior with correlations.",
    options,
    "  rejfilt state show run.state\n"
    "  rejfilt state export run.state > posterior.json\n"
    "  rejfilt state import posterior.json --state next.state --seed 2\n"
    "  rejfilt track --state next.state --seed 2 more.csv",
    NULL,
    0,
};

/* ---- Export ---- */

/* A checkpoint and its resumed run. */
typedef struct opened {
    cli_track_config track;
    cli_checkpoint checkpoint;
    rf_session *session;
    rf_step step;
    rf_gaussian parts[RF_GAUSSIANS_TOGETHER];
} opened;

static int open_checkpoint(opened *o, const config *c)
{
    char error[1024];
    unsigned char *bytes;
    size_t size;
    const int loaded = cli_state_load(&bytes, &size, c->file, error, sizeof error);
    if (loaded <= 0)
        return loaded < 0 ? cli_error("state: %s", error) : cli_error("state: there is no file %s", c->file);
    int code = CLI_BAD_INPUT;
    const size_t at = cli_checkpoint_read(&o->checkpoint, bytes, size);
    if (at == 0 || !*o->checkpoint.options)
        cli_error("state: %s is damaged (its contents)", c->file);
    else if (cli_track_again(&o->track, o->checkpoint.options, c->file, c->model) == 0) {
        o->session = rf_session_open(&o->track.run.config, error, sizeof error);
        if (!o->session)
            cli_error("state: %s", error);
        else if (rf_session_load(o->session, bytes + at, size - at) < 0)
            cli_error("state: %s is damaged (its contents)", c->file);
        else
            code = CLI_OK;
    }
    free(bytes);
    if (code == CLI_OK)
        rf_session_show(o->session, &o->step);
    return code;
}

static void show(const opened *o)
{
    const rf_description *d = &o->track.run.config.description;
    const rf_step *s = &o->step;
    printf("%s: %llu records, %llu updates; health: %s\n", d->name, (unsigned long long)o->checkpoint.chain.count,
           (unsigned long long)o->checkpoint.updates, cli_health_word(s));
    for (unsigned i = 0; i < s->dim; i++)
        printf("%s = %.6g +- %.3g%s%s, 95 %% from %.6g to %.6g\n", d->parameter[i].name, s->mean[i], s->sd[i], CLI_UNIT(d->unit[i]), s->low[i],
               s->high[i]);
    static char text[CLI_OPTIONS_TEXT];
    rf_config_text(&o->track.run.config, RF_FOR_STEPS, text, sizeof text);
    printf("\n[run]\nmodel = %s\nbatch = %u\n%s", d->name, o->track.run.batch, text);
}

/* Joins the texts to the name of a number. */
enum { NAME = 256 };
static const char *named(char text[NAME], const char *a, const char *b, const char *c, const char *d)
{
    snprintf(text, NAME, "%s%s%s%s", a, b, c, d);
    return text;
}

static void export(opened *o)
{
    const rf_description *d = &o->track.run.config.description;
    const rf_step *s = &o->step;
    const uint32_t count = rf_belief_gaussians(s->belief, o->parts);
    cli_json json;
    char name[NAME];
    cli_json_open(&json, stdout);
    cli_json_text(&json, "model", d->name);
    cli_json_whole(&json, "records", o->checkpoint.chain.count);
    cli_json_real(&json, "time", s->time);
    cli_json_text(&json, "health", cli_health_word(s));
    cli_json_real(&json, "log_evidence", s->log_evidence);
    cli_json_list(&json, "parameters");
    for (unsigned i = 0; i < s->dim; i++) {
        char chart[128];
        rf_chart_text(&d->parameter[i], chart, sizeof chart);
        cli_json_item(&json);
        cli_json_text(&json, "name", d->parameter[i].name);
        if (d->unit[i])
            cli_json_text(&json, "unit", d->unit[i]);
        cli_json_text(&json, "chart", chart);
        cli_json_real(&json, "mean", s->mean[i]);
        cli_json_real(&json, "sd", s->sd[i]);
        cli_json_real(&json, "median", rf_session_quantile(o->session, i, 0.5));
        cli_json_real(&json, "low", s->low[i]);
        cli_json_real(&json, "high", s->high[i]);
    }
    cli_json_list_end(&json);
    cli_json_list(&json, "gaussians");
    for (uint32_t k = 0; k < count; k++) {
        cli_json_item(&json);
        cli_json_real(&json, "weight", o->parts[k].weight);
        for (unsigned i = 0; i < s->dim; i++)
            cli_json_real_of(&json, named(name, d->parameter[i].name, ".chart_mean", "", ""), o->parts[k].mean[i]);
        for (unsigned i = 0; i < s->dim; i++)
            for (unsigned j = 0; j <= i; j++)
                cli_json_real_of(&json, named(name, "chart_covariance.", d->parameter[i].name, ".", d->parameter[j].name),
                                 o->parts[k].covariance[RF_TRIANGLE(i) + j]);
    }
    cli_json_list_end(&json);
    cli_json_text(&json, "options", o->checkpoint.options);
    cli_json_close(&json);
}

static int show_or_export(const config *c, int is_export)
{
    opened *o = calloc(1, sizeof *o);
    if (!o)
        return cli_error("state: not enough memory");
    const int code = open_checkpoint(o, c);
    if (code == CLI_OK && is_export)
        export(o);
    else if (code == CLI_OK)
        show(o);
    rf_session_close(o->session);
    cli_chain_free(&o->checkpoint.chain);
    free(o);
    return code;
}

/* ---- Import ---- */

/* Moves a number out of one Gaussian. Returns 0, or -1 after a message. */
static int take_number(const char *path, size_t which, json_t *from, const char *name, double otherwise, double *to)
{
    const json_t *value = json_object_get(from, name);
    *to = value ? json_number_value(value) : otherwise;
    const int is_good = value ? json_is_number(value) : otherwise == otherwise;
    if (!is_good)
        cli_error("state: %s: gaussians[%zu]: '%s' is %s", path, which, name, value ? "no number" : "missing");
    json_object_del(from, name);
    return is_good ? 0 : -1;
}

/* Empties `from`. Returns 0, or -1 after a message. */
static int take_gaussian(const char *path, size_t which, json_t *from, const rf_description *d, rf_gaussian *to)
{
    double whole[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX], factor[RF_TRIANGLE(RF_DESCRIBED_MAX)];
    char name[NAME], other[NAME];
    if (take_number(path, which, from, "weight", 1, &to->weight) < 0)
        return -1;
    for (unsigned i = 0; i < d->dim; i++) {
        const char *own = d->parameter[i].name;
        if (take_number(path, which, from, named(name, own, ".chart_mean", "", ""), rf64_nan(), &to->mean[i]) < 0)
            return -1;
        for (unsigned j = 0; j <= i; j++) { /* either order of names; a missing covariance of two parameters is 0 */
            named(name, "chart_covariance.", own, ".", d->parameter[j].name);
            named(other, "chart_covariance.", d->parameter[j].name, ".", own);
            if (take_number(path, which, from,
                            json_object_get(from, name)    ? name
                            : json_object_get(from, other) ? other
                                                           : name,
                            i == j ? rf64_nan() : 0, &to->covariance[RF_TRIANGLE(i) + j]) < 0)
                return -1;
            whole[i * d->dim + j] = whole[j * d->dim + i] = to->covariance[RF_TRIANGLE(i) + j];
        }
    }
    if (json_object_size(from) > 0) {
        cli_error("state: %s: gaussians[%zu]: '%s' is unknown or there twice", path, which,
                  json_object_iter_key(json_object_iter(from)));
        return -1;
    }
    if (rf64_covariance_factor(whole, d->dim, factor) < 0) {
        cli_error("state: %s: gaussians[%zu]: the covariance is not positive definite", path, which);
        return -1;
    }
    return 0;
}

/* Are the Gaussians about the charts of this run? An export says which charts they are about; by hand they may be left
   out. Returns 0, or -1 after a message. */
static int check_charts(const char *path, const json_t *root, const rf_description *d)
{
    const json_t *list = json_object_get(root, "parameters");
    for (size_t k = 0; k < json_array_size(list); k++)
        for (unsigned i = 0; i < d->dim; i++) {
            const json_t *item = json_array_get(list, k);
            const char *name = json_string_value(json_object_get(item, "name"));
            const char *theirs = json_string_value(json_object_get(item, "chart"));
            char ours[128];
            rf_chart_text(&d->parameter[i], ours, sizeof ours);
            if (name && theirs && strcmp(name, d->parameter[i].name) == 0 && strcmp(theirs, ours) != 0) {
                cli_error("state: %s: the chart of %s is %s, and this run's is %s; give --chart %s=%s", path, name,
                          theirs, ours, name, theirs);
                return -1;
            }
        }
    return 0;
}

/* Returns the number of Gaussians, or 0 after a message. */
static uint32_t take_gaussians(const char *path, const rf_description *d, rf_gaussian parts[])
{
    char error[600];
    json_error_t why;
    FILE *file = rf_file_read(path, error, sizeof error);
    json_t *root = file ? json_loadf(file, JSON_REJECT_DUPLICATES, &why) : NULL;
    const json_t *list = json_object_get(root, "gaussians"), *model = json_object_get(root, "model");
    const int is_other = model && (!json_is_string(model) || strcmp(json_string_value(model), d->name) != 0);
    size_t count = root && !is_other ? json_array_size(list) : 0;
    if (!file)
        cli_error("state: %s", error);
    else if (!root)
        cli_error("state: %s: line %d: malformed JSON: %s", path, why.line, why.text);
    else if (is_other)
        cli_error("state: %s is of model %s, and --model is %s", path,
                  json_is_string(model) ? json_string_value(model) : "(no name)", d->name);
    else if (count < 1 || count > RF_GAUSSIANS_TOGETHER)
        cli_error("state: %s: 'gaussians' must be a list of 1 to %d objects", path, RF_GAUSSIANS_TOGETHER);
    count = count > 0 && count <= RF_GAUSSIANS_TOGETHER && check_charts(path, root, d) == 0 ? count : 0;
    for (size_t k = 0; k < count; k++)
        if (take_gaussian(path, k, json_array_get(list, k), d, &parts[k]) < 0)
            count = 0;
    json_decref(root);
    if (file)
        fclose(file);
    return (uint32_t)count;
}

/* Can the estimate of a parameter be shown? */
static int is_shown(const rf_session *session, const rf_step *s, unsigned i)
{
    const double median = rf_session_quantile(session, i, 0.5);
    return isfinite(s->mean[i]) && isfinite(s->sd[i]) && s->low[i] > -RF64_LIMIT && s->low[i] <= median && median <= s->high[i] && s->high[i] < RF64_LIMIT;
}

/* Will a run load these bytes, and can its estimates be shown? Returns 0, or -1 after a message. */
static int check_new(const char *path, const cli_track_config *c, const unsigned char *bytes, size_t size)
{
    static cli_checkpoint again;
    const rf_description *d = &c->run.config.description;
    const unsigned char *contents;
    size_t count;
    char error[1024];
    rf_step step;
    unsigned i = 0;
    rf_session *session = rf_session_open(&c->run.config, error, sizeof error);
    cli_checkpoint_begin(&again, &c->run.config, c->run.batch, rf_model_source(c->run.config.model));
    const int is_loaded = session && cli_checkpoint_unseal(bytes, size, &contents, &count, error, sizeof error) == 0 &&
                          cli_checkpoint_take(&again, session, contents, count, error, sizeof error) == 0;
    if (is_loaded)
        rf_session_show(session, &step);
    while (is_loaded && i < d->dim && is_shown(session, &step, i))
        i++;
    if (!is_loaded)
        cli_error("state: %s: belief '%s' cannot begin with these Gaussians: they are too wide or too narrow", path, c->run.config.belief);
    else if (i < d->dim)
        cli_error("state: %s: %s is beyond %.2g in natural units, or its Gaussians are too far apart for their widths", path, d->parameter[i].name, RF64_LIMIT);
    rf_session_close(session);
    cli_chain_free(&again.chain);
    return is_loaded && i == d->dim ? 0 : -1;
}

/* Writes the checkpoint of a run that has seen no record and starts from the imported belief. */
static int write_new(const char *path, const cli_track_config *c, const rf_session *session)
{
    static cli_checkpoint checkpoint;
    static cli_state_file file = {.lock = {.file = -1}};
    char error[1000] = "";
    cli_checkpoint_begin(&checkpoint, &c->run.config, c->run.batch, rf_model_source(c->run.config.model));
    const size_t size = cli_checkpoint_write(&checkpoint, session, NULL);
    unsigned char *bytes = malloc(size), *there = NULL;
    size_t known;
    if (!bytes)
        return cli_error("state: not enough memory");
    cli_checkpoint_write(&checkpoint, session, bytes);
    int code = check_new(path, c, bytes, size) < 0 ? CLI_BAD_INPUT : cli_state_open(&file, c->state, error, sizeof error);
    if (code == CLI_OK && cli_state_load(&there, &known, c->state, error, sizeof error) != 0) {
        snprintf(error, sizeof error, "%s is there already; name another file", c->state);
        code = CLI_BAD_INPUT;
    } else if (code == CLI_OK && cli_state_save(bytes, size, &file, 1, error, sizeof error) < 0) {
        code = CLI_FAILED;
    }
    if (error[0])
        cli_error("state: --state: %s", error);
    cli_state_close(&file);
    free(there);
    free(bytes);
    return code;
}

/* argv[1] is the JSON file; the other arguments are options of `track`. */
static int import(int argc, char **argv)
{
    static cli_track_config c;
    static rf_gaussian parts[RF_GAUSSIANS_TOGETHER];
    char error[300], track[] = "track";
    if (argc < 2 || argv[1][0] == '-')
        return cli_error("state: import needs the JSON that 'rejfilt state export' prints, and --state FILE");
    char *path = argv[1];
    if (argc > 2 && argv[2][0] != '-')
        return cli_error("state: import takes one file: '%s' is the second (see 'rejfilt state --help')", argv[2]);
    argv[1] = track;
    cli_speak_for("track", "state: import");
    const int go = cli_track_configure(&c, argc - 1, argv + 1);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    if (!c.state)
        return cli_error("state: import needs --state FILE, the checkpoint to write");
    const uint32_t count = take_gaussians(path, &c.run.config.description, parts);
    rf_session *session = count ? rf_session_open(&c.run.config, error, sizeof error) : NULL;
    if (!session)
        return count ? cli_error("state: %s", error) : CLI_BAD_INPUT;
    const rf_status status = rf_session_begin(session, parts, count);
    const int code = status < 0 ? cli_error("state: %s: belief '%s' cannot begin with these Gaussians: %s", path,
                                            c.run.config.belief, status == RF_REFUSED_OPTIONS ? "it takes no correlations" : rf_status_text(status))
                                : write_new(path, &c, session);
    rf_session_close(session);
    return code;
}

int cli_state(int argc, char **argv)
{
    static const char *const actions[] = {"show", "export", "import", NULL};
    config c = {NULL, NULL};
    char error[200];
    const int is_help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    const int action = argc > 1 && !is_help ? rf_which(argv[1], actions, error, sizeof error) : -1;
    if (argc > 1 && !is_help && action < 0)
        return cli_error("state: %s (see 'rejfilt state --help')", error);
    if (action == 2 && !(argc > 2 && strcmp(argv[2], "--help") == 0))
        return import(argc - 1, argv + 1);
    const int go = cli_parse(&usage, &c, is_help || argc < 2 ? argc : argc - 1, is_help || argc < 2 ? argv : argv + 1);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    cli_speak_for("track", "state");
    if (!c.file)
        return cli_error("state: %s (see 'rejfilt state --help')",
                         argc > 1 ? "which file?" : "show, export or import?");
    return show_or_export(&c, action == 1);
}
