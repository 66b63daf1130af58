/* Numbers as text: the fewest digits, from 15 on, that read back as the same number. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide; /* m · 5ᵏ of below is exact in it */

enum { MOST = 17, LEAST = 15, POWER_MAX = 32 };

static const uint64_t hundreds[] = {1, 10, 100};

/* 5 to the power of 0 .. 32. */
static wide fifth(int power)
{
    static const uint64_t fives[] = {1,
                                     5,
                                     25,
                                     125,
                                     625,
                                     3125,
                                     15625,
                                     78125,
                                     390625,
                                     1953125,
                                     9765625,
                                     48828125,
                                     244140625,
                                     1220703125,
                                     6103515625,
                                     30517578125,
                                     152587890625};
    return power <= 16 ? (wide)fives[power] : (wide)fives[16] * fives[power - 16];
}

/* value · 10ᵏ = scaled / 2ˢ, k such that it has 17 digits before the point. */
typedef struct decimal {
    wide scaled, five; /* five: 5ᵏ, which is an ulp of the value in the units of `scaled` */
    int k, s;          /* 0 < s < 72 */
    int is_edge; /* a power of two: the ulp below it is half the one above */
} decimal;

/* 0, or -1 where it would not be exact. */
static int decimal_of(double value, decimal *d)
{
    const double ten17 = 1e17;
    uint64_t bits;
    if (!(value >= 1e-15 && value < 1e15)) /* s is positive below, k at most 32 above */
        return -1;
    memcpy(&bits, &value, sizeof bits); /* value = m · 2^(exponent − 53), and no subnormal */
    const int exponent = (int)(bits >> 52) - 1022;
    const wide m = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    int k = 17 - (int)ceil((exponent - 1) * 0.30103); /* right, or too many by one */
    for (k = k > POWER_MAX ? POWER_MAX : k; k >= 0; k--) {
        *d = (decimal){m * fifth(k), fifth(k), k, 53 - exponent - k, m == (wide)1 << 52};
        if (d->scaled >> d->s < (wide)ten17)
            break;
    }
    return k >= 0 && d->scaled >> d->s >= (wide)(ten17 / 10) ? 0 : -1;
}

/* The number rounded to that many digits, and whether it reads back as the same. */
static int round_to(const decimal *d, int digits, uint64_t *rounded)
{
    const uint64_t whole = (uint64_t)(d->scaled >> d->s), over = hundreds[MOST - digits];
    const wide unit = (wide)over << d->s;
    *rounded = over == 100 ? whole / 100 : over == 10 ? whole / 10 : whole; /* constants are divided by fast */
    const wide rest = d->scaled - (*rounded * (wide)over << d->s);
    const int is_up = 2 * rest > unit || (2 * rest == unit && *rounded % 2);
    const wide error = is_up ? unit - rest : rest;
    *rounded += (uint64_t)is_up;
    return (d->is_edge && !is_up ? 4 : 2) * error < d->five;
}

/* Appends `count` of the digits. */
static char *append(char *to, const char *digit, int count)
{
    memcpy(to, digit, (size_t)count);
    return to + count;
}

/* What printf's %g makes of them: the point is after digit[0], times ten to the exponent. */
static void lay_out(char *to, uint64_t rounded, int precision, int exponent)
{
    static const char zeros[] = "00000000000000000";
    char digit[MOST];
    int count = precision;
    const uint64_t high = rounded / 1000000000;
    uint32_t part = (uint32_t)(rounded - high * 1000000000);
    for (int i = precision; i-- > precision - 9; part /= 10) /* in 32 bits, which is faster */
        digit[i] = (char)('0' + part % 10);
    part = (uint32_t)high;
    for (int i = precision - 9; i-- > 0; part /= 10)
        digit[i] = (char)('0' + part % 10);
    while (count > 1 && digit[count - 1] == '0')
        count--;
    const int is_plain = exponent >= -4 && exponent < precision;
    const int before = !is_plain ? 1 : exponent >= 0 ? exponent + 1 : 0; /* digits before the point */
    if (before == 0)
        to = append(append(to, "0.", 2), zeros, -1 - exponent);
    to = append(to, digit, before < count ? before : count);
    if (count < before)
        to = append(to, zeros, before - count);
    if (before > 0 && before < count)
        *to++ = '.';
    if (before < count)
        to = append(to, digit + before, count - before);
    if (!is_plain) {
        const unsigned size = (unsigned)abs(exponent);
        *to++ = 'e';
        *to++ = exponent < 0 ? '-' : '+';
        if (size >= 100)
            *to++ = (char)('0' + size / 100);
        *to++ = (char)('0' + size / 10 % 10);
        *to++ = (char)('0' + size % 10);
    }
    *to = '\0';
}

const char *cli_real_text(double value, char text[CLI_REAL_TEXT])
{
    decimal d;
    uint64_t rounded = 0;
    int digits = LEAST;
    text[0] = '-';
    if (value == 0) {
        lay_out(text + (signbit(value) != 0), 0, LEAST, 0);
        return text;
    }
    if (decimal_of(fabs(value), &d) < 0) { /* huge or tiny: the same by way of the library */
        for (; digits <= MOST; digits++) {
            snprintf(text, CLI_REAL_TEXT, "%.*g", digits, value);
            if (strtod(text, NULL) == value)
                break;
        }
        return text;
    }
    while (!round_to(&d, digits, &rounded) && digits < MOST)
        digits++;
    int exponent = MOST - 1 - d.k;
    if (rounded == 100000000000000000u / hundreds[MOST - digits]) { /* 99.9… became 100 */
        rounded /= 10;
        exponent++;
    }
    lay_out(text + (value < 0), rounded, digits, exponent);
    return text;
}
