/* What the evidence of several registers says together, and what may be concluded from it. */
#ifndef REJFILT_CLI_EVIDENCE_H
#define REJFILT_CLI_EVIDENCE_H

#include <stdint.h>

/* What one register found. */
typedef struct cli_score {
    double log_evidence; /* ln P of all records */
    double variance;     /* of the sampling error in it, as the counts of accepted attempts tell */
    long starved;        /* updates with fewer than two accepted: the evidence was guessed there */
    long bad;            /* updates with likelihoods that were NaN, negative or infinite */
    long above;          /* updates with likelihoods above the model's bound */
} cli_score;

typedef struct cli_estimate {
    double value, sd;
} cli_estimate;

/* ln of the mean evidence of `count` registers: what they predict as a committee in which each counts as much as its
   predictions were worth, so that one that has lost the truth costs ln count at most. The sd is that of one register
   around another, or what the counts of accepted attempts tell if that is more. It is not divided by √count: the
   registers share the error of being Gaussian, which does not average out. */
cli_estimate cli_evidence(const cli_score scores[], uint32_t count);

typedef struct cli_factor {
    double value, sd;
    int is_unanimous; /* every register has the same sign, by 2 of its own standard deviations or more */
} cli_factor;

/* ln K = ln evidence of a − ln evidence of b, whose registers go in pairs. */
cli_factor cli_evidence_factor(const cli_score a[], const cli_score b[], uint32_t count);

typedef enum cli_conclusion {
    CLI_WITHIN_NOISE, /* |ln K| < 2 sd, and not unanimous */
    CLI_UNDECIDED,    /* else |ln K| < 1 */
    CLI_SLIGHTLY,     /* else |ln K| < 3 */
    CLI_FAVOURED
} cli_conclusion;

cli_conclusion cli_conclude(cli_factor factor);

#endif
