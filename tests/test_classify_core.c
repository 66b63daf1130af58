/* The parts of classification: kernels, nearest neighbours, filters. */
#include "testing.h"

#include <math.h>

#include "kernel.h"
#include "knn.h"
#include "knn_kernel.h"
#include "model.h"
#include "rejfilt/host.h"
#include "sealed.h"
#include "simd/targets.h"
#include "training.h"

#define RF_TARGET(name)                                                                                                \
    extern const rfc_kernel rfc_kernel_##name;                                                                         \
    extern rf_knn_dots rf_knn_dots_##name;
RF_TARGETS
#undef RF_TARGET

enum { COUNT = 1000, FEATURES = 77 };

/* ---- Kernels ---- */

static void weights_are_powers_of_two(void **state)
{
    (void)state;
    static uint16_t penalty[RFC_PENALTY_CLIP];
    static uint32_t weight[RFC_PENALTY_CLIP], block[RFC_PENALTY_CLIP / RFC_BLOCK + 1];
    for (unsigned i = 0; i < RFC_PENALTY_CLIP; i++)
        penalty[i] = (uint16_t)(i + 100);
    rfc_weighed w = rfc_kernel_baseline.weigh(penalty, RFC_PENALTY_CLIP, 100, 65535, weight, block);
    double sum = 0;
    for (unsigned i = 0; i < RFC_PENALTY_CLIP; i++) {
        double exact = exp2(-(double)i / RFC_BIT) * RFC_WEIGHT_ONE;
        check_within(weight[i], exact, 2 + 0.002 * exact); /* the penalty's last unit is half of that */
        sum += weight[i];
    }
    check_within((double)w.sum, sum, 0);
    const double tempers[] = {0.25, 1, 1.5, 2, 3.7, 8};
    for (unsigned k = 0; k < 6; k++) { /* also sharpened weights; vectors far away have weight 0 */
        rfc_kernel_baseline.weigh(penalty, RFC_PENALTY_CLIP, 100, (uint32_t)(tempers[k] * RFC_TEMPER_ONE), weight,
                                  block);
        for (unsigned i = 0; i < RFC_PENALTY_CLIP; i++) {
            double exact = exp2(-(double)i * tempers[k] / RFC_BIT) * RFC_WEIGHT_ONE;
            check_within(weight[i], exact, 2 + 0.002 * exact);
        }
    }
    assert_int_equal(rfc_kernel_baseline.within(penalty, RFC_PENALTY_CLIP, 100, 5 * RFC_BIT), 5 * RFC_BIT + 1);
}

static const rfc_kernel *const kernels[] = {
#define RF_TARGET(name) &rfc_kernel_##name,
    RF_TARGETS
#undef RF_TARGET
};

