/* Philox compared with published answers and with Random123; normals compared with the normal distribution. */
#include "testing.h"

#include <math.h>

#include <Random123/philox.h>

#include "rejfilt/rejfilt.h"

static void philox_known_answers(void **state)
{
    (void)state;
    FILE *file = fopen(RF_TEST_DATA_DIR "/philox.txt", "r");
    assert_non_null(file);
    char line[256];
    int cases = 0;
    while (fgets(line, sizeof line, file)) {
        uint32_t w[10];
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%x %x %x %x %x %x %x %x %x %x", &w[0], &w[1], &w[2], &w[3], &w[4], &w[5], &w[6], &w[7], &w[8], &w[9]), 10);
        rf_words counter = {{w[0], w[1], w[2], w[3]}};
        rf_words got = rf_philox(counter, (uint64_t)w[5] << 32 | w[4]);
        for (int i = 0; i < 4; i++)
            assert_int_equal(got.word[i], w[6 + i]);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 3);
}

static void philox_agrees_with_random123(void **state)
{
    (void)state;
    uint64_t source = 1;
    for (int i = 0; i < 200000; i++) {
        philox4x32_ctr_t c;
        philox4x32_key_t k;
        rf_words counter;
        for (int j = 0; j < 4; j++)
            c.v[j] = counter.word[j] = (uint32_t)test_word(&source);
        uint64_t key = test_word(&source);
        k.v[0] = (uint32_t)key;
        k.v[1] = (uint32_t)(key >> 32);
        philox4x32_ctr_t expected = philox4x32(c, k);
        rf_words got = rf_philox(counter, key);
        assert_memory_equal(expected.v, got.word, 16);
    }
}

static void draws_are_separate(void **state)
{
    (void)state; /* each argument of rf_draw alone changes the position of every word in the stream */
    rf_words base = rf_draw(7, 1, 2, 3, 4);
    rf_words others[] = {rf_draw(8, 1, 2, 3, 4), rf_draw(7u | 1ull << 40, 1, 2, 3, 4), rf_draw(7, 2, 2, 3, 4), rf_draw(7, 1, 3, 3, 4), rf_draw(7, 1, 2, 4, 4), rf_draw(7, 1, 2, 3, 5)};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_memory_not_equal(&base, &others[i], sizeof base);
}

enum { DRAWS = 10000000 };

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Every bit of a member's seed takes both values. */
static void seeds_of_members_use_all_bits(void **state)
{
    (void)state;
    uint64_t all = ~UINT64_C(0), any = 0;
    for (uint32_t i = 0; i < 100; i++) {
        all &= rf_seed_of(1, i);
        any |= rf_seed_of(1, i);
    }
    assert_true(all == 0 && any == ~UINT64_C(0));
}

/* Fills `z` with DRAWS normals in the filter's way: pairs of elements, update after update. */
static void fill(float *z, int bits)
{
    for (uint32_t i = 0; i < DRAWS / 2; i++) {
        rf_words w = rf_draw(20261115, i / 100, i % 100, 0, RF_FOR_ATTEMPTS);
        double a, b;
        float c, d;
        if (bits == 32) {
            rf32_normal_pair(w.word[0], w.word[1], &c, &d);
        } else {
            rf64_normal_pair(w.word[0], w.word[1], &a, &b);
            c = (float)a;
            d = (float)b;
        }
        z[2 * i] = c;
        z[2 * i + 1] = d;
    }
}

/* All bounds are five standard errors of the statistic, except Kolmogorov–Smirnov's, which is exceeded by chance
   once in 1e5 (√(ln(2e5)/2) = 2.47). */
