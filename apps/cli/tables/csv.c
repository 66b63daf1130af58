/* CSV: the first thousand rows determine header, separator and label column; then all rows are read. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "csv.h"
#include "engine.h"
#include "load.h"
#include "rows.h"

enum { LOOK_ROWS = 1000, FEW_LABELS = 64 };

int tables_is_missing(const char *text)
{
    static const char *const words[] = {"?",   "NA",   "N/A",  "n/a",  "#N/A", "<NA>", "nan",
                                        "NaN", "NAN", "-nan", "null", "Null", "NULL", NULL};
    for (size_t i = 0; words[i]; i++)
        if (strcmp(text, words[i]) == 0)
            return 1;
    return *text == '\0';
}

/* Words that may be a category or a label, but among numbers mean that there is none. */
static int is_no_number(const char *text)
{
    static const char *const words[] = {"none", "na", "nat", "-", "--", ".", NULL};
    for (size_t i = 0; words[i]; i++)
        if (strcasecmp(text, words[i]) == 0)
            return 1;
    return 0;
}

/* Is the whole text a number (or "inf")? Between semicolons 3,5 is one, too. */
static int to_number(const char *text, char separator, double *value)
{
    char *end, point[RF_CSV_NUMBER];
    unsigned whole = 0, digits = 0;
    text = rf_csv_number(text, separator, point);
    while (text[digits] >= '0' && text[digits] <= '9' && digits < 9)
        whole = whole * 10 + (unsigned)(text[digits++] - '0');
    if (digits > 0 && text[digits] == '\0') { /* most numbers are short */
        *value = whole;
        return 1;
    }
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

/* Digits in groups of three, such as 1,234,567.5 with the mark ',' and the point '.'. */
static int to_grouped(const char *text, char mark, char point, double *value)
{
    char plain[32];
    size_t count = strspn(text, "0123456789"), used = count;
    if (count < 1 || count > 3 || text[count] != mark || strlen(text) >= sizeof plain)
        return 0;
    memcpy(plain, text, used);
    for (text += count; *text == mark; text += 4, used += 3) {
        if (strspn(text + 1, "0123456789") != 3)
            return 0;
        memcpy(plain + used, text + 1, 3);
    }
    count = *text == point ? strspn(text + 1, "0123456789") : 0;
    if (text[count + (*text == point)] != '\0')
        return 0;
    snprintf(plain + used, sizeof plain - used, "%s%s", *text == point ? "." : "", text + (*text == point));
    *value = strtod(plain, NULL);
    return 1;
}

/* Is the whole text a number as spreadsheets show it: with a currency or a percent sign, or with digits in groups? */
static int to_quantity(const char *text, char separator, double *value)
{
    static const char *const signs[] = {"$", "€", "£", "¥", "%", NULL};
    char plain[32];
    if (to_number(text, separator, value))
        return 1;
    int is_negative = *text == '-';
    text += is_negative;
    for (size_t i = 0; signs[i]; i++)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0) {
            text += strlen(signs[i]);
            text += strspn(text, " ");
            is_negative ^= *text == '-';
            text += *text == '-';
            break;
        }
    size_t length = strlen(text);
    if (length >= sizeof plain || *text < '0' || *text > '9')
        return 0;
    strcpy(plain, text);
    for (size_t i = 0; signs[i]; i++) {
        const size_t tail = strlen(signs[i]);
        if (length > tail && strcmp(plain + length - tail, signs[i]) == 0) {
            for (length -= tail; length > 0 && plain[length - 1] == ' ';)
                length--;
            plain[length] = '\0';
            break;
        }
    }
    const int is_number = to_number(plain, separator, value) || to_grouped(plain, ',', '.', value) ||
                          to_grouped(plain, '\'', '.', value) ||
                          (separator == ';' && to_grouped(plain, '.', ',', value));
    *value = is_negative ? -*value : *value;
    return is_number;
}

/* ---- Layout, from the first rows ---- */

typedef struct layout {
    int has_header;
    size_t fields, label;      /* label: `fields` if there is none */
    rfc_names names;           /* of all columns, if there is a header */
    char separator;            /* between the fields */
    uint32_t *texts, *numbers; /* by column: how many fields of the first rows are texts, and how many numbers */
    uint32_t *feature;         /* by column: index of the feature, or NO_FEATURE */
} layout;

