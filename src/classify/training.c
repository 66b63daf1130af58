#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "random.h"

enum { PILOT = 8192, LINE = 64 };

/* Fills `order` with a random permutation of 0 .. count − 1. */
static void shuffle(uint64_t seed, uint32_t update, uint32_t purpose, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = rfc_below(rf_draw(seed, update, i, 0, purpose).word[0], i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

void rfc_shuffle(uint64_t seed, uint32_t number, uint32_t *order, uint32_t count)
{
    shuffle(seed, number, RFC_FOR_SHUFFLE, order, count);
}

void rfc_training_free(rfc_training *t)
{
    free(t->order);
    free(t->of_class);
    free(t->class_begin);
    free(t->variance);
    memset(t, 0, sizeof *t);
}

/* Appends the vectors of class c at places `from` to `to` within the class, kind by kind. */
static void add_segments(rfc_training *t, const uint32_t *by_class, const uint8_t *kind_of_row, const uint8_t *known,
                         uint32_t c, uint32_t from, uint32_t to)
{
    for (uint32_t k = 0; k < t->kinds; k++) {
        const uint32_t begin = t->segments ? t->segment[t->segments - 1].begin + t->segment[t->segments - 1].count : 0,
                       *row = by_class + t->class_begin[c];
        uint32_t next = begin;
        for (uint32_t i = from; i < to && t->class_of[k] == c; i++)
            if (!kind_of_row || kind_of_row[row[i]] == known[k]) {
                t->order[next] = row[i];
                t->of_class[t->class_begin[c] + i] = next++;
            }
        if (next > begin)
            t->segment[t->segments++] = (rfc_segment){begin, next - begin, k};
    }
}

/* Lists the kinds that occur, class by class; known[]: their numbers in the table. Returns -1 if there are too many. */
static int find_kinds(rfc_training *t, const uint32_t *by_class, const uint8_t *kind_of_row,
                      uint8_t known[RFC_LABELS_MAX])
{
    t->kinds = 0;
    for (uint32_t c = 0; c < t->classes; c++) {
        uint8_t is_there[RFC_LABELS_MAX] = {0};
        for (uint32_t i = t->class_begin[c]; i < t->class_begin[c + 1]; i++)
            is_there[kind_of_row ? kind_of_row[by_class[i]] : c] = 1;
        for (uint32_t k = 0; k < RFC_LABELS_MAX; k++)
            if (is_there[k]) {
                if (t->kinds == RFC_LABELS_MAX)
                    return -1;
                known[t->kinds] = (uint8_t)k;
                t->class_of[t->kinds++] = (uint8_t)c;
            }
    }
    return 0;
}

/* Sorts vectors by class and kind, and separates the pilot. `by_class`: the rows, in order. */
static void arrange(rfc_training *t, const uint32_t *by_class, const uint8_t *kind_of_row)
{
    uint8_t known[RFC_LABELS_MAX];
    if (find_kinds(t, by_class, kind_of_row, known) < 0) {
        kind_of_row = NULL;
        find_kinds(t, by_class, kind_of_row, known);
    }
    uint32_t size[RFC_LABELS_MAX];
    int has_pilot = t->count > 2 * PILOT;
    for (uint32_t c = 0; c < t->classes; c++) {
        uint32_t whole = t->class_begin[c + 1] - t->class_begin[c];
        size[c] = has_pilot ? (uint32_t)(((uint64_t)whole * PILOT + t->count - 1) / t->count) : whole;
        add_segments(t, by_class, kind_of_row, known, c, 0, size[c]);
    }
    t->pilot_segments = t->segments;
    t->pilot = t->segment[t->segments - 1].begin + t->segment[t->segments - 1].count;
    for (uint32_t c = 0; c < t->classes; c++)
        add_segments(t, by_class, kind_of_row, known, c, size[c], t->class_begin[c + 1] - t->class_begin[c]);
}

static void measure(rfc_training *t, uint64_t *sum, uint64_t *squares)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const uint8_t *row = rfc_training_row(t, i);
        for (uint32_t j = 0; j < t->features; j++) {
            sum[j] += row[j];
            squares[j] += (uint32_t)row[j] * row[j];
        }
    }
    for (uint32_t j = 0; j < t->features; j++) {
        double mean = (double)sum[j] / t->count, variance = (double)squares[j] / t->count - mean * mean;
        t->variance[j] = (float)(variance > 0 ? variance : 0);
        const double deviation = sqrt((double)t->variance[j]);
        if (deviation > t->largest_deviation) /* by fmax the loop ends gcc 12 for aarch64 with an internal error */
            t->largest_deviation = deviation;
    }
}

