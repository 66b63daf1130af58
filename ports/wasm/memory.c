/* Functions that a compiler may call without a libc. With -mbulk-memory each is one instruction. */
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
void *memset(void *to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
