#define _POSIX_C_SOURCE 200809L
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "engine.h"

static int has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

static int is_csv(const char *path)
{
    static const char *const endings[] = {".csv", ".tsv", ".txt", ".data", ".csv.gz", ".tsv.gz", ".txt.gz", NULL};
    for (size_t i = 0; endings[i]; i++)
        if (has_ending(path, endings[i]))
            return 1;
    return 0;
}

static int is_npy(const char *path) { return has_ending(path, ".npy") || has_ending(path, ".npy.gz"); }

/* Does a file whose name says nothing have text, and not the first bytes of an array? */
static int has_text(const char *path)
{
    char error[600], first[64];
    tables_stream *s = tables_stream_open(path, error, sizeof error);
    const long count = s ? tables_stream_some(s, first, sizeof first, error, sizeof error) : 0;
    tables_stream_close(s);
    return count > 0 && first[0] != '\x93' && !memchr(first, '\0', (size_t)count);
}

/* Opens an array file and reads its header. NULL with a message. */
static tables_stream *open_array(const char *path, tables_array *array, char *error, size_t size)
{
    tables_stream *s = tables_stream_open(path, error, size);
    if (s && (is_npy(path) ? tables_array_npy : tables_array_idx)(s, array, error, size) < 0) {
        tables_stream_close(s);
        s = NULL;
    }
    return s;
}

/* ---- Labels from a column of an array ---- */

static int split_label(rfc_table *t, const char *column, char *error, size_t size)
{
    char *end = NULL, text[32];
    size_t d = t->features, at = column ? strtoul(column, &end, 10) : d - 1;
    if (column && (*column < '0' || *column > '9' || *end != '\0' || at >= d))
        return rf_fail(error, size, "%s: has no column '%s'; they are numbered 0 to %zu", t->source, column, d - 1);
    if (d < 2)
        return rf_fail(error, size, "%s: has one column; it needs features and a label", t->source);
    free(t->label);
    t->label = malloc(t->rows * sizeof *t->label);
    if (!t->label)
        return rf_fail(error, size, "%s: out of memory", t->source);
    for (size_t row = 0, to = 0; row < t->rows; row++) {
        for (size_t j = 0; j < d; j++) {
            if (j == at) {
                snprintf(text, sizeof text, "%.9g", t->reals ? t->reals[row * d + j] : (double)t->bytes[row * d + j]);
                t->label[row] = rfc_names_intern(&t->labels, text);
                if (t->label[row] >= RFC_LABELS_MAX)
                    return rf_fail(
                        error, size,
                        "%s: row %zu: label %s: more than 256 distinct labels; wrong --label column?",
                        t->source, row + 1, text);
            } else if (t->reals) {
                t->reals[to++] = t->reals[row * d + j];
            } else {
                t->bytes[to++] = t->bytes[row * d + j];
            }
        }
    }
    t->features--;
    t->height = t->width = 0;
    return 0;
}

/* ---- One file, or a file and its labels ---- */

static int load_array(const char *path, const char *labels, const char *column, const rfc_table *like, rfc_table *t,
                      char *error, size_t size)
{
    tables_array array;
    tables_stream *s = open_array(path, &array, error, size);
    int status = s ? tables_array_rows(&array, s, t, error, size) : -1;
    tables_stream_close(s);
    if (status == 0 && !labels && like && (t->features == like->features || array.dimensions > 2))
        return rfc_table_unlabel(t) < 0 ? rf_fail(error, size, "%s: out of memory", path) : 0;
    if (status == 0 && !labels && !column && array.dimensions > 2)
        return rf_fail(error, size, "%s: has images and no labels; give their file with --train-labels", path);
    if (status < 0 || !labels)
        return status < 0 ? status : split_label(t, column, error, size);
    s = open_array(labels, &array, error, size);
    status = s ? tables_array_labels(&array, s, t->rows, t, error, size) : -1;
    tables_stream_close(s);
    return status;
}

/* train-images-idx3-ubyte.gz → train-labels-idx1-ubyte.gz. Returns whether that file exists. */
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

static const char *const row_names[2][10] = {
    {"x_train", "X_train", "train_images", "train_x", "x", "X", "data", "images", "features", NULL},
    {"x_test", "X_test", "test_images", "test_x", NULL}};
static const char *const label_names[2][10] = {
    {"y_train", "Y_train", "train_labels", "train_y", "y", "Y", "target", "labels", "label", NULL},
    {"y_test", "Y_test", "test_labels", "test_y", NULL}};

/* Opens the array with the first of `names` found and reads its header. NULL on failure: `error` is empty if there
   is no such array, else it says what is wrong with the archive. */
static tables_stream *open_named(const tables_archive *archive, const char *const names[], tables_array *array,
                                 char *error, size_t size)
{
    tables_stream *s = tables_archive_find(archive, names, error, size);
    if (s && tables_array_npy(s, array, error, size) == 0)
        return s;
    tables_stream_close(s);
    return NULL;
}

static int load_half(const tables_archive *archive, const char *path, int half, const rfc_table *like, rfc_table *t,
                     char *error, size_t size)
{
    tables_array array;
    tables_stream *s = open_named(archive, row_names[half], &array, error, size);
    if (!s)
        return error[0] ? -1 : 1;
    int status = tables_array_rows(&array, s, t, error, size);
    tables_stream_close(s);
    if (status < 0)
        return -1;
    s = open_named(archive, label_names[half], &array, error, size);
    if (!s && !error[0] && like)
        return rfc_table_unlabel(t) < 0 ? rf_fail(error, size, "%s: out of memory", path) : 0;
    if (!s)
        return error[0] ? -1 : rf_fail(error, size, "%s: has no labels: no array called y or labels", path);
    status = tables_array_labels(&array, s, t->rows, t, error, size);
    tables_stream_close(s);
    return status;
}

