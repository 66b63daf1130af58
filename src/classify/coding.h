/* How numbers become bytes. */
#ifndef REJFILT_CLASSIFY_CODING_H
#define REJFILT_CLASSIFY_CODING_H

#include "rejfilt/classify.h"

/* byte = offset + factor · x, held within 0 to 255. */
typedef struct rfc_map {
    float offset, factor;
} rfc_map;

struct rfc_coding {
    rfc_scaling used;
    uint32_t features, cuts; /* cuts: quantiles of a feature that are kept */
    rfc_map all;             /* SHARED */
    float *quantile;         /* EACH: by feature, ascending */
    rfc_names *categories;   /* EACH: by feature, the most frequent first; null: there are none */
    uint8_t *fill;           /* by feature: for what is missing */
};

#endif
