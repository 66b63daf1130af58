/* Arrays of numbers in binary files: what IDX and NumPy have in common. */
#ifndef REJFILT_TABLES_ARRAY_H
#define REJFILT_TABLES_ARRAY_H

#include "rejfilt/classify.h"
#include "stream.h"

enum { TABLES_ARRAY_DIMENSIONS = 8 };

typedef struct tables_array {
    char kind;      /* 'u' and 'i' whole numbers, 'f' floating point */
    unsigned bytes; /* of a number */
    int big_endian;
    int first_fastest; /* the first index varies fastest (Fortran's order), not the last */
    unsigned dimensions;
    uint64_t size[TABLES_ARRAY_DIMENSIONS];
} tables_array;

/* Reads what follows the header up to the end of the stream: a row per first index. Checks declared sizes
   before it allocates. The table is empty before; labels are not set. Returns 0, or -1 with a message. */
int tables_array_rows(const tables_array *array, tables_stream *stream, rfc_table *table, char *error, size_t size);

/* The same for an array of labels: a text per number, of which there must be `rows`. Fills table->label
   and table->labels. */
int tables_array_labels(const tables_array *array, tables_stream *stream, uint64_t rows, rfc_table *table, char *error,
                        size_t size);

/* Header of an IDX file and of a NumPy array. Return 0, or -1 with a message. */
int tables_array_idx(tables_stream *stream, tables_array *array, char *error, size_t size);
int tables_array_npy(tables_stream *stream, tables_array *array, char *error, size_t size);

#endif
