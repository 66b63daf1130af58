#include "coding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

#define MOST_WEIGHT 20.0
#define OUTLYING 10 /* least range of all values, in ranges without the tails, that has outliers */
#define FAR 1e4     /* most distance from 0, in ranges, for a linear map */
enum { SAMPLE = 10000, SMALL_SAMPLE = 1000, MANY = 1 << 14 }; /* with MANY features or more, fewer quantiles are kept */

static double value_at(const rfc_table *t, size_t i) { return t->reals ? t->reals[i] : (double)t->bytes[i]; }

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Writes up to `max` values of a feature (of all, if it is t->features), sorted; returns how many. */
static size_t sample(const rfc_table *t, uint32_t feature, size_t max, double *out)
{
    int all = feature == t->features;
    size_t count = 0, total = all ? (size_t)t->rows * t->features : t->rows;
    size_t step = total / max + 1;
    if (all && step > 1 && t->features % step == 0)
        step++; /* avoids taking the same features in every row */
    for (size_t i = 0; i < total && count < max; i += step) {
        size_t at = all ? i : i * t->features + feature;
        if (!t->missing || !t->missing[at])
            out[count++] = value_at(t, at);
    }
    qsort(out, count, sizeof *out, compare);
    return count;
}

/* ---- One map for all ---- */

/* Do most of the varying features span nearly the range of all? Ranges: 5th to 95th percentile. */
static int looks_shared(const rfc_table *t, double *room)
{
    double low = INFINITY, high = -INFINITY, least = INFINITY, most = -INFINITY;
    uint32_t vary = 0, wide = 0;
    if (t->height > 0 || t->categories)
        return t->height > 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t j = 0; j < t->features; j++) {
            size_t count = sample(t, j, SMALL_SAMPLE, room), tail = count / 20;
            double a = count ? room[tail] : 0, b = count ? room[count - 1 - tail] : 0;
            least = count ? fmin(least, room[0]) : least;
            most = count ? fmax(most, room[count - 1]) : most;
            if (!(a < b))
                continue;
            if (fmax(fabs(a), fabs(b)) > FAR * (b - a)) /* a linear map of floats would not tell such values apart */
                return 0;
            low = a < low ? a : low;
            high = b > high ? b : high;
            vary += pass == 1;
            wide += pass == 1 && b - a >= 0.9 * (high - low);
        }
    return 2 * wide > vary && most - least < OUTLYING * (high - low);
}

static int reaches_upper_half(const rfc_table *t)
{
    for (size_t i = 0; t->bytes && i < (size_t)t->rows * t->features; i++)
        if (t->bytes[i] >= 128)
            return 1;
    return 0;
}

static rfc_map map_of_all(const rfc_table *t, double *room)
{
    rfc_map m = {0, 1};
    if (reaches_upper_half(t))
        return m;
    size_t count = sample(t, t->features, SAMPLE, room),
           tail = count / 1000; /* outliers do not set the scale */
    if (count > 0 && !(room[count - 1 - tail] > room[tail]))
        tail = 0;
    const float low = count ? (float)room[tail] : 0, high = count ? (float)room[count - 1 - tail] : 0;
    m.factor = high > low ? 255 / (high - low) : 0;
    m.offset = -low * m.factor;
    return m;
}

/* ---- Each feature by its ranks ---- */

/* How often a row of each class counts where values are ranked. A class of less than half of an equal share counts
   more: else its values would share the last few ranks, and nothing would tell them apart. Returns whether there is
   one. */
static int find_weights(const rfc_table *t, double weight[RFC_LABELS_MAX])
{
    double of_class[RFC_LABELS_MAX] = {0}, all = 0;
    uint32_t classes = 0;
    int is_any = 0;
    for (size_t row = 0; t->label && row < t->rows; row++)
        if (t->label[row] < RFC_LABELS_MAX) {
            classes += of_class[t->label[row]]++ == 0;
            all++;
        }
    for (uint32_t c = 0; c < RFC_LABELS_MAX; c++) {
        weight[c] = fmin(fmax(all / (2.0 * classes * of_class[c]), 1), MOST_WEIGHT);
        is_any |= of_class[c] > 0 && weight[c] > 1;
    }
    return is_any;
}

