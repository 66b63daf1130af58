/* The Bayes filter of two parameters: their density at equal steps, in a window of the plane of charts.

   The rule applies to each axis. The step is halved until the posterior is resolved: every other value of a line
   follows from the rest to 1e-5 of the peak, and so do values at places off the grid. The step is doubled before the
   density is blurred by many steps, or if room is short and doubling loses nothing, to 1e-6. The window ends where the
   density is below 1e-10 of its peak. If an axis would need more than `side` points, ends with up to 1e-6 of the mass
   are dropped (rf_plane_dropped is their sum). If that is not enough, the likelihood's mean over each cell is used
   (rf_plane_unresolved counts such updates).

   A peak takes some 60 points a side; a long, narrow, slanting one takes more, in the ratio of its length to its width.
   So `side` limits the ratio of the window to its finest feature. An unresolved update makes the density too wide, not
   too narrow. */
#ifndef REJFILT_PLANE_H
#define REJFILT_PLANE_H

#include "../marginal.h"
#include "rejfilt/host.h"

typedef struct rf_plane rf_plane;

enum { RF_PLANE_SIDE_LEAST = 128, RF_PLANE_SIDE_MAX = 2048 };

/* For a model of two parameters, in rf_plane_bytes of memory. The density is not set yet. */
size_t rf_plane_bytes(uint32_t side);
void rf_plane_init(rf_plane *g, const rf64_model *model, uint32_t side);

/* A prior of one parameter, in its chart. */
typedef struct rf_plane_prior {
    int is_box;           /* uniform, with rounded ends; else a Gaussian, wrapped where the chart is periodic */
    double first, second; /* low and high; else mean and standard deviation > 0 */
} rf_plane_prior;

/* Restarts the filter with independent priors. Returns 0; or -1 with nothing changed for an empty range or a number
   that is not finite. */
int rf_plane_start(rf_plane *g, const rf_plane_prior prior[2]);

/* Adds a Gaussian step of this variance >= 0 along an axis. Returns 0, or -1 with nothing changed. */
int rf_plane_diffuse(rf_plane *g, unsigned axis, double variance);

/* Adds these numbers to both coordinates. */
void rf_plane_shift(rf_plane *g, const double by[2]);

/* Updates with one record (settings, then outcome) and returns ln P(E). Returns −infinity and keeps the density if the
   likelihood is zero (or NaN, negative, infinite) wherever there is density; NaN if the model failed. */
double rf_plane_update(rf_plane *g, const double record[]);

/* mean[2]; and unless null, covariance: [0] variance of axis 0, [1] covariance of both, [2] variance of axis 1. The
   mean of a periodic axis is in [low, high); where the density covers the circle, it is the circular mean, and
   deviations are within half a period. */
void rf_plane_moments(const rf_plane *g, double mean[2], double covariance[3]);
/* The marginal of one axis: its points, with the mass of their lines. */
rf_marginal rf_plane_marginal(const rf_plane *plane, unsigned axis);

/* The p-quantile of an axis, p in (0, 1); on a circle counted from half a period below the mean. */
double rf_plane_quantile(const rf_plane *g, unsigned axis, double p);

/* Draws coordinates, from four uniform numbers in [0, 1). */
void rf_plane_draw(const rf_plane *g, const double u[4], double y[2]);

/* Points in use, dropped mass, and the number of updates whose likelihood was finer than the grid. */
uint32_t rf_plane_points(const rf_plane *g);
double rf_plane_dropped(const rf_plane *g);
uint32_t rf_plane_unresolved(const rf_plane *g);

/* As in belief.h. */
size_t rf_plane_save(const rf_plane *g, unsigned char *bytes);
int rf_plane_load(rf_plane *g, const unsigned char *bytes, size_t size);

#endif
