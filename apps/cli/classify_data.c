#define _POSIX_C_SOURCE 200809L
#include "classify_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rejfilt/session.h"
#include "classify_picture.h"
#include "csv.h"
#include "file.h"
#include "knn.h"
#include "machine.h"
#include "tables/rows.h"

enum { FEW_TEXTS = 16 }; /* so many texts may begin with digits and yet be categories */
#define SURE_STOP 0.0001 /* default `stop` when a budget is given */

classify_config classify_config_default(const char *command)
{
    classify_config c = {.command = command,
                         .shuffles = 0,
                         .seed = 1,
                         .threads = rf_cpus_allowed(),
                         .particles = 1000,
                         .restarts = 3,
                         .pilot = 10000};
    c.max_cost = INFINITY;
    c.stop = c.error = c.mean_questions = c.floor = c.sample = -1;
    c.gain = -1;
    return c;
}

/* ---- Options ---- */

const char *const classify_method_names[] = {"weighted", "paper", NULL};
const char *const classify_gain_names[] = {"between", "variance", "mutual", "ratio", NULL};
const char *const classify_scale_names[] = {"auto", "shared", "each", NULL};

int classify_set_split(void *c, const char *value, char *error, size_t size)
{
    char first[16];
    const char *colon = strchr(value, ':');
    uint64_t a = 0, b = 0;
    snprintf(first, sizeof first, "%.*s", colon ? (int)(colon - value) : 0, value);
    if (!colon || rf_parse_whole(first, 1, 1000, &a, error, size) < 0 ||
        rf_parse_whole(colon + 1, 1, 1000, &b, error, size) < 0) {
        snprintf(error, size, "'%s' is not TRAIN:TEST, whole numbers from 1 to 1000", value);
        return -1;
    }
    ((classify_config *)c)->split[0] = (unsigned)a;
    ((classify_config *)c)->split[1] = (unsigned)b;
    return 0;
}

int classify_set_error(void *c, const char *value, char *error, size_t size)
{
    char number[32];
    const size_t length = strlen(value), is_percent = length > 0 && value[length - 1] == '%';
    snprintf(number, sizeof number, "%.*s", (int)(length - is_percent), value);
    if (rf_parse_real(number, 0, is_percent ? 100 : 1, &((classify_config *)c)->error, error, size) < 0)
        return -1;
    ((classify_config *)c)->error /= is_percent ? 100 : 1;
    return 0;
}

int classify_set_plot(void *c, const char *value, char *error, size_t size)
{
    (void)c;
    return cli_picture_check(value, error, size);
}

/* ---- Files about features ---- */

/* Calls take(context, feature, the fields that follow, or null) for each row. Separator zero: found in the first row. */
typedef int line_taker(void *context, uint32_t feature, const char *rest, const char *more, char *error, size_t size);

static int each_feature(const char *path, char separator, const rfc_table *table, line_taker *take, void *context,
                        char *error, size_t size)
{
    tables_rows *r = tables_rows_open(path, separator, 1, error, size);
    int status = r ? 1 : -1;
    for (int is_first = 1; status == 1 && (status = tables_rows_next(r)) == 1; is_first = 0) {
        char reason[160] = "";
        const uint32_t feature = rfc_table_find(table, r->field[0]);
        double ignored;
        if (feature == table->features && is_first && r->fields > 1 &&
            rf_parse_real(r->field[1], -1e300, 1e300, &ignored, reason, sizeof reason) < 0)
            continue; /* a header */
        reason[0] = '\0';
        if (feature == table->features)
            snprintf(reason, sizeof reason, "there is no feature '%.60s'", r->field[0]);
        else if (r->fields > 3)
            snprintf(reason, sizeof reason, "has %zu fields; a name with a comma is in quotes", r->fields);
        else
            take(context, feature, r->fields > 1 ? r->field[1] : NULL, r->fields > 2 ? r->field[2] : NULL, reason,
                 sizeof reason);
        if (reason[0])
            status = tables_rows_fail(r, "%s", reason);
    }
    tables_rows_close(r);
    return status;
}

