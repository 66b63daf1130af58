/* rejfilt classify rank: ranks features by how often they are asked, and measures the error without the others. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify_data.h"
#include "csv.h"
#include "engine.h"
#include "json.h"
#include "classify_picture.h"
#include "ranking.h"

enum { MOST_CUTS = 32 };

typedef struct config {
    classify_config shared; /* must be first: classify_set_split and _plot take this struct as a classify_config */
    const char *out, *csv;
    uint64_t keep;
    struct {
        double percentile; /* NaN: a count was given */
        uint64_t count;
    } cut[MOST_CUTS];
    unsigned cuts;
} config;

/* ---- Options ---- */

static int set_cuts(void *context, const char *value, char *error, size_t size)
{
    config *c = context;
    char one[32];
    c->cuts = 0;
    for (const char *at = value; strcmp(value, "none") != 0; at++) {
        const size_t length = strcspn(at, ",");
        const int is_percentile = length > 0 && at[length - 1] == '%';
        snprintf(one, sizeof one, "%.*s", (int)(length < 31 ? length - (size_t)is_percentile : 31), at);
        if (c->cuts == MOST_CUTS)
            return rf_fail(error, size, "more than %d cuts", MOST_CUTS);
        c->cut[c->cuts].percentile = NAN;
        if (is_percentile ? rf_parse_real(one, 0, 100, &c->cut[c->cuts].percentile, error, size) < 0
                          : rf_parse_whole(one, 1, RFC_FEATURES_MAX, &c->cut[c->cuts].count, error, size) < 0)
            return -1;
        c->cuts++;
        at += length;
        if (*at == '\0')
            break;
    }
    return 0;
}

#define AT(field) offsetof(config, field)

