/* Features, those asked most first. */
#ifndef REJFILT_CLI_RANKING_H
#define REJFILT_CLI_RANKING_H

#include <stdint.h>

typedef struct cloud_ranking {
    uint32_t features;
    uint64_t *asked; /* by feature */
    double *variance;
    uint32_t *order; /* features, those asked most first; among equals those of larger variance */
    uint32_t ever;   /* features asked at least once */
} cloud_ranking;

/* A ranking of zeros. Returns 0, or -1 when memory is short. */
int cloud_ranking_make(cloud_ranking *ranking, uint32_t features);
void cloud_ranking_free(cloud_ranking *ranking);

/* Finds order and ever. */
void cloud_ranking_sort(cloud_ranking *ranking);

/* How many features are left, at least 1, when those below a percentile are dropped. */
uint32_t cloud_ranking_kept(uint32_t features, double percentile);

/* Marks the first `kept`, where `within` (null: everywhere) is not 0. */
void cloud_ranking_mask(const cloud_ranking *ranking, uint32_t kept, const uint8_t *within, uint8_t *mask);

#endif
