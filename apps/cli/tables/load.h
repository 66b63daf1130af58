/* Tables from files: IDX and NumPy arrays, CSV, archives, directories; and synthetic digits. */
#ifndef REJFILT_TABLES_LOAD_H
#define REJFILT_TABLES_LOAD_H

#include "rejfilt/classify.h"

/* Where data comes from. Null: not given. */
typedef struct tables_source {
    const char *data; /* a directory with MNIST's four files, an .npz with both halves, or "synthetic" */
    const char *train, *train_labels; /* files; without labels of their own, one column is the label */
    const char *test, *test_labels;
    const char *label;       /* the label column: its name, or its number from 0 on */
    const char *const *drop; /* columns of CSV files that are left out, by name or number; ends in null. Null: none */
    uint64_t seed;           /* of synthetic digits */
} tables_source;

/* Fills both tables; the test's stays empty (rows = 0) when there is none. What they hold has the same
   features. On failure both are empty. Returns 0, or -1 with a one-line message. */
int tables_load(const tables_source *source, rfc_table *train, rfc_table *test, char *error, size_t size);

/* A CSV file: a header where the first row is one; separated by commas, semicolons or tabs; an empty
   field, ?, NA or NaN is missing; a column that is mostly texts has categories. Where `like` is not null, its features
   are wanted, by name where both have names: other columns are passed over, and labels may be missing. */
int tables_load_csv(const char *path, const tables_source *source, const rfc_table *like, rfc_table *table, char *error,
                    size_t size);

/* Does a field stand for a value that is missing? */
int tables_is_missing(const char *text);

/* One file of objects like those of a table (its features, names and categories count), with or without labels. */
int tables_load_objects(const tables_source *source, const char *path, const char *labels, const rfc_table *like,
                        rfc_table *table, char *error, size_t size);

enum { TABLES_SYNTHETIC_TRAIN = 6000, TABLES_SYNTHETIC_TEST = 1000 };

#endif
