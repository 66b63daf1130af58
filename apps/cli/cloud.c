#define _POSIX_C_SOURCE 200809L
#include "cloud.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cloud_picture.h"
#include "file.h"
#include "knn.h"
#include "machine.h"
#include "random.h"
#include "rows.h"

cloud_config cloud_config_default(const char *command)
{
    cloud_config c = {
        .command = command, .shuffles = 0, .seed = 1, .threads = rf_cpus_allowed(), .particles = 1000, .restarts = 3};
    c.stop = 0.001;
    c.most_cost = INFINITY;
    c.floor = c.sample = -1;
    return c;
}

/* ---- Options ---- */

const char *const cloud_method_names[] = {"weighted", "paper", NULL};
const char *const cloud_gain_names[] = {"between", "variance", "mutual", NULL};
const char *const cloud_scale_names[] = {"auto", "shared", "each", NULL};

int cloud_set_split(void *c, const char *value, char *error, size_t size)
{
    char first[16];
    const char *colon = strchr(value, ':');
    uint64_t a = 0, b = 0;
    snprintf(first, sizeof first, "%.*s", colon ? (int)(colon - value) : 0, value);
    if (!colon || cli_parse_whole(first, 1, 1000, &a, error, size) < 0 ||
        cli_parse_whole(colon + 1, 1, 1000, &b, error, size) < 0) {
        snprintf(error, size, "'%s' is not TRAIN:TEST, whole numbers from 1 to 1000", value);
        return -1;
    }
    ((cloud_config *)c)->split[0] = (unsigned)a;
    ((cloud_config *)c)->split[1] = (unsigned)b;
    return 0;
}

int cloud_set_plot(void *c, const char *value, char *error, size_t size)
{
    ((cloud_config *)c)->plot = value;
    return cli_picture_check(value, error, size);
}

/* ---- Files about features ---- */

/* Calls take(context, feature, what follows the comma or null) for each row. */
typedef int line_taker(void *context, uint32_t feature, const char *rest, char *error, size_t size);

static int each_feature(const char *path, const rf_table *table, line_taker *take, void *context, char *error,
                        size_t size)
{
    rf_rows *r = rf_rows_open(path, ',', 1, error, size);
    int status = r ? 1 : -1;
    while (status == 1 && (status = rf_rows_next(r)) == 1) {
        char reason[160] = "";
        const uint32_t feature = rf_table_find(table, r->field[0]);
        if (feature == table->features)
            snprintf(reason, sizeof reason, "there is no feature '%.60s'", r->field[0]);
        else if (r->fields > 2)
            snprintf(reason, sizeof reason, "has %zu fields; a name with a comma is in quotes", r->fields);
        else
            take(context, feature, r->fields > 1 ? r->field[1] : NULL, reason, sizeof reason);
        if (reason[0])
            status = rf_rows_fail(r, "%s", reason);
    }
    rf_rows_close(r);
    return status;
}

static int take_cost(void *cost, uint32_t feature, const char *rest, char *error, size_t size)
{
    double value;
    if (!rest) {
        snprintf(error, size, "is not FEATURE,COST");
        return -1;
    }
    if (cli_parse_real(rest, 1e-9, 1e9, &value, error, size) < 0)
        return -1;
    ((float *)cost)[feature] = (float)value;
    return 0;
}

static int take_mask(void *mask, uint32_t feature, const char *rest, char *error, size_t size)
{
    if (rest) {
        snprintf(error, size, "is more than a feature");
        return -1;
    }
    ((uint8_t *)mask)[feature] = 1;
    return 0;
}

static int load_features(const cloud_config *c, cloud_data *d, char *error, size_t size)
{
    uint32_t features = d->train.features;
    d->cost = c->cost ? malloc(features * sizeof *d->cost) : NULL;
    d->mask = c->mask ? calloc(features, 1) : NULL;
    if ((c->cost && !d->cost) || (c->mask && !d->mask)) {
        snprintf(error, size, "out of memory");
        return -1;
    }
    for (uint32_t j = 0; j < features && d->cost; j++)
        d->cost[j] = 1;
    if (c->cost && each_feature(c->cost, &d->train, take_cost, d->cost, error, size) < 0)
        return -1;
    if (!c->mask)
        return 0;
    if (each_feature(c->mask, &d->train, take_mask, d->mask, error, size) < 0)
        return -1;
    if (!memchr(d->mask, 1, features)) {
        snprintf(error, size, "%s: names no feature", c->mask);
        return -1;
    }
    return 0;
}

