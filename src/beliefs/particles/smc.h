/* The particle filter with Liu and West's resampling, for any model; the coordinates are those of the
   charts. When the effective number of particles 1/Σw² falls below a share of them, particles are drawn
   in proportion to their weights (systematically), moved towards the mean by the factor a, and
   spread by a Gaussian of 1 − a² of the covariance: the first two moments are kept, on average.

   Of a periodic parameter, means are circular and deviations within half a period. Reproducible: what
   is drawn depends on the seed, the number of the draw and the particle alone. */
#ifndef REJFILT_SMC_H
#define REJFILT_SMC_H

#include "rejfilt/belief.h"

typedef struct smc smc;

typedef struct smc_options {
    double shrink;    /* a in 0..1: 1 is plain resampling */
    double threshold; /* in 0..1: resample when the effective number is below this share */
} smc_options;

/* What QInfer uses: a = 0.98, and half of the particles. */
#define SMC_OPTIONS_DEFAULT ((smc_options){0.98, 0.5})

enum { SMC_DIM_MAX = 16, SMC_PARTICLES_MAX = 1 << 28 };

/* Draws under the seed that are the filter's; callers have the others. */
enum { SMC_FOR_PRIOR = RF_FOR_USER + 64, SMC_FOR_CHOICE, SMC_FOR_SPREAD, SMC_FOR_STEP };

/* All particles are at 0 until there is a prior. The model's functions and charts are copied. Null
   options are the default. Null for a dimension above SMC_DIM_MAX, less than 2 particles, options out
   of range, or when memory is short. */
smc *smc_create(const rf64_model *model, uint32_t particles, uint64_t seed, const smc_options *options);
void smc_free(smc *s);

/* The same in memory of the caller's, smc_bytes of it: -1 for options out of range. */
size_t smc_bytes(unsigned dim, uint32_t particles);
int smc_init(smc *s, const rf64_model *model, uint32_t particles, uint64_t seed, const smc_options *options);

/* Priors of independent parameters. They restart the filter; the draws that follow are new ones. 0, or
   -1 with nothing changed for a width that is negative, a range that is empty or outside the chart,
   or a number that is not finite. */
int smc_prior_gaussian(smc *s, const double mean[], const double sd[]); /* in chart coordinates */
int smc_prior_box(smc *s, const double low[], const double high[]);     /* in natural units */

/* Each parameter from its own: uniform in natural units, or the Gaussian in the chart that stands for it. */
int smc_prior(smc *s, const rf_prior prior[], const double mean[], const double sd[]);

/* Every particle: y ← F·y + a step of covariance Q · elapsed; both dim × dim by rows. A null F changes nothing, a null Q adds
   nothing. */
void smc_evolve(smc *s, const double F[], const double Q[], double elapsed);

/* Moves the particles away from their mean, parameter d by the factor by[d]. */
void smc_stretch(smc *s, const double by[]);

/* Every particle takes a Gaussian step; variance[i] >= 0 of parameter i, in chart coordinates. */
int smc_diffuse(smc *s, const double variance[]);

/* Learns from `count` records (row by row: settings, then outcome), one after the other, and returns
   the sum of ln P(E). A record whose likelihood is zero (or NaN, negative, infinite) for all
   particles changes nothing and counts as −infinity. */
double smc_update(smc *s, const double records[], uint32_t count);

/* Mean, and covariance (dim × dim by rows) unless null, in chart coordinates. */
void smc_moments(const smc *s, double mean[], double covariance[]);

/* ln P of all evidence since the prior; P is unbiased for a = 1. */
double smc_log_evidence(const smc *s);
double smc_effective(const smc *s);
uint32_t smc_resamplings(const smc *s);

/* Particle i's coordinates to y[dim]; returns its weight, of sum 1. */
double smc_particle(const smc *s, uint32_t i, double y[]);
/* The coordinate d with probability p below it, counted around the mean. */
double smc_quantile(const smc *s, unsigned d, double mean, double p);
/* Natural values of the particle at u of the sum of weights, u in (0, 1]. */
void smc_draw(const smc *s, double u, double x[]);

/* As in belief.h. */
size_t smc_save(const smc *s, unsigned char *bytes);
int smc_load(smc *s, const unsigned char *bytes, size_t size);

/* Resamples now. */
void smc_resample(smc *s);

#endif
