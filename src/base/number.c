/* Numbers to text, with the fewest digits, at least 15, that read back as the same number; and text to numbers. */
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide; /* m · 5ᵏ is exact in it */

enum { MOST = 17, LEAST = 15, POWER_MAX = 32 };

static const uint64_t hundreds[] = {1, 10, 100};

/* 5 to the power 0 .. 32. */
static wide fifth(int power)
{
    static const uint64_t fives[] = {1u, 5u, 25u, 125u, 625u, 3125u, 15625u, 78125u, 390625u, 1953125u, 9765625u,
                                     48828125u, 244140625u, 1220703125u, 6103515625u, 30517578125u, 152587890625u,
                                     762939453125u, 3814697265625u, 19073486328125u, 95367431640625u,
                                     476837158203125u, 2384185791015625u, 11920928955078125u, 59604644775390625u,
                                     298023223876953125u, 1490116119384765625u, 7450580596923828125u};
    return power <= 27 ? (wide)fives[power] : (wide)fives[16] * fives[power - 16];
}

/* value · 10ᵏ = scaled / 2ˢ, with k such that its integer part has 17 digits. */
typedef struct decimal {
    wide scaled, five; /* five: 5ᵏ, one ulp of the value in units of `scaled` */
    int k, s;          /* 0 < s < 72 */
    int is_edge; /* a power of two: the ulp below is half the ulp above */
} decimal;

/* Returns 0, or -1 if the result would not be exact. */
static int decimal_of(double value, decimal *d)
{
    const double ten17 = 1e17;
    uint64_t bits;
    if (!(value >= 1e-15 && value < 1e15)) /* then s is positive and k at most 32 */
        return -1;
    memcpy(&bits, &value, sizeof bits); /* value = m · 2^(exponent − 53), not subnormal */
    const int exponent = (int)(bits >> 52) - 1022;
    const wide m = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    int k = 16 - ((exponent - 1) * 78913 >> 18); /* log10(2) ≈ 78913 / 2¹⁸; exact or one too large */
    for (k = k > POWER_MAX ? POWER_MAX : k; k >= 0; k--) {
        const wide five = fifth(k);
        *d = (decimal){m * five, five, k, 53 - exponent - k, m == (wide)1 << 52};
        if (d->scaled >> d->s < (wide)ten17)
            break;
    }
    return k >= 0 && d->scaled >> d->s >= (wide)(ten17 / 10) ? 0 : -1;
}

/* The smallest of 15, 16 and 17 digits that may suffice, judged only by the integer part. */
static int least_digits(uint64_t whole, uint64_t ulp)
{
    const uint64_t tenths = whole % 10, hundredths = whole % 100; /* division by a constant is fast */
    if (2 * (hundredths < 99 - hundredths ? hundredths : 99 - hundredths) <= ulp)
        return LEAST;
    return 2 * (tenths < 9 - tenths ? tenths : 9 - tenths) <= ulp ? LEAST + 1 : MOST;
}

/* Rounds to all 17 digits. */
static uint64_t round_last(const decimal *d, uint64_t whole)
{
    const wide twice = d->scaled >> (d->s - 1); /* its last bit is half a unit */
    const int is_half = (int)(twice & 1), is_more = twice << (d->s - 1) != d->scaled;
    return whole + (uint64_t)(is_half && (is_more || whole % 2));
}

/* Rounds to 15 or 16 digits. Returns whether the result reads back as the same number; 17 digits always do. */
static int round_to(const decimal *d, uint64_t whole, int digits, uint64_t *rounded)
{
    const uint64_t over = hundreds[MOST - digits];
    *rounded = over == 100 ? whole / 100 : whole / 10;
    const wide unit = (wide)over << d->s, rest = d->scaled - (*rounded * (wide)over << d->s);
    const int is_up = 2 * rest > unit || (2 * rest == unit && *rounded % 2);
    const wide error = is_up ? unit - rest : rest;
    *rounded += (uint64_t)is_up;
    return (d->is_edge && !is_up ? 4 : 2) * error < d->five;
}

static void spell_pair(char *to, uint32_t number)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
                                "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
                                "9899";
    memcpy(to, pairs + 2 * number, 2);
}

/* Writes exactly `count` digits of a number that has at most so many. */
static void spell(char *to, uint64_t number, int count)
{
    for (; count >= 8; number /= 100000000) {
        const uint32_t eight = (uint32_t)(number % 100000000), high = eight / 10000, low = eight % 10000;
        to += count -= 8;
        spell_pair(to, high / 100);
        spell_pair(to + 2, high % 100);
        spell_pair(to + 4, low / 100);
        spell_pair(to + 6, low % 100);
        to -= count;
    }
    for (; count >= 2; number /= 100)
        spell_pair(to + (count -= 2), (uint32_t)(number % 100));
    if (count > 0)
        *to = (char)('0' + number);
}

/* Returns the end without trailing zeros. */
static char *trim(char *end)
{
    while (end[-1] == '0')
        end--;
    return end;
}

