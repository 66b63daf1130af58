/* include/rejfilt/functions.h compared with 50-digit known answers, with long double libm, and with its own
   contract. */
#include "testing.h"

#include <math.h>

#include "rejfilt/functions.h"

/* --- Functions under test, their references and the bounds the header states ----------------- */

#define RUN(bits, real, f) static double run##bits##_##f(double x) { return rf##bits##_##f((real)x); }
RUN(32, float, exp)
RUN(64, double, exp)
RUN(32, float, log)
RUN(64, double, log)
RUN(32, float, sqrt)
RUN(64, double, sqrt)
RUN(32, float, sin)
RUN(64, double, sin)
RUN(32, float, cos)
RUN(64, double, cos)
RUN(32, float, sin_squared)
RUN(64, double, sin_squared)
RUN(32, float, normal_cdf)
RUN(64, double, normal_cdf)
RUN(32, float, normal_quantile)
RUN(64, double, normal_quantile)
RUN(32, float, lgamma)
RUN(64, double, lgamma)

static const long double pi = 3.14159265358979323846264338327950288L;

static long double exact_normal_cdf(long double x) {
    return 0.5L * erfcl(-x * 0.707106781186547524400844362104849039L);
}

static long double exact_sin_squared(long double x) { return sinl(x) * sinl(x); }

/* |error| <= ulps ULP + absolute + relative_to_one * max(1, |value|) */
typedef struct {
    const char *name;
    int digits; /* of the significand */
    double (*run)(double);
    long double (*exact)(long double);
    double ulps, absolute, relative_to_one;
    double worst, worst_at;
} subject;

static subject subjects[] = {
    {"rf32_exp", 24, run32_exp, expl, 1.1, 0, 0, 0, 0},
    {"rf64_exp", 53, run64_exp, expl, 1.1, 0, 0, 0, 0},
    {"rf32_log", 24, run32_log, logl, 1.0, 0, 0, 0, 0},
    {"rf64_log", 53, run64_log, logl, 1.0, 0, 0, 0, 0},
    {"rf32_sqrt", 24, run32_sqrt, sqrtl, 0.5, 0, 0, 0, 0},
    {"rf64_sqrt", 53, run64_sqrt, sqrtl, 0.5, 0, 0, 0, 0},
    {"rf32_sin", 24, run32_sin, sinl, 2.5, 0x1p-27, 0, 0, 0},
    {"rf64_sin", 53, run64_sin, sinl, 2.0, 0x1p-55, 0, 0, 0},
    {"rf32_cos", 24, run32_cos, cosl, 2.5, 0x1p-27, 0, 0, 0},
    {"rf64_cos", 53, run64_cos, cosl, 2.0, 0x1p-55, 0, 0, 0},
    {"rf32_sin_squared", 24, run32_sin_squared, exact_sin_squared, 5.5, 0x1p-26, 0, 0, 0},
    {"rf64_sin_squared", 53, run64_sin_squared, exact_sin_squared, 4.0, 0x1p-54, 0, 0, 0},
    {"rf32_normal_cdf", 24, run32_normal_cdf, exact_normal_cdf, 6.0, 0, 0, 0, 0},
    {"rf64_normal_cdf", 53, run64_normal_cdf, exact_normal_cdf, 9.0, 0, 0, 0, 0},
    {"rf32_normal_quantile", 24, run32_normal_quantile, NULL, 0, 0, 0x1p-22, 0, 0},
    {"rf64_normal_quantile", 53, run64_normal_quantile, NULL, 0, 0, 0x1p-51, 0, 0},
    {"rf32_lgamma", 24, run32_lgamma, lgammal, 5.0, 0, 0, 0, 0},
    {"rf64_lgamma", 53, run64_lgamma, lgammal, 6.0, 0, 0, 0, 0},
};

static subject *find(const char *name) {
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(subjects[i].name, name) == 0) return &subjects[i];
    fail_msg("unknown function %s", name);
    return NULL;
}

static long double ulp(long double value, int digits) {
    int exponent, smallest = digits == 24 ? -125 : -1021;
    frexpl(value, &exponent);
    return ldexpl(1.0L, (exponent < smallest ? smallest : exponent) - digits);
}

