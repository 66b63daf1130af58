#define _POSIX_C_SOURCE 200809L
#include "load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine.h"
#include "machine.h"
#include "rows.h"

enum { DIMENSIONS = 8 };

static int is_csv(const char *path)
{
    static const char *const endings[] = {".csv", ".tsv", ".txt", ".data", NULL};
    const size_t length = strlen(path);
    for (size_t i = 0; endings[i]; i++)
        if (length >= strlen(endings[i]) && strcasecmp(path + length - strlen(endings[i]), endings[i]) == 0)
            return 1;
    return 0;
}

/* Does a file whose name says nothing have text? */
static int has_text(const char *path)
{
    char error[600], first[64];
    FILE *file = tables_open(path, error, sizeof error);
    const size_t count = file ? fread(first, 1, sizeof first, file) : 0;
    if (file)
        fclose(file);
    return count > 0 && !memchr(first, '\0', count);
}

/* ---- IDX: arrays of numbers, big-endian, the last index fastest ---- */

typedef struct array {
    FILE *file;
    const char *path;
    char kind; /* 'u' and 'i' whole numbers, 'f' floating point */
    unsigned bytes, dimensions;
    uint64_t size[DIMENSIONS], count; /* count: of all numbers */
} array;

static uint64_t big_endian(const unsigned char *p, unsigned bytes)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < bytes; i++)
        bits = bits << 8 | p[i];
    return bits;
}

/* The next number; NaN at the end of the file, whose size was checked. */
static double next_number(const array *a)
{
    unsigned char p[8];
    if (fread(p, 1, a->bytes, a->file) != a->bytes)
        return NAN;
    const uint64_t bits = big_endian(p, a->bytes);
    const uint32_t half = (uint32_t)bits;
    float single;
    double whole;
    memcpy(&single, &half, sizeof single);
    memcpy(&whole, &bits, sizeof whole);
    const double wrap = ldexp(1, 8 * (int)a->bytes);
    return a->kind == 'f'                               ? a->bytes == 4 ? (double)single : whole
           : a->kind == 'i' && (double)bits >= wrap / 2 ? (double)bits - wrap
                                                        : (double)bits;
}

/* Reads the head and the dimensions. The file must have exactly the numbers that they declare. */
static int read_head(array *a, char *error, size_t size)
{
    static const struct {
        unsigned char code;
        char kind;
        unsigned char bytes;
    } types[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0b, 'i', 2}, {0x0c, 'i', 4}, {0x0d, 'f', 4}, {0x0e, 'f', 8}};
    unsigned char head[4] = {1}, dimension[4];
    struct stat about;
    const size_t got = fread(head, 1, sizeof head, a->file);
    for (size_t i = 0; i < sizeof types / sizeof types[0] && got == sizeof head; i++)
        if (head[0] == 0 && head[1] == 0 && head[2] == types[i].code) {
            a->kind = types[i].kind;
            a->bytes = types[i].bytes;
        }
    a->dimensions = head[3];
    if (!a->kind || a->dimensions == 0 || a->dimensions > DIMENSIONS)
        return rf_fail(error, size, "%s: not an IDX file: it begins with %02x %02x %02x %02x", a->path, head[0],
                       head[1], head[2], head[3]);
    a->count = 1;
    for (unsigned i = 0; i < a->dimensions; i++) {
        if (fread(dimension, 1, sizeof dimension, a->file) != sizeof dimension)
            return rf_fail(error, size, "%s: ends within its header", a->path);
        a->size[i] = big_endian(dimension, 4);
        if (a->size[i] == 0)
            return rf_fail(error, size, "%s: dimension %u is 0", a->path, i + 1);
        a->count = a->count > UINT64_MAX / 8 / a->size[i] ? UINT64_MAX / 8 : a->count * a->size[i];
    }
    const uint64_t begin = 4 + 4 * (uint64_t)a->dimensions;
    if (fstat(fileno(a->file), &about) != 0 || (uint64_t)about.st_size - begin != a->count * a->bytes)
        return rf_fail(error, size, "%s: its header declares %llu bytes of numbers, but it has %llu", a->path,
                       (unsigned long long)(a->count * a->bytes),
                       (unsigned long long)((uint64_t)about.st_size - begin));
    return 0;
}

/* Opens an array; close its file. Returns 0, or -1 with a message. */
static int open_array(const char *path, array *a, char *error, size_t size)
{
    *a = (array){.path = path, .file = tables_open(path, error, size)};
    if (!a->file)
        return -1;
    if (read_head(a, error, size) == 0)
        return 0;
    fclose(a->file);
    return -1;
}

