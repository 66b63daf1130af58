#include "array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "machine.h"

enum { CHUNK = 1 << 20 };

static double number_at(const tables_array *a, const unsigned char *p)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < a->bytes; i++)
        bits = bits << 8 | p[a->big_endian ? i : a->bytes - 1 - i];
    if (a->kind == 'u')
        return (double)bits;
    if (a->kind == 'i') {
        unsigned shift = 64 - 8 * a->bytes;
        int64_t value;
        bits <<= shift;
        memcpy(&value, &bits, sizeof value);
        return (double)(value >> shift);
    }
    if (a->bytes == 2) { /* IEEE half precision: 1 sign bit, 5 exponent bits, 10 fraction bits */
        const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
        const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                            : exponent > 0 ? ldexp(1024 + fraction, exponent - 25)
                                           : ldexp(fraction, -24);
        return bits >> 15 ? -size : size;
    }
    if (a->bytes == 4) {
        uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The number of elements, checked against the size of the stream; 0 with a message. */
static uint64_t elements(const tables_array *a, tables_stream *s, char *error, size_t size)
{
    uint64_t count = 1, max = tables_stream_max(s) / a->bytes;
    for (unsigned i = 0; i < a->dimensions; i++) {
        if (a->size[i] == 0) {
            rf_fail(error, size, "%s: dimension %u is 0", tables_stream_name(s), i + 1);
            return 0;
        }
        if (a->size[i] > max / count) {
            rf_fail(error, size, "%s: its header declares more data than the file can hold (dimension %u is %llu)",
                    tables_stream_name(s), i + 1, (unsigned long long)a->size[i]);
            return 0;
        }
        count *= a->size[i];
    }
    return count;
}

/* Calls take(context, k, x) for each number x in file order. take returns -1 to refuse. */
typedef int taker(void *context, uint64_t index, double value, char *error, size_t size);

static int each(const tables_array *a, tables_stream *s, uint64_t count, taker *take, void *context, char *error,
                size_t size)
{
    unsigned char *chunk = malloc(CHUNK);
    int status = chunk ? 0 : rf_fail(error, size, "%s: out of memory", tables_stream_name(s));
    for (uint64_t done = 0; done < count && status == 0;) {
        uint64_t part = count - done < CHUNK / a->bytes ? count - done : CHUNK / a->bytes;
        status = tables_stream_read(s, chunk, (size_t)part * a->bytes, error, size);
        for (uint64_t i = 0; i < part && status == 0; i++)
            status = take(context, done + i, number_at(a, chunk + i * a->bytes), error, size);
        done += part;
    }
    free(chunk);
    return status == 0 ? tables_stream_end(s, error, size) : -1;
}

/* ---- Rows ---- */

typedef struct row_taker {
    const tables_array *array;
    rfc_table *table;
} row_taker;

/* Index in C order of number `index` of a file in Fortran order. */
static uint64_t last_fastest(const tables_array *a, uint64_t index)
{
    uint64_t at = 0, digit[TABLES_ARRAY_DIMENSIONS];
    for (unsigned i = 0; i < a->dimensions; i++) {
        digit[i] = index % a->size[i];
        index /= a->size[i];
    }
    for (unsigned i = 0; i < a->dimensions; i++)
        at = at * a->size[i] + digit[i];
    return at;
}

static int take_cell(void *context, uint64_t index, double value, char *error, size_t size)
{
    row_taker *t = context;
    rfc_table *table = t->table;
    uint64_t at = t->array->first_fastest ? last_fastest(t->array, index) : index;
    uint64_t row = at / table->features, feature = at % table->features;
    if (fabs(value) > 1e30)
        return rf_fail(error, size, "%s: row %llu, feature %llu: %g is beyond 1e30", table->source,
                       (unsigned long long)row + 1, (unsigned long long)feature + 1, value);
    if (!t->array->first_fastest && feature == 0 && rfc_table_grow(table) < 0)
        return rf_fail(error, size, "%s: out of memory", table->source);
    if ((isnan(value) ? rfc_table_miss(table, row, feature) : rfc_table_put(table, row, feature, value)) < 0)
        return rf_fail(error, size, "%s: out of memory", table->source);
    table->rows =
        t->array->first_fastest ? (uint32_t)t->array->size[0] : (uint32_t)row + (feature + 1 == table->features);
    return 0;
}

/* Reads bytes that need no conversion. Reserved pages cost nothing until written. */
static int read_bytes(tables_stream *s, rfc_table *table, uint64_t count, char *error, size_t size)
{
    if (rfc_table_reserve(table, (uint32_t)(count / table->features)) < 0)
        return rf_fail(error, size, "%s: out of memory", table->source);
    return tables_stream_read(s, table->bytes, count, error, size) < 0 ? -1 : tables_stream_end(s, error, size);
}

int tables_array_rows(const tables_array *a, tables_stream *s, rfc_table *table, char *error, size_t size)
{
    uint64_t count = elements(a, s, error, size);
    if (count == 0)
        return -1;
    if (a->kind == 'U' || a->kind == 'S')
        return rf_fail(error, size, "%s: has texts; features are numbers", tables_stream_name(s));
    if (a->dimensions < 2 || a->size[0] > UINT32_MAX / 2 || count / a->size[0] > RFC_FEATURES_MAX)
        return rf_fail(error, size,
                       "%s: has %u dimensions, %llu rows, %llu features; it needs 2 dimensions or more, and at most %d features",
                       tables_stream_name(s), a->dimensions, (unsigned long long)a->size[0],
                       (unsigned long long)(count / a->size[0]), RFC_FEATURES_MAX);
    snprintf(table->source, sizeof table->source, "%s", tables_stream_name(s));
    table->features = (uint32_t)(count / a->size[0]);
    if (a->dimensions == 3) {
        table->height = (uint32_t)a->size[1];
        table->width = (uint32_t)a->size[2];
    }
    const int are_bytes = a->kind == 'u' && a->bytes == 1 && !a->first_fastest;
    if (rf_memory_check(table->source, are_bytes ? count : count * sizeof *table->reals, error, size) < 0)
        return -1;
    if (are_bytes) {
        table->rows = (uint32_t)a->size[0];
        return read_bytes(s, table, count, error, size);
    }
    row_taker t = {a, table};
    if (a->first_fastest) { /* rows are complete only at the end; untouched pages cost nothing */
        table->room = (size_t)a->size[0];
        table->reals = calloc(count, sizeof *table->reals);
    } else {
        table->bytes = malloc(1); /* stored as bytes while all numbers are; grows with the data actually read */
    }
    if (!table->reals && !table->bytes)
        return rf_fail(error, size, "%s: out of memory", table->source);
    return each(a, s, count, take_cell, &t, error, size);
}

/* ---- Labels ---- */

static int take_label(void *context, uint64_t index, double value, char *error, size_t size)
{
    row_taker *t = context;
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    uint32_t label = isfinite(value) ? rfc_names_intern(&t->table->labels, text) : RFC_LABELS_MAX;
    if (label >= RFC_LABELS_MAX)
        return rf_fail(error, size, "%s: label %llu is %s%s", t->table->source, (unsigned long long)index + 1, text,
                       isfinite(value) ? ": more than 256 distinct labels" : "");
    t->table->label[index] = label;
    return 0;
}

/* A text of the array: the characters up to the first zero, non-ASCII ones as UTF-8. */
static void text_at(const tables_array *a, const unsigned char *p, char text[64])
{
    size_t length = 0;
    for (unsigned i = 0; i < a->bytes && length < 59; i += a->kind == 'U' ? 4 : 1) {
        uint32_t c = p[i];
        if (a->kind == 'U')
            c = a->big_endian ? (uint32_t)p[i] << 24 | (uint32_t)p[i + 1] << 16 | (uint32_t)p[i + 2] << 8 | p[i + 3]
                              : (uint32_t)p[i + 3] << 24 | (uint32_t)p[i + 2] << 16 | (uint32_t)p[i + 1] << 8 | p[i];
        if (c == 0)
            break;
        if (c < 0x80 || a->kind == 'S') {
            text[length++] = (char)c;
        } else if (c < 0x800) {
            text[length++] = (char)(0xc0 | c >> 6);
            text[length++] = (char)(0x80 | (c & 63));
        } else {
            text[length++] = (char)(0xe0 | (c >> 12 & 15));
            text[length++] = (char)(0x80 | (c >> 6 & 63));
            text[length++] = (char)(0x80 | (c & 63));
        }
    }
    text[length] = '\0';
}

/* Reads labels that are texts. */
static int take_texts(const tables_array *a, tables_stream *s, uint64_t count, rfc_table *named, char *error,
                      size_t size)
{
    unsigned char *one = malloc(a->bytes);
    int status = one ? 0 : rf_fail(error, size, "%s: out of memory", named->source);
    for (uint64_t i = 0; i < count && status == 0; i++) {
        char text[64];
        status = tables_stream_read(s, one, a->bytes, error, size);
        if (status < 0)
            break;
        text_at(a, one, text);
        named->label[i] = rfc_names_intern(&named->labels, text);
        if (named->label[i] >= RFC_LABELS_MAX)
            status = rf_fail(error, size, "%s: label %llu is %s: more than 256 distinct labels",
                             named->source, (unsigned long long)i + 1, text);
    }
    free(one);
    return status == 0 ? tables_stream_end(s, error, size) : -1;
}

int tables_array_labels(const tables_array *a, tables_stream *s, uint64_t rows, rfc_table *table, char *error,
                        size_t size)
{
    uint64_t count = elements(a, s, error, size);
    if (count == 0)
        return -1;
    if (count != rows)
        return rf_fail(error, size, "%s: has %llu labels, but %s has %llu rows", tables_stream_name(s),
                       (unsigned long long)count, table->source, (unsigned long long)rows);
    rfc_table named = {.label = malloc(count * sizeof *named.label)}; /* named.source is the labels' file */
    snprintf(named.source, sizeof named.source, "%s", tables_stream_name(s));
    row_taker t = {a, &named};
    const int is_text = a->kind == 'U' || a->kind == 'S';
    int status = named.label ? is_text ? take_texts(a, s, count, &named, error, size)
                                       : each(a, s, count, take_label, &t, error, size)
                             : rf_fail(error, size, "%s: out of memory", named.source);
    free(table->label);
    table->label = named.label;
    table->labels = named.labels;
    return status;
}

/* ---- Headers ---- */

int tables_array_idx(tables_stream *s, tables_array *a, char *error, size_t size)
{
    static const struct {
        unsigned char code;
        char kind;
        unsigned char bytes;
    } types[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0b, 'i', 2}, {0x0c, 'i', 4}, {0x0d, 'f', 4}, {0x0e, 'f', 8}};
    unsigned char head[4], dimension[4];
    *a = (tables_array){.big_endian = 1};
    if (tables_stream_read(s, head, sizeof head, error, size) < 0)
        return -1;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (head[0] == 0 && head[1] == 0 && head[2] == types[i].code) {
            a->kind = types[i].kind;
            a->bytes = types[i].bytes;
        }
    a->dimensions = head[3];
    if (!a->kind || a->dimensions == 0 || a->dimensions > TABLES_ARRAY_DIMENSIONS)
        return rf_fail(error, size, "%s: not an IDX file: it begins with %02x %02x %02x %02x", tables_stream_name(s),
                       head[0], head[1], head[2], head[3]);
    for (unsigned i = 0; i < a->dimensions; i++) {
        if (tables_stream_read(s, dimension, sizeof dimension, error, size) < 0)
            return -1;
        a->size[i] =
            (uint64_t)dimension[0] << 24 | (uint64_t)dimension[1] << 16 | (uint64_t)dimension[2] << 8 | dimension[3];
    }
    return 0;
}

