/* An experiment's ini file: settings and claims. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include "rejfilt/session.h"

#include <ini.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void *lab_keep(size_t bytes)
{
    static struct kept {
        struct kept *next;
    } *all; /* a list, so that leak checkers see the memory as reachable */
    struct kept *k = calloc(1, sizeof *k + bytes);
    if (!k) {
        cli_error("reproduce: not enough memory");
        exit(CLI_FAILED);
    }
    k->next = all;
    all = k;
    return k + 1;
}

static const char *keep_text(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = lab_keep((size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

const char *lab_keep_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = keep_text(format, arguments);
    va_end(arguments);
    return text;
}

void lab_note(lab *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    l->note = keep_text(format, arguments);
    va_end(arguments);
}

int lab_fail(lab *l, const char *format, ...)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&lock);
    if (!l->error[0]) /* keep only the first error, the cause */
        vsnprintf(l->error, sizeof l->error, format, arguments);
    pthread_mutex_unlock(&lock);
    va_end(arguments);
    return -1;
}

/* ---- Reading ---- */

typedef struct reading {
    lab *l;
    const char *mode; /* section to read: quick or full */
} reading;

/* Appends a line to a text: inih reports each line of a value as another value. */
static void extend(const char **text, const char *value)
{
    *text = *text ? lab_keep_text("%s %s", *text, value) : lab_keep_text("%s", value);
}

/* "at most 1", "at least 1", "1 to 2". */
static int read_bounds(const char *text, lab_bounds *b)
{
    char rest;
    *b = (lab_bounds){-INFINITY, INFINITY, lab_keep_text("%s", text)};
    return sscanf(text, "at most %lf%c", &b->high, &rest) == 1 || sscanf(text, "at least %lf%c", &b->low, &rest) == 1 ||
                   sscanf(text, "%lf to %lf%c", &b->low, &b->high, &rest) == 2
               ? 0
               : -1;
}

static lab_finding *finding(lab *l, const char *name)
{
    for (unsigned i = 0; i < l->finding_count; i++)
        if (strcmp(l->findings[i].name, name) == 0)
            return &l->findings[i];
    return NULL;
}

static int take_claim(lab *l, const char *name, const char *key, const char *value)
{
    lab_finding *f = finding(l, name);
    if (!f && l->finding_count < LAB_FINDINGS_MAX) {
        f = &l->findings[l->finding_count++];
        *f = (lab_finding){.name = lab_keep_text("%s", name), .value = NAN, .error = NAN, .changed = NAN, .changed_error = NAN};
    }
    const struct {
        const char *key;
        const char **to;
    } texts[] = {{"paper", &f->paper}, {"where", &f->where}, {"number", &f->number}, {"measure", &f->measure}, {"change", &f->change}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(key, texts[i].key) == 0) {
            extend(texts[i].to, value);
            return 0;
        }
    if (strcmp(key, "holds") == 0)
        return read_bounds(value, &f->holds);
    if (strcmp(key, "expect") == 0)
        return read_bounds(value, &f->expect);
    int *const flag = strcmp(key, "timing") == 0 ? &f->is_timing : strcmp(key, "mnist") == 0 ? &f->is_about_mnist : NULL;
    if (!flag || strcmp(value, "yes") != 0)
        return -1;
    *flag = 1;
    return 0;
}

static int take_setting(lab *l, const char *key, const char *value)
{
    unsigned i = 0;
    while (i < l->setting_count && strcmp(l->settings[i].key, key) != 0)
        i++;
    if (i == LAB_SETTINGS_MAX)
        return -1;
    if (i == l->setting_count) {
        l->settings[i].key = lab_keep_text("%s", key);
        l->setting_count++;
    }
    l->settings[i].value = lab_keep_text("%s", value);
    return 0;
}

/* Handler for inih. Returns 1 to continue. */
static int take(void *user, const char *section, const char *key, const char *value)
{
    const reading *r = user;
    lab *l = r->l;
    const int is_ours = strcmp(section, r->mode) == 0;
    if (strncmp(section, "claim ", 6) == 0)
        return take_claim(l, section + 6, key, value) == 0;
    if (strcmp(section, "experiment") == 0)
        extend(strcmp(key, "title") == 0 ? &l->title : &l->about, value);
    else if (strcmp(key, "seconds") == 0)
        l->takes = is_ours ? lab_keep_text("%s", value) : l->takes;
    else if (strcmp(section, "settings") == 0 || is_ours)
        return take_setting(l, key, value) == 0;
    return 1;
}

int lab_settings_read(lab *l, const char *text)
{
    reading r = {l, l->options->is_full ? "full" : "quick"};
    int line = ini_parse_string(text, take, &r);
    if (line != 0)
        return lab_fail(l, "%s.ini: line %d is not understood", l->name, line);
    for (unsigned i = 0; i < l->finding_count; i++)
        if (!l->findings[i].measure || !l->findings[i].paper != !l->findings[i].holds.text || (!l->findings[i].paper && !l->findings[i].expect.text))
            return lab_fail(l, "%s.ini: claim %s lacks 'measure', or 'paper' and 'holds', or 'expect'", l->name, l->findings[i].name);
        else if (l->findings[i].is_about_mnist && !lab_data(l))
            l->findings[i].expect.text = NULL; /* without MNIST's files it stays unmeasured */
    return 0;
}

/* A hash of everything that determines the rows. */
uint64_t lab_settings_fingerprint(const lab *l)
{
    uint64_t hash = 0xcbf29ce484222325u;
    hash = rf_hash(hash, l->name, strlen(l->name) + 1);
    hash = rf_hash(hash, &l->options->seed, sizeof l->options->seed);
    for (unsigned i = 0; i < l->setting_count; i++) {
        hash = rf_hash(hash, l->settings[i].key, strlen(l->settings[i].key) + 1);
        hash = rf_hash(hash, l->settings[i].value, strlen(l->settings[i].value) + 1);
    }
    return l->note ? rf_hash(hash, l->note, strlen(l->note)) : hash;
}

/* ---- Asking ---- */

const char *lab_text(const lab *l, const char *key)
{
    for (unsigned i = 0; i < l->setting_count; i++)
        if (strcmp(l->settings[i].key, key) == 0)
            return l->settings[i].value;
    cli_error("reproduce: %s.ini has no '%s'", l->name, key); /* a mistake in the experiment, not of the user */
    exit(CLI_FAILED);
}

unsigned lab_items(const lab *l, const char *key)
{
    unsigned count = 0;
    for (const char *c = lab_text(l, key); *(c += strspn(c, " ")); c += strcspn(c, " "))
        count++;
    return count;
}

double lab_item(const lab *l, const char *key, unsigned index)
{
    const char *c = lab_text(l, key);
    c += strspn(c, " ");
    for (; index > 0; index--) {
        c += strcspn(c, " ");
        c += strspn(c, " ");
    }
    char *end;
    double value = strtod(c, &end);
    if (end != c && (*end == ' ' || *end == '\0'))
        return value;
    cli_error("reproduce: %s.ini: '%s' is no list of numbers, or too short a one", l->name, key);
    exit(CLI_FAILED);
}

double lab_real(const lab *l, const char *key) { return lab_item(l, key, 0); }
uint32_t lab_whole(const lab *l, const char *key) { return (uint32_t)lab_item(l, key, 0); }
uint64_t lab_seed(const lab *l) { return l->options->seed; }
const char *lab_data(const lab *l) { return l->options->data; }
