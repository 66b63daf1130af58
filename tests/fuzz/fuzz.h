/* Shared by the fuzz targets. A target is one file with a function that takes any bytes. libFuzzer calls it with
   bytes that it generates (make check KIND=fuzz); replay.c calls it with the contents of files (the tests). */
#ifndef REJFILT_FUZZ_H
#define REJFILT_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Like assert, but never compiled out. */
#define fuzz_require(condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: this does not hold: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Writes the bytes to a file of that name, in a directory that exists until the program ends. Returns its path,
   valid until the next call. */
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t count);

/* The message of a refusal must be non-empty text that ends within its buffer. */
void fuzz_require_message(const char *text, size_t size);

#endif
