/* The loops that take the time, compiled for every instruction set.

   A vector's penalty is how many bits of evidence it is behind the best one, in units of 1/512 bit, plus
   the penalty of the best one, `base`. All arithmetic is in whole numbers: results do not depend on the
   instruction set. */
#ifndef REJFILT_CLASSIFY_KERNEL_H
#define REJFILT_CLASSIFY_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum {
    RFC_BIT = 512,              /* a bit of evidence, in units of penalties */
    RFC_ONCE_MAX = 8 * RFC_BIT, /* penalty of one answer, at most: a vector that disagrees in one feature alone stays
                                   in play; with RFC_PENALTY_CLIP it fits 16 bits */
    RFC_PENALTY_CLIP = 45000,   /* a vector further behind is as far behind as this */
    RFC_BLOCK = 32,             /* vectors whose weights are summed together */
    RFC_WEIGHT_ONE = 1 << 22,   /* weight of the best vector */
    RFC_SQUARE_SHIFT = 11,      /* weights lose so many bits before they are squared */
    RFC_TEMPER_ONE = 65536,     /* weights as the evidence says */
    RFC_TEMPER_MAX = 8 * RFC_TEMPER_ONE
};

/* The answer to a query as the kernel takes it: penalty (x − value)² · factor / 2¹⁶ · 2^shift, at most `most`. */
typedef struct rfc_evidence {
    uint32_t feature;
    uint8_t value, shift;
    uint16_t factor, most; /* most: up to RFC_ONCE_MAX */
} rfc_evidence;

typedef struct rfc_weighed {
    uint64_t sum, squares; /* of weights; of weights >> RFC_SQUARE_SHIFT */
} rfc_weighed;

typedef struct rfc_kernel {
    /* Adds the evidence to the penalties, from which `base` is subtracted; returns the least one. */
    uint16_t (*update)(const uint8_t *x, uint32_t count, rfc_evidence e, uint16_t base, uint16_t *penalty);
    /* Weights 2^−((penalty − base) · temper / RFC_TEMPER_ONE), and their sums, in all and by block; temper is 1 to
       RFC_TEMPER_MAX. */
    rfc_weighed (*weigh)(const uint16_t *penalty, uint32_t count, uint16_t base, uint32_t temper, uint32_t *weight,
                         uint32_t *block);
    /* How many penalties are at most `limit` above the base. */
    uint32_t (*within)(const uint16_t *penalty, uint32_t count, uint16_t base, uint16_t limit);
    /* Moves penalties begin .. end − 1 that are at most `limit` above the base, and their vectors, to place `kept` and on,
       which is at most `begin`; vectors that are not listed yet are their own numbers. Returns the place after them. */
    uint32_t (*keep)(uint16_t *penalty, uint32_t begin, uint32_t end, uint16_t base, uint16_t limit, int is_listed,
                     uint32_t *vector, uint32_t kept);
    /* sum += times · levels, and square += times · levels², of a sketch of so many bytes; 256 sketches at most. */
    void (*add_levels)(const uint8_t *sketch, size_t bytes, uint16_t times, uint16_t *sum);
    void (*add_level_squares)(const uint8_t *sketch, size_t bytes, uint16_t times, uint16_t *square);
    /* sum += times · (level > FIRST), then the same of SECOND. */
    void (*add_thirds)(const uint8_t *sketch, size_t bytes, uint16_t times, uint16_t *sum);
    /* sum += flag, of so many flags that are 0 or 1; 255 times at most. */
    void (*add_flags)(const uint8_t *flag, size_t count, uint8_t *sum);
    /* sum += times · row, square += times · row²; at most 66,000 rows in all. */
    void (*add_squares)(const uint8_t *row, uint32_t features, uint32_t times, uint32_t *sum, uint32_t *square);
} rfc_kernel;

/* The kernels of the best target here. */
const rfc_kernel *rfc_kernels(void);

#endif
