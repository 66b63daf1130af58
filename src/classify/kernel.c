/* Compiled once per target, RF_KERNEL_TARGET; kernels.c selects one. */
#include "kernel.h"

#include <string.h>

#include "rejfilt/detail/port.h"

#define PASTE_(name, target) name##target
#define PASTE(name, target) PASTE_(name, target)
#define KERNEL PASTE(rfc_kernel_, RF_KERNEL_TARGET)

static uint16_t least(uint16_t a, uint16_t b) { return a < b ? a : b; }

static uint16_t update(const uint8_t *restrict x, uint32_t count, rfc_evidence e, uint16_t base,
                       uint16_t *restrict penalty)
{
    uint16_t low = UINT16_MAX, max = (uint16_t)(e.most >> e.shift), scale = (uint16_t)(1u << e.shift);
    for (uint32_t i = 0; i < count; i++) {
        uint16_t distance = x[i] > e.value ? (uint16_t)(x[i] - e.value) : (uint16_t)(e.value - x[i]);
        uint16_t square = (uint16_t)(distance * distance);
        uint16_t one = least((uint16_t)((uint32_t)square * e.factor >> 16), max);
        uint16_t before = least((uint16_t)(penalty[i] - base), RFC_PENALTY_CLIP);
        uint16_t after = (uint16_t)(before + (uint16_t)(one * scale));
        penalty[i] = after;
        low = least(low, after);
    }
    return low;
}

/* A temper above one is the product of a power of two, `scale`, which saturates, and a factor of at least a half:
   saturated penalties have weight 0. All numbers have 16 bits, so that a register holds as many products as
   penalties. */
static uint16_t tempered(uint16_t penalty, uint16_t base, uint16_t most, uint16_t scale, uint16_t factor)
{
    uint16_t behind = least((uint16_t)(penalty - base), most), scaled = (uint16_t)(behind * scale);
    return (uint16_t)((uint32_t)scaled * factor >> 16);
}

/* 2^−(p / RFC_BIT) · RFC_WEIGHT_ONE: a cubic polynomial of the fraction, within 1.2e-4, then a shift. */
static uint32_t weight_of(uint16_t p)
{
    uint16_t fraction = (uint16_t)(p << 7), a, b, c;
    a = (uint16_t)(15210 - (uint16_t)((uint32_t)fraction * 2646 >> 16));
    b = (uint16_t)(45340 - (uint16_t)((uint32_t)fraction * a >> 16));
    c = (uint16_t)(65535 - (uint16_t)((uint32_t)fraction * b >> 16));
    uint32_t shift = p >> 9;
    return (uint32_t)c << 6 >> (shift < 31 ? shift : 31);
}

/* Weighs the vectors of one block. Inlined with a constant length for whole blocks, it has no remainder loop. `factor`
   holds the same number in all elements: GCC widens a product with an invariant to 32 bits, which takes three times as
   long. */
static inline uint32_t weigh_block(const uint16_t *restrict penalty, uint32_t length, uint16_t base, uint16_t shift,
                                   const uint16_t factor[restrict RFC_BLOCK], uint32_t *restrict weight,
                                   uint32_t *restrict squares)
{
    const uint16_t most = (uint16_t)(UINT16_MAX >> shift), scale = (uint16_t)(1u << shift);
    uint32_t sum = 0, square = 0;
    for (uint32_t i = 0; i < length; i++) {
        uint16_t p = tempered(penalty[i], base, most, scale, factor[i]);
        uint32_t w = weight_of(p);
        int16_t v = (int16_t)(w >> RFC_SQUARE_SHIFT); /* faster as a product of 16-bit numbers */
        weight[i] = w;
        sum += w;
        square += (uint32_t)(v * v);
    }
    *squares = square;
    return sum;
}

static rfc_weighed weigh(const uint16_t *restrict penalty, uint32_t count, uint16_t base, uint32_t temper,
                         uint32_t *restrict weight, uint32_t *restrict block)
{
    rfc_weighed out = {0, 0};
    uint16_t shift = 0;
    while (temper >> shift > RFC_TEMPER_ONE)
        shift++;
    const uint32_t part = temper >> shift;
    uint16_t factor[RFC_BLOCK];
    for (uint32_t i = 0; i < RFC_BLOCK; i++)
        factor[i] = (uint16_t)(part < RFC_TEMPER_ONE ? part : RFC_TEMPER_ONE - 1);
    uint32_t begin = 0, squares;
    for (; begin + RFC_BLOCK <= count; begin += RFC_BLOCK) {
        block[begin / RFC_BLOCK] =
            weigh_block(penalty + begin, RFC_BLOCK, base, shift, factor, weight + begin, &squares);
        out.sum += block[begin / RFC_BLOCK];
        out.squares += squares;
    }
    if (begin < count) {
        block[begin / RFC_BLOCK] =
            weigh_block(penalty + begin, count - begin, base, shift, factor, weight + begin, &squares);
        out.sum += block[begin / RFC_BLOCK];
        out.squares += squares;
    }
    return out;
}

