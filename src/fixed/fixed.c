/* The integer filter. See fixed.h. Comments that begin with @ are contracts, proved by `make prove`. */
#include "fixed.h"
#include "fixed_math.h"

enum { STEEP = 155, ANCHOR = 70, PGH = 163 }; /* slopes: 0.951, 0.430 and 1.000 rad per sd */
enum { STRETCH = 18022 };                     /* of the sd by a failed anchor, in 1/8192: 2.2 */
enum { QUARTER = 64 };                        /* of a turn */
#define EVIDENCE_MAX INT32_C(0x40000000)      /* where it stops, before it could overflow */
enum { ONE = 6 };                             /* log₂ 256/255 in 1/1024: a probability of 1 is 255 */
#if RFI_FAINT
/* z and −z take the same step, so that their noise cancels in the mean, and the pinch of the prior is 1.56 of it, which makes up for
   the noise that is left: chosen by simulation, docs/accuracy.md */
enum { GOLDEN = 75, PINCH = 1600 };
#else
enum { GOLDEN = 159, PINCH = RFI_Z_ONE * RFI_Z_ONE }; /* 256/golden ratio, and odd: steps of the acceptances' sequence */
#endif

/* Means of 100 equally likely slices of a Gaussian, the upper half, in 1/32, scaled to variance 1. */
RFI_TABLE uint8_t half_gaussian[RFI_ATTEMPTS / 2] = {1,  1,  2,  3,  4,  4,  5,  6,  7,  8,  9,  9,  10, 11, 12, 13, 14,
                                                     15, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31,
                                                     33, 34, 35, 37, 38, 40, 42, 44, 46, 49, 51, 54, 59, 63, 70, 85};

/*@ predicate slices = \forall integer i; 0 <= i < 50 ==> 1 <= half_gaussian[i] <= 85;
    predicate fine(rfi_filter *f) = 256 <= f->sd <= f->widest <= 46340;
    predicate asked(rfi_filter *f) = 70 <= f->slope <= 163 && -108 <= f->phase <= 108; */

/*@ requires \valid(f) && 256 <= f->widest <= 46340;
    assigns f->sd;
    ensures fine(f); */
RFI_ONCE void set_sd(rfi_filter *f, uint16_t sd)
{
    if (sd > f->widest)
        sd = f->widest;
    if (sd < RFI_SD_LEAST)
        sd = RFI_SD_LEAST;
    f->sd = sd;
}

/* sd ← sd·factor, with the factor in 1/8192. */
/*@ requires \valid(f) && fine(f);
    assigns f->sd;
    ensures fine(f); */
RFI_ONCE void stretch(rfi_filter *f, uint16_t factor)
{
    const uint32_t sd = rfi_scale(f->sd, factor);
    set_sd(f, sd > UINT16_MAX ? UINT16_MAX : (uint16_t)sd);
}

/*@ requires \valid(f) && 256 <= sd <= 46340;
    assigns *f;
    ensures fine(f) && f->due == 4 && f->mean == mean; */
void rfi_init(rfi_filter *f, int32_t mean, uint16_t sd, uint16_t seed)
{
    f->mean = mean;
    f->random = seed;
    f->widest = sd > RFI_SD_MAX / 2 ? RFI_SD_MAX : (uint16_t)(2 * sd);
    f->sd = sd;
    f->due = RFI_ANCHOR_EVERY - 1;
    f->slope = 0;
    f->phase = 0;
#if RFI_WITH_EVIDENCE
    f->evidence = 0;
#endif
}

/*@ requires \valid(f) && fine(f) && q < 2147483648;
    assigns f->sd;
    ensures fine(f); */
void rfi_diffuse(rfi_filter *f, uint32_t q)
{
    set_sd(f, rfi_sqrt(rfi_product(f->sd, f->sd) + q));
}

#if RFI_WITH_FRINGE
/*@ requires \valid(f) && fine(f);
    assigns *f;
    ensures fine(f) && asked(f); */
void rfi_ask(rfi_filter *f, rfi_design design)
{
    /*@ assert slices; */
    const uint8_t random = rfi_random(&f->random);
    if (RFI_WITH_PGH && design == RFI_PGH) {
        const uint8_t z = half_gaussian[random % 128u * (RFI_ATTEMPTS / 2) / 128];
        f->slope = PGH;
        f->phase = (int8_t)(rfi_product(PGH, z) / 128);
    } else if (f->due == 0) {
        f->due = RFI_ANCHOR_EVERY;
        f->slope = ANCHOR;
        f->phase = 0;
    } else {
        f->slope = STEEP;
        f->phase = QUARTER;
    }
    if (random >= 128)
        f->phase = (int8_t)-f->phase;
    f->due--;
}

/*@ requires \valid_read(f) && fine(f) && asked(f);
    assigns \nothing;
    ensures \result == f->slope * 65536 / f->sd; */
uint16_t rfi_time(const rfi_filter *f) { return rfi_quotient(f->slope * UINT32_C(65536), f->sd); }
#endif

/* mean ± sd·offset, with the offset in 1/8192 and the sign of `sign`; modulo 2³². */
/*@ requires \valid_read(f);
    assigns \nothing; */
RFI_ONCE int32_t beside(const rfi_filter *f, uint16_t offset, int8_t sign)
{
    uint32_t distance = rfi_scale(f->sd, offset);
    if (sign < 0)
        distance = 0 - distance;
    return (int32_t)((uint32_t)f->mean + distance);
}

/*@ requires \valid_read(f);
    assigns \nothing; */
