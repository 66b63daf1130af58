/* The cloud's parts: kernels, nearest neighbours, scales, tasks, filters; and all of them when memory runs out. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <unistd.h>
#include <zlib.h>

#include "testing.h"

#include "allocations.h"
#include "kernel.h"
#include "knn.h"
#include "knn_kernel.h"
#include "load.h"
#include "rejfilt/host.h"
#include "sweep.h"
#include "scale.h"
#include "task.h"

extern const rf_cloud_kernel rf_cloud_kernel_0, rf_cloud_kernel_1, rf_cloud_kernel_2;
extern rf_knn_dots rf_knn_dots_0, rf_knn_dots_1, rf_knn_dots_2, rf_knn_dots_3;

enum { COUNT = 1000, FEATURES = 77 };

static void fill(uint8_t *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(test_word(&seed) >> 33);
}

/* ---- Kernels ---- */

static void weights_are_powers_of_two(void **state)
{
    (void)state;
    static uint16_t penalty[RF_PENALTY_CLIP];
    static uint32_t weight[RF_PENALTY_CLIP], block[RF_PENALTY_CLIP / RF_BLOCK + 1];
    for (unsigned i = 0; i < RF_PENALTY_CLIP; i++)
        penalty[i] = (uint16_t)(i + 100);
    rf_weighed w = rf_cloud_kernel_0.weigh(penalty, RF_PENALTY_CLIP, 100, 65535, weight, block);
    double sum = 0;
    for (unsigned i = 0; i < RF_PENALTY_CLIP; i++) {
        double exact = exp2(-(double)i / RF_BIT) * RF_WEIGHT_ONE;
        check_within(weight[i], exact, 2 + 0.002 * exact); /* the last unit of the penalty is half of that */
        sum += weight[i];
    }
    check_within((double)w.sum, sum, 0);
    assert_int_equal(rf_cloud_kernel_0.within(penalty, RF_PENALTY_CLIP, 100, 5 * RF_BIT), 5 * RF_BIT + 1);
}

static void instruction_sets_agree(void **state)
{
    (void)state;
    const rf_cloud_kernel *kernels[RF_ISA_COUNT] = {&rf_cloud_kernel_0, &rf_cloud_kernel_1, &rf_cloud_kernel_2};
    uint8_t x[COUNT];
    fill(x, COUNT, 1);
    for (unsigned isa = 1; isa <= (unsigned)rf_isa_best(); isa++) {
        uint16_t penalty[2][COUNT], sum[2][2 * COUNT] = {{0}}, squares[2][2 * COUNT] = {{0}};
        uint32_t weight[2][COUNT], block[2][COUNT / RF_BLOCK + 1], wide[2][COUNT] = {{0}}, square[2][COUNT] = {{0}};
        rf_weighed out[2];
        uint32_t within[2];
        uint16_t base[2];
        for (int side = 0; side < 2; side++) {
            const rf_cloud_kernel *k = kernels[side ? isa : 0];
            memset(penalty[side], 0, sizeof penalty[side]);
            base[side] = 0;
            for (unsigned step = 0; step < 6; step++) {
                rf_evidence e = {0, (uint8_t)(step * 51), (uint8_t)(step % 3), (uint16_t)(9000 + 9000 * step)};
                base[side] = k->update(x, COUNT, e, base[side], penalty[side]);
            }
            out[side] = k->weigh(penalty[side], COUNT, base[side], 40000, weight[side], block[side]);
            within[side] = k->within(penalty[side], COUNT, base[side], 9999);
            k->add_levels(x, COUNT, 3, sum[side]);
            k->add_level_squares(x, COUNT, 3, squares[side]);
            k->add_squares(x, COUNT, 5, wide[side], square[side]);
        }
        assert_memory_equal(penalty[0], penalty[1], sizeof penalty[0]);
        assert_memory_equal(weight[0], weight[1], sizeof weight[0]);
        assert_memory_equal(block[0], block[1], sizeof block[0]);
        assert_memory_equal(sum[0], sum[1], sizeof sum[0]);
        assert_memory_equal(squares[0], squares[1], sizeof squares[0]);
        assert_memory_equal(square[0], square[1], sizeof square[0]);
        assert_int_equal(base[0], base[1]);
        assert_true(out[0].sum == out[1].sum && out[0].squares == out[1].squares && within[0] == within[1]);
    }
}

