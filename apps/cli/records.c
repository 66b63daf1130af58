#define _POSIX_C_SOURCE 200809L
#include "records.h"

#include "cli.h"
#include "csv.h"
#include "lines.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

enum {
    FIELDS_MAX = 1024,
    AHEAD = 32, /* records read ahead, while there are some, to tell a wrong time from a pause, */
    PATIENCE = 100 /* milliseconds to wait for them after a suspicious gap, */
};
#define SUSPICIOUS 4.0 /* which is longer than all before by this factor */


#define SETTING_MAX 1e15 /* beyond it, a phase setting * parameter has no significant digits */
#define TIME_MAX 1e19    /* above the nanoseconds since 1970 */

/* Parts of a record: settings from 0, then these, then the truths. */
enum { OUTCOME = RF_DESCRIBED_MAX, TIME, BATCH, ASK, TRUTH, PARTS = TRUTH + RF_DESCRIBED_MAX };

typedef enum format { UNKNOWN, CSV, JSON } format;

/* What a line was, until it is taken. */
typedef struct entry {
    int result;
    cli_record record;
    char error[512];
} entry;

struct cli_records {
    const char *name;
    const rf_description *description;
    int settings_given;
    format format;
    int has_failed;
    char error[512];
    long line, count; /* line: the one read last */
    double time; /* of the last record that had one */
    double gap;  /* longest time between two records, and the number of such times */
    long gaps;
    entry ahead[AHEAD]; /* a ring */
    unsigned first, queued;
    double begin; /* of the last batch of answers: those with a number may come in any order after it */

    cli_lines lines;
    char *bytes; /* the line, or its first CLI_LINE_MAX bytes */
    size_t length;

    json_t *root; /* JSON: the line's object */

    char separator; /* CSV */
    char *header;
    size_t header_length;
    size_t columns;
    const char *column[FIELDS_MAX + 1]; /* names, then null */
    char *field[FIELDS_MAX];
    int at[PARTS]; /* the column of each part, or -1 */
    const char *const *renamed; /* "NAME=COLUMN", then null; or null */
};

/* A value as it was written. */
typedef enum cell_kind { ABSENT, EMPTY, NUMBER, TEXT, OTHER } cell_kind;
typedef struct cell {
    cell_kind kind;
    double number;
    const char *text; /* TEXT: the text; OTHER: a description of it */
} cell;

