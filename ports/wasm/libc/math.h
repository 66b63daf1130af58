/* The functions that src/classify/ takes from libm, from the project's own: the same bits on every machine. */
#ifndef REJFILT_WASM_MATH_H
#define REJFILT_WASM_MATH_H

#include "rejfilt/math.h"

#define NAN __builtin_nan("")
#define isnan(x) __builtin_isnan(x)
#define INFINITY __builtin_inff()
#define isinf(x) __builtin_isinf(x)
#define fmin(a, b) rf64_min(a, b)
#define fmax(a, b) rf64_max(a, b)
#define sqrt(x) rf64_sqrt(x)
#define exp(x) rf64_exp(x)
#define log(x) rf64_log(x)
#define logf(x) rf32_log(x)

#endif
