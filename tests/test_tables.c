/* Tables from files and generated ones: numbers to bytes, labels to classes; and failing allocations anywhere
   between a file and its answers. */
#define _XOPEN_SOURCE 700
#include "directory.h"

#include <math.h>

#include "allocations.h"
#include "knn.h"
#include "table.h"
#include "tables/load.h"

/* ---- Files ---- */

static void refused(const tables_source *source, const char *says)
{
    rfc_table train, test;
    char error[400] = "";
    if (tables_load(source, &train, &test, error, sizeof error) == 0 || !strstr(error, says))
        fail_msg("'%s', not '%s'", error, says);
    assert_true(train.rows == 0 && !train.bytes && !train.reals && !train.label);
}

/* A directory with MNIST's files, here of two images with two pixels. */
static void a_directory_of_images(void **state)
{
    (void)state;
    const char images[] = "\0\0\x8\3\0\0\0\2\0\0\0\1\0\0\0\2\1\2\3\4", labels[] = "\0\0\x8\1\0\0\0\2\7\4";
    const char *const names[] = {"train-images-idx3-ubyte", "t10k-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"};
    const tables_source source = {.data = directory};
    rfc_table train, test;
    char error[400] = "";
    refused(&source, "has no file train-images-idx3-ubyte");
    for (int k = 0; k < 2; k++)
        write_file(in_directory(names[k]), images, sizeof images - 1);
    refused(&source, "has no file of labels beside it");
    for (int k = 2; k < 4; k++)
        write_file(in_directory(names[k]), labels, sizeof labels - 1);
    assert_int_equal(tables_load(&source, &train, &test, error, sizeof error), 0);
    for (const rfc_table *t = &train; t; t = t == &train ? &test : NULL) {
        assert_true(t->rows == 2 && t->height == 1 && t->width == 2 && memcmp(t->bytes, "\1\2\3\4", 4) == 0);
        assert_string_equal(t->labels.text[t->label[0]], "7");
        assert_string_equal(t->labels.text[t->label[1]], "4");
    }
    rfc_table_free(&train);
    rfc_table_free(&test);
    assert_int_equal(tables_load(&(tables_source){.train = in_directory(names[0])}, &train, &test, error, sizeof error), 0); /* also alone */
    assert_string_equal(train.labels.text[train.label[0]], "7");
    rfc_table_free(&train);
    for (int k = 0; k < 4; k++)
        remove(in_directory(names[k]));
}

static void label_columns(void **state)
{
    (void)state;
    const char text[] = "\"one\",two\n1 ,2\n3 ,4\n";
    rfc_table train, test;
    char error[400] = "", name[40];
    const char array_text[] = "\0\0\x8\2\0\0\0\2\0\0\0\2\1\2\3\4";
    const char *array = write_file(in_directory("a.idx"), array_text, sizeof array_text - 1), *csv = write_file(in_directory("a.csv"), text, sizeof text - 1);
    refused(&(tables_source){.train = array, .label = "9"}, "has no column '9'; they are numbered 0 to 1");
    refused(&(tables_source){.train = csv, .train_labels = array}, "a CSV file has its labels in a column");
    refused(&(tables_source){.train = csv, .label = "colour"}, "has no column 'colour'");
    for (int k = 0; k < 2; k++) { /* by number, or by name */
        assert_int_equal(tables_load(&(tables_source){.train = csv, .label = k ? "one" : "0"}, &train, &test, error, sizeof error), 0);
        assert_true(train.rows == 2 && train.features == 1 && train.bytes[0] == 2 && train.bytes[1] == 4);
        assert_string_equal(train.labels.text[train.label[1]], "3");
        assert_string_equal(rfc_table_feature(&train, 0, name, sizeof name), "two");
        rfc_table_free(&train);
    }
    remove(array);
    remove(csv);
}