static void make_one_line(char *text)
{
    for (char *c = text; *c; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
}

/* Writes the message and returns `result`. */
static int refuse(cli_records *r, int result, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int refuse(cli_records *r, int result, const char *format, ...)
{
    int used = snprintf(r->error, sizeof r->error, "%.160s: line %ld: ", r->name, r->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->error + used, sizeof r->error - (size_t)used, format, arguments);
    va_end(arguments);
    make_one_line(r->error);
    r->has_failed |= result == CLI_RECORDS_FAILED;
    return result;
}

/* ---- Lines ---- */

/* Returns CLI_RECORD, or why there is no line. */
static int read_line(cli_records *r)
{
    int result = cli_lines_next(&r->lines);
    r->bytes = r->lines.bytes;
    r->line = r->lines.number;
    r->length = r->lines.length;
    if (result == CLI_LINES_FAILED)
        return refuse(r, CLI_RECORDS_FAILED, "cannot read: %s", strerror(errno));
    if (r->line == 1 && strncmp(r->bytes, "\xef\xbb\xbf", 3) == 0) { /* byte order mark, which some editors write */
        r->bytes += 3;
        r->length -= 3;
    }
    return result;
}

static int is_passed_over(const cli_records *r)
{
    return r->bytes[0] == '#' || strspn(r->bytes, r->separator == '\t' ? " " : " \t") == r->length;
}

/* Can the line be parsed? Returns CLI_RECORD, or `result` after a message. */
static int check_line(cli_records *r, int result)
{
    if (r->length > CLI_LINE_MAX)
        return refuse(r, result, "is longer than %d bytes", CLI_LINE_MAX);
    if (r->line == 1 && strncmp(r->bytes, "\x1f\x8b", 2) == 0)
        return refuse(r, result, "is compressed: unpack it first, with zcat");
    if (memchr(r->bytes, '\0', r->length))
        return refuse(r, result, "has a zero byte (text in UTF-16? only UTF-8 is read)");
    return CLI_RECORD;
}

/* ---- Names ---- */

static int has_setting(const rf_description *description, const char *name)
{
    for (unsigned i = 0; i < description->settings; i++)
        if (strcmp(description->setting[i].name, name) == 0)
            return 1;
    return 0;
}

/* The name of a part, without "truth."; null if these records do not have it. */
static const char *name_of(const cli_records *r, int part)
{
    if (part < OUTCOME)
        return (unsigned)part < r->description->settings ? r->description->setting[part].name : NULL;
    if (part >= TRUTH)
        return (unsigned)(part - TRUTH) < r->description->dim ? r->description->parameter[part - TRUTH].name : NULL;
    if (part == ASK && r->settings_given)
        return NULL;
    const char *name = part == OUTCOME ? "outcome" : part == TIME ? "time" : part == BATCH ? "batch" : "ask";
    return part != OUTCOME && has_setting(r->description, name) ? NULL : name;
}

/* The column or key given for a part with --column, the last if there are several; or null. */
static const char *other_name(const cli_records *r, int part)
{
    const char *name = name_of(r, part), *other = NULL;
    for (const char *const *renamed = r->renamed; name && renamed && *renamed; renamed++) {
        const int is_truth = part >= TRUTH && strncmp(*renamed, "truth.", 6) == 0;
        const char *text = *renamed + (is_truth ? 6 : 0);
        const size_t length = strlen(name);
        if (is_truth == (part >= TRUTH) && strncmp(text, name, length) == 0 && text[length] == '=')
            other = text + length + 1;
    }
    return other;
}

static int is_required(const cli_records *r, int part)
{
    return part == OUTCOME || (r->settings_given && part < OUTCOME && name_of(r, part) && r->description->setting[part].role != RF_SETTING_FIXED);
}

/* Appends to a list "'a', 'b'", which ends in ... when full. */
static void append_name(char *list, size_t size, const char *name)
{
    size_t length = strlen(list);
    if (length + 48 < size)
        snprintf(list + length, size - length, "%s'%.32s'", length ? ", " : "", name);
    else if (length > 3 && strcmp(list + length - 3, "...") != 0)
        snprintf(list + length, size - length, ", ...");
}

/* The unused name that is probably a misspelt `name`, or null. Names of one or two letters are all similar, so these
   must have the same first letter. */
static const char *meant(const cli_records *r, const char *name, const char *const names[])
{
    const char *unused[65];
    size_t n = 0;
    for (size_t i = 0; names[i] && n < 64; i++) {
        int is_used = 0;
        for (int part = 0; part < TRUTH; part++)
            is_used |= name_of(r, part) && strcmp(name_of(r, part), names[i]) == 0;
        if (!is_used && (strlen(name) > 2 || tolower((unsigned char)names[i][0]) == tolower((unsigned char)name[0])))
            unused[n++] = names[i];
    }
    unused[n] = NULL;
    return rf_closest(name, unused);
}

static int refuse_missing(cli_records *r, int result, int part, const char *const names[])
{
    char list[200] = "";
    for (size_t i = 0; names[i]; i++)
        append_name(list, sizeof list, names[i]);
    const char *other = other_name(r, part), *name = other ? other : name_of(r, part), *close = meant(r, name, names);
    const int has_blanks = r->format == CSV && r->columns == 1 && strchr(names[0], ' ');
    return refuse(r, result, "no %s '%s'; there %s%s%s%.32s%s%s", r->format == CSV ? "column" : "key", name,
                  list[0] ? "are " : "is nothing", list, close ? "; did you mean '" : "", close ? close : "",
                  close ? "'?" : "", has_blanks ? "; columns are separated by commas, semicolons or tabs" : "");
}

/* ---- CSV ---- */

/* Splits a line in place. Returns the number of fields, or `result` (negative) after a message. */
static int split(cli_records *r, char *text, char *field[], int result)
{
    int count = 0;
    char why[64];
    for (char *at = text; at; count++) {
        if (count == FIELDS_MAX)
            return refuse(r, result, "has more than %d fields", FIELDS_MAX);
        field[count] = rf_csv_cut(&at, r->separator, why, sizeof why);
        if (!field[count])
            return refuse(r, result, "field %d: %s", count + 1, why);
    }
    return count;
}

static int parse_number(const char *text, char separator, double *value)
{
    char *end, point[RF_CSV_NUMBER];
    text = rf_csv_number(text, separator, point);
    *value = rf_real_read(text, &end);
    return end != text && *end == '\0' && !strpbrk(text, "xX"); /* strtod reads 0x10, too */
}

/* Is it the name of this column, whose bytes are UTF-8 or Latin-1? */
static int is_called(const char *column, const char *name)
{
    if (strcmp(column, name) == 0)
        return 1;
    for (const unsigned char *c = (const unsigned char *)column; *c; c++) {
        if (*c >= 0x80 && (unsigned char)*name++ != (0xc0 | *c >> 6))
            return 0;
        if ((unsigned char)*name++ != (*c < 0x80 ? *c : (0x80 | (*c & 0x3f))))
            return 0;
    }
    return *name == '\0';
}

static int find_columns(cli_records *r)
{
    for (int part = 0; part < PARTS; part++) {
        const char *other = other_name(r, part), *name = other ? other : name_of(r, part);
        const int is_truth = !other && part >= TRUTH;
        r->at[part] = -1;
        for (size_t i = 0; name && i < r->columns; i++) {
            const char *column = r->column[i];
            if (is_truth && strncmp(column, "truth.", 6) != 0)
                continue;
            if (!is_called(is_truth ? column + 6 : column, name))
                continue;
            if (r->at[part] >= 0)
                return refuse(r, CLI_RECORDS_FAILED, "column '%s' is there twice", column);
            r->at[part] = (int)i;
        }
    }
    for (int part = 0; part < PARTS; part++)
        if (r->at[part] < 0 && is_required(r, part))
            return refuse_missing(r, CLI_RECORDS_FAILED, part, r->column);
    return CLI_RECORD;
}

/* The header is complete: finds the separator and the columns. */
static int take_header(cli_records *r)
{
    double number;
    r->separator = rf_csv_separator(r->header);
    int count = split(r, r->header, r->field, CLI_RECORDS_FAILED);
    if (count < 0)
        return CLI_RECORDS_FAILED;
    if (parse_number(r->field[0], r->separator, &number))
        return refuse(r, CLI_RECORDS_FAILED,
                      "the names of the columns must come first, not '%.32s' (lines with # are comments)", r->field[0]);
    r->columns = (size_t)count;
    for (int i = 0; i < count; i++)
        r->column[i] = r->field[i];
    r->column[count] = NULL;
    return find_columns(r);
}

/* Is the header incomplete, with an open quote that continues in the next line? */
static int is_in_header(const cli_records *r) { return r->header && r->columns == 0; }

/* Takes one more line of the header. */
static int read_header(cli_records *r)
{
    const int was_open = is_in_header(r);
    const size_t before = was_open ? r->header_length : 0;
    if (check_line(r, CLI_RECORDS_FAILED) < 0)
        return CLI_RECORDS_FAILED;
    if (before + r->length > CLI_LINE_MAX)
        return refuse(r, CLI_RECORDS_FAILED, "the header is longer than %d bytes", CLI_LINE_MAX);
    if (!was_open && !(r->header = malloc(CLI_LINE_MAX + sizeof "\r\n")))
        return refuse(r, CLI_RECORDS_FAILED, "out of memory");
    char *line = r->header + before;
    snprintf(line, r->length + sizeof "\r\n", "%s%s", r->bytes, r->lines.is_crlf ? "\r\n" : "\n");
    r->header_length = before + r->length + (r->lines.is_crlf ? 2 : 1);
    if (rf_csv_is_open(line, '\0', was_open))
        return CLI_RECORD;
    line[r->length] = '\0'; /* the last line end is not part of the header */
    return take_header(r);
}

static cell csv_cell(const cli_records *r, int part)
{
    cell c = {ABSENT, NAN, ""};
    if (r->at[part] < 0)
        return c;
    c.text = r->field[r->at[part]];
    c.kind = !*c.text || strcmp(c.text, "null") == 0 ? EMPTY : TEXT;
    if (c.kind == TEXT && part != BATCH && parse_number(c.text, r->separator, &c.number))
        c.kind = NUMBER;
    return c;
}

/* ---- JSON ---- */

/* In [{"name": NAME, KEY: value}, ...]: the value of the item called `name`, or null. */
static json_t *in_list(json_t *list, const char *name, const char *key)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        const char *called = json_string_value(json_object_get(item, "name"));
        if (called && strcmp(called, name) == 0)
            return json_object_get(item, key);
    }
    return NULL;
}