static double weight_of(const rfc_table *t, size_t row, const double *weight)
{
    return t->label[row] < RFC_LABELS_MAX ? weight[t->label[row]] : 1;
}

/* As sample(), SAMPLE values of which each row has as many as its class's weight says. */
static size_t sample_weighted(const rfc_table *t, uint32_t feature, const double *weight, double *out)
{
    size_t count = 0;
    double all = 0, due = 0;
    for (size_t row = 0; row < t->rows; row++)
        all += weight_of(t, row, weight);
    for (size_t row = 0; row < t->rows; row++) {
        const size_t at = row * t->features + feature;
        for (due += weight_of(t, row, weight) * SAMPLE / all; due >= 1 && count < SAMPLE; due--)
            if (!t->missing || !t->missing[at])
                out[count++] = value_at(t, at);
    }
    qsort(out, count, sizeof *out, compare);
    return count;
}

/* Quantiles of a feature's values. weight: by class, how often a row counts; null: once. */
static void keep_quantiles(const rfc_table *t, uint32_t feature, uint32_t cuts, const double *weight, double *room,
                           double *quantile)
{
    const size_t count = weight ? sample_weighted(t, feature, weight, room) : sample(t, feature, SAMPLE, room);
    for (uint32_t k = 0; k < cuts; k++)
        quantile[k] = count ? room[(size_t)(((double)k + 0.5) / cuts * (double)count)] : 0;
}

/* Twice the rank of x among the quantiles: the number below it plus the number not above it. */
static uint32_t rank_of(const double *quantile, uint32_t cuts, double x)
{
    uint32_t below = 0, within = 0;
    for (uint32_t step = 256; step > 0; step /= 2) {
        below += below + step <= cuts && quantile[below + step - 1] < x ? step : 0;
        within += within + step <= cuts && quantile[within + step - 1] <= x ? step : 0;
    }
    return below + within;
}

/* The code of a category. Codes are as far apart as their number allows, at least two. */
static uint8_t code_of(const rfc_names *categories, uint32_t category)
{
    const uint32_t count = categories->count < RFC_CATEGORIES_MAX ? categories->count : RFC_CATEGORIES_MAX,
                   last = count > 1 ? count - 1 : 1;
    return (uint8_t)((category < count ? category : count - 1) * (255 / last));
}

/* The texts of a feature, most frequent first, equally frequent ones in order of appearance. Returns 0, or -1 when out
   of memory. */
static int sort_categories(const rfc_table *t, uint32_t feature, rfc_names *out)
{
    const rfc_names *in = &t->categories[feature];
    uint32_t times[RFC_LABELS_MAX] = {0};
    for (size_t row = 0; row < t->rows; row++) {
        const size_t at = row * t->features + feature;
        if (!t->missing || !t->missing[at])
            times[(size_t)value_at(t, at)]++;
    }
    for (uint32_t k = 0; k < in->count; k++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < in->count; i++)
            best = times[i] > times[best] ? i : best;
        if (times[best] > 0 && rfc_names_add(out, in->text[best]) < 0)
            return -1;
        times[best] = 0;
    }
    return 0;
}

/* ---- Making and applying ---- */

void rfc_coding_free(rfc_coding *c)
{
    for (uint32_t j = 0; c && c->categories && j < c->features; j++)
        rfc_names_free(&c->categories[j]);
    if (c) {
        free(c->categories);
        free(c->quantile);
        free(c->fill);
    }
    free(c);
}

rfc_scaling rfc_coding_scaling(const rfc_coding *c) { return c->used; }
const rfc_names *rfc_coding_categories(const rfc_coding *c) { return c->categories; }

static int is_category(const rfc_coding *c, uint32_t feature)
{
    return c->categories && c->categories[feature].count > 0;
}

