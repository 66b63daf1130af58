/* Where truths are in their posteriors: counts of ranks, and whether they are as they should be. */
#ifndef REJFILT_CALIBRATION_RANKS_H
#define REJFILT_CALIBRATION_RANKS_H

#include <stdint.h>

enum { RANK_BINS = 20, RANK_LEVELS = 3 };

extern const double rank_level[RANK_LEVELS]; /* 0.5, 0.8, 0.95 */

typedef struct ranks {
    uint32_t sets;
    uint32_t bin[RANK_BINS];
    uint32_t covered[RANK_LEVELS]; /* how often the interval of that probability holds the truth */
} ranks;

/* Counts the truth's rank, 0 to 1. Intervals are central; of a distance (is_distance) they begin at 0. */
void ranks_add(ranks *r, double rank, int is_distance);

double ranks_share(const ranks *r, unsigned level);

/* Standard deviations between the shares of a level: of r and of `other`; with null, of r and the level itself. Shares
   are pulled towards the level by one data set, so that none is without an error. */
double ranks_sigmas(const ranks *r, const ranks *other, unsigned level);

/* Probability of a histogram at least as uneven, if ranks are uniform (χ²). */
double ranks_uniform(const ranks *r);

/* P(χ² of `freedom` degrees <= x), and P(|normal| > sigmas). */
double chi_square_below(double x, unsigned freedom);
double normal_beyond(double sigmas);

#endif
