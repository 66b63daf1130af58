/* ‖a − b‖² = ‖a‖² + ‖b‖² − 2 a·b, with integer products. Panels of training vectors are packed once and compared
   with all queries of a thread while they are in the cache. */
#include "knn.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "knn_kernel.h"
#include "pool.h"
#include "simd/targets.h"

enum { PANELS = 8, MOST_FEATURES = 65000 }; /* PANELS: packed together. MOST_FEATURES: their products fit in 32 bits */

#define RF_TARGET(name) extern rf_knn_dots rf_knn_dots_##name;
RF_TARGETS
#undef RF_TARGET
extern rf_knn_dots rf_knn_dots_avx512vnni;

typedef struct neighbour {
    int64_t distance;
    uint32_t index;
} neighbour;

typedef struct job {
    const rf_knn_set *train, *queries;
    uint32_t *feature; /* indices of the features used */
    uint32_t used, groups;
    unsigned k, threads;
    rf_knn_dots *dots;
    uint32_t *nearest;
    rf_knn_progress *progress;
    void *context;
    atomic_int failed;
} job;

static rf_knn_dots *best_dots(void)
{
    static rf_knn_dots *const dots[] = {
#define RF_TARGET(name) rf_knn_dots_##name,
        RF_TARGETS
#undef RF_TARGET
    };
    const unsigned best = rf_target_best();
#ifdef RF_KNN_VNNI
    if (strcmp(rf_target_names[best], "avx512") == 0 && RF_CPU_HAS("avx512vnni"))
        return rf_knn_dots_avx512vnni;
#endif
    return dots[best];
}

static const uint8_t *row_of(const rf_knn_set *set, uint32_t i)
{
    return set->bytes + (size_t)(set->row ? set->row[i] : i) * set->features;
}

/* Packs a panel of training vectors from number `first` on; lanes past the last are 0. `length` receives the squared
   length minus 256 times the sum of each vector, because queries are stored minus 128. */
static void pack(const job *j, uint32_t first, uint8_t *panel, int64_t *length)
{
    for (uint32_t v = 0; v < RF_KNN_LANES; v++) {
        int64_t squares = 0, sum = 0;
        if (first + v < j->train->count) {
            const uint8_t *x = row_of(j->train, first + v);
            for (uint32_t f = 0; f < j->groups * 4; f++) {
                uint8_t value = f < j->used ? x[j->feature[f]] : 0;
                panel[(f / 4) * 4 * RF_KNN_LANES + 4 * v + f % 4] = value;
                squares += value * value;
                sum += value;
            }
        }
        length[v] = squares - 256 * sum;
    }
}

static void pack_query(const job *j, uint32_t q, int8_t *out)
{
    const uint8_t *x = row_of(j->queries, q);
    for (uint32_t f = 0; f < j->groups * 4; f++)
        out[f] = f < j->used ? (int8_t)(x[j->feature[f]] - 128) : 0;
}

/* Inserts a neighbour into the k nearest, sorted; it comes after those at equal distance. */
static void insert(neighbour *list, unsigned k, int64_t distance, uint32_t index)
{
    unsigned at = k - 1;
    for (; at > 0 && list[at - 1].distance > distance; at--)
        list[at] = list[at - 1];
    list[at] = (neighbour){distance, index};
}

static void take(const job *j, uint32_t first, const int64_t *length, const int32_t *dot, neighbour *list)
{
    int64_t limit = list[j->k - 1].distance;
    uint32_t lanes = j->train->count - first < RF_KNN_LANES ? j->train->count - first : RF_KNN_LANES;
    int any = 0;
    for (uint32_t v = 0; v < lanes; v++)
        any |= length[v] - 2 * (int64_t)dot[v] < limit;
    for (uint32_t v = 0; any && v < lanes; v++) {
        int64_t distance = length[v] - 2 * (int64_t)dot[v];
        if (distance < list[j->k - 1].distance)
            insert(list, j->k, distance, first + v);
    }
}

