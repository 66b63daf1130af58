/* The numerics fuzz target of one precision: operations made from any bytes. */
#ifndef REJFILT_FUZZ_NUMERICS_H
#define REJFILT_FUZZ_NUMERICS_H

#include <stddef.h>
#include <stdint.h>

void rf32_numerics(const uint8_t *bytes, size_t count);
void rf64_numerics(const uint8_t *bytes, size_t count);

#endif