/* All numbers are reals: parse_json passes JSON_DECODE_INT_AS_REAL. */
static cell json_cell(const cli_records *r, int part)
{
    const char *name = name_of(r, part), *other = other_name(r, part);
    json_t *value = other ? json_object_get(r->root, other) : NULL;
    if (other) {
        ; /* a renamed key is looked up only under that name */
    } else if (name && part < OUTCOME) {
        json_t *settings = json_object_get(r->root, "settings");
        value = json_is_array(settings) ? in_list(settings, name, "value") : json_object_get(settings, name);
    } else if (name && part >= TRUTH) {
        char flat[80];
        snprintf(flat, sizeof flat, "truth.%s", name);
        value = json_object_get(r->root, flat);
        value = value ? value : json_object_get(json_object_get(r->root, "truth"), name);
        value = value ? value : in_list(json_object_get(r->root, "parameters"), name, "truth");
    }
    if (name && part < TRUTH && !other && !value)
        value = json_object_get(r->root, name);
    if (!value)
        return (cell){ABSENT, NAN, ""};
    switch (json_typeof(value)) {
    case JSON_NULL: return (cell){EMPTY, NAN, ""};
    case JSON_STRING: return (cell){TEXT, NAN, json_string_value(value)};
    case JSON_OBJECT: return (cell){OTHER, NAN, "an object"};
    case JSON_ARRAY: return (cell){OTHER, NAN, "a list"};
    case JSON_TRUE: return (cell){OTHER, NAN, "true"};
    case JSON_FALSE: return (cell){OTHER, NAN, "false"};
    default: return (cell){NUMBER, json_number_value(value), ""};
    }
}