/* ---- Loading ---- */

void cloud_free(cloud_data *d)
{
    rf_table_free(&d->train);
    rf_table_free(&d->test);
    rf_task_free(&d->task);
    free(d->cost);
    free(d->mask);
}

static int check_missing(const rf_table *t, char *error, size_t size)
{
    for (size_t i = 0; t->missing && i < (size_t)t->rows * t->features; i++)
        if (t->missing[i]) {
            char name[64];
            snprintf(error, size, "%s: row %zu: feature %s is missing; only objects to classify may lack some",
                     t->source, i / t->features + 1,
                     rf_table_feature(t, (uint32_t)(i % t->features), name, sizeof name));
            return -1;
        }
    return 0;
}

static int prepare(cloud_config *c, cloud_data *d, char *error, size_t size)
{
    if (rf_load(&c->source, &d->train, &d->test, error, size) < 0)
        return -1;
    if (d->test.rows == 0 && c->split[0] == 0) {
        c->split[0] = 10;
        c->split[1] = 1;
    }
    if (rf_task_apply(&d->task, &d->train, &d->test, &d->left_out, error, size) < 0 ||
        check_missing(&d->train, error, size) < 0 || (c->split[0] && check_missing(&d->test, error, size) < 0) ||
        rf_scale(&d->train, &d->test, (rf_scaling)c->scaling, &d->scaling, error, size) < 0)
        return -1;
    if (c->split[0] && d->test.rows > 0 && rf_table_append(&d->train, &d->test, error, size) < 0)
        return -1;
    if (!c->split[0] && d->test.rows == 0) {
        snprintf(error, size, "%s: no row has a label of the task", d->test.source);
        return -1;
    }
    return load_features(c, d, error, size);
}

int cloud_load(cloud_config *c, cloud_data *d)
{
    char error[600] = "";
    double start = cloud_seconds();
    memset(d, 0, sizeof *d);
    if (!c->source.data == !c->source.train)
        return cli_error("%s: give --data or --train; '--data synthetic' needs no files", c->command);
    if (c->task && c->classes)
        return cli_error("%s: --task and --classes cannot both be given", c->command);
    if ((c->source.test_labels && !c->source.test) || (c->source.train_labels && !c->source.train) ||
        (c->source.test && !c->source.train))
        return cli_error("%s: --test and labels go with --train, --test-labels with --test", c->command);
    if (c->shuffles > 0 && c->split[0] == 0 && (c->source.test || c->source.data))
        return cli_error("%s: --shuffles goes with --split", c->command);
    if (c->method == RF_PAPER && c->gain != RF_BETWEEN)
        return cli_error("%s: --gain is for the weighted method; the paper's asks for the largest variance",
                         c->command);
    c->shuffles = c->shuffles ? c->shuffles : 1;
    c->source.seed = c->seed;
    if (rf_task_parse(c->classes ? NULL : c->task ? c->task : "labels", c->classes, &d->task, error, sizeof error) < 0)
        return cli_error("%s: --%s: %s", c->command, c->classes ? "classes" : "task", error);
    if (prepare(c, d, error, sizeof error) < 0) {
        cloud_free(d);
        return cli_error("%s: %s", c->command, error);
    }
    d->load_seconds = cloud_seconds() - start;
    return CLI_OK;
}

/* ---- Trials ---- */

/* Every class must have training rows. */
static int check_classes(const cloud_data *d, const uint32_t *rows, uint32_t count, char *error, size_t size)
{
    uint32_t of_class[RF_LABELS_MAX] = {0};
    for (uint32_t i = 0; i < count; i++)
        of_class[d->train.label[rows[i]]]++;
    for (uint32_t c = 0; c < d->task.classes.count; c++)
        if (of_class[c] == 0) {
            snprintf(error, size, "%s: class '%s' has too few rows for a split", d->train.source,
                     d->task.classes.text[c]);
            return -1;
        }
    return 0;
}

