/* How numbers become bytes. */
#ifndef REJFILT_CLASSIFY_CODING_H
#define REJFILT_CLASSIFY_CODING_H

#include "few.h"

/* byte = offset + factor · x, clamped to 0..255. */
typedef struct rfc_map {
    float offset, factor;
} rfc_map;

struct rfc_coding {
    rfc_scaling used;
    uint32_t features, cuts; /* cuts: stored quantiles per feature */
    rfc_map all;             /* SHARED */
    double *quantile;        /* EACH: by feature, ascending */
    rfc_names *categories;   /* EACH: by feature, most frequent first; null: no categories */
    uint8_t *fill;           /* by feature: the byte for a missing value */
};

#endif
