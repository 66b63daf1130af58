/* Everything that depends on the compiler or the target. No other file has a platform #if. */
#ifndef REJFILT_PORT_H
#define REJFILT_PORT_H

#include <stddef.h>
#include <stdint.h>

/* RF_FN before a function: inlined into every target's loop. With RF_SMALL the compiler decides. */
#if defined(RF_SMALL) /* a GPU's compiler inlines everything unless told otherwise */
#define RF_INLINED inline
#else
#define RF_INLINED __forceinline__
#endif
#if defined(__CUDACC__)
#define RF_FN static RF_INLINED __host__ __device__
#elif defined(RF_SMALL) && defined(__GNUC__)
#define RF_FN static inline __attribute__((unused))
#elif defined(__GNUC__)
#define RF_FN static inline __attribute__((always_inline, unused))
#else
#define RF_FN static inline
#endif

/* RF_APART before a static function: never inlined, to free its stack; inlined on a GPU without RF_SMALL. */
#if defined(__CUDACC__) && !defined(RF_SMALL)
#define RF_APART RF_INLINED
#elif defined(__GNUC__) || defined(__CUDACC__)
#define RF_APART __attribute__((noinline))
#else
#define RF_APART
#endif

/* RF_ONCE before a function: one copy in a file, never inlined. */
#if defined(__GNUC__) && !defined(__CUDACC__)
#define RF_ONCE static __attribute__((noinline, unused))
#else
#define RF_ONCE RF_FN
#endif

/* RF_UNROLL(n) before a loop over lanes: n vectors at once, interleaved. GCC unrolls no other loops, since that is
   slower. RF_UNROLL_ALL before a loop over parameters: lets the compiler vectorize the loop over lanes around it. */
#if defined(__CUDACC__)
#define RF_UNROLL(n) _Pragma("unroll")
#define RF_UNROLL_ALL _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__clang__)
#define RF_PRAGMA(text) _Pragma(#text)
#define RF_UNROLL(n) RF_PRAGMA(GCC unroll n)
#define RF_UNROLL_ALL RF_UNROLL(128)
#else
#define RF_UNROLL(n)
#define RF_UNROLL_ALL
#endif

/* RF_LOOP_OF_EIGHT before a loop over eight lanes: with AVX-512 GCC would unroll it wholly, and then vectorize nothing. */
#ifdef __AVX512F__
#define RF_LOOP_OF_EIGHT RF_UNROLL(1)
#else
#define RF_LOOP_OF_EIGHT
#endif

/* RF_API before a declaration: part of the shared library's public surface. */
#if defined(__GNUC__)
#define RF_API __attribute__((visibility("default")))
#else
#define RF_API
#endif

/* Does the target have a square root instruction? It is correctly rounded, and so is the integer routine used elsewhere.
   Compile with -fno-math-errno, or gcc adds a call to libm for negative arguments. */
#if defined(RF_NO_SQRT_INSTRUCTION)
#define RF_SQRT32_INSTRUCTION 0
#define RF_SQRT64_INSTRUCTION 0
#elif defined(__SSE2__) || defined(__aarch64__) || defined(__wasm__) || defined(__CUDACC__)
#define RF_SQRT32_INSTRUCTION 1
#define RF_SQRT64_INSTRUCTION 1
#elif defined(__ARM_FP)
#define RF_SQRT32_INSTRUCTION (((__ARM_FP) & 4) != 0)
#define RF_SQRT64_INSTRUCTION (((__ARM_FP) & 8) != 0)
#elif defined(__riscv_flen)
#define RF_SQRT32_INSTRUCTION (__riscv_flen >= 32)
#define RF_SQRT64_INSTRUCTION (__riscv_flen >= 64)
#else
#define RF_SQRT32_INSTRUCTION 0
#define RF_SQRT64_INSTRUCTION 0
#endif

/* The square root of 0 or a number above 2⁻¹⁰⁰, correctly rounded. NVIDIA's own algorithm without its branch. */
#if defined(__CUDACC__)
RF_FN float rf_sqrt_normal(float x)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    const float s = x * y, h = y * 0.5f;
    return x > 0 ? fmaf(fmaf(-s, s, x), h, s) : x;
}
#else
#define rf_sqrt_normal rf32_sqrt
#endif

/* a · b + c where a · b is exact, as for powers of two: rounded once, one instruction on a GPU. */
#if defined(__CUDACC__)
RF_FN float rf_exact_plus(float a, float b, float c) { return fmaf(a, b, c); }
#else
RF_FN float rf_exact_plus(float a, float b, float c) { return a * b + c; }
#endif