static void integers_have_signs(void **state)
{
    (void)state;
    const struct { unsigned char code; int bytes; } kinds[] = {{9, 1}, {11, 2}, {12, 4}};
    const int values[] = {-2, 1, 3, -1}; /* two rows, whose last number is the label */
    for (size_t k = 0; k < 3; k++) {
        unsigned char text[12 + 16] = {0, 0, kinds[k].code, 2, 0, 0, 0, 2, 0, 0, 0, 2};
        for (int i = 0, at = 12; i < 4; i++)
            for (int b = kinds[k].bytes; b-- > 0;)
                text[at++] = (unsigned char)((unsigned)values[i] >> 8 * b);
        const char *path = write_file(in_directory("signs"), (const char *)text, 12 + 4 * (size_t)kinds[k].bytes);
        rfc_table train, test;
        char error[400] = "";
        assert_int_equal(tables_load(&(tables_source){.train = path}, &train, &test, error, sizeof error), 0);
        assert_true(train.rows == 2 && train.features == 1 && train.reals);
        check_within(train.reals[0], -2, 0);
        check_within(train.reals[1], 3, 0);
        assert_string_equal(train.labels.text[train.label[1]], "-1");
        rfc_table_free(&train);
        remove(path);
    }
}

static int is_odd(const void *context, uint32_t row) { return !context && row % 2; }

/* More rows than there is room for at first, with missing and fractional numbers: row i has i, i + ½ or nothing. */
static void missing_numbers_stay_missing(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    char text[20 * ROWS], error[400] = "";
    size_t length = 0;
    for (int i = 0; i < ROWS; i++) {
        char half[20];
        snprintf(half, sizeof half, "%d.5", i);
        length += (size_t)snprintf(text + length, sizeof text - length, "%d,%s,%s\n", i, i % 3 ? half : "", i % 2 ? "a" : "b");
    }
    const char *path = write_file(in_directory("a.csv"), text, length);
    rfc_table table = {0};
    assert_int_equal(tables_load_csv(path, &(tables_source){0}, NULL, &table, error, sizeof error), 0);
    assert_true(table.rows == ROWS && table.features == 2 && table.reals && table.missing);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(table.missing[2 * i], 0);
        assert_int_equal(table.missing[2 * i + 1], i % 3 == 0);
        check_within(table.reals[2 * i], i, 0);
        check_within(table.reals[2 * i + 1], i % 3 ? i + 0.5 : 0, 0);
    }
    rfc_table_keep(&table, is_odd, NULL);
    assert_int_equal(table.rows, ROWS / 2);
    for (uint32_t i = 0; i < ROWS / 2; i++) {
        check_within(table.reals[2 * i], 2 * i + 1, 0);
        assert_int_equal(table.missing[2 * i + 1], (2 * i + 1) % 3 == 0);
    }
    rfc_table_free(&table);
    remove(path);
}

static rfc_table small_table(uint32_t rows, int has_missing)
{
    rfc_table t = {.rows = rows, .room = rows, .features = 2, .bytes = malloc(2 * rows), .label = calloc(rows, sizeof *t.label)};
    test_bytes(t.bytes, 2 * rows, rows);
    if (has_missing) {
        t.missing = calloc(rows, 2);
        t.missing[1] = 1;
    }
    return t;
}

/* Rows of the second table come after those of the first; missing numbers of both stay missing. */
static void tables_are_joined(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        rfc_table a = small_table(3, k & 1), b = small_table(4, k & 2), first = small_table(3, 0), second = small_table(4, 0);
        char error[200];
        assert_int_equal(rfc_table_append(&a, &b, error, sizeof error), 0);
        assert_true(a.rows == 7 && b.rows == 0 && !b.bytes);
        assert_memory_equal(a.bytes, first.bytes, 6);
        assert_memory_equal(a.bytes + 6, second.bytes, 8);
        assert_int_equal(a.missing != NULL, k > 0);
        for (int i = 0; i < 14 && a.missing; i++)
            assert_int_equal(a.missing[i], (i == 1 && k & 1) || (i == 7 && k & 2));
        rfc_table_free(&a);
        rfc_table_free(&first);
        rfc_table_free(&second);
    }
}

static void synthetic_digits_are_a_function_of_their_number(void **state)
{
    (void)state;
    rfc_table all = {0}, tail = {0};
    char error[200];
    assert_int_equal(rfc_synthetic(5, 0, 30, &all, error, sizeof error), 0);
    assert_int_equal(rfc_synthetic(5, 20, 10, &tail, error, sizeof error), 0);
    assert_memory_equal(all.bytes + 20 * 784, tail.bytes, 10 * 784);
    assert_memory_not_equal(all.bytes, all.bytes + 10 * 784, 784); /* not twice the same digit 0 */
    rfc_table_free(&all);
    rfc_table_free(&tail);
}

