/* Rows of CSV from a file, plain or gzip. */
#ifndef REJFILT_TABLES_ROWS_H
#define REJFILT_TABLES_ROWS_H

#include "engine.h"
#include "stream.h"

typedef struct tables_rows {
    char **field; /* of the current row; valid until the next call */
    size_t fields, field_room;
    unsigned long number, lines; /* number of its first line, and its number of lines */
    tables_stream *stream;
    char *error; /* receives messages */
    size_t size;
    char separator;
    int has_comments;
    char *line; /* the row, without its line end */
    size_t length, room;
    long have, next;
    char buffer[1 << 16];
} tables_rows;

/* Separator zero: detected in the first row. With `has_comments`, lines that begin with # are skipped. NULL with a
   message; later messages go to the same place. */
tables_rows *tables_rows_open(const char *path, char separator, int has_comments, char *error, size_t size);
void tables_rows_close(tables_rows *rows);

/* The next row that is not empty. Returns 1, 0 at the end, or -1 with a message. */
int tables_rows_next(tables_rows *rows);

/* Reports an error in the current row. Evaluates to -1. */
#define tables_rows_fail(r, text, ...)                                                                                 \
    rf_fail((r)->error, (r)->size, "%s: line %lu: " text, tables_stream_name((r)->stream), (r)->number, __VA_ARGS__)

#endif
