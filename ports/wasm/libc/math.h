/* The libm functions used by src/classify/, taken from this project: the same bits on every machine. */
#ifndef REJFILT_WASM_MATH_H
#define REJFILT_WASM_MATH_H

#include "rejfilt/functions.h"

#define INFINITY __builtin_inff()
#define isinf(x) __builtin_isinf(x)
#define fmin rf64_min
#define fmax rf64_max
#define sqrt rf64_sqrt
#define exp rf64_exp
#define log rf64_log
#define logf rf32_log

#endif