int rfc_coding_number(const rfc_coding *c, uint32_t feature, double value, uint8_t *byte)
{
    if (!c || !byte || feature >= c->features)
        return -1;
    if (is_category(c, feature))
        return -1;
    if (c->used == RFC_SCALE_EACH) {
        *byte = (uint8_t)(rank_of(c->quantile + (size_t)feature * c->cuts, c->cuts, value) * 255 / (2 * c->cuts));
    } else {
        const float b = c->all.offset + c->all.factor * (float)value + 0.5f;
        *byte = (uint8_t)(b < 0 ? 0 : b > 255 ? 255 : b);
    }
    return 0;
}

int rfc_coding_text(const rfc_coding *c, uint32_t feature, const char *text, uint8_t *byte)
{
    if (!c || !byte || !text || feature >= c->features)
        return -1;
    if (!is_category(c, feature))
        return -1;
    const rfc_names *known = &c->categories[feature];
    const uint32_t category = rfc_names_find(known, text);
    *byte = code_of(known, category);
    return category == known->count && known->count <= RFC_CATEGORIES_MAX;
}

double rfc_coding_value(const rfc_coding *c, uint32_t feature, uint8_t byte)
{
    if (is_category(c, feature))
        return NAN;
    if (c->used == RFC_SCALE_EACH)
        return c->quantile[(size_t)feature * c->cuts + (size_t)byte * (c->cuts - 1) / 255];
    return c->all.factor > 0 ? ((double)byte - (double)c->all.offset) / (double)c->all.factor
                             : (double)byte; /* all numbers were equal */
}

const char *rfc_coding_show(const rfc_coding *c, uint32_t feature, uint8_t byte, char *text, size_t size)
{
    const double value = rfc_coding_value(c, feature, byte);
    uint8_t same = 0;
    for (int decimals = 0; decimals < 4 && fabs(value) < 1e4; decimals++) { /* as few as tell the byte */
        snprintf(text, size, "%.*f", decimals, value);
        const double shown = strtod(text, NULL);
        if (rfc_coding_number(c, feature, shown, &same) == 0 && same == byte && (shown < 0 || text[0] != '-'))
            return text;
    }
    snprintf(text, size, "%.4g", value);
    for (uint32_t k = 0; is_category(c, feature) && k < c->categories[feature].count; k++)
        if (code_of(&c->categories[feature], k) == byte) {
            snprintf(text, size, "%s", c->categories[feature].text[k]);
            break;
        }
    return text;
}

/* Finds the replacement for missing numbers: the mean of the present bytes, or the first category. */
static void find_fill(rfc_coding *c, const rfc_table *t)
{
    for (uint32_t j = 0; j < t->features; j++) {
        uint64_t sum = 0, count = 0;
        uint8_t byte = 0;
        for (size_t row = 0; row < t->rows && !is_category(c, j); row++)
            if (!t->missing[row * t->features + j]) {
                rfc_coding_number(c, j, value_at(t, row * t->features + j), &byte);
                sum += byte;
                count++;
            }
        c->fill[j] = (uint8_t)(count ? sum / count : 0);
    }
}

rfc_coding *rfc_coding_make(const rfc_table *t, rfc_scaling wanted, char *error, size_t size)
{
    if (!t || (t->rows > 0 && !t->bytes && !t->reals)) {
        rf_fail(error, size, "a coding needs a table");
        return NULL;
    }
    rfc_coding *c = calloc(1, sizeof *c);
    double *room = malloc(SAMPLE * sizeof *room), weight[RFC_LABELS_MAX];
    const int is_weighted = find_weights(t, weight);
    int status = c && room ? 0 : -1;
    if (status == 0) {
        c->features = t->features;
        c->used = wanted != RFC_SCALE_AUTO ? wanted : looks_shared(t, room) ? RFC_SCALE_SHARED : RFC_SCALE_EACH;
        c->used = t->categories ? RFC_SCALE_EACH : c->used;
        c->cuts = t->features <= MANY ? 255 : 51;
        c->fill = calloc(t->features, 1);
        c->all = (rfc_map){0, 1};
        if (c->used == RFC_SCALE_SHARED)
            c->all = map_of_all(t, room);
        else
            c->quantile = calloc((size_t)t->features * c->cuts, sizeof *c->quantile); /* categories have none */
        if (t->categories)
            c->categories = calloc(t->features, sizeof *c->categories);
        status = c->fill && (c->quantile || c->used == RFC_SCALE_SHARED) && (c->categories || !t->categories) ? 0 : -1;
    }
    for (uint32_t j = 0; status == 0 && c->used == RFC_SCALE_EACH && j < t->features; j++)
        if (t->categories && t->categories[j].count > 0)
            status = sort_categories(t, j, &c->categories[j]);
        else
            keep_quantiles(t, j, c->cuts, is_weighted ? weight : NULL, room, c->quantile + (size_t)j * c->cuts);
    if (status == 0 && t->missing)
        find_fill(c, t);
    free(room);
    if (status == 0)
        return c;
    rfc_coding_free(c);
    rf_fail(error, size, "%s: out of memory", t->source);
    return NULL;
}

