/* CSV: the first thousand rows tell header, separator and label column; then all rows are read. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine.h"
#include "load.h"
#include "stream.h"

enum { BUFFER = 1 << 16, LINE_MOST = 1 << 26, LOOK_ROWS = 1000, FEW_LABELS = 64 };

typedef struct reader {
    rf_stream *stream;
    char *error;
    size_t size;
    char buffer[BUFFER];
    long have, next;
    char *line; /* the current one, without its end */
    size_t room;
    unsigned long number;
    char separator;
    char **field; /* of the current line; they point into it */
    size_t fields, field_room;
} reader;

static void reader_close(reader *r)
{
    if (!r)
        return;
    rf_stream_close(r->stream);
    free(r->line);
    free(r->field);
    free(r);
}

static reader *reader_open(const char *path, char *error, size_t size)
{
    reader *r = calloc(1, sizeof *r);
    if (!r || !(r->stream = rf_stream_open(path, error, size))) {
        if (!r)
            rf_fail(error, size, "%s: out of memory", path);
        reader_close(r);
        return NULL;
    }
    r->error = error;
    r->size = size;
    return r;
}

#define fail_here(r, text, ...)                                                                                        \
    rf_fail((r)->error, (r)->size, "%s: line %lu: " text, rf_stream_name((r)->stream), (r)->number, __VA_ARGS__)

/* The next line. Returns 1, 0 at the end, or -1 with a message. */
static int read_line(reader *r)
{
    size_t length = 0;
    r->number++;
    for (;;) {
        if (r->next == r->have) {
            r->next = 0;
            r->have = rf_stream_some(r->stream, r->buffer, BUFFER, r->error, r->size);
            if (r->have < 0)
                return -1;
            if (r->have == 0 && length == 0)
                return 0;
        }
        const char *start = r->buffer + r->next, *end = memchr(start, '\n', (size_t)(r->have - r->next));
        size_t part = end ? (size_t)(end - start) : (size_t)(r->have - r->next);
        if (length + part + 1 > r->room) {
            size_t room = 2 * (length + part + 1);
            char *more = room < LINE_MOST ? realloc(r->line, room) : NULL;
            if (!more)
                return fail_here(r, "is longer than %d bytes", LINE_MOST / 2);
            r->line = more;
            r->room = room;
        }
        memcpy(r->line + length, start, part);
        length += part;
        r->next += (long)part + (end != NULL);
        if (end || r->have == 0)
            break;
    }
    while (length > 0 && (r->line[length - 1] == '\r' || r->line[length - 1] == ' '))
        length--;
    r->line[length] = '\0';
    if (memchr(r->line, '\0', length))
        return fail_here(r, "%s", "has a zero byte: not a text file");
    return 1;
}

/* Cuts the current line into fields, without surrounding blanks and quotes. Returns 0, or -1 with a message. */
static int cut(reader *r)
{
    r->fields = 0;
    for (char *c = r->line;; c++) {
        c += strspn(c, r->separator == '\t' ? " " : " \t");
        char *start = c, *end;
        if (*c == '"') {
            start = c + 1;
            end = strchr(start, '"');
            if (!end)
                return fail_here(r, "%s", "a quote that does not end");
            c = end + strcspn(end, (char[]){r->separator, '\0'});
        } else {
            c += strcspn(c, (char[]){r->separator, '\0'});
            for (end = c; end > start && isspace((unsigned char)end[-1]);)
                end--;
        }
        if (r->fields == r->field_room) {
            size_t room = r->field_room ? 2 * r->field_room : 64;
            char **more = realloc(r->field, room * sizeof *more);
            if (!more)
                return fail_here(r, "%s", "out of memory");
            r->field = more;
            r->field_room = room;
        }
        r->field[r->fields++] = start;
        int is_last = *c == '\0';
        *end = '\0';
        if (is_last)
            return 0;
    }
}

