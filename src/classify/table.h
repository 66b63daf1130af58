/* A table of numbers with a label per row, as it comes from files. */
#ifndef REJFILT_TABLE_H
#define REJFILT_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum { RF_LABELS_MAX = 256, RF_FEATURES_MAX = 1 << 20 };

/* Texts, each once. */
typedef struct rf_names {
    char **text;
    uint32_t count;
} rf_names;

typedef struct rf_table {
    char source[512]; /* for messages */
    uint32_t rows, features;
    uint32_t height, width; /* of an image, or 0 */
    size_t room;            /* rows there is room for */
    uint8_t *bytes;         /* rows × features; or, where a number was not a whole one from 0 to 255: */
    float *reals;
    uint8_t *missing;       /* rows × features, not 0 where it is; null when nothing is */
    uint32_t *label;        /* by row: an index of `labels`; after rf_task_apply the class */
    rf_names labels, names; /* `names` of features; empty where they have none */
} rf_table;

void rf_names_free(rf_names *names);
/* The index of `text`, which is added if it is new. RF_LABELS_MAX when there are too many or no memory. */
uint32_t rf_names_intern(rf_names *names, const char *text);
/* The index of `text`, or names->count. */
uint32_t rf_names_find(const rf_names *names, const char *text);
/* Adds a text at the end. Returns 0, or -1 without memory. */
int rf_names_add(rf_names *names, const char *text);

/* Memory for data that is read here and there, on large pages where the system has them; free() frees it. */
void *rf_huge(size_t bytes);

void rf_table_free(rf_table *table);

/* Room for one more row. Returns 0, or -1 without memory. */
int rf_table_grow(rf_table *table);
/* Puts a finite number into row `row`, for which there is room. Returns 0, or -1 without memory. */
int rf_table_put(rf_table *table, size_t row, size_t feature, double value);
/* Marks a number as missing. Returns 0, or -1 without memory. */
int rf_table_miss(rf_table *table, size_t row, size_t feature);

/* Keeps the rows i with keep(context, i), in order. */
void rf_table_keep(rf_table *table, int (*keep)(const void *context, uint32_t row), const void *context);

/* Appends the rows of `more`, whose bytes, labels and classes mean the same; it is emptied. Returns 0, or -1
   with a message. */
int rf_table_append(rf_table *table, rf_table *more, char *error, size_t size);

/* What feature `feature` is called: its name, or its number from 0 on, which is put into `number`. */
const char *rf_table_feature(const rf_table *table, uint32_t feature, char *number, size_t size);
/* The feature of that name or number; table->features when there is none. */
uint32_t rf_table_find(const rf_table *table, const char *text);

#endif