/* The fraction of the bound that the error uses; the largest is kept. */
static void compare(subject *f, double x, long double value) {
    long double error = fabsl((long double)f->run(x) - value);
    long double share;
    if (f->ulps == 0.0) share = error / (f->relative_to_one * fmaxl(1.0L, fabsl(value)));
    else share = (error - f->absolute) / (f->ulps * ulp(value, f->digits));
    if (!(share <= f->worst)) {
        f->worst = isnan((double)share) ? INFINITY : (double)share;
        f->worst_at = x;
    }
}

static void report(const subject *f) {
    if (f->ulps == 0.0)
        print_message("  %-22s %.2f of 2^%.0f max(1, |x|)\n", f->name, f->worst, log2(f->relative_to_one));
    else print_message("  %-22s %.3f ULP, at %a\n", f->name, f->worst * f->ulps, f->worst_at);
    if (!(f->worst <= 1.0)) fail_msg("%s is over its bound at %a", f->name, f->worst_at);
}

static void start_afresh(void) {
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) subjects[i].worst = 0.0;
}

/* --- Known answers --------------------------------------------------------------------------- */

/* The header's bound for pow_positive, in ULP, as a function of the exponent y log x. */
static void compare_pow(const char *name, double x, double y, long double value) {
    int single = strncmp(name, "rf32", 4) == 0;
    double result = single ? (double)rf32_pow_positive((float)x, (float)y) : rf64_pow_positive(x, y);
    long double error = fabsl(result - value) / ulp(value, single ? 24 : 53);
    long double bound = 1.1L + 3.0L * fabsl(logl(value));
    if (!(error <= bound)) fail_msg("%s(%a, %a): %Lg ULP, bound %Lg", name, x, y, error, bound);
}

#define RUN_MANY(bits, real)                                                                        \
    static double many##bits(const char *name, const double x[]) {                                  \
        if (strcmp(name, "deviance") == 0) return rf##bits##_deviance((real)x[0], (real)x[1]);       \
        if (strcmp(name, "poisson_log") == 0) return rf##bits##_poisson_log((real)x[0], (real)x[1]); \
        if (strcmp(name, "binomial_log") == 0)                                                      \
            return rf##bits##_binomial_log((real)x[0], (real)x[1], (real)x[2]);                      \
        fail_msg("unknown function %s", name);                                                      \
        return 0;                                                                                   \
    }
RUN_MANY(32, float)
RUN_MANY(64, double)

/* The worst errors in units of the header's bound: ULPs of a deviance; for a logarithm a relative and a small
   absolute part. */
static double worst_many[2][3];

static void compare_many(const char *name, const double x[], int arguments, long double value) {
    static const char *const names[] = {"deviance", "poisson_log", "binomial_log"};
    int is_single = strncmp(name, "rf32_", 5) == 0, digits = is_single ? 24 : 53, which = 0;
    long double error = fabsl((is_single ? many32 : many64)(name + 5, x) - value), bound;
    while (strcmp(names[which], name + 5) != 0) which++;
    assert_int_equal(arguments, which == 2 ? 3 : 2);
    bound = 12 * ulp(value, digits) + (which ? ldexpl(1.0L, is_single ? -20 : -49) : 0);
    bound += which == 2 ? fabsl(x[0] - x[1] * x[2]) * ldexpl(1.0L, 1 - digits) : 0;
    if (!(error <= bound)) fail_msg("%s(%a, %a, %a): %Lg of its bound", name, x[0], x[1], x[2], error / bound);
    worst_many[is_single][which] = fmax(worst_many[is_single][which], (double)(error / bound));
}