/* Formats like printf's %g: the point follows the first digit, times 10^exponent. Returns the end. Digits are
   written in place, except those before the point, because reading just-written bytes in other sizes is slow. */
static char *lay_out(char *to, uint64_t rounded, int precision, int exponent)
{
    const int is_plain = exponent >= -4 && exponent < precision;
    char *end;
    if (is_plain && exponent < 0) {
        memcpy(to, "0.000000", 8);
        to += 1 - exponent;
        spell(to, rounded, precision);
        end = trim(to + precision);
    } else {
        const int before = is_plain ? exponent + 1 : 1; /* number of digits before the point */
        spell(to + 1, rounded, precision);
        for (int i = 0; i < before; i++)
            to[i] = to[i + 1];
        to[before] = '.';
        end = trim(to + 1 + precision);
        end -= end[-1] == '.';
    }
    if (!is_plain) {
        const unsigned size = (unsigned)abs(exponent);
        *end++ = 'e';
        *end++ = exponent < 0 ? '-' : '+';
        if (size >= 100)
            *end++ = (char)('0' + size / 100);
        *end++ = (char)('0' + size / 10 % 10);
        *end++ = (char)('0' + size % 10);
    }
    *end = '\0';
    return end;
}

size_t rf_whole_digits(uint64_t value, char text[RF_REAL_TEXT])
{
    int count = 1;
    for (uint64_t rest = value; rest >= 10; rest /= 10)
        count++;
    spell(text, value, count);
    text[count] = '\0';
    return (size_t)count;
}

/* For very large or small numbers: the same by the C library. */
static char *print(double value, char text[RF_REAL_TEXT])
{
    for (int digits = LEAST; digits <= MOST; digits++) {
        snprintf(text, RF_REAL_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text + strlen(text);
}

/* Returns the end of the text. */
static char *write_real(double value, char text[RF_REAL_TEXT])
{
    decimal d;
    uint64_t rounded = 0;
    const double size = fabs(value);
    char *const to = text + (signbit(value) != 0);
    text[0] = '-';
    if (size < 1e15 && size == (double)(uint64_t)size)
        return to + rf_whole_digits((uint64_t)size, to);
    if (decimal_of(size, &d) < 0)
        return print(value, text);
    const uint64_t whole = (uint64_t)(d.scaled >> d.s);
    int digits = least_digits(whole, (uint64_t)(d.five >> d.s));
    while (digits < MOST && !round_to(&d, whole, digits, &rounded))
        digits++;
    rounded = digits == MOST ? round_last(&d, whole) : rounded;
    int exponent = MOST - 1 - d.k;
    if (rounded == 100000000000000000u / hundreds[MOST - digits]) { /* 99.9… was rounded to 100 */
        rounded /= 10;
        exponent++;
    }
    return lay_out(to, rounded, digits, exponent);
}

const char *rf_real_text(double value, char text[RF_REAL_TEXT])
{
    write_real(value, text);
    return text;
}

size_t rf_real_digits(double value, char text[RF_REAL_TEXT]) { return (size_t)(write_real(value, text) - text); }

/* ---- From text ---- */

enum { FIVES_MAX = 27, DIGITS_MAX = 19 }; /* 5²⁷ and 19-digit numbers fit in 64 bits */

/* digits / 10^power, rounded to nearest, ties to even. */
static double quotient(uint64_t digits, int power)
{
    const uint64_t five = (uint64_t)fifth(power);
    const int up = __builtin_clzll(digits), below = __builtin_clzll(five);
    const wide top = (wide)(digits << up) << 63, divisor = five << below;
    const uint64_t q = (uint64_t)(top / divisor); /* 63 or 64 bits */
    const int drop = 11 - __builtin_clzll(q);     /* keep 53 bits */
    const uint64_t half = (uint64_t)1 << (drop - 1), rest = q & (2 * half - 1);
    uint64_t m = q >> drop;
    m += rest > half || (rest == half && (q * divisor != top || m % 2));
    return ldexp((double)m, drop + below - up - 63 - power);
}

double rf_real_read(const char *text, char **end)
{
    const char *c = text + (*text == '-');
    uint64_t digits = 0;
    int count = 0, power = 0;
    for (int is_after = 0; (*c >= '0' && *c <= '9') || (*c == '.' && !is_after); c++) {
        is_after |= *c == '.';
        if (*c == '.')
            continue;
        digits = 10 * digits + (uint64_t)(*c - '0');
        count += digits > 0;
        power += is_after;
    }
    const int is_other = *c != '\0' || c == text + (*text == '-'); /* not plain digits: leave it to strtod */
    if (is_other || c[-1] == '.' || count > DIGITS_MAX || power > FIVES_MAX)
        return strtod(text, end);
    *end = (char *)(uintptr_t)c;
    return (*text == '-' ? -1 : 1) * (digits == 0 ? 0.0 : power == 0 && digits >> 53 == 0 ? (double)digits : quotient(digits, power));
}