/* The keys of the line and of its settings, ending in null. */
static void keys_of(const cli_records *r, const char *names[65])
{
    size_t n = 0;
    json_t *settings = json_object_get(r->root, "settings");
    for (void *i = json_object_iter(r->root); i && n < 32; i = json_object_iter_next(r->root, i))
        names[n++] = json_object_iter_key(i);
    for (void *i = json_object_iter(settings); i && n < 64; i = json_object_iter_next(settings, i))
        names[n++] = json_object_iter_key(i);
    for (size_t i = 0; i < json_array_size(settings) && n < 64; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(settings, i), "name"));
        if (name)
            names[n++] = name;
    }
    names[n] = NULL;
}

static int refuse_missing_key(cli_records *r, int part)
{
    const char *names[65];
    keys_of(r, names);
    return refuse_missing(r, CLI_RECORD_BAD, part, names);
}

/* An answer may leave out a setting, but not misspell it. */
static int check_spelling(cli_records *r, int part)
{
    const char *names[65];
    for (size_t i = 0; r->format == CSV && i < r->columns && i < 64; i++)
        names[i] = r->column[i], names[i + 1] = NULL;
    if (r->format == JSON)
        keys_of(r, names);
    const char *name = name_of(r, part), *close = meant(r, name, names);
    return close && (strlen(name) > 2 || strcasecmp(close, name) == 0) ? refuse_missing(r, CLI_RECORD_BAD, part, names) : 0;
}

