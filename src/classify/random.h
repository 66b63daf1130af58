/* Random numbers: purposes of draws, and uniform numbers. */
#ifndef REJFILT_CLASSIFY_RANDOM_H
#define REJFILT_CLASSIFY_RANDOM_H

#include "rejfilt/philox.h"

enum { RFC_FOR_DIGIT = RF_FOR_USER, RFC_FOR_SHUFFLE, RFC_FOR_ORDER, RFC_FOR_PARTICLES, RFC_FOR_ACCEPT, RFC_FOR_FRESH };

/* Four numbers in [0, 1). */
static inline void rfc_uniforms(uint64_t seed, uint32_t update, uint32_t block, uint32_t purpose, float u[4])
{
    rf_words words = rf_draw(seed, update, 0, block, purpose);
    for (int i = 0; i < 4; i++)
        u[i] = (float)(words.word[i] >> 8) * 0x1p-24f;
}

/* An integer in 0 .. bound − 1, from one random word. */
static inline uint32_t rfc_below(uint32_t word, uint32_t bound) { return (uint32_t)((uint64_t)word * bound >> 32); }

#endif
