/* The words of philox.h for many elements at once, in vector lanes, with the same bits. */
#ifndef REJFILT_DRAWS_H
#define REJFILT_DRAWS_H

#include "../philox.h"

/* rf_draw for `count` elements index, index + 1, ... in parallel. Word k of element i goes to out[k * count + i];
   `count` is a multiple of 16. Array element [0] holds the even elements, [1] the odd ones; only the low half of each
   64-bit lane is used. */
RF_ONCE void rf_draw_many(uint64_t seed, uint32_t update, uint32_t index, uint32_t block, uint32_t purpose, uint32_t count, uint32_t *out)
{
    const rf_wide m0 = rf_wide_set(0xD2511F53u), m1 = rf_wide_set(0xCD9E8D57u);
    const rf_wide step_low = rf_wide_set(0x9E3779B9u), step_high = rf_wide_set(0xBB67AE85u);
    rf_wide keys[20], low = rf_wide_set(seed), high = rf_wide_set(seed >> 32); /* keys of the ten rounds */
    for (int round = 0; round < 10; round++) {
        keys[2 * round] = low;
        keys[2 * round + 1] = high;
        low = rf_wide_add(low, step_low);
        high = rf_wide_add(high, step_high);
    }
    RF_UNROLL(8)
    for (uint32_t i = 0; i < count; i += 2 * RF_WIDE_LANES) {
        rf_wide c0[2] = {rf_wide_steps(index + i), rf_wide_steps(index + i + 1)};
        rf_wide c1[2] = {rf_wide_set(block), rf_wide_set(block)}, c2[2] = {rf_wide_set(update), rf_wide_set(update)};
        rf_wide c3[2] = {rf_wide_set(purpose), rf_wide_set(purpose)};
        RF_UNROLL_ALL
        for (int round = 0; round < 10; round++) {
            for (int j = 0; j < 2; j++) {
                rf_wide a = rf_wide_multiply(c0[j], m0), b = rf_wide_multiply(c2[j], m1);
                c0[j] = rf_wide_xor3(rf_wide_high(b), c1[j], keys[2 * round]);
                c2[j] = rf_wide_xor3(rf_wide_high(a), c3[j], keys[2 * round + 1]);
                c1[j] = b;
                c3[j] = a;
            }
        }
        rf_wide_pack(out + i, c0[0], c0[1]);
        rf_wide_pack(out + i + count, c1[0], c1[1]);
        rf_wide_pack(out + i + 2 * count, c2[0], c2[1]);
        rf_wide_pack(out + i + 3 * count, c3[0], c3[1]);
    }
}

#endif
