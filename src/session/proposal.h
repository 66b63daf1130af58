/* What passes draw their points from: Gaussians fitted to the points before, and the prior. In chart coordinates. */
#ifndef REJFILT_PROPOSAL_H
#define REJFILT_PROPOSAL_H

#include "rejfilt/belief.h"

enum {
    RF_PROPOSAL_MAX = 8, /* Gaussians */
    RF_PROPOSAL_ROOM = RF_PROPOSAL_MAX + 1,
    RF_PROPOSAL_SPREAD = 3 /* periodic parameters of one Gaussian whose images are added up; the others are uniform */
};

/* One Gaussian, and what becomes of it on circles. */
typedef struct rf_bump {
    double numbers[1 + RF_DESCRIBED_MAX + RF_TRIANGLE(RF_DESCRIBED_MAX)]; /* as in component.h */
    uint32_t uniform; /* bit i: parameter i is uniform on its circle, and independent */
    uint32_t images;  /* bit i: its neighbours around the circle count as well */
} rf_bump;

typedef struct rf_proposal {
    const rf_problem *problem;
    unsigned dim, count;                                             /* parameters; Gaussians: 0 is the prior alone */
    double prior_mean[RF_DESCRIBED_MAX], prior_sd[RF_DESCRIBED_MAX]; /* of Gaussian priors, and as a scale of all */
    double low[RF_DESCRIBED_MAX], high[RF_DESCRIBED_MAX];            /* of uniform priors */
    rf_bump bump[RF_PROPOSAL_MAX];
} rf_proposal;

/* The prior alone. Refused: a prior outside its chart. */
rf_status rf_proposal_open(rf_proposal *p, const rf_problem *problem);

/* The logarithm of the prior's density at y[dim]; −∞ outside. */
double rf_proposal_prior(const rf_proposal *p, const double y[]);

/* `count` points, a multiple of `sets`, to y[k * dim + i], in that many sets one after the other. Each set is an
   independent random shift of evenly spread points. The logarithm of the prior's density over the proposal's goes to
   log_ratio: −∞ outside the prior. Reproducible: of seed and pass alone. */
void rf_proposal_draw(const rf_proposal *p, uint64_t seed, uint32_t pass, uint32_t count, uint32_t sets, double y[],
                      double log_ratio[]);

/* Fits Gaussians to `count` points with these weights, of sum 1. `room` is for RF_PROPOSAL_ROOM · count numbers. */
void rf_proposal_fit(rf_proposal *p, uint64_t seed, uint32_t pass, const double y[], const double weight[],
                     uint32_t count, double room[]);

/* Mean and covariance, lower triangle by rows, of weighted points; circular means where a chart is periodic. */
void rf_weighted_moments(const rf64_chart charts[], unsigned dim, const double y[], const double weight[],
                         uint32_t count, double mean[], double covariance[]);

#endif
