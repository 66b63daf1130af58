/* Elementary functions in float (rf32_) and double (rf64_), built on + - * / and integers alone.

   The same bits on every IEEE 754 target, scalar or SIMD. This needs rounding to nearest, no wider intermediates
   (FLT_EVAL_METHOD 0), and -ffp-contract=off, never -ffast-math. There are no tables and no branches, so loops that
   call these functions vectorise (gcc: add -fno-math-errno and -fno-trapping-math); the exceptions are sqrt_soft and
   normal_quantile.

   Bounds are in ULP of the exact result and hold over the stated domain. exp and normal_cdf give 0 where the result is
   below the smallest normal number, so that targets which flush subnormal numbers agree for normal arguments. NaN in,
   NaN out (but see min and max). */
#ifndef REJFILT_FUNCTIONS_H
#define REJFILT_FUNCTIONS_H

#include "detail/port.h"

/* --- Representation -------------------------------------------------------------------------- */

/* The smallest normal number, and the largest finite one. */
#define RF32_SMALLEST_NORMAL 0x1p-126f
#define RF64_SMALLEST_NORMAL 0x1p-1022
#define RF32_LARGEST 0x1.fffffep127f
#define RF64_LARGEST 0x1.fffffffffffffp1023

/* The bits of a number. */
RF_FN uint32_t rf32_bits(float x) {
    uint32_t b;
    __builtin_memcpy(&b, &x, sizeof b);
    return b;
}

RF_FN uint64_t rf64_bits(double x) {
    uint64_t b;
    __builtin_memcpy(&b, &x, sizeof b);
    return b;
}

/* The number with these bits. */
RF_FN float rf32_from_bits(uint32_t b) {
    float x;
    __builtin_memcpy(&x, &b, sizeof x);
    return x;
}

RF_FN double rf64_from_bits(uint64_t b) {
    double x;
    __builtin_memcpy(&x, &b, sizeof x);
    return x;
}

/* Infinity, and a NaN. */
RF_FN float rf32_infinity(void) { return rf32_from_bits(0x7f800000u); }
RF_FN double rf64_infinity(void) { return rf64_from_bits(0x7ff0000000000000u); }
RF_FN float rf32_nan(void) { return rf32_from_bits(0x7fc00000u); }
RF_FN double rf64_nan(void) { return rf64_from_bits(0x7ff8000000000000u); }

/* Is x finite; is it a NaN? Bit tests: they hold under any compiler flag. */
RF_FN int rf32_is_finite(float x) { return (rf32_bits(x) & 0x7fffffffu) < 0x7f800000u; }
RF_FN int rf64_is_finite(double x) { return (rf64_bits(x) << 1) < 0xffe0000000000000u; }
RF_FN int rf32_is_nan(float x) { return (rf32_bits(x) & 0x7fffffffu) > 0x7f800000u; }
RF_FN int rf64_is_nan(double x) { return (rf64_bits(x) << 1) > 0xffe0000000000000u; }

/* --- abs, min, max, floor: exact ------------------------------------------------------------- */

/* |x|, exactly. */
RF_FN float rf32_abs(float x) { return rf32_from_bits(rf32_bits(x) & 0x7fffffffu); }
RF_FN double rf64_abs(double x) { return rf64_from_bits(rf64_bits(x) & 0x7fffffffffffffffu); }

/* The smaller, and the larger, of two numbers. If either is NaN, the result is b. */
RF_FN float rf32_min(float a, float b) { return a < b ? a : b; }
RF_FN double rf64_min(double a, double b) { return a < b ? a : b; }
RF_FN float rf32_max(float a, float b) { return a > b ? a : b; }
RF_FN double rf64_max(double a, double b) { return a > b ? a : b; }

/* The largest integer not above x, for every x; floor(-0) is +0. */
RF_FN float rf32_floor(float x) {
    float unit = rf32_from_bits((rf32_bits(x) & 0x80000000u) | 0x4b000000u); /* 2^23, x's sign */
    float rounded = (x + unit) - unit;
    float down = rounded > x ? rounded - 1.0f : rounded;
    return rf32_abs(x) < 0x1p23f ? down : x;
}

RF_FN double rf64_floor(double x) {
    double unit = rf64_from_bits((rf64_bits(x) & 0x8000000000000000u) | 0x4330000000000000u);
    double rounded = (x + unit) - unit;
    double down = rounded > x ? rounded - 1.0 : rounded;
    return rf64_abs(x) < 0x1p52 ? down : x;
}

/* --- sqrt: correctly rounded for every x; sqrt(-0) = -0, x < 0 gives NaN --------------------- */

/* Two bits of the significand give one bit of the root. The last bit, worth half an ULP, does the rounding: the root of
   a number of this width is never halfway between two others. */