/* Costs by feature, and groups by name. */
typedef struct prices {
    float *cost;
    uint32_t *group;
    rfc_names names; /* of groups */
} prices;

static int take_cost(void *context, uint32_t feature, const char *rest, const char *more, char *error, size_t size)
{
    prices *p = context;
    double value;
    if (!rest) {
        snprintf(error, size, "is not FEATURE,COST");
        return -1;
    }
    if (rf_parse_real(rest, 0, 1e9, &value, error, size) < 0)
        return -1;
    p->cost[feature] = (float)value;
    if (!more || !*more)
        return 0;
    p->group[feature] = rfc_names_intern(&p->names, more) + 1;
    if (p->group[feature] > RFC_LABELS_MAX) {
        snprintf(error, size, "more than %d groups", RFC_LABELS_MAX);
        return -1;
    }
    return 0;
}

static int take_mask(void *mask, uint32_t feature, const char *rest, const char *more, char *error, size_t size)
{
    if (rest || more) {
        snprintf(error, size, "has more than the name of a feature");
        return -1;
    }
    ((uint8_t *)mask)[feature] = 1;
    return 0;
}

static int load_features(const classify_config *c, classify_data *d, char *error, size_t size)
{
    uint32_t features = d->train.features;
    d->cost = c->cost ? malloc(features * sizeof *d->cost) : NULL;
    d->mask = c->mask ? calloc(features, 1) : NULL;
    d->group = c->cost ? calloc(features, sizeof *d->group) : NULL;
    prices p = {d->cost, d->group, {NULL, 0}};
    if ((c->cost && (!d->cost || !d->group)) || (c->mask && !d->mask)) {
        snprintf(error, size, "out of memory");
        return -1;
    }
    for (uint32_t j = 0; j < features && d->cost; j++)
        d->cost[j] = 1;
    const int status = c->cost ? each_feature(c->cost, '\0', &d->train, take_cost, &p, error, size) : 0;
    const uint32_t groups = p.names.count;
    rfc_names_free(&p.names);
    if (groups > features) {
        snprintf(error, size, "%s: has more groups than there are features", c->cost);
        return -1;
    }
    if (status < 0)
        return -1;
    if (!c->mask)
        return 0;
    if (each_feature(c->mask, ',', &d->train, take_mask, d->mask, error, size) < 0)
        return -1;
    if (!memchr(d->mask, 1, features)) {
        snprintf(error, size, "%s: names no feature", c->mask);
        return -1;
    }
    return 0;
}

/* ---- Loading ---- */

void classify_free(classify_data *d)
{
    rfc_table_free(&d->train);
    rfc_table_free(&d->test);
    rfc_task_free(&d->task);
    rfc_coding_free(d->coding);
    free(d->cost);
    free(d->group);
    free(d->mask);
    free(d->priors);
    free(d->class_cost);
}

/* Cuts CLASS=NUMBER from the front of a text: behind the name of a class, which may have blanks, or at a blank. */
static char *cut_class(char **rest, const rfc_task *task)
{
    char *one = *rest + strspn(*rest, " ,");
    size_t longest = 0;
    for (uint32_t c = 0; c < task->classes.count; c++) {
        const size_t length = strlen(task->classes.text[c]);
        if (length > longest && strncmp(one, task->classes.text[c], length) == 0 && one[length] == '=')
            longest = length;
    }
    char *end = one + longest + strcspn(one + longest, " ,");
    *rest = end + (*end != '\0');
    *end = '\0';
    return *one ? one : NULL;
}

/* Numbers by class, from a text like "no=1 yes=30". Classes not named get 1 or, if the numbers are `shares`, an
   equal part of the remainder. Returns NULL and fills `error` on failure. */