static void a_penalty_is_the_exponent_of_the_likelihood(void **state)
{
    (void)state;
    uint8_t x[256];
    uint16_t penalty[256] = {0};
    double sigma = 30;
    for (int i = 0; i < 256; i++)
        x[i] = (uint8_t)i;
    rf_evidence e = {0, 128, 0, (uint16_t)(RF_BIT * 1.4426950408889634 / (2 * sigma * sigma) * 65536)};
    rf_cloud_kernel_0.update(x, 256, e, 0, penalty);
    for (int i = 0; i < 256; i++)
        check_within(penalty[i], fmin(RF_BIT * 1.4426950408889634 * (i - 128) * (i - 128) / (2 * sigma * sigma), 8 * RF_BIT), 1.5);
}

/* ---- Nearest neighbours ---- */

static void neighbours_are_the_nearest(void **state)
{
    (void)state;
    enum { QUERIES = 29, K = 7 };
    static uint8_t train[COUNT * FEATURES], queries[QUERIES * FEATURES], mask[FEATURES];
    uint32_t nearest[QUERIES * K];
    char error[200];
    fill(train, sizeof train, 2);
    fill(queries, sizeof queries, 3);
    memcpy(train + 500 * FEATURES, train + 20 * FEATURES, FEATURES); /* equal distances */
    for (unsigned f = 0; f < FEATURES; f++)
        mask[f] = f % 3 != 0;
    rf_knn_set a = {train, NULL, COUNT, FEATURES}, b = {queries, NULL, QUERIES, FEATURES};
    for (int masked = 0; masked < 2; masked++) {
        assert_int_equal(rf_knn(&a, &b, masked ? mask : NULL, K, 2, nearest, NULL, NULL, error, sizeof error), 0);
        for (unsigned q = 0; q < QUERIES; q++) {
            long before = -1;
            for (unsigned i = 0; i < K; i++) {
                long best = -1;
                unsigned who = 0;
                for (unsigned v = 0; v < COUNT; v++) {
                    long distance = 0;
                    for (unsigned f = 0; f < FEATURES; f++) {
                        long off = train[v * FEATURES + f] - queries[q * FEATURES + f];
                        distance += masked && !mask[f] ? 0 : off * off;
                    }
                    int later = distance > before || (distance == before && v > nearest[q * K + i - 1]);
                    if (later && (best < 0 || distance < best)) {
                        best = distance;
                        who = v;
                    }
                }
                assert_int_equal(nearest[q * K + i], who);
                before = best;
            }
        }
    }
}

static void products_agree(void **state)
{
    (void)state;
    rf_knn_dots *dots[] = {rf_knn_dots_0, rf_knn_dots_1, rf_knn_dots_2, rf_knn_dots_3};
    enum { GROUPS = 9 };
    uint8_t panel[GROUPS * 4 * RF_KNN_LANES], bytes[RF_KNN_ROWS * GROUPS * 4];
    int8_t query[RF_KNN_ROWS * GROUPS * 4];
    int32_t got[RF_KNN_ROWS * RF_KNN_LANES];
    fill(panel, sizeof panel, 4);
    fill(bytes, sizeof bytes, 5);
    memcpy(query, bytes, sizeof query);
    unsigned most = (unsigned)rf_isa_best() + (rf_isa_best() == RF_ISA_AVX512 && RF_CPU_HAS("avx512vnni"));
    for (unsigned isa = 0; isa <= most; isa++) {
        dots[isa](panel, query, GROUPS, got);
        for (int q = 0; q < RF_KNN_ROWS; q++)
            for (int v = 0; v < RF_KNN_LANES; v++) {
                int32_t exact = 0;
                for (int f = 0; f < GROUPS * 4; f++)
                    exact += panel[f / 4 * 4 * RF_KNN_LANES + 4 * v + f % 4] * query[q * GROUPS * 4 + f];
                assert_int_equal(got[q * RF_KNN_LANES + v], exact);
            }
    }
}

static void votes(void **state)
{
    (void)state;
    const uint32_t class_of[] = {0, 1, 1, 2, 0}, nearest[] = {3, 1, 4, 2, 0};
    assert_int_equal(rf_knn_vote(nearest, 1, class_of), 2);
    assert_int_equal(rf_knn_vote(nearest, 3, class_of), 2); /* all once: the nearest */
    assert_int_equal(rf_knn_vote(nearest, 4, class_of), 1);
    assert_int_equal(rf_knn_vote(nearest, 5, class_of), 1); /* 1 and 0 twice: 1 is nearer */
}

