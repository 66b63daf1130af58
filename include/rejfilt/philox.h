/* Philox4x32-10: four random words as a pure function of a counter and a key. */
#ifndef REJFILT_PHILOX_H
#define REJFILT_PHILOX_H

#include "detail/port.h"

/* A counter, or the random words computed from it. */
typedef struct rf_words {
    uint32_t word[4]; /* each uniform on 0 to 2³² − 1 */
} rf_words;

/* One of the ten rounds, with its keys. */
RF_FN rf_words rf_philox_round(rf_words c, uint32_t k0, uint32_t k1)
{
    const uint64_t a = rf_multiply(c.word[0], 0xD2511F53u), b = rf_multiply(c.word[2], 0xCD9E8D57u);
    rf_words next = {
        {(uint32_t)(b >> 32) ^ c.word[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ c.word[3] ^ k1, (uint32_t)a}};
    return next;
}

/* The four words at `counter` under `key`. Counters are independent of each other, and so are keys. */
RF_FN rf_words rf_philox(rf_words counter, uint64_t key)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        counter = rf_philox_round(counter, k0, k1);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return counter;
}

/* The purpose of a draw: the last word of the counter, so that attempts, designs and simulated truths under one seed
   never share random numbers. */
typedef enum rf_purpose {
    RF_FOR_ATTEMPTS = 0,
    RF_FOR_DESIGN = 1,
    RF_FOR_TRUTH = 2,
    RF_FOR_OUTCOME = 3,
    RF_FOR_LATTICE = 4,
    RF_FOR_HEALTH = 5,
    RF_FOR_USER = 16 /* from here on for the caller */
} rf_purpose;

/* Words for element `index` (its block `block` of four words) of update number `update`. */
RF_FN rf_words rf_draw(uint64_t seed, uint32_t update, uint32_t index, uint32_t block, uint32_t purpose)
{
    rf_words counter = {{index, block, update, purpose}};
    return rf_philox(counter, seed);
}

/* The seed of member `index` of a family that shares one seed. */
RF_FN uint64_t rf_seed_of(uint64_t seed, uint32_t index)
{
    const rf_words w = rf_draw(seed, index, 0, 0, RF_FOR_USER);
    return (uint64_t)w.word[1] << 32 | w.word[0];
}

#endif