static double *by_class(const char *text, const rfc_task *task, int shares, char *error, size_t size)
{
    double *out = malloc(task->classes.count * sizeof *out), left = 1;
    char *copy = strdup(text), *rest = copy;
    uint32_t named = 0;
    int status = out && copy ? 0 : rf_fail(error, size, "out of memory");
    for (uint32_t c = 0; c < task->classes.count && status == 0; c++)
        out[c] = -1;
    for (char *one; status == 0 && (one = cut_class(&rest, task));) {
        char *equals = strrchr(one, '='), reason[100];
        double value;
        if (equals)
            *equals = '\0';
        const uint32_t c = rfc_names_find(&task->classes, one);
        if (!equals)
            status = rf_fail(error, size, "'%s' is not CLASS=NUMBER", one);
        else if (c == task->classes.count)
            status = rf_fail(error, size, "there is no class '%s'", one);
        else if (rf_parse_real(equals + 1, 1e-9, shares ? 1 : 1e9, &value, reason, sizeof reason) < 0)
            status = rf_fail(error, size, "class '%s': %s", one, reason);
        else {
            named += out[c] < 0;
            out[c] = value;
            left -= value;
        }
    }
    if (status == 0 && shares && (left < -1e-9 || (named == task->classes.count ? left > 1e-9 : left < 1e-9)))
        status = rf_fail(error, size, "'%s': the shares of all classes must add up to 1", text);
    for (uint32_t c = 0; c < task->classes.count && status == 0; c++)
        if (out[c] < 0)
            out[c] = shares ? left / (task->classes.count - named) : 1;
    free(copy);
    if (status == 0)
        return out;
    free(out);
    return NULL;
}

