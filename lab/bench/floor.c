/* A lower bound for any implementation: the random words of a block of attempts, and the normals made from them.
   Compiled for each target. */
#define RF_PRECISION 32
#include "bench.h"

#include "rejfilt/detail/chart.h"
#include "rejfilt/detail/draws.h"

#define PASTE_(name, target) name##_##target
#define PASTE(name, target) PASTE_(name, target)

enum { PAIRS = 64 };

floor_words PASTE(floor_words, RF_KERNEL_TARGET);
floor_normals PASTE(floor_normals, RF_KERNEL_TARGET);

uint32_t PASTE(floor_words, RF_KERNEL_TARGET)(uint32_t attempts)
{
    uint32_t words[4 * PAIRS], sum = 0;
    for (uint32_t pair = 0; 2 * pair < attempts; pair += PAIRS) {
        rf_draw_many(1, 0, pair, 0, 0, PAIRS, words);
        sum ^= words[pair / PAIRS % PAIRS];
        __asm__ volatile("" : : "r"(words) : "memory");
    }
    return sum;
}

float PASTE(floor_normals, RF_KERNEL_TARGET)(uint32_t attempts)
{
    uint32_t words[4 * PAIRS];
    float z[2 * PAIRS], u[2 * PAIRS], sum = 0;
    for (uint32_t pair = 0; 2 * pair < attempts; pair += PAIRS) {
        rf_draw_many(1, 0, pair, 0, 0, PAIRS, words);
        for (unsigned p = 0; p < PAIRS; p++)
            rf32_normal_pair(words[p], words[PAIRS + p], &z[p], &z[PAIRS + p]);
        for (unsigned p = 0; p < PAIRS; p++) {
            u[p] = rf32_uniform(words[2 * PAIRS + p]);
            u[PAIRS + p] = rf32_uniform(words[3 * PAIRS + p]);
        }
        __asm__ volatile("" : : "r"(z), "r"(u) : "memory");
        sum += z[0] + u[0];
    }
    return sum;
}
