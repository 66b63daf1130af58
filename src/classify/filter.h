/* Filters over training vectors: they classify an object by asking for one feature after the other. */
#ifndef REJFILT_CLASSIFY_FILTER_H
#define REJFILT_CLASSIFY_FILTER_H

#include "training.h"

/* What is known of an object to be classified. */
typedef struct rfc_object {
    const uint8_t *value;
    const uint8_t *missing; /* null: nothing is */
    uint32_t number;        /* its random numbers' */
} rfc_object;

typedef struct rfc_filter rfc_filter;

/* A filter and its memory, for one thread. The training set is laid out where the method wants it. Null with a message.
 */
rfc_filter *rfc_filter_open(const rfc_training *training, const rfc_rules *rules, char *error, size_t size);
void rfc_filter_close(rfc_filter *filter);

/* The most queries an object can take. */
uint32_t rfc_filter_queries(const rfc_training *training, const rfc_rules *rules);

/* Classifies an object. `asked` has room for rfc_filter_queries(); `story` too, by class, or is null. */
void rfc_filter_classify(rfc_filter *filter, const rfc_object *object, rfc_answer *answer);

#endif