/* ---- Scales ---- */

/* `rows` rows of reals: feature 0 normal-like of width 1e-4, feature 1 of width 1e6, both with wild values. */
static rf_table wild_table(uint32_t rows)
{
    rf_table t = {.rows = rows, .room = rows, .features = 2};
    uint64_t seed = 9;
    t.reals = malloc((size_t)rows * 2 * sizeof *t.reals);
    t.label = calloc(rows, sizeof *t.label);
    assert_non_null(t.reals);
    for (uint32_t i = 0; i < rows; i++)
        for (int j = 0; j < 2; j++) {
            double sum = 0;
            for (int k = 0; k < 12; k++)
                sum += test_uniform(&seed, -.5, .5);
            t.reals[2 * i + (uint32_t)j] = (float)(i % 100 == 0 ? 1e20 : sum * (j ? 1e6 : 1e-4));
        }
    return t;
}

static void wild_values_do_not_set_the_scale(void **state)
{
    (void)state;
    rf_table train = wild_table(2000), test = {0};
    rf_scaling used;
    char error[200];
    assert_int_equal(rf_scale(&train, &test, RF_SCALE_AUTO, &used, error, sizeof error), 0);
    assert_int_equal(used, RF_SCALE_EACH);
    assert_null(train.reals);
    for (unsigned j = 0; j < 2; j++) {
        double sum = 0, squares = 0;
        for (unsigned i = 0; i < 2000; i++) {
            double x = train.bytes[2 * i + j];
            sum += i % 100 ? x : 0;
            squares += i % 100 ? x * x : 0;
            assert_true(i % 100 || x == 255);
        }
        double mean = sum / 1980, sd = sqrt(squares / 1980 - mean * mean);
        check_within(mean, 128, 5);
        check_within(sd, 43, 6); /* 40 steps for values held within the 5th and 95th percentile */
    }
    rf_table_free(&train);
}

/* A value now and then among equal ones still shows, with one map for each feature and with one for all. */
static void rare_values_show(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rf_table train = wild_table(2000), test = {0};
        rf_scaling used;
        char error[200];
        for (uint32_t i = 0; i < 2000; i++) {
            train.reals[2 * i] = 5; /* always */
            train.reals[2 * i + 1] = i == 700 ? 6 : 5;
        }
        assert_int_equal(rf_scale(&train, &test, k ? RF_SCALE_SHARED : RF_SCALE_AUTO, &used, error, sizeof error), 0);
        assert_int_equal(used, k ? RF_SCALE_SHARED : RF_SCALE_EACH);
        assert_true(train.bytes[0] == train.bytes[1400] && train.bytes[1] == train.bytes[1399]);
        assert_int_equal(train.bytes[1401], 255);
        assert_true(train.bytes[1] <= 128);
        rf_table_free(&train);
    }
}

static void bytes_of_images_stay(void **state)
{
    (void)state;
    rf_table train = {.rows = 3, .room = 3, .features = 4, .height = 2, .width = 2}, test = {0};
    rf_scaling used;
    char error[200];
    const uint8_t values[12] = {0, 1, 2, 200, 4, 5, 6, 7, 8, 9, 10, 11};
    train.bytes = malloc(12);
    assert_non_null(train.bytes);
    memcpy(train.bytes, values, 12);
    assert_int_equal(rf_scale(&train, &test, RF_SCALE_AUTO, &used, error, sizeof error), 0);
    assert_int_equal(used, RF_SCALE_SHARED);
    assert_memory_equal(train.bytes, values, 12);
    rf_table_free(&train);
}

/* ---- Filters ---- */

typedef struct fixture {
    rf_table table;
    rf_training training;
    uint32_t chosen[20000];
} fixture;

