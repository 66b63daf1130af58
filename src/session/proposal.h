/* The proposal distribution of passes: Gaussians fitted to the previous points, and the prior. In chart coordinates. */
#ifndef REJFILT_PROPOSAL_H
#define REJFILT_PROPOSAL_H

#include "rejfilt/belief.h"

enum {
    RF_PROPOSAL_MAX = 8, /* Gaussians */
    RF_PROPOSAL_ROOM = RF_PROPOSAL_MAX + 1,
    RF_PROPOSAL_SPREAD = 3 /* periodic parameters of a Gaussian whose images are summed; further ones are uniform */
};

/* One Gaussian, and how it treats circles. */
typedef struct rf_bump {
    double numbers[1 + RF_DESCRIBED_MAX + RF_TRIANGLE(RF_DESCRIBED_MAX)]; /* as in component.h */
    uint32_t uniform; /* bit i: parameter i is uniform on its circle, and independent */
    uint32_t images;  /* bit i: its images around the circle are summed */
} rf_bump;

typedef struct rf_proposal {
    const rf_problem *problem;
    unsigned dim, count;                                             /* parameters; Gaussians (0: the prior alone) */
    double prior_mean[RF_DESCRIBED_MAX], prior_sd[RF_DESCRIBED_MAX]; /* of Gaussian priors, and the scale of all */
    double low[RF_DESCRIBED_MAX], high[RF_DESCRIBED_MAX];            /* of uniform priors */
    rf_bump bump[RF_PROPOSAL_MAX];
} rf_proposal;

/* Begins with the prior alone. Refuses a prior outside its chart. */
rf_status rf_proposal_open(rf_proposal *p, const rf_problem *problem);

/* The logarithm of the prior's density at y[dim]; −∞ outside. */
double rf_proposal_prior(const rf_proposal *p, const double y[]);

/* Draws `count` points to y[k * dim + i], as `sets` sets of equal size one after the other; count must be a multiple of
   `sets`. Each set is an independent random shift of evenly spread points. log_ratio receives ln(prior density /
   proposal density), −∞ outside the prior. Reproducible: depends on seed and pass alone. */
void rf_proposal_draw(const rf_proposal *p, uint64_t seed, uint32_t pass, uint32_t count, uint32_t sets, double y[],
                      double log_ratio[]);

/* Fits Gaussians to `count` points with these weights, which sum to 1. `room`: space for RF_PROPOSAL_ROOM · count
   numbers. */
void rf_proposal_fit(rf_proposal *p, uint64_t seed, uint32_t pass, const double y[], const double weight[],
                     uint32_t count, double room[]);

/* Mean and covariance, lower triangle by rows, of weighted points; circular means where a chart is periodic. */
void rf_weighted_moments(const rf64_chart charts[], unsigned dim, const double y[], const double weight[],
                         uint32_t count, double mean[], double covariance[]);

#endif
