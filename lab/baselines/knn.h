/* k nearest neighbours, exact, by Euclidean distance of byte vectors. */
#ifndef REJFILT_KNN_H
#define REJFILT_KNN_H

#include <stddef.h>
#include <stdint.h>

enum { RF_KNN_MOST = 256 }; /* neighbours */

/* Vectors: rows of `features` bytes; `row` says which rows (null: the first `count`). */
typedef struct rf_knn_set {
    const uint8_t *bytes;
    const uint32_t *row;
    uint32_t count, features;
} rf_knn_set;

/* Called as parts of the work are done, by one thread only. */
typedef void rf_knn_progress(void *context, uint64_t done, uint64_t total);

/* The `k` nearest of `train` for each of `queries`, nearest first, equal distances in the order of `train`:
   nearest[q · k] and on are indices into train. k is at most train's count and RF_KNN_MOST. Features with a 0
   in `mask` (null: none) do not count. At most 65,000 features. Returns 0, or -1 with a message. */
int rf_knn(const rf_knn_set *train, const rf_knn_set *queries, const uint8_t *mask, unsigned k, unsigned threads,
           uint32_t *nearest, rf_knn_progress *progress, void *context, char *error, size_t size);

/* The class most frequent among the first k of `nearest`; of equally frequent ones that of the nearest vector. */
uint32_t rf_knn_vote(const uint32_t *nearest, unsigned k, const uint32_t *class_of);

#endif
