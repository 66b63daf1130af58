/* rejfilt classify fit, predict and ask: writes a model to a file, and uses it. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rejfilt/session.h"
#include "classify_data.h"
#include "engine.h"
#include "file.h"
#include "journal.h"
#include "json.h"
#include "lines.h"
#include "lock.h"
#include "machine.h"

/* ---- fit ---- */

typedef struct fit_config {
    classify_config shared; /* must be first: classify_set_split and others take this struct as a classify_config */
    const char *from, *out;
} fit_config;

#define AT(field) offsetof(fit_config, field)

static const cli_option fit_options[] = {
    {"", "FILE", "", NULL, CLI_INPUT, AT(from), 0, 0, NULL},
#include "classify_options.def"
    {"out", "FILE", "the model (needed; also: -o FILE)", NULL, CLI_REPLACED, AT(out), 0, 0, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage fit_usage = {
    "classify fit",
    "FILE --out MODEL [OPTION...]",
    "Learns from a table and keeps what it learnt in a file, with which 'classify\n"
    "predict' and 'classify ask' begin at once.",
    fit_options,
    "  rejfilt classify fit table.csv --out m.rfc\n"
    "  rejfilt classify fit table.csv --out m.rfc --cost prices.csv --class-cost \"ill=30\"",
    NULL,
    AT(shared.told),
};

static int save(const fit_config *c, classify_data *d, rfc_model *model)
{
    if (rfc_model_describe(model, &d->task, &d->train, d->coding) < 0)
        return cli_error("classify fit: out of memory");
    d->coding = NULL;
    const size_t count = rfc_model_save(model, NULL, 0);
    void *bytes = count ? malloc(count) : NULL;
    char error[RF_PATH_MAX + 64] = "out of memory";
    const int is_saved = bytes && rfc_model_save(model, bytes, count) == count, code = is_saved ? CLI_FAILED : CLI_BAD_INPUT;
    const int status = is_saved ? rf_output_replace(c->out, bytes, count, RF_OUTPUT_DURABLE, error, sizeof error) : -1;
    if (status < 0)
        cli_error("classify fit: %s", error);
    free(bytes);
    return status < 0 ? code : CLI_OK;
}

static void report_fit(const fit_config *c, const classify_data *d, const classify_trial *t, double seconds)
{
    char limit[40];
    if (!c->shared.json) {
        printf("%s: %u training vectors, %u features, %u classes, in %.2f s\n", c->out, rfc_training_count(t->training),
               d->train.features, d->task.classes.count, seconds);
        if (c->shared.pilot)
            printf("stop %.4g%s: leave-one-out expects %.3f %% errors with %.2f queries%s\n", t->expected.stop,
                   classify_limit(t, limit, sizeof limit), 100 * t->expected.error, t->expected.questions,
                   t->is_reached ? "" : "; that is as near as it comes to what was asked for");
        return;
    }
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_text(&json, "model", c->out);
    cli_json_whole(&json, "train", rfc_training_count(t->training));
    cli_json_whole(&json, "features", d->train.features);
    cli_json_whole(&json, "classes", d->task.classes.count);
    cli_json_real(&json, "stop", t->expected.stop);
    cli_json_whole(&json, "budget", t->expected.budget);
    cli_json_real(&json, "pilot_error", c->shared.pilot ? t->expected.error : NAN);
    cli_json_real(&json, "pilot_queries", c->shared.pilot ? t->expected.questions : NAN);
    cli_json_bool(&json, "reached", t->is_reached);
    cli_json_real(&json, "seconds", seconds);
    cli_json_close(&json);
}

int cli_classify_fit(int argc, char **argv)
{
    fit_config c = {.shared = classify_config_default("classify fit")};
    classify_data data;
    classify_trial trial;
    struct stat about;
    static char out[] = "--out";
    for (int i = 1; i < argc; i++)
        argv[i] = strcmp(argv[i], "-o") == 0 ? out : argv[i];
    int go = cli_parse(&fit_usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    if (!c.out)
        return cli_error("classify fit: name a file for the model with --out");
    if (c.shared.source.test || c.shared.split[0] || c.shared.method == RFC_PAPER)
        return cli_error("classify fit: --test, --split and --method paper are for 'rejfilt classify'");
    c.shared.is_fit = 1;
    if (classify_check_told(&fit_usage, &c.shared, 0) != CLI_OK)
        return CLI_BAD_INPUT;
    if (c.from && !c.shared.source.data && !c.shared.source.train) {
        const int is_data = strcmp(c.from, "synthetic") == 0 || (stat(c.from, &about) == 0 && S_ISDIR(about.st_mode));
        *(is_data ? &c.shared.source.data : &c.shared.source.train) = c.from;
    }
    const double start = rf_clock_seconds();
    int code = classify_load(&c.shared, &data);
    if (code != CLI_OK)
        return code;
    code = classify_trial_open(&c.shared, &data, 0, &trial);
    if (code == CLI_OK) {
        code = classify_trial_fit(&c.shared, &trial, NULL);
        if (code == CLI_OK)
            code = save(&c, &data, trial.model);
        if (code == CLI_OK)
            report_fit(&c, &data, &trial, rf_clock_seconds() - start);
        if (code == CLI_OK)
            classify_warn(&data);
        classify_trial_close(&trial);
    }
    classify_free(&data);
    return code;
}

#undef AT

/* ---- Shared by predict and ask ---- */

typedef struct use_config {
    classify_config shared;              /* must be first, as above */
    const char *files[CLI_LIST_MAX + 1]; /* the model, then others */
    const char *out, *label, *labels, *state;
} use_config;

#define AT(field) offsetof(use_config, field)

static const cli_option predict_options[] = {
    {"", "FILE", "", NULL, CLI_INPUTS, AT(files), 0, 0, NULL},
    {"label", "COLUMN", "the column that is the label, where there is one", NULL, CLI_TEXT, AT(label), 0, 0, NULL},
    {"labels", "FILE", "labels, where they are a file of their own", NULL, CLI_INPUT, AT(labels), 0, 0, NULL},
    {"out", "FILE", "where the rows go (default, or '-': standard output)", NULL, CLI_OUTPUT, AT(out), 0, 0, NULL},
#include "stop_options.def"
    {"threads", "N", "threads (default: one per CPU); no effect on the result", NULL, CLI_U64, AT(shared.threads), 1, 1024,
     NULL},
    {"json", NULL, "print one JSON object instead of rows", NULL, CLI_FLAG, AT(shared.json), 0, 0, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage predict_usage = {
    "classify predict",
    "MODEL FILE [OPTION...]",
    "Classifies the objects in a file with a model of 'classify fit': a CSV row per\n"
    "object with the decision, probabilities, and the features that it asked for.\n"
    "Columns are found by name; labels are not needed. '-' is standard input, CSV.",
    predict_options,
    "  rejfilt classify predict m.rfc new.csv\n"
    "  rejfilt classify predict m.rfc new.csv --error 2% --out answers.csv",
    NULL,
    0,
};

static const cli_option ask_options[] = {
    {"", "FILE", "", NULL, CLI_INPUTS, AT(files), 0, 0, NULL},
    {"state", "FILE", "keep what was answered in FILE; killed and started again, it\ncontinues there", NULL,
     CLI_STATE, AT(state), 0, 0, NULL},
#include "stop_options.def"
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage ask_usage = {
    "classify ask",
    "MODEL [OPTION...]",
    "Asks for the features of objects one by one, with a model of 'classify fit'.\n"
    "Lines of JSON go both ways, for any number of objects at a time:\n"
    "  in   {\"id\": \"a\"}                                      a new object\n"
    "       {\"id\": \"a\", \"feature\": \"x\", \"value\": 3.5}        an answer; null: unknown\n"
    "       {\"id\": \"a\", \"values\": {\"x\": 3.5, \"y\": null}}    several\n"
    "       {\"id\": \"a\", \"correct\": {\"x\": 3.6}}             other than told before\n"
    "       {\"id\": \"a\", \"stop\": true}                        decide now\n"
    "  out  {\"id\": \"a\", \"ask\": \"x\", \"cost\": 1, \"gain\": 0.7, ...}  or  {\"id\": \"a\", \"done\": ...}\n"
    "In a terminal it asks in plain words, for one object after the other.",
    ask_options,
    "  rejfilt classify ask m.rfc\n"
    "  rejfilt classify ask m.rfc --state open.jsonl --max-cost 50",
    NULL,
    0,
};

/* A model file mapped into memory. */
typedef struct mapped {
    int file;
    struct stat about; /* when it was mapped */
    void *bytes;
    size_t count;
    rfc_model *model;
} mapped;

static void unmap(mapped *m)
{
    rfc_model_close(m->model);
    if (m->bytes)
        munmap(m->bytes, m->count);
    if (m->file >= 0)
        close(m->file);
}

/* The message if mapped bytes changed, or are gone since their file became shorter. */
static char overwritten[RF_PATH_MAX + 100];

static void on_missing_bytes(int number)
{
    const struct iovec parts[] = {
        {(char[]){"rejfilt: "}, 9}, {overwritten, strlen(overwritten)}, {(char[]){"\n"}, 1}};
    (void)number;
    _exit(writev(STDERR_FILENO, parts, 3) < 0 ? CLI_BAD_INPUT : CLI_FAILED);
}

static void watch(const char *command, const char *path)
{
    struct sigaction action = {.sa_handler = on_missing_bytes};
    rf_fail(overwritten, sizeof overwritten, "%s: %s: was overwritten while it was in use: start again", command, path);
    sigaction(SIGBUS, &action, NULL);
}

/* Was the file overwritten since it was mapped? Then answers are of neither model. To replace it, by 'fit' or by moving
   another file to its place, does not matter. Returns CLI_OK, or CLI_FAILED after a message. */
static int check_unchanged(const mapped *m)
{
    struct stat now;
    if (fstat(m->file, &now) == 0 && now.st_size == m->about.st_size &&
        now.st_mtim.tv_sec == m->about.st_mtim.tv_sec && now.st_mtim.tv_nsec == m->about.st_mtim.tv_nsec)
        return CLI_OK;
    cli_error("%s", overwritten);
    return CLI_FAILED;
}

/* Opens the model and sets its stop for the goal, if one is given. Returns CLI_OK, or an exit code after a message. */
static int open_model(const char *command, const use_config *c, mapped *m)
{
    char error[300] = "";
    uint64_t length = 0;
    *m = (mapped){.file = -1};
    const int fd = rf_file_open(c->files[0], &length, error, sizeof error);
    if (fd < 0)
        return cli_error("%s: %s", command, error);
    m->file = fd;
    void *bytes = length > 0 && fstat(fd, &m->about) == 0
                      ? mmap(NULL, (size_t)length, PROT_READ, MAP_PRIVATE, fd, 0)
                      : MAP_FAILED;
    if (bytes == MAP_FAILED) {
        unmap(m);
        return cli_error("%s: %s: %s", command, c->files[0], length ? "cannot be mapped" : "is not a model");
    }
    m->bytes = bytes;
    m->count = (size_t)length;
    watch(command, c->files[0]);
    m->model = rfc_model_load(bytes, (size_t)length, error, sizeof error);
    if (!m->model) {
        unmap(m);
        return cli_error("%s: %s: %s", command, c->files[0], error);
    }
    const classify_config *g = &c->shared;
    const rfc_goal goal = g->error >= 0            ? RFC_GOAL_ERROR
                          : g->mean_questions >= 0 ? RFC_GOAL_QUESTIONS
                                                   : RFC_GOAL_STOP;
    const double value = g->error >= 0            ? g->error
                         : g->mean_questions >= 0 ? g->mean_questions
                         : g->stop >= 0           ? g->stop
                                                  : rfc_model_rules(m->model)->stop;
    rfc_expected expected;
    const int is_given = goal != RFC_GOAL_STOP || g->stop >= 0 || g->budget || !isinf(g->max_cost),
              reached = is_given ? rfc_model_limit(m->model, (uint32_t)g->budget, g->max_cost, goal, value, &expected) : 0;
    if (reached == 1)
        fprintf(
            stderr,
            "rejfilt: %s: warning: leave-one-out does not reach that; it expects %.3f %% errors with %.2f queries\n",
            command, 100 * expected.error, expected.questions);
    if (reached >= 0)
        return CLI_OK;
    unmap(m);
    return cli_error("%s: %s: was fitted with --pilot 0 and takes --stop only", command, c->files[0]);
}

/* ---- predict ---- */

/* Turns labels into classes of the model; other labels become RFC_NO_LABEL. */
static void find_classes(const rfc_model *model, rfc_table *t)
{
    uint32_t class[RFC_LABELS_MAX];
    for (uint32_t i = 0; i < t->labels.count; i++)
        class[i] = rfc_model_class(model, t->labels.text[i]);
    for (uint32_t i = 0; i < t->rows; i++)
        t->label[i] = t->label[i] == RFC_NO_LABEL ? RFC_NO_LABEL : class[t->label[i]];
}

static void report_predict(const use_config *c, const rfc_table *t, const rfc_outcome *o, double seconds)
{
    uint64_t known = 0;
    for (uint32_t i = 0; i < t->rows; i++)
        known += t->label[i] != RFC_NO_LABEL;
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_text(&json, "model", c->files[0]);
    cli_json_whole(&json, "objects", t->rows);
    cli_json_whole(&json, "labelled", known);
    cli_json_real(&json, "error", known ? (double)o->errors / (double)known : NAN);
    cli_json_whole(&json, "errors", o->errors);
    cli_json_real(&json, "stated_error", o->all_doubt / t->rows);
    cli_json_real(&json, "mean_queries", (double)o->all_queries / t->rows);
    cli_json_real(&json, "mean_cost", o->all_cost / t->rows);
    cli_json_real(&json, "seconds", seconds);
    cli_json_close(&json);
}

static int predict(const use_config *c, const mapped *m, rfc_table *t)
{
    const rfc_model *model = m->model;
    const rfc_names *classes = rfc_model_classes(model);
    const rfc_table named = {.features = rfc_model_features(model), .names = *rfc_model_names(model)};
    const rfc_objects objects = {t, NULL, t->rows};
    rfc_outcome o = {0};
    char error[300];
    const double start = rf_clock_seconds();
    if (classify_answers_make(t->rows, classes->count, &o) < 0) {
        classify_answers_free(&o, t->rows);
        return cli_error("classify predict: out of memory for the answers");
    }
    int code = rfc_model_classify(model, &objects, (unsigned)c->shared.threads, NULL, NULL, &o, error, sizeof error) < 0
                   ? cli_error("classify predict: %s", error)
                   : check_unchanged(m);
    rf_output output;
    FILE *out = code != CLI_OK || (c->shared.json && !c->out) ? NULL : c->out ? classify_create(&c->shared, c->out, &output) : stdout;
    if (code == CLI_OK && c->out && !out)
        code = CLI_BAD_INPUT;
    if (out) {
        classify_put_header(out, classes);
        if (classify_put_objects(out, classes, &named, &objects, &o, 0) < 0)
            code = cli_error("classify predict: out of memory for the answers");
        if (out != stdout && classify_finish(&c->shared, &output, code == CLI_OK) != CLI_OK)
            code = CLI_FAILED;
    }
    if (code == CLI_OK && c->shared.json)
        report_predict(c, t, &o, rf_clock_seconds() - start);
    classify_answers_free(&o, t->rows);
    return code;
}

int cli_classify_predict(int argc, char **argv)
{
    use_config c = {.shared = classify_config_default("classify predict")};
    mapped m;
    char error[600] = "";
    int go = cli_parse(&predict_usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    if (!c.files[0] || !c.files[1] || c.files[2])
        return cli_error("classify predict: give a model and a file of objects");
    if (c.out && strcmp(c.out, "-") == 0) {
        if (c.shared.json)
            return cli_error("classify predict: --json and --out - both go to standard output; give --out a file");
        c.out = NULL;
    }
    int code = open_model("classify predict", &c, &m);
    if (code != CLI_OK)
        return code;
    rfc_table like = {.features = rfc_model_features(m.model), .names = *rfc_model_names(m.model)}, objects;
    like.categories = (rfc_names *)(uintptr_t)rfc_coding_categories(rfc_model_coding(m.model)); /* only read */
    snprintf(like.source, sizeof like.source, "%s", c.files[0]);
    snprintf(like.label_name, sizeof like.label_name, "%s", rfc_model_label(m.model));
    const tables_source source = {.label = c.label};
    if (tables_load_objects(&source, c.files[1], c.labels, &like, &objects, error, sizeof error) < 0) {
        code = cli_error("classify predict: %s", error);
    } else {
        find_classes(m.model, &objects);
        code = rfc_coding_apply(rfc_model_coding(m.model), &objects, error, sizeof error) < 0
                   ? cli_error("classify predict: %s", error)
                   : predict(&c, &m, &objects);
        rfc_table_free(&objects);
    }
    unmap(&m);
    return code;
}

/* ---- ask ---- */

/* An object that is being asked about. */
typedef struct asked {
    struct asked *next; /* next object in the same hash slot */
    char *id;
    rfc_told *told;
    uint32_t count, room;
    int is_stopped; /* it was told to stop */
} asked;

enum { SLOTS = 1 << 14, MOST_SHOWN = 12 /* texts of a feature that a question lists */ };
#define BY_HAND "by hand" /* the id of a person's object */

typedef struct asking {
    const mapped *file;
    const rfc_model *model;
    rfc_adviser *adviser;
    asked *slot[SLOTS];
    cli_journal journal; /* not open: answers are not kept */
    int is_replay;
    int is_by_hand;    /* plain words for a person, about one object at a time, instead of JSON */
    uint32_t question; /* by hand: the feature that was asked for last */
    int is_refused;    /* the last line */
    int has_failed; /* at least one line was refused */
} asking;

static asked **find(asking *a, const char *id)
{
    asked **at = &a->slot[rf_hash(UINT64_C(14695981039346656037), id, strlen(id)) % SLOTS];
    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    return at;
}

static void forget(asked **at)
{
    asked *gone = *at;
    *at = gone->next;
    free(gone->id);
    free(gone->told);
    free(gone);
}

/* Prints why a line was refused. */
static void refuse(asking *a, const char *id, const char *why)
{
    a->has_failed = a->is_refused = 1;
    if (a->is_replay)
        return;
    if (a->is_by_hand) {
        printf("  %s\n", why);
        return;
    }
    cli_json json;
    cli_json_open(&json, stdout);
    if (id)
        cli_json_text(&json, "id", id);
    cli_json_text(&json, "error", why);
    cli_json_close(&json);
}

/* Writes a line to the journal: of the input, before it is acted on. Returns CLI_OK, or CLI_FAILED after a message. */
static int keep(asking *a, const char *line, int is_durable)
{
    if (!a->journal.file || a->is_replay || cli_journal_add(&a->journal, line, is_durable) == 0)
        return CLI_OK;
    cli_error("classify ask: %s: cannot keep the answers: %s", a->journal.path, strerror(errno));
    return CLI_FAILED;
}

/* Writes to the journal that the decision was printed: the id may begin again. Killed before, it is printed twice. Returns
   CLI_OK, or CLI_FAILED. */
static int keep_end(asking *a, const char *id)
{
    if (!a->journal.file)
        return CLI_OK;
    if (fflush(stdout) != 0)
        return CLI_FAILED;
    json_t *end = json_pack("{s:s, s:b}", "id", id, "done", 1);
    char *line = end ? json_dumps(end, JSON_COMPACT) : NULL;
    json_decref(end);
    const int code = line ? keep(a, line, 0) : (cli_error("classify ask: out of memory"), CLI_FAILED);
    free(line);
    return code;
}

/* One line of JSON: the next question; or, if `done` says why, the decision. */
static void print_advice(const asking *a, const asked *o, const rfc_advice *advice, const char *done)
{
    const rfc_names *classes = rfc_model_classes(a->model), *names = rfc_model_names(a->model);
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_text(&json, "id", o->id);
    if (done) {
        cli_json_text(&json, "done", done);
    } else {
        cli_json_text(&json, "ask", names->text[advice->feature]);
        cli_json_real(&json, "cost", advice->cost);
        cli_json_real(&json, "gain", advice->gain);
    }
    cli_json_text(&json, "decided", classes->text[advice->decided]);
    cli_json_real(&json, "probability", (double)advice->posterior[advice->decided]);
    cli_json_whole(&json, "questions", advice->queries);
    cli_json_real(&json, "spent", advice->spent);
    cli_json_object(&json, "probabilities");
    for (uint32_t c = 0; c < classes->count; c++)
        cli_json_real_of(&json, classes->text[c], (double)advice->posterior[c]);
    cli_json_object_end(&json);
    cli_json_close(&json);
}

/* The texts of a feature, or null if it has numbers. */
static const rfc_names *texts_of(const asking *a, uint32_t feature)
{
    const rfc_names *categories = rfc_coding_categories(rfc_model_coding(a->model));
    return categories && categories[feature].count > 0 ? categories + feature : NULL;
}

/* The same in plain words. */
static void say(const asking *a, const asked *o, const rfc_advice *advice, const char *done)
{
    const char *decided = rfc_model_classes(a->model)->text[advice->decided];
    const double percent = 100 * (double)advice->posterior[advice->decided];
    (void)o;
    if (done) {
        printf("%s, %.1f %% (%s, %u question%s, cost %g)\n\n", decided, percent, done, advice->queries,
               advice->queries == 1 ? "" : "s", advice->spent);
        return;
    }
    const rfc_names *texts = texts_of(a, advice->feature);
    printf("so far %s, %.0f %%; cost %g, tells %.2f bit\n%s", decided, percent, advice->cost, advice->gain,
           rfc_model_names(a->model)->text[advice->feature]);
    for (uint32_t k = 0; texts && texts->count <= MOST_SHOWN && k < texts->count; k++)
        printf("%s%s%s", k ? ", " : " (", texts->text[k], k + 1 < texts->count ? "" : ")");
    fputs("? ", stdout);
}

/* Prints the next question. If the decision is made, prints that instead and forgets the object. Returns CLI_OK, or
   CLI_FAILED. */
static int advise(asking *a, asked **at)
{
    const asked *o = *at;
    rfc_advice advice;
    if (a->is_replay || rfc_adviser_next(a->adviser, o->told, o->count, &advice) < 0)
        return CLI_OK;
    if (check_unchanged(a->file) != CLI_OK)
        return CLI_FAILED;
    const char *done = advice.is_sure                   ? "sure"
                       : o->is_stopped                  ? "told to stop"
                       : advice.feature != RFC_NO_LABEL ? NULL
                       : advice.is_spent                ? "out of budget"
                                                        : "nothing left to ask";
    (a->is_by_hand ? say : print_advice)(a, o, &advice, done);
    a->question = advice.feature;
    const int code = done ? keep_end(a, o->id) : CLI_OK;
    if (done)
        forget(at);
    return code;
}

/* The object's answer about a feature, or null. */
static rfc_told *answer_of(const asked *o, uint32_t feature)
{
    for (uint32_t i = 0; o && i < o->count; i++)
        if (o->told[i].feature == feature)
            return o->told + i;
    return NULL;
}

/* A value as text: of true and false, the feature's own spelling, such as "True". Null: it is none. */
static const char *text_of(const asking *a, uint32_t feature, const json_t *value)
{
    const char *word = json_is_true(value) ? "true" : "false";
    const rfc_names *texts = json_is_boolean(value) ? texts_of(a, feature) : NULL;
    for (uint32_t k = 0; texts && k < texts->count; k++)
        if (strcasecmp(texts->text[k], word) == 0)
            return texts->text[k];
    return json_string_value(value); /* null if it is no text */
}

/* Checks one answer. Returns NULL, or what is wrong. */
static const char *check_answer(const asking *a, const asked *o, const char *name, const json_t *value, int corrects,
                                rfc_told *told)
{
    const rfc_names *names = rfc_model_names(a->model);
    const rfc_coding *coding = rfc_model_coding(a->model);
    *told = (rfc_told){rfc_names_find(names, name), 0, 0};
    if (told->feature == names->count)
        return "there is no such feature";
    if ((answer_of(o, told->feature) != NULL) != corrects)
        return corrects ? "this feature was not answered before"
                        : "this feature was answered before; 'correct' changes that";
    const char *text = text_of(a, told->feature, value);
    told->is_unknown = json_is_null(value) || (text && (strcmp(text, "unknown") == 0 || tables_is_missing(text)));
    if (told->is_unknown)
        return NULL;
    if (json_is_number(value)) {
        const double x = json_number_value(value);
        if (fabs(x) > 1e30)
            return "the value is too large";
        return rfc_coding_number(coding, told->feature, x, &told->value) < 0 ? "this feature has texts, not numbers"
                                                                             : NULL;
    }
    const int status = text ? rfc_coding_text(coding, told->feature, text, &told->value) : 0;
    return !text        ? "a value is a number, a text or null"
           : status < 0 ? "this feature has numbers, not texts"
           : status > 0 ? "no object that was learnt from has this text; null if it is unknown"
                        : NULL;
}

/* Adds an answer, or replaces the former one. Returns 0, or -1 when out of memory. */
static int add(asked *o, rfc_told told)
{
    rfc_told *before = answer_of(o, told.feature);
    if (before) {
        *before = told;
        return 0;
    }
    if (o->count == o->room) {
        const uint32_t room = o->room ? 2 * o->room : 16;
        rfc_told *more = realloc(o->told, room * sizeof *more);
        if (!more)
            return -1;
        o->told = more;
        o->room = room;
    }
    o->told[o->count++] = told;
    return 0;
}

/* Checks a line without changing anything. Returns NULL, or what is wrong. Its answers go to `told`. */
static const char *check_line(const asking *a, const asked *o, json_t *root, rfc_told told[], uint32_t *count)
{
    const char *key, *feature = NULL, *why = NULL;
    json_t *value, *answer = NULL, *several[2] = {NULL, NULL}; /* values, and corrections of values */
    *count = 0;
    json_object_foreach(root, key, value)
    {
        if (strcmp(key, "id") == 0 || (strcmp(key, "stop") == 0 && json_is_boolean(value)))
            continue;
        if (a->is_replay && strcmp(key, "done") == 0)
            continue;
        if (strcmp(key, "feature") == 0 && json_is_string(value))
            feature = json_string_value(value);
        else if (strcmp(key, "value") == 0)
            answer = value;
        else if (strcmp(key, "values") == 0 && json_is_object(value))
            several[0] = value;
        else if (strcmp(key, "correct") == 0 && json_is_object(value))
            several[1] = value;
        else
            return "keys are id, feature with value, values, correct, or stop";
    }
    if (!feature != !answer)
        return "feature and value go together";
    if (feature && (why = check_answer(a, o, feature, answer, 0, &told[(*count)++])))
        return why;
    for (int corrects = 0; corrects < 2; corrects++)
        json_object_foreach(several[corrects], key, value)
        {
            if (*count > rfc_model_features(a->model) ||
                (why = check_answer(a, o, key, value, corrects, &told[*count])))
                return why ? why : "more values than features";
            for (uint32_t i = 0; i < *count; i++)
                if (told[i].feature == told[*count].feature)
                    return "a feature is there twice";
            (*count)++;
        }
    return NULL;
}

/* Takes one line. Returns CLI_OK, or CLI_FAILED after a message: then nothing more can be kept. */
static int take_line(asking *a, const char *line, rfc_told *told)
{
    json_error_t where;
    char id[256] = "";
    uint32_t count;
    json_t *root = json_loads(line, JSON_REJECT_DUPLICATES, &where);
    const json_t *name = json_is_object(root) ? json_object_get(root, "id") : NULL;
    if (json_is_string(name))
        snprintf(id, sizeof id, "%s", json_string_value(name));
    else if (json_is_integer(name))
        snprintf(id, sizeof id, "%lld", (long long)json_integer_value(name));
    int code = CLI_OK;
    if (json_is_string(name) && json_string_length(name) >= sizeof id) {
        refuse(a, NULL, "an id has at most 255 bytes");
    } else if (!id[0]) {
        refuse(a, NULL, root ? "a line needs an id: a text or a whole number" : "a line is a JSON object");
    } else {
        asked **at = find(a, id), *o = *at;
        const char *why = check_line(a, o, root, told, &count);
        if (why) {
            refuse(a, id, why);
        } else if (json_object_get(root, "done")) { /* of the journal */
            if (o)
                forget(at);
        } else if ((code = keep(a, line, 1)) == CLI_OK) {
            if (!o && (o = calloc(1, sizeof *o)) && (o->id = strdup(id)))
                *at = o;
            int status = o && o->id ? 0 : -1;
            for (uint32_t i = 0; i < count && status == 0; i++)
                status = add(o, told[i]);
            if (status < 0) {
                cli_error("classify ask: out of memory");
                code = CLI_FAILED;
            } else {
                o->is_stopped |= json_is_true(json_object_get(root, "stop"));
                code = advise(a, at);
            }
        }
    }
    json_decref(root);
    return code;
}

/* What replaying needs. */
typedef struct replaying {
    asking *a;
    rfc_told *told;
} replaying;

static int take_kept(void *context, const char *line)
{
    const replaying *r = context;
    return take_line(r->a, line, r->told);
}

/* Replays the journal: the input lines, and a line for each decision that was printed. Then asks again. */
static int replay(asking *a, rfc_told *told)
{
    char mark[80], old_mark[64], error[RF_PATH_MAX + 200];
    const unsigned long long model = rfc_model_checksum(a->model);
    snprintf(mark, sizeof mark, "{\"journal\": \"rejfilt classify ask\", \"model\": \"%016llx\"}", model);
    snprintf(old_mark, sizeof old_mark, "{\"model\": \"%016llx\"}", model);
    replaying r = {a, told};
    a->is_replay = 1;
    int code = cli_journal_open(&a->journal, mark, old_mark, take_kept, &r, error, sizeof error);
    a->is_replay = a->has_failed = 0;
    if (error[0])
        cli_error("classify ask: --state: %s", error);
    for (size_t i = 0; i < SLOTS && code == CLI_OK && !a->is_by_hand; i++) /* advise() removes decided objects */
        for (asked **at = &a->slot[i]; *at;) {
            asked *before = *at;
            code = code == CLI_OK ? advise(a, at) : code;
            at = *at == before ? &before->next : at;
        }
    fflush(stdout);
    return code;
}

/* The value that a person typed: a number if the feature has numbers, null for nothing. */
static json_t *typed_value(const asking *a, uint32_t feature, const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    if (!*text)
        return json_null();
    return end != text && !*end && isfinite(number) && !texts_of(a, feature) ? json_real(number) : json_string(text);
}

/* The line of JSON for what a person typed: an answer, FEATURE=VALUE, 'stop', or nothing. Null when out of memory. */
static char *typed_line(const asking *a, const asked *o, char *text)
{
    const rfc_names *names = rfc_model_names(a->model);
    uint32_t feature = a->question;
    json_t *root = json_pack("{s:s}", "id", BY_HAND);
    for (size_t length = strlen(text); length > 0 && strchr(" \t", text[length - 1]);)
        text[--length] = '\0';
    text += strspn(text, " \t");
    if (strcmp(text, "stop") == 0) {
        json_object_set_new(root, "stop", json_true());
    } else {
        for (char *equals = strchr(text, '='); equals; equals = strchr(equals + 1, '=')) {
            *equals = '\0';
            const uint32_t named = rfc_names_find(names, text);
            *equals = '=';
            if (named < names->count) {
                feature = named;
                text = equals + 1;
                break;
            }
        }
        json_object_set_new(root, answer_of(o, feature) ? "correct" : "values",
                            json_pack("{s:o}", names->text[feature], typed_value(a, feature, text)));
    }
    char *line = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return line;
}

/* Asks about the object; begins it first if there is none. */
static int ask_by_hand(asking *a, rfc_told *told)
{
    asked **at = find(a, BY_HAND);
    return *at ? advise(a, at) : take_line(a, "{\"id\":\"" BY_HAND "\"}", told);
}

/* Takes what a person typed, and asks again if there is no question open. */
static int take_typed(asking *a, char *text, rfc_told *told)
{
    char *line = typed_line(a, *find(a, BY_HAND), text);
    a->is_refused = 0;
    int code = line ? take_line(a, line, told) : cli_error("classify ask: out of memory");
    free(line);
    return code == CLI_OK && (a->is_refused || !*find(a, BY_HAND)) ? ask_by_hand(a, told) : code;
}

static int converse(asking *a, rfc_told *told)
{
    static cli_lines lines;
    int code = CLI_OK, got;
    lines.from = stdin;
    cli_catch_signals();
    if (a->is_by_hand) {
        puts(
            "Answer with a value; with nothing if it is unknown; FEATURE=VALUE tells another feature, or corrects it;\n"
            "'stop' decides now. Ctrl-D ends.\n");
        code = ask_by_hand(a, told);
        fflush(stdout);
    }
    while (code == CLI_OK && (got = cli_lines_next(&lines)) == CLI_LINE) {
        if (lines.length > CLI_LINE_MAX)
            refuse(a, NULL, "the line is too long");
        else if (a->is_by_hand)
            code = take_typed(a, lines.bytes, told);
        else if (lines.bytes[strspn(lines.bytes, " \t")] != '\0')
            code = take_line(a, lines.bytes, told);
        if (!cli_lines_is_ready(&lines) && fflush(stdout) != 0)
            code = CLI_FAILED;
    }
    if (a->is_by_hand)
        putchar('\n');
    if (code == CLI_OK && cli_interrupted)
        return CLI_INTERRUPTED;
    return code == CLI_OK && a->has_failed && !a->is_by_hand ? CLI_BAD_INPUT : code;
}

int cli_classify_ask(int argc, char **argv)
{
    use_config c = {.shared = classify_config_default("classify ask")};
    mapped m;
    rf_lock lock = {.file = -1};
    char error[RF_PATH_MAX + 200] = "";
    int go = cli_parse(&ask_usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    if (!c.files[0] || c.files[1])
        return cli_error("classify ask: give a model");
    int code = open_model("classify ask", &c, &m);
    if (code != CLI_OK)
        return code;
    asking *a = calloc(1, sizeof *a);
    rfc_told *told = malloc((rfc_model_features(m.model) + (size_t)2) * sizeof *told);
    rfc_adviser *adviser = rfc_adviser_open(m.model, error, sizeof error);
    if (!a || !told || !adviser)
        code = cli_error("classify ask: out of memory");
    if (code == CLI_OK && c.state && (code = rf_lock_take(&lock, c.state, error, sizeof error)) != CLI_OK)
        cli_error("classify ask: --state: %s", error);
    if (code == CLI_OK) {
        a->file = &m;
        a->model = m.model;
        a->adviser = adviser;
        a->is_by_hand = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
        a->journal.path = c.state;
        if (c.state)
            code = replay(a, told);
        if (code == CLI_OK)
            code = converse(a, told);
        for (size_t i = 0; i < SLOTS; i++)
            while (a->slot[i])
                forget(&a->slot[i]);
        cli_journal_close(&a->journal);
    }
    rf_lock_release(&lock);
    rfc_adviser_close(adviser);
    free(told);
    free(a);
    unmap(&m);
    return code;
}
