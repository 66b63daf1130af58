#ifndef REJFILT_WASM_STRING_H
#define REJFILT_WASM_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

#endif
