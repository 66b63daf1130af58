/* C types and compiler features that NVRTC lacks and the headers need. */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t, uintptr_t;
#define UINT32_C(v) v##u
#define INT32_MAX 2147483647
#define NULL 0
#define _Alignas alignas
#define _Static_assert static_assert
#define restrict __restrict__
#define __builtin_memcpy memcpy
#define __builtin_sqrtf sqrtf
#define __builtin_sqrt sqrt
#define __builtin_popcount __popc
#define NAN __longlong_as_double(0x7ff8000000000000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000)