/* Fills r->root with an object; in ask mode a bare outcome becomes one. */
static int parse_json(cli_records *r)
{
    json_error_t error;
    size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY;
    r->root = json_loadb(r->bytes, r->length, flags, &error);
    if (!r->root && json_error_code(&error) == json_error_premature_end_of_input)
        return refuse(r, CLI_RECORD_BAD, "malformed JSON: it ends too early (a record is one line)");
    const int is_csv = !r->root && r->length > 0 && !strchr("{[\"", r->bytes[0]) && memchr(r->bytes, ',', r->length);
    if (!r->root)
        return refuse(r, CLI_RECORD_BAD, "malformed JSON: character %d: %s%s", error.column, error.text,
                      is_csv ? "; CSV begins with a line of names" : "");
    if (json_is_object(r->root))
        return CLI_RECORD;
    json_t *bare = r->root;
    if (r->settings_given)
        return refuse(r, CLI_RECORD_BAD, "is not a JSON object");
    if (!json_is_number(bare) && !json_is_null(bare))
        return refuse(r, CLI_RECORD_BAD, "is not a JSON object, a number or null");
    r->root = json_object();
    if (json_object_set_new(r->root, "outcome", bare) < 0)
        return refuse(r, CLI_RECORDS_FAILED, "out of memory");
    return CLI_RECORD;
}

/* ---- Records ---- */

static cell cell_of(const cli_records *r, int part)
{
    return r->format == CSV ? csv_cell(r, part) : json_cell(r, part);
}

static int refuse_part(cli_records *r, int part, const char *what)
{
    return refuse(r, CLI_RECORD_BAD, "%s %s%s: %s", r->format == CSV ? "column" : "key", part >= TRUTH ? "truth." : "",
                  name_of(r, part), what);
}

/* Takes a finite number of at most `max` in size. Returns 1, 0 if it is empty, CLI_RECORD_BAD after a message. */
static int take_number(cli_records *r, int part, double max, double *value)
{
    char what[96];
    cell c = cell_of(r, part);
    *value = NAN;
    if (c.kind == ABSENT || c.kind == EMPTY)
        return 0;
    if (c.kind != NUMBER)
        snprintf(what, sizeof what, c.kind == OTHER ? "%s is not a number" : "'%.40s' is not a number", c.text);
    else if (!isfinite(c.number))
        snprintf(what, sizeof what, "%.40s is not finite", c.text);
    else if (fabs(c.number) > max)
        snprintf(what, sizeof what, "%.15g is too large (limit %g)", c.number, max);
    else {
        *value = c.number;
        return 1;
    }
    return refuse_part(r, part, what);
}

static int take_outcome(cli_records *r, cli_record *record)
{
    int result = take_number(r, OUTCOME, INFINITY, &record->outcome);
    unsigned n = rf_outcomes_fixed(r->description->outcomes);
    record->is_missing = result == 0;
    if (result == 0 && cell_of(r, OUTCOME).kind == ABSENT)
        return refuse_missing_key(r, OUTCOME);
    if (result != 1 || n == 0 ||
        (record->outcome >= 0 && record->outcome < n && record->outcome == floor(record->outcome)))
        return result;
    char what[96];
    snprintf(what, sizeof what, n == 2 ? "%.15g is not 0 or 1" : "%.15g is not a whole number from 0 to %u",
             record->outcome, n - 1);
    return refuse_part(r, OUTCOME, what);
}

