/* The integer filter. See fixed.h. Comments that begin with @ are contracts, proved by `make prove`. */
#include "fixed.h"
#include "fixed_math.h"

enum { STEEP = 155, ANCHOR = 70, PGH = 163 }; /* slopes: 0.951, 0.430 and 1.000 rad per sd */
enum { STRETCH = 18022 };                     /* of the sd by a failed anchor, in 1/8192: 2.2 */
enum { QUARTER = 64 };                        /* of a turn */
#define EVIDENCE_MOST INT32_C(0x40000000)      /* where it stops, before it could overflow */
enum { ONE = 6 };                             /* log₂ 256/255 in 1/1024: a probability of 1 is 255 */
enum { GOLDEN = 159 };                        /* 256/golden ratio, and odd: steps of the acceptances' sequence */

/* Means of 100 equally likely slices of a Gaussian, the upper half, in 1/32, scaled to variance 1. */
RFI_TABLE uint8_t half_gaussian[RFI_ATTEMPTS / 2] = {1,  1,  2,  3,  4,  4,  5,  6,  7,  8,  9,  9,  10, 11, 12, 13, 14,
                                                     15, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31,
                                                     33, 34, 35, 37, 38, 40, 42, 44, 46, 49, 51, 54, 59, 63, 70, 85};

RFI_ONCE void set_sd(rfi_filter *f, uint16_t sd)
{
    if (sd > f->widest)
        sd = f->widest;
    if (sd < RFI_SD_LEAST)
        sd = RFI_SD_LEAST;
    f->sd = sd;
}

/* sd ← sd·factor, with the factor in 1/8192. */
RFI_ONCE void stretch(rfi_filter *f, uint16_t factor)
{
    const uint32_t sd = rfi_scale(f->sd, factor);
    set_sd(f, sd >> 16 ? UINT16_MAX : (uint16_t)sd);
}

void rfi_init(rfi_filter *f, int32_t mean, uint16_t sd, uint16_t seed)
{
    f->mean = mean;
    f->random = seed;
    f->widest = sd > RFI_SD_MOST / 2 ? RFI_SD_MOST : (uint16_t)(2 * sd);
    f->sd = sd;
    f->due = RFI_ANCHOR_EVERY - 1;
#if RFI_WITH_EVIDENCE
    f->evidence = 0;
#endif
}

void rfi_diffuse(rfi_filter *f, uint32_t q)
{
    set_sd(f, rfi_sqrt(rfi_product(f->sd, f->sd) + q));
}

void rfi_ask(rfi_filter *f, rfi_design design)
{
    const uint8_t random = rfi_random(&f->random);
    if (RFI_WITH_PGH && design == RFI_PGH) {
        const uint8_t z = half_gaussian[(uint16_t)((random & 127) * (RFI_ATTEMPTS / 2)) >> 7];
        f->slope = PGH;
        f->phase = (int8_t)(rfi_product(PGH, z) >> 7);
    } else if (f->due == 0) {
        f->due = RFI_ANCHOR_EVERY;
        f->slope = ANCHOR;
        f->phase = 0;
    } else {
        f->slope = STEEP;
        f->phase = QUARTER;
    }
    if (random & 128)
        f->phase = (int8_t)-f->phase;
    f->due--;
}

uint16_t rfi_time(const rfi_filter *f) { return rfi_quotient((uint32_t)f->slope << 16, f->sd); }

/* mean ± sd·offset, with the offset in 1/8192 and the sign of `sign`; modulo 2³². */
RFI_ONCE int32_t beside(const rfi_filter *f, uint16_t offset, int8_t sign)
{
    uint32_t distance = rfi_scale(f->sd, offset);
    if (sign < 0)
        distance = 0 - distance;
    return (int32_t)((uint32_t)f->mean + distance);
}

