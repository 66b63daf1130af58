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

/* RF_UNROLL(n) before a loop over lanes: n vectors at once, interleaved. GCC unrolls no other loops: that is slower.
   RF_UNROLL_ALL before a loop over parameters: lets the loop over lanes around it vectorize. */
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

/* The square root, correctly rounded, of 0 or a number above 2⁻¹⁰⁰: as NVIDIA's compiler does, without its branch. */
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

/* The 64-bit product of 32-bit factors, without the zeros that NVIDIA's compiler would add. */
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

/* RF_CPU_HAS("feature"): does this CPU, and its operating system, have it?
   RF_PAUSE(): tells the CPU that a loop only waits. */
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

/* rf_wide: 64-bit lanes for random numbers, as many as one instruction takes. The multiplication is
   of the low 32 bits of each lane; pack puts the low halves of two side by side, even ones first.

   The same registers as 16-bit numbers: load_shorts takes 4·RF_WIDE_LANES of them; dot multiplies and adds two
   and two neighbours to 32 bits; add_dots adds these, modulo 2³²; sum_dots writes the sums of all of them, for four.
   rf_keep16 writes those of 16 numbers whose bit of `which` is set, in order, each cut to 16 bits. It may write zeros
   between them, and anything up to to[16]; it returns the places used, which depends on `which` alone.
   rf_keep8 writes those of eight numbers of 32 bits and of eight of 16 whose bit is set, in order, and anything up to
   to[7] and to16[7]; it returns how many were kept. They may move down within an array: to ≤ from. */
