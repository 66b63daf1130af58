/* Random numbers of experiments: functions of the seed and the purpose. */
#ifndef REJFILT_EXPERIMENTS_RANDOM_H
#define REJFILT_EXPERIMENTS_RANDOM_H

#include "lab.h"

/* A seed for item `item` of part `part` of an experiment. */
static inline uint64_t random_seed(const lab *l, uint32_t part, uint32_t item)
{
    rf_words w = rf_draw(lab_seed(l), part, item, 0, RF_FOR_USER);
    return (uint64_t)w.word[1] << 32 | w.word[0];
}

/* Number `index` of a stream: uniform in (0, 1], and standard normal. */
static inline double random_uniform(uint64_t seed, uint32_t index) { return rf64_uniform(rf_draw(seed, 1, index, 0, RF_FOR_USER).word[0]); }

static inline double random_normal(uint64_t seed, uint32_t index)
{
    rf_words w = rf_draw(seed, 2, index, 0, RF_FOR_USER);
    double one, other;
    rf64_normal_pair(w.word[0], w.word[1], &one, &other);
    return one;
}

#endif
