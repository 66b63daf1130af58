/* Access to a mixture's Gaussians, for tests and for display. */
#ifndef REJFILT_MIXTURE_H
#define REJFILT_MIXTURE_H

#include "rejfilt/belief.h"

enum { RF_MIXTURE_MAX = RF_GAUSSIANS_TOGETHER };

/* The sum of the Kullback-Leibler divergences of its projections and mergers since the prior, in nats. */
double rf_mixture_loss(const rf_belief *belief);
/* The present number of Gaussians. */
uint32_t rf_mixture_count(const rf_belief *belief);
/* Gaussian number i, in the layout of component.h, in the mixture's own charts: for a uniform prior, the bounded chart
   of its range until the components are narrow. */
const double *rf_mixture_component(const rf_belief *belief, uint32_t i);
const rf64_chart *rf_mixture_charts(const rf_belief *belief);
/* Replaces it by one Gaussian in the problem's charts; covariance: lower triangle by rows. Keeps the loss so far. */
void rf_mixture_take(rf_belief *belief, const double mean[], const double covariance[]);

#endif
