/* One Gaussian of a mixture in chart coordinates, as consecutive doubles: weight, mean[dim],
   factor[RF_TRIANGLE(dim)]. */
#ifndef REJFILT_COMPONENT_H
#define REJFILT_COMPONENT_H

#include "rejfilt/host.h"

/* Number of doubles. */
static inline size_t rf_component_size(unsigned dim) { return 1 + dim + RF_TRIANGLE(dim); }
/* Pointers to its mean and its factor. */
static inline double *rf_component_mean(double *c) { return c + 1; }
static inline double *rf_component_factor(double *c, unsigned dim) { return c + 1 + dim; }

/* The difference of two coordinates of parameter i, reduced to within half a period if the chart is periodic. */
static inline double rf_component_apart(const rf64_chart *chart, double difference)
{
    const double period = chart->kind == RF_PERIODIC ? chart->high - chart->low : 0;
    return period > 0 ? difference - period * rf64_floor(difference / period + 0.5) : difference;
}

/* Element (i, j) of its covariance, and the logarithm of its factor's determinant. */
double rf_component_covariance(const double *c, unsigned dim, unsigned i, unsigned j);
double rf_component_log_size(const double *c, unsigned dim);

/* a ← its Cholesky factor, in place. Pivot i is at least least[i] (null: rounding error only), so the result is always
   a factor. Returns the logarithm of its determinant. */
double rf_component_cholesky(double a[], unsigned dim, const double least[]);

/* Splits `from` into three parts along column `axis` of its factor; together they have its first five moments. `from`
   may be one of them. */
void rf_component_split(const double *from, unsigned dim, unsigned axis, double *low, double *middle, double *high);

/* Parameter i ← parameter order[i]. */
void rf_component_permute(double *c, unsigned dim, const unsigned order[]);

/* The covariance of a and b combined, lower triangle by rows; their own covariances are given. */
void rf_component_joint(const double *a, const double *b, const double a_covariance[], const double b_covariance[],
                        const rf64_chart charts[], unsigned dim, double joint[]);

/* Nats that merging a and b loses: their weight times the Kullback-Leibler divergence of the Gaussian with their moments from
   the pair. Within a factor of about two; `factor` is the Cholesky factor of their joint covariance, `bound` Runnalls's
   bound, which is far too high for components that overlap. */
double rf_component_merger_loss(const double *a, const double *b, const double a_covariance[], const double b_covariance[],
                                const rf64_chart charts[], unsigned dim, const double factor[], double bound);

/* a ← the Gaussian with the weight and the first two moments of both. `factor`: Cholesky factor of their joint covariance. */
void rf_component_merge(double *a, const double *b, const rf64_chart charts[], unsigned dim, const double factor[]);

#endif
