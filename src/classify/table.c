#define _DEFAULT_SOURCE
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine.h"

/* ---- Names ---- */

void rfc_names_free(rfc_names *names)
{
    if (!names)
        return;
    for (uint32_t i = 0; i < names->count; i++)
        free(names->text[i]);
    free(names->text);
    *names = (rfc_names){NULL, 0};
}

int rfc_names_add(rfc_names *names, const char *text)
{
    if (!names || !text)
        return -1;
    if ((names->count & (names->count - 1)) == 0) { /* full at every power of two */
        char **more = realloc(names->text, (names->count ? 2 * (size_t)names->count : 1) * sizeof *more);
        if (!more)
            return -1;
        names->text = more;
    }
    char *copy = strdup(text);
    if (!copy)
        return -1;
    names->text[names->count++] = copy;
    return 0;
}

uint32_t rfc_names_find(const rfc_names *names, const char *text)
{
    if (!names || !text)
        return names ? names->count : 0;
    uint32_t i = 0;
    while (i < names->count && strcmp(names->text[i], text) != 0)
        i++;
    return i;
}

uint32_t rfc_names_intern(rfc_names *names, const char *text)
{
    if (!names || !text)
        return RFC_LABELS_MAX;
    uint32_t i = rfc_names_find(names, text);
    return i < names->count ? i : i >= RFC_LABELS_MAX || rfc_names_add(names, text) < 0 ? RFC_LABELS_MAX : i;
}

/* ---- Rows ---- */

void *rfc_huge(size_t bytes)
{
    const size_t page = (size_t)1 << 21;
    if (bytes < 2 * page)
        return aligned_alloc(64, (bytes + 64) / 64 * 64);
    size_t whole = (bytes + page - 1) / page * page;
    void *memory = bytes < SIZE_MAX - page ? aligned_alloc(page, whole) : NULL;
#ifdef MADV_HUGEPAGE
    if (memory)
        madvise(memory, bytes / page * page, MADV_HUGEPAGE);
#endif
    return memory;
}

void rfc_table_free(rfc_table *table)
{
    if (!table)
        return;
    free(table->bytes);
    free(table->reals);
    free(table->missing);
    free(table->label);
    free(table->kind);
    free(table->is_category);
    for (uint32_t j = 0; table->categories && j < table->features; j++)
        rfc_names_free(&table->categories[j]);
    free(table->categories);
    rfc_names_free(&table->labels);
    rfc_names_free(&table->names);
    memset(table, 0, sizeof *table);
}

/* Grows an array to `count` elements. Returns 0, or -1 when out of memory. */
static int grow(void *array, size_t count, size_t each)
{
    void *old, *more;
    memcpy(&old, array, sizeof old);
    more = count <= SIZE_MAX / each ? realloc(old, count * each) : NULL;
    if (!more)
        return -1;
    memcpy(array, &more, sizeof more);
    return 0;
}

int rfc_table_grow(rfc_table *table)
{
    if (!table)
        return -1;
    free(table->kind); /* new rows have no kind */
    table->kind = NULL;
    if (table->rows < table->room)
        return 0;
    size_t room = table->room ? 2 * table->room : 64;
    if (room > UINT32_MAX || grow(&table->label, room, sizeof *table->label) < 0)
        return -1;
    if (table->reals ? grow(&table->reals, room * table->features, sizeof *table->reals) < 0
                     : grow(&table->bytes, room * table->features, 1) < 0)
        return -1;
    if (table->missing) {
        if (grow(&table->missing, room * table->features, 1) < 0)
            return -1;
        memset(table->missing + table->room * table->features, 0, (room - table->room) * table->features);
    }
    table->room = room;
    return 0;
}

int rfc_table_reserve(rfc_table *table, uint32_t rows)
{
    if (!table)
        return -1;
    table->bytes = rfc_huge((size_t)rows * table->features);
    table->label = malloc((rows ? rows : 1) * sizeof *table->label);
    table->room = rows;
    return table->bytes && table->label ? 0 : -1;
}

/* Converts bytes to reals. Returns 0, or -1 when out of memory. */
static int widen(rfc_table *table)
{
    size_t count = table->room * table->features;
    if (table->reals)
        return 0;
    table->reals = calloc(count ? count : 1, sizeof *table->reals);
    if (!table->reals)
        return -1;
    for (size_t i = 0; i < ((size_t)table->rows + (table->rows < table->room)) * table->features; i++)
        table->reals[i] = table->bytes[i];
    free(table->bytes);
    table->bytes = NULL;
    return 0;
}

int rfc_table_put(rfc_table *table, size_t row, size_t feature, double value)
{
    if (!table || row >= table->room || feature >= table->features)
        return -1;
    size_t at = row * table->features + feature;
    if (table->bytes && value >= 0 && value <= 255 && value == floor(value)) {
        table->bytes[at] = (uint8_t)value;
        return 0;
    }
    if (widen(table) < 0)
        return -1;
    table->reals[at] = value;
    return 0;
}