int32_t rfi_place(const rfi_filter *f, int8_t z)
{
    const uint8_t size = (uint8_t)(z < 0 ? -z : z);
    return beside(f, (uint16_t)(size * 256u), z);
}

#if RFI_WITH_FRINGE
/*@ requires \valid_read(f) && asked(f);
    assigns \nothing; */
int32_t rfi_reference(const rfi_filter *f)
{
#if RFI_WITH_PGH
    const uint8_t turned = (uint8_t)(f->phase < 0 ? -f->phase : f->phase);
    return beside(f, rfi_quotient(turned * UINT32_C(32768), f->slope), (int8_t)-f->phase);
#else
    return beside(f, f->phase ? QUARTER * UINT32_C(32768) / STEEP : 0, (int8_t)-f->phase);
#endif
}
#endif

#ifndef RFI_LIKELIHOOD
#define RFI_LIKELIHOOD fringe
/*@ assigns \nothing; */
static inline uint8_t fringe(const rfi_filter *f, int8_t z, uint8_t angle, uint8_t outcome)
{
    (void)f, (void)z;
    return rfi_cosine(angle, outcome);
}
#endif

/* Sums over the accepted, and over one more at the mean with a square of PINCH, which is one: a pinch of the prior. */
typedef struct tally {
    uint8_t count;
    int16_t sum;
    uint32_t squares;
} tally;

/* Walks up the slices and makes two attempts at each, at z and at −z. What is linear or quadratic in z grows with it,
   so there is no product. Returns the passes. */
/*@ predicate summed(integer count, integer sum, integer squares) =
        1 <= count <= 120 && -85 * (count - 1) <= sum <= 85 * (count - 1) && PINCH <= squares <= PINCH + 14365 * (count - 1); */
/*@ requires \valid(f) && \valid(t) && \separated(f, t) && fine(f);
    requires t->count == 1 && t->sum == 0 && t->squares == PINCH;
    assigns f->random, *t;
    ensures summed(t->count, t->sum, t->squares);
    ensures 1 <= \result <= 20; */
static inline uint8_t make_attempts(rfi_filter *f, tally *t, uint8_t outcome)
{
    /*@ assert slices; */
    uint8_t u = rfi_random(&f->random), passes = 0;
    /*@ loop invariant 0 <= passes < 20;
        loop invariant 1 <= t->count <= 20 && summed(t->count, t->sum, t->squares);
        loop assigns u, passes, *t;
        loop variant 20 - passes; */
    do {
        uint8_t size = 0;                     /* |z| */
        uint16_t square = 0, turned = 128;    /* z²; what the fringe turns from the mean to z, in 1/65536, rounded */
        /*@ loop invariant 0 <= i <= 50;
            loop invariant 0 <= size <= 85 && square <= 169 * size;
            loop invariant i > 0 ==> size > 0;
            loop invariant t->count <= 20 + 2 * i && summed(t->count, t->sum, t->squares);
            loop assigns i, size, square, turned, u, *t;
            loop variant 50 - i; */
        for (uint8_t i = 0; i < RFI_ATTEMPTS / 2; i++) {
            /*@ loop invariant 0 <= size <= 85 && square <= 169 * size;
                loop assigns size, square, turned;
                loop variant 85 - size; */
            for (; size < half_gaussian[i]; size++) {
                square = (uint16_t)(square + 2u * size + 1u);
                turned = (uint16_t)(turned + 2u * f->slope);
            }
            int8_t z = (int8_t)size;
            uint8_t turn = (uint8_t)(turned / 256);
            /*@ loop invariant z == size || z == -size;
                loop invariant t->count <= 20 + 2 * i + (z < 0 ? 1 : 0) && summed(t->count, t->sum, t->squares);
                loop assigns z, turn, u, *t;
                loop variant z > 0 ? 1 : 0; */
            do {
                if (!RFI_FAINT || z > 0)
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
    } while (t->count <= RFI_ACCEPTED_LEAST && passes < RFI_PASSES_MAX);
    return passes;
}

/*@ requires \valid(f) && \valid_read(t) && fine(f) && summed(t->count, t->sum, t->squares);
    assigns f->mean, f->sd;
    ensures fine(f); */
static inline void move(rfi_filter *f, const tally *t)
{
    const uint16_t sum = (uint16_t)(t->sum < 0 ? -t->sum : t->sum);
    const uint16_t mean = rfi_quotient(sum * UINT32_C(256), t->count);
    const uint16_t square = rfi_quotient(t->squares, t->count);
    const uint16_t factor = rfi_sqrt(square * UINT32_C(65536) - rfi_product(mean, mean));
    f->mean = beside(f, mean, (int8_t)(t->sum >> 8));
    stretch(f, factor);
}

/*@ requires \valid(f) && fine(f);
    assigns *f;
    ensures fine(f);
    ensures \result <= 119; */
uint8_t rfi_learn(rfi_filter *f, uint8_t outcome)
{
    tally t = {1, 0, PINCH};
    const uint8_t passes = make_attempts(f, &t, outcome);
#if RFI_WITH_EVIDENCE
    if (f->evidence > -EVIDENCE_MAX && f->evidence < EVIDENCE_MAX)
        f->evidence += (int32_t)rfi_log2((uint16_t)(2u * t.count - 1u)) - (int32_t)rfi_log2((uint16_t)(2u * RFI_ATTEMPTS * passes + 2u)) + ONE;
#else
    (void)passes;
#endif
    move(f, &t);
    if (t.count <= 2 || (RFI_WITH_FRINGE && f->slope == ANCHOR && !outcome)) {
        stretch(f, STRETCH);
        f->due = 0;
    }
    return (uint8_t)(t.count - 1);
}