static uint32_t within(const uint16_t *restrict penalty, uint32_t count, uint16_t base, uint16_t limit)
{
    enum { AT_ONCE = 8192 }; /* counted in 16 bits, like the penalties: more numbers fit a register */
    uint32_t in = 0;
    for (uint32_t begin = 0; begin < count; begin += AT_ONCE) {
        uint16_t some = 0;
        uint32_t end = count - begin < AT_ONCE ? count : begin + AT_ONCE;
        for (uint32_t i = begin; i < end; i++)
            some = (uint16_t)(some + ((uint16_t)(penalty[i] - base) <= limit));
        in += some;
    }
    return in;
}

#if !defined(RF_SMALL)
/* Packs eight bytes of 0 or 1 into bits, the first one lowest. */
static inline uint32_t bits_of(const uint8_t flag[8])
{
    const uint16_t one = 1;
    uint64_t all;
    memcpy(&all, flag, sizeof all);
    all = *(const uint8_t *)&one ? all : __builtin_bswap64(all);
    return (uint32_t)(all * 0x0102040810204080u >> 56);
}
#endif

static uint32_t keep(uint16_t *penalty, uint32_t begin, uint32_t end, uint16_t base, uint16_t limit, int is_listed,
                     uint32_t *vector, uint32_t kept)
{
#if !defined(RF_SMALL) /* 32 at a time */
    uint8_t flag[32];
    uint32_t own[32];
    for (; begin + 32 <= end; begin += 32) {
        const uint16_t *p = penalty + begin;
        const uint32_t *from = is_listed ? vector + begin : own;
        for (uint32_t i = 0; i < 32; i++)
            flag[i] = (uint16_t)(p[i] - base) <= limit;
        for (uint32_t i = 0; i < 32; i++)
            own[i] = begin + i;
        uint32_t in = bits_of(flag) | bits_of(flag + 8) << 8 | bits_of(flag + 16) << 16 | bits_of(flag + 24) << 24;
        for (uint32_t i = 0; i < 32; i += 8)
            kept += rf_keep8(vector + kept, from + i, penalty + kept, p + i, in >> i);
    }
#endif
    for (; begin < end; begin++)
        if ((uint16_t)(penalty[begin] - base) <= limit) {
            vector[kept] = is_listed ? vector[begin] : begin;
            penalty[kept++] = penalty[begin];
        }
    return kept;
}

static void add_levels(const uint8_t *restrict sketch, size_t bytes, uint16_t times, uint16_t *restrict sum)
{
    for (size_t b = 0; b < bytes; b++) {
        sum[b] = (uint16_t)(sum[b] + (sketch[b] & 15) * times);
        sum[b + bytes] = (uint16_t)(sum[b + bytes] + (sketch[b] >> 4) * times);
    }
}

static void add_level_squares(const uint8_t *restrict sketch, size_t bytes, uint16_t times, uint16_t *restrict square)
{
    for (size_t b = 0; b < bytes; b++) {
        uint16_t lower = sketch[b] & 15, upper = sketch[b] >> 4;
        square[b] = (uint16_t)(square[b] + lower * lower * times);
        square[b + bytes] = (uint16_t)(square[b + bytes] + upper * upper * times);
    }
}

static void add_thirds(const uint8_t *restrict sketch, size_t bytes, uint16_t times, uint16_t *restrict sum)
{
    for (size_t b = 0; b < bytes; b++) {
        const uint8_t lower = sketch[b] & 15, upper = sketch[b] >> 4;
        sum[b] = (uint16_t)(sum[b] + (lower > 4 ? times : 0));
        sum[b + bytes] = (uint16_t)(sum[b + bytes] + (upper > 4 ? times : 0));
        sum[b + 2 * bytes] = (uint16_t)(sum[b + 2 * bytes] + (lower > 10 ? times : 0));
        sum[b + 3 * bytes] = (uint16_t)(sum[b + 3 * bytes] + (upper > 10 ? times : 0));
    }
}

static void add_flags(const uint8_t *restrict flag, size_t count, uint8_t *restrict sum)
{
    for (size_t k = 0; k < count; k++)
        sum[k] = (uint8_t)(sum[k] + flag[k]);
}

static void add_squares(const uint8_t *restrict row, uint32_t features, uint32_t times, uint32_t *restrict sum,
                        uint32_t *restrict square)
{
    for (uint32_t j = 0; j < features; j++) {
        uint32_t x = row[j], many = times * x;
        sum[j] += many;
        square[j] += many * x;
    }
}

extern const rfc_kernel KERNEL;
const rfc_kernel KERNEL = {update, weigh, within, keep, add_levels, add_level_squares, add_thirds, add_flags, add_squares};
