/* The exact Bayes filter of one parameter: its density at equal steps, in chart coordinates.

   The rule. The step is halved until the posterior is resolved: every other value follows from the rest to 1e-6 of the
   peak, and so do values at places off the grid, so that no fringe hides between points. Interpolation at the step
   itself, and all results, are then good to about 1e-9. The step is doubled if the same holds afterwards, to 1e-7. A
   Gaussian gets 7 to 17 steps per standard deviation. The window ends where the density is below 1e-12 of its peak. If
   that takes more than points_max points, ends with up to 1e-6 of the mass, as little as is enough, are dropped
   (rf_grid_dropped is their sum). If that is not enough, the likelihood's mean over each cell is used instead, so that
   fringes finer than the grid cancel (rf_grid_unresolved counts such updates).

   So points_max limits the ratio of the window to its finest feature. 2048 is plenty for a drifting parameter. A static
   frequency measured with ever longer times keeps fringes at all scales far from the peak: 100 updates with 16384
   points lose about 2e-6 and leave a few unresolved.

   A jump inside the likelihood is located to one step only. Coordinates are doubles: standard deviations below 1e-13 of
   |x| are out of reach. */
#ifndef REJFILT_GRID_H
#define REJFILT_GRID_H

#include "../marginal.h"
#include "rejfilt/host.h"

typedef struct rf_grid rf_grid;

/* A grid for a model of one parameter, whose likelihood and chart it copies; its density is N(0, 1). points_max in
   1024..2^20. Returns null for any other model or number, or when out of memory. */
rf_grid *rf_grid_create(const rf64_model *model, uint32_t points_max);
void rf_grid_free(rf_grid *g);

/* The same in the caller's memory of rf_grid_bytes bytes, for arguments that rf_grid_create accepts. */
enum { RF_GRID_POINTS_LEAST = 1024, RF_GRID_POINTS_MAX = 1 << 20 };
size_t rf_grid_bytes(uint32_t points_max);
void rf_grid_init(rf_grid *g, const rf64_model *model, uint32_t points_max);

/* Priors, in chart coordinates. They restart the filter. Return 0; or -1 with nothing changed for a width that is not
   positive or a value that is not finite. */

/* N(mean, variance); wrapped when the chart is periodic. */
int rf_grid_prior_gaussian(rf_grid *g, double mean, double variance);
/* Uniform in low..high, with ends rounded by a Gaussian of standard deviation (high − low)/64;
   exactly uniform where the chart is periodic and low..high is a period or more. */
int rf_grid_prior_box(rf_grid *g, double low, double high);

/* Adds a Gaussian step of this variance >= 0, in chart coordinates. Returns 0, or -1 with nothing changed. Relative
   error of the density about 1e-8. */
int rf_grid_diffuse(rf_grid *g, double variance);

/* y ← factor · y, factor > 0. Returns -1 for any other factor, and if the chart is periodic. */
int rf_grid_scale(rf_grid *g, double factor);

/* y ← y + by. */
void rf_grid_shift(rf_grid *g, double by);

/* As in belief.h. */
size_t rf_grid_save(const rf_grid *g, unsigned char *bytes);
int rf_grid_load(rf_grid *g, const unsigned char *bytes, size_t size);

/* Updates with one record (settings, then outcome) and returns ln P(E). Returns −infinity and keeps the density if the
   likelihood is zero (or NaN, negative, infinite) wherever there is density; NaN if the model failed. */
double rf_grid_update(rf_grid *g, const double record[]);

/* In chart coordinates. For a periodic chart the mean is in [low, high); when the density covers the circle, it is the
   circular mean, and deviations from it are within half a period. */
void rf_grid_moments(const rf_grid *g, double *mean, double *variance);
/* Its points, as a marginal. */
rf_marginal rf_grid_marginal(const rf_grid *grid);
double rf_grid_mean(const rf_grid *g);
double rf_grid_variance(const rf_grid *g);

/* The p-quantile, p in (0, 1), to about 1e-6 standard deviations. For a periodic chart it is counted from half a period
   below the mean, so it may be outside [low, high). */
double rf_grid_quantile(const rf_grid *g, double p);
/* The inverse: the probability below a coordinate, counted in the same way on a circle. */
double rf_grid_below(const rf_grid *g, double y);

/* Density at a chart coordinate. */
double rf_grid_density(const rf_grid *g, double y);

/* ln P of all evidence since the prior. */
double rf_grid_log_evidence(const rf_grid *g);

/* Points in use, dropped mass, and the number of updates whose likelihood was finer than points_max resolves. */
uint32_t rf_grid_points(const rf_grid *g);
double rf_grid_dropped(const rf_grid *g);
uint32_t rf_grid_unresolved(const rf_grid *g);

#endif
