/* Memory for src/classify/: taken once, when the page begins, and never given back. */
#ifndef REJFILT_WASM_STDLIB_H
#define REJFILT_WASM_STDLIB_H

#include <stddef.h>

#define malloc digits_take
#define calloc(count, each) digits_take((count) * (each))
#define free(pointer) ((void)(pointer))

/* Zeroed bytes, aligned to 64; null when none are left. */
void *digits_take(size_t bytes);

#endif