static void targets_agree(void **state)
{
    (void)state;
    uint8_t x[COUNT];
    test_bytes(x, COUNT, 1);
    for (unsigned target = 1; target <= rf_target_best(); target++) {
        uint16_t penalty[2][COUNT], sum[2][2 * COUNT] = {{0}}, squares[2][2 * COUNT] = {{0}};
        uint32_t weight[2][COUNT], block[2][COUNT / RFC_BLOCK + 1], wide[2][COUNT] = {{0}}, square[2][COUNT] = {{0}};
        rfc_weighed out[2];
        uint32_t within[2];
        uint16_t base[2];
        for (int side = 0; side < 2; side++) {
            const rfc_kernel *k = kernels[side ? target : 0];
            memset(penalty[side], 0, sizeof penalty[side]);
            base[side] = 0;
            for (unsigned step = 0; step < 6; step++) {
                rfc_evidence e = {0, (uint8_t)(step * 51), (uint8_t)(step % 3), (uint16_t)(9000 + 9000 * step),
                                  RFC_ONCE_MAX, 0};
                base[side] = k->update(x, COUNT, e, base[side], penalty[side]);
            }
            out[side] =
                k->weigh(penalty[side], COUNT, base[side], target % 2 ? 40000 : 400000, weight[side], block[side]);
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

/* In place, over two segments of all lengths, keeping from none to all of the vectors; the arrays end exactly at the
   last segment. */
static void every_target_keeps_what_is_near(void **state)
{
    (void)state;
    enum { LONGEST = 150, BASE = 65000, LIMIT = 1000 };
    uint8_t byte[LONGEST];
    test_bytes(byte, LONGEST, 2);
    for (unsigned target = 0; target <= rf_target_best(); target++)
        for (uint32_t count = 1; count <= LONGEST; count++)
            for (unsigned share = 0; share <= 256; share += 32)
                for (int is_listed = 0; is_listed < 2; is_listed++) {
                    uint16_t *penalty = malloc(count * sizeof *penalty), want_penalty[LONGEST];
                    uint32_t *vector = malloc(count * sizeof *vector), want[LONGEST], wanted = 0, kept = 0;
                    assert_true(penalty && vector);
                    for (uint32_t i = 0; i < count; i++) {
                        penalty[i] = (uint16_t)(BASE + (byte[i] < share ? LIMIT - byte[i] : LIMIT + 1 + byte[i]));
                        vector[i] = is_listed ? 3 * i + 70000 : 0;
                        if (byte[i] < share) {
                            want_penalty[wanted] = penalty[i];
                            want[wanted++] = is_listed ? vector[i] : i;
                        }
                    }
                    const uint32_t middle = count / 3;
                    kept = kernels[target]->keep(penalty, 0, middle, BASE, LIMIT, is_listed, vector, kept);
                    kept = kernels[target]->keep(penalty, middle, count, BASE, LIMIT, is_listed, vector, kept);
                    assert_int_equal(kept, wanted);
                    assert_memory_equal(vector, want, kept * sizeof *vector);
                    assert_memory_equal(penalty, want_penalty, kept * sizeof *penalty);
                    free(penalty);
                    free(vector);
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
    rfc_evidence e = {0, 128, 0, (uint16_t)(RFC_BIT * 1.4426950408889634 / (2 * sigma * sigma) * 65536), RFC_ONCE_MAX, 0};
    rfc_kernel_baseline.update(x, 256, e, 0, penalty);
    for (int i = 0; i < 256; i++)
        check_within(penalty[i],
                     fmin(RFC_BIT * 1.4426950408889634 * (i - 128) * (i - 128) / (2 * sigma * sigma), 8 * RFC_BIT),
                     1.5);
}

/* ---- Nearest neighbours ---- */

static void neighbours_are_the_nearest(void **state)
{
    (void)state;
    enum { QUERIES = 29, K = 7 };
    static uint8_t train[COUNT * FEATURES], queries[QUERIES * FEATURES], mask[FEATURES];
    uint32_t nearest[QUERIES * K];
    char error[200];
    test_bytes(train, sizeof train, 2);
    test_bytes(queries, sizeof queries, 3);
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
    rf_knn_dots *const dots[] = {
#define RF_TARGET(name) rf_knn_dots_##name,
        RF_TARGETS
#undef RF_TARGET
    };
    enum { GROUPS = 9 };
    uint8_t panel[GROUPS * 4 * RF_KNN_LANES], bytes[RF_KNN_ROWS * GROUPS * 4];
    int8_t query[RF_KNN_ROWS * GROUPS * 4];
    int32_t got[RF_KNN_ROWS * RF_KNN_LANES];
    test_bytes(panel, sizeof panel, 4);
    test_bytes(bytes, sizeof bytes, 5);
    memcpy(query, bytes, sizeof query);
    for (unsigned target = 0; target <= rf_target_best(); target++) {
        dots[target](panel, query, GROUPS, got);
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
    assert_int_equal(rf_knn_vote(nearest, 3, class_of), 2); /* each class once: the nearest wins */
    assert_int_equal(rf_knn_vote(nearest, 4, class_of), 1);
    assert_int_equal(rf_knn_vote(nearest, 5, class_of), 1); /* 1 and 0 twice: 1 is nearer */
}

/* ---- Filters ---- */

typedef struct fixture {
    rfc_table table;
    rfc_training training;
    uint32_t chosen[20000];
} fixture;

/* Two classes; one of `features` features is informative, and `apart` sets how much. */
static fixture *make(uint32_t rows, uint32_t features, int apart, uint64_t seed)
{
    fixture *f = calloc(1, sizeof *f);
    char error[200];
    assert_non_null(f);
    f->table = (rfc_table){.rows = rows, .room = rows, .features = features};
    f->table.bytes = malloc((size_t)rows * features);
    f->table.label = malloc(rows * sizeof *f->table.label);
    for (uint32_t i = 0; i < rows; i++) {
        f->table.label[i] = i % 2;
        f->chosen[i] = i;
        for (uint32_t j = 0; j < features; j++)
            f->table.bytes[i * features + j] =
                (uint8_t)(100 + test_word(&seed) % 60 + (j == 0 && i % 2 ? (unsigned)apart : 0));
    }
    assert_int_equal(rfc_training_make(&f->table, f->chosen, rows, 2, 1, &f->training, error, sizeof error), 0);
    return f;
}

static void done(fixture *f)
{
    rfc_training_free(&f->training);
    rfc_table_free(&f->table);
    free(f);
}

static void a_training_set_is_the_table(void **state)
{
    (void)state;
    fixture *f = make(777, 5, 10, 3);
    const uint8_t mask[5] = {1, 0, 1, 1, 0};
    unsigned char seen[777] = {0};
    rfc_training laid;
    assert_int_equal(rfc_training_lay(&f->training, 0, mask, &laid), 0);
    assert_int_equal(laid.laid, 3);
    for (uint32_t s = 0; s < f->training.segments; s++)
        for (uint32_t i = f->training.segment[s].begin; i < f->training.segment[s].begin + f->training.segment[s].count;
             i++) {
            uint32_t row = f->training.order[i];
            assert_int_equal(seen[row]++, 0);
            assert_int_equal(f->table.label[row], f->training.class_of[f->training.segment[s].kind]);
            for (uint32_t k = 0; k < 3; k++) {
                const uint8_t *sketch = rfc_training_sketch(&laid, i);
                uint32_t j = laid.feature[k], level = k < 2 ? sketch[k] & 15u : sketch[k - 2] >> 4u;
                double value = laid.low[k] + (double)laid.step[k] * level;
                assert_true(mask[j]);
                assert_int_equal(rfc_training_column(&laid, j)[i], f->table.bytes[row * 5 + j]);
                check_within(value, f->table.bytes[row * 5 + j], 0.5 * (double)laid.step[k] + 1e-4);
            }
        }
    assert_non_null(memchr(seen, 1, sizeof seen));
    assert_null(memchr(seen, 0, sizeof seen));
    rfc_training_unlay(&laid);
    done(f);
}

/* One feature, one query: the posterior is that of the Gaussian likelihood with the training set's σ. */
static void the_posterior_is_bayes(void **state)
{
    (void)state;
    fixture *f = make(256, 1, 30, 4); /* as many rows as draws: each vector is drawn once */
    rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, &f->training);
    rfc_objects objects = {&f->table, NULL, 256};
    char error[200];
    rules.least_sample = rules.sharpest = 1;
    rules.floor = 0;
    for (uint32_t i = 0; i < 256; i += 17) {
        rfc_answer a;
        assert_int_equal(rfc_classify_one(&f->training, &rules, &objects, i, &a, error, sizeof error), 0);
        double weight[2] = {0, 0}, variance = (double)f->training.variance[0];
        for (uint32_t v = 0; v < 256; v++) {
            double off = (double)f->table.bytes[v] - f->table.bytes[i];
            weight[v % 2] += exp(-off * off / (2 * variance));
        }
        assert_int_equal(a.queries, 1);
        check_within(a.posterior[1], weight[1] / (weight[0] + weight[1]), 2e-3);
        check_within(a.story[1], a.posterior[1], 0);
        rfc_answer_free(&a);
    }
    done(f);
}

/* Every gain, also on a training set with a tree. */
static void both_methods_find_the_feature_that_tells(void **state)
{
    (void)state;
    const struct {
        rfc_method method;
        rfc_gain gain;
        uint32_t rows;
    } cases[] = {{RFC_PAPER, RFC_BETWEEN, 3000},     {RFC_WEIGHTED, RFC_BETWEEN, 3000},
                 {RFC_WEIGHTED, RFC_VARIANCE, 3000}, {RFC_WEIGHTED, RFC_MUTUAL, 3000},
                 {RFC_WEIGHTED, RFC_RATIO, 3000},    {RFC_WEIGHTED, RFC_BETWEEN, 20000}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        fixture *f = make(cases[k].rows, 6, 70, 5);
        rfc_objects objects = {&f->table, NULL, 300};
        rfc_rules rules = rfc_rules_default(cases[k].method, &f->training);
        char error[200];
        rules.gain = cases[k].gain;
        if (cases[k].rows > 16384) { /* decided by the tree, then checked against all vectors */
            rules.stop = 0.2;
            rules.floor = 0;
        }
        uint64_t asked[6] = {0};
        rfc_outcome o = {.times_asked = asked};
        assert_int_equal(rfc_classify(&f->training, &rules, &objects, 2, NULL, NULL, &o, error, sizeof error), 0);
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
    rfc_table far = {.rows = 1, .room = 1, .features = 2, .bytes = calloc(2, 1), .label = calloc(1, sizeof *far.label)};
    rfc_objects objects = {&far, NULL, 1};
    rfc_rules rules = rfc_rules_default(RFC_PAPER, &f->training);
    rfc_answer a;
    char error[200];
    rules.particles = 50;
    rules.budget = 30;
    rules.stop = 0;
    assert_int_equal(rfc_classify_one(&f->training, &rules, &objects, 0, &a, error, sizeof error), 0);
    assert_int_equal(a.queries, 30);
    check_within(a.posterior[0] + a.posterior[1], 1, 1e-6);
    rfc_answer_free(&a);
    rfc_table_free(&far);
    done(f);
}

static void a_shuffle_has_every_number_once(void **state)
{
    (void)state;
    uint32_t order[2][500];
    unsigned char seen[500] = {0};
    for (uint32_t k = 0; k < 2; k++)
        rfc_shuffle(1, k, order[k], 500);
    for (unsigned i = 0; i < 500; i++)
        assert_int_equal(seen[order[0][i]]++, 0);
    assert_memory_not_equal(order[0], order[1], sizeof order[0]);
}

/* ---- The library's interface ---- */

/* Answers are compared with the means over a pixel, weighted three times, and its four neighbours. */
static void pixels_of_images_have_neighbours(void **state)
{
    (void)state;
    enum { ROWS = 2, HEIGHT = 3, WIDTH = 4, PIXELS = HEIGHT * WIDTH };
    static const uint8_t soft[PIXELS] = {0, 30, 0, 0, 30, 90, 30, 0, 0, 30, 0, 0}; /* of 210 in the middle; by hand */
    uint8_t bytes[ROWS * PIXELS] = {[WIDTH + 1] = 210, [PIXELS] = 140};            /* and of 140 in a corner */
    uint32_t label[ROWS] = {0, 1}, features = PIXELS;
    char error[300];
    for (int is_image = 0; is_image < 2; is_image++) {
        rfc_table table = {.rows = ROWS, .features = features, .bytes = bytes, .label = label};
        rfc_training training, laid;
        table.height = is_image ? HEIGHT : 0;
        table.width = is_image ? WIDTH : 0;
        assert_int_equal(rfc_training_make(&table, NULL, ROWS, 2, 1, &training, error, sizeof error), 0);
        assert_int_equal(rfc_training_lay(&training, 0, NULL, &laid), 0);
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t j = 0; j < features; j++) {
                const uint32_t corner = j == 0 ? 100 : j == 1 || j == WIDTH ? 20 : 0; /* beyond the edge: itself */
                const uint32_t want = !is_image                ? bytes[training.order[i] * features + j]
                                      : training.order[i] == 0 ? soft[j]
                                                               : corner;
                assert_int_equal(rfc_training_column(&laid, j)[i], want);
            }
        rfc_training_unlay(&laid);
        rfc_training_free(&training);
    }
}

static void rows_from_memory(void **state)
{
    (void)state;
    rfc_table t = {.features = 2};
    const double rows[][2] = {{1, 255}, {7, NAN}, {0.5, -3}, {1e31, 0}, {INFINITY, 0}};
    const char *const labels[] = {"x", "y", "x"};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(rfc_table_add(&t, rows[i], labels[i % 3]), i < 3 ? 0 : -1);
    assert_true(t.rows == 3 && t.labels.count == 2 && t.label[0] == 0 && t.label[1] == 1 && t.label[2] == 0);
    for (unsigned i = 0; i < 6; i++) {
        const double value = rows[i / 2][i % 2];
        assert_int_equal(t.missing[i], isnan(value));
        check_within(t.reals[i], isnan(value) ? 0 : value, 0);
    }
    for (unsigned i = 2; i < RFC_LABELS_MAX + 2; i++) {
        char label[16];
        snprintf(label, sizeof label, "%u", i);
        assert_int_equal(rfc_table_add(&t, rows[0], label), i < RFC_LABELS_MAX ? 0 : -1);
    }
    assert_true(t.rows == RFC_LABELS_MAX + 1 && t.labels.count == RFC_LABELS_MAX);
    rfc_table_free(&t);
}

static void what_is_no_training_set_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[6] = {1, 2, 3, 4, 5, 6}, missing[6] = {0, 0, 0, 0, 0, 1};
    uint32_t label[3] = {0, 1, 0};
    const uint32_t beyond[] = {0, 1, 3}, one_class[] = {0, 2};
    const rfc_table good = {.rows = 3, .features = 2, .bytes = bytes, .label = label};
    rfc_table no_bytes = good, no_labels = good, holes = good, no_features = good;
    no_bytes.bytes = NULL;
    no_labels.label = NULL;
    no_features.features = 0;
    holes.missing = missing;
    const struct {
        const rfc_table *table;
        const uint32_t *chosen;
        uint32_t count, classes;
    } bad[] = {{&good, NULL, 0, 2},       {&good, NULL, 4, 2},
               {&good, beyond, 3, 2},     {&good, one_class, 2, 2},
               {&good, NULL, 3, 1},       {&good, NULL, 3, 3},
               {&good, NULL, 3, 0},       {&good, NULL, 3, RFC_LABELS_MAX + 1},
               {&no_bytes, NULL, 3, 2},   {&no_labels, NULL, 3, 2},
               {&no_features, NULL, 3, 2}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char error[200] = "";
        assert_null(
            rfc_training_open(bad[k].table, bad[k].chosen, bad[k].count, bad[k].classes, 1, error, sizeof error));
        assert_non_null(strstr(error, "not a training set"));
    }
    char error[200];
    rfc_training *t = rfc_training_open(&holes, NULL, 3, 2, 1, error, sizeof error); /* bytes stand in */
    assert_non_null(t);
    assert_int_equal(rfc_training_count(t), 3);
    check_within((double)rfc_training_variance(t)[0], 8. / 3, 1e-6);
    rfc_training_close(t);
    rfc_training_close(NULL);
}

static void rules_and_objects_out_of_range_are_refused(void **state)
{
    (void)state;
    fixture *f = make(100, 2, 50, 7);
    const float costs[][2] = {{1, -0.5f}, {-1, 1}, {1, INFINITY}, {NAN, 1}};
    const uint32_t rows[] = {5, 100};
    rfc_table other = f->table, no_bytes = f->table;
    other.features = 1;
    no_bytes.bytes = NULL;
    const rfc_rules good = rfc_rules_default(RFC_WEIGHTED, &f->training);
    const double weights[][2] = {{1, 0}, {NAN, 1}};
    const uint32_t groups[] = {3, 0};
    rfc_rules bad[21];
    for (unsigned i = 0; i < 21; i++)
        bad[i] = good;
    bad[16].sharpest = 9, bad[17].most_sample = 0, bad[18].prior = weights[0], bad[19].weight = weights[1],
    bad[20].group = groups;
    bad[0].stop = -1, bad[1].stop = 0.6, bad[2].stop = NAN, bad[3].budget = 0, bad[4].max_cost = NAN, bad[5].floor = -1;
    bad[6].floor = 101, bad[7].least_sample = 0, bad[8].least_sample = 1e7, bad[9].particles = 1,
    bad[10].particles = 60001;
    bad[11].restarts = 0, bad[12].cost = costs[0], bad[13].cost = costs[1], bad[14].cost = costs[2],
    bad[15].cost = costs[3];
    const rfc_objects fine = {&f->table, NULL, 100},
                      wrong[] = {{&f->table, NULL, 101}, {&f->table, rows, 2}, {&other, NULL, 1}, {&no_bytes, NULL, 1}};
    rfc_outcome o = {0};
    rfc_answer a;
    char error[200];
    for (unsigned i = 0; i < 21; i++) {
        assert_int_equal(rfc_classify(&f->training, &bad[i], &fine, 1, NULL, NULL, &o, error, sizeof error), -1);
        assert_int_equal(rfc_classify_one(&f->training, &bad[i], &fine, 0, &a, error, sizeof error), -1);
        assert_string_equal(error, "the rules are out of range");
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(rfc_classify(&f->training, &good, &wrong[i], 1, NULL, NULL, &o, error, sizeof error), -1);
        assert_non_null(strstr(error, "objects are not rows of 2 bytes"));
        assert_int_equal(rfc_classify_one(&f->training, &good, &wrong[i], wrong[i].count - 1, &a, error, sizeof error),
                         -1);
        assert_int_equal(rfc_classify_one(&f->training, &good, &wrong[i], wrong[i].count, &a, error, sizeof error), -1);
        assert_non_null(strstr(error, "there is no object"));
    }
    rfc_table unlabelled = f->table;
    unlabelled.label = NULL;
    const rfc_objects unknown = {&unlabelled, NULL, 100};
    uint8_t decided[100];
    o.decided = decided;
    assert_int_equal(rfc_classify(&f->training, &good, &unknown, 0, NULL, NULL, &o, error, sizeof error), 0);
    assert_int_equal(o.errors, 0);
    unsigned right = 0;
    for (unsigned i = 0; i < 100; i++)
        right += decided[i] == f->table.label[i];
    assert_true(right > 80);
    done(f);
}

/* ---- Models ---- */

/* Three classes, determined by two features together; 600 rows. */
static void fill_numbers(rfc_table *t, uint32_t rows, uint64_t seed)
{
    const char *const labels[] = {"red", "green", "blue"};
    for (uint32_t i = 0; i < rows; i++) {
        double x[5];
        for (uint32_t j = 0; j < 5; j++)
            x[j] = (double)(test_word(&seed) % 1000) / 1000;
        const uint32_t class = x[1] + x[3] < 0.8 ? 0 : x[1] + x[3] < 1.2 ? 1 : 2;
        x[3] = test_word(&seed) % 20 == 0 ? NAN : x[3];
        assert_int_equal(rfc_table_add(t, x, labels[class]), 0);
    }
}

typedef struct fitted {
    rfc_table train, test;
    rfc_training *training;
    rfc_model *model;
    rfc_expected expected;
} fitted;

static fitted fit_numbers(uint32_t rows, const rfc_rules *change)
{
    char error[200];
    fitted f = {.train = {.features = 5}, .test = {.features = 5}};
    fill_numbers(&f.train, rows, 1);
    fill_numbers(&f.test, 400, 2);
    rfc_task task;
    uint64_t left_out = 0;
    assert_int_equal(rfc_task_parse("labels", NULL, &task, error, sizeof error), 0);
    assert_int_equal(rfc_task_apply(&task, &f.train, &f.test, &left_out, error, sizeof error), 0);
    rfc_coding *coding = rfc_coding_make(&f.train, RFC_SCALE_EACH, error, sizeof error);
    assert_non_null(coding);
    assert_int_equal(rfc_coding_apply(coding, &f.train, error, sizeof error), 0);
    assert_int_equal(rfc_coding_apply(coding, &f.test, error, sizeof error), 0);
    f.training = rfc_training_open(&f.train, NULL, rows, 3, 1, error, sizeof error);
    assert_non_null(f.training);
    rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, f.training);
    if (change) {
        rules.weight = change->weight;
        rules.group = change->group;
        rules.cost = change->cost;
    }
    f.model = rfc_model_fit(f.training, &rules, 2, NULL, NULL, error, sizeof error);
    assert_non_null(f.model);
    assert_int_equal(rfc_model_describe(f.model, &task, &f.train, coding), 0);
    assert_int_equal(rfc_model_stop(f.model, RFC_GOAL_BEST, 0, &f.expected), 0);
    rfc_task_free(&task);
    return f;
}

static void unfit(fitted *f)
{
    rfc_model_close(f->model);
    rfc_training_close(f->training);
    rfc_table_free(&f->train);
    rfc_table_free(&f->test);
}

/* The fraction of errors on 400 new objects, and its estimate from the probabilities. The bounds are three standard
   errors of a fraction of 0.1 among 400 and, for the leave-one-out estimate, among 1,200. */
static void leave_one_out_tells_the_error(void **state)
{
    (void)state;
    char error[200];
    fitted f = fit_numbers(1200, NULL);
    const rfc_objects objects = {&f.test, NULL, 400};
    rfc_outcome o = {0};
    double least = 1;
    const struct {
        rfc_goal goal;
        double value;
    } goals[] = {{RFC_GOAL_BEST, 0}, {RFC_GOAL_STOP, 0.3}, {RFC_GOAL_QUESTIONS, 1.5}};
    for (unsigned k = 0; k < 3; k++) {
        assert_int_equal(rfc_model_stop(f.model, goals[k].goal, goals[k].value, &f.expected), 0);
        assert_int_equal(rfc_model_classify(f.model, &objects, 2, NULL, NULL, &o, error, sizeof error), 0);
        const double real = (double)o.errors / 400, se = sqrt(real * (1 - real) / 400), se_pilot = se / sqrt(3);
        check_within(f.expected.error, real, 3 * (se + se_pilot));
        check_within(o.all_doubt / 400, real, 3 * (se + se_pilot));
        check_within(f.expected.questions, (double)o.all_queries / 400, 0.25);
        least = fmin(least, real);
    }
    assert_true((double)o.all_queries / 400 <= 1.75);
    assert_int_equal(rfc_model_stop(f.model, RFC_GOAL_ERROR, 0.3, &f.expected), 0);
    assert_true(f.expected.error <= 0.3);
    assert_int_equal(rfc_model_stop(f.model, RFC_GOAL_ERROR, 0, &f.expected), 1); /* impossible goal */
    check_below(least, 0.2);
    unfit(&f);
}

/* A goal of one question cannot be had by a stop alone: with three equal classes any stop of 0.5 or less asks more. So it
   makes the budget smaller; goals after it have the whole budget again, also of a model that was saved. */
static void few_questions_can_be_had(void **state)
{
    (void)state;
    char error[200];
    fitted f = fit_numbers(1200, NULL);
    const rfc_objects objects = {&f.test, NULL, 400};
    const double questions = f.expected.questions, wrong = f.expected.error;
    const uint32_t budget = f.expected.budget;
    assert_true(questions > 1.2 && budget > 1);
    assert_int_equal(rfc_model_stop(f.model, RFC_GOAL_QUESTIONS, 1, &f.expected), 0);
    assert_int_equal(f.expected.budget, 1);
    check_within(f.expected.questions, 1, 0);
    assert_true(f.expected.error < 0.55); /* chance has 0.67 */
    const size_t count = rfc_model_save(f.model, NULL, 0);
    uint8_t *bytes = aligned_alloc(64, (count + 63) / 64 * 64);
    assert_int_equal(rfc_model_save(f.model, bytes, count), count);
    rfc_model *again = rfc_model_load(bytes, count, error, sizeof error), *const both[] = {f.model, again};
    assert_non_null(again);
    for (int k = 0; k < 2; k++) {
        rfc_outcome o = {0};
        assert_int_equal(rfc_model_classify(both[k], &objects, 2, NULL, NULL, &o, error, sizeof error), 0);
        assert_int_equal(o.all_queries, 400);
        const double real = (double)o.errors / 400, se = sqrt(real * (1 - real) / 400);
        check_within(o.all_doubt / 400, real, 3 * (se + se / sqrt(3)));
        assert_int_equal(rfc_model_stop(both[k], RFC_GOAL_BEST, 0, &f.expected), 0);
        check_within(f.expected.questions, questions, 0);
        check_within(f.expected.error, wrong, 0);
        assert_int_equal(f.expected.budget, budget);
    }
    rfc_model_close(again);
    free(bytes);
    unfit(&f);
}

/* Saved bytes give the same answers after loading; other bytes are refused. */
static void a_model_lasts(void **state)
{
    (void)state;
    char error[200];
    fitted f = fit_numbers(600, NULL);
    const size_t count = rfc_model_save(f.model, NULL, 0);
    uint8_t *bytes = aligned_alloc(64, (count + 63) / 64 * 64);
    assert_true(count > 600 * 5);
    assert_int_equal(rfc_model_save(f.model, bytes, count - 1), count);
    assert_int_equal(rfc_model_save(f.model, bytes, count), count);
    rfc_model *again = rfc_model_load(bytes, count, error, sizeof error);
    assert_non_null(again);
    const rfc_objects objects = {&f.test, NULL, 400};
    uint8_t decided[2][400];
    float posterior[2][1200];
    rfc_outcome one = {.decided = decided[0], .posterior = posterior[0]},
                two = {.decided = decided[1], .posterior = posterior[1]};
    assert_int_equal(rfc_model_classify(f.model, &objects, 1, NULL, NULL, &one, error, sizeof error), 0);
    assert_int_equal(rfc_model_classify(again, &objects, 2, NULL, NULL, &two, error, sizeof error), 0);
    assert_memory_equal(decided[0], decided[1], sizeof decided[0]);
    assert_memory_equal(posterior[0], posterior[1], sizeof posterior[0]);
    assert_string_equal(rfc_model_classes(again)->text[0], "blue");
    assert_string_equal(rfc_model_names(again)->text[4], "4");
    uint8_t byte[2];
    assert_int_equal(rfc_coding_number(rfc_model_coding(f.model), 1, 0.25, &byte[0]), 0);
    assert_int_equal(rfc_coding_number(rfc_model_coding(again), 1, 0.25, &byte[1]), 0);
    assert_int_equal(byte[0], byte[1]);
    assert_int_equal(rfc_coding_text(rfc_model_coding(again), 1, "x", &byte[1]), -1);
    rfc_expected expected;
    assert_int_equal(rfc_model_stop(again, RFC_GOAL_QUESTIONS, 2, &expected), 0);
    rfc_model_close(again);
    const char *const says[] = {"not a model", "checksum", "order of bytes", "truncated", "checksum", "checksum", "checksum"};
    const size_t at[] = {0, 8, 12, 18, 40, 64 + 70, count - 1};
    for (unsigned k = 0; k < 7; k++) {
        bytes[at[k]] ^= 4;
        assert_null(rfc_model_load(bytes, count, error, sizeof error));
        assert_non_null(strstr(error, says[k]));
        bytes[at[k]] ^= 4;
    }
    rf_seal(bytes, count, "RFMODEL\n", 99);
    assert_null(rfc_model_load(bytes, count, error, sizeof error));
    assert_non_null(strstr(error, "newer version (99; this program reads 8)"));
    for (size_t shorter = 0; shorter < count; shorter += count / 50)
        assert_null(rfc_model_load(bytes, shorter, error, sizeof error));
    free(bytes);
    unfit(&f);
}

/* Questions distinguish the labels within a class. By feature 0, the class of a and b (on both sides) has the same
   mean as the class of c and d (in the middle): there is no variance between classes, only between labels. Too few
   rows for a tree. */
static void labels_of_a_class_are_told_apart(void **state)
{
    (void)state;
    char error[200];
    const char *const labels[] = {"a", "b", "c", "d"};
    const double middle[] = {20, 220, 118, 122};
    uint64_t seed = 5, left_out = 0;
    rfc_table train = {.features = 6}, test = {.features = 6};
    for (uint32_t i = 0; i < 1200; i++) {
        double x[6];
        for (uint32_t j = 0; j < 6; j++)
            x[j] = (double)(test_word(&seed) % 256);
        x[0] = middle[i % 4] + (double)(test_word(&seed) % 21) - 10;
        x[1] = (double)(test_word(&seed) % 190) + (i % 4 < 2 ? 60 : 0); /* partly informative about the class */
        assert_int_equal(rfc_table_add(i < 800 ? &train : &test, x, labels[i % 4]), 0);
    }
    rfc_task task;
    assert_int_equal(rfc_task_parse(NULL, "a,b:outer c,d:inner", &task, error, sizeof error), 0);
    assert_int_equal(rfc_task_apply(&task, &train, &test, &left_out, error, sizeof error), 0);
    assert_non_null(train.kind);
    const rfc_objects objects = {&test, NULL, 400};
    for (int apart = 1; apart >= 0; apart--) {
        if (!apart) {
            free(train.kind);
            train.kind = NULL;
        }
        rfc_training *training = rfc_training_open(&train, NULL, 800, 2, 1, error, sizeof error);
        rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, training);
        rfc_answer a;
        assert_int_equal(rfc_classify_one(training, &rules, &objects, 0, &a, error, sizeof error), 0);
        assert_int_equal(a.asked[0], apart ? 0 : 1); /* the first question */
        rfc_answer_free(&a);
        rfc_training_close(training);
    }
    rfc_task_free(&task);
    rfc_table_free(&train);
    rfc_table_free(&test);
}

/* Features 0 and 1 are informative only together; feature 2 alone decides 70 %. With a budget of two, the greedy
   choice reaches 70 %; looking ahead finds both. A model fitted without a budget looks ahead when it gets one, and
   its leave-one-out estimate is for that budget. */
static void a_small_budget_is_planned(void **state)
{
    (void)state;
    char error[200];
    const char *const labels[] = {"odd", "even"};
    uint64_t seed = 9, left_out = 0;
    rfc_table train = {.features = 8}, test = {.features = 8};
    for (uint32_t i = 0; i < 4000; i++) {
        double x[8];
        for (uint32_t j = 0; j < 8; j++)
            x[j] = test_word(&seed) % 2 ? 200 + (double)(test_word(&seed) % 50) : (double)(test_word(&seed) % 50);
        const int class = (x[0] > 125) == (x[1] > 125);
        x[2] = (test_word(&seed) % 10 < 7 ? class : !class) ? 230 : 10;
        assert_int_equal(rfc_table_add(i < 3000 ? &train : &test, x, labels[class]), 0);
    }
    rfc_task task;
    rfc_scaling used;
    rfc_expected expected;
    assert_int_equal(rfc_task_parse("labels", NULL, &task, error, sizeof error), 0);
    assert_int_equal(rfc_task_apply(&task, &train, &test, &left_out, error, sizeof error), 0);
    assert_int_equal(rfc_scale(&train, &test, RFC_SCALE_SHARED, &used, error, sizeof error), 0);
    rfc_training *training = rfc_training_open(&train, NULL, 3000, 2, 1, error, sizeof error);
    const rfc_objects objects = {&test, NULL, 1000};
    for (int later = 0; later < 2; later++) {
        rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, training);
        rfc_outcome outcome = {0};
        rules.budget = later ? rules.budget : 2;
        rules.keeps_all = 1;
        rules.tries = 0;
        rules.pilot = 300;
        rfc_model *model = rfc_model_fit(training, &rules, 1, NULL, NULL, error, sizeof error);
        assert_non_null(model);
        const uint32_t steps = model->pilot.steps;
        assert_int_equal(rfc_model_limit(model, 2, -1, RFC_GOAL_STOP, 0.001, &expected), 0);
        assert_true(expected.error < 0.01); /* of the two planned questions, not of the first two of a longer run */
        if (later) {
            assert_int_equal(model->pilot.steps, 3);
            assert_int_equal(rfc_model_limit(model, 8, -1, RFC_GOAL_STOP, 0.001, &expected), 0);
            assert_int_equal(model->pilot.steps, steps);
            assert_int_equal(rfc_model_limit(model, 2, -1, RFC_GOAL_STOP, 0.001, &expected), 0);
        }
        assert_int_equal(rfc_model_classify(model, &objects, 1, NULL, NULL, &outcome, error, sizeof error), 0);
        assert_int_equal(outcome.errors, 0);
        rfc_model_close(model);
    }
    rfc_training_close(training);
    rfc_task_free(&task);
    rfc_table_free(&train);
    rfc_table_free(&test);
}

