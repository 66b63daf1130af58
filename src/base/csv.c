#include "csv.h"

#include <string.h>

#include "fail.h"

static const char separators[] = ",;\t";

/* ---- Writing ---- */

static void put_quoted(FILE *out, const char *const parts[])
{
    putc('"', out);
    for (; *parts; parts++)
        for (const char *c = *parts; *c; c++) {
            if (*c == '"')
                putc('"', out);
            putc(*c, out);
        }
    putc('"', out);
}

static void put(FILE *out, const char *const parts[], const char *special)
{
    char first = '\0', last = '\0';
    int is_special = 0;
    for (unsigned i = 0; parts[i]; i++) {
        const size_t length = strlen(parts[i]);
        is_special |= parts[i][strcspn(parts[i], special)] != '\0';
        first = first ? first : parts[i][0];
        last = length > 0 ? parts[i][length - 1] : last;
    }
    if (is_special || first == '\0' || strchr(" #", first) || last == ' ') {
        put_quoted(out, parts);
        return;
    }
    for (; *parts; parts++)
        fputs(*parts, out);
}

void rf_csv_write(FILE *out, const char *const parts[]) { put(out, parts, ",;\t\"\r\n"); }
void rf_csv_word(FILE *out, const char *word) { put(out, (const char *const[]){word, NULL}, " ,;\t\"\r\n"); }

/* ---- Reading ---- */

static int is_separator(char c, char separator)
{
    return separator ? c == separator : c != '\0' && strchr(separators, c) != NULL;
}

static const char *skip_blanks(const char *c, char separator)
{
    while (*c == ' ' || (*c == '\t' && !is_separator('\t', separator)))
        c++;
    return c;
}

/* The quote that closes the one before `c`, or the end of the text. */
static const char *closing(const char *c)
{
    while (*c && (*c != '"' || c[1] == '"'))
        c += *c == '"' ? 2 : 1;
    return c;
}

int rf_csv_is_open(const char *line, char separator, int was_open)
{
    for (const char *c = line;; c++, was_open = 0) {
        c = was_open ? c : skip_blanks(c, separator);
        if (was_open || *c == '"') {
            c = closing(c + !was_open);
            if (!*c)
                return 1;
        }
        while (*c && !is_separator(*c, separator))
            c++;
        if (!*c)
            return 0;
    }
}

char rf_csv_separator(const char *line)
{
    size_t count[sizeof separators - 1] = {0}, best = 0;
    int is_quoted = 0;
    for (const char *c = line; *c; c++) {
        const char *found = strchr(separators, *c);
        is_quoted ^= *c == '"';
        if (found && !is_quoted)
            count[found - separators]++;
    }
    for (size_t i = 1; i < sizeof separators - 1; i++)
        best = count[i] > count[best] ? i : best;
    return separators[best];
}

char *rf_csv_cut(char **at, char separator, char *error, size_t size)
{
    char *field = *at + (skip_blanks(*at, separator) - *at), *end = field, *next;
    if (*field == '"') {
        const char *quote = closing(field + 1);
        if (!*quote) {
            rf_fail(error, size, "a quote is not closed");
            return NULL;
        }
        for (const char *c = field + 1; c < quote; c += *c == '"' ? 2 : 1)
            *end++ = *c;
        next = *at + (skip_blanks(quote + 1, separator) - *at);
        if (*next && *next != separator) {
            rf_fail(error, size, "there is more after the closing quote");
            return NULL;
        }
    } else {
        next = field + strcspn(field, (const char[]){separator, '\0'});
        for (end = next; end > field && (end[-1] == ' ' || end[-1] == '\t');)
            end--;
    }
    *at = *next ? next + 1 : NULL;
    *end = '\0';
    return field;
}

const char *rf_csv_number(const char *text, char separator, char point[RF_CSV_NUMBER])
{
    const size_t before = separator == ';' ? strcspn(text, ",.") : 0;
    if (before == 0 || text[before] != ',' || strlen(text) >= RF_CSV_NUMBER)
        return text;
    strcpy(point, text);
    point[before] = '.';
    return point;
}
