/* Exact k nearest neighbours of byte vectors, by Euclidean distance. */
#ifndef REJFILT_KNN_H
#define REJFILT_KNN_H

#include <stddef.h>
#include <stdint.h>

enum { RF_KNN_MAX = 256 }; /* neighbours at most */

/* Vectors: rows of `features` bytes. `row` lists the rows used (null: the first `count`). */
typedef struct rf_knn_set {
    const uint8_t *bytes;
    const uint32_t *row;
    uint32_t count, features;
} rf_knn_set;

/* Reports progress; called by one thread only. What it returns is ignored. */
typedef int rf_knn_progress(void *context, uint64_t done, uint64_t total);

/* Finds the `k` nearest vectors of `train` for each of `queries`: nearest[q · k + i] is the index of the i-th
   nearest; equal distances are in the order of `train`. k is at most train's count and RF_KNN_MAX. Features with a 0
   in `mask` (null: none) are ignored. At most 65,000 features. Returns 0, or -1 with a message. */
int rf_knn(const rf_knn_set *train, const rf_knn_set *queries, const uint8_t *mask, unsigned k, unsigned threads,
           uint32_t *nearest, rf_knn_progress *progress, void *context, char *error, size_t size);

/* The most frequent class among the first k of `nearest`; ties go to the class of the nearest vector. */
uint32_t rf_knn_vote(const uint32_t *nearest, unsigned k, const uint32_t *class_of);

#endif
