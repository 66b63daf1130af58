/* Tables from files: CSV, IDX arrays, MNIST's directory; and synthetic digits. Other formats are for Python. */
#ifndef REJFILT_TABLES_LOAD_H
#define REJFILT_TABLES_LOAD_H

#include "few.h"

/* Sources of the data. Null: not given. */
typedef struct tables_source {
    const char *data; /* a directory with the four files of MNIST, a table, or "synthetic" */
    const char *train, *train_labels; /* files; without separate labels, one column holds the labels */
    const char *test, *test_labels;
    const char *label;       /* label column: its name, or its number from 0 */
    const char *const *drop; /* CSV columns to leave out, by name or number; ends in null. Null: none */
    uint64_t seed;           /* for synthetic digits */
} tables_source;

/* Loads both tables; `test` stays empty (rows = 0) if there is none. Both have the same features. On failure both
   are empty. Returns 0, or -1 with a one-line message. */
int tables_load(const tables_source *source, rfc_table *train, rfc_table *test, char *error, size_t size);

/* Loads a CSV file. The header is optional; the separator is a comma, semicolon or tab; with semicolons 3,5 is a
   number; an empty field, ?, NA or NaN is a missing value; a column with mostly texts has categories. If `like` is not null, its features must be there,
   matched by name if both have names; other columns are ignored and labels may be missing. */
int tables_load_csv(const char *path, const tables_source *source, const rfc_table *like, rfc_table *table, char *error,
                    size_t size);

/* Does the field stand for a missing value? */
int tables_is_missing(const char *text);

/* Loads a file of objects that match a table (its features, names and categories), with or without labels. */
int tables_load_objects(const tables_source *source, const char *path, const char *labels, const rfc_table *like,
                        rfc_table *table, char *error, size_t size);

enum { TABLES_SYNTHETIC_TRAIN = 6000, TABLES_SYNTHETIC_TEST = 1000 };

#endif