#define NO_FEATURE UINT32_MAX

static void layout_free(layout *l)
{
    rfc_names_free(&l->names);
    free(l->texts);
    free(l->numbers);
    free(l->feature);
}

/* The column with that name or number; l->fields if there is none. */
static size_t find_column(const layout *l, const char *wanted)
{
    char *end = NULL;
    const size_t named = rfc_names_find(&l->names, wanted);
    if (named < l->names.count)
        return named;
    const unsigned long number = strtoul(wanted, &end, 10);
    return *wanted >= '0' && *wanted <= '9' && *end == '\0' && number < l->fields ? number : l->fields;
}

/* A possible label column: it has texts, or 2 to FEW_LABELS different whole numbers. */
typedef struct candidate {
    rfc_names values;
    int is_text, refuted;
} candidate;

static void consider(candidate *c, const char *text, char separator)
{
    double value;
    c->is_text |= !tables_is_missing(text) && !to_number(text, separator, &value);
    if (c->refuted)
        return;
    c->refuted = tables_is_missing(text) || (to_number(text, separator, &value) && value != floor(value)) ||
                 rfc_names_intern(&c->values, text) >= FEW_LABELS;
}

static const char *const usual[] = {"label", "class", "target", "y", NULL}; /* names of the label's column */

static int named_label(const layout *l, const char *wanted)
{
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
    if (named >= 0)
        l->label = (size_t)named;
    else if (wanted && (l->label = find_column(l, wanted)) == l->fields)
        return rf_fail(error, size, "%s: has no column '%s'; columns are named in its header or numbered 0 to %zu",
                       path, wanted, l->fields - 1);
    else if (wanted)
        return 0;
    else if (last->is_text || first->is_text)
        l->label = last->is_text ? l->fields - 1 : 0;
    else
        l->label = (last->refuted || last->values.count < 2) && !first->refuted && first->values.count >= 2
                       ? 0
                       : l->fields - 1;
    return 0;
}

/* The label column of objects for an existing table: the column with the table's label name. Without names: the same
   place, if there is one column more than features. */
static int choose_label_like(layout *l, const char *wanted, const rfc_table *like, const candidate *first,
                             const candidate *last, const char *path, char *error, size_t size)
{
    l->label = l->fields;
    if (l->has_header && like->names.count > 0) {
        const int named = like->label_name[0] ? -1 : named_label(l, NULL);
        for (l->label = 0; l->label < l->names.count; l->label++) /* a table keeps the beginning of a long name */
            if (strncmp(l->names.text[l->label], like->label_name, sizeof like->label_name - 1) == 0)
                break;
        if (wanted && l->label == l->names.count)
            l->label = find_column(l, wanted);
        if (l->label >= l->names.count)
            l->label = named >= 0 && rfc_names_find(&like->names, l->names.text[named]) == like->names.count
                           ? (size_t)named
                           : l->fields;
        return 0;
    }
    return l->fields == (size_t)like->features + 1 ? choose_label(l, wanted, first, last, path, error, size) : 0;
}

/* Maps columns to features and counts the features. */
static int choose_features(layout *l, const tables_source *source, const rfc_table *like, const char *path,
                           uint32_t *features, char *error, size_t size)
{
    const int by_name = like && like->names.count > 0 && l->has_header;
    *features = 0;
    for (size_t i = 0; i < l->fields; i++) {
        int is_dropped = i == l->label;
        for (size_t k = 0; source->drop && source->drop[k] && !by_name; k++)
            is_dropped |= find_column(l, source->drop[k]) == i;
        if (by_name) {
            const uint32_t j = is_dropped ? NO_FEATURE : rfc_names_find(&like->names, l->names.text[i]);
            l->feature[i] = j < like->names.count ? j : NO_FEATURE;
        } else {
            l->feature[i] = is_dropped ? NO_FEATURE : (*features)++;
        }
    }
    if (!by_name)
        return 0;
    *features = like->features;
    for (uint32_t j = 0; j < like->features; j++) {
        size_t found = 0;
        for (size_t i = 0; i < l->fields; i++)
            found += l->feature[i] == j;
        if (found != 1)
            return rf_fail(error, size, "%s: has %s '%s', a feature of %s", path,
                           found ? "two columns called" : "no column", like->names.text[j], like->source);
    }
    return 0;
}