static void limit_objects(rf_objects *o, uint64_t limit, uint32_t *rows)
{
    if (limit == 0 || limit >= o->count)
        return;
    for (uint32_t i = 0; i < limit; i++)
        rows[i] = rf_objects_row(o, (uint32_t)((uint64_t)o->count * i / limit));
    o->rows = rows;
    o->count = (uint32_t)limit;
}

static int open_trial(const cloud_config *c, const cloud_data *d, uint32_t shuffle, cloud_trial *t, char *error,
                      size_t size)
{
    uint32_t rows = d->train.rows, tested = 0;
    uint64_t seed = c->seed + shuffle * UINT64_C(0x9E3779B97F4A7C15);
    t->order = malloc((rows + (size_t)d->test.rows) * sizeof *t->order);
    if (!t->order) {
        snprintf(error, size, "out of memory");
        return -1;
    }
    if (c->split[0]) {
        rf_shuffle(c->seed, shuffle, RF_FOR_SHUFFLE, t->order, rows);
        tested = (uint32_t)((uint64_t)rows * c->split[1] / (c->split[0] + c->split[1]));
        t->objects = (rf_objects){&d->train, t->order + (rows - tested), tested};
        if (tested == 0) {
            snprintf(error, size, "%s: %u rows are too few for a split %u:%u", d->train.source, rows, c->split[0],
                     c->split[1]);
            return -1;
        }
    } else {
        for (uint32_t i = 0; i < rows; i++)
            t->order[i] = i;
        for (uint32_t i = 0; i < d->test.rows; i++)
            t->order[rows + i] = i;
        t->objects = (rf_objects){&d->test, t->order + rows, d->test.rows};
    }
    limit_objects(&t->objects, c->limit, t->order + (rows - tested));
    if (check_classes(d, t->order, rows - tested, error, size) < 0 ||
        rf_training_make(&d->train, t->order, rows - tested, d->task.classes.count, seed, &t->training, error, size) <
            0)
        return -1;
    t->rules = rf_rules_default((rf_method)c->method, &t->training);
    t->rules.stop = c->stop;
    t->rules.most_cost = c->most_cost;
    t->rules.cost = d->cost;
    t->rules.mask = d->mask;
    t->rules.seed = seed;
    t->rules.gain = (rf_gain)c->gain;
    t->rules.particles = (uint32_t)c->particles;
    t->rules.restarts = (uint32_t)c->restarts;
    t->rules.floor = c->floor < 0 ? t->rules.floor : c->floor;
    t->rules.least_sample = c->sample < 0 ? t->rules.least_sample : c->sample;
    t->rules.budget = c->budget ? (uint32_t)c->budget : t->rules.budget;
    return 0;
}

int cloud_trial_open(const cloud_config *c, const cloud_data *d, uint32_t shuffle, cloud_trial *t)
{
    char error[600];
    memset(t, 0, sizeof *t);
    if (open_trial(c, d, shuffle, t, error, sizeof error) == 0)
        return CLI_OK;
    cloud_trial_close(t);
    return cli_error("%s: %s", c->command, error);
}

void cloud_trial_close(cloud_trial *t)
{
    rf_training_free(&t->training);
    free(t->order);
    t->order = NULL;
}

/* ---- Nearest neighbours ---- */

/* Marks the `wanted` features of largest variance. */
static void mask_by_variance(const rf_training *t, uint64_t wanted, uint8_t *mask)
{
    memset(mask, 0, t->features);
    for (uint64_t i = 0; i < wanted && i < t->features; i++) {
        uint32_t best = t->features;
        for (uint32_t j = 0; j < t->features; j++)
            if (!mask[j] && (best == t->features || t->variance[j] > t->variance[best]))
                best = j;
        mask[best] = 1;
    }
}

