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
    uint32_t kinds;                    /* number of kinds; a kind is a label, and a class may have several */
    uint8_t class_of[RFC_LABELS_MAX];  /* by kind; kinds of a class are consecutive */
    uint32_t height, width; /* of images; height 0: not images */
    const uint8_t *rows;    /* the table's rows, in its order */
    const uint8_t *missing; /* flags of missing values, in the same layout; null: none is missing */
    uint32_t *order;        /* by vector: its row in the table */
    /* Set by rfc_training_lay() for a set of features. */
    uint32_t laid;     /* number of features that may be asked */
    uint32_t *feature; /* which they are, ascending */
    uint32_t *place;   /* by feature: its place in that list; `laid`: not in it */
    uint8_t *columns;  /* by place: `stride` bytes, of which the first `count` are the vectors'; images are softened */
    size_t stride;
    uint8_t *sketches; /* by vector: `sketch` bytes, its features in sixteen levels, two per byte */
    size_t sketch;     /* byte b holds feature[b] in its lower half and feature[b + sketch] in its upper half */
    uint8_t *low;      /* by place: value of level 0 */
    float *step;       /* distance of levels */
    /* Vectors are ordered by kind, randomly within a kind. In a large set the first `pilot` vectors, also ordered by
       kind, are a sample with the shares of the classes; the first segments are theirs. */
    uint32_t pilot, pilot_segments, segments;
    rfc_segment segment[2 * RFC_LABELS_MAX];
    uint32_t *of_class;         /* vectors by class: those of class c begin at of_class[class_begin[c]] */
    uint32_t *class_begin;      /* classes + 1 numbers */
    float *variance;            /* by feature */
    double largest_deviation;   /* largest standard deviation of any feature */
    int is_ranked;              /* bytes are ranks or categories, without a common scale */
    const uint8_t *is_category; /* by feature; null: none is */
};

/* As rfc_training_open without its checks, in the caller's memory. Returns 0, or -1 with a message. */
int rfc_training_make(const rfc_table *table, const uint32_t *chosen, uint32_t count, uint32_t classes, uint64_t seed,
                      rfc_training *training, char *error, size_t size);
void rfc_training_free(rfc_training *training);

/* Lays the training set, or only its pilot, out for the features whose mask is not 0; null: all. The result borrows
   from `training`. Returns 0, or -1 when out of memory; in both cases free it by rfc_training_unlay(). */
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

/* Prefetches a row or a sketch. */
static inline void rfc_prefetch(const uint8_t *row, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(row + at);
}

#endif
