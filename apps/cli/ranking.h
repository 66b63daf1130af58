/* Features, those asked most first. */
#ifndef REJFILT_CLI_RANKING_H
#define REJFILT_CLI_RANKING_H

#include <stdint.h>

typedef struct classify_ranking {
    uint32_t features;
    uint64_t *asked; /* by feature */
    double *variance;
    uint32_t *order; /* features, those asked most first; ties: larger variance first */
    uint32_t ever;   /* features asked at least once */
} classify_ranking;

/* A ranking of zeros. Returns 0, or -1 when memory is short. */
int classify_ranking_make(classify_ranking *ranking, uint32_t features);
void classify_ranking_free(classify_ranking *ranking);

/* Computes order and ever. */
void classify_ranking_sort(classify_ranking *ranking);

/* The number of features left, at least 1, after dropping those below a percentile. */
uint32_t classify_ranking_kept(uint32_t features, double percentile);

/* Marks the first `kept` features of the ranking for which `within` is not 0 (null: all). */
void classify_ranking_mask(const classify_ranking *ranking, uint32_t kept, const uint8_t *within, uint8_t *mask);

#endif