static void test_known_answers(void **state) {
    char line[256], name[64], a[64], b[64], c[64], d[64];
    size_t lines = 0;
    FILE *file = fopen(RF_KNOWN_MATH, "r");
    (void)state;
    if (file == NULL) fail_msg("cannot open " RF_KNOWN_MATH);
    start_afresh();
    for (; fgets(line, sizeof line, file) != NULL; lines++) {
        int fields = sscanf(line, "%63s %63s %63s %63s %63s", name, a, b, c, d);
        if (fields > 3 && !strstr(name, "pow")) {
            const double x[] = {strtod(a, NULL), strtod(b, NULL), fields > 4 ? strtod(c, NULL) : 0};
            compare_many(name, x, fields - 2, strtold(fields > 4 ? d : c, NULL));
        } else if (fields == 4) compare_pow(name, strtod(a, NULL), strtod(b, NULL), strtold(c, NULL));
        else if (fields == 3) compare(find(name), strtod(a, NULL), strtold(b, NULL));
        else fail_msg("bad line: %s", line);
    }
    fclose(file);
    assert_true(lines > 6000);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) report(&subjects[i]);
    for (int i = 0; i < 6; i++) {
        print_message("  %.2f of the bound\n", worst_many[i / 3][i % 3]);
        assert_true(worst_many[i / 3][i % 3] > 0); /* tested at least once */
    }
}

/* --- Sweeps against long double libm --------------------------------------------------------- */

/* Every stride-th float in [low, high], by bit pattern; 0 <= low. */
static void sweep_patterns(const char *name, float low, float high, uint32_t stride, int negative) {
    subject *f = find(name);
    for (uint32_t b = rf32_bits(low); b <= rf32_bits(high); b += stride) {
        double x = (double)rf32_from_bits(b);
        compare(f, negative ? -x : x, f->exact((long double)(negative ? -x : x)));
    }
}

static void test_float_sweeps(void **state) {
    static const char *const names[] = {"rf32_exp", "rf32_log", "rf32_sqrt", "rf32_sin", "rf32_cos",
                                        "rf32_sin_squared", "rf32_normal_cdf", "rf32_lgamma"};
    (void)state;
    start_afresh();
    sweep_patterns("rf32_exp", 0.0f, 0x1.62e42ep6f, 251, 0);
    sweep_patterns("rf32_exp", 0.0f, 0x1.5d589ep6f, 251, 1);
    sweep_patterns("rf32_log", 0x1p-149f, RF32_LARGEST, 251, 0);
    sweep_patterns("rf32_sqrt", 0.0f, RF32_LARGEST, 251, 0);
    sweep_patterns("rf32_normal_cdf", 0.0f, 15.0f, 499, 0);
    sweep_patterns("rf32_normal_cdf", 0.0f, 12.9f, 499, 1);
    sweep_patterns("rf32_lgamma", 0x1p-126f, 1e30f, 499, 0);
    sweep_patterns("rf32_lgamma", 0x1p-3f, 16.0f, 101, 0);
    sweep_patterns("rf32_sin", 0.0f, 1e5f, 499, 0);
    sweep_patterns("rf32_cos", 0.0f, 1e5f, 499, 1);
    sweep_patterns("rf32_sin", 0x1p-4f, 8.0f, 101, 1);
    sweep_patterns("rf32_cos", 0x1p-4f, 8.0f, 101, 0);
    sweep_patterns("rf32_sin_squared", 0.0f, 1e5f, 499, 0);
    sweep_patterns("rf32_sin_squared", 0x1p-4f, 8.0f, 101, 1);
    for (int n = 1; n < 63660; n++) /* near every multiple of pi/2 and odd multiple of pi/4 */
        for (int i = 0; i < 4; i++) {
            uint32_t b = rf32_bits((float)((i < 2 ? n : n - 0.5) * (double)pi / 2)) + (uint32_t)(i & 1);
            double x = (double)rf32_from_bits(b);
            compare(find("rf32_sin"), x, sinl(x));
            compare(find("rf32_cos"), x, cosl(x));
            compare(find("rf32_sin_squared"), x, exact_sin_squared(x));
        }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) report(find(names[i]));
}

static uint64_t source = 1;

static double random_between(double low, double high) { return test_uniform(&source, low, high); }