/* Two classes, one feature of `features` that tells, of which `apart` says how well. */
static fixture *make(uint32_t rows, uint32_t features, int apart, uint64_t seed)
{
    fixture *f = calloc(1, sizeof *f);
    char error[200];
    assert_non_null(f);
    f->table = (rf_table){.rows = rows, .room = rows, .features = features};
    f->table.bytes = malloc((size_t)rows * features);
    f->table.label = malloc(rows * sizeof *f->table.label);
    for (uint32_t i = 0; i < rows; i++) {
        f->table.label[i] = i % 2;
        f->chosen[i] = i;
        for (uint32_t j = 0; j < features; j++)
            f->table.bytes[i * features + j] =
                (uint8_t)(100 + test_word(&seed) % 60 + (j == 0 && i % 2 ? (unsigned)apart : 0));
    }
    assert_int_equal(rf_training_make(&f->table, f->chosen, rows, 2, 1, &f->training, error, sizeof error), 0);
    return f;
}

static void done(fixture *f)
{
    rf_training_free(&f->training);
    rf_table_free(&f->table);
    free(f);
}

static void a_training_set_is_the_table(void **state)
{
    (void)state;
    fixture *f = make(777, 5, 10, 3);
    const uint8_t mask[5] = {1, 0, 1, 1, 0};
    unsigned char seen[777] = {0};
    rf_training laid;
    assert_int_equal(rf_training_lay(&f->training, 0, mask, &laid), 0);
    assert_int_equal(laid.laid, 3);
    for (uint32_t s = 0; s < f->training.segments; s++)
        for (uint32_t i = f->training.segment[s].begin; i < f->training.segment[s].begin + f->training.segment[s].count;
             i++) {
            uint32_t row = f->training.order[i];
            assert_int_equal(seen[row]++, 0);
            assert_int_equal(f->table.label[row], f->training.segment[s].class);
            for (uint32_t k = 0; k < 3; k++) {
                const uint8_t *sketch = rf_training_sketch(&laid, i);
                uint32_t j = laid.feature[k], level = k < 2 ? sketch[k] & 15u : sketch[k - 2] >> 4u;
                double value = laid.low[k] + (double)laid.step[k] * level;
                assert_true(mask[j]);
                assert_int_equal(rf_training_column(&laid, j)[i], f->table.bytes[row * 5 + j]);
                check_within(value, f->table.bytes[row * 5 + j], 0.5 * (double)laid.step[k] + 1e-4);
            }
        }
    assert_non_null(memchr(seen, 1, sizeof seen));
    assert_null(memchr(seen, 0, sizeof seen));
    rf_training_unlay(&laid);
    done(f);
}

/* One feature, one query: the posterior is that of the Gaussian likelihood with the training set's σ. */
static void the_posterior_is_bayes(void **state)
{
    (void)state;
    fixture *f = make(256, 1, 30, 4); /* as many as draws: each vector is drawn once */
    rf_rules rules = rf_rules_default(RF_WEIGHTED, &f->training);
    rf_objects objects = {&f->table, NULL, 256};
    char error[200];
    rules.least_sample = 1;
    rules.floor = 0;
    for (uint32_t i = 0; i < 256; i += 17) {
        rf_answer a;
        assert_int_equal(rf_run_one(&f->training, &rules, &objects, i, &a, error, sizeof error), 0);
        double weight[2] = {0, 0}, variance = (double)f->training.variance[0];
        for (uint32_t v = 0; v < 256; v++) {
            double off = (double)f->table.bytes[v] - f->table.bytes[i];
            weight[v % 2] += exp(-off * off / (2 * variance));
        }
        assert_int_equal(a.queries, 1);
        check_within(a.posterior[1], weight[1] / (weight[0] + weight[1]), 2e-3);
        check_within(a.story[1], a.posterior[1], 0);
        rf_answer_free(&a);
    }
    done(f);
}

/* With every gain, and on a training set that is larger than the pilot. */
static void both_methods_find_the_feature_that_tells(void **state)
{
    (void)state;
    const struct { rf_method method; rf_gain gain; uint32_t rows; } cases[] = {
        {RF_PAPER, RF_BETWEEN, 3000}, {RF_WEIGHTED, RF_BETWEEN, 3000}, {RF_WEIGHTED, RF_VARIANCE, 3000},
        {RF_WEIGHTED, RF_MUTUAL, 3000}, {RF_WEIGHTED, RF_BETWEEN, 20000}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        fixture *f = make(cases[k].rows, 6, 70, 5);
        rf_objects objects = {&f->table, NULL, 300};
        rf_rules rules = rf_rules_default(cases[k].method, &f->training);
        char error[200];
        rules.gain = cases[k].gain;
        if (cases[k].rows > 16384) { /* decided on the pilot, and looked at again on all */
            rules.stop = 0.2;
            rules.floor = 0;
        }
        uint64_t asked[6] = {0};
        rf_outcome o = {.times_asked = asked};
        assert_int_equal(rf_run(&f->training, &rules, &objects, 2, &o, NULL, NULL, error, sizeof error), 0);
        check_below(o.errors, 3);
        for (unsigned j = 1; j < 6; j++)
            assert_true(asked[0] > asked[j]);
        done(f);
    }
}

