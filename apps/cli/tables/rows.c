#define _POSIX_C_SOURCE 200809L
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "file.h"

enum { LINE_MAX = 1 << 26 };

FILE *tables_open(const char *path, char *error, size_t size)
{
    static const struct {
        const char *begins, *what;
    } others[] = {{"\x1f\x8b", "is compressed: unpack it first (gunzip)"},
                  {"PK\3\4", "is a zip archive: unpack a table first; arrays (.npz) are for Python, rejfilt.sklearn"},
                  {"\x93NUMPY", "is a NumPy array: use it in Python, rejfilt.sklearn, or save it as CSV"}};
    char first[6] = "";
    FILE *file = rf_file_read(path, error, size);
    const size_t count = file ? fread(first, 1, sizeof first, file) : 0;
    if (file)
        rewind(file);
    for (size_t i = 0; i < sizeof others / sizeof others[0] && file; i++)
        if (count >= strlen(others[i].begins) && memcmp(first, others[i].begins, strlen(others[i].begins)) == 0) {
            rf_fail(error, size, "%s: %s", path, others[i].what);
            fclose(file);
            file = NULL;
        }
    return file;
}

void tables_rows_close(tables_rows *r)
{
    if (!r)
        return;
    if (r->file)
        fclose(r->file);
    free(r->line);
    free(r->field);
    free(r);
}

tables_rows *tables_rows_open(const char *path, char separator, int has_comments, char *error, size_t size)
{
    tables_rows *r = calloc(1, sizeof *r);
    if (!r || !(r->file = tables_open(path, error, size))) {
        if (!r)
            rf_fail(error, size, "%s: out of memory", path);
        tables_rows_close(r);
        return NULL;
    }
    r->path = path;
    r->error = error;
    r->size = size;
    r->separator = separator;
    r->has_comments = has_comments;
    r->lines = 1; /* number 0, before the first line */
    return r;
}

/* Appends the next line, with its line end, to the current row. Returns 1, 0 at the end, or -1 with a message. */
static int append_line(tables_rows *r)
{
    const size_t before = r->length;
    for (;;) {
        if (r->next == r->have) {
            r->next = 0;
            r->have = fread(r->buffer, 1, sizeof r->buffer, r->file);
            if (r->have == 0)
                return ferror(r->file) ? tables_rows_fail(r, "%s", "cannot be read") : r->length > before;
        }
        const char *start = r->buffer + r->next, *end = memchr(start, '\n', r->have - r->next);
        size_t part = end ? (size_t)(end - start) + 1 : r->have - r->next;
        if (r->length + part + 1 > r->room) {
            size_t room = 2 * (r->length + part + 1);
            char *more = room < LINE_MAX ? realloc(r->line, room) : NULL;
            if (!more)
                return tables_rows_fail(r, "is longer than %d bytes", LINE_MAX / 2);
            r->line = more;
            r->room = room;
        }
        memcpy(r->line + r->length, start, part);
        r->length += part;
        r->line[r->length] = '\0';
        r->next += part;
        if (end)
            return 1;
    }
}

/* Bytes of the UTF-8 character at `c`; 0 if it is none. */
static size_t character(const unsigned char *c)
{
    const size_t length = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : *c < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* A row that is not UTF-8 is Latin-1: makes it UTF-8. Returns 0, or -1 with a message. */
static int to_utf8(tables_rows *r)
{
    const unsigned char *c = (const unsigned char *)r->line;
    size_t wide = 0;
    while (*c && character(c))
        c += character(c);
    if (!*c)
        return 0;
    for (c = (const unsigned char *)r->line; *c; c++)
        wide += *c >= 0x80;
    if (r->length + wide + 1 > r->room) {
        char *more = realloc(r->line, r->length + wide + 1);
        if (!more)
            return tables_rows_fail(r, "%s", "out of memory");
        r->line = more;
        r->room = r->length + wide + 1;
    }
    for (size_t from = r->length, to = (r->length += wide); to > from;) { /* from the end, with the final zero */
        const unsigned char one = (unsigned char)r->line[from--];
        if (one >= 0x80)
            r->line[to--] = (char)(0x80 | (one & 0x3f));
        r->line[to--] = (char)(one >= 0x80 ? 0xc0 | one >> 6 : one);
    }
    return 0;
}

/* Reads the next row: a line, plus more lines while a quote is open. Returns 1, 0 at the end, or -1 with a message. */
static int read_row(tables_rows *r)
{
    int status, is_open = 0;
    r->number += r->lines;
    r->length = r->lines = 0;
    do {
        const size_t from = r->length;
        status = append_line(r);
        if (status < 0 || (status == 0 && !is_open))
            return status;
        if (r->number == 1 && from == 0 && strncmp(r->line, "\xef\xbb\xbf", 3) == 0) { /* byte order mark */
            r->length -= 3;
            memmove(r->line, r->line + 3, r->length + 1);
        }
        const char *line = r->line + from;
        if (memchr(line, '\0', r->length - from))
            return tables_rows_fail(r, "%s", "has a zero byte: not a text file");
        is_open = (is_open || strchr(line, '"')) && rf_csv_is_open(line, r->separator, is_open);
        r->lines++;
    } while (is_open && status == 1);
    while (r->length > 0 && strchr("\r\n ", r->line[r->length - 1]))
        r->length--;
    r->line[r->length] = '\0';
    return to_utf8(r) < 0 ? -1 : 1;
}

/* Splits the current row into fields. Returns 0, or -1 with a message. */
static int cut(tables_rows *r)
{
    char why[64];
    r->fields = 0;
    for (char *at = r->line; at; r->fields++) {
        if (r->fields == r->field_room) {
            size_t room = r->field_room ? 2 * r->field_room : 64;
            char **more = realloc(r->field, room * sizeof *more);
            if (!more)
                return tables_rows_fail(r, "%s", "out of memory");
            r->field = more;
            r->field_room = room;
        }
        r->field[r->fields] = rf_csv_cut(&at, r->separator, why, sizeof why);
        if (!r->field[r->fields])
            return tables_rows_fail(r, "field %zu: %s", r->fields + 1, why);
    }
    return 0;
}

int tables_rows_next(tables_rows *r)
{
    int status;
    do
        status = read_row(r);
    while (status == 1 && (r->line[strspn(r->line, " \t")] == '\0' || (r->has_comments && r->line[0] == '#')));
    if (status == 1 && r->separator == '\0')
        r->separator = rf_csv_separator(r->line);
    return status == 1 && cut(r) < 0 ? -1 : status;
}