static void test_double_sweeps(void **state) {
    static const char *const names[] = {"rf64_exp", "rf64_log", "rf64_sqrt", "rf64_sin", "rf64_cos",
                                        "rf64_sin_squared", "rf64_normal_cdf", "rf64_lgamma"};
    (void)state;
    start_afresh();
    for (int i = 0; i < 1000000; i++) {
        double sign = i & 1 ? 1.0 : -1.0, x;
        x = sign * exp2(random_between(-55.0, 9.46)), compare(find("rf64_exp"), x, expl(x));
        x = random_between(-708.39, 709.78), compare(find("rf64_exp"), x, expl(x));
        x = exp2(random_between(-1074.0, 1023.9)), compare(find("rf64_log"), x, logl(x));
        x = random_between(0.4, 4.0), compare(find("rf64_log"), x, logl(x));
        x = exp2(random_between(-1074.0, 1023.9)), compare(find("rf64_sqrt"), x, sqrtl(x));
        x = sign * exp2(random_between(-55.0, 26.57)), compare(find("rf64_sin"), x, sinl(x));
        compare(find("rf64_cos"), x, cosl(x));
        x = random_between(-8.0, 8.0), compare(find("rf64_sin"), x, sinl(x));
        compare(find("rf64_cos"), x, cosl(x));
        compare(find("rf64_sin_squared"), x, exact_sin_squared(x));
        x = sign * exp2(random_between(-55.0, 26.57)), compare(find("rf64_sin_squared"), x, exact_sin_squared(x));
        /* Rounding of x / sqrt(2) causes an error of up to 1 ULP of double in the reference below -37. */
        x = random_between(-37.5, 9.0), compare(find("rf64_normal_cdf"), x, exact_normal_cdf(x));
    }
    for (int i = 0; i < 200000; i++) {
        double x = random_between(0.0, 12.0), near = (1 + (i & 1)) * (1.0 + (i & 2 ? 1 : -1) * exp2(random_between(-52, -1)));
        compare(find("rf64_lgamma"), x, lgammal(x));
        compare(find("rf64_lgamma"), near, lgammal(near));
        x = exp2(random_between(-1000.0, 1000.0)), compare(find("rf64_lgamma"), x, lgammal(x));
    }
    for (int i = 0; i < 200000; i++) { /* near multiples of pi/2 and odd multiples of pi/4 */
        double n = floor(random_between(1.0, 63661000.0)) - (i & 1 ? 0.5 : 0.0), x = n * (double)(pi / 2);
        compare(find("rf64_sin"), x, sinl(x));
        compare(find("rf64_cos"), x, cosl(x));
        compare(find("rf64_sin_squared"), x, exact_sin_squared(x));
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) report(find(names[i]));
}

/* --- Contracts ------------------------------------------------------------------------------- */

static void assert_same32(float a, float b) { assert_int_equal(rf32_bits(a), rf32_bits(b)); }
static void assert_same64(double a, double b) { assert_int_equal(rf64_bits(a), rf64_bits(b)); }

static void test_classification(void **state) {
    (void)state;
    assert_true(rf32_is_nan(rf32_nan()) && rf32_is_nan(-rf32_nan()) && rf32_is_nan(rf32_from_bits(0x7f800001u)));
    assert_true(rf64_is_nan(rf64_nan()) && rf64_is_nan(-rf64_nan()) && rf64_is_nan(rf64_from_bits(0x7ff0000000000001u)));
    assert_false(rf32_is_nan(rf32_infinity()) || rf32_is_nan(-RF32_LARGEST) || rf32_is_nan(0.0f));
    assert_false(rf64_is_nan(rf64_infinity()) || rf64_is_nan(-RF64_LARGEST) || rf64_is_nan(0.0));
    assert_true(rf32_is_finite(-RF32_LARGEST) && rf32_is_finite(0x1p-149f) && rf32_is_finite(-0.0f));
    assert_true(rf64_is_finite(-RF64_LARGEST) && rf64_is_finite(0x1p-1074) && rf64_is_finite(-0.0));
    assert_false(rf32_is_finite(-rf32_infinity()) || rf32_is_finite(rf32_infinity()) || rf32_is_finite(rf32_nan()));
    assert_false(rf64_is_finite(-rf64_infinity()) || rf64_is_finite(rf64_infinity()) || rf64_is_finite(rf64_nan()));
}