/* Far from all training vectors every particle is rejected: the cloud stays, and the run ends by its budget. */
static void nothing_accepted_is_survived(void **state)
{
    (void)state;
    fixture *f = make(500, 2, 1, 6);
    rf_table far = {.rows = 1, .room = 1, .features = 2, .bytes = calloc(2, 1), .label = calloc(1, sizeof *far.label)};
    rf_objects objects = {&far, NULL, 1};
    rf_rules rules = rf_rules_default(RF_PAPER, &f->training);
    rf_answer a;
    char error[200];
    rules.particles = 50;
    rules.budget = 30;
    rules.stop = 0;
    assert_int_equal(rf_run_one(&f->training, &rules, &objects, 0, &a, error, sizeof error), 0);
    assert_int_equal(a.queries, 30);
    check_within(a.posterior[0] + a.posterior[1], 1, 1e-6);
    rf_answer_free(&a);
    rf_table_free(&far);
    done(f);
}

static void a_shuffle_has_every_number_once(void **state)
{
    (void)state;
    uint32_t order[2][500];
    unsigned char seen[500] = {0};
    for (uint32_t k = 0; k < 2; k++)
        rf_shuffle(1, k, RF_FOR_USER, order[k], 500);
    for (unsigned i = 0; i < 500; i++)
        assert_int_equal(seen[order[0][i]]++, 0);
    assert_memory_not_equal(order[0], order[1], sizeof order[0]);
}

static void synthetic_digits_are_a_function_of_their_number(void **state)
{
    (void)state;
    rf_table all = {0}, tail = {0};
    char error[200];
    assert_int_equal(rf_synthetic(5, 0, 30, &all, error, sizeof error), 0);
    assert_int_equal(rf_synthetic(5, 20, 10, &tail, error, sizeof error), 0);
    assert_memory_equal(all.bytes + 20 * 784, tail.bytes, 10 * 784);
    assert_memory_not_equal(all.bytes, all.bytes + 10 * 784, 784); /* two zeros are not the same */
    rf_table_free(&all);
    rf_table_free(&tail);
}

/* ---- Files ---- */

static char directory[] = "/tmp/rejfilt-cloud.XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[8][200];
    static unsigned at;
    char *path = paths[at++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static const char *write_file(const char *name, const void *bytes, size_t count)
{
    const char *path = path_of(name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, count, out), count);
    fclose(out);
    return path;
}

/* The bytes of a file that fuzzing begins with. */
static size_t read_corpus(const char *from, char bytes[4096])
{
    char source[1000];
    snprintf(source, sizeof source, RF_TEST_DATA_DIR "/../../fuzz/corpus/%s", from);
    FILE *in = fopen(source, "rb");
    assert_non_null(in);
    size_t count = fread(bytes, 1, 4096, in);
    fclose(in);
    return count;
}

/* A copy under a name whose ending says what it is. */
static const char *copy_corpus(const char *from, const char *name)
{
    char bytes[4096];
    size_t count = read_corpus(from, bytes);
    return write_file(name, bytes, count);
}

static void refused(const rf_source *source, const char *says)
{
    rf_table train, test;
    char error[400] = "";
    if (rf_load(source, &train, &test, error, sizeof error) == 0 || !strstr(error, says))
        fail_msg("'%s', not '%s'", error, says);
    assert_true(train.rows == 0 && !train.bytes && !train.reals && !train.label);
}

