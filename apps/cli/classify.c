/* rejfilt classify: finds the class of an object by asking for few of its features. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify_data.h"
#include "csv.h"
#include "json.h"
#include "knn.h"
#include "classify_picture.h"

enum { MOST_K = 16 };

typedef struct config {
    classify_config shared; /* must be first: classify_set_split and _plot take this struct as a classify_config */
    const char *out;
    int explains;
    uint64_t explained;
    unsigned k[MOST_K], ks; /* of the nearest neighbours to compare with */
    uint64_t knn_features;
} config;

/* ---- Options ---- */

static int set_explain(void *c, const char *value, char *error, size_t size)
{
    ((config *)c)->explains = 1;
    return rf_parse_whole(value, 0, UINT32_MAX, &((config *)c)->explained, error, size);
}

static int set_knn(void *c, const char *value, char *error, size_t size)
{
    config *self = c;
    char one[16];
    for (const char *at = value;; at++) {
        uint64_t k;
        size_t length = strcspn(at, ",");
        snprintf(one, sizeof one, "%.*s", (int)(length < 15 ? length : 15), at);
        if (rf_parse_whole(one, 1, RF_KNN_MAX, &k, error, size) < 0)
            return -1;
        if (self->ks == MOST_K) {
            snprintf(error, size, "more than %d numbers", MOST_K);
            return -1;
        }
        self->k[self->ks++] = (unsigned)k;
        at += length;
        if (*at == '\0')
            return 0;
    }
}

#define AT(field) offsetof(config, field)