RF_FN float rf32_sqrt_soft(float x) {
    uint32_t m = rf32_bits(x) & 0x7fffffu, root = 0, rest = 0;
    int32_t e = (int32_t)(rf32_bits(x) >> 23) - 127;
    if (x == 0.0f || !(x <= RF32_LARGEST)) return x;
    if (x < 0.0f) return rf32_nan();
    if (e > -127) m |= 0x800000u;
    else for (e = -126; m < 0x800000u; e--) m <<= 1;
    m <<= 7 + (e & 1);
    for (int i = 0; i < 25; i++, m <<= 2) {
        uint32_t bit;
        rest = (rest << 2) | (m >> 30);
        bit = rest > root << 2;
        rest -= bit ? (root << 2) + 1 : 0;
        root = (root << 1) | bit;
    }
    e = (e - (e & 1)) / 2;
    return rf32_from_bits(((uint32_t)(e + 126) << 23) + ((root + 1) >> 1));
}

RF_FN double rf64_sqrt_soft(double x) {
    uint64_t m = rf64_bits(x) & 0xfffffffffffffu, root = 0, rest = 0;
    int32_t e = (int32_t)(rf64_bits(x) >> 52) - 1023;
    if (x == 0.0 || !(x <= RF64_LARGEST)) return x;
    if (x < 0.0) return rf64_nan();
    if (e > -1023) m |= 0x10000000000000u;
    else for (e = -1022; m < 0x10000000000000u; e--) m <<= 1;
    m <<= 10 + (e & 1);
    for (int i = 0; i < 54; i++, m <<= 2) {
        uint64_t bit;
        rest = (rest << 2) | (m >> 62);
        bit = rest > root << 2;
        rest -= bit ? (root << 2) + 1 : 0;
        root = (root << 1) | bit;
    }
    e = (e - (e & 1)) / 2;
    return rf64_from_bits(((uint64_t)(e + 1022) << 52) + ((root + 1) >> 1));
}

#if RF_SQRT32_INSTRUCTION
/* The square root, correctly rounded. */
RF_FN float rf32_sqrt(float x) { return __builtin_sqrtf(x); }
#else
RF_FN float rf32_sqrt(float x) { return rf32_sqrt_soft(x); }
#endif

#if RF_SQRT64_INSTRUCTION
RF_FN double rf64_sqrt(double x) { return __builtin_sqrt(x); }
#else
RF_FN double rf64_sqrt(double x) { return rf64_sqrt_soft(x); }
#endif

/* --- exp: 1.1 ULP; +inf on overflow, 0 when the result is below the smallest normal ---------- */

/* exp(x - y), where y, |y| < 1/8, holds the digits that do not fit in x. x - y = n ln 2 + r, |r| < 0.347. Adding 1.5 *
   2^(significand bits) rounds to an integer and leaves it in the low bits. */