/* Where the bytes `find` are, and `at` further, others are put: one message for each way of being damaged. */
static void damaged_files_are_refused(void **state)
{
    (void)state;
    const struct { const char *from, *name, *find; size_t at; const char *put; size_t bytes; const char *says; } cases[] = {
        {"npz/stored", "a.npz", "PK\5\6", 16, "\1\0\0\0", 4, "no member 0 at byte 1"},
        {"npz/stored", "a.npz", "PK\1\2", 28, "\xff\xff", 2, "the name of member 0"},
        {"npz/stored", "a.npz", "PK\1\2", 24, "\xff\xff\xff\xff", 4, "over 4 GB"},
        {"npz/stored", "a.npz", "PK\1\2", 10, "\x63", 1, "neither stored nor deflated"},
        {"npz/stored", "a.npz", "PK\1\2", 42, "\1\0\0\0", 4, "no member at byte 1"},
        {"npz/stored", "a.npz", "PK\1\2", 20, "\xff\xff\xff\x7f", 4, "the sizes of member"},
        {"npy/doubles", "a.npy", "NUMPY", 7, "\xff\xff", 2, "the header has 65535 bytes"},
        {"npy/doubles", "a.npy", "'shape'", 1, "shade", 5, "without type, order and shape"},
        {"npy/doubles", "a.npy", "(3", 1, "x", 1, "a NumPy shape that cannot be read"},
        {"npy/doubles", "a.npy", "(3, 2)", 0, "(6, 1)", 6, "has one column"},
        {"npy/doubles", "a.npy", "'<f8'", 2, "c", 1, "are not read"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char bytes[4096];
        size_t count = read_corpus(cases[k].from, bytes), at = 0, length = strlen(cases[k].find);
        while (at + length <= count && memcmp(bytes + at, cases[k].find, length) != 0)
            at++;
        assert_true(at + length <= count);
        memcpy(bytes + at + cases[k].at, cases[k].put, cases[k].bytes);
        const rf_source source = {.train = write_file(cases[k].name, bytes, count)};
        refused(&source, cases[k].says);
        remove(source.train);
    }
}

/* A directory with MNIST's files, here of two images with two pixels. */
static void a_directory_of_images(void **state)
{
    (void)state;
    const char images[] = "\0\0\x8\3\0\0\0\2\0\0\0\1\0\0\0\2\1\2\3\4", labels[] = "\0\0\x8\1\0\0\0\2\7\4";
    const char *const names[] = {"train-images-idx3-ubyte", "t10k-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"};
    const rf_source source = {.data = directory};
    rf_table train, test;
    char error[400] = "";
    refused(&source, "has no file train-images-idx3-ubyte");
    for (int k = 0; k < 2; k++)
        write_file(names[k], images, sizeof images - 1);
    refused(&source, "has no file of labels beside it");
    for (int k = 2; k < 4; k++)
        write_file(names[k], labels, sizeof labels - 1);
    assert_int_equal(rf_load(&source, &train, &test, error, sizeof error), 0);
    for (const rf_table *t = &train; t; t = t == &train ? &test : NULL) {
        assert_true(t->rows == 2 && t->height == 1 && t->width == 2 && memcmp(t->bytes, "\1\2\3\4", 4) == 0);
        assert_string_equal(t->labels.text[t->label[0]], "7");
        assert_string_equal(t->labels.text[t->label[1]], "4");
    }
    rf_table_free(&train);
    rf_table_free(&test);
    assert_int_equal(rf_load(&(rf_source){.train = path_of(names[0])}, &train, &test, error, sizeof error), 0); /* and alone */
    assert_string_equal(train.labels.text[train.label[0]], "7");
    rf_table_free(&train);
    for (int k = 0; k < 4; k++)
        remove(path_of(names[k]));
}

static void label_columns(void **state)
{
    (void)state;
    const char text[] = "\"one\",two\n1 ,2\n3 ,4\n";
    rf_table train, test;
    char error[400] = "", name[40];
    const char *array = copy_corpus("npy/doubles", "a.npy"), *csv = write_file("a.csv", text, sizeof text - 1);
    refused(&(rf_source){.train = array, .label = "9"}, "has no column '9'; they are numbered 0 to 1");
    refused(&(rf_source){.train = csv, .train_labels = array}, "a CSV file has its labels in a column");
    refused(&(rf_source){.train = csv, .label = "colour"}, "has no column 'colour'");
    for (int k = 0; k < 2; k++) { /* by its number, or its name */
        assert_int_equal(rf_load(&(rf_source){.train = csv, .label = k ? "one" : "0"}, &train, &test, error, sizeof error), 0);
        assert_true(train.rows == 2 && train.features == 1 && train.bytes[0] == 2 && train.bytes[1] == 4);
        assert_string_equal(train.labels.text[train.label[1]], "3");
        assert_string_equal(rf_table_feature(&train, 0, name, sizeof name), "two");
        rf_table_free(&train);
    }
    remove(array);
    remove(csv);
}

static int is_odd(const void *context, uint32_t row) { return !context && row % 2; }

/* More rows than there is room for at first, with numbers missing and not whole: row i has i, i + ½ or nothing. */
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
    const char *path = write_file("a.csv", text, length);
    rf_table table = {0};
    assert_int_equal(rf_load_csv(path, NULL, &table, error, sizeof error), 0);
    assert_true(table.rows == ROWS && table.features == 2 && table.reals && table.missing);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(table.missing[2 * i], 0);
        assert_int_equal(table.missing[2 * i + 1], i % 3 == 0);
        check_within(table.reals[2 * i], i, 0);
        check_within(table.reals[2 * i + 1], i % 3 ? i + 0.5 : 0, 0);
    }
    rf_table_keep(&table, is_odd, NULL);
    assert_int_equal(table.rows, ROWS / 2);
    for (uint32_t i = 0; i < ROWS / 2; i++) {
        check_within(table.reals[2 * i], 2 * i + 1, 0);
        assert_int_equal(table.missing[2 * i + 1], (2 * i + 1) % 3 == 0);
    }
    rf_table_free(&table);
    remove(path);
}

