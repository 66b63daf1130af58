#include "sealed.h"

#include <string.h>

#include "fail.h"

#define ORDER 0x01020304u

enum { VERSION = 8, LAYOUT = 12, LENGTH = 16, SUM = 24 }; /* where they stand */

static void store(unsigned char *to, uint64_t value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t fetch(const unsigned char *from, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

/* Eight bytes at a time; the table costs as much as 4 KB without it. */
static uint32_t crc_of_many(uint32_t crc, const unsigned char **at, const unsigned char *end)
{
    uint32_t table[8][256];
    for (uint32_t i = 0; i < 256; i++) {
        table[0][i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[0][i] = (table[0][i] >> 1) ^ (0xedb88320u & (0u - (table[0][i] & 1u)));
    }
    for (uint32_t i = 0; i < 7 * 256; i++) {
        const uint32_t before = table[i / 256][i % 256];
        table[i / 256 + 1][i % 256] = (before >> 8) ^ table[0][before & 255];
    }
    for (; end - *at >= 8; *at += 8) {
        const uint32_t low = crc ^ (uint32_t)fetch(*at, 4), high = (uint32_t)fetch(*at + 4, 4);
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
              table[3][high & 255] ^ table[2][high >> 8 & 255] ^ table[1][high >> 16 & 255] ^ table[0][high >> 24];
    }
    return crc;
}

uint32_t rf_crc32(uint32_t crc, const void *bytes, size_t count)
{
    static const uint32_t half[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const unsigned char *at = bytes, *end = at + count;
    crc = ~crc;
    if (count >= 1 << 12)
        crc = crc_of_many(crc, &at, end);
    for (; at < end; at++) {
        crc = (crc >> 4) ^ half[(crc ^ *at) & 15];
        crc = (crc >> 4) ^ half[(crc ^ (uint32_t)*at >> 4) & 15];
    }
    return ~crc;
}

/* The checksum that sealed bytes must have. */
static uint32_t sum_of(const unsigned char *bytes, size_t count)
{
    static const unsigned char none[4] = {0};
    const uint32_t before = rf_crc32(rf_crc32(0, bytes, SUM), none, sizeof none);
    return rf_crc32(before, bytes + SUM + sizeof none, count - SUM - sizeof none);
}

void rf_seal(unsigned char *bytes, size_t count, const char kind[9], uint32_t version)
{
    memcpy(bytes, kind, VERSION);
    store(bytes + VERSION, version, 4);
    store(bytes + LAYOUT, ORDER, 4);
    store(bytes + LENGTH, count, 8);
    store(bytes + SUM, 0, 8);
    store(bytes + SUM, sum_of(bytes, count), 4);
}

uint32_t rf_sealed_version(const unsigned char *bytes, size_t count, const char kind[9])
{
    return count >= LAYOUT && memcmp(bytes, kind, VERSION) == 0 ? (uint32_t)fetch(bytes + VERSION, 4) : 0;
}

int rf_sealed_check(const unsigned char *bytes, size_t count, const char kind[9], uint32_t version, char *error,
                    size_t size)
{
    const size_t known = count < VERSION ? count : VERSION;
    const char *what = strcmp(kind, "RFSTATE\n") == 0   ? "checkpoint"
                       : strcmp(kind, "RFMODEL\n") == 0 ? "model"
                       : strcmp(kind, "RFPICKL\n") == 0 ? "pickle"
                                                        : "session";
    if (count == 0)
        return rf_fail(error, size, "is empty");
    if (memcmp(bytes, kind, known) != 0)
        return rf_fail(error, size, "is not a %s of rejfilt", what);
    if (count < RF_SEAL)
        return rf_fail(error, size, "is truncated (%zu bytes)", count);
    const uint32_t found = (uint32_t)fetch(bytes + VERSION, 4);
    const uint64_t length = fetch(bytes + LENGTH, 8);
    if (fetch(bytes + LAYOUT, 4) != ORDER)
        return rf_fail(error, size, "is damaged, or of a machine with another order of bytes");
    if (count < length)
        return rf_fail(error, size, "is truncated (%zu of %llu bytes)", count, (unsigned long long)length);
    if (count > length)
        return rf_fail(error, size, "is damaged (its length)");
    if (fetch(bytes + SUM, 8) != sum_of(bytes, count))
        return rf_fail(error, size, "is damaged (checksum)");
    if (found == version)
        return 0;
    return rf_fail(error, size,
                   found > version ? "is of a newer version (%u; this program reads %u)"
                                   : "is of an older version (%u; this program reads %u): continue with the program "
                                     "that wrote it, or begin again",
                   found, version);
}
