/* The integer filter. See fixed.h. Comments that begin with @ are contracts, proved by `make check KIND=prove`. */
#include "fixed.h"
#include "fixed_math.h"

enum { STEEP = 155, PGH = 163 };              /* slopes: 0.951 and 1.000 rad per sd */
enum { ANCHOR = 44, ANCHORS = 32 };           /* slopes of anchors: 0.270 to 0.460 rad per sd; every alias fails one of them */
enum { STRETCH = 18022 };                     /* factor of the sd after a failed anchor, in 1/8192: 2.2 */
enum { QUARTER = 64 };                        /* of a turn */
enum { ALIKE = 20 };                          /* outcomes equal to the one before, each with probability 1/2: 10⁻⁶ */
#define EVIDENCE_MAX INT32_C(0x40000000)      /* the sum of the evidence stops here, before it could overflow */
enum { ONE = 6 };                             /* log₂ 256/255 in 1/1024: a probability of 1 is 255 */
#if RFI_FAINT
/* z and −z share a number of the sequence, so their noise cancels in the mean. An added term of 1.56 times the prior's
   variance makes up for the remaining noise: chosen by simulation, docs/accuracy.md */
enum { GOLDEN = 75, PINCH = 1600 };
#else
enum { GOLDEN = 159, PINCH = RFI_Z_ONE * RFI_Z_ONE }; /* 256/golden ratio, made odd: the step of u, which decides acceptance */
#endif

/* Means of 100 equally likely slices of a Gaussian, the upper half, in 1/32, scaled to variance 1. */
RFI_TABLE uint8_t half_gaussian[RFI_ATTEMPTS / 2] = {1,  1,  2,  3,  4,  4,  5,  6,  7,  8,  9,  9,  10, 11, 12, 13, 14,
                                                     15, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31,
                                                     33, 34, 35, 37, 38, 40, 42, 44, 46, 49, 51, 54, 59, 63, 70, 85};

/*@ predicate slices = \forall integer i; 0 <= i < 50 ==> 1 <= half_gaussian[i] <= 85;
    predicate fine(rfi_filter *f) = 256 <= f->sd <= f->widest <= 46340;
    predicate asked(rfi_filter *f) = 44 <= f->slope <= 163; */

/*@ requires \valid(f) && 256 <= f->widest <= 46340;
    assigns f->sd;
    ensures fine(f); */
RFI_ONCE void set_sd(rfi_filter *f, uint16_t sd)
{
    if (sd > f->widest)
        sd = f->widest;
    if ((uint8_t)(sd / RFI_SD_LEAST) == 0)
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
    f->widest = sd > RFI_SD_MAX / 3 ? RFI_SD_MAX : (uint16_t)(3 * sd);
    f->sd = sd;
    f->due = RFI_ANCHOR_EVERY - 1;
    f->slope = 0;
    f->phase = 0;
    f->alike = 0;
#if RFI_WITH_HOME
    f->home = mean;
#endif
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
    f->random = rfi_random(f->random);
    const uint8_t random = (uint8_t)(f->random / 256);
    const uint8_t side = random & 128u;
    uint8_t due = f->due, slope = STEEP, phase = side | QUARTER; /* one side of the fringe or the other */
    if (RFI_WITH_PGH && design == RFI_PGH) {
        const uint8_t z = half_gaussian[random % 128u * (RFI_ATTEMPTS / 2) / 128];
        slope = PGH;
        phase = (uint8_t)(rfi_product(PGH, z) / 128);
        if (side)
            phase = (uint8_t)-phase;
    } else if (due == 0) {
        due = RFI_ANCHOR_EVERY;
        slope = (uint8_t)(ANCHOR + random % ANCHORS);
        phase = side; /* the top or the bottom */
    }
    f->slope = slope;
    f->phase = (int8_t)phase;
    f->due = (uint8_t)(due - 1);
}

/*@ requires \valid_read(f) && fine(f) && asked(f);
    assigns \nothing;
    ensures \result == f->slope * 65536 / f->sd; */
uint16_t rfi_time(const rfi_filter *f) { return rfi_quotient(f->slope * UINT32_C(65536), f->sd); }
#endif

/* mean ± distance, with the sign of `sign`; modulo 2³². */
/*@ requires \valid_read(f);
    assigns \nothing; */
RFI_ONCE int32_t beside(uint32_t distance, int8_t sign, const rfi_filter *f)
{
    if (sign < 0)
        distance = 0 - distance;
    return (int32_t)((uint32_t)f->mean + distance);
}

/*@ requires \valid_read(f);
    assigns \nothing; */
int32_t rfi_place(const rfi_filter *f, int8_t z)
{
    const uint8_t size = (uint8_t)(z < 0 ? -z : z);
    return beside(rfi_scale(f->sd, (uint16_t)(size * 256u)), z, f);
}

