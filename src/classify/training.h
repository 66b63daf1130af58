/* Training vectors, ordered and laid out for the filters. */
#ifndef REJFILT_TRAINING_H
#define REJFILT_TRAINING_H

#include "table.h"

/* Vectors begin to begin + count − 1, all of one class. */
typedef struct rf_segment {
    uint32_t begin, count, class;
} rf_segment;

typedef struct rf_training {
    uint32_t count, features, classes;
    const uint8_t *rows; /* the table's, in its order */
    uint32_t *order;     /* by vector: its row in the table */
    /* Laid out for one way of asking: rf_training_lay(). */
    uint32_t laid;           /* how many features may be asked: */
    uint32_t *feature;       /* which they are, ascending */
    uint32_t *place;         /* by feature: where it is in that list; `laid`: nowhere */
    uint8_t *columns;        /* in that order: `stride` bytes each, of which `count` are the vectors' */
    size_t stride;
    uint8_t *sketches;       /* by vector `sketch` bytes: its features in sixteen levels, two to a byte */
    size_t sketch;           /* byte b has feature[b] in its lower half and feature[b + sketch] in its upper */
    uint8_t *low;            /* by place: the value of level 0, */
    float *step;             /* and how far apart levels are */
    /* Vectors are ordered by class, at random within one. Of a large set the first `pilot` vectors, again
       ordered by class, have the classes' shares: its first segments. */
    uint32_t pilot, pilot_segments, segments;
    rf_segment segment[2 * RF_LABELS_MAX];
    uint32_t *of_class;       /* vectors by class: class c's are of_class[class_begin[c]] and on */
    uint32_t *class_begin;    /* classes + 1 of them */
    float *variance;          /* by feature */
    double largest_deviation; /* of any feature */
} rf_training;

/* The training set of the rows chosen[0 .. count − 1] of a table of bytes whose labels are classes, which must
   outlive it. Every class has a row. Returns 0, or -1 with a message. */
int rf_training_make(const rf_table *table, const uint32_t *chosen, uint32_t count, uint32_t classes, uint64_t seed,
                     rf_training *training, char *error, size_t size);
void rf_training_free(rf_training *training);

/* The same training set, or its pilot alone, laid out for the features with a mask that is not 0, all when it is null.
   It borrows from the one it was made of. Returns 0, or -1 without memory; to be freed by rf_training_unlay() either way. */
int rf_training_lay(const rf_training *training, int pilot_alone, const uint8_t *mask, rf_training *out);
void rf_training_unlay(rf_training *training);

static inline const uint8_t *rf_training_row(const rf_training *t, uint32_t vector)
{
    return t->rows + (size_t)t->order[vector] * t->features;
}
static inline const uint8_t *rf_training_column(const rf_training *t, uint32_t feature)
{
    return t->columns + (size_t)t->place[feature] * t->stride;
}

static inline const uint8_t *rf_training_sketch(const rf_training *t, uint32_t vector)
{
    return t->sketches + vector * t->sketch;
}

/* Says that a row or a sketch will be read soon. */
static inline void rf_prefetch(const uint8_t *row, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(row + at);
}

/* A random order of 0 .. count − 1. */
void rf_shuffle(uint64_t seed, uint32_t update, uint32_t purpose, uint32_t *order, uint32_t count);

#endif