/* Reads a row per first index. The table must be empty; labels are not set. */
static int read_rows(const array *a, rfc_table *t, char *error, size_t size)
{
    const int are_bytes = a->kind == 'u';
    if (a->dimensions < 2 || a->size[0] > UINT32_MAX / 2 || a->count / a->size[0] > RFC_FEATURES_MAX)
        return rf_fail(error, size,
                       "%s: has %u dimensions, %llu rows, %llu features; it needs 2 dimensions or more, and at most %d "
                       "features",
                       a->path, a->dimensions, (unsigned long long)a->size[0],
                       (unsigned long long)(a->count / a->size[0]), RFC_FEATURES_MAX);
    snprintf(t->source, sizeof t->source, "%s", a->path);
    t->features = (uint32_t)(a->count / a->size[0]);
    if (a->dimensions == 3) {
        t->height = (uint32_t)a->size[1];
        t->width = (uint32_t)a->size[2];
    }
    if (rf_memory_check(t->source, are_bytes ? a->count : a->count * sizeof *t->reals, error, size) < 0)
        return -1;
    if (rfc_table_reserve(t, (uint32_t)a->size[0]) < 0)
        return rf_fail(error, size, "%s: out of memory", t->source);
    if (are_bytes && fread(t->bytes, 1, a->count, a->file) != a->count)
        return rf_fail(error, size, "%s: cannot be read", t->source);
    for (uint64_t i = 0; i < a->count && !are_bytes; i++) {
        const double value = next_number(a);
        const uint64_t row = i / t->features, feature = i % t->features;
        t->rows = (uint32_t)row;
        if (fabs(value) > 1e30)
            return rf_fail(error, size, "%s: row %llu, feature %llu: %g is beyond 1e30", t->source,
                           (unsigned long long)row + 1, (unsigned long long)feature + 1, value);
        if ((isnan(value) ? rfc_table_miss(t, row, feature) : rfc_table_put(t, row, feature, value)) < 0)
            return rf_fail(error, size, "%s: out of memory", t->source);
    }
    t->rows = (uint32_t)a->size[0];
    return 0;
}

/* The label of a row from a number. */
static int set_label(rfc_table *t, const char *source, uint32_t row, double value, char *error, size_t size)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    t->label[row] = isfinite(value) ? rfc_names_intern(&t->labels, text) : RFC_LABELS_MAX;
    return t->label[row] < RFC_LABELS_MAX
               ? 0
               : rf_fail(error, size, "%s: label %u is %s%s", source, row + 1, text,
                         isfinite(value) ? ": more than 256 distinct labels; wrong --label column?" : "");
}

static int read_labels(const array *a, rfc_table *t, char *error, size_t size)
{
    int status = 0;
    if (a->count != t->rows)
        return rf_fail(error, size, "%s: has %llu labels, but %s has %u rows", a->path, (unsigned long long)a->count,
                       t->source, t->rows);
    for (uint32_t i = 0; i < t->rows && status == 0; i++)
        status = set_label(t, a->path, i, next_number(a), error, size);
    return status;
}

/* Takes the labels from a column of the rows: that number, or the last. */
static int split_label(rfc_table *t, const char *column, char *error, size_t size)
{
    char *end = NULL;
    const size_t d = t->features, at = column ? strtoul(column, &end, 10) : d - 1;
    int status = 0;
    if (column && (*column < '0' || *column > '9' || *end != '\0' || at >= d))
        return rf_fail(error, size, "%s: has no column '%s'; they are numbered 0 to %zu", t->source, column, d - 1);
    if (d < 2)
        return rf_fail(error, size, "%s: has one column; it needs features and a label", t->source);
    for (size_t i = 0, to = 0; i < t->rows * d && status == 0; i++)
        if (i % d == at)
            status =
                set_label(t, t->source, (uint32_t)(i / d), t->reals ? t->reals[i] : (double)t->bytes[i], error, size);
        else if (t->reals)
            t->reals[to++] = t->reals[i];
        else
            t->bytes[to++] = t->bytes[i];
    t->features--;
    t->height = t->width = 0;
    return status;
}

static int load_array(const char *path, const char *labels, const char *column, const rfc_table *like, rfc_table *t,
                      char *error, size_t size)
{
    array a;
    if (open_array(path, &a, error, size) < 0)
        return -1;
    int status = read_rows(&a, t, error, size);
    fclose(a.file);
    if (status < 0)
        return -1;
    if (!labels && like && (t->features == like->features || a.dimensions > 2))
        return rfc_table_unlabel(t) < 0 ? rf_fail(error, size, "%s: out of memory", path) : 0;
    if (!labels && !column && a.dimensions > 2)
        return rf_fail(error, size, "%s: has images and no labels; give their file with --train-labels", path);
    if (!labels)
        return split_label(t, column, error, size);
    if (open_array(labels, &a, error, size) < 0)
        return -1;
    status = read_labels(&a, t, error, size);
    fclose(a.file);
    return status;
}

/* ---- One file, or a file and its labels ---- */

/* train-images-idx3-ubyte → train-labels-idx1-ubyte. Returns whether that file exists. */
static int sibling_labels(const char *path, char *labels, size_t size)
{
    const char *images = strstr(path, "images"), *slash = strrchr(path, '/');
    if (!images || (slash && images < slash))
        return 0;
    snprintf(labels, size, "%.*slabels%s", (int)(images - path), path, images + strlen("images"));
    char *three = strstr(labels + (images - path), "idx3");
    if (three)
        three[3] = '1';
    return access(labels, R_OK) == 0;
}

