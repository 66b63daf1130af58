/* Rows of CSV from a file. */
#ifndef REJFILT_TABLES_ROWS_H
#define REJFILT_TABLES_ROWS_H

#include <stdio.h>

#include "engine.h"

typedef struct tables_rows {
    char **field; /* of the current row; valid until the next call */
    size_t fields, field_room;
    unsigned long number, lines; /* number of its first line, and its number of lines */
    const char *path;
    FILE *file;
    char *error; /* receives messages */
    size_t size;
    char separator;
    int has_comments;
    char *line; /* the row, without its line end */
    size_t length, room;
    size_t have, next;
    char buffer[1 << 16];
} tables_rows;

/* An ordinary file to read. Refused by its first bytes is what rejfilt reads in Python only. Null with a message. */
FILE *tables_open(const char *path, char *error, size_t size);

/* Separator zero: detected in the first row. With `has_comments`, lines that begin with # are skipped. NULL with a
   message; later messages go to the same place; `path` must outlive it. */
tables_rows *tables_rows_open(const char *path, char separator, int has_comments, char *error, size_t size);
void tables_rows_close(tables_rows *rows);

/* The next row that is not empty. Returns 1, 0 at the end, or -1 with a message. */
int tables_rows_next(tables_rows *rows);

/* Reports an error in the current row. Evaluates to -1. */
#define tables_rows_fail(r, text, ...)                                                                                 \
    rf_fail((r)->error, (r)->size, "%s: line %lu: " text, (r)->path, (r)->number, __VA_ARGS__)

#endif
