/* Training vectors, ordered and laid out for the filters. */
#ifndef REJFILT_TRAINING_H
#define REJFILT_TRAINING_H

#include "table.h"

/* Vectors begin to begin + count − 1, all of one kind. */
typedef struct rfc_segment {
    uint32_t begin, count, kind;
} rfc_segment;

struct rfc_training {
    uint32_t count, features, classes;
    uint32_t kinds;                    /* of vectors: labels, of which a class may have several */
    uint8_t class_of[RFC_LABELS_MAX];  /* by kind; those of a class are together */
    uint32_t height, width; /* of images, or height 0 */
    const uint8_t *rows;    /* the table's, in its order */
    const uint8_t *missing; /* the same of what is missing, where bytes stand in; null: nothing is */
    uint32_t *order;        /* by vector: its row in the table */
    /* Laid out for one way of asking: rfc_training_lay(). */
    uint32_t laid;     /* how many features may be asked: */
    uint32_t *feature; /* which they are, ascending */
    uint32_t *place;   /* by feature: where it is in that list; `laid`: nowhere */
    uint8_t *columns;  /* in that order: `stride` bytes each, of which `count` are the vectors'; images are softened */
    size_t stride;
    uint8_t *sketches; /* by vector `sketch` bytes: its features in sixteen levels, two to a byte */
    size_t sketch;     /* byte b has feature[b] in its lower half and feature[b + sketch] in its upper */
    uint8_t *low;      /* by place: the value of level 0, */
    float *step;       /* and how far apart levels are */
    /* Vectors are ordered by kind, at random within one. Of a large set the first `pilot` vectors, again
       ordered by kind, have the classes' shares: its first segments. */
    uint32_t pilot, pilot_segments, segments;
    rfc_segment segment[2 * RFC_LABELS_MAX];
    uint32_t *of_class;         /* vectors by class: class c's are of_class[class_begin[c]] and on */
    uint32_t *class_begin;      /* classes + 1 of them */
    float *variance;            /* by feature */
    double largest_deviation;   /* of any feature */
    int is_ranked;              /* bytes are ranks or categories, not a scale that features share */
    const uint8_t *is_category; /* by feature; null: none is */
};

/* rfc_training_open without its checks, in the caller's memory. Returns 0, or -1 with a message. */
int rfc_training_make(const rfc_table *table, const uint32_t *chosen, uint32_t count, uint32_t classes, uint64_t seed,
                      rfc_training *training, char *error, size_t size);
void rfc_training_free(rfc_training *training);

/* The same training set, or its pilot alone, laid out for the features with a mask that is not 0, all when it is null.
   It borrows from the one it was made of. Returns 0, or -1 without memory; to be freed by rfc_training_unlay() either
   way. */
int rfc_training_lay(const rfc_training *training, int pilot_alone, const uint8_t *mask, rfc_training *out);
void rfc_training_unlay(rfc_training *training);

static inline const uint8_t *rfc_training_row(const rfc_training *t, uint32_t vector)
{
    return t->rows + (size_t)t->order[vector] * t->features;
}
static inline const uint8_t *rfc_training_column(const rfc_training *t, uint32_t feature)
{
    return t->columns + (size_t)t->place[feature] * t->stride;
}

static inline const uint8_t *rfc_training_sketch(const rfc_training *t, uint32_t vector)
{
    return t->sketches + vector * t->sketch;
}

/* Says that a row or a sketch will be read soon. */
static inline void rfc_prefetch(const uint8_t *row, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(row + at);
}

#endif