static rf_table small_table(uint32_t rows, int has_missing)
{
    rf_table t = {.rows = rows, .room = rows, .features = 2, .bytes = malloc(2 * rows), .label = calloc(rows, sizeof *t.label)};
    fill(t.bytes, 2 * rows, rows);
    if (has_missing) {
        t.missing = calloc(rows, 2);
        t.missing[1] = 1;
    }
    return t;
}

/* Rows of the second come after those of the first; whichever of them has numbers that are missing keeps them. */
static void tables_are_joined(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        rf_table a = small_table(3, k & 1), b = small_table(4, k & 2), first = small_table(3, 0), second = small_table(4, 0);
        char error[200];
        assert_int_equal(rf_table_append(&a, &b, error, sizeof error), 0);
        assert_true(a.rows == 7 && b.rows == 0 && !b.bytes);
        assert_memory_equal(a.bytes, first.bytes, 6);
        assert_memory_equal(a.bytes + 6, second.bytes, 8);
        assert_int_equal(a.missing != NULL, k > 0);
        for (int i = 0; i < 14 && a.missing; i++)
            assert_int_equal(a.missing[i], (i == 1 && k & 1) || (i == 7 && k & 2));
        rf_table_free(&a);
        rf_table_free(&first);
        rf_table_free(&second);
    }
}

