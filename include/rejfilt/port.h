/* Everything that depends on the compiler or the target. No other file has a platform #if. */
#ifndef REJFILT_PORT_H
#define REJFILT_PORT_H

#include <stddef.h>
#include <stdint.h>

/* RF_FN before a function: it may be inlined into every target's loop. */
#if defined(__CUDACC__)
#define RF_FN static inline __host__ __device__
#elif defined(__GNUC__)
#define RF_FN static inline __attribute__((always_inline, unused))
#else
#define RF_FN static inline
#endif

/* RF_UNROLL before a loop over lanes: its vectors all at once, so that they can be interleaved. */
#if defined(__GNUC__) && !defined(__clang__)
#define RF_UNROLL _Pragma("GCC unroll 8")
#else
#define RF_UNROLL
#endif

/* RF_API before a declaration: part of the shared library's public surface. */
#if defined(__GNUC__)
#define RF_API __attribute__((visibility("default")))
#else
#define RF_API
#endif

/* Does the target have a square root instruction? It is correctly rounded wherever it exists, and
   so is the integer routine used elsewhere, so results do not depend on the answer.
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
   of the low 32 bits of each lane; load takes 32-bit numbers, of which the even ones are in the low
   halves; pack puts the low halves of two side by side, even ones first. */
#if defined(__AVX512F__) && !defined(__CUDACC__)
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
RF_FN rf_wide rf_wide_load(const uint32_t *from) { return _mm512_loadu_si512(from); }
RF_FN void rf_wide_pack(uint32_t *to, rf_wide even, rf_wide odd)
{
    _mm512_storeu_si512(to, _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32)));
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
RF_FN rf_wide rf_wide_load(const uint32_t *from) { return _mm256_loadu_si256((const __m256i *)(const void *)from); }
RF_FN void rf_wide_pack(uint32_t *to, rf_wide even, rf_wide odd)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa));
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
RF_FN rf_wide rf_wide_load(const uint32_t *from) { return _mm_loadu_si128((const __m128i *)(const void *)from); }
RF_FN void rf_wide_pack(uint32_t *to, rf_wide even, rf_wide odd)
{
    rf_wide low = _mm_and_si128(even, _mm_set1_epi64x(0xffffffff));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_or_si128(low, _mm_slli_epi64(odd, 32)));
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
RF_FN rf_wide rf_wide_load(const uint32_t *from) { return (uint64_t)from[1] << 32 | from[0]; }
RF_FN void rf_wide_pack(uint32_t *to, rf_wide even, rf_wide odd)
{
    to[0] = (uint32_t)even;
    to[1] = (uint32_t)odd;
}
#endif

#endif