/* The byte of a number of the table. */
static uint8_t byte_at(const rfc_coding *c, const rfc_table *t, size_t at)
{
    const uint32_t feature = (uint32_t)(at % t->features);
    uint8_t byte = 0;
    if (t->missing && t->missing[at])
        return c->fill[feature];
    if (is_category(c, feature) && t->categories && t->categories[feature].count > 0)
        rfc_coding_text(c, feature, t->categories[feature].text[(size_t)value_at(t, at)], &byte);
    else if (!is_category(c, feature))
        rfc_coding_number(c, feature, value_at(t, at), &byte);
    return byte;
}

/* Marks texts as missing that the coding does not know. Returns 0, or -1 when out of memory. */
static int miss_strangers(const rfc_coding *c, rfc_table *t)
{
    for (uint32_t j = 0; t->categories && j < t->features; j++) {
        uint8_t is_strange[RFC_LABELS_MAX] = {0}, byte, any = 0;
        for (uint32_t k = 0; k < t->categories[j].count && is_category(c, j); k++)
            any |= is_strange[k] = rfc_coding_text(c, j, t->categories[j].text[k], &byte) > 0;
        for (size_t row = 0; row < t->rows && any; row++) {
            const size_t at = row * t->features + j;
            if (!(t->missing && t->missing[at]) && is_strange[(size_t)value_at(t, at)] && rfc_table_miss(t, row, j) < 0)
                return -1;
        }
    }
    return 0;
}

int rfc_coding_apply(const rfc_coding *c, rfc_table *t, char *error, size_t size)
{
    if (!c || !t || t->features != c->features)
        return rf_fail(error, size, "the table has not the features of the coding");
    const size_t count = (size_t)t->rows * t->features;
    if (miss_strangers(c, t) < 0)
        return rf_fail(error, size, "%s: out of memory", t->source);
    t->is_ranked = c->used == RFC_SCALE_EACH;
    if (c->categories && !t->is_category) {
        t->is_category = malloc(t->features);
        for (uint32_t j = 0; t->is_category && j < t->features; j++)
            t->is_category[j] = (uint8_t)is_category(c, j);
        if (!t->is_category)
            return rf_fail(error, size, "%s: out of memory", t->source);
    }
    if (t->bytes && !t->missing && c->used == RFC_SCALE_SHARED && c->all.factor == 1 && c->all.offset == 0)
        return 0;
    uint8_t *bytes = t->bytes ? t->bytes : malloc(count ? count : 1);
    if (!bytes)
        return rf_fail(error, size, "%s: out of memory", t->source);
    for (size_t i = 0; i < count; i++)
        bytes[i] = byte_at(c, t, i);
    free(t->reals);
    t->reals = NULL;
    t->bytes = bytes;
    return 0;
}

int rfc_scale(rfc_table *train, rfc_table *test, rfc_scaling wanted, rfc_scaling *used, char *error, size_t size)
{
    if (!train || !test || !used)
        return rf_fail(error, size, "two tables are needed: train and test");
    rfc_coding *c = rfc_coding_make(train, wanted, error, size);
    int status = c ? rfc_coding_apply(c, train, error, size) : -1;
    if (status == 0 && test->rows > 0)
        status = rfc_coding_apply(c, test, error, size);
    *used = c ? c->used : wanted;
    rfc_coding_free(c);
    return status;
}