int32_t rfi_place(const rfi_filter *f, int8_t z)
{
    const uint8_t size = (uint8_t)(z < 0 ? -z : z);
    return beside(f, (uint16_t)((uint16_t)size << 8), z);
}

int32_t rfi_reference(const rfi_filter *f)
{
#if RFI_WITH_PGH
    const uint8_t turned = (uint8_t)(f->phase < 0 ? -f->phase : f->phase);
    return beside(f, rfi_quotient((uint32_t)turned << 15, f->slope), (int8_t)-f->phase);
#else
    return beside(f, f->phase ? ((uint32_t)QUARTER << 15) / STEEP : 0, (int8_t)-f->phase);
#endif
}

#ifndef RFI_LIKELIHOOD
#define RFI_LIKELIHOOD fringe
static inline uint8_t fringe(const rfi_filter *f, int8_t z, uint8_t angle, uint8_t outcome)
{
    (void)f, (void)z;
    return rfi_cosine(angle, outcome);
}
#endif

/* Sums over the accepted, and over one more at the mean with a square of one: a pinch of the prior. */
typedef struct tally {
    uint8_t count;
    int16_t sum;
    uint32_t squares;
} tally;

/* Walks up the slices and makes two attempts at each, at z and at −z. What is linear or quadratic in z grows with it,
   so there is no product. Returns the passes. */
static inline uint8_t make_attempts(rfi_filter *f, tally *t, uint8_t outcome)
{
    uint8_t u = rfi_random(&f->random), passes = 0;
    do {
        uint8_t size = 0;                     /* |z| */
        uint16_t square = 0, turned = 128;    /* z²; what the fringe turns from the mean to z, in 1/65536, rounded */
        for (uint8_t i = 0; i < RFI_ATTEMPTS / 2; i++) {
            for (; size < half_gaussian[i]; size++) {
                square = (uint16_t)(square + 2u * size + 1u);
                turned = (uint16_t)(turned + 2u * f->slope);
            }
            int8_t z = (int8_t)size;
            uint8_t turn = (uint8_t)(turned >> 8);
            do {
                u = (uint8_t)(u + GOLDEN);
                if (u < RFI_LIKELIHOOD(f, z, (uint8_t)(turn + (uint8_t)f->phase), outcome)) {
                    t->count++;
                    t->sum = (int16_t)(t->sum + z);
                    t->squares += square;
                }
                z = (int8_t)-z;
                turn = (uint8_t)-turn;
            } while (z < 0);
        }
        passes++;
    } while (t->count <= RFI_ACCEPTED_LEAST && passes < RFI_PASSES_MOST);
    return passes;
}

static inline void move(rfi_filter *f, const tally *t)
{
    const uint16_t sum = (uint16_t)(t->sum < 0 ? -t->sum : t->sum);
    const uint16_t mean = rfi_quotient((uint32_t)sum << 8, t->count);
    const uint16_t square = rfi_quotient(t->squares, t->count);
    const uint16_t factor = rfi_sqrt(((uint32_t)square << 16) - rfi_product(mean, mean));
    f->mean = beside(f, mean, (int8_t)(t->sum >> 8));
    stretch(f, factor);
}

uint8_t rfi_learn(rfi_filter *f, uint8_t outcome)
{
    tally t = {1, 0, RFI_Z_ONE * RFI_Z_ONE};
    const uint8_t passes = make_attempts(f, &t, outcome);
#if RFI_WITH_EVIDENCE
    if (f->evidence > -EVIDENCE_MOST)
        f->evidence += (int32_t)rfi_log2((uint16_t)(2u * t.count - 1u)) - (int32_t)rfi_log2((uint16_t)(2u * RFI_ATTEMPTS * passes + 2u)) + ONE;
#else
    (void)passes;
#endif
    move(f, &t);
    if (t.count <= 2 || (f->slope == ANCHOR && !outcome)) {
        stretch(f, STRETCH);
        f->due = 0;
    }
    return (uint8_t)(t.count - 1);
}