/* The text after 'key': in the header of a NumPy array, or null. */
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(header, quoted);
    return at ? at + strlen(quoted) + strspn(at + strlen(quoted), " ") : NULL;
}

/* Reads a quoted type like '<f8'. Returns 0, or -1. */
static int read_type(const char *text, tables_array *a)
{
    char kind = text[2];
    char *end = NULL;
    const unsigned long length = text[3] >= '0' && text[3] <= '9' ? strtoul(text + 3, &end, 10) : 0;
    const unsigned bytes = end && (*end == '\'' || *end == '"') && length < 4096 ? (unsigned)length : 0;
    if ((kind == 'U' || kind == 'S') && bytes > 0) { /* texts: 'U' has 32 bits a character, 'S' one byte */
        *a = (tables_array){.kind = kind, .bytes = kind == 'U' ? 4 * bytes : bytes, .big_endian = text[1] == '>'};
        return 0;
    }
    a->big_endian = text[1] == '>';
    a->kind = kind == 'b' ? 'u' : kind;
    a->bytes = bytes;
    int is_whole = (kind == 'u' || kind == 'i') && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
    return is_whole || (kind == 'b' && bytes == 1) || (kind == 'f' && (bytes == 2 || bytes == 4 || bytes == 8)) ? 0
                                                                                                                : -1;
}