static void test_abs_min_max_floor(void **state) {
    (void)state;
    assert_same32(rf32_abs(-0.0f), 0.0f);
    assert_same64(rf64_abs(-0.0), 0.0);
    assert_same32(rf32_abs(-rf32_infinity()), rf32_infinity());
    assert_same64(rf64_abs(-3.5), 3.5);
    assert_true(rf32_min(1.0f, 2.0f) == 1.0f && rf32_max(1.0f, 2.0f) == 2.0f);
    assert_true(rf64_min(2.0, -1.0) == -1.0 && rf64_max(2.0, -1.0) == 2.0);
    assert_true(rf32_min(rf32_nan(), 2.0f) == 2.0f && rf32_is_nan(rf32_max(1.0f, rf32_nan())));
    assert_true(rf64_max(rf64_nan(), 2.0) == 2.0 && rf64_is_nan(rf64_min(1.0, rf64_nan())));
    for (uint64_t b = 0; b < 0x100000000u; b += 1021) {
        float x = rf32_from_bits((uint32_t)b);
        if (x == x) assert_true(rf32_floor(x) == floorf(x));
        else assert_true(rf32_is_nan(rf32_floor(x)));
    }
    for (int i = 0; i < 1000000; i++) {
        double x = (i & 1 ? 1 : -1) * exp2(random_between(-3.0, 60.0));
        assert_true(rf64_floor(x) == floor(x));
    }
    assert_true(rf64_floor(-0.0) == 0.0 && rf64_floor(-0x1p-1074) == -1.0 && rf64_is_nan(rf64_floor(rf64_nan())));
    assert_same64(rf64_floor(-rf64_infinity()), -rf64_infinity());
}

static void test_special_values(void **state) {
    const float inf32 = rf32_infinity(), below32 = rf32_from_bits(rf32_bits(-0x1.5d589ep6f) + 1);
    const double inf64 = rf64_infinity(), below64 = rf64_from_bits(rf64_bits(-0x1.6232bdd7abcd2p9) + 1);
    (void)state;
    assert_same32(rf32_exp(0.0f), 1.0f);
    assert_same64(rf64_exp(-0.0), 1.0);
    assert_same32(rf32_exp(-inf32), 0.0f);
    assert_same64(rf64_exp(-inf64), 0.0);
    assert_same32(rf32_exp(inf32), inf32);
    assert_same64(rf64_exp(inf64), inf64);
    assert_same32(rf32_exp(below32), 0.0f);
    assert_same64(rf64_exp(below64), 0.0);
    assert_same32(rf32_exp(0x1.62e430p6f), inf32);
    assert_same64(rf64_exp(0x1.62e42fefa39f0p9), inf64);
    assert_same32(rf32_exp(-RF32_LARGEST), 0.0f);
    assert_same64(rf64_exp(RF64_LARGEST), inf64);

    assert_same32(rf32_log(1.0f), 0.0f);
    assert_same64(rf64_log(1.0), 0.0);
    assert_same32(rf32_log(0.0f), -inf32);
    assert_same64(rf64_log(-0.0), -inf64);
    assert_same32(rf32_log(inf32), inf32);
    assert_same64(rf64_log(inf64), inf64);
    assert_true(rf32_is_nan(rf32_log(-1.0f)) && rf32_is_nan(rf32_log(-inf32)) && rf32_is_nan(rf32_log(-0x1p-149f)));
    assert_true(rf64_is_nan(rf64_log(-1.0)) && rf64_is_nan(rf64_log(-inf64)) && rf64_is_nan(rf64_log(-0x1p-1074)));

    assert_same32(rf32_sin(-0.0f), 0.0f);
    assert_same64(rf64_sin(-0.0), 0.0);
    assert_same32(rf32_cos(0.0f), 1.0f);
    assert_same64(rf64_cos(0.0), 1.0);
    assert_true(rf32_is_nan(rf32_sin(inf32)) && rf32_is_nan(rf32_cos(-inf32)));
    assert_true(rf64_is_nan(rf64_sin(inf64)) && rf64_is_nan(rf64_cos(-inf64)));
    assert_same32(rf32_sin_squared(0.0f), 0.0f);
    assert_same64(rf64_sin_squared(0.0), 0.0);
    assert_true(rf32_is_nan(rf32_sin_squared(inf32)) && rf64_is_nan(rf64_sin_squared(-inf64)));

    assert_same32(rf32_pow_positive(0.0f, 0.5f), 0.0f);
    assert_same64(rf64_pow_positive(0.0, 2.0), 0.0);
    assert_same32(rf32_pow_positive(3.0f, 0.0f), 1.0f);
    assert_same64(rf64_pow_positive(0.0, -1.0), inf64);

    assert_same32(rf32_normal_cdf(0.0f), 0.5f);
    assert_same64(rf64_normal_cdf(0.0), 0.5);
    assert_same32(rf32_normal_cdf(-inf32), 0.0f);
    assert_same64(rf64_normal_cdf(-inf64), 0.0);
    assert_same32(rf32_normal_cdf(inf32), 1.0f);
    assert_same64(rf64_normal_cdf(inf64), 1.0);
    assert_same32(rf32_normal_cdf(-13.1f), 0.0f);
    assert_same64(rf64_normal_cdf(-37.6), 0.0);

    assert_same32(rf32_normal_quantile(0.5f), 0.0f);
    assert_same64(rf64_normal_quantile(0.5), 0.0);
    assert_same32(rf32_normal_quantile(0.0f), -inf32);
    assert_same64(rf64_normal_quantile(-1.0), -inf64);
    assert_same32(rf32_normal_quantile(1.0f), inf32);
    assert_same64(rf64_normal_quantile(2.0), inf64);
    assert_same32(rf32_normal_quantile(0x1p-149f), rf32_normal_quantile(0x1p-125f));
    assert_same64(rf64_normal_quantile(0x1p-1074), rf64_normal_quantile(0x1p-1021));
}