/* ---- Layout ---- */

void rfc_training_unlay(rfc_training *t)
{
    free(t->feature);
    free(t->place);
    free(t->columns);
    free(t->sketches);
    free(t->low);
    free(t->step);
    t->feature = t->place = NULL;
    t->columns = t->sketches = t->low = NULL;
    t->step = NULL;
    t->laid = 0;
}

/* Softens an image: a pixel counts three parts and its four neighbours one each; neighbours beyond the edge are
   replaced by the pixel itself. */
static void soften_image(const uint8_t *image, uint32_t height, uint32_t width, uint8_t *soft)
{
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *row = image + (size_t)y * width, *above = y > 0 ? row - width : row,
                      *below = y + 1 < height ? row + width : row;
        uint8_t *out = soft + (size_t)y * width;
        for (uint32_t x = 0; x < width; x++) {
            const uint32_t sides = (uint32_t)row[x > 0 ? x - 1 : x] + row[x + 1 < width ? x + 1 : x];
            out[x] = (uint8_t)((3u * row[x] + sides + above[x] + below[x] + 3) / 7);
        }
    }
}

/* Makes columns from rows, a tile at a time. Two drawings of one thing never coincide exactly. So for images columns
   hold the means of pixels and their neighbours, and answers are compared with these; `soft`: space for LINE rows. */
static void transpose(rfc_training *t, uint8_t *soft)
{
    for (uint32_t i = 0; i < t->count; i += LINE) {
        const uint32_t end = t->count - i < LINE ? t->count : i + LINE;
        for (uint32_t v = i; v < end && soft; v++)
            soften_image(rfc_training_row(t, v), t->height, t->width, soft + (size_t)(v - i) * t->features);
        for (uint32_t j = 0; j < t->laid; j += LINE)
            for (uint32_t v = i; v < end; v++) {
                const uint8_t *row = soft ? soft + (size_t)(v - i) * t->features : rfc_training_row(t, v);
                for (uint32_t k = j; k < t->laid && k < j + LINE; k++)
                    t->columns[k * t->stride + v] = row[t->feature[k]];
            }
    }
}

/* Makes the levels span a feature's range in the training set. */
static void scale_levels(rfc_training *t)
{
    for (uint32_t k = 0; k < t->laid; k++) {
        const uint8_t *x = t->columns + k * t->stride;
        uint8_t low = 255, high = 0;
        for (uint32_t i = 0; i < t->count; i++) {
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
        }
        t->low[k] = low;
        t->step[k] = high - low > 15 ? (float)(high - low) / 15 : 1;
    }
}

static void draw_sketches(rfc_training *t)
{
    float scale[2 * LINE];
    for (size_t begin = 0; begin < t->sketch; begin += LINE) {
        size_t length = t->sketch - begin < LINE ? t->sketch - begin : LINE;
        for (size_t b = 0; b < 2 * length; b++) {
            size_t k = b < length ? begin + b : begin + b - length + t->sketch;
            scale[b] = k < t->laid ? 1 / t->step[k] : 0;
        }
        for (uint32_t i = 0; i < t->count; i++) {
            const uint8_t *row = rfc_training_row(t, i);
            uint8_t *out = t->sketches + i * t->sketch + begin;
            for (size_t b = 0; b < length; b++) {
                size_t k = begin + b, upper = k + t->sketch < t->laid ? k + t->sketch : k;
                float first = (float)(row[t->feature[k]] - t->low[k]) * scale[b],
                      second = (float)(row[t->feature[upper]] - t->low[upper]) * scale[length + b];
                out[b] = (uint8_t)((uint8_t)(first + 0.5f) | (uint8_t)(second + 0.5f) << 4);
            }
        }
    }
}

int rfc_training_lay(const rfc_training *training, int pilot_alone, const uint8_t *mask, rfc_training *t)
{
    *t = *training;
    if (pilot_alone) {
        t->count = t->pilot;
        t->segments = t->pilot_segments;
    }
    t->feature = malloc(t->features * sizeof *t->feature);
    t->place = malloc(t->features * sizeof *t->place);
    if (!t->feature || !t->place)
        return -1;
    for (uint32_t j = 0; j < t->features; j++)
        if (!mask || mask[j])
            t->feature[t->laid++] = j;
    for (uint32_t j = 0, k = 0; j < t->features; j++) {
        int is_laid = k < t->laid && t->feature[k] == j;
        t->place[j] = is_laid ? k : t->laid;
        k += (uint32_t)is_laid;
    }
    t->stride = ((size_t)t->count + LINE - 1) / LINE * LINE;
    t->columns = rfc_huge(t->stride * t->laid);
    t->sketch = (t->laid + 1) / 2;
    t->low = malloc(t->laid);
    t->step = malloc(t->laid * sizeof *t->step);
    t->sketches = rfc_huge(t->sketch * t->count);
    if (!t->columns || !t->low || !t->step || !t->sketches)
        return -1;
    for (uint32_t k = 0; k < t->laid; k++) /* models keep it */
        memset(t->columns + k * t->stride + t->count, 0, t->stride - t->count);
    transpose(t, NULL);
    scale_levels(t);
    draw_sketches(t);
    if (t->height == 0 || t->is_ranked)
        return 0;
    uint8_t *soft = malloc((size_t)LINE * t->features);
    if (soft)
        transpose(t, soft);
    free(soft);
    return soft ? 0 : -1;
}

