/* Philox4x32-10: four random words as a pure function of a counter and a key. */
#ifndef REJFILT_PHILOX_H
#define REJFILT_PHILOX_H

#include "port.h"

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
        uint64_t a = (uint64_t)c0 * 0xD2511F53u, b = (uint64_t)c2 * 0xCD9E8D57u;
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

/* The keys of the ten rounds. */
RF_FN void rf_philox_keys(rf_wide low, rf_wide high, rf_wide keys[20])
{
    const rf_wide step_low = rf_wide_set(0x9E3779B9u), step_high = rf_wide_set(0xBB67AE85u);
    for (int round = 0; round < 10; round++) {
        keys[2 * round] = low;
        keys[2 * round + 1] = high;
        low = rf_wide_add(low, step_low);
        high = rf_wide_add(high, step_high);
    }
}

/* The last `rounds` rounds for elements side by side, the even ones in [0] and the odd ones in [1] of each.
   High halves are never looked at. Word k of element i goes to out[k * count + i]. */
RF_FN void rf_philox_wide(int rounds, rf_wide c0[2], rf_wide c1[2], rf_wide c2[2], rf_wide c3[2], const rf_wide *const keys[2],
                          uint32_t count, uint32_t *out)
{
    const rf_wide m0 = rf_wide_set(0xD2511F53u), m1 = rf_wide_set(0xCD9E8D57u);
    RF_UNROLL_ALL
    for (int round = 10 - rounds; round < 10; round++) {
        for (int j = 0; j < 2; j++) {
            rf_wide a = rf_wide_multiply(c0[j], m0), b = rf_wide_multiply(c2[j], m1);
            c0[j] = rf_wide_xor3(rf_wide_high(b), c1[j], keys[j][2 * round]);
            c2[j] = rf_wide_xor3(rf_wide_high(a), c3[j], keys[j][2 * round + 1]);
            c1[j] = b;
            c3[j] = a;
        }
    }
    rf_wide_pack(out, c0[0], c0[1]);
    rf_wide_pack(out + count, c1[0], c1[1]);
    rf_wide_pack(out + 2 * count, c2[0], c2[1]);
    rf_wide_pack(out + 3 * count, c3[0], c3[1]);
}

/* rf_draw for the `count` elements index, index + 1, ...; `count` is a multiple of 16. */
RF_ONCE void rf_draw_many(uint64_t seed, uint32_t update, uint32_t index, uint32_t block, uint32_t purpose, uint32_t count, uint32_t *out)
{
    rf_wide same[20];
    const rf_wide *const keys[2] = {same, same};
    rf_philox_keys(rf_wide_set(seed), rf_wide_set(seed >> 32), same);
    RF_UNROLL(8)
    for (uint32_t i = 0; i < count; i += 2 * RF_WIDE_LANES) {
        rf_wide c0[2] = {rf_wide_steps(index + i), rf_wide_steps(index + i + 1)};
        rf_wide c1[2] = {rf_wide_set(block), rf_wide_set(block)}, c2[2] = {rf_wide_set(update), rf_wide_set(update)};
        rf_wide c3[2] = {rf_wide_set(purpose), rf_wide_set(purpose)};
        rf_philox_wide(10, c0, c1, c2, c3, keys, count, out + i);
    }
}

/* Keys for rf_draw_seeds from the halves of `count` seeds and from as many updates: RF_SEED_KEYS(count)
   numbers. The first three keys are never used as they are, so their places have what else is the same
   for all indices and blocks: [0] the first word after round one, but for the block; [2] that of round
   two, but for its product. */
#define RF_SEED_KEYS(count) (20 * (count) / RF_WIDE_LANES)
RF_FN void rf_seed_keys(const uint32_t *low, const uint32_t *high, const uint32_t *update, uint32_t count, rf_wide *keys)
{
    const rf_wide m1 = rf_wide_set(0xCD9E8D57u), zero = rf_wide_set(0);
    for (uint32_t i = 0; i < count; i += 2 * RF_WIDE_LANES) {
        rf_wide l = rf_wide_load(low + i), h = rf_wide_load(high + i), u = rf_wide_load(update + i);
        for (int j = 0; j < 2; j++, keys += 20) {
            rf_wide b = rf_wide_multiply(j ? rf_wide_high(u) : u, m1);
            rf_philox_keys(j ? rf_wide_high(l) : l, j ? rf_wide_high(h) : h, keys);
            keys[0] = rf_wide_xor3(rf_wide_high(b), keys[0], zero);
            keys[2] = rf_wide_xor3(b, keys[2], zero);
        }
    }
}

/* rf_draw of one element for the seeds and updates of `keys`; `count` is a multiple of 16. Rounds one and two
   begin with numbers that many lanes, indices or blocks share, and need one multiplication of four. */
RF_FN void rf_draw_seeds(const rf_wide *keys, uint32_t index, uint32_t block, uint32_t purpose, uint32_t count, uint32_t *out)
{
    const rf_wide m0 = rf_wide_set(0xD2511F53u), m1 = rf_wide_set(0xCD9E8D57u);
    const uint64_t a = (uint64_t)index * 0xD2511F53u;
    RF_UNROLL(8)
    for (uint32_t i = 0; i < count; i += 2 * RF_WIDE_LANES, keys += 40) {
        const rf_wide *const both[2] = {keys, keys + 20};
        rf_wide c0[2], c1[2], c2[2], c3[2];
        for (int j = 0; j < 2; j++) {
            c3[j] = rf_wide_multiply(rf_wide_xor3(both[j][0], rf_wide_set(block), rf_wide_set(0)), m0);
            c1[j] = rf_wide_multiply(rf_wide_xor3(both[j][1], rf_wide_set(a >> 32), rf_wide_set(purpose)), m1);
            c0[j] = rf_wide_xor3(rf_wide_high(c1[j]), both[j][2], rf_wide_set(0));
            c2[j] = rf_wide_xor3(rf_wide_high(c3[j]), rf_wide_set(a), both[j][3]);
        }
        rf_philox_wide(8, c0, c1, c2, c3, both, count, out + i);
    }
}

#endif