static const cli_option options[] = {
#include "classify_options.def"
    {"cuts", "LIST",
     "the error with fewer features: how many are kept, or below\nwhich percentile they are dropped; 'none' for "
     "none\n(default 0%,50%,75%,80%,90%,95%,97.5%)",
     set_cuts, CLI_CUSTOM, 0, 0, 0, NULL},
    {"keep", "N", "keep the N features asked most", NULL, CLI_U64, AT(keep), 1, RFC_FEATURES_MAX, NULL},
    {"out", "FILE", "write them, one per line, for 'classify --mask FILE'", NULL, CLI_OUTPUT, AT(out), 0, 0, NULL},
    {"csv", "FILE", "write the ranking: feature, times asked, variance", NULL, CLI_OUTPUT, AT(csv), 0, 0, NULL},
    {"plot", "FILE",
     "a .svg or .html: draw how often features are asked beside their variance,\nand the error after each cut",
     classify_set_plot, CLI_OUTPUT, AT(shared.plot), 0, 0, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "classify rank",
    "--data DIR | --train FILE [--test FILE] [OPTION...]",
    "Classifies as 'rejfilt classify' does and counts how often each feature is\n"
    "asked. Features asked more often matter more. Then it classifies again with\n"
    "only the features asked most, cut by cut.",
    options,
    "  rejfilt classify rank --data synthetic --task zero-one --plot features.svg\n"
    "  rejfilt classify rank --train table.csv --keep 10 --out mask --csv ranking.csv",
    NULL,
    AT(shared.told),
};

/* ---- Runs ---- */

typedef struct result {
    double error, queries, seconds;
    uint64_t objects;
} result;

/* Keeps every second object: part 0 is the even ones, used for ranking, and part 1 the odd ones, used for scoring. */
static void take_part(classify_trial *t, uint32_t part)
{
    uint32_t *rows = t->order + (t->objects.rows - t->order), count = 0;
    for (uint32_t i = part; i < t->objects.count && t->objects.count > 1; i += 2)
        rows[count++] = t->objects.rows[i];
    t->objects.count = count ? count : t->objects.count;
}

/* Runs all shuffles with the features in `mask` (null: all). Adds to the ranking if `r` is not null. */
static int run_all(const config *c, const classify_data *d, uint32_t part, const uint8_t *mask, classify_ranking *r,
                   cli_progress *progress, result *out)
{
    char error[300];
    classify_trial trial;
    *out = (result){0};
    for (uint32_t i = 0; i < c->shared.shuffles; i++) {
        int code = classify_trial_open(&c->shared, d, i, &trial);
        if (code != CLI_OK)
            return code;
        take_part(&trial, part);
        rfc_outcome o = {.times_asked = r ? r->asked : NULL};
        trial.rules.mask = mask ? mask : trial.rules.mask;
        const double start = rf_clock_seconds();
        code = classify_trial_fit(&c->shared, &trial, NULL);
        if (code == CLI_OK && rfc_model_classify(trial.model, &trial.objects, (unsigned)c->shared.threads,
                                                 cli_progress_show, progress, &o, error, sizeof error) < 0)
            code = cli_error("classify rank: %s", error);
        progress->before++;
        out->seconds += rf_clock_seconds() - start;
        out->error += (double)o.errors / trial.objects.count / (double)c->shared.shuffles;
        out->queries += (double)o.all_queries;
        out->objects += trial.objects.count;
        for (uint32_t j = 0; j < d->train.features && r; j++)
            r->variance[j] += (double)rfc_training_variance(trial.training)[j] / (double)c->shared.shuffles;
        classify_trial_close(&trial);
        if (code != CLI_OK)
            return code;
    }
    out->queries /= (double)out->objects;
    return CLI_OK;
}

/* The cuts by the number of features kept, largest first, without duplicates. Returns how many. */
static unsigned sort_cuts(const config *c, uint32_t features, cli_cut cuts[MOST_CUTS])
{
    unsigned distinct = 0;
    for (unsigned i = 0, at; i < c->cuts; i++) {
        const double percentile = c->cut[i].percentile;
        const uint32_t kept = !isnan(percentile)           ? classify_ranking_kept(features, percentile)
                              : c->cut[i].count < features ? (uint32_t)c->cut[i].count
                                                           : features;
        for (at = distinct; at > 0 && cuts[at - 1].features < kept;)
            at--;
        if (at > 0 && cuts[at - 1].features == kept)
            continue;
        memmove(cuts + at + 1, cuts + at, (distinct++ - at) * sizeof *cuts);
        cuts[at] = (cli_cut){kept, isnan(percentile) ? 100 * (1 - (double)kept / features) : percentile, 0};
    }
    return distinct;
}

static int run_cuts(const config *c, const classify_data *d, const classify_ranking *r, const result *all,
                    cli_progress *progress, cli_cut *cuts, unsigned count)
{
    uint8_t *mask = malloc(d->train.features);
    int code = mask ? CLI_OK : cli_error("classify rank: out of memory");
    for (unsigned i = 0; i < count && code == CLI_OK; i++) {
        result one = *all;
        classify_ranking_mask(r, cuts[i].features, d->mask, mask);
        if (cuts[i].features < d->train.features)
            code = run_all(c, d, 1, mask, NULL, progress, &one);
        else
            progress->before += c->shared.shuffles;
        cuts[i].error = one.error;
    }
    free(mask);
    return code;
}

/* Converts variances to the data's units squared; NaN for categories. */
static void to_units(const classify_data *d, classify_ranking *r)
{
    for (uint32_t j = 0; j < d->train.features; j++) {
        double sum = 0, squares = 0;
        if (d->scaling == RFC_SCALE_SHARED) {
            const double unit = rfc_coding_value(d->coding, j, 1) - rfc_coding_value(d->coding, j, 0);
            r->variance[j] *= unit * unit;
            continue;
        }
        for (size_t row = 0; row < d->train.rows; row++) {
            const double x = rfc_coding_value(d->coding, j, d->train.bytes[row * d->train.features + j]);
            sum += x;
            squares += x * x;
        }
        r->variance[j] = squares / d->train.rows - sum / d->train.rows * (sum / d->train.rows);
    }
}

/* ---- Output ---- */

/* What the outputs show. */
typedef struct ranked {
    const config *c;
    const classify_data *d;
    classify_ranking r;
    double *asked; /* by feature, as in `r` */
    result all;
    cli_cut cuts[MOST_CUTS];
    unsigned count; /* of cuts */
} ranked;

static const char *name_of(const ranked *k, uint32_t rank)
{
    static char number[16];
    return rfc_table_feature(&k->d->train, k->r.order[rank], number, sizeof number);
}

static void put_mask(FILE *out, const ranked *k)
{
    const uint64_t keep = k->c->keep ? k->c->keep : k->r.ever;
    for (uint32_t i = 0; i < keep && i < k->r.features; i++) {
        rf_csv_field(out, name_of(k, i));
        putc('\n', out);
    }
}

static void put_csv(FILE *out, const ranked *k)
{
    const uint32_t width = k->d->train.width;
    fprintf(out, "rank,feature,%sasked,variance\n", width ? "row,column," : "");
    for (uint32_t i = 0; i < k->r.features; i++) {
        const uint32_t j = k->r.order[i];
        fprintf(out, "%u,", i + 1);
        rf_csv_field(out, name_of(k, i));
        putc(',', out);
        if (width)
            fprintf(out, "%u,%u,", j / width, j % width);
        fprintf(out, "%llu,%.6g\n", (unsigned long long)k->r.asked[j], k->r.variance[j]);
    }
}

static void put_plot(FILE *out, const ranked *k)
{
    char title[200];
    const cli_map maps[] = {{"how often it is asked", k->asked},
                            {"variance over the training set, in its units", k->r.variance}};
    snprintf(title, sizeof title, "%.60s, task %s, method %s", classify_base_name(k->d->train.source), k->d->task.name,
             classify_method_names[k->c->shared.method]);
    cli_picture_maps(out, cli_picture_is_page(k->c->shared.plot), title, &k->d->train, maps, 2, k->cuts, k->count,
                     k->r.order);
}
/* Writes one of the files, if it was asked for. */
static int write_file(const ranked *k, const char *path, void (*put)(FILE *out, const ranked *k))
{
    rf_output output;
    FILE *out = path ? classify_create(&k->c->shared, path, &output) : NULL;
    if (!out)
        return path ? CLI_BAD_INPUT : CLI_OK;
    put(out, k);
    return classify_finish(&k->c->shared, &output, 1);
}

static void print_text(const ranked *k)
{
    classify_describe(&k->c->shared, k->d);
    printf("method %s, %llu objects: error %.3f %% with %.2f queries; %u of %u features were ever asked\n",
           classify_method_names[k->c->shared.method], (unsigned long long)k->all.objects, 100 * k->all.error,
           k->all.queries, k->r.ever, k->r.features);
    printf("\n  rank  feature           asked    variance\n");
    for (uint32_t i = 0; i < k->r.features && i < 10; i++) {
        const double variance = k->r.variance[k->r.order[i]];
        printf("%6u  %-12s %10llu  ", i + 1, name_of(k, i), (unsigned long long)k->r.asked[k->r.order[i]]);
        printf(isnan(variance) ? "  category\n" : "%10.4g\n", variance);
    }
    if (k->count)
        printf("\n  percentile  features  error\n");
    for (unsigned i = 0; i < k->count; i++)
        printf("%12.4g  %8u  %.3f %%\n", k->cuts[i].percentile, k->cuts[i].features, 100 * k->cuts[i].error);
}

static void print_json(const ranked *k)
{
    const classify_config *c = &k->c->shared;
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_text(&json, "task", k->d->task.name);
    cli_json_text(&json, "method", classify_method_names[c->method]);
    cli_json_whole(&json, "features", k->r.features);
    cli_json_whole(&json, "objects", k->all.objects);
    cli_json_real(&json, "error", k->all.error);
    cli_json_real(&json, "mean_queries", k->all.queries);
    cli_json_whole(&json, "ever_asked", k->r.ever);
    cli_json_real(&json, "seconds", k->all.seconds);
    cli_json_whole(&json, "seed", c->seed);
    cli_json_bool(&json, "synthetic", c->source.data && strcmp(c->source.data, "synthetic") == 0);
    cli_json_list(&json, "cuts");
    for (unsigned i = 0; i < k->count; i++) {
        cli_json_item(&json);
        cli_json_real(&json, "percentile", k->cuts[i].percentile);
        cli_json_whole(&json, "features", k->cuts[i].features);
        cli_json_real(&json, "error", k->cuts[i].error);
    }
    cli_json_list_end(&json);
    cli_json_list(&json, "ranking");
    for (uint32_t i = 0; i < k->r.features; i++) {
        cli_json_item(&json);
        cli_json_text(&json, "feature", name_of(k, i));
        cli_json_whole(&json, "asked", k->r.asked[k->r.order[i]]);
        cli_json_real(&json, "variance", k->r.variance[k->r.order[i]]);
    }
    cli_json_list_end(&json);
    cli_json_close(&json);
}

static int run(const config *c, const classify_data *d)
{
    ranked k = {.c = c, .d = d, .asked = malloc(d->train.features * sizeof *k.asked)};
    result counted;
    if (classify_ranking_make(&k.r, d->train.features) < 0 || !k.asked) {
        free(k.asked);
        return cli_error("classify rank: out of memory");
    }
    k.count = sort_cuts(c, d->train.features, k.cuts);
    cli_progress progress = {
        .what = "ranking", .start = rf_clock_seconds(), .total = c->shared.shuffles * (2 + k.count)};
    int code = run_all(c, d, 0, NULL, &k.r, &progress, &counted);
    if (code == CLI_OK)
        code = run_all(c, d, 1, NULL, NULL, &progress, &k.all);
    if (code == CLI_OK) {
        k.all.objects = counted.objects; /* objects over which questions were counted */
        k.all.queries = counted.queries;
        classify_ranking_sort(&k.r);
        to_units(d, &k.r);
        code = run_cuts(c, d, &k.r, &k.all, &progress, k.cuts, k.count);
    }
    cli_progress_end(&progress);
    for (uint32_t j = 0; j < k.r.features; j++)
        k.asked[j] = (double)k.r.asked[j];
    if (code == CLI_OK)
        code = write_file(&k, c->out, put_mask);
    if (code == CLI_OK)
        code = write_file(&k, c->csv, put_csv);
    if (code == CLI_OK)
        code = write_file(&k, c->shared.plot, put_plot);
    if (code == CLI_OK && c->shared.plot)
        fprintf(stderr, "picture: %s\n", c->shared.plot);
    if (code == CLI_OK)
        (c->shared.json ? print_json : print_text)(&k);
    classify_ranking_free(&k.r);
    free(k.asked);
    return code;
}

int cli_classify_rank(int argc, char **argv)
{
    config c = {.shared = classify_config_default("classify rank")};
    classify_data data;
    char error[64];
    set_cuts(&c, "0%,50%,75%,80%,90%,95%,97.5%", error, sizeof error);
    int go = cli_parse(&usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    if (classify_check_told(&usage, &c.shared, CLASSIFY_EXPLAINS) != CLI_OK)
        return CLI_BAD_INPUT;
    if (c.keep && !c.out)
        return cli_error("classify rank: --keep goes with --out");
    int code = classify_load(&c.shared, &data);
    if (code != CLI_OK)
        return code;
    code = run(&c, &data);
    if (code == CLI_OK)
        classify_warn(&data);
    classify_free(&data);
    return code;
}
