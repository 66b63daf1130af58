/* What the fuzz targets share. A target is one file with a function that takes any bytes; libFuzzer calls it with bytes
   it makes up (make fuzz), replay.c with those of files (the tests). */
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

/* Puts the bytes into a file of that name, in a directory that is there until the program ends. Returns its path, good
   until the next call. */
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t count);

/* What a refusal leaves must be a text, not an empty one, that ends within the room it had. */
void fuzz_require_message(const char *text, size_t size);

#endif