/* A model whose task joins labels gives the same answers after loading. Kinds without a class are refused. */
static void kinds_last(void **state)
{
    (void)state;
    char error[200];
    rfc_table train = {.features = 5};
    uint64_t left_out = 0;
    fill_numbers(&train, 600, 3);
    rfc_task task;
    rfc_table none = {0};
    assert_int_equal(rfc_task_parse(NULL, "red,blue:ends green:middle", &task, error, sizeof error), 0);
    assert_int_equal(rfc_task_apply(&task, &train, &none, &left_out, error, sizeof error), 0);
    rfc_coding *coding = rfc_coding_make(&train, RFC_SCALE_EACH, error, sizeof error);
    assert_int_equal(rfc_coding_apply(coding, &train, error, sizeof error), 0);
    rfc_training *training = rfc_training_open(&train, NULL, 600, 2, 1, error, sizeof error);
    rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, training);
    rules.pilot = 100;
    rfc_model *model = rfc_model_fit(training, &rules, 1, NULL, NULL, error, sizeof error);
    assert_non_null(model);
    assert_int_equal(model->laid.kinds, 3);
    assert_int_equal(rfc_model_describe(model, &task, &train, coding), 0);
    const size_t count = rfc_model_save(model, NULL, 0);
    uint8_t *bytes = aligned_alloc(64, (count + 63) / 64 * 64);
    assert_int_equal(rfc_model_save(model, bytes, count), count);
    rfc_model *again = rfc_model_load(bytes, count, error, sizeof error);
    assert_non_null(again);
    assert_int_equal(again->laid.kinds, 3);
    const rfc_objects objects = {&train, NULL, 600};
    float posterior[2][1200];
    rfc_outcome one = {.posterior = posterior[0]}, two = {.posterior = posterior[1]};
    assert_int_equal(rfc_model_classify(model, &objects, 1, NULL, NULL, &one, error, sizeof error), 0);
    assert_int_equal(rfc_model_classify(again, &objects, 1, NULL, NULL, &two, error, sizeof error), 0);
    assert_memory_equal(posterior[0], posterior[1], sizeof posterior[0]);
    rfc_model_close(again);
    uint8_t *kinds = bytes + count - 64; /* in the last part of the file */
    const uint8_t wrong[][3] = {{0, 1, 0}, {1, 1, 1}, {0, 0, 2}, {0, 0, 0}};
    for (unsigned k = 0; k < 4; k++) {
        memcpy(kinds, wrong[k], 3);
        rf_seal(bytes, count, "RFMODEL\n", rf_sealed_version(bytes, count, "RFMODEL\n"));
        assert_null(rfc_model_load(bytes, count, error, sizeof error));
    }
    free(bytes);
    rfc_model_close(model);
    rfc_training_close(training);
    rfc_task_free(&task);
    rfc_table_free(&train);
}