static const cli_option options[] = {
#include "classify_options.def"
    {"out", "FILE", "a CSV row per object: truth, decision, posterior, features\nasked in order", NULL, CLI_OUTPUT,
     AT(out), 0, 0, NULL},
    {"explain", "I", "draw the story of object I (from 0 on) as a picture", set_explain, CLI_CUSTOM, 0, 0, 0, NULL},
    {"plot", "FILE", "where to: .svg or .html (default explain-I.svg)", classify_set_plot, CLI_OUTPUT, AT(shared.plot), 0, 0, NULL},
    {"knn", "K,...", "compare with the K nearest neighbours, on all features", set_knn, CLI_CUSTOM, 0, 0, 0, NULL},
    {"knn-features", "N", "... on the N features of largest variance", NULL, CLI_U64, AT(knn_features), 1,
     RFC_FEATURES_MAX, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "classify",
    "[fit | predict | ask | rank] --data DIR | --train FILE [--test FILE] [OPTION...]",
    "Classifies objects whose features have a price. It asks for one feature after\n"
    "the other, chosen by the training vectors that still agree with the answers,\n"
    "and stops when the class is clear. Without a test file the data is shuffled\n"
    "and split 10:1. 'classify fit' keeps a model in a file,\n"
    "'classify predict' and 'classify ask' use it; 'classify rank' counts which\n"
    "features are asked. Each has a help of its own.",
    options,
    "  rejfilt classify --data synthetic --task even-odd        no files needed\n"
    "  rejfilt classify --train table.csv --knn 1,5,15          against neighbours\n"
    "  rejfilt classify --data mnist --task digits --json       MNIST's four files\n"
    "  rejfilt classify --train a.csv --test b.csv --out answers.csv --cost prices.csv\n"
    "  rejfilt classify fit a.csv --out m.rfc                   a model that lasts\n"
    "  rejfilt classify predict m.rfc b.csv                     classes of a file\n"
    "  rejfilt classify ask m.rfc                               question by question",
    NULL,
    AT(shared.told),
};

/* ---- Results ---- */

typedef struct totals {
    uint64_t objects, known, errors, queries;
    double cost, seconds, cpu_seconds, fit_seconds, error, error_squares,
        stated; /* stated: errors that the probabilities predict; error: sum over trials of the fraction of errors */
    uint32_t train;
    uint64_t knn_errors[MOST_K];
    double knn_seconds, knn_cpu_seconds;
    uint32_t knn_features;
    rfc_expected expected; /* of the last trial */
    char limit[40];        /* its smaller budget, in words */
    int is_reached;
} totals;

static int run_knn(const config *c, const classify_data *d, const classify_trial *t, cli_progress *progress,
                   totals *sum)
{
    double start = rf_clock_seconds(), cpu_start = cli_cpu_seconds();
    int code = classify_knn(&c->shared, d, t, c->knn_features, c->k, c->ks, progress, sum->knn_errors);
    sum->knn_seconds += rf_clock_seconds() - start;
    sum->knn_cpu_seconds += cli_cpu_seconds() - cpu_start;
    sum->knn_features =
        c->knn_features && c->knn_features < d->train.features ? (uint32_t)c->knn_features : d->train.features;
    return code;
}

/* ---- Trials ---- */

static int run_trial(const config *c, const classify_data *d, const classify_trial *t, FILE *out,
                     cli_progress *progress, totals *sum)
{
    char error[300];
    rfc_outcome o = {0};
    int code = CLI_OK;
    if (out && classify_answers_make(t->objects.count, d->task.classes.count, &o) < 0)
        code = cli_error("classify: out of memory for the answers");
    double start = rf_clock_seconds(), cpu_start = cli_cpu_seconds();
    if (code == CLI_OK && rfc_model_classify(t->model, &t->objects, (unsigned)c->shared.threads, cli_progress_show,
                                             progress, &o, error, sizeof error) < 0)
        code = cli_error("classify: %s", error);
    if (code == CLI_OK) {
        uint64_t known = 0;
        for (uint32_t i = 0; i < t->objects.count; i++)
            known += t->objects.table->label[t->objects.rows[i]] != RFC_NO_LABEL;
        double share = known ? (double)o.errors / (double)known : NAN;
        sum->known += known;
        sum->stated += o.all_doubt;
        sum->expected = t->expected;
        classify_limit(t, sum->limit, sizeof sum->limit);
        sum->is_reached = t->is_reached;
        sum->seconds += rf_clock_seconds() - start;
        sum->cpu_seconds += cli_cpu_seconds() - cpu_start;
        if (out && classify_put_objects(out, &d->task.classes, &d->train, &t->objects, &o, sum->objects) < 0)
            code = cli_error("classify: out of memory for the answers");
        sum->objects += t->objects.count;
        sum->errors += o.errors;
        sum->queries += o.all_queries;
        sum->cost += o.all_cost;
        sum->error += share;
        sum->error_squares += share * share;
        sum->train = rfc_training_count(t->training);
    }
    classify_answers_free(&o, t->objects.count);
    return code;
}

/* What is believed before the first question. */
static void believe_first(const classify_data *d, const classify_trial *t, float before[])
{
    const uint32_t count = rfc_training_count(t->training), classes = d->task.classes.count;
    double all = 0;
    memset(before, 0, classes * sizeof *before);
    for (uint32_t i = 0; i < count; i++)
        before[d->train.label[t->order[i]]]++;
    for (uint32_t k = 0; k < classes; k++) {
        before[k] *= t->prior ? (float)t->prior[k] : 1;
        all += (double)before[k];
    }
    for (uint32_t k = 0; k < classes; k++)
        before[k] /= (float)all;
}

static int explain(const config *c, const classify_data *d, const classify_trial *t)
{
    char error[300], title[200];
    rfc_answer answer;
    if (c->explained >= t->objects.count)
        return cli_error("classify: --explain: there is no object %llu; they are 0 to %u",
                         (unsigned long long)c->explained, t->objects.count - 1);
    const char *to = c->shared.plot;
    if (rfc_model_classify_one(t->model, &t->objects, (uint32_t)c->explained, &answer, error, sizeof error) < 0)
        return cli_error("classify: %s", error);
    uint32_t row = t->objects.rows[c->explained];
    snprintf(title, sizeof title, "object %llu of %.60s, task %s, method %s", (unsigned long long)c->explained,
             classify_base_name(t->objects.table->source), d->task.name, classify_method_names[c->shared.method]);
    rf_output output;
    int code = CLI_BAD_INPUT;
    if (classify_create(&c->shared, to, &output)) {
        float before[RFC_LABELS_MAX];
        believe_first(d, t, before);
        cli_picture_story(output.stream, cli_picture_is_page(to), title, &d->train, d->coding, &d->task, before,
                          t->objects.table->bytes + (size_t)row * d->train.features, t->objects.table->label[row],
                          &answer);
        code = classify_finish(&c->shared, &output, 1);
        if (code == CLI_OK)
            fprintf(stderr, "picture: %s\n", to);
    }
    rfc_answer_free(&answer);
    return code;
}

static void print_json(const config *c, const classify_data *d, const totals *s)
{
    const classify_config *cc = &c->shared;
    double trials = (double)cc->shuffles, objects = (double)s->objects, mean = s->error / trials;
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_text(&json, "task", d->task.name);
    cli_json_text(&json, "method", classify_method_names[cc->method]);
    cli_json_whole(&json, "classes", d->task.classes.count);
    cli_json_whole(&json, "train", s->train);
    cli_json_whole(&json, "objects", s->objects);
    cli_json_real(&json, "error", mean);
    cli_json_whole(&json, "errors", s->errors);
    cli_json_real(&json, "mean_queries", (double)s->queries / objects);
    cli_json_real(&json, "mean_cost", s->cost / objects);
    cli_json_real(&json, "seconds", s->seconds);
    cli_json_real(&json, "load_seconds", d->load_seconds);
    cli_json_whole(&json, "threads", cc->threads);
    cli_json_whole(&json, "seed", cc->seed);
    cli_json_real(&json, "cpu_seconds", s->cpu_seconds);
    cli_json_whole(&json, "shuffles", cc->split[0] ? cc->shuffles : 0);
    cli_json_real(&json, "error_sd", sqrt(fmax(0, s->error_squares / trials - mean * mean)));
    cli_json_whole(&json, "features", d->train.features);
    cli_json_text(&json, "scale", d->scaling == RFC_SCALE_SHARED ? "shared" : "each");
    cli_json_text(&json, "data", d->train.source);
    cli_json_bool(&json, "synthetic", cc->source.data && strcmp(cc->source.data, "synthetic") == 0);
    cli_json_whole(&json, "left_out", d->left_out);
    cli_json_list(&json, "knn");
    for (unsigned i = 0; i < c->ks; i++) {
        cli_json_item(&json);
        cli_json_whole(&json, "k", c->k[i]);
        cli_json_whole(&json, "features", s->knn_features);
        cli_json_real(&json, "error", (double)s->knn_errors[i] / objects);
        cli_json_whole(&json, "errors", s->knn_errors[i]);
        cli_json_real(&json, "seconds", s->knn_seconds);
        cli_json_real(&json, "cpu_seconds", s->knn_cpu_seconds);
    }
    cli_json_list_end(&json);
    cli_json_whole(&json, "labelled", s->known);
    cli_json_real(&json, "fit_seconds", s->fit_seconds);
    if (cc->method == RFC_WEIGHTED) {
        cli_json_real(&json, "stop", s->expected.stop);
        cli_json_real(&json, "stated_error", s->stated / objects);
        cli_json_real(&json, "pilot_error", cc->pilot ? s->expected.error : NAN);
        cli_json_real(&json, "pilot_queries", cc->pilot ? s->expected.questions : NAN);
        cli_json_bool(&json, "reached", s->is_reached);
    }
    cli_json_close(&json);
}

static void print_text(const config *c, const classify_data *d, const totals *s)
{
    const classify_config *cc = &c->shared;
    double objects = (double)s->objects;
    classify_describe(cc, d);
    printf("method %s, %u training vectors, %llu objects%s", classify_method_names[cc->method], s->train,
           (unsigned long long)s->objects, cc->split[0] ? "" : "\n");
    if (cc->split[0])
        printf(", %llu shuffle%s split %u:%u, seed %llu\n", (unsigned long long)cc->shuffles,
               cc->shuffles == 1 ? "" : "s", cc->split[0], cc->split[1], (unsigned long long)cc->seed);
    if (s->known)
        printf("error %.3f %% (%llu of %llu)", 100 * s->error / (double)cc->shuffles, (unsigned long long)s->errors,
               (unsigned long long)s->known);
    else
        printf("labels are not known");
    if (cc->method == RFC_WEIGHTED)
        printf(", stated %.3f %%,", 100 * s->stated / objects);
    printf(" with %.2f queries an object", (double)s->queries / objects);
    if (d->cost)
        printf(", cost %.4g", s->cost / objects);
    if (cc->method == RFC_WEIGHTED && cc->pilot)
        printf("\nstop %.4g%s: leave-one-out expects %.3f %% errors with %.2f queries%s", s->expected.stop, s->limit,
               100 * s->expected.error, s->expected.questions,
               s->is_reached ? "" : "; that is as near as it comes to what was asked for");
    printf("\n%.2f s after loading (%.2f s) and fitting (%.2f s), %.3f ms an object, %llu thread%s\n", s->seconds,
           d->load_seconds, s->fit_seconds, 1e3 * s->seconds / objects, (unsigned long long)cc->threads,
           cc->threads == 1 ? "" : "s");
    for (unsigned i = 0; i < c->ks; i++)
        printf("%u nearest neighbours on %u features: error %.3f %% (%llu), %.2f s\n", c->k[i], s->knn_features,
               100 * (double)s->knn_errors[i] / objects, (unsigned long long)s->knn_errors[i], s->knn_seconds);
}

static int run(config *c, const classify_data *d)
{
    totals sum = {0};
    classify_trial trial;
    int code = CLI_OK;
    rf_output output;
    FILE *out = c->out ? classify_create(&c->shared, c->out, &output) : NULL;
    if (c->out && !out)
        return CLI_BAD_INPUT;
    if (out)
        classify_put_header(out, &d->task.classes);
    cli_progress progress = {
        .what = "classifying", .start = rf_clock_seconds(), .total = c->shared.shuffles * (c->ks > 0 ? 2 : 1)};
    for (uint32_t i = 0; i < c->shared.shuffles && code == CLI_OK; i++) {
        code = classify_trial_open(&c->shared, d, i, &trial);
        if (code != CLI_OK)
            break;
        double start = rf_clock_seconds();
        code = classify_trial_fit(&c->shared, &trial, NULL);
        sum.fit_seconds += rf_clock_seconds() - start;
        if (code == CLI_OK && c->explains)
            code = explain(c, d, &trial);
        else if (code == CLI_OK)
            code = run_trial(c, d, &trial, out, &progress, &sum);
        progress.before++;
        if (code == CLI_OK && c->ks > 0 && !c->explains)
            code = run_knn(c, d, &trial, &progress, &sum);
        progress.before += c->ks > 0;
        classify_trial_close(&trial);
        if (c->explains)
            break;
    }
    cli_progress_end(&progress);
    if (out) {
        int finished = classify_finish(&c->shared, &output, code == CLI_OK);
        code = code == CLI_OK ? finished : code;
    }
    if (code == CLI_OK && !c->explains)
        (c->shared.json ? print_json : print_text)(c, d, &sum);
    return code;
}

int cli_classify(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } parts[] = {{"fit", cli_classify_fit}, {"predict", cli_classify_predict}, {"ask", cli_classify_ask}, {"rank", cli_classify_rank}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && argc > 1; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            return parts[i].run(argc - 1, argv + 1);
    config c = {.shared = classify_config_default("classify")};
    classify_data data;
    int go = cli_parse(&usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    if (classify_check_told(&usage, &c.shared, (c.explains ? CLASSIFY_EXPLAINS : 0) | (c.ks > 0 ? CLASSIFY_COMPARES : 0)) != CLI_OK)
        return CLI_BAD_INPUT;
    char path[64], error[2 * RF_PATH_MAX];
    snprintf(path, sizeof path, "explain-%llu.svg", (unsigned long long)c.explained);
    if (c.explains && !c.shared.plot && rf_output_declare("--explain", c.shared.plot = path, RF_WRITES, error, sizeof error) < 0)
        return cli_error("classify: %s", error);
    int code = classify_load(&c.shared, &data);
    if (code != CLI_OK)
        return code;
    code = run(&c, &data);
    if (code == CLI_OK)
        classify_warn(&data);
    classify_free(&data);
    return code;
}
