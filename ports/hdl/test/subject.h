/* What the co-simulation must know about a likelihood: a fringe or, with -DDECAY, a decay. */
#ifndef REJFILT_HDL_SUBJECT_H
#define REJFILT_HDL_SUBJECT_H

#include <math.h>

#include "decay.h"

#ifdef DECAY
/* so that the co-simulation can call rfi_init and so on */
#define rfi_init rfi_decay_init
#define rfi_diffuse rfi_decay_diffuse
#define rfi_learn rfi_decay_learn

enum { subject_unlikely = 1, subject_far = -100 };
enum { subject_mean = 327680, subject_sd = 16384 }; /* 1024 ticks, half an octave, */
static const double subject_drift = 983.04;         /* and a walk of 2 % per experiment */

static inline void subject_ask(rfi_filter *f, int pgh) { (void)pgh, rfi_decay_ask(f); }
static inline uint32_t subject_time(const rfi_filter *f) { return rfi_decay_time(f); }
static inline int32_t subject_reference(const rfi_filter *f) { return f->mean; }
static inline int subject_anchor(const rfi_filter *f) { return (void)f, 0; }

static inline uint8_t subject_outcome_at(uint32_t time, int32_t reference, double truth, double luck)
{
    (void)reference;
    return luck <= exp(-(double)time * exp2(-truth / 32768));
}
#else
enum { subject_unlikely = 0, subject_far = 0 }; /* the improbable outcome at the mean, at this phase of an experiment */
enum { subject_mean = 25736, subject_sd = 14859 }; /* a prior of 0 to π/2 in units of 2⁻¹⁵ rad, */
static const double subject_drift = 857.8625;      /* and the paper's walk, π/120 */

static inline void subject_ask(rfi_filter *f, int pgh) { rfi_ask(f, pgh ? RFI_PGH : RFI_QUADRATURE); }
static inline uint32_t subject_time(const rfi_filter *f) { return rfi_time(f); }
static inline int32_t subject_reference(const rfi_filter *f) { return rfi_reference(f); }
static inline int subject_anchor(const rfi_filter *f) { return f->slope != 0 && f->slope < 155; }

/* The outcome of an experiment with these settings, for a given truth and random number. */
static inline uint8_t subject_outcome_at(uint32_t time, int32_t reference, double truth, double luck)
{
    return luck <= (1 + cos(time * 0x1p-26 * 2 * M_PI * (truth - reference))) / 2;
}

#endif

static inline uint8_t subject_outcome(const rfi_filter *f, double truth, double luck)
{
    return f->slope ? subject_outcome_at(subject_time(f), subject_reference(f), truth, luck) : luck < 0.5;
}

#endif