/* Advice, question by question, gives the same as classifying; after an unknown answer another question follows. */
static void advice_is_classification(void **state)
{
    (void)state;
    char error[200];
    for (uint32_t rows = 600; rows <= 4200; rows += 3600) { /* without and with a tree */
        fitted f = fit_numbers(rows, NULL);
        rfc_adviser *adviser = rfc_adviser_open(f.model, error, sizeof error);
        assert_non_null(adviser);
        for (uint32_t i = 0; i < 60; i++) {
            const rfc_objects objects = {&f.test, NULL, 400};
            const uint8_t *missing = f.test.missing + (size_t)i * 5;
            rfc_answer a;
            rfc_told told[8];
            rfc_advice advice;
            uint32_t count = 0, asked = 0;
            assert_int_equal(rfc_model_classify_one(f.model, &objects, i, &a, error, sizeof error), 0);
            for (;;) {
                assert_int_equal(rfc_adviser_next(adviser, told, count, &advice), 0);
                if (advice.feature == RFC_NO_LABEL)
                    break;
                assert_true(count < 5 && advice.cost == 1 && advice.gain >= 0);
                asked += !missing[advice.feature];
                told[count++] =
                    (rfc_told){advice.feature, f.test.bytes[(size_t)i * 5 + advice.feature], missing[advice.feature]};
            }
            assert_int_equal(advice.queries, asked);
            if (!memchr(missing, 1, 5)) {
                assert_int_equal(advice.decided, a.decided);
                assert_int_equal(advice.queries, a.queries);
                check_within((double)advice.posterior[a.decided], (double)a.posterior[a.decided], 0);
            }
            rfc_answer_free(&a);
        }
        const rfc_told twice[] = {{1, 3, 0}, {1, 3, 0}}, beyond[] = {{5, 3, 0}};
        rfc_advice advice;
        assert_int_equal(rfc_adviser_next(adviser, twice, 2, &advice), -1);
        assert_int_equal(rfc_adviser_next(adviser, beyond, 1, &advice), -1);
        rfc_adviser_close(adviser);
        unfit(&f);
    }
}