/* One half of an archive (0: train, 1: test). Returns 0, 1 if it is missing, or -1 with a message. */
static int load_archive(const char *path, int half, const rfc_table *like, rfc_table *t, char *error, size_t size)
{
    tables_archive *archive = tables_archive_open(path, error, size);
    int status = archive ? load_half(archive, path, half, like, t, error, size) : -1;
    tables_archive_close(archive);
    return status;
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

/* `like`: the table that the objects must match; null for training data. */
static int load_file(const char *path, const char *labels, const tables_source *source, const rfc_table *like,
                     rfc_table *t, char *error, size_t size)
{
    char sibling[4096], input[32] = "";
    if (strcmp(path, "-") == 0) {
        int status = keep_input(input, sizeof input, error, size);
        if (status == 0)
            status = tables_load_csv(input, source, like, t, error, size);
        snprintf(t->source, sizeof t->source, "standard input");
        if (status < 0 && strncmp(error, input, strlen(input)) == 0) {
            char rest[512];
            snprintf(rest, sizeof rest, "%s", error + strlen(input));
            rf_fail(error, size, "%s%s", t->source, rest);
        }
        return status;
    }
    if (has_ending(path, ".npz")) {
        int status = load_archive(path, 0, like, t, error, size);
        return status == 1
                   ? rf_fail(error, size, "%s: has no array called x, X, data, images, features or x_train", path)
                   : status;
    }
    if (is_csv(path) && labels)
        return rf_fail(error, size, "%s: a CSV file has its labels in a column; give it with --label", path);
    if (is_csv(path) || (!labels && !is_npy(path) && has_text(path)))
        return tables_load_csv(path, source, like, t, error, size);
    if (!labels && !is_npy(path) && sibling_labels(path, sibling, sizeof sibling))
        labels = sibling;
    return load_array(path, labels, source->label, like, t, error, size);
}

/* ---- Whole data sets ---- */

static int load_directory(const char *directory, const char *half, rfc_table *t, char *error, size_t size)
{
    static const char *const forms[] = {"%s/%s-images-idx3-ubyte.gz", "%s/%s-images-idx3-ubyte",
                                        "%s/%s-images.idx3-ubyte", "%s/%s-images.idx3-ubyte.gz", NULL};
    char images[4096], labels[4096];
    for (size_t i = 0; forms[i]; i++) {
        int length = snprintf(images, sizeof images, forms[i], directory, half);
        if (length < 0 || (size_t)length >= sizeof images || access(images, R_OK) != 0)
            continue;
        if (!sibling_labels(images, labels, sizeof labels))
            return rf_fail(error, size, "%s: has no file of labels beside it", images);
        return load_array(images, labels, NULL, NULL, t, error, size);
    }
    return rf_fail(error, size, "%s: has no file %s-images-idx3-ubyte, nor one with .gz", directory, half);
}

static int load_data(const tables_source *source, rfc_table *train, rfc_table *test, char *error, size_t size)
{
    struct stat about;
    if (strcmp(source->data, "synthetic") == 0) {
        int status = rfc_synthetic(source->seed, 0, TABLES_SYNTHETIC_TRAIN, train, error, size);
        return status == 0
                   ? rfc_synthetic(source->seed, TABLES_SYNTHETIC_TRAIN, TABLES_SYNTHETIC_TEST, test, error, size)
                   : status;
    }
    if (stat(source->data, &about) == 0 && S_ISDIR(about.st_mode)) {
        int status = load_directory(source->data, "train", train, error, size);
        return status == 0 ? load_directory(source->data, "t10k", test, error, size) : status;
    }
    int status = load_file(source->data, NULL, source, NULL, train, error, size);
    if (status == 0 && has_ending(source->data, ".npz"))
        status = load_archive(source->data, 1, train, test, error, size) < 0 ? -1 : 0;
    return status;
}

int tables_load_objects(const tables_source *source, const char *path, const char *labels, const rfc_table *like,
                        rfc_table *t, char *error, size_t size)
{
    memset(t, 0, sizeof *t);
    int status = load_file(path, labels, source, like, t, error, size);
    if (status == 0 && t->features != like->features)
        status = rf_fail(error, size, "%s: has %u features, but %s has %u", t->source, t->features, like->source,
                         like->features);
    if (status < 0)
        rfc_table_free(t);
    return status;
}

int tables_load(const tables_source *source, rfc_table *train, rfc_table *test, char *error, size_t size)
{
    int status;
    memset(train, 0, sizeof *train);
    memset(test, 0, sizeof *test);
    if (source->data) {
        status = load_data(source, train, test, error, size);
    } else {
        status = load_file(source->train, source->train_labels, source, NULL, train, error, size);
        if (status == 0 && source->test)
            status = load_file(source->test, source->test_labels, source, train, test, error, size);
    }
    if (status == 0 && test->rows > 0 && test->features != train->features)
        status = rf_fail(error, size, "%s: has %u features, but %s has %u", test->source, test->features, train->source,
                         train->features);
    if (status < 0) {
        rfc_table_free(train);
        rfc_table_free(test);
    }
    return status;
}