/* ---- Scales ---- */

/* `rows` rows of reals: feature 0 is roughly normal with width 1e-4, feature 1 has width 1e6; both have outliers. */
static rfc_table wild_table(uint32_t rows)
{
    rfc_table t = {.rows = rows, .room = rows, .features = 2};
    uint64_t seed = 9;
    t.reals = malloc((size_t)rows * 2 * sizeof *t.reals);
    t.label = calloc(rows, sizeof *t.label);
    assert_non_null(t.reals);
    for (uint32_t i = 0; i < rows; i++)
        for (int j = 0; j < 2; j++) {
            double sum = 0;
            for (int k = 0; k < 12; k++)
                sum += test_uniform(&seed, -.5, .5);
            t.reals[2 * i + (uint32_t)j] = i % 100 == 0 ? 1e20 : sum * (j ? 1e6 : 1e-4);
        }
    return t;
}

static void wild_values_do_not_set_the_scale(void **state)
{
    (void)state;
    rfc_table train = wild_table(2000), test = {0};
    rfc_scaling used;
    char error[200];
    assert_int_equal(rfc_scale(&train, &test, RFC_SCALE_AUTO, &used, error, sizeof error), 0);
    assert_int_equal(used, RFC_SCALE_EACH);
    assert_null(train.reals);
    for (unsigned j = 0; j < 2; j++) {
        double sum = 0, squares = 0;
        for (unsigned i = 0; i < 2000; i++) {
            double x = train.bytes[2 * i + j];
            sum += i % 100 ? x : 0;
            squares += i % 100 ? x * x : 0;
            assert_true(i % 100 || x >= 252); /* one in a hundred shares the last ranks */
        }
        double mean = sum / 1980, sd = sqrt(squares / 1980 - mean * mean);
        check_within(mean, 126, 1.5);
        check_within(sd, 252 / sqrt(12), 1.5); /* ranks are uniform */
    }
    rfc_table_free(&train);
}

/* Two small classes beyond all others have ranks of their own. Without labels they share the last ones. */
static void small_classes_have_ranks(void **state)
{
    (void)state;
    for (int is_known = 0; is_known < 2; is_known++) {
        rfc_table train = wild_table(2000), test = {0};
        rfc_scaling used;
        char error[200];
        for (uint32_t i = 0; i < 2000; i++) {
            train.label[i] = !is_known ? RFC_NO_LABEL : i % 200 == 0 ? 1 : i % 200 == 1 ? 2 : 0;
            train.reals[2 * i] = i % 200 == 0 ? 5 : i % 200 == 1 ? 9 : i / 2000.0;
            train.reals[2 * i + 1] = 1000 * train.reals[2 * i];
        }
        assert_int_equal(rfc_scale(&train, &test, RFC_SCALE_EACH, &used, error, sizeof error), 0);
        const int apart = train.bytes[2] - train.bytes[0], last = train.bytes[2 * 1999];
        assert_true(is_known ? apart > 18 && train.bytes[0] - last > 8 : apart < 4); /* a twelfth of the ranks each */
        rfc_table_free(&train);
    }
}

/* Values that differ by less than a float tells: ranks of the numbers themselves. */
static void large_numbers_are_told_apart(void **state)
{
    (void)state;
    rfc_table train = wild_table(2000), test = {0};
    rfc_scaling used;
    char error[200];
    for (uint32_t i = 0; i < 2000; i++) {
        train.reals[2 * i] = 1.7e9 + i % 50;
        train.reals[2 * i + 1] = i % 50;
    }
    assert_int_equal(rfc_scale(&train, &test, RFC_SCALE_AUTO, &used, error, sizeof error), 0);
    assert_int_equal(used, RFC_SCALE_EACH);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(train.bytes[2 * i], train.bytes[2 * i + 1]);
    assert_true(train.bytes[2 * 49] > train.bytes[2 * 48] + 2);
    rfc_table_free(&train);
}