/* An error that costs ten times as much is made less often. */
static void what_errors_cost_counts(void **state)
{
    (void)state;
    char error[200];
    const double weight[] = {10, 1, 1};
    const rfc_rules dear = {.weight = weight};
    uint32_t missed[2] = {0};
    for (int k = 0; k < 2; k++) {
        fitted f = fit_numbers(600, k ? &dear : NULL);
        const rfc_objects objects = {&f.test, NULL, 400};
        uint8_t decided[400];
        rfc_outcome o = {.decided = decided};
        assert_int_equal(rfc_model_classify(f.model, &objects, 2, NULL, NULL, &o, error, sizeof error), 0);
        for (uint32_t i = 0; i < 400; i++)
            missed[k] += f.test.label[i] == 0 && decided[i] != 0;
        unfit(&f);
    }
    assert_true(missed[0] > 2 && 2 * missed[1] < missed[0]);
}

/* Features of a group cost once; free ones cost nothing. */
static void groups_cost_once(void **state)
{
    (void)state;
    char error[200];
    const float cost[] = {1, 5, 1, 5, 0};
    const uint32_t group[] = {0, 1, 0, 1, 0};
    const rfc_rules priced = {.cost = cost, .group = group};
    fitted f = fit_numbers(600, &priced);
    const rfc_objects objects = {&f.test, NULL, 400};
    for (uint32_t i = 0; i < 40; i++) {
        rfc_answer a;
        double spent = 0;
        int paid = 0;
        assert_int_equal(rfc_model_classify_one(f.model, &objects, i, &a, error, sizeof error), 0);
        for (uint32_t k = 0; k < a.queries; k++) {
            spent += paid && group[a.asked[k]] ? 0 : (double)cost[a.asked[k]];
            paid |= group[a.asked[k]] > 0;
        }
        check_within(a.cost, spent, 1e-6);
        rfc_answer_free(&a);
    }
    unfit(&f);
}

