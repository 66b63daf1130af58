/* rejfilt features: ranks features by how often they are asked, and measures the error without the others. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify_data.h"
#include "csv.h"
#include "json.h"
#include "classify_picture.h"
#include "ranking.h"

enum { MOST_CUTS = 32 };

typedef struct config {
    classify_config shared; /* must be first: classify_set_split and _plot take this struct as a classify_config */
    const char *out, *csv;
    uint64_t keep;
    double percentile[MOST_CUTS]; /* of the cuts; NaN: a count was given */
    uint64_t count[MOST_CUTS];
    unsigned cuts;
} config;

/* ---- Options ---- */

static int set_cuts(void *c, const char *value, char *error, size_t size)
{
    config *self = c;
    char one[32];
    self->cuts = 0;
    if (strcmp(value, "none") == 0)
        return 0;
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ",");
        int is_percentile = length > 0 && at[length - 1] == '%';
        snprintf(one, sizeof one, "%.*s", (int)(length < 31 ? length - (size_t)is_percentile : 31), at);
        if (self->cuts == MOST_CUTS) {
            snprintf(error, size, "more than %d cuts", MOST_CUTS);
            return -1;
        }
        self->percentile[self->cuts] = NAN;
        if (is_percentile ? rf_parse_real(one, 0, 100, &self->percentile[self->cuts], error, size) < 0
                          : rf_parse_whole(one, 1, RFC_FEATURES_MAX, &self->count[self->cuts], error, size) < 0)
            return -1;
        self->cuts++;
        at += length;
        if (*at == '\0')
            return 0;
    }
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
    "features",
    "--data DIR | --train FILE [--test FILE] [OPTION...]",
    "Classifies as 'rejfilt classify' does and counts how often each feature is\n"
    "asked. Features asked more often matter more. Then it classifies again with\n"
    "only the features asked most, cut by cut.",
    options,
    "  rejfilt features --data synthetic --task zero-one --plot features.svg\n"
    "  rejfilt features --train table.csv --keep 10 --out mask --csv ranking.csv",
    NULL,
    AT(shared.told),
};

/* ---- Runs ---- */

typedef struct result {
    double error, queries;
    uint64_t objects;
    double seconds;
} result;

static void take_part(classify_trial *t, int part)
{
    uint32_t *rows = t->order + (t->objects.rows - t->order), count = 0;
    for (uint32_t i = (uint32_t)part; i < t->objects.count && t->objects.count > 1; i += 2)
        rows[count++] = t->objects.rows[i];
    t->objects.count = count ? count : t->objects.count;
}

/* Runs all shuffles with the features in `mask` (null: all). Adds to the ranking if `r` is not null. With two
   objects or more, part 0 is the even ones, used for ranking, and part 1 the odd ones, used for scoring. */
