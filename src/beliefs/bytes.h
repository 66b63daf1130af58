/* Numbers as bytes, the same on every machine: little-endian, a double as its 64 bits. */
#ifndef REJFILT_BYTES_H
#define REJFILT_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Counts bytes, and writes them if `to` is not null. Initialise it as {to, 0}. */
typedef struct rf_writer {
    unsigned char *to; /* or null */
    size_t size;       /* so far */
} rf_writer;

static inline void rf_write_bytes(rf_writer *w, const void *bytes, size_t count)
{
    if (w->to && count > 0)
        memcpy(w->to + w->size, bytes, count);
    w->size += count;
}

static inline void rf_write_u64(rf_writer *w, uint64_t value)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    rf_write_bytes(w, bytes, 8);
}

static inline void rf_write_real(rf_writer *w, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    rf_write_u64(w, bits);
}

/* Reading past the end returns zeros and sets `failed`. Initialise it as {from, size, 0, 0}. */
typedef struct rf_reader {
    const unsigned char *from;
    size_t size, at;
    int failed;
} rf_reader;

static inline uint64_t rf_read_u64(rf_reader *r)
{
    uint64_t value = 0;
    if (r->failed || r->size - r->at < 8) {
        r->failed = 1;
        return 0;
    }
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)r->from[r->at++] << 8 * i;
    return value;
}

/* A larger number sets `failed`. */
static inline uint32_t rf_read_u32(rf_reader *r)
{
    const uint64_t value = rf_read_u64(r);
    r->failed |= value > UINT32_MAX;
    return (uint32_t)value;
}

static inline double rf_read_real(rf_reader *r)
{
    const uint64_t bits = rf_read_u64(r);
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

/* Was everything read, without failure? */
static inline int rf_read_all(const rf_reader *r) { return !r->failed && r->at == r->size; }

#endif