/* Zeros, ends, and impossible counts. */
static void test_counts(void **state) {
    const float inf32 = rf32_infinity();
    const double inf64 = rf64_infinity();
    (void)state;
    assert_true(rf32_lgamma(1.0f) == 0.0f && rf32_lgamma(2.0f) == 0.0f && rf32_lgamma(0.0f) == inf32 && rf32_lgamma(inf32) == inf32);
    assert_true(rf64_lgamma(1.0) == 0.0 && rf64_lgamma(2.0) == 0.0 && rf64_lgamma(0.0) == inf64 && rf64_lgamma(inf64) == inf64);
    assert_true(rf32_is_nan(rf32_lgamma(-1.5f)) && rf64_is_nan(rf64_lgamma(-0.5)));
    assert_true(rf32_deviance(7.0f, 7.0f) == 0.0f && rf64_deviance(1e9, 1e9) == 0.0 && rf64_deviance(0.0, 3.0) == 3.0);
    assert_true(rf64_poisson_log(0.0, 0.0) == 0.0 && rf64_poisson_log(0.0, -2.0) == 0.0 && rf64_poisson_log(0.0, 2.5) == -2.5);
    assert_true(rf64_poisson_log(3.0, 0.0) == -inf64 && rf32_poisson_log(3.0f, -1.0f) == -inf32);
    assert_true(rf64_binomial_log(0.0, 5.0, 0.0) == 0.0 && rf64_binomial_log(5.0, 5.0, 1.0) == 0.0 && rf64_binomial_log(5.0, 5.0, 2.0) == 0.0);
    assert_true(rf64_binomial_log(1.0, 5.0, 0.0) == -inf64 && rf64_binomial_log(6.0, 5.0, 0.5) == -inf64 && rf64_binomial_log(0.0, 0.0, 0.3) == 0.0);
    for (double n = 1; n < 40; n++) { /* all possible outcomes together have probability 1 */
        double sum = 0, sum32 = 0, counts = 0;
        for (double k = 0; k <= n; k++) {
            sum += exp(rf64_binomial_log(k, n, n / 41));
            sum32 += exp((double)rf32_binomial_log((float)k, (float)n, (float)(n / 41)));
            assert_true(rf64_binomial_log(k, n, n / 41) <= rf64_binomial_peak(k, n) + 1e-12);
        }
        for (double k = 0; k < 200; k++)
            counts += exp(rf64_poisson_log(k, n));
        assert_true(fabs(sum - 1) < 1e-13 && fabs(sum32 - 1) < 3e-6 && fabs(counts - 1) < 1e-13);
    }
}

