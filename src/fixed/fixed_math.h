/* Arithmetic of the integer filter. Each function states its scaling and range; the contracts in comments that
   begin with @ say that nothing overflows, and `make check KIND=prove` proves them. No number is wider than 32 bits. */
#ifndef REJFILT_FIXED_MATH_H
#define REJFILT_FIXED_MATH_H

#include <stdint.h>

/* Products and quotients by loops: on a chip without multiplication smaller than the compiler's, with the same
   results. */
#ifndef RFI_SMALL
#if defined(__AVR__) && !defined(__AVR_HAVE_MUL__)
#define RFI_SMALL 1
#else
#define RFI_SMALL 0
#endif
#endif

/* Tables live in the program memory of an AVR, whose data memory is too small for them. */
#if defined(__AVR__)
#define RFI_TABLE static const __flash
#else
#define RFI_TABLE static const
#endif
#if defined(__GNUC__)
#define RFI_ONCE static __attribute__((noinline, unused)) /* one copy: size matters more than speed */
#else
#define RFI_ONCE static
#endif

/* a·b: at most 65535² < 2³². */
/*@ assigns \nothing;
    ensures \result == a * b;
    ensures 0 <= \result <= 4294836225; */
RFI_ONCE uint32_t rfi_product(uint16_t a, uint16_t b)
{
#if RFI_SMALL
    uint32_t sum = 0;
    for (uint8_t left = 16; left != 0; left--) {
        sum += sum;
        if (b & 0x8000)
            sum += a;
        b = (uint16_t)(b + b);
    }
    return sum;
#else
    return (uint32_t)a * b;
#endif
}

/* The quotient: the largest r ≤ 65535 with r·divisor ≤ value. With divisor 0 the root: the largest r with r² ≤ value.
   By bisection, from the highest bit down. */
/*@ logic integer rfi_area(integer r, integer divisor) = divisor == 0 ? r * r : r * divisor; */
/*@ assigns \nothing;
    ensures rfi_area(\result, divisor) <= value;
    ensures \result < 65535 ==> rfi_area(\result + 1, divisor) > value; */
RFI_ONCE uint16_t rfi_solve(uint32_t value, uint16_t divisor)
{
    uint16_t bit = 0x8000, root = bit;
    /*@ loop invariant bit == 32768 || bit == 16384 || bit == 8192 || bit == 4096 || bit == 2048 || bit == 1024 ||
                       bit == 512 || bit == 256 || bit == 128 || bit == 64 || bit == 32 || bit == 16 || bit == 8 ||
                       bit == 4 || bit == 2 || bit == 1;
        loop invariant bit <= root <= 65536 - bit;
        loop invariant rfi_area(root - bit, divisor) <= value;
        loop invariant root + bit < 65536 ==> rfi_area(root + bit, divisor) > value;
        loop assigns bit, root;
        loop variant bit; */
    for (;;) {
        if (rfi_product(root, divisor ? divisor : root) > value)
            root = (uint16_t)(root - bit);
        /*@ assert bit == 1 || bit == 2 * (bit / 2); */
        /*@ assert rfi_area(root, divisor) <= value; */
        /*@ assert root + bit < 65536 ==> rfi_area(root + bit, divisor) > value; */
        /*@ ghost uint32_t above = (uint32_t)root + bit; */
        bit = bit / 2;
        if (bit == 0)
            return root;
        root = (uint16_t)(root + bit);
        /*@ assert root + bit == above; */
    }
}

/* √value, rounded down. */
/*@ assigns \nothing;
    ensures \result * \result <= value; */
static inline uint16_t rfi_sqrt(uint32_t value) { return rfi_solve(value, 0); }

/* value / divisor, rounded down. */
/*@ requires divisor > 0;
    requires value < 65536 * divisor;
    assigns \nothing;
    ensures \result == value / divisor; */
static inline uint16_t rfi_quotient(uint32_t value, uint16_t divisor)
{
#if RFI_SMALL
    return rfi_solve(value, divisor);
#else
    return (uint16_t)(value / divisor);
#endif
}

