#include "evidence.h"

#include <math.h>

/* a − b, and 0 if both are the same infinity: a model to which the records are impossible has ln evidence −∞. */
static double minus(double a, double b) { return a == b ? 0 : a - b; }

/* ln of the mean of exp(log_evidence). */
static double log_mean(const cli_score scores[], uint32_t count)
{
    double max = scores[0].log_evidence, sum = 0;
    for (uint32_t i = 1; i < count; i++)
        max = fmax(max, scores[i].log_evidence);
    if (isinf(max))
        return max;
    for (uint32_t i = 0; i < count; i++)
        sum += exp(scores[i].log_evidence - max);
    return max + log(sum / count);
}

/* Standard deviation between repeats of ln evidence, or of its difference to `b`. */
static double spread(const cli_score a[], const cli_score b[], uint32_t count)
{
    double mean = 0, across = 0, within = 0;
    for (uint32_t i = 0; i < count; i++) {
        mean += minus(a[i].log_evidence, b ? b[i].log_evidence : 0) / count;
        within += (a[i].variance + (b ? b[i].variance : 0)) / count;
    }
    for (uint32_t i = 0; i < count && count > 1; i++) {
        double away = minus(minus(a[i].log_evidence, b ? b[i].log_evidence : 0), mean);
        across += away * away / (count - 1);
    }
    return sqrt(fmax(across, within));
}

cli_estimate cli_evidence(const cli_score scores[], uint32_t count)
{
    return (cli_estimate){log_mean(scores, count), spread(scores, 0, count)};
}

cli_factor cli_evidence_factor(const cli_score a[], const cli_score b[], uint32_t count)
{
    uint32_t above = 0, below = 0;
    for (uint32_t i = 0; i < count; i++) {
        double factor = minus(a[i].log_evidence, b[i].log_evidence), noise = 2 * sqrt(a[i].variance + b[i].variance);
        above += factor >= noise;
        below += factor <= -noise;
    }
    return (cli_factor){minus(log_mean(a, count), log_mean(b, count)), spread(a, b, count), above == count || below == count};
}

cli_conclusion cli_conclude(cli_factor factor)
{
    double size = fabs(factor.value);
    if (size < 2 * factor.sd && !factor.is_unanimous)
        return CLI_WITHIN_NOISE;
    return size < 1 ? CLI_UNDECIDED : size < 3 ? CLI_SLIGHTLY : CLI_FAVOURED;
}
