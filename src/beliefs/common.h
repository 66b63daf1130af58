/* Inside the beliefs: what they share. */
#ifndef REJFILT_BELIEFS_COMMON_H
#define REJFILT_BELIEFS_COMMON_H

#include "marginal.h"
#include "rejfilt/belief.h"

/* A belief's functions, and the model that a problem or a configuration is about; what is compiled for a GPU knows
   both. And what it does without. */
#ifndef RF_DEVICE_KIND
#define rf_kind_of(belief) ((belief)->kind)
#define rf_instance_of(about) ((about)->model->f64)
#define RF_HOST_ONLY(function) function
#else
#define rf_kind_of(belief) (&RF_DEVICE_KIND)
#define rf_instance_of(about) (&RF_DEVICE_INSTANCE)
#define RF_HOST_ONLY(function) 0
#endif

/* Are all numbers of the records finite? Returns RF_OK, or RF_REFUSED_EVIDENCE. */
rf_status rf_belief_check(const rf_belief *belief, const double records[], uint32_t count);

/* Variances in the chart, to v[dim]. */
void rf_belief_variances(const rf_belief *belief, double v[]);
/* An update that began with those variances has lost so many nats by projection or merging. What was wrong with the
   belief matters less when it has become narrower: a slope of the error, in proportion to the variance. */
void rf_belief_lose(rf_belief *belief, const double before[], double nats);
/* Noise has been added to a belief with those variances: so much less of what it has lost is left. Returns the share.
 */
double rf_belief_forget(rf_belief *belief, const double before[]);

/* The mean and the standard deviation of a parameter, which are those in the chart, become those in natural units; of a
   periodic one the mean stays on the side of the cut where it was. */
void rf_belief_natural(const rf_belief *belief, unsigned parameter, double *mean, double *sd);

/* Becomes one Gaussian of independent parameters. */
rf_status rf_belief_place(rf_belief *belief, const double mean[], const double sd[]);
/* The mean and the covariance (lower triangle by rows) of Gaussians together. On a circle, about the heaviest. */
void rf_gaussians_join(const rf_problem *problem, const rf_gaussian parts[], uint32_t count, double mean[],
                       double covariance[]);

/* An update by other means than attempts, as a report has it: `points` evaluated, `effective` of them left, ln P(E),
   and notes. A probability of zero is taken for half a point of so many. Returns the status. */
rf_status rf_belief_report(rf64_report *report, uint32_t update, uint32_t points, double effective,
                           double log_evidence);

#endif
