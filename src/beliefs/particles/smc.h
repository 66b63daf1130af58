/* The particle filter with Liu-West resampling, for any model, in chart coordinates. When the effective number of
   particles 1/Σw² falls below a share of them, particles are drawn in proportion to their weights (systematic
   resampling), moved towards the mean by the factor a, and spread by a Gaussian with 1 − a² times the covariance. On
   average this keeps the first two moments.

   For a periodic parameter, means are circular and deviations are within half a period. Reproducible: every draw
   depends on the seed, the number of the draw and the particle alone. */
#ifndef REJFILT_SMC_H
#define REJFILT_SMC_H

#include "../marginal.h"
#include "rejfilt/belief.h"

typedef struct rf_smc rf_smc;

typedef struct rf_smc_options {
    double shrink;    /* a, in 0..1; 1 is plain resampling */
    double threshold; /* in 0..1: resample when the effective number is below this share */
} rf_smc_options;

/* QInfer's defaults: a = 0.98, and half of the particles. */
#define RF_SMC_OPTIONS_DEFAULT ((rf_smc_options){0.98, 0.5})

enum { RF_SMC_DIM_MAX = 16, RF_SMC_PARTICLES_MAX = 1 << 28 };

/* Purposes of draws that the filter reserves under its seed; callers may use the others. */
enum { RF_SMC_FOR_PRIOR = RF_FOR_USER + 64, RF_SMC_FOR_CHOICE, RF_SMC_FOR_SPREAD, RF_SMC_FOR_STEP };

/* The first `count` parameters are interchangeable: from now on every particle keeps them in ascending order. */
void rf_smc_interchangeable(rf_smc *s, unsigned count);

/* All particles are at 0 until a prior is set. Copies the model's functions and charts. Null options mean the defaults.
   Returns null for a dimension above RF_SMC_DIM_MAX, fewer than 2 or more than RF_SMC_PARTICLES_MAX particles, options
   out of range, or when out of memory. */
rf_smc *rf_smc_create(const rf64_model *model, uint32_t particles, uint64_t seed, const rf_smc_options *options);
void rf_smc_free(rf_smc *s);

/* The same in the caller's memory of rf_smc_bytes bytes. Returns -1 for options out of range. */
size_t rf_smc_bytes(unsigned dim, uint32_t particles);
int rf_smc_init(rf_smc *s, const rf64_model *model, uint32_t particles, uint64_t seed, const rf_smc_options *options);

/* Sets independent priors. Restarts the filter; the draws that follow are new ones. Returns 0; or -1 with nothing
   changed if a width is negative, a range is empty or outside the chart, or a number is not finite. */
int rf_smc_prior_gaussian(rf_smc *s, const double mean[], const double sd[]); /* in chart coordinates */
int rf_smc_prior_box(rf_smc *s, const double low[], const double high[]);     /* in natural units */

/* Each parameter's own prior: uniform in natural units, or the Gaussian in the chart that represents it. */
int rf_smc_prior(rf_smc *s, const rf_prior prior[], const double mean[], const double sd[]);

/* Or particle by particle: set each one's coordinates, then begin with equal weights and event number `event`, on which
   later draws depend. */
void rf_smc_put(rf_smc *s, uint32_t i, const double y[]);
void rf_smc_begin(rf_smc *s, uint32_t event);

/* Every particle: y ← F·y + a step of covariance Q · elapsed; both dim × dim by rows. A null F changes nothing, a null
   Q adds nothing. */
void rf_smc_evolve(rf_smc *s, const double F[], const double Q[], double elapsed);

/* Moves the particles away from their mean, parameter d by the factor by[d]. */
void rf_smc_stretch(rf_smc *s, const double by[]);
/* Mirrors particles at the ends of parameter d's range. */
void rf_smc_confine(rf_smc *s, unsigned d, double low, double high);
/* y ← y + by, of every particle. */
void rf_smc_shift(rf_smc *s, const double by[]);
/* As the function of the same name in belief.h. */
void rf_smc_telegraph(rf_smc *s, unsigned parameter, const double level[2], const double chance[2]);

/* Adds a Gaussian step to every particle; variance[i] >= 0 of parameter i, in chart coordinates. */
int rf_smc_diffuse(rf_smc *s, const double variance[]);

/* Updates with `count` records (row by row: settings, then outcome), one after the other, and returns the sum of ln
   P(E). A record whose likelihood is zero (or NaN, negative, infinite) for all particles changes nothing and counts as
   −infinity. Returns NaN if the model failed; the particles are then unusable. */
double rf_smc_update(rf_smc *s, const double records[], uint32_t count);

/* Mean, and covariance (dim × dim by rows) unless null, in chart coordinates. */
void rf_smc_moments(const rf_smc *s, double mean[], double covariance[]);

/* Coordinate d of all particles, as a marginal. */
rf_marginal rf_smc_marginal(const rf_smc *s, unsigned d);

/* ln P of all evidence since the prior; P is unbiased for a = 1. */
double rf_smc_log_evidence(const rf_smc *s);
double rf_smc_effective(const rf_smc *s);
uint32_t rf_smc_particles(const rf_smc *s);
uint32_t rf_smc_resamplings(const rf_smc *s);

/* Writes particle i's coordinates to y[dim]; returns its weight. The weights sum to 1. */
double rf_smc_particle(const rf_smc *s, uint32_t i, double y[]);
/* The p-quantile of coordinate d; on a circle counted around the mean. */
double rf_smc_quantile(const rf_smc *s, unsigned d, double mean, double p);
/* Natural values of the particle at cumulative weight u, in (0, 1]. */
void rf_smc_draw(const rf_smc *s, double u, double x[]);

/* As in belief.h. */
size_t rf_smc_save(const rf_smc *s, unsigned char *bytes);
int rf_smc_load(rf_smc *s, const unsigned char *bytes, size_t size);

/* Resamples now. */
void rf_smc_resample(rf_smc *s);

#endif
