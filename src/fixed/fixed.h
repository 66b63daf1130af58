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

   As experiments are scaled by the standard deviation, an attempt is made in z = (x − mean)/sd alone, and z is
   stratified: a pass goes once through 100 equally likely values. Each is accepted where a low-discrepancy sequence
   that begins at a random place lies below its likelihood; mean and sd become those of the accepted. */
#ifndef REJFILT_FIXED_H
#define REJFILT_FIXED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is compiled in. Set to 0 what you do not use. */
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

enum {
    RFI_Z_ONE = 32,          /* z is in 1/32, */
    RFI_Z_MAX = 85,         /* and |z| is no larger */
    RFI_ATTEMPTS = 100,      /* of one pass; passes are made until enough are accepted */
    RFI_ACCEPTED_LEAST = 20,
    RFI_PASSES_MAX = 20,
    RFI_SD_LEAST = 256,      /* units: the time fits 16 bits; */
    RFI_ANCHOR_EVERY = 5,
    RFI_STUCK = 255          /* instead of a count: nothing was learnt */
};
#define RFI_SD_MAX 46340u   /* and its square fits 31 */

typedef struct rfi_filter {
    uint16_t random;
    int32_t mean;        /* in units */
    uint16_t sd, widest; /* in units; RFI_SD_LEAST ≤ sd ≤ widest ≤ RFI_SD_MAX */
    uint8_t slope;       /* of the experiment: its fringe turns by slope/1024 per sd, */
    int8_t phase;        /* and has turned by phase/256 at the mean */
    uint8_t due;         /* experiments before the next anchor */
    uint8_t alike;       /* twice the length of the run of equal outcomes, plus the outcome: 0 or 1 */
#if RFI_WITH_HOME
    int32_t home;        /* the mean when outcomes last differed and the sd was no more than half the widest */
#endif
#if RFI_WITH_EVIDENCE
    int32_t evidence;    /* Σ log₂ P(outcome), in 1/1024 */
#endif
} rfi_filter;

typedef enum rfi_design { RFI_QUADRATURE, RFI_PGH } rfi_design;

/* A Gaussian prior; sd from RFI_SD_LEAST on. Widening stops at three times its sd, or at RFI_SD_MAX. */
void rfi_init(rfi_filter *f, int32_t mean, uint16_t sd, uint16_t seed);

/* Drift: variance += q, in units², q < 2³¹. */
void rfi_diffuse(rfi_filter *f, uint32_t q);

/* Chooses the next experiment of a fringe P(1) = (1 + cos(t·(x − reference)))/2. Quadrature measures where it is
   steepest, 0.95 rad per sd. Every fifth experiment is an anchor: on the top or at the bottom of a wider fringe, 0.27 to
   0.46 rad per sd, where the outcome tells whether the filter is still right. PGH measures against a draw, 1 rad per sd. */
void rfi_ask(rfi_filter *f, rfi_design design);

/* Its settings, after rfi_ask: time t in 2⁻²⁶ turns per unit, and reference in units. */
uint16_t rfi_time(const rfi_filter *f);
int32_t rfi_reference(const rfi_filter *f);

/* Learns from an outcome: 1 or 0, or what your own likelihood takes (which may do without rfi_ask). Returns the number of
   accepted attempts, at most 119. From the 21st equal outcome of quadrature in a row on, the detector counts as stuck: nothing
   is learnt and RFI_STUCK is returned until an outcome differs. */
uint8_t rfi_learn(rfi_filter *f, uint8_t outcome);

/* x at z, in units: mean + sd·z/32. */
int32_t rfi_place(const rfi_filter *f, int8_t z);

/* Probability of acceptance at z, in 1/256. Yours, if you define RFI_LIKELIHOOD as its name: it may look at the angle
   of the fringe there, in 1/256 turns, or at rfi_place(f, z); the largest it returns should be near 255. */
#ifdef RFI_LIKELIHOOD
uint8_t RFI_LIKELIHOOD(const rfi_filter *f, int8_t z, uint8_t angle, uint8_t outcome);
#endif

#ifdef __cplusplus
}
#endif

#endif