/* Copies standard input to an unnamed temporary file, so that it can be read twice; `path` names it. Returns 0, or
   -1 with a message. */
static int keep_input(char *path, size_t room, char *error, size_t size)
{
    char block[1 << 16];
    size_t some;
    FILE *kept = tmpfile();
    while (kept && (some = fread(block, 1, sizeof block, stdin)) > 0)
        if (fwrite(block, 1, some, kept) != some)
            return rf_fail(error, size, "standard input: cannot be kept: no room for temporary files");
    if (!kept || ferror(stdin) || fflush(kept) != 0)
        return rf_fail(error, size, "standard input: cannot be read");
    snprintf(path, room, "/dev/fd/%d", fileno(kept)); /* the file stays open until the program ends */
    return 0;
}

/* CSV from standard input. */
static int load_input(const tables_source *source, const rfc_table *like, rfc_table *t, char *error, size_t size)
{
    char input[32] = "", rest[512];
    int status = keep_input(input, sizeof input, error, size);
    if (status == 0)
        status = tables_load_csv(input, source, like, t, error, size);
    snprintf(t->source, sizeof t->source, "standard input");
    if (status < 0 && strncmp(error, input, strlen(input)) == 0) {
        snprintf(rest, sizeof rest, "%s", error + strlen(input));
        rf_fail(error, size, "%s%s", t->source, rest);
    }
    return status;
}

/* `like`: the table that the objects must match; null for training data. */
static int load_file(const char *path, const char *labels, const tables_source *source, const rfc_table *like,
                     rfc_table *t, char *error, size_t size)
{
    char sibling[4096];
    if (strcmp(path, "-") == 0)
        return load_input(source, like, t, error, size);
    if (is_csv(path) && labels)
        return rf_fail(error, size, "%s: a CSV file has its labels in a column; give it with --label", path);
    if (is_csv(path) || (!labels && has_text(path)))
        return tables_load_csv(path, source, like, t, error, size);
    if (!labels && sibling_labels(path, sibling, sizeof sibling))
        labels = sibling;
    return load_array(path, labels, source->label, like, t, error, size);
}

/* ---- Whole data sets ---- */

static int load_directory(const char *directory, const char *half, rfc_table *t, char *error, size_t size)
{
    static const char *const forms[] = {"%s/%s-images-idx3-ubyte", "%s/%s-images.idx3-ubyte", NULL};
    char images[4096], labels[4096];
    for (size_t i = 0; forms[i]; i++) {
        const int length = snprintf(images, sizeof images, forms[i], directory, half);
        if (length < 0 || (size_t)length >= sizeof images || access(images, R_OK) != 0)
            continue;
        if (!sibling_labels(images, labels, sizeof labels))
            return rf_fail(error, size, "%s: has no file of labels beside it", images);
        return load_array(images, labels, NULL, NULL, t, error, size);
    }
    return rf_fail(error, size, "%s: has no file %s-images-idx3-ubyte; unpack it if it ends in .gz", directory, half);
}

static int load_data(const tables_source *source, rfc_table *train, rfc_table *test, char *error, size_t size)
{
    struct stat about;
    if (strcmp(source->data, "synthetic") == 0)
        return rfc_synthetic(source->seed, 0, TABLES_SYNTHETIC_TRAIN, train, error, size) < 0
                   ? -1
                   : rfc_synthetic(source->seed, TABLES_SYNTHETIC_TRAIN, TABLES_SYNTHETIC_TEST, test, error, size);
    if (stat(source->data, &about) == 0 && S_ISDIR(about.st_mode))
        return load_directory(source->data, "train", train, error, size) < 0
                   ? -1
                   : load_directory(source->data, "t10k", test, error, size);
    return load_file(source->data, NULL, source, NULL, train, error, size);
}

static int check_features(const rfc_table *t, const rfc_table *like, char *error, size_t size)
{
    return t->features == like->features ? 0
                                         : rf_fail(error, size, "%s: has %u features, but %s has %u", t->source,
                                                   t->features, like->source, like->features);
}

int tables_load_objects(const tables_source *source, const char *path, const char *labels, const rfc_table *like,
                        rfc_table *t, char *error, size_t size)
{
    memset(t, 0, sizeof *t);
    if (load_file(path, labels, source, like, t, error, size) == 0 && check_features(t, like, error, size) == 0)
        return 0;
    rfc_table_free(t);
    return -1;
}

int tables_load(const tables_source *source, rfc_table *train, rfc_table *test, char *error, size_t size)
{
    memset(train, 0, sizeof *train);
    memset(test, 0, sizeof *test);
    int status = source->data ? load_data(source, train, test, error, size)
                              : load_file(source->train, source->train_labels, source, NULL, train, error, size);
    if (status == 0 && !source->data && source->test)
        status = load_file(source->test, source->test_labels, source, train, test, error, size);
    if (status == 0 && test->rows > 0)
        status = check_features(test, train, error, size);
    if (status == 0)
        return 0;
    rfc_table_free(train);
    rfc_table_free(test);
    return -1;
}