/* The 64-bit product of 32-bit factors, without the extra instructions that NVIDIA's compiler would emit. */
RF_FN uint64_t rf_multiply(uint32_t a, uint32_t b)
{
#if defined(__CUDACC__)
    uint64_t product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#else
    return (uint64_t)a * b;
#endif
}

/* Copies aligned 8-byte words. NVIDIA's compiler copies byte by byte if the size is not a constant. */
RF_FN void rf_copy(void *to, const void *from, size_t bytes)
{
#if defined(__CUDACC__)
    unsigned char *t = (unsigned char *)__builtin_assume_aligned(to, 8);
    const unsigned char *f = (const unsigned char *)__builtin_assume_aligned(from, 8);
    for (size_t i = 0; i < bytes; i += 8)
        memcpy(t + i, f + i, 8);
#else
    __builtin_memcpy(to, from, bytes);
#endif
}

/* RF_CPU_HAS("feature"): is it supported by this CPU and its operating system? RF_PAUSE(): hint to the CPU inside a
   loop that waits. */
#if defined(__x86_64__) || defined(__i386__)
#define RF_CPU_HAS(feature) (__builtin_cpu_supports(feature) != 0)
#define RF_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RF_CPU_HAS(feature) 0
#define RF_PAUSE() __asm__ volatile("yield")
#else
#define RF_CPU_HAS(feature) 0
#define RF_PAUSE() ((void)0)
#endif

/* rf_wide: 64-bit lanes for random numbers, as many as one instruction processes. The multiplication takes the low 32
   bits of each lane; pack interleaves the low halves of two registers, even ones first.

   The same registers as 16-bit numbers: load_shorts reads 4·RF_WIDE_LANES of them. dot multiplies two registers and
   adds neighbouring products in pairs, to 32 bits. add_dots adds such sums, modulo 2³². sum_dots writes the total of
   each of four such registers. rf_keep16 writes those of 16 numbers whose bit of `which` is set, in order, each cut to
   16 bits. It may write zeros between them, and anything up to to[16]; it returns the places used, which depends on
   `which` alone. rf_keep8 writes those of eight 32-bit numbers and of eight 16-bit numbers whose bit is set, in order,
   and anything up to to[7] and to16[7]; it returns how many were kept. Numbers may move down within an array: to ≤
   from.

   Uses vectors and functions that the compiler has built in, since <immintrin.h> takes longer to read than a model.
   RF_WIDE_HIGH is not `>>`: GCC would then move rounds of the random numbers out of their loop and run out of
   registers. */
#if !defined(__has_builtin) || defined(__CUDACC__)
#define RF_BUILTIN(name) 0
#else
#define RF_BUILTIN(name) (__has_builtin(__builtin_shufflevector) && __has_builtin(__builtin_ia32_##name))
#endif
#if defined(__AVX512BW__) && RF_BUILTIN(pmaddwd512) /* clang */
#define RF_WIDE_LANES 8
#define RF_WIDE_MULTIPLY(a, b) __builtin_ia32_pmuludq512(a, b)
#define RF_WIDE_DOT(a, b) __builtin_ia32_pmaddwd512(a, b)
#define RF_WIDE_HIGH(a) __builtin_ia32_psrlqi512(a, 32)
#elif defined(__AVX512BW__) && RF_BUILTIN(pmaddwd512_mask) /* GCC */
#define RF_WIDE_LANES 8
#define RF_WIDE_MULTIPLY(a, b) __builtin_ia32_pmuludq512_mask(a, b, (rf_wide_longs)(a), 0xff)
#define RF_WIDE_DOT(a, b) __builtin_ia32_pmaddwd512_mask(a, b, (rf_wide_ints)(a), 0xffff)
#define RF_WIDE_HIGH(a) __builtin_ia32_psrlqi512_mask(a, 32, a, 0xff)
#elif defined(__AVX2__) && RF_BUILTIN(pmaddwd256)
#define RF_WIDE_LANES 4
#define RF_WIDE_MULTIPLY(a, b) __builtin_ia32_pmuludq256(a, b)
#define RF_WIDE_DOT(a, b) __builtin_ia32_pmaddwd256(a, b)
#define RF_WIDE_HIGH(a) __builtin_ia32_psrlqi256(a, 32)
#elif defined(__SSE2__) && RF_BUILTIN(pmaddwd128)
#define RF_WIDE_LANES 2
#define RF_WIDE_MULTIPLY(a, b) __builtin_ia32_pmuludq128(a, b)
#define RF_WIDE_DOT(a, b) __builtin_ia32_pmaddwd128(a, b)
#define RF_WIDE_HIGH(a) __builtin_ia32_psrlqi128(a, 32)
#else
#define RF_WIDE_LANES 1
#endif