int rfc_table_miss(rfc_table *table, size_t row, size_t feature)
{
    if (!table || row >= table->room || feature >= table->features)
        return -1;
    if (!table->missing && !(table->missing = calloc(table->room, table->features)))
        return -1;
    table->missing[row * table->features + feature] = 1;
    return rfc_table_put(table, row, feature, 0);
}

int rfc_table_add(rfc_table *table, const double value[], const char *label)
{
    if (!table || !value || table->features == 0 || table->features > RFC_FEATURES_MAX)
        return -1;
    for (uint32_t j = 0; j < table->features; j++)
        if (fabs(value[j]) > 1e30)
            return -1;
    const uint32_t at = label ? rfc_names_intern(&table->labels, label) : RFC_NO_LABEL;
    if ((label && at >= RFC_LABELS_MAX) || rfc_table_grow(table) < 0)
        return -1;
    if (table->missing)
        memset(table->missing + (size_t)table->rows * table->features, 0, table->features);
    for (uint32_t j = 0; j < table->features; j++)
        if ((isnan(value[j]) ? rfc_table_miss(table, table->rows, j) : rfc_table_put(table, table->rows, j, value[j])) <
            0)
            return -1;
    table->label[table->rows++] = at;
    return 0;
}

static void move_row(rfc_table *table, size_t to, size_t from)
{
    size_t d = table->features;
    if (table->bytes)
        memmove(table->bytes + to * d, table->bytes + from * d, d);
    if (table->reals)
        memmove(table->reals + to * d, table->reals + from * d, d * sizeof *table->reals);
    if (table->missing)
        memmove(table->missing + to * d, table->missing + from * d, d);
    if (table->kind)
        table->kind[to] = table->kind[from];
    table->label[to] = table->label[from];
}

void rfc_table_keep(rfc_table *table, int (*keep)(const void *context, uint32_t row), const void *context)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->rows; i++)
        if (keep(context, i)) {
            if (kept != i)
                move_row(table, kept, i);
            kept++;
        }
    if (kept < table->rows && kept > 0 && table->bytes) { /* return the rest of the memory */
        uint8_t *less = realloc(table->bytes, (size_t)kept * table->features);
        table->bytes = less ? less : table->bytes;
        table->room = kept;
    }
    table->rows = kept;
}

int rfc_table_append(rfc_table *table, rfc_table *more, char *error, size_t size)
{
    if (!table || !more || table->features != more->features)
        return rf_fail(error, size, "the tables do not have the same features");
    size_t d = table->features, before = table->rows * d, added = more->rows * d,
           room = (size_t)table->rows + more->rows;
    int has_missing = table->missing || more->missing;
    if (room > UINT32_MAX || grow(&table->bytes, room * d, 1) < 0 ||
        grow(&table->label, room, sizeof *table->label) < 0)
        return rf_fail(error, size, "out of memory for %zu rows", room);
    if (table->kind && more->kind) {
        if (grow(&table->kind, room, 1) < 0)
            return rf_fail(error, size, "out of memory for %zu rows", room);
        memcpy(table->kind + table->rows, more->kind, more->rows);
    } else {
        free(table->kind);
        table->kind = NULL;
    }
    if (has_missing) {
        int had = table->missing != NULL;
        if (grow(&table->missing, room * d, 1) < 0)
            return rf_fail(error, size, "out of memory for %zu rows", room);
        if (!had)
            memset(table->missing, 0, before);
        if (more->missing)
            memcpy(table->missing + before, more->missing, added);
        else
            memset(table->missing + before, 0, added);
    }
    memcpy(table->bytes + before, more->bytes, added);
    memcpy(table->label + table->rows, more->label, more->rows * sizeof *more->label);
    table->rows = (uint32_t)room;
    table->room = room;
    rfc_table_free(more);
    return 0;
}

int rfc_table_unlabel(rfc_table *table)
{
    if (!table)
        return -1;
    uint32_t *label = realloc(table->label, (table->rows + (size_t)1) * sizeof *label);
    if (!label)
        return -1;
    for (uint32_t i = 0; i < table->rows; i++)
        label[i] = RFC_NO_LABEL;
    table->label = label;
    return 0;
}

/* ---- Features ---- */

const char *rfc_table_feature(const rfc_table *table, uint32_t feature, char *number, size_t size)
{
    if (feature < table->names.count)
        return table->names.text[feature];
    snprintf(number, size, "%u", feature);
    return number;
}

uint32_t rfc_table_find(const rfc_table *table, const char *text)
{
    if (!table || !text)
        return table ? table->features : 0;
    uint32_t named = rfc_names_find(&table->names, text);
    if (named < table->names.count)
        return named;
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && number < table->features ? (uint32_t)number
                                                                                        : table->features;
}