int cloud_knn(const cloud_config *c, const cloud_data *d, const cloud_trial *t, uint64_t features, const unsigned k[],
              unsigned ks, cloud_progress *progress, uint64_t errors[])
{
    char error[300];
    unsigned most = 0;
    for (unsigned i = 0; i < ks; i++)
        most = k[i] > most ? k[i] : most;
    if (most > t->training.count)
        return cli_error("%s: --knn: there are %u training vectors only", c->command, t->training.count);
    uint8_t *mask = features ? malloc(t->training.features) : NULL;
    uint32_t *nearest = malloc((size_t)t->objects.count * most * sizeof *nearest);
    if (!nearest || (features && !mask)) {
        free(mask);
        free(nearest);
        return cli_error("%s: out of memory for %u neighbours", c->command, most);
    }
    if (mask)
        mask_by_variance(&t->training, features, mask);
    rf_knn_set train = {d->train.bytes, t->order, t->training.count, d->train.features};
    rf_knn_set queries = {t->objects.table->bytes, t->objects.rows, t->objects.count, d->train.features};
    int status = rf_knn(&train, &queries, mask, most, (unsigned)c->threads, nearest,
                        progress ? cloud_progress_show : NULL, progress, error, sizeof error);
    for (uint32_t q = 0; q < t->objects.count && status == 0; q++) {
        uint32_t *near = nearest + (size_t)q * most, truth = t->objects.table->label[t->objects.rows[q]];
        for (unsigned i = 0; i < most; i++)
            near[i] = t->order[near[i]];
        for (unsigned i = 0; i < ks; i++)
            errors[i] += rf_knn_vote(near, k[i], d->train.label) != truth;
    }
    free(mask);
    free(nearest);
    return status < 0 ? cli_error("%s: %s", c->command, error) : CLI_OK;
}

/* ---- Output ---- */

const char *cloud_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void cloud_describe(const cloud_config *c, const cloud_data *d)
{
    if (c->source.data && strcmp(c->source.data, "synthetic") == 0)
        puts("synthetic digits drawn from strokes: this is not MNIST, and errors here say nothing about it");
    printf("%s: task %s,", d->train.source, d->task.name);
    for (uint32_t i = 0; i < d->task.classes.count && i < 12; i++)
        printf(" %s", d->task.classes.text[i]);
    printf("%s; %u features, numbers %s\n", d->task.classes.count > 12 ? " ..." : "", d->train.features,
           d->scaling == RF_SCALE_SHARED ? "on one scale" : "each on a scale of its own");
    if (d->left_out)
        printf("%llu rows have labels that are not in the task and are left out\n", (unsigned long long)d->left_out);
}

FILE *cloud_create(const cloud_config *c, const char *path)
{
    char error[600];
    FILE *f = rf_file_write(path, error, sizeof error);
    if (!f)
        cli_error("%s: %s", c->command, error);
    return f;
}

int cloud_finish(const cloud_config *c, const char *path, FILE *file)
{
    int bad = ferror(file);
    if (fclose(file) == 0 && !bad)
        return CLI_OK;
    cli_error("%s: could not write all of '%s'", c->command, path);
    return CLI_FAILED;
}

/* ---- Time and progress ---- */

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cloud_seconds(void) { return read_clock(CLOCK_MONOTONIC); }
double cloud_cpu_seconds(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

void cloud_progress_show(void *context, uint64_t done, uint64_t total)
{
    cloud_progress *p = context;
    double now = cloud_seconds(), spent = now - p->start,
           share = ((double)p->before + (double)done / (double)total) / (double)p->total;
    if (!isatty(STDERR_FILENO) || spent < 1 || now - p->shown < 0.2 || share <= 0)
        return;
    enum { WIDTH = 30 };
    int full = (int)(share * WIDTH);
    p->shown = now;
    fprintf(stderr, "\r\033[K%s [%.*s%.*s] %3.0f %%, %.0f s left", p->what, full, "##############################",
            WIDTH - full, "..............................", 100 * share, spent / share * (1 - share));
}

void cloud_progress_end(const cloud_progress *p)
{
    if (p->shown > 0)
        fputs("\r\033[K", stderr);
}