/* Compares all training vectors with queries begin .. end − 1. */
static int search(const job *j, uint32_t begin, uint32_t end, int reports)
{
    size_t width = (size_t)j->groups * 4, rows = end - begin,
           padded = (rows + RF_KNN_ROWS - 1) / RF_KNN_ROWS * RF_KNN_ROWS;
    uint8_t *panels = calloc(PANELS, width * RF_KNN_LANES);
    int8_t *queries = calloc(padded, width);
    neighbour *lists = malloc(rows * j->k * sizeof *lists);
    int32_t dot[RF_KNN_ROWS * RF_KNN_LANES];
    int64_t length[PANELS][RF_KNN_LANES];
    int status = panels && queries && lists ? 0 : -1;
    for (uint32_t q = 0; q < rows && status == 0; q++)
        pack_query(j, begin + q, queries + q * width);
    for (size_t i = 0; i < rows * j->k && status == 0; i++)
        lists[i] = (neighbour){INT64_MAX, 0};
    for (uint32_t first = 0; first < j->train->count && status == 0; first += PANELS * RF_KNN_LANES) {
        uint32_t count = 0;
        for (; count < PANELS && first + count * RF_KNN_LANES < j->train->count; count++)
            pack(j, first + count * RF_KNN_LANES, panels + count * width * RF_KNN_LANES, length[count]);
        for (uint32_t q = 0; q < rows; q += RF_KNN_ROWS)
            for (uint32_t p = 0; p < count; p++) {
                j->dots(panels + p * width * RF_KNN_LANES, queries + q * width, j->groups, dot);
                for (uint32_t r = q; r < q + RF_KNN_ROWS && r < rows; r++)
                    take(j, first + p * RF_KNN_LANES, length[p], dot + (r - q) * RF_KNN_LANES, lists + r * j->k);
            }
        if (reports && j->progress)
            j->progress(j->context, first, j->train->count);
    }
    for (size_t i = 0; i < rows * j->k && status == 0; i++)
        j->nearest[(size_t)begin * j->k + i] = lists[i].index;
    free(panels);
    free(queries);
    free(lists);
    return status;
}

static void work(void *context, unsigned index)
{
    job *j = context;
    uint32_t begin = (uint32_t)((uint64_t)j->queries->count * index / j->threads);
    uint32_t end = (uint32_t)((uint64_t)j->queries->count * (index + 1) / j->threads);
    if (end > begin && search(j, begin, end, index == 0) < 0)
        atomic_store(&j->failed, 1);
}

int rf_knn(const rf_knn_set *train, const rf_knn_set *queries, const uint8_t *mask, unsigned k, unsigned threads,
           uint32_t *nearest, rf_knn_progress *progress, void *context, char *error, size_t size)
{
    job j = {.train = train,
             .queries = queries,
             .k = k,
             .threads = threads,
             .dots = best_dots(),
             .nearest = nearest,
             .progress = progress,
             .context = context};
    if (train->features > MOST_FEATURES)
        return rf_fail(error, size, "nearest neighbours take up to %d features", MOST_FEATURES);
    j.feature = malloc(train->features * sizeof *j.feature);
    rf_pool *pool = j.feature ? rf_pool_open(threads, error, size) : NULL;
    if (!j.feature)
        rf_fail(error, size, "out of memory for nearest neighbours");
    if (pool) {
        for (uint32_t f = 0; f < train->features; f++)
            if (!mask || mask[f])
                j.feature[j.used++] = f;
        j.groups = (j.used + 3) / 4;
        rf_pool_run(pool, work, &j, threads);
        rf_pool_close(pool);
        if (progress)
            progress(context, train->count, train->count);
        if (j.failed)
            rf_fail(error, size, "out of memory for nearest neighbours");
    }
    free(j.feature);
    return pool && !j.failed ? 0 : -1;
}

uint32_t rf_knn_vote(const uint32_t *nearest, unsigned k, const uint32_t *class_of)
{
    uint32_t votes[256] = {0}, best = 0;
    for (unsigned i = 0; i < k; i++)
        if (++votes[class_of[nearest[i]]] > best)
            best = votes[class_of[nearest[i]]];
    for (unsigned i = 0;; i++)
        if (votes[class_of[nearest[i]]] == best)
            return class_of[nearest[i]];
}