/* a·b with b in units of 1/8192, rounded down: below 8a. */
/*@ assigns \nothing;
    ensures \result == (a * b) / 8192;
    ensures 0 <= \result < 8 * 65535; */
RFI_ONCE uint32_t rfi_scale(uint16_t a, uint16_t b) { return rfi_product(a, b) / 8192; }

/* 255·(1 + cos(2π·angle/256))/2, rounded: a probability in 1/255. */
/*@ assigns \nothing; */
static inline uint8_t rfi_raised_cosine(uint8_t angle)
{
    RFI_TABLE uint8_t quarter[65] = {
        255, 255, 255, 255, 254, 254, 254, 253, 253, 252, 251, 250, 250, 249, 248, 246, 245, 244, 243, 241, 240, 238,
        237, 235, 234, 232, 230, 228, 226, 224, 222, 220, 218, 215, 213, 211, 208, 206, 203, 201, 198, 196, 193, 190,
        188, 185, 182, 179, 176, 173, 170, 167, 165, 162, 158, 155, 152, 149, 146, 143, 140, 137, 134, 131, 128};
    uint8_t flip = 0;
    if (angle > 128)
        angle = (uint8_t)(256 - angle); /* the cosine is even, */
    if (angle > 64) {
        angle = (uint8_t)(128 - angle); /* and odd about a quarter turn */
        flip = 255;
    }
    return quarter[angle] ^ flip;
}

/* P(outcome) of a fringe at this angle, in 1/255: P(1) = (1 + cos)/2. */
/*@ assigns \nothing; */
static inline uint8_t rfi_cosine(uint8_t angle, uint8_t outcome)
{
    const uint8_t one = rfi_raised_cosine(angle);
    return outcome ? one : one ^ 255;
}

/* The next number of a linear congruential generator of period 65536, whose upper eight bits are random. */
/*@ assigns \nothing; */
RFI_ONCE uint16_t rfi_random(uint16_t random)
{
    return (uint16_t)(rfi_product(random, 25173) + 13849); /* the product is below 2³² − 2¹⁶ */
}

/* log₂ value in 1/1024, rounded down, for value > 0: the exponent, then a binary digit for each squaring. */
/*@ requires value > 0;
    assigns \nothing;
    ensures 0 <= \result < 16384; */
RFI_ONCE uint16_t rfi_log2(uint16_t value)
{
    uint16_t digits = 15;
    /*@ loop invariant 1 <= value <= 65535;
        loop invariant digits == 15 && value >= 1 || digits == 14 && value >= 2 || digits == 13 && value >= 4 || digits == 12 && value >= 8 ||
                       digits == 11 && value >= 16 || digits == 10 && value >= 32 || digits == 9 && value >= 64 || digits == 8 && value >= 128 ||
                       digits == 7 && value >= 256 || digits == 6 && value >= 512 || digits == 5 && value >= 1024 || digits == 4 && value >= 2048 ||
                       digits == 3 && value >= 4096 || digits == 2 && value >= 8192 || digits == 1 && value >= 16384 || digits == 0 && value >= 32768;
        loop assigns value, digits;
        loop variant digits; */
    while (value < 0x8000) {
        value = (uint16_t)(value + value);
        digits--;
    }
    /*@ loop invariant 0 <= k <= 10;
        loop invariant 32768 <= value <= 65535;
        loop invariant k == 0 && digits < 16 || k == 1 && digits < 32 || k == 2 && digits < 64 || k == 3 && digits < 128 ||
                       k == 4 && digits < 256 || k == 5 && digits < 512 || k == 6 && digits < 1024 || k == 7 && digits < 2048 ||
                       k == 8 && digits < 4096 || k == 9 && digits < 8192 || k == 10 && digits < 16384;
        loop assigns k, value, digits;
        loop variant 10 - k; */
    for (uint8_t k = 0; k < 10; k++) {
        uint32_t square = rfi_product(value, value) / 0x8000;
        digits = (uint16_t)(2 * digits);
        if (square > 0xffff) {
            square = square / 2;
            digits++;
        }
        value = (uint16_t)square;
    }
    return digits;
}

#endif
