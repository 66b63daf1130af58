/* Failures as one line of text. */
#ifndef REJFILT_FAIL_H
#define REJFILT_FAIL_H

#include <stddef.h>

/* Writes a message, cut to `size` bytes, and returns -1. */
int rf_fail(char *error, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