/* Is there another whole number in every row, of a range that has not many more? */
static int is_numbered(const rfc_table *t, uint32_t feature)
{
    double low = INFINITY, high = -INFINITY;
    for (int pass = 0; pass < 2; pass++) {
        uint8_t *seen = pass ? calloc((size_t)(high - low) + 1, 1) : NULL;
        uint32_t i = 0;
        for (; i < t->rows && (!pass || seen); i++) {
            const size_t at = (size_t)i * t->features + feature;
            const double x = t->reals ? t->reals[at] : (double)t->bytes[at];
            low = fmin(low, x);
            high = fmax(high, x);
            if (x != floor(x) || (t->missing && t->missing[at]) || (pass && seen[(size_t)(x - low)]++))
                break;
        }
        free(seen);
        if (i < t->rows || high - low >= 2.0 * t->rows)
            return 0;
    }
    return 1;
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many different rows there are by features first .. first + count − 1. `hash` has room for all rows. */
static uint32_t count_different(const rfc_table *t, uint32_t first, uint32_t count, uint64_t *hash)
{
    const size_t each = t->reals ? sizeof *t->reals : 1;
    const char *numbers = t->reals ? (const char *)t->reals : (const char *)t->bytes;
    uint32_t different = 0;
    for (size_t row = 0; row < t->rows; row++)
        hash[row] = rf_hash(UINT64_C(14695981039346656037), numbers + (row * t->features + first) * each, count * each);
    qsort(hash, t->rows, sizeof *hash, compare_hashes);
    for (uint32_t i = 0; i < t->rows; i++)
        different += i == 0 || hash[i] != hash[i - 1];
    return different;
}

/* The rows that are copies of others, if they are many, and numbers are too fine to be alike by chance; otherwise 0. */
static uint32_t count_copies(const rfc_table *t)
{
    uint64_t *hash = malloc(t->rows * sizeof *hash);
    const uint32_t different = hash ? count_different(t, 0, t->features, hash) : t->rows, copies = t->rows - different;
    int is_fine = 0;
    for (uint32_t j = 0; copies > t->rows / 10 && j < t->features && !is_fine; j++)
        is_fine = count_different(t, j, 1, hash) > different / 2;
    free(hash);
    return is_fine ? copies : 0;
}

/* The first of the texts that begin with a digit, if nearly all do; or null. */
static const char *like_numbers(const rfc_names *texts)
{
    const char *first = NULL;
    uint32_t count = 0;
    for (uint32_t k = 0; k < texts->count; k++)
        if (strpbrk(texts->text[k], "0123456789") == texts->text[k]) {
            first = first ? first : texts->text[k];
            count++;
        }
    return texts->count > FEW_TEXTS && count > texts->count * 9 / 10 ? first : NULL;
}

/* Warns about rows that are copies, columns that look like row numbers, ids or numbers that were not read, about
   features that give away the label, and about labels that look like numbers to be predicted. */
static void find_warnings(const classify_config *c, classify_data *d)
{
    const rfc_table *t = &d->train;
    size_t used = 0;
    char number[16];
    if (t->rows > 20 && d->task.classes.count > t->rows / 3)
        used += (size_t)snprintf(d->warnings, sizeof d->warnings,
                                 "rejfilt: %s: warning: %u classes for %u rows; is --label the right column?\n",
                                 c->command, d->task.classes.count, t->rows);
    const uint32_t copies = t->rows > 20 && t->height == 0 && t->features <= 4096 ? count_copies(t) : 0;
    if (copies > 0)
        used += (size_t)snprintf(d->warnings + used, sizeof d->warnings - used,
                                 "rejfilt: %s: warning: %u of %u rows are copies of others; stated errors count on "
                                 "copies among new objects\n",
                                 c->command, copies, t->rows);
    for (uint32_t j = 0; j < t->features && t->rows > 20 && t->height == 0 && t->features <= 4096; j++) {
        double seen[RFC_LABELS_MAX];
        uint32_t of[RFC_LABELS_MAX], kinds = 0, tells = 1;
        const int is_text = t->categories && t->categories[j].count > 0;
        const char *looks = is_text ? like_numbers(&t->categories[j]) : NULL;
        for (uint32_t i = 0; i < t->rows && tells; i++) {
            const size_t at = (size_t)i * t->features + j;
            const double x = t->reals ? t->reals[at] : (double)t->bytes[at];
            uint32_t k = 0;
            while (tells && k < kinds && seen[k] != x)
                k++;
            if (tells && k == kinds) {
                tells = kinds < 16;
                seen[k] = x;
                of[k] = t->label[i];
                kinds += tells;
            }
            tells = tells && of[k] == t->label[i];
        }
        const char *name = rfc_table_feature(t, j, number, sizeof number);
        const size_t room = sizeof d->warnings - used;
        if (!is_text && is_numbered(t, j))
            used += (size_t)snprintf(d->warnings + used, room,
                                     "rejfilt: %s: warning: column '%.60s' counts the rows; --drop leaves it out\n",
                                     c->command, name);
        else if (t->categories && t->categories[j].count > 1 + t->rows * 9 / 10)
            used += (size_t)snprintf(
                d->warnings + used, room,
                "rejfilt: %s: warning: column '%.60s' has %u texts in %u rows; is it an id? --drop leaves it out\n",
                c->command, name, t->categories[j].count - 1, t->rows);
        else if (tells && kinds > 1)
            used += (size_t)snprintf(
                d->warnings + used, room,
                "rejfilt: %s: warning: column '%.60s' tells the label of every row; is it one? --drop leaves it out\n",
                c->command, name);
        else if (looks)
            used += (size_t)snprintf(
                d->warnings + used, room,
                "rejfilt: %s: warning: column '%.60s' has texts like '%.30s': each is a category, not a number\n",
                c->command, name, looks);
        if (used >= sizeof d->warnings) { /* no partial lines */
            d->warnings[sizeof d->warnings - room] = '\0';
            return;
        }
    }
}

void classify_warn(const classify_data *d) { fputs(d->warnings, stderr); }

static int prepare(classify_config *c, classify_data *d, char *error, size_t size)
{
    if (tables_load(&c->source, &d->train, &d->test, error, size) < 0)
        return -1;
    if (d->test.rows == 0 && c->split[0] == 0 && !c->is_fit) {
        c->split[0] = 10;
        c->split[1] = 1;
    }
    if (rfc_task_apply(&d->task, &d->train, &d->test, &d->left_out, error, size) < 0)
        return -1;
    find_warnings(c, d);
    if ((c->priors && !(d->priors = by_class(c->priors, &d->task, 1, error, size))) ||
        (c->class_cost && !(d->class_cost = by_class(c->class_cost, &d->task, 0, error, size))))
        return -1;
    d->coding = rfc_coding_make(&d->train, (rfc_scaling)c->scaling, error, size);
    if (!d->coding || rfc_coding_apply(d->coding, &d->train, error, size) < 0 ||
        (d->test.rows > 0 && rfc_coding_apply(d->coding, &d->test, error, size) < 0))
        return -1;
    d->scaling = rfc_coding_scaling(d->coding);
    if (c->split[0] && d->test.rows > 0 && rfc_table_append(&d->train, &d->test, error, size) < 0)
        return -1;
    if (!c->split[0] && d->test.rows == 0 && !c->is_fit) {
        snprintf(error, size, "%s: no row has a label of the task", d->test.source);
        return -1;
    }
    return load_features(c, d, error, size);
}

enum { WEIGHTED = 4, PAPER = 8, SPLITS = 16, CLASSIFIES = 32 };

int classify_check_told(const cli_usage *usage, const classify_config *c, unsigned run)
{
    static const char weighted[] = "--%s is read by --method weighted alone; leave it out", paper[] = "--%s is read by --method paper alone; leave it out";
    static const cli_rule rules[] = {
        {"error", WEIGHTED, weighted}, {"mean-questions", WEIGHTED, weighted}, {"priors", WEIGHTED, weighted},
        {"class-cost", WEIGHTED, weighted}, {"pilot", WEIGHTED, weighted}, {"sample", WEIGHTED, weighted},
        {"particles", PAPER, paper}, {"restarts", PAPER, paper},
        {"plot", CLASSIFY_EXPLAINS, "--%s is the picture of --explain; give that, too"},
        {"knn-features", CLASSIFY_COMPARES, "--%s is about --knn; give that, too"},
        {"shuffles", SPLITS, "--%s needs data that are split; leave it out"},
        {"limit", CLASSIFIES, "--%s is about objects to classify; leave it out"},
        {NULL, 0, NULL}};
    run |= (c->method == RFC_PAPER ? PAPER : WEIGHTED) | (c->is_fit ? 0 : CLASSIFIES) | (!c->is_fit && (!c->source.test || c->split[0]) ? SPLITS : 0);
    return cli_check_told(usage, c, rules, run);
}

int classify_load(classify_config *c, classify_data *d)
{
    char error[600] = "";
    double start = rf_clock_seconds();
    memset(d, 0, sizeof *d);
    if (!c->source.data == !c->source.train)
        return cli_error("%s: give --data or --train; '--data synthetic' needs no files", c->command);
    if (c->task && c->classes)
        return cli_error("%s: --task and --classes cannot both be given", c->command);
    if ((c->source.test_labels && !c->source.test) || (c->source.train_labels && !c->source.train) ||
        (c->source.test && !c->source.train))
        return cli_error("%s: --test and --train-labels need --train; --test-labels needs --test", c->command);
    if (c->shuffles > 0 && c->split[0] == 0 && (c->source.test || c->source.data))
        return cli_error("%s: --shuffles goes with --split", c->command);
    if (c->method == RFC_PAPER && c->gain > RFC_BETWEEN)
        return cli_error("%s: --gain needs --method weighted", c->command);
    c->shuffles = c->shuffles ? c->shuffles : 1;
    c->source.seed = c->seed;
    c->source.drop = c->drop;
    if (rfc_task_parse(c->classes ? NULL : c->task ? c->task : "labels", c->classes, &d->task, error, sizeof error) < 0)
        return cli_error("%s: --%s: %s", c->command, c->classes ? "classes" : "task", error);
    if (prepare(c, d, error, sizeof error) < 0) {
        classify_free(d);
        return cli_error("%s: %s", c->command, error);
    }
    d->load_seconds = rf_clock_seconds() - start;
    return CLI_OK;
}

/* ---- Trials ---- */

/* Every class must have training rows. */
static int check_classes(const classify_data *d, const uint32_t *rows, uint32_t count, char *error, size_t size)
{
    uint32_t of_class[RFC_LABELS_MAX] = {0};
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

static void limit_objects(rfc_objects *o, uint64_t limit, uint32_t *rows)
{
    if (limit == 0 || limit >= o->count)
        return;
    for (uint32_t i = 0; i < limit; i++)
        rows[i] = rfc_objects_row(o, (uint32_t)((uint64_t)o->count * i / limit));
    o->rows = rows;
    o->count = (uint32_t)limit;
}

/* Factors of the odds: the wanted share of each class divided by its share in the training rows. */
static int set_priors(const classify_data *d, classify_trial *t, uint32_t count, char *error, size_t size)
{
    const uint32_t classes = d->task.classes.count;
    t->prior = calloc(classes, sizeof *t->prior);
    if (!t->prior) {
        snprintf(error, size, "out of memory");
        return -1;
    }
    for (uint32_t i = 0; i < count; i++)
        t->prior[d->train.label[t->order[i]]] += 1.0 / count;
    for (uint32_t k = 0; k < classes; k++)
        t->prior[k] = d->priors[k] / t->prior[k];
    t->rules.prior = t->prior;
    return 0;
}

static int open_trial(const classify_config *c, const classify_data *d, uint32_t shuffle, classify_trial *t,
                      char *error, size_t size)
{
    uint32_t rows = d->train.rows, tested = 0;
    uint64_t seed = c->seed + shuffle * UINT64_C(0x9E3779B97F4A7C15);
    t->order = malloc((rows + (size_t)d->test.rows) * sizeof *t->order);
    if (!t->order) {
        snprintf(error, size, "out of memory");
        return -1;
    }
    if (c->split[0]) {
        rfc_shuffle(c->seed, shuffle, t->order, rows);
        tested = (uint32_t)((uint64_t)rows * c->split[1] / (c->split[0] + c->split[1]));
        t->objects = (rfc_objects){&d->train, t->order + (rows - tested), tested};
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
        t->objects = (rfc_objects){&d->test, t->order + rows, d->test.rows};
    }
    limit_objects(&t->objects, c->limit, t->order + (rows - tested));
    if (check_classes(d, t->order, rows - tested, error, size) < 0)
        return -1;
    t->training = rfc_training_open(&d->train, t->order, rows - tested, d->task.classes.count, seed, error, size);
    if (!t->training)
        return -1;
    t->rules = rfc_rules_default((rfc_method)c->method, t->training);
    if (c->budget > 0 && c->method == RFC_WEIGHTED)
        t->rules.stop = SURE_STOP; /* ask as long as the budget allows, unless the class is already certain */
    t->rules.stop = c->stop < 0 ? t->rules.stop : c->stop;
    t->rules.max_cost = c->max_cost;
    t->rules.cost = d->cost;
    t->rules.group = d->group;
    t->rules.mask = d->mask;
    t->rules.weight = d->class_cost;
    t->rules.pilot = (uint32_t)c->pilot;
    if (d->priors && set_priors(d, t, rows - tested, error, size) < 0)
        return -1;
    t->rules.seed = seed;
    t->rules.gain = c->gain < 0 ? t->rules.gain : (rfc_gain)c->gain;
    t->rules.particles = (uint32_t)c->particles;
    t->rules.restarts = (uint32_t)c->restarts;
    t->rules.tries &= c->floor < 0 && c->sample < 0;
    t->rules.floor = c->floor < 0 ? t->rules.floor : c->floor;
    t->rules.least_sample = c->sample < 0 ? t->rules.least_sample : c->sample;
    t->rules.budget = c->budget ? (uint32_t)c->budget : t->rules.budget;
    return 0;
}

int classify_trial_open(const classify_config *c, const classify_data *d, uint32_t shuffle, classify_trial *t)
{
    char error[600];
    memset(t, 0, sizeof *t);
    if (open_trial(c, d, shuffle, t, error, sizeof error) == 0)
        return CLI_OK;
    classify_trial_close(t);
    return cli_error("%s: %s", c->command, error);
}

int classify_trial_fit(const classify_config *c, classify_trial *t, cli_progress *progress)
{
    char error[300];
    t->model = rfc_model_fit(t->training, &t->rules, (unsigned)c->threads, progress ? cli_progress_show : NULL,
                             progress, error, sizeof error);
    if (!t->model)
        return cli_error("%s: %s", c->command, error);
    rfc_goal goal = c->error >= 0                   ? RFC_GOAL_ERROR
                    : c->mean_questions >= 0        ? RFC_GOAL_QUESTIONS
                    : c->stop >= 0 || c->budget > 0 ? RFC_GOAL_STOP
                                                    : RFC_GOAL_BEST;
    double value = c->error >= 0 ? c->error : c->mean_questions >= 0 ? c->mean_questions : t->rules.stop;
    t->is_reached = c->method == RFC_PAPER || rfc_model_stop(t->model, goal, value, &t->expected) != 1;
    return CLI_OK;
}

const char *classify_limit(const classify_trial *t, char *text, size_t size)
{
    *text = '\0';
    if (t->expected.budget > 0 && t->expected.budget < t->rules.budget)
        snprintf(text, size, ", at most %u queries", t->expected.budget);
    return text;
}

void classify_trial_close(classify_trial *t)
{
    rfc_model_close(t->model);
    free(t->prior);
    rfc_training_close(t->training);
    free(t->order);
    t->order = NULL;
}

/* ---- Nearest neighbours ---- */

/* Marks the `wanted` features of largest variance. */
static void mask_by_variance(const float variance[], uint32_t features, uint64_t wanted, uint8_t *mask)
{
    memset(mask, 0, features);
    for (uint64_t i = 0; i < wanted && i < features; i++) {
        uint32_t best = features;
        for (uint32_t j = 0; j < features; j++)
            if (!mask[j] && (best == features || variance[j] > variance[best]))
                best = j;
        mask[best] = 1;
    }
}

int classify_knn(const classify_config *c, const classify_data *d, const classify_trial *t, uint64_t features,
                 const unsigned k[], unsigned ks, cli_progress *progress, uint64_t errors[])
{
    char error[300];
    unsigned max = 0;
    for (unsigned i = 0; i < ks; i++)
        max = k[i] > max ? k[i] : max;
    const uint32_t count = rfc_training_count(t->training);
    if (max > count)
        return cli_error("%s: --knn: there are only %u training vectors", c->command, count);
    uint8_t *mask = features ? malloc(d->train.features) : NULL;
    uint32_t *nearest = malloc((size_t)t->objects.count * max * sizeof *nearest);
    if (!nearest || (features && !mask)) {
        free(mask);
        free(nearest);
        return cli_error("%s: out of memory for %u neighbours", c->command, max);
    }
    if (mask)
        mask_by_variance(rfc_training_variance(t->training), d->train.features, features, mask);
    rf_knn_set train = {d->train.bytes, t->order, count, d->train.features};
    rf_knn_set queries = {t->objects.table->bytes, t->objects.rows, t->objects.count, d->train.features};
    int status = rf_knn(&train, &queries, mask, max, (unsigned)c->threads, nearest, progress ? cli_progress_show : NULL,
                        progress, error, sizeof error);
    for (uint32_t q = 0; q < t->objects.count && status == 0; q++) {
        uint32_t *near = nearest + (size_t)q * max, truth = t->objects.table->label[t->objects.rows[q]];
        for (unsigned i = 0; i < max; i++)
            near[i] = t->order[near[i]];
        for (unsigned i = 0; i < ks; i++)
            errors[i] += truth != RFC_NO_LABEL && rf_knn_vote(near, k[i], d->train.label) != truth;
    }
    free(mask);
    free(nearest);
    return status < 0 ? cli_error("%s: %s", c->command, error) : CLI_OK;
}

/* ---- One CSV row per object ---- */

void classify_put_header(FILE *out, const rfc_names *classes)
{
    fputs("object,label,decided", out);
    for (uint32_t c = 0; c < classes->count; c++) {
        putc(',', out);
        rf_csv_field(out, "p_", classes->text[c]);
    }
    fputs(",queries,asked\n", out);
}

/* The features that were asked, as one text: words between blanks. */
static void list_asked(FILE *list, const rfc_table *named, const uint32_t asked[], uint32_t count)
{
    char number[16];
    rewind(list);
    for (uint32_t k = 0; k < count; k++) {
        fputs(k ? " " : "", list);
        rf_csv_word(list, rfc_table_feature(named, asked[k], number, sizeof number));
    }
    putc('\0', list);
    fflush(list);
}

int classify_put_objects(FILE *out, const rfc_names *classes, const rfc_table *named, const rfc_objects *objects,
                         const rfc_outcome *o, uint64_t first)
{
    char *asked = NULL;
    size_t size;
    FILE *list = open_memstream(&asked, &size);
    for (uint32_t i = 0; i < objects->count && list; i++) {
        fprintf(out, "%llu,", (unsigned long long)first + i);
        const uint32_t truth = objects->table->label[rfc_objects_row(objects, i)];
        if (truth < classes->count)
            rf_csv_field(out, classes->text[truth]);
        putc(',', out);
        rf_csv_field(out, classes->text[o->decided[i]]);
        for (uint32_t c = 0; c < classes->count; c++)
            fprintf(out, ",%.6g", (double)o->posterior[(size_t)i * classes->count + c]);
        fprintf(out, ",%u,", o->queries[i]);
        list_asked(list, named, o->asked[i], o->queries[i]);
        rf_csv_field(out, asked);
        putc('\n', out);
    }
    int status = list && !ferror(list) ? 0 : -1;
    if (list && fclose(list) != 0)
        status = -1;
    free(asked);
    return status;
}

void classify_answers_free(rfc_outcome *o, uint32_t count)
{
    for (uint32_t i = 0; i < count && o->asked; i++)
        free(o->asked[i]);
    free(o->asked);
    free(o->decided);
    free(o->posterior);
    free(o->queries);
}

int classify_answers_make(uint32_t count, uint32_t classes, rfc_outcome *o)
{
    o->decided = malloc(count);
    o->posterior = malloc((size_t)count * classes * sizeof *o->posterior);
    o->queries = malloc(count * sizeof *o->queries);
    o->asked = calloc(count, sizeof *o->asked);
    return o->decided && o->posterior && o->queries && o->asked ? 0 : -1;
}

/* ---- Output ---- */

const char *classify_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void classify_describe(const classify_config *c, const classify_data *d)
{
    if (c->source.data && strcmp(c->source.data, "synthetic") == 0)
        puts("synthetic digits drawn from strokes: this is not MNIST, and errors here say nothing about it");
    printf("%s: task %s,", d->train.source, d->task.name);
    for (uint32_t i = 0; i < d->task.classes.count && i < 12; i++)
        printf(" %s", d->task.classes.text[i]);
    printf("%s; %u features, numbers %s\n", d->task.classes.count > 12 ? " ..." : "", d->train.features,
           d->scaling == RFC_SCALE_SHARED ? "on one scale" : "each on a scale of its own");
    if (d->left_out)
        printf("%llu rows have labels that are not in the task and are left out\n", (unsigned long long)d->left_out);
}

FILE *classify_create(const classify_config *c, const char *path, rf_output *output)
{
    char error[600];
    if (!rf_output_open(output, path, 0, error, sizeof error))
        cli_error("%s: %s", c->command, error);
    return output->stream;
}

int classify_finish(const classify_config *c, rf_output *output, int is_wanted)
{
    char error[600];
    if (rf_output_close(output, is_wanted, error, sizeof error) == 0)
        return CLI_OK;
    cli_error("%s: %s", c->command, error);
    return CLI_FAILED;
}
