/* The filter of one parameter in integers, for the smallest microcontrollers: no float, no libm, no heap, nothing
   wider than 32 bits. Copy fixed.h, fixed_math.h and fixed.c into your project.

       rfi_filter filter;
       rfi_init(&filter, mean, sd, seed);
       for (;;) {
           rfi_diffuse(&filter, q);                       // the parameter has drifted
           rfi_ask(&filter, RFI_QUADRATURE);
           outcome = measure(rfi_time(&filter), rfi_reference(&filter));
           rfi_learn(&filter, outcome);
       }

   Parameters are whole numbers of a *unit*, chosen so that the standard deviation always lies in RFI_SD_LEAST..RFI_SD_MAX
   units. Following a frequency that wanders 0.026 rad per step from a prior of 0.45 rad is done in units of 2⁻¹⁵ rad.

   Experiments are scaled by the standard deviation, so attempts are made in z = (x − mean)/sd. A pass tries 100 equally
   likely values of z. A value is accepted if the next number of a low-discrepancy sequence, started at a random place,
   is below its likelihood. Mean and sd become those of the accepted values. */
#ifndef REJFILT_FIXED_H
#define REJFILT_FIXED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Features. Set those that you do not use to 0. */
#ifndef RFI_WITH_PGH
#define RFI_WITH_PGH 1
#endif
#ifndef RFI_WITH_FRINGE /* rfi_ask and its settings; 0 for a likelihood with experiments of its own */
#define RFI_WITH_FRINGE 1
#endif
#ifndef RFI_FAINT /* 1 for a likelihood that varies little over an sd, where an outcome carries little information */
#define RFI_FAINT 0
#endif
#ifndef RFI_WITH_HOME /* a lost filter, or one whose detector was stuck, returns to its last sure estimate */
#define RFI_WITH_HOME 1
#endif
#ifndef RFI_WITH_EVIDENCE
#define RFI_WITH_EVIDENCE 1
#endif

/* The features, each 0 or 1, are part of the names, so that the linker refuses files that differ. */
#define RFI_NAMED(name, pgh, fringe, faint, home, evidence) RFI_NAMED_(name, pgh, fringe, faint, home, evidence)
#define RFI_NAMED_(name, pgh, fringe, faint, home, evidence) name##_##pgh##fringe##faint##home##evidence
#define RFI_FEATURES(name) RFI_NAMED(name, RFI_WITH_PGH, RFI_WITH_FRINGE, RFI_FAINT, RFI_WITH_HOME, RFI_WITH_EVIDENCE)
#if !(RFI_WITH_PGH && RFI_WITH_FRINGE && !RFI_FAINT && RFI_WITH_HOME && RFI_WITH_EVIDENCE)
#define rfi_init RFI_FEATURES(rfi_init)
#define rfi_diffuse RFI_FEATURES(rfi_diffuse)
#define rfi_ask RFI_FEATURES(rfi_ask)
#define rfi_time RFI_FEATURES(rfi_time)
#define rfi_reference RFI_FEATURES(rfi_reference)
#define rfi_learn RFI_FEATURES(rfi_learn)
#define rfi_place RFI_FEATURES(rfi_place)
#endif

enum {
    RFI_Z_ONE = 32,          /* z is in units of 1/32 */
    RFI_Z_MAX = 85,         /* largest |z|, in these units */
    RFI_ATTEMPTS = 100,      /* of one pass; passes are repeated until enough are accepted */
    RFI_ACCEPTED_LEAST = 20,
    RFI_PASSES_MAX = 20,
    RFI_SD_LEAST = 256,      /* in units; rfi_time then fits 16 bits */
    RFI_ANCHOR_EVERY = 5,
    RFI_STUCK = 255          /* result of rfi_learn if nothing was learnt */
};
#define RFI_SD_MAX 46340u   /* in units; its square fits 31 bits */

typedef struct rfi_filter {
    uint16_t random;
    int32_t mean;        /* in units */
    uint16_t sd, widest; /* in units; RFI_SD_LEAST ≤ sd ≤ widest ≤ RFI_SD_MAX */
    uint8_t slope;       /* of the experiment: its fringe advances by slope/1024 turns per sd */
    int8_t phase;        /* of its fringe at the mean, in 1/256 turns */
    uint8_t due;         /* experiments until the next anchor */
    uint8_t alike;       /* twice the length of the run of equal outcomes, plus the outcome: 0 or 1 */
#if RFI_WITH_HOME
    int32_t home;        /* the mean when outcomes last differed and the sd was no more than half the widest */
#endif
#if RFI_WITH_EVIDENCE
    int32_t evidence;    /* Σ log₂ P(outcome), in 1/1024 */
#endif
} rfi_filter;

typedef enum rfi_design { RFI_QUADRATURE, RFI_PGH } rfi_design;

/* Sets a Gaussian prior; sd ≥ RFI_SD_LEAST. Widening stops at three times its sd, or at RFI_SD_MAX. */
void rfi_init(rfi_filter *f, int32_t mean, uint16_t sd, uint16_t seed);

/* Drift: variance += q, in units², q < 2³¹. */
void rfi_diffuse(rfi_filter *f, uint32_t q);

/* Chooses the next experiment of a fringe P(1) = (1 + cos(t·(x − reference)))/2. Quadrature measures where it is
   steepest, 0.95 rad per sd. Every fifth experiment is an anchor, which tests the filter: at the top or the bottom of a
   wider fringe, 0.27 to 0.46 rad per sd. PGH uses a draw as the reference, 1 rad per sd. */
void rfi_ask(rfi_filter *f, rfi_design design);

/* The settings chosen by rfi_ask: time t in 2⁻²⁶ turns per unit, and reference in units. */
uint16_t rfi_time(const rfi_filter *f);
int32_t rfi_reference(const rfi_filter *f);

/* Updates with an outcome: 1 or 0, or what your own likelihood takes. Returns the number of accepted attempts, at most
   119. From the 21st equal outcome of quadrature in a row, the detector counts as stuck: until an outcome differs,
   nothing is learnt and RFI_STUCK is returned. */
uint8_t rfi_learn(rfi_filter *f, uint8_t outcome);

/* x at z, in units: mean + sd·z/32. */
int32_t rfi_place(const rfi_filter *f, int8_t z);

/* Define RFI_LIKELIHOOD as the name of your own likelihood. It returns the probability of acceptance at z, in 1/256; the
   largest should be near 255. It may use the angle of the fringe at z, in 1/256 turns, or rfi_place(f, z). */
#ifdef RFI_LIKELIHOOD
uint8_t RFI_LIKELIHOOD(const rfi_filter *f, int8_t z, uint8_t angle, uint8_t outcome);
#endif

#ifdef __cplusplus
}
#endif

#endif