/* A few values of a feature are a million times as large: they do not set the scale of all. */
static void outliers_are_ranked(void **state)
{
    (void)state;
    for (unsigned outliers = 0; outliers < 2; outliers++) {
        rfc_table train = wild_table(2000), test = {0};
        rfc_scaling used;
        char error[200];
        for (uint32_t i = 0; i < 4000; i++)
            train.reals[i] = (i * 7 % 1000) * (outliers && i % 100 == 0 ? 1e6 : 1);
        assert_int_equal(rfc_scale(&train, &test, RFC_SCALE_AUTO, &used, error, sizeof error), 0);
        assert_int_equal(used, outliers ? RFC_SCALE_EACH : RFC_SCALE_SHARED);
        rfc_table_free(&train);
    }
}

/* A rare value among equal ones stays visible, with one map per feature and with one for all. */
static void rare_values_show(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rfc_table train = wild_table(2000), test = {0};
        rfc_scaling used;
        char error[200];
        for (uint32_t i = 0; i < 2000; i++) {
            train.reals[2 * i] = 5; /* constant */
            train.reals[2 * i + 1] = i == 700 ? 6 : 5;
        }
        assert_int_equal(rfc_scale(&train, &test, k ? RFC_SCALE_SHARED : RFC_SCALE_AUTO, &used, error, sizeof error), 0);
        assert_int_equal(used, k ? RFC_SCALE_SHARED : RFC_SCALE_EACH);
        assert_true(train.bytes[0] == train.bytes[1400] && train.bytes[1] == train.bytes[1399]);
        assert_int_equal(train.bytes[1401], 255);
        assert_true(train.bytes[1] <= 128);
        rfc_table_free(&train);
    }
}

static void bytes_of_images_stay(void **state)
{
    (void)state;
    rfc_table train = {.rows = 3, .room = 3, .features = 4, .height = 2, .width = 2}, test = {0};
    rfc_scaling used;
    char error[200];
    const uint8_t values[12] = {0, 1, 2, 200, 4, 5, 6, 7, 8, 9, 10, 11};
    train.bytes = malloc(12);
    assert_non_null(train.bytes);
    memcpy(train.bytes, values, 12);
    assert_int_equal(rfc_scale(&train, &test, RFC_SCALE_AUTO, &used, error, sizeof error), 0);
    assert_int_equal(used, RFC_SCALE_SHARED);
    assert_memory_equal(train.bytes, values, 12);
    rfc_table_free(&train);
}

/* ---- Tasks ---- */

