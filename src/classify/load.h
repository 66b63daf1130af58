/* Tables from files: IDX and NumPy arrays, CSV, archives, directories; and synthetic digits. */
#ifndef REJFILT_LOAD_H
#define REJFILT_LOAD_H

#include "table.h"

/* Where data comes from. Null: not given. */
typedef struct rf_source {
    const char *data; /* a directory with MNIST's four files, an .npz with both halves, or "synthetic" */
    const char *train, *train_labels; /* files; without labels of their own, one column is the label */
    const char *test, *test_labels;
    const char *label; /* the label column: its name, or its number from 0 on */
    uint64_t seed;     /* of synthetic digits */
} rf_source;

/* Fills both tables; the test's stays empty (rows = 0) when there is none. What they hold has the same
   features. On failure both are empty. Returns 0, or -1 with a one-line message. */
int rf_load(const rf_source *source, rf_table *train, rf_table *test, char *error, size_t size);

/* A CSV file: a header where the first row is one; separated by commas, semicolons or tabs; an empty
   field, ? or NA is missing. */
int rf_load_csv(const char *path, const char *label, rf_table *table, char *error, size_t size);

enum { RF_SYNTHETIC_TRAIN = 6000, RF_SYNTHETIC_TEST = 1000 };
/* Digits drawn from strokes, 28 × 28; the first one has number `first`. */
int rf_synthetic(uint64_t seed, uint32_t first, uint32_t count, rf_table *table, char *error, size_t size);

#endif