/* What the first row is known by: its fields, and how many rows repeat each of them in its column. */
typedef struct first_row {
    rfc_names fields;
    uint32_t *repeated;
    candidate first, last;
} first_row;

/* Takes a row into account. */
static void look_row(layout *l, first_row *f, const char *const field[], size_t fields)
{
    double ignored;
    consider(&f->first, field[0], l->separator);
    consider(&f->last, field[fields - 1], l->separator);
    for (size_t i = 0; i < fields && i < l->fields; i++) {
        if (!tables_is_missing(field[i]) && !is_no_number(field[i]))
            (to_quantity(field[i], l->separator, &ignored) ? l->numbers : l->texts)[i]++;
        f->repeated[i] += strcmp(field[i], f->fields.text[i]) == 0;
    }
}

/* Does the only text of the first row name the labels, at one end of it? Other columns may be named by numbers, such as
   wavelengths. It is a usual name, or all below it are numbers. */
static int names_labels(const layout *l, const first_row *f, size_t column)
{
    int is_usual = 0;
    for (size_t k = 0; usual[k]; k++)
        is_usual |= strcasecmp(f->fields.text[column], usual[k]) == 0;
    return (column == 0 || column + 1 == l->fields) && f->repeated[column] == 0 &&
           (is_usual || (l->texts[column] == 0 && l->numbers[column] > 0));
}

/* Is the first row a header? It has several texts, which the rows below do not repeat, or it counts the columns from 0,
   or it names the labels. */
static int look_header(const layout *l, const first_row *f, unsigned rows)
{
    size_t texts = 0, repeated = 0, numbers = 0, counts = 1, text = 0;
    double value, before = 0;
    for (size_t i = 0; i < l->fields; i++)
        if (tables_is_missing(f->fields.text[i])) {
            continue;
        } else if (to_number(f->fields.text[i], l->separator, &value)) {
            counts &= value == (numbers++ == 0 ? 0 : before + 1);
            before = value;
        } else {
            texts++;
            text = i;
            repeated += f->repeated[i] > 0;
        }
    if (texts > 1 || l->fields == 1)
        return texts > 0 && (repeated == 0 || 2 * repeated < texts || l->fields == 1);
    if (texts == 1 && rows > 0 && names_labels(l, f, text))
        return 1;
    return counts && numbers + texts > 2 && numbers > 1 && repeated == 0 && rows > 0;
}

/* Has the first row the names of all features of the table, which no row below repeats? */
static int has_names_of(const rfc_table *like, const layout *l, const first_row *f)
{
    uint32_t found = 0;
    for (size_t i = 0; i < l->fields; i++)
        if (f->repeated[i] > 0)
            return 0;
    while (found < like->names.count && rfc_names_find(&f->fields, like->names.text[found]) < f->fields.count)
        found++;
    return found > 0 && found == like->names.count;
}

typedef struct column {
    const char *name;
    uint32_t number;
} column;