/* ---- Making ---- */

static uint32_t row_at(const uint32_t *chosen, uint32_t i) { return chosen ? chosen[i] : i; }

int rfc_training_make(const rfc_table *table, const uint32_t *chosen, uint32_t count, uint32_t classes, uint64_t seed,
                      rfc_training *t, char *error, size_t size)
{
    memset(t, 0, sizeof *t);
    t->count = count;
    t->features = table->features;
    t->classes = classes;
    t->rows = table->bytes;
    t->missing = table->missing;
    t->height = (uint64_t)table->height * table->width == table->features ? table->height : 0;
    t->width = table->width;
    t->is_ranked = table->is_ranked;
    t->is_category = table->is_category;
    t->order = malloc(count * sizeof *t->order);
    t->of_class = malloc(count * sizeof *t->of_class);
    t->class_begin = calloc(classes + 1, sizeof *t->class_begin);
    t->variance = malloc(t->features * sizeof *t->variance);
    uint64_t *sums = calloc(2 * (size_t)t->features, sizeof *sums);
    uint32_t *shuffled = malloc(count * sizeof *shuffled), *by_class = malloc(count * sizeof *by_class),
             next[RFC_LABELS_MAX];
    int status = t->order && t->of_class && t->class_begin && t->variance && sums && shuffled && by_class
                     ? 0
                     : rf_fail(error, size, "%s: out of memory for %u training vectors", table->source, count);
    if (status == 0) {
        for (uint32_t i = 0; i < count; i++)
            t->class_begin[table->label[row_at(chosen, i)] + 1]++;
        for (uint32_t c = 0; c < classes; c++) {
            t->class_begin[c + 1] += t->class_begin[c];
            next[c] = t->class_begin[c];
        }
        shuffle(seed, 0, RFC_FOR_ORDER, shuffled, count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t row = row_at(chosen, shuffled[i]);
            by_class[next[table->label[row]]++] = row;
        }
        arrange(t, by_class, table->kind);
        measure(t, sums, sums + t->features);
    } else {
        rfc_training_free(t);
    }
    free(sums);
    free(shuffled);
    free(by_class);
    return status;
}

/* Are these rows of bytes, and is every class among them? */
static int is_fit(const rfc_table *table, const uint32_t *chosen, uint32_t count, uint32_t classes)
{
    unsigned char has[RFC_LABELS_MAX] = {0};
    uint32_t seen = 0;
    if (!table->bytes || !table->label || table->features == 0 || classes == 0 || classes > RFC_LABELS_MAX)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        const size_t row = row_at(chosen, i);
        if (row >= table->rows || table->label[row] >= classes)
            return 0;
        seen += !has[table->label[row]];
        has[table->label[row]] = 1;
    }
    return seen == classes;
}

rfc_training *rfc_training_open(const rfc_table *table, const uint32_t *chosen, uint32_t count, uint32_t classes,
                                uint64_t seed, char *error, size_t size)
{
    if (!table) {
        rf_fail(error, size, "there is no table");
        return NULL;
    }
    if (!is_fit(table, chosen, count, classes)) {
        rf_fail(error, size, "%s: not a training set: it needs rows of bytes, of each of %u classes", table->source,
                classes);
        return NULL;
    }
    rfc_training *t = malloc(sizeof *t);
    if (!t)
        rf_fail(error, size, "%s: out of memory for %u training vectors", table->source, count);
    else if (rfc_training_make(table, chosen, count, classes, seed, t, error, size) == 0)
        return t;
    free(t);
    return NULL;
}

void rfc_training_close(rfc_training *t)
{
    if (t)
        rfc_training_free(t);
    free(t);
}

uint32_t rfc_training_count(const rfc_training *t) { return t->count; }
const float *rfc_training_variance(const rfc_training *t) { return t->variance; }