int tables_array_npy(tables_stream *s, tables_array *a, char *error, size_t size)
{
    unsigned char head[8], length[4] = {0};
    char header[4096];
    *a = (tables_array){0};
    if (tables_stream_read(s, head, sizeof head, error, size) < 0)
        return -1;
    if (memcmp(head, "\x93NUMPY", 6) != 0 || head[6] < 1 || head[6] > 3)
        return rf_fail(error, size, "%s: not a NumPy array: its first bytes are wrong", tables_stream_name(s));
    if (tables_stream_read(s, length, head[6] == 1 ? 2 : 4, error, size) < 0)
        return -1;
    size_t bytes = (size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
    if (bytes >= sizeof header)
        return rf_fail(error, size, "%s: the header has %zu bytes: not an array of plain numbers",
                       tables_stream_name(s), bytes);
    if (tables_stream_read(s, header, bytes, error, size) < 0)
        return -1;
    header[bytes] = '\0';
    const char *type = value_of(header, "descr"), *order = value_of(header, "fortran_order"),
               *shape = value_of(header, "shape");
    if (!type || !order || !shape || strlen(type) < 5 || *shape != '(')
        return rf_fail(error, size, "%s: the NumPy header lacks a valid type, order or shape", tables_stream_name(s));
    if (strncmp(type + 1, "|O'", 3) == 0)
        return rf_fail(error, size, "%s: has Python objects; store texts with .astype(str), numbers with .astype(float)",
                       tables_stream_name(s));
    if (read_type(type, a) < 0)
        return rf_fail(error, size,
                       "%s: numbers of type %.*s are not read; only integers or floats of 16, 32 or 64 bits",
                       tables_stream_name(s), (int)strcspn(type, ","), type);
    a->first_fastest = *order == 'T';
    for (const char *c = shape + 1; *c && *c != ')';) {
        char *end;
        uint64_t count = strtoull(c, &end, 10);
        if (end == c || *c == '-' || a->dimensions == TABLES_ARRAY_DIMENSIONS)
            return rf_fail(error, size, "%s: the shape in the NumPy header is malformed", tables_stream_name(s));
        a->size[a->dimensions++] = count;
        c = end + strspn(end, ", ");
    }
    a->first_fastest &= a->dimensions > 1;
    return a->dimensions ? 0 : rf_fail(error, size, "%s: a single number is no table", tables_stream_name(s));
}
