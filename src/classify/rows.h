/* Rows of CSV from a file, plain or gzip. */
#ifndef REJFILT_ROWS_H
#define REJFILT_ROWS_H

#include "engine.h"
#include "stream.h"

typedef struct rf_rows {
    char **field; /* of the current row, until the next */
    size_t fields, field_room;
    unsigned long number, lines; /* of its first line, and how many it has */
    rf_stream *stream;
    char *error; /* where messages go */
    size_t size;
    char separator;
    int has_comments;
    char *line; /* the row, without its end */
    size_t length, room;
    long have, next;
    char buffer[1 << 16];
} rf_rows;

/* Without a separator (zero), the first row shows which it is. Lines that begin with # are passed over where there are
   comments. Null with a message; later messages go to the same place. */
rf_rows *rf_rows_open(const char *path, char separator, int has_comments, char *error, size_t size);
void rf_rows_close(rf_rows *rows);

/* The next row that is not empty. Returns 1, 0 at the end, or -1 with a message. */
int rf_rows_next(rf_rows *rows);

/* Says what is wrong with the current row. Is -1. */
#define rf_rows_fail(r, text, ...)                                                                                     \
    rf_fail((r)->error, (r)->size, "%s: line %lu: " text, rf_stream_name((r)->stream), (r)->number, __VA_ARGS__)

#endif