static int take_setting(cli_records *r, int part, cli_record *record)
{
    const rf_setting *description = &r->description->setting[part];
    int result = take_number(r, part, SETTING_MAX, &record->setting[part]);
    if (result == 0 && !r->settings_given) /* the setting that was asked for */
        return cell_of(r, part).kind == ABSENT ? check_spelling(r, part) : 0;
    if (result == 0 && description->role == RF_SETTING_FIXED)
        record->setting[part] = description->low;
    else if (result == 0 && !record->is_missing && r->format == JSON && cell_of(r, part).kind == ABSENT)
        return refuse_missing_key(r, part);
    else if (result == 0 && !record->is_missing)
        return refuse_part(r, part, "is empty");
    return result;
}

/* A count must not exceed the setting that limits it. Answers to questions may lack that setting; it is then the
   question's. */
static int check_count(cli_records *r, const cli_record *record)
{
    if (record->is_missing || !rf_outcomes_are_counts(r->description->outcomes))
        return 0;
    rf_description counts = {.outcomes = r->description->outcomes};
    const int has_most = rf_outcomes_has_setting(counts.outcomes);
    const unsigned of = rf_outcomes_setting(counts.outcomes);
    const double most = has_most ? record->setting[of] : NAN;
    char what[128];
    if (isnan(most))
        counts.outcomes = RF_COUNTS;
    if (has_most && !isnan(most) && (most < 1 || most != floor(most))) {
        snprintf(what, sizeof what, "%.15g is not a whole number from 1 on", most);
        return refuse_part(r, (int)of, what);
    }
    if (rf64_outcome_is_possible(&counts, record->setting, record->outcome))
        return 0;
    if (counts.outcomes == RF_COUNTS)
        snprintf(what, sizeof what, "%.15g is not a whole number from 0 on", record->outcome);
    else
        snprintf(what, sizeof what, "%.15g is not a whole number from 0 to %s = %.15g", record->outcome, r->description->setting[of].name, most);
    return refuse_part(r, OUTCOME, what);
}

static int take_time(cli_records *r, cli_record *record)
{
    int result = take_number(r, TIME, TIME_MAX, &record->time);
    record->has_time = result == 1;
    return result;
}

static int take_batch(cli_records *r, cli_record *record)
{
    cell c = cell_of(r, BATCH);
    record->has_batch = c.kind == NUMBER || c.kind == TEXT;
    if (c.kind == NUMBER)
        snprintf(record->batch, sizeof record->batch, "%.17g", c.number);
    else if (c.kind == TEXT && strlen(c.text) >= sizeof record->batch)
        return refuse_part(r, BATCH, "is longer than 31 bytes");
    else if (c.kind == TEXT)
        memcpy(record->batch, c.text, strlen(c.text) + 1);
    else if (c.kind == OTHER)
        return refuse_part(r, BATCH, "is neither text nor a number");
    return record->has_batch;
}

/* The number of the question that is answered. */
static int take_ask(cli_records *r, cli_record *record)
{
    const int result = take_number(r, ASK, SETTING_MAX, &record->ask);
    record->has_ask = result == 1;
    if (result != 1 || (record->ask >= 0 && record->ask == floor(record->ask)))
        return result;
    return refuse_part(r, ASK, "is not the number of a question");
}