#if defined(__AVX512BW__) && !defined(__CUDACC__)
#include <immintrin.h>
#define RF_WIDE_LANES 8
typedef __m512i rf_wide;
RF_FN rf_wide rf_wide_set(uint64_t v) { return _mm512_set1_epi64((long long)v); }
RF_FN rf_wide rf_wide_steps(uint64_t v)
{
    return _mm512_add_epi64(rf_wide_set(v), _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14));
}
RF_FN rf_wide rf_wide_multiply(rf_wide a, rf_wide b) { return _mm512_mul_epu32(a, b); }
RF_FN rf_wide rf_wide_xor3(rf_wide a, rf_wide b, rf_wide c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
RF_FN rf_wide rf_wide_high(rf_wide a) { return _mm512_srli_epi64(a, 32); }
RF_FN rf_wide rf_wide_add(rf_wide a, rf_wide b) { return _mm512_add_epi64(a, b); }
RF_FN void rf_wide_pack(uint32_t *to, rf_wide even, rf_wide odd)
{
    _mm512_storeu_si512(to, _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32)));
}
RF_FN rf_wide rf_wide_load_shorts(const int16_t *from) { return _mm512_loadu_si512(from); }
RF_FN rf_wide rf_wide_dot(rf_wide a, rf_wide b) { return _mm512_madd_epi16(a, b); }
RF_FN rf_wide rf_wide_add_dots(rf_wide a, rf_wide b) { return _mm512_add_epi32(a, b); }
RF_FN void rf_wide_sum_dots(uint32_t to[4], const rf_wide v[4])
{
    __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
    __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
    __m512i c = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)); /* four times the four */
    __m256i d = _mm256_add_epi32(_mm512_castsi512_si256(c), _mm512_extracti64x4_epi64(c, 1));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_add_epi32(_mm256_castsi256_si128(d), _mm256_extracti128_si256(d, 1)));
}
#define RF_KEEP16
RF_FN unsigned rf_keep16(int16_t *to, const int32_t *from, uint32_t which)
{
    __m512i kept = _mm512_maskz_compress_epi32((__mmask16)which, _mm512_loadu_si512(from));
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtepi32_epi16(kept));
    return (unsigned)__builtin_popcount(which & 0xffffu);
}
#elif defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#define RF_WIDE_LANES 4
typedef __m256i rf_wide;
RF_FN rf_wide rf_wide_set(uint64_t v) { return _mm256_set1_epi64x((long long)v); }
RF_FN rf_wide rf_wide_steps(uint64_t v) { return _mm256_add_epi64(rf_wide_set(v), _mm256_setr_epi64x(0, 2, 4, 6)); }
RF_FN rf_wide rf_wide_multiply(rf_wide a, rf_wide b) { return _mm256_mul_epu32(a, b); }
RF_FN rf_wide rf_wide_xor3(rf_wide a, rf_wide b, rf_wide c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
RF_FN rf_wide rf_wide_high(rf_wide a) { return _mm256_srli_epi64(a, 32); }
RF_FN rf_wide rf_wide_add(rf_wide a, rf_wide b) { return _mm256_add_epi64(a, b); }
RF_FN void rf_wide_pack(uint32_t *to, rf_wide even, rf_wide odd)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa));
}
RF_FN rf_wide rf_wide_load_shorts(const int16_t *from) { return _mm256_loadu_si256((const __m256i *)(const void *)from); }
RF_FN rf_wide rf_wide_dot(rf_wide a, rf_wide b) { return _mm256_madd_epi16(a, b); }
RF_FN rf_wide rf_wide_add_dots(rf_wide a, rf_wide b) { return _mm256_add_epi32(a, b); }
RF_FN void rf_wide_sum_dots(uint32_t to[4], const rf_wide v[4])
{
    __m256i a = _mm256_add_epi32(_mm256_unpacklo_epi32(v[0], v[1]), _mm256_unpackhi_epi32(v[0], v[1]));
    __m256i b = _mm256_add_epi32(_mm256_unpacklo_epi32(v[2], v[3]), _mm256_unpackhi_epi32(v[2], v[3]));
    __m256i c = _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)); /* twice the four */
    _mm_storeu_si128((__m128i *)(void *)to, _mm_add_epi32(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1)));
}
#elif defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#define RF_WIDE_LANES 2
typedef __m128i rf_wide;
RF_FN rf_wide rf_wide_set(uint64_t v) { return _mm_set1_epi64x((long long)v); }
RF_FN rf_wide rf_wide_steps(uint64_t v) { return _mm_add_epi64(rf_wide_set(v), _mm_set_epi64x(2, 0)); }
RF_FN rf_wide rf_wide_multiply(rf_wide a, rf_wide b) { return _mm_mul_epu32(a, b); }
RF_FN rf_wide rf_wide_xor3(rf_wide a, rf_wide b, rf_wide c) { return _mm_xor_si128(_mm_xor_si128(a, b), c); }
RF_FN rf_wide rf_wide_high(rf_wide a) { return _mm_srli_epi64(a, 32); }
RF_FN rf_wide rf_wide_add(rf_wide a, rf_wide b) { return _mm_add_epi64(a, b); }
RF_FN void rf_wide_pack(uint32_t *to, rf_wide even, rf_wide odd)
{
    rf_wide low = _mm_and_si128(even, _mm_set1_epi64x(0xffffffff));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_or_si128(low, _mm_slli_epi64(odd, 32)));
}
RF_FN rf_wide rf_wide_load_shorts(const int16_t *from) { return _mm_loadu_si128((const __m128i *)(const void *)from); }
RF_FN rf_wide rf_wide_dot(rf_wide a, rf_wide b) { return _mm_madd_epi16(a, b); }
RF_FN rf_wide rf_wide_add_dots(rf_wide a, rf_wide b) { return _mm_add_epi32(a, b); }
RF_FN void rf_wide_sum_dots(uint32_t to[4], const rf_wide v[4])
{
    __m128i a = _mm_add_epi32(_mm_unpacklo_epi32(v[0], v[1]), _mm_unpackhi_epi32(v[0], v[1]));
    __m128i b = _mm_add_epi32(_mm_unpacklo_epi32(v[2], v[3]), _mm_unpackhi_epi32(v[2], v[3]));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_add_epi32(_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)));
}
#else
#define RF_WIDE_LANES 1
typedef uint64_t rf_wide;
RF_FN rf_wide rf_wide_set(uint64_t v) { return v; }
RF_FN rf_wide rf_wide_steps(uint64_t v) { return v; }
RF_FN rf_wide rf_wide_multiply(rf_wide a, rf_wide b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
RF_FN rf_wide rf_wide_xor3(rf_wide a, rf_wide b, rf_wide c) { return a ^ b ^ c; }
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
RF_FN rf_wide rf_wide_dot(rf_wide a, rf_wide b) /* both halves added: only the total is needed */
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
#if defined(__AVX2__) && !defined(__CUDACC__)
    /* the places of the bits of four, a byte each */
    static const uint32_t place[16] = {0, 0,     1,     0x100,   2,     0x200,   0x201,   0x20100,
                                       3, 0x300, 0x301, 0x30100, 0x302, 0x30200, 0x30201, 0x3020100};
    const unsigned low = (unsigned)__builtin_popcount(which & 15);
    const uint64_t places = place[which & 15] | (uint64_t)(place[which >> 4 & 15] + 0x04040404u) << 8 * low;
    const __m128i bytes = _mm_set_epi64x(0, (long long)places), twice = _mm_unpacklo_epi8(bytes, bytes);
    const __m128i places16 = _mm_add_epi8(_mm_add_epi8(twice, twice), _mm_set1_epi16(0x100));
    const __m256i numbers = _mm256_loadu_si256((const __m256i *)(const void *)from);
    const __m128i shorts = _mm_loadu_si128((const __m128i *)(const void *)from16);
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permutevar8x32_epi32(numbers, _mm256_cvtepu8_epi32(bytes)));
    _mm_storeu_si128((__m128i *)(void *)to16, _mm_shuffle_epi8(shorts, places16));
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
