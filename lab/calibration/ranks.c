#include "ranks.h"

#include <math.h>

const double rank_level[RANK_LEVELS] = {0.5, 0.8, 0.95};

void ranks_add(ranks *r, double rank, int is_distance)
{
    const double reach = is_distance ? rank : 2 * fabs(rank - 0.5);
    const unsigned bin = rank > 0 ? (unsigned)(rank * RANK_BINS) : 0;
    r->sets++;
    r->bin[bin < RANK_BINS ? bin : RANK_BINS - 1]++;
    for (unsigned k = 0; k < RANK_LEVELS; k++)
        r->covered[k] += reach <= rank_level[k];
}

double ranks_share(const ranks *r, unsigned level) { return (double)r->covered[level] / r->sets; }

double ranks_sigmas(const ranks *r, const ranks *other, unsigned level)
{
    const double n = r->sets, p = rank_level[level];
    if (!other)
        return (ranks_share(r, level) - p) / sqrt(p * (1 - p) / n);
    const double m = other->sets, pooled = (r->covered[level] + other->covered[level] + p) / (n + m + 1);
    return (ranks_share(r, level) - ranks_share(other, level)) / sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
}

double chi_square_below(double x, unsigned freedom)
{
    if (!(x > 0))
        return 0;
    const double half = 0.5 * fmin(x, 1400);
    const int is_odd = freedom % 2;
    double below = is_odd ? erf(sqrt(half)) : -expm1(-half);
    double term = exp(-half) * (is_odd ? sqrt(half) * 1.1283791670955126 : half);
    for (unsigned k = is_odd ? 1 : 2; k < freedom; k += 2) { /* each term reduces the degrees of freedom by two */
        below -= term;
        term *= half / (0.5 * k + 1);
    }
    return below;
}

double normal_beyond(double sigmas) { return erfc(sigmas * 0.7071067811865476); }

double ranks_uniform(const ranks *r)
{
    const double expected = (double)r->sets / RANK_BINS;
    double sum = 0;
    for (unsigned k = 0; k < RANK_BINS; k++)
        sum += (r->bin[k] - expected) * (r->bin[k] - expected) / expected;
    return 1 - chi_square_below(sum, RANK_BINS - 1);
}
