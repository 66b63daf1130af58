/* Arrays of numbers in binary files: what IDX and NumPy have in common. */
#ifndef REJFILT_ARRAY_H
#define REJFILT_ARRAY_H

#include "stream.h"
#include "table.h"

enum { RF_ARRAY_DIMENSIONS = 8 };

typedef struct rf_array {
    char kind;      /* 'u' and 'i' whole numbers, 'f' floating point */
    unsigned bytes; /* of a number */
    int big_endian;
    int first_fastest; /* the first index varies fastest (Fortran's order), not the last */
    unsigned dimensions;
    uint64_t size[RF_ARRAY_DIMENSIONS];
} rf_array;

/* Reads what follows the header up to the end of the stream: a row per first index. Checks declared sizes
   before it allocates. The table is empty before; labels are not set. Returns 0, or -1 with a message. */
int rf_array_rows(const rf_array *array, rf_stream *stream, rf_table *table, char *error, size_t size);

/* The same for an array of labels: a text per number, of which there must be `rows`. Fills table->label
   and table->labels. */
int rf_array_labels(const rf_array *array, rf_stream *stream, uint64_t rows, rf_table *table, char *error, size_t size);

/* Header of an IDX file and of a NumPy array. Return 0, or -1 with a message. */
int rf_array_idx(rf_stream *stream, rf_array *array, char *error, size_t size);
int rf_array_npy(rf_stream *stream, rf_array *array, char *error, size_t size);

#endif
