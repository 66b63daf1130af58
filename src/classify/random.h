/* Random numbers of the cloud: what each draw is for, and uniform ones. */
#ifndef REJFILT_CLOUD_RANDOM_H
#define REJFILT_CLOUD_RANDOM_H

#include "rejfilt/philox.h"

enum { RF_FOR_DIGIT = RF_FOR_USER, RF_FOR_SHUFFLE, RF_FOR_ORDER, RF_FOR_CLOUD, RF_FOR_ACCEPT, RF_FOR_FRESH };

/* Four numbers in [0, 1). */
static inline void rf_uniforms(uint64_t seed, uint32_t update, uint32_t block, uint32_t purpose, float u[4])
{
    rf_words words = rf_draw(seed, update, 0, block, purpose);
    for (int i = 0; i < 4; i++)
        u[i] = (float)(words.word[i] >> 8) * 0x1p-24f;
}

/* A whole number below `bound`, from one word. */
static inline uint32_t rf_below(uint32_t word, uint32_t bound) { return (uint32_t)((uint64_t)word * bound >> 32); }

#endif
