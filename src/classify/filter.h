/* Filters over training vectors: they classify an object by asking for one feature after the other. */
#ifndef REJFILT_CLASSIFY_FILTER_H
#define REJFILT_CLASSIFY_FILTER_H

#include "training.h"

/* What is known of an object to be classified. */
typedef struct rfc_object {
    const uint8_t *value;
    const uint8_t *missing; /* null: nothing is */
    uint32_t number;        /* its random numbers' */
    uint32_t without;       /* the training vector that does not count, plus 1; 0: all count (weighted) */
} rfc_object;

typedef struct rfc_filter rfc_filter;
typedef struct rfc_tree rfc_tree;

/* A filter and its memory, for one thread. The training set is laid out where the method wants it. Null with a message.
 */
rfc_filter *rfc_filter_open(const rfc_training *training, const rfc_rules *rules, const rfc_tree *tree, char *error,
                            size_t size);

/* The logarithm of the odds, held within limits beyond which it means little. */
double rfc_logit(double p);

/* Puts the probabilities that a calibration of the rules says in place of the filter's. */
void rfc_calibrate(const double calibration[3], uint32_t classes, uint32_t asked, rfc_answer *answer);
void rfc_filter_close(rfc_filter *filter);

/* The most queries an object can take. */
uint32_t rfc_filter_queries(const rfc_training *training, const rfc_rules *rules);

/* Classifies an object. `asked` has room for rfc_filter_queries(); `story` too, by class, or is null. */
void rfc_filter_classify(rfc_filter *filter, const rfc_object *object, rfc_answer *answer);

#endif
