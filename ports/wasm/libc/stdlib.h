/* Memory for src/classify/: allocated once when the page starts, and never freed. */
#ifndef REJFILT_WASM_STDLIB_H
#define REJFILT_WASM_STDLIB_H

#include <stddef.h>

#define malloc digits_take
#define calloc(count, each) digits_take((count) * (each))
#define free(pointer) ((void)(pointer))

/* Zeroed bytes, aligned to 64; null when none are left. */
void *digits_take(size_t bytes);

#endif
