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

#endif