static int take_record(cli_records *r, cli_record *record)
{
    if (take_outcome(r, record) < 0)
        return CLI_RECORD_BAD;
    for (int part = 0; part < (int)r->description->settings; part++)
        if (take_setting(r, part, record) < 0)
            return CLI_RECORD_BAD;
    if (check_count(r, record) < 0 || take_ask(r, record) < 0 || take_time(r, record) < 0 || take_batch(r, record) < 0)
        return CLI_RECORD_BAD;
    for (int part = TRUTH; part < TRUTH + (int)r->description->dim; part++) {
        int result = take_number(r, part, SETTING_MAX, &record->truth[part - TRUTH]);
        if (result < 0)
            return CLI_RECORD_BAD;
        record->has_truth |= (unsigned)result << (part - TRUTH);
    }
    return CLI_RECORD;
}

static format format_of(const cli_records *r)
{
    const char *c = r->bytes + strspn(r->bytes, " \t");
    int is_bare = !r->settings_given && (isdigit((unsigned char)*c) || *c == '-' || strncmp(c, "null", 4) == 0);
    return *c == '{' || *c == '[' || is_bare ? JSON : CSV;
}

static int parse_line(cli_records *r, cli_record *record)
{
    *record = (cli_record){.line = r->line};
    for (unsigned i = 0; i < RF_DESCRIBED_MAX; i++)
        record->setting[i] = record->truth[i] = NAN;
    if (check_line(r, CLI_RECORD_BAD) < 0)
        return CLI_RECORD_BAD;
    if (r->format == CSV) {
        int count = split(r, r->bytes, r->field, CLI_RECORD_BAD);
        if (count >= 0 && (size_t)count != r->columns)
            return refuse(r, CLI_RECORD_BAD, "has %d fields, the header has %zu", count, r->columns);
        return count < 0 ? CLI_RECORD_BAD : take_record(r, record);
    }
    int result = parse_json(r);
    if (result == CLI_RECORD)
        result = take_record(r, record);
    json_decref(r->root);
    r->root = NULL;
    return result;
}

static int read_record(cli_records *r, cli_record *record)
{
    for (;;) {
        int result = r->has_failed ? CLI_RECORDS_FAILED : read_line(r);
        if (result == CLI_RECORDS_END && is_in_header(r))
            return take_header(r) < 0 ? CLI_RECORDS_FAILED : CLI_RECORDS_END; /* a quote is open, or is no quote with this separator */
        if (result != CLI_RECORD)
            return result;
        if (!is_in_header(r) && is_passed_over(r))
            continue;
        r->format = r->format == UNKNOWN ? format_of(r) : r->format;
        if (r->format == JSON || r->columns > 0)
            return parse_line(r, record);
        if (read_header(r) < 0)
            return CLI_RECORDS_FAILED;
    }
}

/* ---- Times ---- */

static entry *ahead_at(cli_records *r, unsigned k) { return &r->ahead[(r->first + k) % AHEAD]; }

/* Reads one more record into the ring. Returns the result. */
static int queue_one(cli_records *r)
{
    entry *e = ahead_at(r, r->queued);
    e->result = read_record(r, &e->record);
    if (e->result == CLI_RECORDS_INTERRUPTED)
        return e->result;
    memcpy(e->error, r->error, sizeof e->error);
    r->queued++;
    return e->result;
}

static int is_suspicious(const cli_records *r, double time) { return r->gaps >= 2 && time - r->time > SUSPICIOUS * r->gap; }

/* Reads ahead what is there. */
static void look_ahead(cli_records *r)
{
    const entry *head = ahead_at(r, 0), *last = ahead_at(r, r->queued - 1);
    if (!r->settings_given || head->result != CLI_RECORD || !head->record.has_time || head->record.time < r->time)
        return;
    const int patience = is_suspicious(r, head->record.time) ? PATIENCE : 0;
    int result = last->result;
    while (r->queued < AHEAD && (result == CLI_RECORD || result == CLI_RECORD_BAD) && cli_lines_is_soon(&r->lines, patience))
        result = queue_one(r);
}

/* Is the time of the first record in the ring wrong? Then more of those read ahead are in order without it: two more if
   it is the first of all; after a suspicious gap, as many. Returns how many lie before it, or 0. */