#if RFI_WITH_FRINGE
/* Half a turn of the shortest anchor is 12 sd, which exceeds the range of a factor in 1/8192. */
/*@ requires \valid_read(f) && asked(f);
    assigns \nothing; */
int32_t rfi_reference(const rfi_filter *f)
{
    const uint8_t turned = (uint8_t)(f->phase < 0 ? -f->phase : f->phase);
    return beside(2 * rfi_scale(f->sd, rfi_quotient(rfi_product(turned, 16384), f->slope)), (int8_t)~f->phase, f); /* away from the phase */
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

/* Sums over the accepted z and one more term, z = 0 with the square PINCH: a small weight of the prior's variance. */
typedef struct tally {
    uint8_t count;
    int16_t sum;
    uint32_t squares;
} tally;

/* Walks up the slices and makes two attempts at each, at z and at −z. Linear and quadratic terms in z are updated by
   additions alone. Returns the number of passes. */
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
    f->random = rfi_random(f->random);
    uint8_t u = (uint8_t)(f->random / 256), passes = 0;
    /*@ loop invariant 0 <= passes < 20;
        loop invariant 1 <= t->count <= 20 && summed(t->count, t->sum, t->squares);
        loop assigns u, passes, *t;
        loop variant 20 - passes; */
    do {
        uint8_t size = 0;                     /* |z| */
        uint16_t square = 0, turned = 128;    /* z²; the fringe's turn from the mean to z, in 1/65536, rounded */
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
            while (size < half_gaussian[i]) {
                square = (uint16_t)(square + size);
                size++;
                square = (uint16_t)(square + size);
                turned = (uint16_t)(turned + f->slope);
                turned = (uint16_t)(turned + f->slope);
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
    const uint16_t mean = rfi_quotient(rfi_product(sum, 256), t->count);
    const uint16_t square = rfi_quotient(t->squares, t->count);
    const uint16_t factor = rfi_sqrt(square * UINT32_C(65536) - rfi_product(mean, mean));
    f->mean = beside(rfi_scale(f->sd, mean), (int8_t)(t->sum >> 8), f);
    stretch(f, factor);
}

#if RFI_WITH_FRINGE
/* Quadrature gives 0 and 1 equally often, whatever the belief, so a long run of equal outcomes means a stuck detector.
   Counts them; a frozen filter returns to its state before the run. */
/*@ requires \valid(f) && fine(f);
    assigns *f;
    ensures fine(f) && f->slope == \old(f->slope) && f->phase == \old(f->phase); */
static inline uint8_t is_stuck(rfi_filter *f, uint8_t outcome)
{
    if (f->slope == 0 || (RFI_WITH_PGH && f->slope > STEEP)) /* no question, or PGH */
        return 0;
    if ((f->alike ^ outcome) & 1) {
        f->alike = outcome & 1;
#if RFI_WITH_HOME
        if (f->sd <= f->widest / 2)
            f->home = f->mean;
#endif
    }
    if (f->alike < 2 * ALIKE) {
        f->alike = (uint8_t)(f->alike + 2);
        return 0;
    }
#if RFI_WITH_HOME
    f->mean = f->home;
#endif
    return 1;
}
#endif

/*@ requires \valid(f) && fine(f);
    assigns *f;
    ensures fine(f);
    ensures \result <= 119 || \result == RFI_STUCK; */
uint8_t rfi_learn(rfi_filter *f, uint8_t outcome)
{
    tally t = {1, 0, PINCH};
#if RFI_WITH_FRINGE
    if (is_stuck(f, outcome))
        return RFI_STUCK;
#endif
    const uint8_t passes = make_attempts(f, &t, outcome);
#if RFI_WITH_EVIDENCE
    if (f->evidence > -EVIDENCE_MAX && f->evidence < EVIDENCE_MAX)
        f->evidence += (int32_t)rfi_log2((uint16_t)(2u * t.count - 1u)) - (int32_t)rfi_log2((uint16_t)(2u * RFI_ATTEMPTS * passes + 2u)) + ONE;
#else
    (void)passes;
#endif
    move(f, &t);
    const uint8_t is_anchor = RFI_WITH_FRINGE && f->slope != 0 && f->slope < STEEP;
    if (t.count <= 2 || (is_anchor && (uint8_t)f->phase / 128u == (outcome & 1u))) {
        stretch(f, STRETCH);
        f->due = 0;
#if RFI_WITH_HOME
        if (is_anchor && f->sd == f->widest) /* lost: search around the last sure estimate */
            f->mean = f->home;
#endif
    }
    return (uint8_t)(t.count - 1);
}
