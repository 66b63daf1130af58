/* Bytes that say what they are and hold together: checkpoints, sessions, pickles, models of classification.

   Numbers little-endian:
     8   kind, such as "RFSTATE\n"
     4   version of the contents
     4   0x01020304: how they are laid out
     8   length of all
     4   CRC-32 (that of zlib and Ethernet) of all, with zeros for these four bytes
     4   zero
     n   contents */
#ifndef REJFILT_SEALED_H
#define REJFILT_SEALED_H

#include <stddef.h>
#include <stdint.h>

enum { RF_SEAL = 32 /* bytes before the contents */ };

/* Adds bytes to a CRC-32; begin with 0. */
uint32_t rf_crc32(uint32_t crc, const void *bytes, size_t count);

/* Fills in the first RF_SEAL of `count` bytes; the contents stand behind them. */
void rf_seal(unsigned char *bytes, size_t count, const char kind[9], uint32_t version);

/* The version that the bytes claim; 0 if they are not of that kind or too short to say. */
uint32_t rf_sealed_version(const unsigned char *bytes, size_t count, const char kind[9]);

/* Are they whole and of this version? Returns 0; or -1 with why not: "is damaged (checksum)". */
int rf_sealed_check(const unsigned char *bytes, size_t count, const char kind[9], uint32_t version, char *error,
                    size_t size);

#endif