static void test_nan_stays(void **state) {
    (void)state;
    for (uint32_t payload = 1; payload < 0x800000u; payload = payload * 3 + 1)
        for (uint32_t sign = 0; sign < 2; sign++) {
            float x = rf32_from_bits(0x7f800000u | payload | sign << 31);
            double y = rf64_from_bits(0x7ff0000000000000u | payload | (uint64_t)payload << 29 | (uint64_t)sign << 63);
            assert_true(rf32_is_nan(rf32_exp(x)) && rf32_is_nan(rf32_log(x)) && rf32_is_nan(rf32_sqrt(x)));
            assert_true(rf64_is_nan(rf64_exp(y)) && rf64_is_nan(rf64_log(y)) && rf64_is_nan(rf64_sqrt(y)));
            assert_true(rf32_is_nan(rf32_sin(x)) && rf32_is_nan(rf32_cos(x)) && rf32_is_nan(rf32_sqrt_soft(x)));
            assert_true(rf64_is_nan(rf64_sin(y)) && rf64_is_nan(rf64_cos(y)) && rf64_is_nan(rf64_sqrt_soft(y)));
            assert_true(rf32_is_nan(rf32_sin_squared(x)) && rf64_is_nan(rf64_sin_squared(y)));
            assert_true(rf32_is_nan(rf32_normal_cdf(x)) && rf32_is_nan(rf32_normal_quantile(x)));
            assert_true(rf64_is_nan(rf64_normal_cdf(y)) && rf64_is_nan(rf64_normal_quantile(y)));
            assert_true(rf32_is_nan(rf32_lgamma(x)) && rf64_is_nan(rf64_lgamma(y)));
            assert_true(rf32_is_nan(rf32_pow_positive(x, 1.0f)) && rf64_is_nan(rf64_pow_positive(2.0, y)));
        }
}

static void test_sin_cos_stay_in_range(void **state) {
    (void)state;
    for (uint32_t b = 0; b < 0x7f800000u; b += 1021) {
        float x = rf32_from_bits(b), s, c, s2, c2;
        rf32_sincos(x, &s, &c);
        rf32_sincos(-x, &s2, &c2);
        assert_true(s >= -1.0f && s <= 1.0f && c >= -1.0f && c <= 1.0f);
        assert_true(rf32_sin_squared(x) >= 0.0f && rf32_sin_squared(x) <= 1.0f && (x > 1e5f || rf32_sin_squared(-x) == rf32_sin_squared(x)));
        assert_true(c2 == c && (x > 1e5f || s2 == -s)); /* odd and even, within the domain */
    }
    for (int i = 0; i < 1000000; i++) {
        double x = exp2(random_between(-1074.0, 1023.99)), s, c;
        rf64_sincos(x, &s, &c);
        assert_true(s >= -1.0 && s <= 1.0 && c >= -1.0 && c <= 1.0);
        assert_true(rf64_sin_squared(x) >= 0.0 && rf64_sin_squared(x) <= 1.0 && (x > 1e8 || rf64_sin_squared(-x) == rf64_sin_squared(x)));
        assert_true(rf64_cos(-x) == c && (x > 1e8 || rf64_sin(-x) == -s));
    }
}