/* Ranks: half of the values are below the middle; outliers change nothing. Categories: the most frequent comes
   first. */
static void numbers_and_texts_become_bytes(void **state)
{
    (void)state;
    char error[200];
    rfc_table t = {.features = 2};
    for (unsigned i = 0; i < 101; i++) {
        const double row[] = {i == 100 ? 1e20 : i, i % 5 == 0 ? 0 : 1};
        assert_int_equal(rfc_table_add(&t, row, i % 2 ? "a" : "b"), 0);
    }
    t.categories = calloc(2, sizeof *t.categories);
    rfc_names_add(&t.categories[1], "seldom, yet first");
    rfc_names_add(&t.categories[1], "often");
    rfc_coding *c = rfc_coding_make(&t, RFC_SCALE_AUTO, error, sizeof error);
    uint8_t low, middle, high, often, seldom, new;
    assert_non_null(c);
    assert_int_equal(rfc_coding_scaling(c), RFC_SCALE_EACH);
    assert_int_equal(rfc_coding_number(c, 0, -5, &low), 0);
    assert_int_equal(rfc_coding_number(c, 0, 50, &middle), 0);
    assert_int_equal(rfc_coding_number(c, 0, 1e9, &high), 0);
    assert_true(low == 0 && abs(middle - 127) <= 2 && high >= 252);
    assert_int_equal(rfc_coding_number(c, 1, 3, &new), -1);
    assert_int_equal(rfc_coding_text(c, 1, "often", &often), 0);
    assert_int_equal(rfc_coding_text(c, 1, "seldom, yet first", &seldom), 0);
    assert_int_equal(rfc_coding_text(c, 1, "never seen", &new), 1);
    assert_true(often == 0 && seldom >= 2);
    assert_int_equal(rfc_coding_apply(c, &t, error, sizeof error), 0);
    assert_true(t.is_ranked && t.is_category[1] && !t.is_category[0] && t.bytes[1] == seldom && t.bytes[3] == often);
    assert_null(t.missing);
    rfc_table other = {.features = 2}; /* of its texts the first is unknown, the second is not */
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(rfc_table_add(&other, (const double[]){1, i}, "a"), 0);
    other.categories = calloc(2, sizeof *other.categories);
    rfc_names_add(&other.categories[1], "never seen");
    rfc_names_add(&other.categories[1], "seldom, yet first");
    assert_int_equal(rfc_coding_apply(c, &other, error, sizeof error), 0);
    assert_true(other.missing[1] && other.bytes[1] == often && !other.missing[3] && other.bytes[3] == seldom);
    rfc_table_free(&other);
    rfc_coding_free(c);
    rfc_table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_powers_of_two),
        cmocka_unit_test(targets_agree),
        cmocka_unit_test(every_target_keeps_what_is_near),
        cmocka_unit_test(a_penalty_is_the_exponent_of_the_likelihood),
        cmocka_unit_test(neighbours_are_the_nearest),
        cmocka_unit_test(products_agree),
        cmocka_unit_test(votes),
        cmocka_unit_test(a_training_set_is_the_table),
        cmocka_unit_test(the_posterior_is_bayes),
        cmocka_unit_test(both_methods_find_the_feature_that_tells),
        cmocka_unit_test(nothing_accepted_is_survived),
        cmocka_unit_test(a_shuffle_has_every_number_once),
        cmocka_unit_test(pixels_of_images_have_neighbours),
        cmocka_unit_test(rows_from_memory),
        cmocka_unit_test(what_is_no_training_set_is_refused),
        cmocka_unit_test(rules_and_objects_out_of_range_are_refused),
        cmocka_unit_test(leave_one_out_tells_the_error),
        cmocka_unit_test(few_questions_can_be_had),
        cmocka_unit_test(a_model_lasts),
        cmocka_unit_test(labels_of_a_class_are_told_apart),
        cmocka_unit_test(a_small_budget_is_planned),
        cmocka_unit_test(kinds_last),
        cmocka_unit_test(advice_is_classification),
        cmocka_unit_test(what_errors_cost_counts),
        cmocka_unit_test(groups_cost_once),
        cmocka_unit_test(numbers_and_texts_become_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
