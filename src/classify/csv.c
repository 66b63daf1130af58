/* CSV: the first thousand rows tell header, separator and label column; then all rows are read. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine.h"
#include "load.h"
#include "rows.h"

enum { LOOK_ROWS = 1000, FEW_LABELS = 64 };

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

static int look_header(const rf_rows *r)
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
    rf_rows *r = rf_rows_open(path, '\0', 0, error, size);
    int status = r ? rf_rows_next(r) : -1;
    if (status == 0)
        status = rf_fail(error, size, "%s: is empty", path);
    if (status == 1) {
        l->has_header = look_header(r);
        l->fields = r->fields;
        for (size_t i = 0; i < r->fields && l->has_header && status == 1; i++)
            status = rf_names_add(&l->names, r->field[i]) < 0 ? rf_fail(error, size, "%s: out of memory", path) : 1;
        if (status == 1 && l->has_header)
            status = rf_rows_next(r);
        for (unsigned row = 0; row < LOOK_ROWS && status == 1; row++) {
            consider(&first, r->field[0]);
            consider(&last, r->field[r->fields - 1]);
            status = rf_rows_next(r);
        }
    }
    if (status >= 0)
        status = choose_label(l, label, &first, &last, path, error, size);
    rf_names_free(&first.values);
    rf_names_free(&last.values);
    rf_rows_close(r);
    return status;
}

/* ---- All rows ---- */

static int take_label(rf_rows *r, const char *text, rf_table *table)
{
    char number[32];
    double value;
    if (is_missing(text))
        return rf_rows_fail(r, "%s", "has no label");
    if (to_number(text, &value) && value == floor(value) && fabs(value) < 1e15) {
        snprintf(number, sizeof number, "%.15g", value);
        text = number;
    }
    uint32_t label = rf_names_intern(&table->labels, text);
    if (label >= RF_LABELS_MAX)
        return rf_rows_fail(r, "label '%.40s', and there are 256 different ones before; is it the label column?", text);
    table->label[table->rows] = label;
    return 0;
}

static int take_field(rf_rows *r, size_t column, size_t feature, rf_table *table)
{
    const char *text = r->field[column];
    double value;
    int status;
    if (is_missing(text)) {
        status = rf_table_miss(table, table->rows, feature);
    } else {
        if (!to_number(text, &value))
            return rf_rows_fail(r, "column %zu: '%.40s' is not a number", column + 1, text);
        if (!(fabs(value) <= 1e30))
            return rf_rows_fail(r, "column %zu: '%.40s' is not a number to work with", column + 1, text);
        status = rf_table_put(table, table->rows, feature, value);
    }
    return status < 0 ? rf_rows_fail(r, "%s", "out of memory") : 0;
}

static int take_row(rf_rows *r, const layout *l, rf_table *table)
{
    if (r->fields != l->fields)
        return rf_rows_fail(r, "has %zu fields, the first line has %zu", r->fields, l->fields);
    if (rf_table_grow(table) < 0)
        return rf_rows_fail(r, "%s", "out of memory");
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
    rf_rows *r = NULL;
    int status = look(path, label, &l, error, size);
    snprintf(table->source, sizeof table->source, "%s", path);
    if (status == 0 && (l.fields < 2 || l.fields > RF_FEATURES_MAX))
        status = rf_fail(error, size, "%s: has %zu columns; wanted are a label and 1 to %d features", path, l.fields,
                         RF_FEATURES_MAX);
    if (status == 0) {
        table->features = (uint32_t)l.fields - 1;
        table->bytes = malloc(1); /* numbers are bytes until one is not */
        r = table->bytes ? rf_rows_open(path, '\0', 0, error, size) : NULL;
        status = r ? 0 : table->bytes ? -1 : rf_fail(error, size, "%s: out of memory", path);
    }
    for (uint32_t i = 0; i < l.names.count && status == 0; i++)
        if (i != l.label && rf_names_add(&table->names, l.names.text[i]) < 0)
            status = rf_fail(error, size, "%s: out of memory", path);
    int skip = l.has_header, more = 0;
    while (status == 0 && (more = rf_rows_next(r)) == 1) {
        if (!skip)
            status = take_row(r, &l, table);
        skip = 0;
    }
    if (status == 0 && more < 0)
        status = -1;
    if (status == 0 && table->rows == 0)
        status = rf_fail(error, size, "%s: has no rows", path);
    rf_names_free(&l.names);
    rf_rows_close(r);
    return status;
}