static void test_soft_sqrt_is_the_instruction(void **state) {
    static const double edges[] = {0.0, -0.0, 0x1p-149, 0x1p-126, -1.0, 1.0, 4.0, 0x1.fffffep127,
                                   0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023, 0x1.fffffffffffffp0};
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        if (edges[i] < 0.0) assert_true(rf64_is_nan(rf64_sqrt_soft(edges[i])) && rf32_is_nan(rf32_sqrt_soft(-1.0f)));
        else assert_same64(rf64_sqrt_soft(edges[i]), sqrt(edges[i]));
        if (edges[i] >= 0.0 && edges[i] < 0x1p128) assert_same32(rf32_sqrt_soft((float)edges[i]), sqrtf((float)edges[i]));
    }
    assert_same32(rf32_sqrt_soft(rf32_infinity()), rf32_infinity());
    assert_same64(rf64_sqrt_soft(rf64_infinity()), rf64_infinity());
    assert_true(rf32_is_nan(rf32_sqrt_soft(-rf32_infinity())) && rf64_is_nan(rf64_sqrt_soft(-rf64_infinity())));
    assert_true(rf32_is_nan(rf32_sqrt(-1.0f)) && rf64_is_nan(rf64_sqrt(-1.0)));
    for (uint32_t b = 0; b < 0x7f800000u; b += 1021) {
        float x = rf32_from_bits(b);
        assert_same32(rf32_sqrt_soft(x), sqrtf(x));
        assert_same32(rf32_sqrt(x), sqrtf(x));
    }
    for (int i = 0; i < 2000000; i++) {
        uint64_t subnormal = i % 10 == 0 ? 0xfffffffffffffu >> (i % 50) : 0x7fefffffffffffffu;
        double x = rf64_from_bits(test_word(&source) & subnormal);
        if (!rf64_is_finite(x)) continue;
        assert_same64(rf64_sqrt_soft(x), sqrt(x));
        assert_same64(rf64_sqrt(x), sqrt(x));
    }
}

/* Rounding may reverse the order of neighbours, by at most twice the bound. */
static void test_normal_cdf_rises(void **state) {
    float high32 = 0.0f;
    double high64 = 0.0;
    (void)state;
    for (double x = -40.0; x < 40.0; x += 0x1p-15) {
        float p32 = rf32_normal_cdf((float)x);
        double p64 = rf64_normal_cdf(x);
        assert_true(p32 >= 0.0f && p32 <= 1.0f && p64 >= 0.0 && p64 <= 1.0);
        assert_true(p32 >= high32 * (1.0f - 12 * 0x1p-23f) && p64 >= high64 * (1.0 - 18 * 0x1p-52));
        high32 = rf32_max(high32, p32);
        high64 = rf64_max(high64, p64);
    }
}

/* x is off by at most 2^-22 max(1, |x|) (2^-51), and the hazard rate phi / Phi is below 1 + |x|. So p comes back
   within a relative 2^-22 (1 + |x|)^2, plus the bound of normal_cdf. */
static void test_quantile_round_trip(void **state) {
    (void)state;
    for (int i = 0; i < 300000; i++) {
        double p64 = i & 1 ? random_between(0.0, 1.0) : exp2(random_between(-1021.0, 0.0));
        float p32 = i & 1 ? (float)p64 : (float)exp2(random_between(-125.0, 0.0));
        if (p64 > 0.0 && p64 < 1.0) {
            double x = rf64_normal_quantile(p64), room = 1.0 + fabs(x);
            assert_true(fabs(rf64_normal_cdf(x) - p64) <= p64 * (0x1p-51 * room * room + 9 * 0x1p-52));
        }
        if (p32 > 0.0f && p32 < 1.0f) {
            double x = (double)rf32_normal_quantile(p32), room = 1.0 + fabs(x);
            double back = (double)rf32_normal_cdf((float)x);
            assert_true(fabs(back - (double)p32) <= (double)p32 * (0x1p-22 * room * room + 6 * 0x1p-23));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_float_sweeps),
        cmocka_unit_test(test_double_sweeps),
        cmocka_unit_test(test_classification),
        cmocka_unit_test(test_abs_min_max_floor),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_nan_stays),
        cmocka_unit_test(test_sin_cos_stay_in_range),
        cmocka_unit_test(test_soft_sqrt_is_the_instruction),
        cmocka_unit_test(test_normal_cdf_rises),
        cmocka_unit_test(test_quantile_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
