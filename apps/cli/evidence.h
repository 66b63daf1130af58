/* Evidence of several repeats taken together, and the conclusion from it. */
#ifndef REJFILT_CLI_EVIDENCE_H
#define REJFILT_CLI_EVIDENCE_H

#include <stdint.h>

/* Result of one repeat. */
typedef struct cli_score {
    double log_evidence; /* ln P of all records */
    double variance;     /* of log_evidence due to sampling, estimated from the counts of accepted attempts */
    long starved;        /* updates with fewer than two accepted attempts: their evidence is a guess */
    long bad;            /* updates with likelihoods that were NaN, negative or infinite */
    long above;          /* updates with likelihoods above the model's bound */
} cli_score;

typedef struct cli_estimate {
    double value, sd;
} cli_estimate;

/* ln of the mean evidence of `count` repeats: the prediction of a committee in which each repeat is weighted by its
   past predictions. A repeat that has lost the truth costs ln count at most. `sd` is the spread between repeats or,
   if larger, the estimate from the counts of accepted attempts. It is not divided by √count: all repeats share the
   error of being Gaussian, which does not average out. */
cli_estimate cli_evidence(const cli_score scores[], uint32_t count);

typedef struct cli_factor {
    double value, sd;
    int is_unanimous; /* every repeat has the same sign, by at least 2 of its own standard deviations */
} cli_factor;

/* ln K = ln evidence of a − ln evidence of b; repeat i of a is paired with repeat i of b. */
cli_factor cli_evidence_factor(const cli_score a[], const cli_score b[], uint32_t count);

typedef enum cli_conclusion {
    CLI_WITHIN_NOISE, /* |ln K| < 2 sd, and not unanimous */
    CLI_UNDECIDED,    /* else |ln K| < 1 */
    CLI_SLIGHTLY,     /* else |ln K| < 3 */
    CLI_FAVOURED
} cli_conclusion;

cli_conclusion cli_conclude(cli_factor factor);

#endif