RF_FN float rf32_exp_difference(float x, float y) {
    float v = x - y;
    float shifted = v * 0x1.715476p0f + 0x1.8p23f;
    float n = shifted - 0x1.8p23f;
    float r = ((x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f) - y;
    float p = 0x1.6d4e76p-10f;
    float z;
    p = p * r + 0x1.120c34p-7f;
    p = p * r + 0x1.5554e8p-5f;
    p = p * r + 0x1.5554dcp-3f;
    p = p * r + 0x1p-1f;
    p = 1.0f + (r + r * r * p);
    z = rf32_from_bits(rf32_bits(p) + (rf32_bits(shifted) << 23));
    z = v > 0x1.62e42ep6f ? rf32_infinity() : z;
    z = v < -0x1.5d589ep6f ? 0.0f : z;
    return v == v ? z : v;
}

RF_FN double rf64_exp_difference(double x, double y) {
    double v = x - y;
    double shifted = v * 0x1.71547652b82fep0 + 0x1.8p52;
    double n = shifted - 0x1.8p52;
    double r = ((x - n * 0x1.62e42fefa4p-1) + n * 0x1.8432a1b0e2634p-43) - y;
    double p = 0x1.af6207b88879ap-26;
    double z;
    p = p * r + 0x1.28921c6afa7e6p-22;
    p = p * r + 0x1.71ddf765046cp-19;
    p = p * r + 0x1.a019b87ba93cap-16;
    p = p * r + 0x1.a01a01afc1762p-13;
    p = p * r + 0x1.6c16c178b9d9ap-10;
    p = p * r + 0x1.111111110f8ccp-7;
    p = p * r + 0x1.5555555553cbap-5;
    p = p * r + 0x1.5555555555558p-3;
    p = p * r + 0x1.0000000000001p-1;
    p = 1.0 + (r + r * r * p);
    z = rf64_from_bits(rf64_bits(p) + (rf64_bits(shifted) << 52));
    z = v > 0x1.62e42fefa39efp9 ? rf64_infinity() : z;
    z = v < -0x1.6232bdd7abcd2p9 ? 0.0 : z;
    return v == v ? z : v;
}

/* e to the x: 1.1 ULP. */
RF_FN float rf32_exp(float x) { return rf32_exp_difference(x, 0.0f); }
RF_FN double rf64_exp(double x) { return rf64_exp_difference(x, 0.0); }

/* --- log: 1 ULP, subnormals included; log(0) = -inf, x < 0 gives NaN ------------------------- */

/* R / s^2 below, for z = s^2 <= 0.0295. */
RF_FN float rf32_log_series(float z) {
    float p = 0x1.2ef96ap-2f;
    p = p * z + 0x1.997b8cp-2f;
    p = p * z + 0x1.55555cp-1f;
    return p;
}

RF_FN double rf64_log_series(double z) {
    double p = 0x1.2b619d685014ap-3;
    p = p * z + 0x1.39fd9d8782f1dp-3;
    p = p * z + 0x1.7462ba833844bp-3;
    p = p * z + 0x1.c71c62d1a5004p-3;
    p = p * z + 0x1.2492492dff073p-2;
    p = p * z + 0x1.999999999529fp-2;
    p = p * z + 0x1.5555555555558p-1;
    return p;
}

/* The natural logarithm, to 1 ULP. x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); with s = f / (2 + f),
   log(1 + f) = 2 atanh(s) = f - s (f - R), where R is a polynomial in s^2. */
RF_FN float rf32_log(float x) {
    float scaled = x * 0x1p25f;
    int subnormal = x < RF32_SMALLEST_NORMAL;
    uint32_t b = rf32_bits(subnormal ? scaled : x) + 0x4afb0du;
    float k = (float)(int32_t)(b >> 23) - (subnormal ? 152.0f : 127.0f);
    float f = rf32_from_bits((b & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    float s = f / (2.0f + f);
    float z = s * s;
    float p = rf32_log_series(z);
    p = f - (s * (f - z * p) - k * 0x1.7f7d1cp-20f);
    p = k * 0x1.62e4p-1f + p;
    p = x <= RF32_LARGEST ? p : x;
    p = x > 0.0f ? p : rf32_nan();
    return x == 0.0f ? -rf32_infinity() : p;
}

RF_FN double rf64_log(double x) {
    double scaled = x * 0x1p54;
    int subnormal = x < RF64_SMALLEST_NORMAL;
    uint64_t b = rf64_bits(subnormal ? scaled : x) + 0x95f619980c433u;
    double biased = rf64_from_bits((b >> 52) | 0x4330000000000000u) - 0x1p52;
    double k = biased - (subnormal ? 1077.0 : 1023.0);
    double f = rf64_from_bits((b & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
    double s = f / (2.0 + f);
    double z = s * s;
    double p = rf64_log_series(z);
    p = f - (s * (f - z * p) + k * 0x1.8432a1b0e2634p-43);
    p = k * 0x1.62e42fefa4p-1 + p;
    p = x <= RF64_LARGEST ? p : x;
    p = x > 0.0 ? p : rf64_nan();
    return x == 0.0 ? -rf64_infinity() : p;
}

/* -2 log u for u in [2^-32, 1]: never negative, absolute error 2e-6 and relative 1e-6. */
RF_FN float rf32_minus_2_log(float u) {
    uint32_t power = (rf32_bits(u) - 0x3f3504f3u) & 0xff800000u; /* k 2^23 */
    float f = rf32_from_bits(rf32_bits(u) - power) - 1.0f;
    float p = -0x1.b5ae5p-4f;
    p = p * f + 0x1.4b3456p-3f;
    p = p * f - 0x1.5d91f6p-3f;
    p = p * f + 0x1.97b682p-3f;
    p = p * f - 0x1.ffafa6p-3f;
    p = p * f + 0x1.55589cp-2f;
    p = p * f - 0x1.00001ap-1f;
    return rf_exact_plus(f + f * f * p, -2.0f, (float)(int32_t)power * -0x1.62e43p-23f);
}

/* x^y = exp(y log x) for x >= 0, not both zero: 1.1 + 3 |y log x| ULP. */
RF_FN float rf32_pow_positive(float x, float y) { return rf32_exp(y * rf32_log(x)); }
RF_FN double rf64_pow_positive(double x, double y) { return rf64_exp(y * rf64_log(x)); }

/* --- sin, cos: 2.5 ULP + 2^-27 for |x| <= 1e5 (float), 2 ULP + 2^-55 for |x| <= 1e8 (double) -- */

/* The absolute term matters only near large multiples of pi/2. Beyond the domain accuracy decreases, finally to none,
   but the result for a finite x stays in [-1, 1]. Infinite x gives NaN. sin(-0) is +0. */

/* sin r for |r| < 1.58: r and its odd powers. */
RF_FN float rf32_sin_half_turn(float r) {
    float z = r * r, p;
    p = 0x1.613a72p-19f;
    p = p * z - 0x1.9fb07ap-13f;
    p = p * z + 0x1.111034p-7f;
    p = p * z - 0x1.555554p-3f;
    return r + r * z * p;
}

/* (sin r / r - 1) / z for z = r^2, |r| < 1.58. */
RF_FN double rf64_sin_series(double z) {
    double p = 0x1.87398aa0b273p-49;
    p = p * z - 0x1.ae3abf509f862p-41;
    p = p * z + 0x1.6123adc93715p-33;
    p = p * z - 0x1.ae6454654432ap-26;
    p = p * z + 0x1.71de3a51d408ep-19;
    p = p * z - 0x1.a01a01a0136fcp-13;
    p = p * z + 0x1.11111111110bap-7;
    p = p * z - 0x1.5555555555555p-3;
    return p;
}

RF_FN double rf64_sin_half_turn(double r) {
    double z = r * r;
    return r + r * z * rf64_sin_series(z);
}

/* (-1)^n sin(x - (n - shift) pi), with n the integer nearest to x/pi + shift: sin x for shift 0, and cos x for shift
   1/2. pi is a sum of short parts, so that all products but the last are exact. Far beyond the domain no digit of the
   remainder is left; it becomes x - x: 0, or NaN for an infinite x. */
RF_FN float rf32_sin_shifted(float x, float shift) {
    float near = (x * 0x1.45f306p-2f + shift) + 0x1.8p23f;
    float h = (near - 0x1.8p23f) - shift;
    float r = ((x - h * 0x1.92p+1f) - h * 0x1.fap-11f) - h * 0x1.54442e0000000p-19f;
    r = rf32_abs(r) < 1.58f ? r : x - x;
    return rf32_from_bits(rf32_bits(rf32_sin_half_turn(r)) ^ (rf32_bits(near) << 31));
}

RF_FN double rf64_sin_shifted(double x, double shift) {
    double near = (x * 0x1.45f306dc9c883p-2 + shift) + 0x1.8p52;
    double h = (near - 0x1.8p52) - shift;
    double r = ((x - h * 0x1.921fb54000000p+1) - h * 0x1.10b4610000000p-29) - h * 0x1.a62633145c06ep-57;
    r = rf64_abs(r) < 1.58 ? r : x - x;
    return rf64_from_bits(rf64_bits(rf64_sin_half_turn(r)) ^ (rf64_bits(near) << 63));
}

/* Sine and cosine: 2.5 ULP + 2^-27 for |x| <= 1e5 (float), 2 ULP + 2^-55 for |x| <= 1e8 (double). */
RF_FN float rf32_sin(float x) { return rf32_sin_shifted(x, 0.0f); }
RF_FN double rf64_sin(double x) { return rf64_sin_shifted(x, 0.0); }
RF_FN float rf32_cos(float x) { return rf32_sin_shifted(rf32_abs(x), 0.5f); }
RF_FN double rf64_cos(double x) { return rf64_sin_shifted(rf64_abs(x), 0.5); }

/* sin^2 x, as in the interference of two phases: in [0, 1], to 5.5 ULP + 2^-26 (float), 4 ULP + 2^-54 (double), over
   the same domain. Cheaper than the sine, since it needs no signs. */
RF_FN float rf32_sin_squared(float x) {
    float n = (x * 0x1.45f306p-2f + 0x1.8p23f) - 0x1.8p23f;
    float r = ((x - n * 0x1.92p+1f) - n * 0x1.fap-11f) - n * 0x1.54442ep-19f;
    float z = r * r;
    float p = (0x1.613a72p-19f * z - 0x1.9fb07ap-13f) * (z * z) + (0x1.111034p-7f * z - 0x1.555554p-3f);
    float w = 1.0f + z * p;
    return rf32_min(1.0f, z * (w * w));
}

RF_FN double rf64_sin_squared(double x) {
    double n = (x * 0x1.45f306dc9c883p-2 + 0x1.8p52) - 0x1.8p52;
    double r = ((x - n * 0x1.921fb54000000p+1) - n * 0x1.10b4610000000p-29) - n * 0x1.a62633145c06ep-57;
    double z = r * r;
    double w = 1.0 + z * rf64_sin_series(z);
    return rf64_min(1.0, z * (w * w));
}

/* Sine and cosine together, with the bits of sin and cos. */
RF_FN void rf32_sincos(float x, float *s, float *c) {
    *s = rf32_sin(x);
    *c = rf32_cos(x);
}

RF_FN void rf64_sincos(double x, double *s, double *c) {
    *s = rf64_sin(x);
    *c = rf64_cos(x);
}

/* A point of the unit circle, uniform if w is. The angle is w as a signed share of a half turn; the last bit of w is
   the sign of the cosine. Each coordinate to 4e-7 in float, 4e-16 in double. */
RF_FN void rf32_circle(uint32_t w, float *s, float *c) {
    float r = (float)(int32_t)w * 0x1.921fb6p-31f;
    float z = r * r;
    float p = 0x1.616a62p-19f, q = 0x1.89c22p-16f;
    p = p * z - 0x1.9fb2bcp-13f;
    p = p * z + 0x1.11103ap-7f;
    p = p * z - 0x1.555554p-3f;
    q = q * z - 0x1.6b8cc8p-10f;
    q = q * z + 0x1.55532ap-5f;
    q = q * z - 0x1.fffffap-2f;
    *s = r + r * z * p;
    *c = rf32_from_bits(rf32_bits(q * z + 1.0f) + (w << 31)); /* this sum acts as an exclusive or */
}

RF_FN void rf64_circle(uint32_t w, double *s, double *c) {
    double r = (double)(int32_t)w * 0x1.921fb54442d18p-31;
    *s = rf64_sin_half_turn(r);
    *c = rf64_from_bits(rf64_bits(rf64_sin_half_turn(0x1.921fb54442d18p0 - rf64_abs(r))) ^ ((uint64_t)w << 63));
}

/* --- Normal distribution --------------------------------------------------------------------- */

/* Phi(x): 6 ULP (float), 9 ULP (double), 0 below -12.95 (-37.52); in [0, 1], Phi(0) = 1/2 exactly. Phi(-a) = exp(-a^2 /
   2) M(a), with M a quotient of polynomials whose terms are all positive. a^2 is formed from a short leading part h of
   a and the rest, so that no digit is lost. */
RF_FN float rf32_normal_cdf(float x) {
    float a = rf32_min(15.0f, rf32_abs(x)), b = a * a, h, p, even, odd;
    h = rf32_from_bits(rf32_bits(a) & 0xfffff000u);
    even = 0x1.058ce2p-8f;
    even = even * b + 0x1.723c6p-3f;
    even = even * b + 0x1p-1f;
    odd = 0x1.460a92p-5f;
    odd = odd * b + 0x1.bd71ap-2f;
    p = even + a * odd;
    even = 0x1.98a9b8p-4f;
    even = even * b + 0x1.313d3cp0f;
    even = even * b + 1.0f;
    odd = 0x1.47ccc8p-7f;
    odd = odd * b + 0x1.da17fp-2f;
    odd = odd * b + 0x1.aafafep0f;
    p = rf32_exp_difference(-0.5f * h * h, 0.5f * (a - h) * (a + h)) * (p / (even + a * odd));
    p = p < RF32_SMALLEST_NORMAL ? 0.0f : p;
    return x > 0.0f ? 1.0f - p : p;
}

RF_FN double rf64_normal_cdf(double x) {
    double a = rf64_min(39.0, rf64_abs(x)), b = a * a, h, p, even, odd;
    h = rf64_from_bits(rf64_bits(a) & 0xfffffffff8000000u);
    even = 0x1.de0f5440dd80ep-23;
    even = even * b + 0x1.bccc13fa0f491p-14;
    even = even * b + 0x1.d1354fcc4d26dp-8;
    even = even * b + 0x1.0dd5fe8871e4p-3;
    even = even * b + 0x1.5b921c907d634p-1;
    even = even * b + 0x1p-1;
    odd = 0x1.d1685554d8e51p-18;
    odd = odd * b + 0x1.0f6e4b02cf094p-10;
    odd = odd * b + 0x1.23608af0651f7p-5;
    odd = odd * b + 0x1.6d515b778be9fp-2;
    odd = odd * b + 0x1.a7a6436cb32a5p-1;
    p = even + a * odd;
    even = 0x1.23a6a37fd562cp-16;
    even = even * b + 0x1.5677748b72c3cp-9;
    even = even * b + 0x1.77acefe4c644bp-4;
    even = even * b + 0x1.f4f00d9ad983fp-1;
    even = even * b + 0x1.6848cdbb78b94p1;
    even = even * b + 1.0;
    odd = 0x1.2b9460d6abbbp-21;
    odd = odd * b + 0x1.1752069a82928p-12;
    odd = odd * b + 0x1.27dced033c98bp-6;
    odd = odd * b + 0x1.63deefc4d1a6bp-2;
    odd = odd * b + 0x1.ffb8c7a856d4dp0;
    odd = odd * b + 0x1.39f43685aa6e7p1;
    p = rf64_exp_difference(-0.5 * h * h, 0.5 * (a - h) * (a + h)) * (p / (even + a * odd));
    p = p < RF64_SMALLEST_NORMAL ? 0.0 : p;
    return x > 0.0 ? 1.0 - p : p;
}

/* The x with Phi(x) = p, within 2^-22 max(1, |x|) (float), 2^-51 max(1, |x|) (double). p = 1/2 gives 0, p <= 0 -inf, p
   >= 1 +inf; 0 < p < 2^-125 (2^-1021) is treated as that limit. Halley's iteration. */
RF_FN float rf32_normal_quantile(float p) {
    float tail = rf32_max(p > 0.5f ? 1.0f - p : p, 0x1p-125f);
    float t = rf32_sqrt(-2.0f * rf32_log(tail));
    float z = (2.1560629f + 0.20663339f * t) / (1.0f + (0.85492303f + 0.034678257f * t) * t) - t;
    for (int i = 0; i < 3; i++) {
        float density = 0x1.988454p-2f * rf32_exp(-0.5f * z * z);
        float step = (rf32_normal_cdf(z) - tail) / density;
        z -= step / (1.0f + 0.5f * z * step);
    }
    z = p > 0.5f ? -z : z;
    z = p == 0.5f ? 0.0f : z;
    z = p <= 0.0f ? -rf32_infinity() : z;
    z = p >= 1.0f ? rf32_infinity() : z;
    return p == p ? z : p;
}

RF_FN double rf64_normal_quantile(double p) {
    double tail = rf64_max(p > 0.5 ? 1.0 - p : p, 0x1p-1021);
    double t = rf64_sqrt(-2.0 * rf64_log(tail));
    double z = (2.1560629 + 0.20663339 * t) / (1.0 + (0.85492303 + 0.034678257 * t) * t) - t;
    for (int i = 0; i < 3; i++) {
        double density = 0x1.9884533d43651p-2 * rf64_exp(-0.5 * z * z);
        double step = (rf64_normal_cdf(z) - tail) / density;
        z -= step / (1.0 + 0.5 * z * step);
    }
    z = p > 0.5 ? -z : z;
    z = p == 0.5 ? 0.0 : z;
    z = p <= 0.0 ? -rf64_infinity() : z;
    z = p >= 1.0 ? rf64_infinity() : z;
    return p == p ? z : p;
}

/* --- Counts and readings --------------------------------------------------------------------- */

/* lgamma(x) - (x - 1/2) log x + x - log(2 pi) / 2 for x >= 8: Stirling's series. */
RF_FN float rf32_stirling(float x) {
    float z = 1.0f / (x * x), p;
    p = 0x1.98f7fep-11f;
    p = p * z - 0x1.6c141ap-9f;
    p = p * z + 0x1.555556p-4f;
    return p / x;
}

RF_FN double rf64_stirling(double x) {
    double z = 1.0 / (x * x), p;
    p = 0x1.4c1b9eab71fd3p-8;
    p = p * z - 0x1.ef92af5195982p-10;
    p = p * z + 0x1.b92c632a041e6p-11;
    p = p * z - 0x1.38134db1bbe77p-11;
    p = p * z + 0x1.a01a017e2c132p-11;
    p = p * z - 0x1.6c16c16c14a74p-9;
    p = p * z + 0x1.5555555555555p-4;
    return p / x;
}

/* The logarithm of the gamma function for x > 0: 5 ULP (float), 6 ULP (double), also near its zeros at 1 and 2.
   lgamma(0) is +inf, x < 0 gives NaN. For a in 0..2, lgamma(1 + a) is a (a - 1) times a quotient of polynomials whose
   terms are all positive; other x below 8 are shifted there by factors x - 1, x - 2, ... */
RF_FN float rf32_lgamma(float x) {
    int below = x < 1.0f, above = !(x < 8.0f);
    float y = x, product = 1.0f, a, p, q, l, small, large;
    for (int i = 0; i < 5; i++) {
        int is_over = y >= 3.0f;
        product = is_over ? product * (y - 1.0f) : product;
        y = is_over ? y - 1.0f : y;
    }
    a = below ? x : y - 1.0f;
    p = 0x1.14e9p-12f;
    p = p * a + 0x1.281d2ep-5f;
    p = p * a + 0x1.5c09d6p-2f;
    p = p * a + 0x1.abc96ap-1f;
    p = p * a + 0x1.2788dp-1f;
    q = 0x1.94e1f8p-7f;
    q = q * a + 0x1.da82a8p-3f;
    q = q * a + 0x1.1d7734p0f;
    q = q * a + 0x1.df54e8p0f;
    q = q * a + 1.0f;
    l = rf32_log(above || below ? x : product);
    small = a * (a - 1.0f) * (p / q) + (below ? -l : l);
    large = (x - 0.5f) * (l - 1.0f) + (0x1.acfe3ap-2f + rf32_stirling(x));
    small = above ? large : small;
    return x <= RF32_LARGEST ? small : x;
}

RF_FN double rf64_lgamma(double x) {
    int below = x < 1.0, above = !(x < 8.0);
    double y = x, product = 1.0, a, p, q, l, small, large;
    for (int i = 0; i < 5; i++) {
        int is_over = y >= 3.0;
        product = is_over ? product * (y - 1.0) : product;
        y = is_over ? y - 1.0 : y;
    }
    a = below ? x : y - 1.0;
    p = 0x1.e2d8417827f5dp-23;
    p = p * a + 0x1.21752d8813e37p-13;
    p = p * a + 0x1.7c52a5413e662p-8;
    p = p * a + 0x1.41920de86eb13p-4;
    p = p * a + 0x1.e3cff715dae15p-2;
    p = p * a + 0x1.706a5a4b64c85p0;
    p = p * a + 0x1.26a57da34b414p1;
    p = p * a + 0x1.d6bdd0ac6f9dap0;
    p = p * a + 0x1.2788cfc6fb619p-1;
    q = 0x1.19780fc723f52p-15;
    q = q * a + 0x1.2497330bc6151p-9;
    q = q * a + 0x1.66cc0a45bf3bp-5;
    q = q * a + 0x1.7ffe19314c8dfp-2;
    q = q * a + 0x1.a4cefd1f1900bp0;
    q = q * a + 0x1.f9e41d79222c3p1;
    q = q * a + 0x1.502dae4c468f2p2;
    q = q * a + 0x1.ce2797a05422ap1;
    q = q * a + 1.0;
    l = rf64_log(above || below ? x : product);
    small = a * (a - 1.0) * (p / q) + (below ? -l : l);
    large = (x - 0.5) * (l - 1.0) + (0x1.acfe390c97d69p-2 + rf64_stirling(x));
    small = above ? large : small;
    return x <= RF64_LARGEST ? small : x;
}

/* k log(k / mean) - k + mean for k >= 0: the distance of a count from its mean in nats, never negative. 12 ULP, also if
   k and mean are nearly equal. +inf for mean = 0 < k. */
RF_FN float rf32_deviance(float k, float mean) {
    float f = (mean - k) / k, s = f / (2.0f + f), z = s * s;
    float series = k * (s * (f - z * rf32_log_series(z)));
    float plain = (mean - k) - k * rf32_log(mean / k);
    plain = f > -0.29f && f < 0.41f ? series : plain;
    return k > 0.0f ? plain : mean;
}

RF_FN double rf64_deviance(double k, double mean) {
    double f = (mean - k) / k, s = f / (2.0 + f), z = s * s;
    double series = k * (s * (f - z * rf64_log_series(z)));
    double plain = (mean - k) - k * rf64_log(mean / k);
    plain = f > -0.29 && f < 0.41 ? series : plain;
    return k > 0.0 ? plain : mean;
}

/* ln of the largest probability of the count k in any Poisson distribution: the one with mean k. */
RF_FN float rf32_poisson_peak(float k) {
    float large = -0.5f * rf32_log(0x1.921fb6p2f * k) - rf32_stirling(k);
    float small = (k * rf32_log(k) - k) - rf32_lgamma(k + 1.0f);
    small = k < 8.0f ? small : large;
    return k == 0.0f ? 0.0f : small;
}

RF_FN double rf64_poisson_peak(double k) {
    double large = -0.5 * rf64_log(0x1.921fb54442d18p2 * k) - rf64_stirling(k);
    double small = (k * rf64_log(k) - k) - rf64_lgamma(k + 1.0);
    small = k < 8.0 ? small : large;
    return k == 0.0 ? 0.0 : small;
}

/* ln of the probability of a count k = 0, 1, 2, ... with that mean; a negative mean counts as 0. The absolute error is
   at most 2^-20 (float), 2^-49 (double) plus 12 ULP of the deviance, for small and large counts alike. */
RF_FN float rf32_poisson_log(float k, float mean) {
    return rf32_poisson_peak(k) - rf32_deviance(k, rf32_max(mean, 0.0f));
}

RF_FN double rf64_poisson_log(double k, double mean) {
    return rf64_poisson_peak(k) - rf64_deviance(k, rf64_max(mean, 0.0));
}

/* The same for k out of n, each with probability p, which is clamped to 0..1. k > n has probability 0. The rounding of
   n p adds an error of |k - n p| 2^-23 (float), 2^-52 (double). */
RF_FN float rf32_binomial_peak(float k, float n) {
    float log_c = (rf32_poisson_peak(k) + rf32_poisson_peak(n - k)) - rf32_poisson_peak(n);
    return k <= n ? rf32_min(log_c, 0.0f) : 0.0f;
}

RF_FN double rf64_binomial_peak(double k, double n) {
    double log_c = (rf64_poisson_peak(k) + rf64_poisson_peak(n - k)) - rf64_poisson_peak(n);
    return k <= n ? rf64_min(log_c, 0.0) : 0.0;
}

/* ln of the probability of k successes in n trials with success probability p. */
RF_FN float rf32_binomial_log(float k, float n, float p) {
    float held = rf32_min(rf32_max(p, 0.0f), 1.0f);
    float apart = rf32_deviance(k, n * held) + rf32_deviance(n - k, n * (1.0f - held));
    return k <= n ? rf32_binomial_peak(k, n) - apart : -rf32_infinity();
}

RF_FN double rf64_binomial_log(double k, double n, double p) {
    double held = rf64_min(rf64_max(p, 0.0), 1.0);
    double apart = rf64_deviance(k, n * held) + rf64_deviance(n - k, n * (1.0 - held));
    return k <= n ? rf64_binomial_peak(k, n) - apart : -rf64_infinity();
}

/* ln of a Gaussian's peak density. */
RF_FN float rf32_gaussian_peak(float sd) { return -rf32_log(sd * 0x1.40d932p1f); }
RF_FN double rf64_gaussian_peak(double sd) { return -rf64_log(sd * 0x1.40d931ff62706p1); }

/* ln of the density at y of a Gaussian with that mean and standard deviation. */
RF_FN float rf32_gaussian_log(float y, float mean, float sd) {
    float away = (y - mean) / sd;
    return -0.5f * away * away + rf32_gaussian_peak(sd);
}

RF_FN double rf64_gaussian_log(double y, double mean, double sd) {
    double away = (y - mean) / sd;
    return -0.5 * away * away + rf64_gaussian_peak(sd);
}

/* --- Random numbers from words of philox.h --------------------------------------------------- */

/* Uniform in (0, 1] from one word; the smallest value is 2⁻³². */
RF_FN float rf32_uniform(uint32_t word) { return rf_exact_plus((float)(int32_t)(word >> 1), 0x1p-31f, 0x1p-32f); }
RF_FN double rf64_uniform(uint32_t word) { return (double)(int32_t)(word >> 1) * 0x1p-31 + 0x1p-32; }

/* Two independent standard normals from two words (Box-Muller). |z| is at most 6.66. In float accurate to 2e-6;
   attempts use it in both precisions, since they round to 1/8192. */
RF_FN void rf32_normal_pair(uint32_t radius, uint32_t angle, float *z0, float *z1) {
    float s, c, r = rf_sqrt_normal(rf32_minus_2_log(rf32_uniform(radius)));
    rf32_circle(angle, &s, &c);
    *z0 = r * c;
    *z1 = r * s;
}

RF_FN void rf64_normal_pair(uint32_t radius, uint32_t angle, double *z0, double *z1) {
    double s, c, r = rf64_sqrt(-2.0 * rf64_log(rf64_uniform(radius)));
    rf64_circle(angle, &s, &c);
    *z0 = r * c;
    *z1 = r * s;
}

/* --- Names without a precision --------------------------------------------------------------- */

/* For a translation unit that sets RF_PRECISION to 32 or 64. The macros are evaluated where a name is used. */
#if defined(RF_PRECISION)
#define RF_MATH_PASTE(precision, function) rf##precision##_##function
#define RF_MATH_NAME(precision, function) RF_MATH_PASTE(precision, function)
#define rf_abs RF_MATH_NAME(RF_PRECISION, abs)
#define rf_min RF_MATH_NAME(RF_PRECISION, min)
#define rf_max RF_MATH_NAME(RF_PRECISION, max)
#define rf_floor RF_MATH_NAME(RF_PRECISION, floor)
#define rf_is_finite RF_MATH_NAME(RF_PRECISION, is_finite)
#define rf_is_nan RF_MATH_NAME(RF_PRECISION, is_nan)
#define rf_sqrt RF_MATH_NAME(RF_PRECISION, sqrt)
#define rf_exp RF_MATH_NAME(RF_PRECISION, exp)
#define rf_log RF_MATH_NAME(RF_PRECISION, log)
#define rf_pow_positive RF_MATH_NAME(RF_PRECISION, pow_positive)
#define rf_sin RF_MATH_NAME(RF_PRECISION, sin)
#define rf_cos RF_MATH_NAME(RF_PRECISION, cos)
#define rf_sin_squared RF_MATH_NAME(RF_PRECISION, sin_squared)
#define rf_sincos RF_MATH_NAME(RF_PRECISION, sincos)
#define rf_normal_cdf RF_MATH_NAME(RF_PRECISION, normal_cdf)
#define rf_normal_quantile RF_MATH_NAME(RF_PRECISION, normal_quantile)
#define rf_lgamma RF_MATH_NAME(RF_PRECISION, lgamma)
#define rf_deviance RF_MATH_NAME(RF_PRECISION, deviance)
#define rf_poisson_log RF_MATH_NAME(RF_PRECISION, poisson_log)
#define rf_poisson_peak RF_MATH_NAME(RF_PRECISION, poisson_peak)
#define rf_binomial_log RF_MATH_NAME(RF_PRECISION, binomial_log)
#define rf_binomial_peak RF_MATH_NAME(RF_PRECISION, binomial_peak)
#define rf_gaussian_log RF_MATH_NAME(RF_PRECISION, gaussian_log)
#define rf_gaussian_peak RF_MATH_NAME(RF_PRECISION, gaussian_peak)
#endif

#endif