#if RF_WIDE_LANES > 1
typedef uint64_t rf_wide __attribute__((vector_size(8 * RF_WIDE_LANES)));
typedef long long rf_wide_longs __attribute__((vector_size(8 * RF_WIDE_LANES)));
typedef int32_t rf_wide_ints __attribute__((vector_size(8 * RF_WIDE_LANES)));
typedef uint32_t rf_wide_words __attribute__((vector_size(8 * RF_WIDE_LANES)));
typedef int16_t rf_wide_shorts __attribute__((vector_size(8 * RF_WIDE_LANES)));
typedef uint32_t rf_four __attribute__((vector_size(16)));
RF_FN rf_wide rf_wide_set(uint64_t v)
{
    const rf_wide none = {0};
    return v + none;
}
RF_FN rf_wide rf_wide_steps(uint64_t v)
{
#if RF_WIDE_LANES == 8
    const rf_wide steps = {0, 2, 4, 6, 8, 10, 12, 14};
#elif RF_WIDE_LANES == 4
    const rf_wide steps = {0, 2, 4, 6};
#else
    const rf_wide steps = {0, 2};
#endif
    return v + steps;
}
RF_FN rf_wide rf_wide_multiply(rf_wide a, rf_wide b)
{
    return (rf_wide)RF_WIDE_MULTIPLY((rf_wide_ints)a, (rf_wide_ints)b);
}
RF_FN rf_wide rf_wide_xor3(rf_wide a, rf_wide b, rf_wide c) { return c ^ a ^ b; }
RF_FN rf_wide rf_wide_high(rf_wide a) { return (rf_wide)RF_WIDE_HIGH((rf_wide_longs)a); }
RF_FN rf_wide rf_wide_add(rf_wide a, rf_wide b) { return a + b; }
RF_FN void rf_wide_pack(uint32_t *to, rf_wide even, rf_wide odd)
{
    const rf_wide_words a = (rf_wide_words)even, b = (rf_wide_words)(odd << 32);
#if RF_WIDE_LANES == 8
    const rf_wide_words both = __builtin_shufflevector(a, b, 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31);
#elif RF_WIDE_LANES == 4
    const rf_wide_words both = __builtin_shufflevector(a, b, 0, 9, 2, 11, 4, 13, 6, 15);
#else
    const rf_wide_words low = {~0u, 0, ~0u, 0}, both = (a & low) | b;
#endif
    __builtin_memcpy(to, &both, sizeof both);
}
RF_FN rf_wide rf_wide_load_shorts(const int16_t *from)
{
    rf_wide v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
RF_FN rf_wide rf_wide_dot(rf_wide a, rf_wide b) { return (rf_wide)RF_WIDE_DOT((rf_wide_shorts)a, (rf_wide_shorts)b); }
RF_FN rf_wide rf_wide_add_dots(rf_wide a, rf_wide b) { return (rf_wide)((rf_wide_words)a + (rf_wide_words)b); }
/* Of each four words: adds the upper two to the lower two, for a and b, and interleaves the results. */
RF_FN rf_wide_words rf_wide_fold(rf_wide_words a, rf_wide_words b)
{
#if RF_WIDE_LANES == 8
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
           __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
#elif RF_WIDE_LANES == 4
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13) + __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
#else
    return __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}