static int run_all(const config *c, const classify_data *d, int part, const uint8_t *mask, classify_ranking *r,
                   cli_progress *progress, result *out)
{
    char error[300];
    classify_trial trial;
    *out = (result){0, 0, 0, 0};
    for (uint32_t i = 0; i < c->shared.shuffles; i++) {
        int code = classify_trial_open(&c->shared, d, i, &trial);
        if (code != CLI_OK)
            return code;
        take_part(&trial, part);
        rfc_outcome o = {.times_asked = r ? r->asked : NULL};
        trial.rules.mask = mask ? mask : trial.rules.mask;
        double start = rf_clock_seconds();
        code = classify_trial_fit(&c->shared, &trial, NULL);
        if (code == CLI_OK && rfc_model_classify(trial.model, &trial.objects, (unsigned)c->shared.threads,
                                                 cli_progress_show, progress, &o, error, sizeof error) < 0)
            code = cli_error("features: %s", error);
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

static uint32_t kept_at(const config *c, unsigned cut, uint32_t features)
{
    if (isnan(c->percentile[cut]))
        return c->count[cut] < features ? (uint32_t)c->count[cut] : features;
    return classify_ranking_kept(features, c->percentile[cut]);
}

/* Sorts the cuts by the number of features kept, largest first, and drops duplicates. */
static void sort_cuts(config *c, uint32_t features)
{
    unsigned distinct = 0;
    for (unsigned i = 0; i < c->cuts; i++) {
        const double percentile = c->percentile[i];
        const uint64_t count = c->count[i];
        const uint32_t kept = kept_at(c, i, features);
        unsigned at = distinct;
        while (at > 0 && kept_at(c, at - 1, features) <= kept)
            at--;
        if (at < distinct && kept_at(c, at, features) == kept)
            continue;
        memmove(c->percentile + at + 1, c->percentile + at, (distinct - at) * sizeof *c->percentile);
        memmove(c->count + at + 1, c->count + at, (distinct - at) * sizeof *c->count);
        c->percentile[at] = percentile;
        c->count[at] = count;
        distinct++;
    }
    c->cuts = distinct;
}

static int run_cuts(const config *c, const classify_data *d, const classify_ranking *r, const result *all,
                    cli_progress *progress, cli_cut *cuts)
{
    uint32_t features = d->train.features;
    uint8_t *mask = malloc(features);
    int code = mask ? CLI_OK : cli_error("features: out of memory");
    for (unsigned i = 0; i < c->cuts && code == CLI_OK; i++) {
        result one = *all;
        uint32_t kept = kept_at(c, i, features);
        classify_ranking_mask(r, kept, d->mask, mask);
        if (kept < features)
            code = run_all(c, d, 1, mask, NULL, progress, &one);
        else
            progress->before += c->shared.shuffles;
        cuts[i] = (cli_cut){kept, isnan(c->percentile[i]) ? 100 * (1 - (double)kept / features) : c->percentile[i],
                            one.error};
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

static int write_mask(const config *c, const classify_data *d, const classify_ranking *r)
{
    char number[16];
    rf_output output;
    FILE *out = classify_create(&c->shared, c->out, &output);
    uint64_t keep = c->keep ? c->keep : r->ever;
    if (!out)
        return CLI_BAD_INPUT;
    for (uint64_t i = 0; i < keep && i < d->train.features; i++) {
        rf_csv_field(out, rfc_table_feature(&d->train, r->order[i], number, sizeof number));
        putc('\n', out);
    }
    return classify_finish(&c->shared, &output, 1);
}

static int write_csv(const config *c, const classify_data *d, const classify_ranking *r)
{
    char number[16];
    rf_output output;
    FILE *out = classify_create(&c->shared, c->csv, &output);
    if (!out)
        return CLI_BAD_INPUT;
    fprintf(out, "rank,feature,%sasked,variance\n", d->train.width ? "row,column," : "");
    for (uint32_t i = 0; i < d->train.features; i++) {
        uint32_t j = r->order[i];
        fprintf(out, "%u,", i + 1);
        rf_csv_field(out, rfc_table_feature(&d->train, j, number, sizeof number));
        putc(',', out);
        if (d->train.width)
            fprintf(out, "%u,%u,", j / d->train.width, j % d->train.width);
        fprintf(out, "%llu,%.6g\n", (unsigned long long)r->asked[j], r->variance[j]);
    }
    return classify_finish(&c->shared, &output, 1);
}

static int write_plot(const config *c, const classify_data *d, const classify_ranking *r, const cli_cut *cuts)
{
    char title[200];
    double *asked = malloc(d->train.features * sizeof *asked);
    rf_output output;
    FILE *out = asked ? classify_create(&c->shared, c->shared.plot, &output) : NULL;
    int code = asked ? CLI_BAD_INPUT : cli_error("features: out of memory");
    if (out) {
        for (uint32_t j = 0; j < d->train.features; j++)
            asked[j] = (double)r->asked[j];
        const cli_map maps[] = {{"how often it is asked", asked},
                                {"variance over the training set, in its units", r->variance}};
        snprintf(title, sizeof title, "%.60s, task %s, method %s", classify_base_name(d->train.source), d->task.name,
                 classify_method_names[c->shared.method]);
        cli_picture_maps(out, cli_picture_is_page(c->shared.plot), title, &d->train, maps, 2, cuts, c->cuts, r->order);
        code = classify_finish(&c->shared, &output, 1);
        if (code == CLI_OK)
            fprintf(stderr, "picture: %s\n", c->shared.plot);
    }
    free(asked);
    return code;
}

static void print_text(const config *c, const classify_data *d, const classify_ranking *r, const result *all,
                       const cli_cut *cuts)
{
    char number[16];
    classify_describe(&c->shared, d);
    printf("method %s, %llu objects: error %.3f %% with %.2f queries; %u of %u features were ever asked\n",
           classify_method_names[c->shared.method], (unsigned long long)all->objects, 100 * all->error, all->queries,
           r->ever, d->train.features);
    printf("\n  rank  feature           asked    variance\n");
    for (uint32_t i = 0; i < d->train.features && i < 10; i++) {
        const uint32_t j = r->order[i];
        printf("%6u  %-12s %10llu  ", i + 1, rfc_table_feature(&d->train, j, number, sizeof number),
               (unsigned long long)r->asked[j]);
        printf(isnan(r->variance[j]) ? "  category\n" : "%10.4g\n", r->variance[j]);
    }
    if (c->cuts)
        printf("\n  percentile  features  error\n");
    for (unsigned i = 0; i < c->cuts; i++)
        printf("%12.4g  %8u  %.3f %%\n", cuts[i].percentile, cuts[i].features, 100 * cuts[i].error);
}

static void print_json(const config *c, const classify_data *d, const classify_ranking *r, const result *all,
                       const cli_cut *cuts)
{
    char number[16];
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_text(&json, "task", d->task.name);
    cli_json_text(&json, "method", classify_method_names[c->shared.method]);
    cli_json_whole(&json, "features", d->train.features);
    cli_json_whole(&json, "objects", all->objects);
    cli_json_real(&json, "error", all->error);
    cli_json_real(&json, "mean_queries", all->queries);
    cli_json_whole(&json, "ever_asked", r->ever);
    cli_json_real(&json, "seconds", all->seconds);
    cli_json_whole(&json, "seed", c->shared.seed);
    cli_json_bool(&json, "synthetic", c->shared.source.data && strcmp(c->shared.source.data, "synthetic") == 0);
    cli_json_list(&json, "cuts");
    for (unsigned i = 0; i < c->cuts; i++) {
        cli_json_item(&json);
        cli_json_real(&json, "percentile", cuts[i].percentile);
        cli_json_whole(&json, "features", cuts[i].features);
        cli_json_real(&json, "error", cuts[i].error);
    }
    cli_json_list_end(&json);
    cli_json_list(&json, "ranking");
    for (uint32_t i = 0; i < d->train.features; i++) {
        cli_json_item(&json);
        cli_json_text(&json, "feature", rfc_table_feature(&d->train, r->order[i], number, sizeof number));
        cli_json_whole(&json, "asked", r->asked[r->order[i]]);
        cli_json_real(&json, "variance", r->variance[r->order[i]]);
    }
    cli_json_list_end(&json);
    cli_json_close(&json);
}

static int run(const config *c, const classify_data *d)
{
    result all;
    classify_ranking r;
    cli_cut cuts[MOST_CUTS] = {{0, 0, 0}};
    cli_progress progress = {.what = "ranking", .start = rf_clock_seconds(), .total = c->shared.shuffles * (2 + c->cuts)};
    if (classify_ranking_make(&r, d->train.features) < 0)
        return cli_error("features: out of memory");
    result ranked;
    int code = run_all(c, d, 0, NULL, &r, &progress, &ranked);
    if (code == CLI_OK)
        code = run_all(c, d, 1, NULL, NULL, &progress, &all);
    if (code == CLI_OK) {
        all.objects = ranked.objects; /* objects over which questions were counted */
        all.queries = ranked.queries;
        classify_ranking_sort(&r);
        to_units(d, &r);
        code = run_cuts(c, d, &r, &all, &progress, cuts);
    }
    cli_progress_end(&progress);
    if (code == CLI_OK && c->out)
        code = write_mask(c, d, &r);
    if (code == CLI_OK && c->csv)
        code = write_csv(c, d, &r);
    if (code == CLI_OK && c->shared.plot)
        code = write_plot(c, d, &r, cuts);
    if (code == CLI_OK)
        (c->shared.json ? print_json : print_text)(c, d, &r, &all, cuts);
    classify_ranking_free(&r);
    return code;
}

int cli_features(int argc, char **argv)
{
    config c = {.shared = classify_config_default("features")};
    classify_data data;
    char error[64];
    set_cuts(&c, "0%,50%,75%,80%,90%,95%,97.5%", error, sizeof error);
    int go = cli_parse(&usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    if (classify_check_told(&usage, &c.shared, CLASSIFY_EXPLAINS) != CLI_OK)
        return CLI_BAD_INPUT;
    if (c.keep && !c.out)
        return cli_error("features: --keep goes with --out");
    int code = classify_load(&c.shared, &data);
    if (code != CLI_OK)
        return code;
    sort_cuts(&c, data.train.features);
    code = run(&c, &data);
    if (code == CLI_OK)
        classify_warn(&data);
    classify_free(&data);
    return code;
}
