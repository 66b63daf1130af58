/* The loops that take most of the time, compiled for every instruction set.

   A vector's penalty is the evidence by which it is behind the best one, in units of 1/512 bit, plus `base`, the
   penalty of the best one. All arithmetic is on integers, so results do not depend on the instruction set. */
#ifndef REJFILT_CLASSIFY_KERNEL_H
#define REJFILT_CLASSIFY_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum {
    RFC_BIT = 512,              /* one bit of evidence, in units of penalties */
    RFC_ONCE_MAX = 8 * RFC_BIT, /* largest penalty of one answer: a vector that disagrees in a single feature stays in
                                   play; with RFC_PENALTY_CLIP it fits 16 bits */
    RFC_PENALTY_CLIP = 45000,   /* larger penalties are clipped to this */
    RFC_BLOCK = 32,             /* vectors per sum of weights */
    RFC_WEIGHT_ONE = 1 << 22,   /* weight of the best vector */
    RFC_SQUARE_SHIFT = 11,      /* weights are shifted right by this before squaring */
    RFC_TEMPER_ONE = 65536,     /* the temper at which weights are likelihoods */
    RFC_TEMPER_MAX = 8 * RFC_TEMPER_ONE
};

/* An answer in the form that the kernel takes: penalty (x − value)² · factor / 2¹⁶ · 2^shift, at most `most`. */
typedef struct rfc_evidence {
    uint32_t feature;
    uint8_t value, shift;
    uint16_t factor, most, unused; /* most: up to RFC_ONCE_MAX; unused: 0, since models keep it */
} rfc_evidence;

typedef struct rfc_weighed {
    uint64_t sum, squares; /* of weights; of weights >> RFC_SQUARE_SHIFT */
} rfc_weighed;

typedef struct rfc_kernel {
    /* Adds an answer's evidence to the penalties minus `base`; returns the least penalty. */
    uint16_t (*update)(const uint8_t *x, uint32_t count, rfc_evidence e, uint16_t base, uint16_t *penalty);
    /* weight ← 2^−((penalty − base) · temper / RFC_TEMPER_ONE) · RFC_WEIGHT_ONE, and their sums, total and by block;
       temper in 1 to RFC_TEMPER_MAX. */
    rfc_weighed (*weigh)(const uint16_t *penalty, uint32_t count, uint16_t base, uint32_t temper, uint32_t *weight,
                         uint32_t *block);
    /* The number of penalties at most `limit` above the base. */
    uint32_t (*within)(const uint16_t *penalty, uint32_t count, uint16_t base, uint16_t limit);
    /* Compacts: moves those of penalties begin .. end − 1 that are at most `limit` above the base, and their vector
       numbers, to place `kept` and on; `kept` is at most `begin`. Vectors that are not listed yet have their index as
       number. Returns the new end. */
    uint32_t (*keep)(uint16_t *penalty, uint32_t begin, uint32_t end, uint16_t base, uint16_t limit, int is_listed,
                     uint32_t *vector, uint32_t kept);
    /* sum += times · levels, or sum += times · levels², for a sketch of `bytes` bytes; at most 256 sketches. */
    void (*add_levels)(const uint8_t *sketch, size_t bytes, uint16_t times, uint16_t *sum);
    void (*add_level_squares)(const uint8_t *sketch, size_t bytes, uint16_t times, uint16_t *square);
    /* sum += times · (level > FIRST), then the same of SECOND. */
    void (*add_thirds)(const uint8_t *sketch, size_t bytes, uint16_t times, uint16_t *sum);
    /* sum += flag for `count` flags, 0 or 1; at most 255 times. */
    void (*add_flags)(const uint8_t *flag, size_t count, uint8_t *sum);
    /* sum += times · row, square += times · row²; at most 66,000 rows in all. */
    void (*add_squares)(const uint8_t *row, uint32_t features, uint32_t times, uint32_t *sum, uint32_t *square);
} rfc_kernel;

/* The kernels for the best target of this CPU. */
const rfc_kernel *rfc_kernels(void);

#endif
