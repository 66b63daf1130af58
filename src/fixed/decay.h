/* The integer filter of a lifetime: a prepared state survives a time t with P(1) = exp(−t/T), and
   T drifts (a qubit's T1). Copy decay.h, decay.c and the files of the integer filter into your project.

       rfi_filter filter;
       rfi_decay_init(&filter, mean, sd, seed);
       for (;;) {
           rfi_decay_diffuse(&filter, q);                 // the lifetime has drifted
           rfi_decay_ask(&filter);
           rfi_decay_learn(&filter, measure(rfi_decay_time(&filter)));
       }

   The parameter is log₂ of the lifetime in ticks of your clock, in units of 2⁻¹⁵ octaves: 10·32768 is 1024 ticks. So
   the standard deviation lies between 0.5 % of the lifetime and a factor of 2.7. The lifetime must be at least a hundred
   ticks. A wait is 1.25 times the estimate: this yields 97 % of the largest possible information, and more balanced
   outcomes. A decay has no aliases, so there are no anchors. */
#ifndef REJFILT_DECAY_H
#define REJFILT_DECAY_H

#include "fixed.h"

#if !(RFI_WITH_HOME && RFI_WITH_EVIDENCE) /* what the filter's memory depends on is part of the names */
#define RFI_MEMORY(name) RFI_NAMED(name, 1, 1, 0, RFI_WITH_HOME, RFI_WITH_EVIDENCE)
#define rfi_decay_init RFI_MEMORY(rfi_decay_init)
#define rfi_decay_diffuse RFI_MEMORY(rfi_decay_diffuse)
#define rfi_decay_ask RFI_MEMORY(rfi_decay_ask)
#define rfi_decay_time RFI_MEMORY(rfi_decay_time)
#define rfi_decay_learn RFI_MEMORY(rfi_decay_learn)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Sets a Gaussian prior; widens it. As rfi_init and rfi_diffuse. */
void rfi_decay_init(rfi_filter *f, int32_t mean, uint16_t sd, uint16_t seed);
void rfi_decay_diffuse(rfi_filter *f, uint32_t q);

/* Chooses the next experiment. */
void rfi_decay_ask(rfi_filter *f);

/* The wait of the experiment, in ticks: 1.25·2^(mean/32768), from 1 to 2³² − 1. */
uint32_t rfi_decay_time(const rfi_filter *f);

/* Updates with an outcome: 1 if the state survived, else 0. Returns the number of accepted attempts, at most 119. */
uint8_t rfi_decay_learn(rfi_filter *f, uint8_t outcome);

#ifdef __cplusplus
}
#endif

#endif
