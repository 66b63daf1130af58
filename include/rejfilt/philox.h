/* Philox4x32-10: four random words as a pure function of a counter and a key. */
#ifndef REJFILT_PHILOX_H
#define REJFILT_PHILOX_H

#include "detail/port.h"

/* A counter, or what becomes of it. */
typedef struct rf_words {
    uint32_t word[4]; /* each uniform on 0 to 2³² − 1 */
} rf_words;

/* The four words at `counter` under `key`. Counters are independent of each other, and so are keys. */
RF_FN rf_words rf_philox(rf_words counter, uint64_t key)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t c0 = counter.word[0], c1 = counter.word[1], c2 = counter.word[2], c3 = counter.word[3];
    for (int round = 0; round < 10; round++) {
        uint64_t a = rf_multiply(c0, 0xD2511F53u), b = rf_multiply(c2, 0xCD9E8D57u);
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)b;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    rf_words words = {{c0, c1, c2, c3}};
    return words;
}

/* What a draw is for: the last word of the counter, so that attempts, designs and simulated truths
   under one seed never share random numbers. */
typedef enum rf_purpose {
    RF_FOR_ATTEMPTS = 0,
    RF_FOR_DESIGN = 1,
    RF_FOR_TRUTH = 2,
    RF_FOR_OUTCOME = 3,
    RF_FOR_LATTICE = 4,
    RF_FOR_HEALTH = 5,
    RF_FOR_USER = 16 /* this and above are the caller's */
} rf_purpose;

/* Words for element `index` (its block `block` of four words) of update number `update`. */
RF_FN rf_words rf_draw(uint64_t seed, uint32_t update, uint32_t index, uint32_t block, uint32_t purpose)
{
    rf_words counter = {{index, block, update, purpose}};
    return rf_philox(counter, seed);
}

/* The seed of number `index` of several with one seed. */
RF_FN uint64_t rf_seed_of(uint64_t seed, uint32_t index)
{
    const rf_words w = rf_draw(seed, index, 0, 0, RF_FOR_USER);
    return (uint64_t)w.word[1] << 32 | w.word[0];
}

#endif
