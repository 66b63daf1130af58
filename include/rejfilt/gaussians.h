/* The posterior of one parameter as a few Gaussians in float, for chips: 112 bytes. It begins as one Gaussian. A
   Gaussian that would lose more than 10⁻⁴ nats in a record is split; then the pair with the smallest loss is merged.
   `loss` sums the losses. No heap, no libc, no random numbers: the same records give the same bits on every machine.

       rf32_gaussians g;
       rf32_gaussians_init(&g, mean, sd);
       for (;;) {
           rf32_gaussians_diffuse(&g, q);                        // if the parameter drifts
           rf32_gaussians_update(&g, likelihood, setting, outcome);
       }

   The likelihood gets the chart coordinate y and converts it: exp(y) for a positive parameter, and
   low + (high − low)·rf32_normal_cdf(y) for a bounded one. N(0, 1) is then exactly a uniform prior. */
#ifndef REJFILT_GAUSSIANS_H
#define REJFILT_GAUSSIANS_H

#include "rejfilt.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef RF_GAUSSIANS_MAX
#define RF_GAUSSIANS_MAX 8 /* a plain number, the same in every file of a program; 1: one Gaussian in 28 bytes, never split */
#endif
#if RF_GAUSSIANS_MAX != 8 /* part of every name: the linker refuses a mixture */
#define RF_GAUSSIANS_(name) RF_GAUSSIANS__(name, RF_GAUSSIANS_MAX)
#define RF_GAUSSIANS__(name, max) RF_GAUSSIANS___(name, max)
#define RF_GAUSSIANS___(name, max) rf32_gaussians_##name##_##max
#define rf32_gaussians_init RF_GAUSSIANS_(init)
#define rf32_gaussians_update RF_GAUSSIANS_(update)
#define rf32_gaussians_diffuse RF_GAUSSIANS_(diffuse)
#define rf32_gaussians_stretch RF_GAUSSIANS_(stretch)
#define rf32_gaussians_mean RF_GAUSSIANS_(mean)
#define rf32_gaussians_sd RF_GAUSSIANS_(sd)
#define rf32_gaussians_quantile RF_GAUSSIANS_(quantile)
#endif

/* One Gaussian. */
typedef struct rf32_gaussian {
    float weight;   /* weights add up to 1 */
    float mean, sd; /* of y */
} rf32_gaussian;

/* The whole posterior. It has no pointers: copying the bytes copies it. */
typedef struct rf32_gaussians {
    rf32_gaussian part[RF_GAUSSIANS_MAX]; /* the first `count` */
    uint32_t count;                       /* from 1 to RF_GAUSSIANS_MAX */
    uint32_t updates;                     /* updates so far */
    float loss;         /* nats lost so far; too coarse for the problem if it is above 1 in most runs */
    float log_evidence; /* ln P(all outcomes) */
} rf32_gaussians;

/* A prior: one Gaussian. RF_REFUSED_VALUE, RF_REFUSED_WIDTH. */
RF_API rf_status rf32_gaussians_init(rf32_gaussians *g, float mean, float sd);

/* Updates with an outcome. The likelihood may be a density, without a bound. NaN, negative and infinite ones count as 0
   (RF_NOTE_BAD). An outcome that is impossible everywhere widens all Gaussians by √2: RF_NOTE_WIDENED, or RF_NOTE_BROKEN if there
   were such likelihoods. RF_NOTE_FEW: the outcome tells more than 16 points can resolve.
   RF_REFUSED_EVIDENCE: the outcome is not finite. */
RF_API rf_status rf32_gaussians_update(rf32_gaussians *g, rf32_likelihood *likelihood, const float setting[],
                                       float outcome);

/* Drift: adds q ≥ 0 to every variance. RF_REFUSED_VALUE. */
RF_API rf_status rf32_gaussians_diffuse(rf32_gaussians *g, float q);

/* Multiplies every standard deviation by `factor` > 0; the means stay. RF_REFUSED_VALUE. */
RF_API rf_status rf32_gaussians_stretch(rf32_gaussians *g, float factor);

/* The mean of y. */
RF_API float rf32_gaussians_mean(const rf32_gaussians *g);

/* The standard deviation of y. */
RF_API float rf32_gaussians_sd(const rf32_gaussians *g);

/* The y that has probability p below it, 0 < p < 1: 0.025 and 0.975 make a 95 % interval. To 10⁻⁵ in p. */
RF_API float rf32_gaussians_quantile(const rf32_gaussians *g, float p);

#ifdef __cplusplus
}
#endif

#endif