/* The next line that is not empty, cut. Returns 1, 0 at the end, or -1 with a message. */
static int next_row(reader *r)
{
    int status;
    do
        status = read_line(r);
    while (status == 1 && r->line[strspn(r->line, " \t")] == '\0');
    if (status == 1 && r->separator == '\0')
        r->separator = strchr(r->line, ',') ? ',' : strchr(r->line, ';') ? ';' : '\t';
    return status == 1 && cut(r) < 0 ? -1 : status;
}

static int is_missing(const char *text) { return *text == '\0' || strcmp(text, "?") == 0 || strcmp(text, "NA") == 0; }

/* A whole text that is a number, "nan" and "inf" included. */
static int to_number(const char *text, double *value)
{
    char *end;
    unsigned whole = 0, digits = 0;
    while (text[digits] >= '0' && text[digits] <= '9' && digits < 9)
        whole = whole * 10 + (unsigned)(text[digits++] - '0');
    if (digits > 0 && text[digits] == '\0') { /* most numbers are short */
        *value = whole;
        return 1;
    }
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

/* ---- The first look ---- */

typedef struct layout {
    int has_header;
    size_t fields, label;
    rf_names names; /* of all columns, where there is a header */
} layout;

static int look_header(const reader *r)
{
    size_t texts = 0;
    double ignored;
    for (size_t i = 0; i < r->fields; i++)
        texts += !is_missing(r->field[i]) && !to_number(r->field[i], &ignored);
    return texts > 1 || (r->fields == 1 && texts == 1);
}

/* A column could be labels when it has texts, or 2 to FEW_LABELS different whole numbers. */
typedef struct candidate {
    rf_names values;
    int is_text, refuted;
} candidate;

static void consider(candidate *c, const char *text)
{
    double value;
    c->is_text |= !is_missing(text) && !to_number(text, &value);
    if (c->refuted)
        return;
    c->refuted = is_missing(text) || (to_number(text, &value) && value != floor(value)) ||
                 rf_names_intern(&c->values, text) >= FEW_LABELS;
}

static int named_label(const layout *l, const char *wanted)
{
    static const char *const usual[] = {"label", "class", "target", "y", NULL};
    for (size_t i = 0; i < l->names.count; i++)
        if (wanted ? strcmp(l->names.text[i], wanted) == 0 : 0)
            return (int)i;
    for (size_t k = 0; !wanted && usual[k]; k++)
        for (size_t i = 0; i < l->names.count; i++)
            if (strcasecmp(l->names.text[i], usual[k]) == 0)
                return (int)i;
    return -1;
}

static int choose_label(layout *l, const char *wanted, const candidate *first, const candidate *last, const char *path,
                        char *error, size_t size)
{
    int named = named_label(l, wanted);
    char *end = NULL;
    unsigned long number = wanted ? strtoul(wanted, &end, 10) : 0;
    if (named >= 0)
        l->label = (size_t)named;
    else if (wanted && (*wanted < '0' || *wanted > '9' || *end != '\0' || number >= l->fields))
        return rf_fail(error, size, "%s: has no column '%s'; columns are named in its header or numbered 0 to %zu",
                       path, wanted, l->fields - 1);
    else if (wanted)
        l->label = number;
    else if (last->is_text || first->is_text)
        l->label = last->is_text ? l->fields - 1 : 0;
    else
        l->label = (last->refuted || last->values.count < 2) && !first->refuted && first->values.count >= 2
                       ? 0
                       : l->fields - 1;
    return 0;
}

static int look(const char *path, const char *label, layout *l, char *error, size_t size)
{
    candidate first = {0}, last = {0};
    reader *r = reader_open(path, error, size);
    int status = r ? next_row(r) : -1;
    if (status == 0)
        status = rf_fail(error, size, "%s: is empty", path);
    if (status == 1) {
        l->has_header = look_header(r);
        l->fields = r->fields;
        for (size_t i = 0; i < r->fields && l->has_header && status == 1; i++)
            status = rf_names_add(&l->names, r->field[i]) < 0 ? rf_fail(error, size, "%s: out of memory", path) : 1;
        if (status == 1 && l->has_header)
            status = next_row(r);
        for (unsigned row = 0; row < LOOK_ROWS && status == 1; row++) {
            consider(&first, r->field[0]);
            consider(&last, r->field[r->fields - 1]);
            status = next_row(r);
        }
    }
    if (status >= 0)
        status = choose_label(l, label, &first, &last, path, error, size);
    rf_names_free(&first.values);
    rf_names_free(&last.values);
    reader_close(r);
    return status;
}

/* ---- All rows ---- */

static int take_label(reader *r, const char *text, rf_table *table)
{
    char number[32];
    double value;
    if (is_missing(text))
        return fail_here(r, "%s", "has no label");
    if (to_number(text, &value) && value == floor(value) && fabs(value) < 1e15) {
        snprintf(number, sizeof number, "%.15g", value);
        text = number;
    }
    uint32_t label = rf_names_intern(&table->labels, text);
    if (label >= RF_LABELS_MAX)
        return fail_here(r, "label '%.40s', and there are 256 different ones before; is it the label column?", text);
    table->label[table->rows] = label;
    return 0;
}

static int take_field(reader *r, size_t column, size_t feature, rf_table *table)
{
    const char *text = r->field[column];
    double value;
    int status;
    if (is_missing(text)) {
        status = rf_table_miss(table, table->rows, feature);
    } else {
        if (!to_number(text, &value))
            return fail_here(r, "column %zu: '%.40s' is not a number", column + 1, text);
        if (!(fabs(value) <= 1e30))
            return fail_here(r, "column %zu: '%.40s' is not a number to work with", column + 1, text);
        status = rf_table_put(table, table->rows, feature, value);
    }
    return status < 0 ? fail_here(r, "%s", "out of memory") : 0;
}

static int take_row(reader *r, const layout *l, rf_table *table)
{
    if (r->fields != l->fields)
        return fail_here(r, "has %zu fields, the first line has %zu", r->fields, l->fields);
    if (rf_table_grow(table) < 0)
        return fail_here(r, "%s", "out of memory");
    if (take_label(r, r->field[l->label], table) < 0)
        return -1;
    for (size_t i = 0, feature = 0; i < l->fields; i++)
        if (i != l->label && take_field(r, i, feature++, table) < 0)
            return -1;
    table->rows++;
    return 0;
}

int rf_load_csv(const char *path, const char *label, rf_table *table, char *error, size_t size)
{
    layout l = {0};
    reader *r = NULL;
    int status = look(path, label, &l, error, size);
    snprintf(table->source, sizeof table->source, "%s", path);
    if (status == 0 && (l.fields < 2 || l.fields > RF_FEATURES_MAX))
        status = rf_fail(error, size, "%s: has %zu columns; wanted are a label and 1 to %d features", path, l.fields,
                         RF_FEATURES_MAX);
    if (status == 0) {
        table->features = (uint32_t)l.fields - 1;
        table->bytes = malloc(1); /* numbers are bytes until one is not */
        r = table->bytes ? reader_open(path, error, size) : NULL;
        status = r ? 0 : table->bytes ? -1 : rf_fail(error, size, "%s: out of memory", path);
    }
    for (uint32_t i = 0; i < l.names.count && status == 0; i++)
        if (i != l.label && rf_names_add(&table->names, l.names.text[i]) < 0)
            status = rf_fail(error, size, "%s: out of memory", path);
    int skip = l.has_header, more = 0;
    while (status == 0 && (more = next_row(r)) == 1) {
        if (!skip)
            status = take_row(r, &l, table);
        skip = 0;
    }
    if (status == 0 && more < 0)
        status = -1;
    if (status == 0 && table->rows == 0)
        status = rf_fail(error, size, "%s: has no rows", path);
    rf_names_free(&l.names);
    reader_close(r);
    return status;
}
