/* Internal to the beliefs: shared functions. */
#ifndef REJFILT_BELIEFS_COMMON_H
#define REJFILT_BELIEFS_COMMON_H

#include "marginal.h"
#include "rejfilt/belief.h"

/* A belief's functions, and the model of a problem or configuration. Code compiled for a GPU knows both at compile
   time. Also what GPU code leaves out. */
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
/* Adds the nats that an update lost by projection or merging; `before` has the variances from before it. A loss matters
   less once the belief has become narrower: the accumulated loss shrinks in proportion to the variance. */
void rf_belief_lose(rf_belief *belief, const double before[], double nats);
/* After noise was added to a belief with these variances: scales down the accumulated loss accordingly. Returns the
   share that is left. */
double rf_belief_forget(rf_belief *belief, const double before[]);

/* Converts the mean and the standard deviation of a parameter from the chart to natural units. A periodic mean stays on
   its side of the cut. */
void rf_belief_natural(const rf_belief *belief, unsigned parameter, double *mean, double *sd);

/* Is a parameter kept within a range? */
static inline int rf_problem_has_range(const rf_problem *problem, unsigned i) { return problem->low[i] < problem->high[i]; }
/* Limits natural values to the ranges: of all parameters, of parameter i. */
void rf_problem_limit(const rf_problem *problem, double x[]);
double rf_problem_limited(const rf_problem *problem, unsigned i, double x);
/* A Gaussian whose mean is outside a range gets the moments that its part inside has. Covariance: lower triangle by rows.
   Returns whether it has changed. */
int rf_problem_confine(const rf_problem *problem, double mean[], double covariance[]);
/* Takes parameters that have left their range back. */
void rf_belief_confine(rf_belief *belief);

/* Replaces the belief by one Gaussian with independent parameters. */
rf_status rf_belief_place(rf_belief *belief, const double mean[], const double sd[]);
/* The mean and the covariance (lower triangle by rows) of several Gaussians combined. On a circle, deviations count
   from the heaviest. */
void rf_gaussians_join(const rf_problem *problem, const rf_gaussian parts[], uint32_t count, double mean[],
                       double covariance[]);

/* Fills a report for an update without attempts: `points` evaluated, `effective` of them left, ln P(E), and notes. An
   evidence of zero is reported as half a point of them all. Returns the status. */
rf_status rf_belief_report(rf64_report *report, uint32_t update, uint32_t points, double effective,
                           double log_evidence);

#endif