static void tasks_refuse(void **state)
{
    (void)state;
    char classes[4000] = "", labels[4000] = "", error[400];
    for (size_t i = 0, c = 0, l = 0; i <= RF_LABELS_MAX; i++) {
        c += (size_t)snprintf(classes + c, sizeof classes - c, "%zu:c%zu ", i, i);
        l += (size_t)snprintf(labels + l, sizeof labels - l, "%zu%s", i, i < RF_LABELS_MAX ? "," : ":a");
    }
    const char *const bad[][2] = {{"0:a 1:a", "class 'a' is there twice"}, {"0:a 0:b", "label '0' is in two classes"},
                                  {"0:", "is not LABEL,...:CLASS"},        {"0:a", "has 1 class"},
                                  {classes, "more than 256 classes"},      {labels, "more than 256 labels"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        rf_task task;
        assert_int_equal(rf_task_parse(NULL, bad[k][0], &task, error, sizeof error), -1);
        if (!strstr(error, bad[k][1]))
            fail_msg("'%s', not '%s'", error, bad[k][1]);
    }
}

/* ---- Running out of memory ---- */

char *__wrap_strdup(const char *text);
FILE *__real_fdopen(int file, const char *mode);
FILE *__wrap_fdopen(int file, const char *mode);
gzFile __real_gzdopen(int file, const char *mode);
gzFile __wrap_gzdopen(int file, const char *mode);

char *__wrap_strdup(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}
FILE *__wrap_fdopen(int file, const char *mode) { return runs_out(&allocations_left) ? NULL : __real_fdopen(file, mode); }
gzFile __wrap_gzdopen(int file, const char *mode) { return runs_out(&allocations_left) ? NULL : __real_gzdopen(file, mode); }

static int learn_and_ask(const rf_table *train, uint32_t classes, char *error, size_t size)
{
    rf_training training;
    rf_objects objects = {train, NULL, train->rows};
    uint32_t chosen[100], nearest[100];
    const uint8_t mask[100] = {1};
    rf_knn_set set = {train->bytes, NULL, train->rows, train->features};
    for (uint32_t i = 0; i < train->rows; i++)
        chosen[i] = i;
    int status = rf_training_make(train, chosen, train->rows, classes, 1, &training, error, size);
    if (status < 0)
        return status;
    for (int k = 0; k < 4 && status == 0; k++) {
        rf_rules rules = rf_rules_default(k < 2 ? RF_WEIGHTED : RF_PAPER, &training);
        uint8_t class[100];
        float posterior[1000];
        uint32_t *asked[100] = {NULL}, queries[100] = {0};
        rf_outcome outcome = {.class = class, .posterior = posterior, .asked = asked, .queries = queries};
        rf_answer answer;
        rules.mask = k % 2 ? mask : NULL;
        status = rf_run(&training, &rules, &objects, 2, &outcome, NULL, NULL, error, size);
        if (status == 0)
            status = rf_run_one(&training, &rules, &objects, 0, &answer, error, size);
        if (status == 0) {
            assert_true(answer.class == class[0] && answer.queries == queries[0]);
            assert_memory_equal(answer.asked, asked[0], answer.queries * sizeof *answer.asked);
            assert_memory_equal(answer.posterior, posterior, classes * sizeof *posterior);
            rf_answer_free(&answer);
        }
        for (uint32_t i = 0; i < train->rows; i++)
            free(asked[i]);
    }
    if (status == 0)
        status = rf_knn(&set, &set, mask, 1, 2, nearest, NULL, NULL, error, size);
    rf_training_free(&training);
    return status;
}

/* From a file to answers. Returns 0, or -1 with a message. */
static int whole_way(const char *path, char *error, size_t size)
{
    rf_source source = {.train = path};
    rf_table train, test;
    rf_task task;
    rf_scaling used;
    uint64_t left_out = 0;
    int status = rf_load(&source, &train, &test, error, size);
    if (status == 0 && (status = rf_task_parse("labels", NULL, &task, error, size)) == 0) {
        status = rf_task_apply(&task, &train, &test, &left_out, error, size);
        if (status == 0)
            status = rf_scale(&train, &test, RF_SCALE_AUTO, &used, error, size);
        if (status == 0)
            status = learn_and_ask(&train, task.classes.count, error, size);
        rf_task_free(&task);
    }
    rf_table_free(&train);
    rf_table_free(&test);
    return status;
}

/* Whichever allocation is the last one, or thread: a message, and nothing is left behind. */
static void running_out_of_memory(void **state)
{
    (void)state;
    const char *const files[][2] = {{"csv/header", "a.csv"}, {"npz/deflated", "a.npz"}, {"npy/fortran", "a.npy"}, {"npy/bytes", "b.npy"}};
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        const char *path = copy_corpus(files[k][0], files[k][1]);
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
                    fail_msg("%s, %d to be had: %d not freed, message '%s'", files[k][0], enough, held - memory, error);
                assert_true(enough < 10000);
            }
        }
        remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_powers_of_two),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(a_penalty_is_the_exponent_of_the_likelihood),
        cmocka_unit_test(neighbours_are_the_nearest),
        cmocka_unit_test(products_agree),
        cmocka_unit_test(votes),
        cmocka_unit_test(wild_values_do_not_set_the_scale),
        cmocka_unit_test(rare_values_show),
        cmocka_unit_test(bytes_of_images_stay),
        cmocka_unit_test(a_training_set_is_the_table),
        cmocka_unit_test(the_posterior_is_bayes),
        cmocka_unit_test(both_methods_find_the_feature_that_tells),
        cmocka_unit_test(nothing_accepted_is_survived),
        cmocka_unit_test(a_shuffle_has_every_number_once),
        cmocka_unit_test(synthetic_digits_are_a_function_of_their_number),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(a_directory_of_images),
        cmocka_unit_test(label_columns),
        cmocka_unit_test(missing_numbers_stay_missing),
        cmocka_unit_test(tables_are_joined),
        cmocka_unit_test(tasks_refuse),
        cmocka_unit_test(running_out_of_memory),
    };
    if (!mkdtemp(directory))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