static int compare_columns(const void *a, const void *b)
{
    const column *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Columns that share a name become x, x.1, x.2 from left to right. Returns 0, or -1 without memory. */
static int tell_apart(rfc_names *names)
{
    column *sorted = malloc(names->count * sizeof *sorted);
    int failed = !sorted;
    for (uint32_t i = 0; i < names->count && !failed; i++)
        sorted[i] = (column){names->text[i], i};
    if (sorted)
        qsort(sorted, names->count, sizeof *sorted, compare_columns);
    for (uint32_t first = 0, i = 1; i < names->count && !failed; i++) {
        if (strcmp(sorted[i].name, sorted[first].name) != 0) {
            first = i;
            continue;
        }
        const size_t size = strlen(sorted[i].name) + 12;
        char *name = malloc(size);
        failed = !name;
        if (name) {
            snprintf(name, size, "%s.%u", sorted[i].name, i - first);
            free(names->text[sorted[i].number]);
            names->text[sorted[i].number] = name;
        }
    }
    free(sorted);
    return failed ? -1 : 0;
}

static int look(const char *path, const char *label, const rfc_table *like, layout *l, char *error, size_t size)
{
    first_row f = {0};
    unsigned rows = 0;
    tables_rows *r = tables_rows_open(path, '\0', 0, error, size);
    int status = r ? tables_rows_next(r) : -1;
    if (status == 0)
        status = rf_fail(error, size, "%s: is empty", path);
    if (status == 1) {
        l->separator = r->separator;
        l->fields = r->fields;
        l->texts = calloc(r->fields, sizeof *l->texts);
        l->numbers = calloc(r->fields, sizeof *l->numbers);
        l->feature = malloc(r->fields * sizeof *l->feature);
        f.repeated = calloc(r->fields, sizeof *f.repeated);
        int failed = !l->texts || !l->numbers || !l->feature || !f.repeated;
        for (size_t i = 0; i < r->fields && !failed; i++)
            failed = rfc_names_add(&f.fields, r->field[i]) < 0;
        status = failed ? rf_fail(error, size, "%s: out of memory", path) : tables_rows_next(r);
        for (; rows < LOOK_ROWS && status == 1; rows++) {
            look_row(l, &f, (const char *const *)r->field, r->fields);
            status = tables_rows_next(r);
        }
    }
    if (status >= 0) {
        l->has_header = look_header(l, &f, rows) || (like && has_names_of(like, l, &f));
        if (l->has_header) {
            l->names = f.fields;
            f.fields = (rfc_names){0};
            if (tell_apart(&l->names) < 0)
                status = rf_fail(error, size, "%s: out of memory", path);
        } else {
            look_row(l, &f, (const char *const *)f.fields.text, l->fields);
        }
        if (status >= 0)
            status = like ? choose_label_like(l, label, like, &f.first, &f.last, path, error, size)
                          : choose_label(l, label, &f.first, &f.last, path, error, size);
    }
    rfc_names_free(&f.first.values);
    rfc_names_free(&f.last.values);
    rfc_names_free(&f.fields);
    free(f.repeated);
    tables_rows_close(r);
    return status;
}

/* ---- All rows ---- */

static int take_label(tables_rows *r, const char *text, int may_lack, rfc_table *table)
{
    char number[32];
    double value;
    table->label[table->rows] = RFC_NO_LABEL;
    if (tables_is_missing(text))
        return may_lack ? 0 : tables_rows_fail(r, "%s", "has no label");
    if (to_number(text, r->separator, &value) && value == floor(value) && fabs(value) < 1e15) {
        snprintf(number, sizeof number, "%.15g", value);
        text = number;
    }
    uint32_t label = rfc_names_intern(&table->labels, text);
    if (label >= RFC_LABELS_MAX)
        return tables_rows_fail(r, "label '%.40s': more than 256 distinct labels; wrong --label column?", text);
    table->label[table->rows] = label;
    return 0;
}

/* The column in messages: its name in quotes, or its number from 0, as --label and --drop have it. */
static const char *column_text(const layout *l, size_t column, char *text, size_t size)
{
    if (l->has_header)
        snprintf(text, size, "'%.60s'", l->names.text[column]);
    else
        snprintf(text, size, "%zu", column);
    return text;
}

static int take_field(tables_rows *r, const layout *l, size_t column, rfc_table *table)
{
    const char *text = r->field[column];
    const size_t feature = l->feature[column];
    const int is_category = table->categories && table->categories[feature].count > 0;
    char name[80];
    double value;
    int status;
    if (tables_is_missing(text) || (!is_category && is_no_number(text))) {
        status = rfc_table_miss(table, table->rows, feature);
    } else if (is_category) {
        const uint32_t category = rfc_names_intern(&table->categories[feature], text);
        if (category == RFC_LABELS_MAX)
            return tables_rows_fail(r, "column %s: more than %d different texts; is it an id? --drop leaves it out",
                                    column_text(l, column, name, sizeof name), RFC_LABELS_MAX);
        status = rfc_table_put(table, table->rows, feature, category);
    } else {
        if (!to_quantity(text, r->separator, &value))
            return tables_rows_fail(r, "column %s: '%.40s' is not a number", column_text(l, column, name, sizeof name),
                                    text);
        if (!(fabs(value) <= 1e30))
            return tables_rows_fail(r, "column %s: '%.40s' is beyond 1e30", column_text(l, column, name, sizeof name),
                                    text);
        status = rfc_table_put(table, table->rows, feature, value);
    }
    return status < 0 ? tables_rows_fail(r, "%s", "out of memory") : 0;
}

static int take_row(tables_rows *r, const layout *l, int may_lack, rfc_table *table)
{
    if (r->fields != l->fields)
        return tables_rows_fail(r, "has %zu fields, the first line has %zu", r->fields, l->fields);
    if (rfc_table_grow(table) < 0)
        return tables_rows_fail(r, "%s", "out of memory");
    if (table->missing) /* left from a refused row */
        memset(table->missing + (size_t)table->rows * table->features, 0, table->features);
    if (take_label(r, l->label < l->fields ? r->field[l->label] : "", may_lack, table) < 0)
        return -1;
    for (size_t i = 0; i < l->fields; i++)
        if (l->feature[i] != NO_FEATURE && take_field(r, l, i, table) < 0)
            return -1;
    table->rows++;
    return 0;
}

/* Sets names, and which features are categories: columns with mostly texts, or those of `like`. The empty category
   "" marks such a feature until its first row is read. Returns 0, or -1 without memory. */
static int describe(const layout *l, const rfc_table *like, rfc_table *table)
{
    const int by_name = like && like->names.count > 0 && l->has_header;
    for (uint32_t j = 0; by_name && j < like->features; j++)
        if (rfc_names_add(&table->names, like->names.text[j]) < 0)
            return -1;
    for (size_t i = 0; i < l->fields; i++) {
        const uint32_t j = l->feature[i];
        if (j == NO_FEATURE)
            continue;
        if (!by_name && l->has_header && rfc_names_add(&table->names, l->names.text[i]) < 0)
            return -1;
        if (like ? !(like->categories && like->categories[j].count > 0) : l->texts[i] <= l->numbers[i])
            continue;
        if (!table->categories && !(table->categories = calloc(table->features, sizeof *table->categories)))
            return -1;
        if (rfc_names_add(&table->categories[j], "") < 0)
            return -1;
    }
    return 0;
}

int tables_load_csv(const char *path, const tables_source *source, const rfc_table *like, rfc_table *table, char *error,
                    size_t size)
{
    layout l = {0};
    tables_rows *r = NULL;
    int status = look(path, source->label, like, &l, error, size);
    snprintf(table->source, sizeof table->source, "%s", path);
    for (size_t k = 0; status == 0 && !like && source->drop && source->drop[k]; k++)
        if (find_column(&l, source->drop[k]) == l.fields)
            status = rf_fail(error, size, "%s: --drop: has no column '%s'", path, source->drop[k]);
    if (status == 0)
        status = choose_features(&l, source, like, path, &table->features, error, size);
    if (status == 0 && (table->features < 1 || table->features > RFC_FEATURES_MAX))
        status =
            rf_fail(error, size,
                    "%s: has %zu columns between commas, semicolons or tabs; it needs a label and 1 to %d features",
                    path, l.fields, RFC_FEATURES_MAX);
    if (status == 0) {
        table->bytes = malloc(1); /* stored as bytes while all numbers are */
        r = table->bytes ? tables_rows_open(path, '\0', 0, error, size) : NULL;
        status = r ? 0 : table->bytes ? -1 : rf_fail(error, size, "%s: out of memory", path);
    }
    if (status == 0 && describe(&l, like, table) < 0)
        status = rf_fail(error, size, "%s: out of memory", path);
    if (status == 0 && l.label < l.names.count)
        snprintf(table->label_name, sizeof table->label_name, "%s", l.names.text[l.label]);
    int skip = l.has_header, more = 0;
    while (status == 0 && (more = tables_rows_next(r)) == 1) {
        if (!skip)
            status = take_row(r, &l, like != NULL, table);
        skip = 0;
    }
    if (status == 0 && more < 0)
        status = -1;
    if (status == 0 && table->rows == 0)
        status = rf_fail(error, size, "%s: has no rows", path);
    layout_free(&l);
    tables_rows_close(r);
    return status;
}
