/* Filters over training vectors: they classify an object by asking for its features one after the other. */
#ifndef REJFILT_CLASSIFY_FILTER_H
#define REJFILT_CLASSIFY_FILTER_H

#include "training.h"

/* The known values of an object to classify. */
typedef struct rfc_object {
    const uint8_t *value;
    const uint8_t *missing; /* null: none is missing */
    uint32_t number;        /* number of its random stream */
    uint32_t without;       /* weighted: the training vector that is left out, plus 1; 0: none */
} rfc_object;

typedef struct rfc_filter rfc_filter;
typedef struct rfc_tree rfc_tree;

/* Opens a filter with its memory, for use by one thread. The weighted method needs a training set that is laid out.
   Null with a message. */
rfc_filter *rfc_filter_open(const rfc_training *training, const rfc_rules *rules, const rfc_tree *tree, char *error,
                            size_t size);

/* The log-odds of p, clamped to limits beyond which they mean little. */
double rfc_logit(double p);

/* Puts the probabilities that a calibration of the rules says in place of the filter's. */
void rfc_calibrate(const double calibration[3], uint32_t classes, uint32_t asked, rfc_answer *answer);
void rfc_filter_close(rfc_filter *filter);

/* The greatest number of queries for an object. */
uint32_t rfc_filter_queries(const rfc_training *training, const rfc_rules *rules);

/* Classifies an object. `asked` has space for rfc_filter_queries(); so has `story`, by class, unless it is null. */
void rfc_filter_classify(rfc_filter *filter, const rfc_object *object, rfc_answer *answer);

#endif
