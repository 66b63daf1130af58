/* A few Gaussians, for tests and for those who show them. */
#ifndef REJFILT_MIXTURE_H
#define REJFILT_MIXTURE_H

#include "rejfilt/belief.h"

enum { RF_MIXTURE_MAX = RF_GAUSSIANS_TOGETHER };

/* What its projections and mergers have lost since the prior, in nats: the sum of their Kullback-Leibler divergences.
 */
double rf_mixture_loss(const rf_belief *belief);
/* How many Gaussians it has now. */
uint32_t rf_mixture_count(const rf_belief *belief);
/* Number i of them, as component.h says, in charts of its own: of a uniform prior, the bounded chart of its range until
   the components are narrow. */
const double *rf_mixture_component(const rf_belief *belief, uint32_t i);
const rf64_chart *rf_mixture_charts(const rf_belief *belief);
/* Makes it one Gaussian, in the problem's charts; covariance: the lower triangle by rows. What it has lost stays. */
void rf_mixture_take(rf_belief *belief, const double mean[], const double covariance[]);

#endif
