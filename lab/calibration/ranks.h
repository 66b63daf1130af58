/* Ranks of truths in their posteriors: counts, and tests whether they are as expected. */
#ifndef REJFILT_CALIBRATION_RANKS_H
#define REJFILT_CALIBRATION_RANKS_H

#include <stdint.h>

enum { RANK_BINS = 20, RANK_LEVELS = 3 };

extern const double rank_level[RANK_LEVELS]; /* 0.5, 0.8, 0.95 */

typedef struct ranks {
    uint32_t sets;
    uint32_t bin[RANK_BINS];
    uint32_t covered[RANK_LEVELS]; /* counts of truths inside the interval of that probability */
} ranks;

/* Counts a truth's rank, 0 to 1. Intervals are central; for a distance (is_distance) they begin at 0. */
void ranks_add(ranks *r, double rank, int is_distance);

double ranks_share(const ranks *r, unsigned level);

/* Difference of the fractions at a level, in standard deviations: of r and `other`; if `other` is null, of r and the
   level itself. One data set's weight pulls each fraction towards the level, so that its error is never zero. */
double ranks_sigmas(const ranks *r, const ranks *other, unsigned level);

/* Probability of a histogram at least this uneven, if ranks are uniform (χ²). */
double ranks_uniform(const ranks *r);

/* P(χ² with `freedom` degrees of freedom <= x), and P(|normal| > sigmas). */
double chi_square_below(double x, unsigned freedom);
double normal_beyond(double sigmas);

#endif