static void tasks_refuse(void **state)
{
    (void)state;
    char classes[4000] = "", labels[4000] = "", error[400];
    for (size_t i = 0, c = 0, l = 0; i <= RFC_LABELS_MAX; i++) {
        c += (size_t)snprintf(classes + c, sizeof classes - c, "%zu:c%zu ", i, i);
        l += (size_t)snprintf(labels + l, sizeof labels - l, "%zu%s", i, i < RFC_LABELS_MAX ? "," : ":a");
    }
    const char *const bad[][2] = {{"0:a 1:a", "class 'a' is there twice"}, {"0:a 0:b", "label '0' is in two classes"},
                                  {"0:", "is not LABEL,...:CLASS"},        {"0:a", "has 1 class"},
                                  {classes, "more than 256 classes"},      {labels, "more than 256 labels"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        rfc_task task;
        assert_int_equal(rfc_task_parse(NULL, bad[k][0], &task, error, sizeof error), -1);
        if (!strstr(error, bad[k][1]))
            fail_msg("'%s', not '%s'", error, bad[k][1]);
    }
}

/* ---- Running out of memory ---- */

char *__wrap_strdup(const char *text);
FILE *__real_fdopen(int file, const char *mode);
FILE *__wrap_fdopen(int file, const char *mode);

char *__wrap_strdup(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}
FILE *__wrap_fdopen(int file, const char *mode) { return runs_out(&allocations_left) ? NULL : __real_fdopen(file, mode); }

static int learn_and_ask(const rfc_table *train, uint32_t classes, char *error, size_t size)
{
    rfc_objects objects = {train, NULL, train->rows};
    uint32_t nearest[100];
    const uint8_t mask[100] = {1};
    rf_knn_set set = {train->bytes, NULL, train->rows, train->features};
    const uint32_t whole = train->missing ? 2 : train->rows; /* rows without missing values come first */
    rfc_training *training = rfc_training_open(train, NULL, whole, classes, 1, error, size);
    if (!training)
        return -1;
    int status = 0;
    for (int k = 0; k < 4 && status == 0; k++) {
        rfc_rules rules = rfc_rules_default(k < 2 ? RFC_WEIGHTED : RFC_PAPER, training);
        uint8_t decided[100];
        float posterior[1000];
        uint32_t *asked[100] = {NULL}, queries[100] = {0};
        rfc_outcome outcome = {.decided = decided, .posterior = posterior, .asked = asked, .queries = queries};
        rfc_answer answer;
        rules.mask = k % 2 ? mask : NULL;
        status = rfc_classify(training, &rules, &objects, 2, NULL, NULL, &outcome, error, size);
        if (status == 0)
            status = rfc_classify_one(training, &rules, &objects, 0, &answer, error, size);
        if (status == 0) {
            assert_true(answer.decided == decided[0] && answer.queries == queries[0]);
            assert_memory_equal(answer.asked, asked[0], answer.queries * sizeof *answer.asked);
            assert_memory_equal(answer.posterior, posterior, classes * sizeof *posterior);
            rfc_answer_free(&answer);
        }
        for (uint32_t i = 0; i < train->rows; i++)
            free(asked[i]);
    }
    if (status == 0)
        status = rf_knn(&set, &set, mask, 1, 2, nearest, NULL, NULL, error, size);
    rfc_training_close(training);
    return status;
}

/* From a file to answers. Returns 0, or -1 with a message. */
static int whole_way(const char *path, char *error, size_t size)
{
    tables_source source = {.train = path};
    rfc_table train, test;
    rfc_task task;
    rfc_scaling used;
    uint64_t left_out = 0;
    int status = tables_load(&source, &train, &test, error, size);
    if (status == 0 && (status = rfc_task_parse("labels", NULL, &task, error, size)) == 0) {
        status = rfc_task_apply(&task, &train, &test, &left_out, error, size);
        if (status == 0)
            status = rfc_scale(&train, &test, RFC_SCALE_AUTO, &used, error, size);
        if (status == 0)
            status = learn_and_ask(&train, task.classes.count, error, size);
        rfc_task_free(&task);
    }
    rfc_table_free(&train);
    rfc_table_free(&test);
    return status;
}

/* Whichever allocation or thread fails: a message, and nothing is leaked. */
static void running_out_of_memory(void **state)
{
    (void)state;
    const char *const files[] = {"csv/header", "csv/quoted", "idx/shorts", "idx/floats"};
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        char from[1000], bytes[4096];
        snprintf(from, sizeof from, RF_TEST_DATA_DIR "/../../tests/fuzz/corpus/%s", files[k]);
        const size_t count = read_file(from, bytes, sizeof bytes);
        const char *path = write_file(in_directory("table"), bytes, count);
        const int memory = held;
        for (int which = 0; which < 2; which++) {
            atomic_int *left = which ? &threads_left : &allocations_left;
            int status = -1;
            for (int enough = 0; status < 0; enough++) {
                char error[200] = "";
                *left = enough;
                status = whole_way(path, error, sizeof error);
                *left = -1;
                if (held != memory || (status < 0) != (error[0] != '\0'))
                    fail_msg("%s, %d to be had: %d not freed, message '%s'", files[k], enough, held - memory, error);
                assert_true(enough < 10000);
            }
        }
        remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_of_images),
        cmocka_unit_test(label_columns),
        cmocka_unit_test(integers_have_signs),
        cmocka_unit_test(missing_numbers_stay_missing),
        cmocka_unit_test(tables_are_joined),
        cmocka_unit_test(synthetic_digits_are_a_function_of_their_number),
        cmocka_unit_test(wild_values_do_not_set_the_scale),
        cmocka_unit_test(small_classes_have_ranks),
        cmocka_unit_test(large_numbers_are_told_apart),
        cmocka_unit_test(outliers_are_ranked),
        cmocka_unit_test(rare_values_show),
        cmocka_unit_test(bytes_of_images_stay),
        cmocka_unit_test(tasks_refuse),
        cmocka_unit_test(running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
