#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "random.h"

enum { PILOT = 8192, LINE = 64 };

void rf_shuffle(uint64_t seed, uint32_t update, uint32_t purpose, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = rf_below(rf_draw(seed, update, i, 0, purpose).word[0], i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

void rf_training_free(rf_training *t)
{
    free(t->order);
    free(t->columns);
    free(t->of_class);
    free(t->class_begin);
    free(t->variance);
    memset(t, 0, sizeof *t);
}

/* Appends the vectors of class c that come from place `from` to `to` of the class. */
static void add_segment(rf_training *t, const uint32_t *by_class, const uint32_t *class_begin, uint32_t c,
                        uint32_t from, uint32_t to)
{
    uint32_t begin = t->segments ? t->segment[t->segments - 1].begin + t->segment[t->segments - 1].count : 0;
    if (to == from)
        return;
    memcpy(t->order + begin, by_class + class_begin[c] + from, (to - from) * sizeof *t->order);
    for (uint32_t i = from; i < to; i++)
        t->of_class[class_begin[c] + i] = begin + i - from;
    t->segment[t->segments++] = (rf_segment){begin, to - from, c};
}

/* Sorts by class and cuts off the pilot. `by_class` are the rows, ordered. */
static void arrange(rf_training *t, const uint32_t *by_class)
{
    uint32_t size[RF_LABELS_MAX];
    int has_pilot = t->count > 2 * PILOT;
    for (uint32_t c = 0; c < t->classes; c++) {
        uint32_t whole = t->class_begin[c + 1] - t->class_begin[c];
        size[c] = has_pilot ? (uint32_t)(((uint64_t)whole * PILOT + t->count - 1) / t->count) : whole;
        add_segment(t, by_class, t->class_begin, c, 0, size[c]);
    }
    t->pilot_segments = t->segments;
    t->pilot = t->segment[t->segments - 1].begin + t->segment[t->segments - 1].count;
    for (uint32_t c = 0; c < t->classes; c++)
        add_segment(t, by_class, t->class_begin, c, size[c], t->class_begin[c + 1] - t->class_begin[c]);
}

/* Columns from rows, a tile at a time. */
static void transpose(rf_training *t)
{
    for (uint32_t i = 0; i < t->count; i += LINE)
        for (uint32_t j = 0; j < t->features; j += LINE)
            for (uint32_t v = i; v < t->count && v < i + LINE; v++) {
                const uint8_t *row = rf_training_row(t, v);
                for (uint32_t f = j; f < t->features && f < j + LINE; f++)
                    t->columns[f * t->stride + v] = row[f];
            }
}

static void measure(rf_training *t)
{
    for (uint32_t j = 0; j < t->features; j++) {
        const uint8_t *x = rf_training_column(t, j);
        uint64_t sum = 0, squares = 0;
        for (uint32_t i = 0; i < t->count; i++) {
            sum += x[i];
            squares += (uint32_t)x[i] * x[i];
        }
        double mean = (double)sum / t->count, variance = (double)squares / t->count - mean * mean;
        t->variance[j] = (float)(variance > 0 ? variance : 0);
        t->largest_deviation = fmax(t->largest_deviation, sqrt((double)t->variance[j]));
    }
}

int rf_training_make(const rf_table *table, const uint32_t *chosen, uint32_t count, uint32_t classes, uint64_t seed,
                     rf_training *t, char *error, size_t size)
{
    memset(t, 0, sizeof *t);
    t->count = count;
    t->features = table->features;
    t->classes = classes;
    t->rows = table->bytes;
    t->stride = ((size_t)count + LINE - 1) / LINE * LINE;
    t->order = malloc(count * sizeof *t->order);
    t->of_class = malloc(count * sizeof *t->of_class);
    t->class_begin = calloc(classes + 1, sizeof *t->class_begin);
    t->variance = malloc(t->features * sizeof *t->variance);
    t->columns = rf_huge(t->stride * t->features);
    uint32_t *shuffled = malloc(count * sizeof *shuffled), *by_class = malloc(count * sizeof *by_class),
             next[RF_LABELS_MAX];
    int status = t->order && t->of_class && t->class_begin && t->variance && t->columns && shuffled && by_class
                     ? 0
                     : rf_fail(error, size, "%s: out of memory for %u training vectors", table->source, count);
    if (status == 0) {
        for (uint32_t i = 0; i < count; i++)
            t->class_begin[table->label[chosen[i]] + 1]++;
        for (uint32_t c = 0; c < classes; c++) {
            t->class_begin[c + 1] += t->class_begin[c];
            next[c] = t->class_begin[c];
        }
        rf_shuffle(seed, 0, RF_FOR_ORDER, shuffled, count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t row = chosen[shuffled[i]];
            by_class[next[table->label[row]]++] = row;
        }
        arrange(t, by_class);
        transpose(t);
        measure(t);
    } else {
        rf_training_free(t);
    }
    free(shuffled);
    free(by_class);
    return status;
}
