/* Inner products of bytes, compiled for every target. */
#ifndef REJFILT_KNN_KERNEL_H
#define REJFILT_KNN_KERNEL_H

#include <stdint.h>

enum {
    RF_KNN_LANES = 32, /* training vectors per panel */
    RF_KNN_ROWS = 12   /* queries per call */
};

/* A panel holds, for each group of four features, four bytes of each of its vectors. `query` has RF_KNN_ROWS vectors
   of 4 · groups bytes, minus 128 each, one after the other. dot[q · RF_KNN_LANES + v] receives the inner product of
   query q and vector v. */
typedef void rf_knn_dots(const uint8_t *panel, const int8_t *query, uint32_t groups, int32_t *dot);

#endif
