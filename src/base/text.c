/* Words and numbers in texts that people write. */
#define _POSIX_C_SOURCE 200809L
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

/* Edit distance of the first 23 characters. */
static unsigned distance(const char *a, const char *b)
{
    enum { MOST = 23 };
    unsigned row[MOST + 1], n = (unsigned)strnlen(b, MOST), m = (unsigned)strnlen(a, MOST);
    for (unsigned j = 0; j <= n; j++)
        row[j] = j;
    for (unsigned i = 1; i <= m; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= n; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *rf_closest(const char *name, const char *const names[])
{
    const char *best = NULL;
    unsigned least = 3;
    for (size_t i = 0; names[i]; i++) {
        unsigned d = distance(name, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

const char *rf_suggestion(const char *name, const char *const names[], char text[RF_SUGGESTION])
{
    const char *close = rf_closest(name, names);
    snprintf(text, RF_SUGGESTION, close ? ", did you mean %s?" : "%s", close ? close : "");
    return text;
}

int rf_parse_real(const char *text, double low, double high, double *value, char *error, size_t size)
{
    char *end;
    const int is_decimal = text[strspn(text, "+-.0123456789eE")] == '\0';
    const double v = is_decimal ? rf_real_read(text, &end) : 0;
    if (!is_decimal || end == text || *end != '\0')
        return rf_fail(error, size, "'%s' is not a number", text);
    if (v < low || v > high)
        return rf_fail(error, size, "%s is not between %g and %g", text, low, high);
    *value = v;
    return 0;
}

int rf_parse_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value, char *error, size_t size)
{
    if (!*text || text[strspn(text, "0123456789")] != '\0')
        return rf_fail(error, size, "'%s' is not a whole number", text);
    errno = 0;
    const unsigned long long v = strtoull(text, NULL, 10);
    if (errno == ERANGE || v < low || v > high)
        return rf_fail(error, size, "%s is not between %llu and %llu", text, (unsigned long long)low,
                       (unsigned long long)high);
    *value = v;
    return 0;
}

int rf_which(const char *value, const char *const names[], char *error, size_t size)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(value, names[i]) == 0)
            return i;
    const char *close = rf_closest(value, names);
    size_t used = (size_t)snprintf(error, size, "'%s' is none of", value);
    for (int i = 0; names[i] && used < size; i++)
        used += (size_t)snprintf(error + used, size - used, "%s %s", i ? "," : "", names[i]);
    if (close && used < size)
        snprintf(error + used, size - used, "; did you mean %s?", close);
    return -1;
}