static void check_normals(int bits)
{
    const double n = DRAWS, se = 1 / sqrt(n);
    float *z = malloc(sizeof *z * DRAWS);
    assert_non_null(z);
    fill(z, bits);

    double m1 = 0, m2 = 0, m3 = 0, m4 = 0, pair = 0, square_pair = 0, next = 0, square_next = 0;
    long tail[6] = {0};
    for (int i = 0; i < DRAWS; i++) {
        double v = z[i], w = z[i ^ 1], x = z[(i + 2) % DRAWS];
        m1 += v, m2 += v * v, m3 += v * v * v, m4 += v * v * v * v;
        pair += v * w, square_pair += (v * v - 1) * (w * w - 1);
        next += v * x, square_next += (v * v - 1) * (x * x - 1);
        for (int k = 0; k < 6; k++)
            tail[k] += fabs(v) > k;
    }
    check_within(m1 / n, 0, 5 * se);
    check_within(m2 / n, 1, 5 * se * sqrt(2));
    check_within(m3 / n, 0, 5 * se * sqrt(15));
    check_within(m4 / n, 3, 5 * se * sqrt(96));
    check_within(pair / n, 0, 5 * se * sqrt(2)); /* each pair counts twice */
    check_within(square_pair / n, 0, 5 * se * 2 * sqrt(2));
    check_within(next / n, 0, 5 * se);
    check_within(square_next / n, 0, 5 * se * 2);
    for (int k = 1; k < 6; k++) {
        double p = erfc(k / sqrt(2));
        check_within((double)tail[k] / n, p, 5 * sqrt(p / n) + 1 / n);
    }

    qsort(z, DRAWS, sizeof *z, compare);
    double ks = 0;
    for (int i = 0; i < DRAWS; i++) {
        double cdf = 0.5 * erfc(-(double)z[i] / sqrt(2)), above = (i + 1) / n - cdf, below = cdf - i / n;
        ks = fmax(ks, fmax(above, below));
    }
    check_below(ks, 2.47 * se);
    free(z);
}

static void normals32(void **state) { (void)state; check_normals(32); }
static void normals64(void **state) { (void)state; check_normals(64); }

/* The smallest words give the largest normals, and the tail has the right share: over the words of the last 2⁻¹² of
   the radius, P(r > 5.5 | r > 4.08) is right. */
static void normals_reach_the_tail(void **state)
{
    (void)state;
    float a, b;
    double c, d;
    rf32_normal_pair(0, 0, &a, &b);
    rf64_normal_pair(0, 0, &c, &d);
    check_within(a, sqrt(2 * 32 * log(2)), 1e-5);
    check_within(c, sqrt(2 * 32 * log(2)), 1e-14);
    uint32_t beyond = 0, words = 1u << 20;
    for (uint32_t w = 0; w < words; w++) {
        rf32_normal_pair(w, 0, &a, &b);
        beyond += a > 5.5f;
    }
    check_within(beyond, exp(-5.5 * 5.5 / 2) * 0x1p32, 2);
}

/* The two parts of a float normal, compared with libm, over a sweep of all words. */
static void parts_of_a_normal(void **state)
{
    (void)state;
    double angle_error = 0, double_error = 0, radius_error = 0;
    for (uint64_t w = 0; w < 0x100000000u; w += 10007) {
        float s, c, u = rf32_uniform((uint32_t)w), squared = rf32_minus_2_log(u);
        double r = (double)(int32_t)(uint32_t)w * 1.5707963267948966 * 0x1p-31, sign = w & 1 ? -1 : 1;
        double s64, c64;
        rf32_circle((uint32_t)w, &s, &c);
        rf64_circle((uint32_t)w, &s64, &c64);
        double_error = fmax(double_error, fmax(fabs(s64 - sin(r)), fabs(c64 - sign * cos(r))));
        angle_error = fmax(angle_error, fmax(fabs(s - sin(r)), fabs(c - sign * cos(r))));
        assert_true(squared >= 0);
        radius_error = fmax(radius_error, fabs(squared + 2 * log((double)u)) / fmax(1, squared));
    }
    check_below(angle_error, 4e-7);
    check_below(double_error, 4e-16);
    check_below(radius_error, 1e-6);
    assert_true(rf32_minus_2_log(1.0f) == 0);
}

/* The bits of each word, and of words of neighbouring counters, are equal half of the time. */
static void words_are_uncorrelated(void **state)
{
    (void)state;
    enum { N = 200000 };
    long same[4][3] = {{0}};
    for (uint32_t i = 0; i < N; i++) {
        rf_words w = rf_draw(5, 0, i, 0, 0), next = rf_draw(5, 0, i + 1, 0, 0), update = rf_draw(5, 1, i, 0, 0);
        for (int k = 0; k < 4; k++) {
            same[k][0] += __builtin_popcount(w.word[k] ^ w.word[(k + 1) % 4]);
            same[k][1] += __builtin_popcount(w.word[k] ^ next.word[k]);
            same[k][2] += __builtin_popcount(w.word[k] ^ update.word[k]);
        }
    }
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 3; j++)
            check_within(same[k][j], 16.0 * N, 5 * sqrt(8.0 * N));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_known_answers), cmocka_unit_test(philox_agrees_with_random123),
        cmocka_unit_test(draws_are_separate),   cmocka_unit_test(normals32), cmocka_unit_test(seeds_of_members_use_all_bits),
        cmocka_unit_test(normals64),            cmocka_unit_test(normals_reach_the_tail),
        cmocka_unit_test(parts_of_a_normal),    
        cmocka_unit_test(words_are_uncorrelated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