static unsigned is_glitch(cli_records *r)
{
    double time[AHEAD];
    unsigned length[AHEAD], count = 0, before = 0, most = 0; /* length: of the longest series in order that begins here */
    for (unsigned k = 0; k < r->queued; k++) {
        const entry *e = ahead_at(r, k);
        if (e->result == CLI_RECORD && e->record.has_time && e->record.time >= r->time)
            time[count++] = e->record.time;
    }
    for (unsigned k = 1; k < count; k++)
        before += time[k] < time[0];
    for (unsigned k = before > 0 ? count : 0; k-- > 0;) {
        most = k + 1 < count && length[k + 1] > most ? length[k + 1] : most;
        length[k] = 1;
        for (unsigned j = k + 1; j < count; j++)
            if (time[j] >= time[k] && length[j] >= length[k])
                length[k] = length[j] + 1;
    }
    const unsigned fewer = isinf(r->time) ? 2 : is_suspicious(r, time[0]) ? 0 : 1;
    return before > 0 && length[0] + fewer <= most ? before : 0;
}

/* Checks the time of the first record in the ring, and notes it. */
static int check_time(cli_records *r, const cli_record *record)
{
    char what[128];
    const double after = record->has_ask ? r->begin : r->time;
    unsigned before = 0;
    if (!record->has_time || (record->time >= after && !(before = r->settings_given ? is_glitch(r) : 0))) {
        const double gap = record->time - r->time;
        if (record->has_time && isfinite(gap) && gap > 0) {
            r->gap = fmax(r->gap, gap);
            r->gaps++;
        }
        if (record->has_time)
            r->time = fmax(r->time, record->time);
        return CLI_RECORD;
    }
    if (before)
        snprintf(what, sizeof what, "%.15g is later than %u of the records after it; --skip-bad passes it over", record->time, before);
    else
        snprintf(what, sizeof what, "%.15g is earlier than the %.15g of a record before it", record->time, after);
    r->line = record->line;
    return refuse_part(r, TIME, what);
}

int cli_records_next(cli_records *r, cli_record *record)
{
    if (r->queued == 0 && queue_one(r) == CLI_RECORDS_INTERRUPTED)
        return CLI_RECORDS_INTERRUPTED;
    look_ahead(r);
    const entry *e = ahead_at(r, 0);
    int result = e->result;
    *record = e->record;
    memcpy(r->error, e->error, sizeof r->error);
    if (result == CLI_RECORD)
        result = check_time(r, record);
    r->count += result == CLI_RECORD;
    r->first = (r->first + 1) % AHEAD;
    r->queued--;
    return result;
}

void cli_records_begin_at(cli_records *r, double time)
{
    if (time > r->time)
        r->time = time;
    if (time > r->begin)
        r->begin = time;
}

int cli_records_is_ready(const cli_records *r) { return r->queued > 0 || cli_lines_is_ready(&r->lines); }
long cli_records_count(const cli_records *r) { return r->count; }
const char *cli_records_error(const cli_records *r) { return r->error; }

void cli_records_rename(cli_records *r, const char *const renamed[]) { r->renamed = renamed; }

cli_records *cli_records_open(FILE *from, const char *name, const rf_description *description, int settings_given)
{
    cli_records *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->lines.from = from;
    r->name = name;
    r->description = description;
    r->settings_given = settings_given;
    r->time = r->begin = -INFINITY;
    return r;
}

void cli_records_close(cli_records *r)
{
    if (!r)
        return;
    free(r->header);
    free(r);
}

rf_record cli_record_told(const cli_record *r)
{
    rf_record told = {.outcome = r->is_missing ? NAN : r->outcome, .time = r->has_time ? r->time : NAN};
    memcpy(told.setting, r->setting, sizeof told.setting);
    return told;
}

uint64_t cli_record_batch(const cli_record *r) { return r->has_batch ? rf_hash(1, r->batch, strlen(r->batch)) | 1 : 0; }