RF_FN void rf_wide_sum_dots(uint32_t to[4], const rf_wide v[4])
{
    /* the first folds pair the sums of 0 with 2 and of 1 with 3; the second fold holds those of 0, 1, 2 and 3 */
    const rf_wide_words a = rf_wide_fold((rf_wide_words)v[0], (rf_wide_words)v[2]);
    const rf_wide_words b = rf_wide_fold((rf_wide_words)v[1], (rf_wide_words)v[3]), c = rf_wide_fold(a, b);
#if RF_WIDE_LANES == 8
    const rf_four sum = (__builtin_shufflevector(c, c, 0, 1, 2, 3) + __builtin_shufflevector(c, c, 4, 5, 6, 7)) +
                        (__builtin_shufflevector(c, c, 8, 9, 10, 11) + __builtin_shufflevector(c, c, 12, 13, 14, 15));
#elif RF_WIDE_LANES == 4
    const rf_four sum = __builtin_shufflevector(c, c, 0, 1, 2, 3) + __builtin_shufflevector(c, c, 4, 5, 6, 7);
#else
    const rf_four sum = c;
#endif
    __builtin_memcpy(to, &sum, sizeof sum);
}
#if RF_WIDE_LANES == 8
#define RF_KEEP16
RF_FN unsigned rf_keep16(int16_t *to, const int32_t *from, uint32_t which)
{
    typedef int16_t halves __attribute__((vector_size(32)));
    const halves none = {0};
    rf_wide_ints all;
    __builtin_memcpy(&all, from, sizeof all);
    all = (rf_wide_ints)__builtin_ia32_compresssi512_mask(all, all ^ all, (uint16_t)which);
    const halves kept = (halves)__builtin_ia32_pmovdw512_mask(all, none, 0xffff);
    __builtin_memcpy(to, &kept, sizeof kept);
    return (unsigned)__builtin_popcount(which & 0xffffu);
}
#endif
#else
typedef uint64_t rf_wide;
RF_FN rf_wide rf_wide_set(uint64_t v) { return v; }
RF_FN rf_wide rf_wide_steps(uint64_t v) { return v; }
RF_FN rf_wide rf_wide_multiply(rf_wide a, rf_wide b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
RF_FN rf_wide rf_wide_xor3(rf_wide a, rf_wide b, rf_wide c) { return c ^ a ^ b; }
RF_FN rf_wide rf_wide_high(rf_wide a) { return a >> 32; }
RF_FN rf_wide rf_wide_add(rf_wide a, rf_wide b) { return a + b; }
RF_FN void rf_wide_pack(uint32_t *to, rf_wide even, rf_wide odd)
{
    to[0] = (uint32_t)even;
    to[1] = (uint32_t)odd;
}
RF_FN rf_wide rf_wide_load_shorts(const int16_t *from)
{
    rf_wide v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
RF_FN rf_wide rf_wide_dot(rf_wide a, rf_wide b) /* adds both halves at once, since only the total is used */
{
    int32_t sum = 0;
    for (int shift = 0; shift < 64; shift += 16)
        sum = (int32_t)((uint32_t)sum + (uint32_t)((int16_t)(a >> shift) * (int16_t)(b >> shift)));
    return (uint32_t)sum;
}
RF_FN rf_wide rf_wide_add_dots(rf_wide a, rf_wide b) { return a + b; }
RF_FN void rf_wide_sum_dots(uint32_t to[4], const rf_wide v[4])
{
    for (int k = 0; k < 4; k++)
        to[k] = (uint32_t)v[k];
}
#endif

#ifndef RF_KEEP16
RF_FN unsigned rf_keep16(int16_t *to, const int32_t *from, uint32_t which)
{
#if RF_WIDE_LANES < 4
    RF_UNROLL_ALL
#endif
    for (unsigned k = 0; k < 16; k++)
        to[k] = (int16_t)(which >> k & 1 ? from[k] : 0);
    return which & 0xffffu ? 16 : 0;
}
#endif

RF_FN unsigned rf_keep8(uint32_t *to, const uint32_t *from, uint16_t *to16, const uint16_t *from16, uint32_t which)
{
#if RF_WIDE_LANES >= 4
    /* the positions of the bits set in a four-bit number, one byte each */
    static const uint32_t place[16] = {0, 0,     1,     0x100,   2,     0x200,   0x201,   0x20100,
                                       3, 0x300, 0x301, 0x30100, 0x302, 0x30200, 0x30201, 0x3020100};
    const unsigned low = (unsigned)__builtin_popcount(which & 15);
    const uint64_t places = place[which & 15] | (uint64_t)(place[which >> 4 & 15] + 0x04040404u) << 8 * low;
    typedef uint8_t bytes __attribute__((vector_size(8)));
    typedef int32_t eight __attribute__((vector_size(32)));
    typedef char sixteen __attribute__((vector_size(16)));
    const bytes at = (bytes)places;
    const sixteen twice = (sixteen)__builtin_shufflevector(at, at, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    const sixteen second = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, at16 = twice + twice + second;
    eight numbers;
    sixteen shorts;
    __builtin_memcpy(&numbers, from, sizeof numbers);
    __builtin_memcpy(&shorts, from16, sizeof shorts);
    numbers = (eight)__builtin_ia32_permvarsi256(numbers, __builtin_convertvector(at, eight));
    shorts = (sixteen)__builtin_ia32_pshufb128(shorts, at16);
    __builtin_memcpy(to, &numbers, sizeof numbers);
    __builtin_memcpy(to16, &shorts, sizeof shorts);
    return (unsigned)__builtin_popcount(which & 255u);
#else
    unsigned kept = 0;
    for (unsigned k = 0; k < 8; k++) {
        to[kept] = from[k];
        to16[kept] = from16[k];
        kept += which >> k & 1;
    }
    return kept;
#endif
}

#endif
