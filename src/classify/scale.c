#include "scale.h"

#include <math.h>
#include <stdlib.h>

#include "engine.h"

enum { SAMPLE = 10000, SMALL_SAMPLE = 1000, STEPS = 40, MIDDLE = 128 };

/* byte = offset + factor · x, held within 0 to 255. */
typedef struct map {
    float offset, factor;
} map;

static double value_at(const rf_table *t, size_t i) { return t->reals ? (double)t->reals[i] : (double)t->bytes[i]; }

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Up to `most` values of a feature (of all, when it is t->features), sorted; returns how many. */
static size_t sample(const rf_table *t, uint32_t feature, size_t most, float *out)
{
    int all = feature == t->features;
    size_t count = 0, total = all ? (size_t)t->rows * t->features : t->rows;
    size_t step = total / most + 1;
    if (all && step > 1 && t->features % step == 0)
        step++; /* not the same features in every row */
    for (size_t i = 0; i < total && count < most; i += step) {
        size_t at = all ? i : i * t->features + feature;
        if (!t->missing || !t->missing[at])
            out[count++] = (float)value_at(t, at);
    }
    qsort(out, count, sizeof *out, compare);
    return count;
}

static double deviation(const float *x, size_t count, float low, float high, double *mean)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] < low ? low : x[i] > high ? high : x[i];
    *mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        double d = (x[i] < low ? low : x[i] > high ? high : x[i]) - *mean;
        squares += d * d;
    }
    return sqrt(squares / (double)count);
}

static map map_of_feature(const rf_table *t, uint32_t feature, float *room)
{
    size_t count = sample(t, feature, SAMPLE, room), tail = count / 20;
    double mean = 0, sd = 0;
    if (count > 0)
        sd = deviation(room, count, room[tail], room[count - 1 - tail], &mean);
    if (count > 0 && !(sd > 0)) /* nearly always the same value */
        sd = deviation(room, count, room[0], room[count - 1], &mean);
    map m = {MIDDLE, 0};
    if (sd > 0) {
        m.factor = (float)(STEPS / sd);
        m.offset = (float)(MIDDLE - mean * STEPS / sd);
    }
    return m;
}

/* ---- One map for all ---- */

/* Do most of the features that vary span nearly the range of all? Ranges are from the 5th to the 95th percentile. */
static int looks_shared(const rf_table *t, float *room)
{
    double low = INFINITY, high = -INFINITY;
    uint32_t vary = 0, wide = 0;
    if (t->height > 0)
        return 1;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t j = 0; j < t->features; j++) {
            size_t count = sample(t, j, SMALL_SAMPLE, room), tail = count / 20;
            double a = count ? (double)room[tail] : 0, b = count ? (double)room[count - 1 - tail] : 0;
            if (!(a < b))
                continue;
            low = a < low ? a : low;
            high = b > high ? b : high;
            vary += pass == 1;
            wide += pass == 1 && b - a >= 0.9 * (high - low);
        }
    return 2 * wide > vary;
}

static int reaches_upper_half(const rf_table *t)
{
    for (size_t i = 0; t->bytes && i < (size_t)t->rows * t->features; i++)
        if (t->bytes[i] >= 128)
            return 1;
    return 0;
}

static map map_of_all(const rf_table *t, float *room)
{
    map m = {0, 1};
    if (reaches_upper_half(t))
        return m;
    size_t count = sample(t, t->features, SAMPLE, room),
           tail = count / 1000; /* a few wild values do not set the scale */
    if (count > 0 && !(room[count - 1 - tail] > room[tail]))
        tail = 0;
    float low = count ? room[tail] : 0, high = count ? room[count - 1 - tail] : 0;
    m.factor = high > low ? 255 / (high - low) : 0;
    m.offset = -low * m.factor;
    return m;
}

/* ---- Applying it ---- */

static int apply(rf_table *t, const map *maps, int each, char *error, size_t size)
{
    size_t d = t->features, count = t->rows * d;
    if (t->bytes && !each && maps[0].factor == 1 && maps[0].offset == 0)
        return 0;
    uint8_t *bytes = t->bytes ? t->bytes : malloc(count ? count : 1);
    if (!bytes)
        return rf_fail(error, size, "%s: out of memory", t->source);
    for (size_t i = 0; i < count; i++) {
        map m = maps[each ? i % d : 0];
        float b = m.offset + m.factor * (float)value_at(t, i) + 0.5f;
        bytes[i] = (uint8_t)(b < 0 ? 0 : b > 255 ? 255 : b);
    }
    free(t->reals);
    t->reals = NULL;
    t->bytes = bytes;
    return 0;
}

int rf_scale(rf_table *train, rf_table *test, rf_scaling wanted, rf_scaling *used, char *error, size_t size)
{
    float *room = malloc(SAMPLE * sizeof *room);
    *used = wanted != RF_SCALE_AUTO || !room ? wanted : looks_shared(train, room) ? RF_SCALE_SHARED : RF_SCALE_EACH;
    int each = *used == RF_SCALE_EACH;
    map *maps = malloc((each ? train->features : 1) * sizeof *maps);
    int status = maps && room ? 0 : rf_fail(error, size, "%s: out of memory", train->source);
    for (uint32_t j = 0; j < train->features && status == 0 && each; j++)
        maps[j] = map_of_feature(train, j, room);
    if (status == 0 && !each)
        maps[0] = map_of_all(train, room);
    if (status == 0)
        status = apply(train, maps, each, error, size);
    if (status == 0 && test->rows > 0)
        status = apply(test, maps, each, error, size);
    free(maps);
    free(room);
    return status;
}
