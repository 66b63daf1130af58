/* The Bayes filter of two parameters: their density at equal steps in a window of the charts' plane.

   The rule, axis by axis. The step is halved until the posterior is resolved: every other value of a line follows from
   the rest to 1e-5 of the peak, and so do values at places off the grid. It is doubled when the density is about to be
   blurred by many steps, or when that, to 1e-6, loses nothing and room is short. The window ends where the density is
   below 1e-10 of its peak. When an axis would need more than `side` points, ends with up to 1e-6 of the mass are given
   up (rf_plane_dropped adds it up); when that is not enough, the likelihood's mean over each cell is taken
   (rf_plane_unresolved counts such updates).

   A bump takes some 60 points a side; one that is long, narrow and slanting takes as many times more as it is longer
   than wide. So `side` limits the ratio of the window to the finest feature in it, and an unresolved update makes the
   density too wide, not too narrow. */
#ifndef REJFILT_PLANE_H
#define REJFILT_PLANE_H

#include "../marginal.h"
#include "rejfilt/host.h"

typedef struct rf_plane rf_plane;

enum { RF_PLANE_SIDE_LEAST = 128, RF_PLANE_SIDE_MAX = 2048 };

/* For a model of two parameters, in rf_plane_bytes of memory; the density is not set. */
size_t rf_plane_bytes(uint32_t side);
void rf_plane_init(rf_plane *g, const rf64_model *model, uint32_t side);

/* A prior of one parameter, in its chart. */
typedef struct rf_plane_prior {
    int is_box;           /* uniform, with ends rounded; else a Gaussian, wrapped where the chart is periodic */
    double first, second; /* low and high; else mean and standard deviation > 0 */
} rf_plane_prior;

/* Restarts the filter with independent priors. 0, or -1 and nothing changed for an empty range or a number that is not
 * finite. */
int rf_plane_start(rf_plane *g, const rf_plane_prior prior[2]);

/* A Gaussian step of this variance >= 0 along an axis. 0, or -1 with nothing changed. */
int rf_plane_diffuse(rf_plane *g, unsigned axis, double variance);

/* Both coordinates plus these. */
void rf_plane_shift(rf_plane *g, const double by[2]);

/* Learns from one record (settings, then outcome) and returns ln P(E). −infinity, and the density stays, when the
   likelihood is zero (or NaN, negative, infinite) wherever there is density. NaN when the model failed. */
double rf_plane_update(rf_plane *g, const double record[]);

/* mean[2], and unless null the variances and the covariance: [0] of axis 0, [1] of both, [2] of axis 1. Of a periodic
   axis, the mean is in [low, high); where the density covers the circle, it is the circular mean, and deviations are
   within half a period. */
void rf_plane_moments(const rf_plane *g, double mean[2], double covariance[3]);
/* The points of one axis, with what lies beside them. */
rf_marginal rf_plane_marginal(const rf_plane *plane, unsigned axis);

/* The coordinate of an axis with probability p in (0, 1) below it; on a circle counted from half a period below the
 * mean. */
double rf_plane_quantile(const rf_plane *g, unsigned axis, double p);

/* Coordinates drawn with four uniform numbers in [0, 1). */
void rf_plane_draw(const rf_plane *g, const double u[4], double y[2]);

/* Points in use, mass given up, and updates whose likelihood was finer than the grid. */
uint32_t rf_plane_points(const rf_plane *g);
double rf_plane_dropped(const rf_plane *g);
uint32_t rf_plane_unresolved(const rf_plane *g);

/* As in belief.h. */
size_t rf_plane_save(const rf_plane *g, unsigned char *bytes);
int rf_plane_load(rf_plane *g, const unsigned char *bytes, size_t size);

#endif
