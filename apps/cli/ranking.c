#include "ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cloud_ranking *sorted; /* qsort takes no context */

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (sorted->asked[x] != sorted->asked[y])
        return sorted->asked[x] > sorted->asked[y] ? -1 : 1;
    if (sorted->variance[x] != sorted->variance[y])
        return sorted->variance[x] > sorted->variance[y] ? -1 : 1;
    return x < y ? -1 : 1;
}

void cloud_ranking_free(cloud_ranking *r)
{
    free(r->asked);
    free(r->variance);
    free(r->order);
}

int cloud_ranking_make(cloud_ranking *r, uint32_t features)
{
    *r = (cloud_ranking){features, calloc(features, sizeof *r->asked), calloc(features, sizeof *r->variance),
                         malloc(features * sizeof *r->order), 0};
    if (r->asked && r->variance && r->order)
        return 0;
    cloud_ranking_free(r);
    return -1;
}

void cloud_ranking_sort(cloud_ranking *r)
{
    for (uint32_t j = 0; j < r->features; j++) {
        r->order[j] = j;
        r->ever += r->asked[j] > 0;
    }
    sorted = r;
    qsort(r->order, r->features, sizeof *r->order, compare);
}

uint32_t cloud_ranking_kept(uint32_t features, double percentile)
{
    const double kept = floor(features * (1 - percentile / 100) + 0.5);
    return kept < 1 ? 1 : kept > features ? features : (uint32_t)kept;
}

void cloud_ranking_mask(const cloud_ranking *r, uint32_t kept, const uint8_t *within, uint8_t *mask)
{
    memset(mask, 0, r->features);
    for (uint32_t k = 0; k < kept; k++)
        mask[r->order[k]] = !within || within[r->order[k]];
}
