/* Arrays of numbers in binary files: the common part of IDX and NumPy. */
#ifndef REJFILT_TABLES_ARRAY_H
#define REJFILT_TABLES_ARRAY_H

#include "rejfilt/classify.h"
#include "stream.h"

enum { TABLES_ARRAY_DIMENSIONS = 8 };

typedef struct tables_array {
    char kind;      /* 'u' and 'i' whole numbers, 'f' floating point */
    unsigned bytes; /* per number */
    int big_endian;
    int first_fastest; /* the first index varies fastest (Fortran order); else the last */
    unsigned dimensions;
    uint64_t size[TABLES_ARRAY_DIMENSIONS];
} tables_array;

/* Reads the rest of the stream after the header: a row per first index. Checks declared sizes before it allocates.
   The table must be empty; labels are not set. Returns 0, or -1 with a message. */
int tables_array_rows(const tables_array *array, tables_stream *stream, rfc_table *table, char *error, size_t size);

/* The same for an array of labels, which must have `rows` of them. Fills table->label and table->labels. */
int tables_array_labels(const tables_array *array, tables_stream *stream, uint64_t rows, rfc_table *table, char *error,
                        size_t size);

/* Read the header of an IDX file and of a NumPy array. Return 0, or -1 with a message. */
int tables_array_idx(tables_stream *stream, tables_array *array, char *error, size_t size);
int tables_array_npy(tables_stream *stream, tables_array *array, char *error, size_t size);

#endif
