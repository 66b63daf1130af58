/* The integer filter. See fixed.h. Comments that begin with @ are contracts, proved by `make prove`. */
#include "fixed.h"

enum { STEEP = 155, ANCHOR = 70, PGH = 163 }; /* slopes: 0.951, 0.430 and 1.000 rad per sd */
#define STRETCH 36045u                        /* of the sd by a failed anchor, in 1/16384: 2.2 */
enum { GOLDEN = 159 };                        /* 256/golden ratio, and odd: steps of the acceptances' sequence */

/* Means of 100 equally likely slices of a Gaussian, the upper half, in 1/32, scaled to variance 1. */
RFI_TABLE uint8_t half_gaussian[RFI_ATTEMPTS / 2] = {0,  1,  2,  3,  4,  4,  5,  6,  7,  8,  9,  9,  10, 11, 12, 13, 14,
                                                     15, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31,
                                                     33, 34, 35, 37, 38, 40, 42, 44, 46, 49, 51, 54, 59, 63, 70, 85};

RFI_ONCE void set_sd(rfi_filter *f, uint32_t sd)
{
    f->sd = sd > f->widest ? f->widest : sd < RFI_SD_LEAST ? RFI_SD_LEAST : (uint16_t)sd;
}

void rfi_init(rfi_filter *f, int32_t mean, uint16_t sd, uint16_t seed)
{
    f->mean = mean;
    f->random = seed;
    f->widest = sd > 32767 ? 65535 : (uint16_t)(2 * sd);
    f->sd = sd;
    f->due = RFI_ANCHOR_EVERY - 1;
#if RFI_WITH_EVIDENCE
    f->evidence = 0;
#endif
}

void rfi_diffuse(rfi_filter *f, uint32_t q)
{
    const uint32_t variance = rfi_product(f->sd, f->sd);
    set_sd(f, rfi_sqrt(variance + q < q ? UINT32_MAX : variance + q));
}

void rfi_ask(rfi_filter *f, rfi_design design)
{
    f->random = rfi_random(f->random);
    if (RFI_WITH_PGH && design == RFI_PGH) {
        const uint8_t z = half_gaussian[(uint16_t)((f->random >> 8 & 0x7f) * (RFI_ATTEMPTS / 2)) >> 7];
        f->slope = PGH;
        f->phase = (int8_t)(rfi_product(PGH, z) >> 7);
    } else if (f->due == 0) {
        f->due = RFI_ANCHOR_EVERY;
        f->slope = ANCHOR;
        f->phase = 0;
    } else {
        f->slope = STEEP;
        f->phase = 64;
    }
    if (f->random & 0x8000)
        f->phase = (int8_t)-f->phase;
    f->due--;
}

uint16_t rfi_time(const rfi_filter *f) { return rfi_quotient((uint32_t)f->slope << 16, f->sd); }

int32_t rfi_place(const rfi_filter *f, int8_t z)
{
    const int32_t offset = (int32_t)(rfi_product(f->sd, (uint8_t)(z < 0 ? -z : z)) / RFI_Z_ONE);
    return z < 0 ? f->mean - offset : f->mean + offset;
}

int32_t rfi_reference(const rfi_filter *f)
{
    const uint8_t turned = (uint8_t)(f->phase < 0 ? -f->phase : f->phase);
    const int32_t offset = (int32_t)(rfi_scale(f->sd, rfi_quotient((uint32_t)turned << 16, f->slope)));
    return f->phase < 0 ? f->mean + offset : f->mean - offset;
}

#ifndef RFI_LIKELIHOOD
#define RFI_LIKELIHOOD cosine
static inline uint8_t cosine(const rfi_filter *f, int8_t z, uint8_t outcome)
{
    uint8_t turned = (uint8_t)(rfi_product(f->slope, (uint8_t)(z < 0 ? -z : z)) >> 7);
    if (z < 0)
        turned = (uint8_t)-turned;
    const uint8_t one = rfi_raised_cosine((uint8_t)(turned + (uint8_t)f->phase));
    return outcome ? one : one ^ 255;
}
#endif

typedef struct tally {
    uint8_t accepted, passes;
    int16_t sum;
    uint32_t squares;
} tally;

static inline void make_attempts(rfi_filter *f, tally *t, uint8_t outcome)
{
    uint8_t u = (uint8_t)f->random;
    do {
        for (int8_t i = -RFI_ATTEMPTS / 2; i < RFI_ATTEMPTS / 2; i++) {
            const int8_t z = (int8_t)(i < 0 ? -half_gaussian[-1 - i] : half_gaussian[i]);
            u = (uint8_t)(u + GOLDEN);
            if (u < RFI_LIKELIHOOD(f, z, outcome)) {
                t->accepted++;
                t->sum = (int16_t)(t->sum + z);
                t->squares += (uint16_t)rfi_product((uint8_t)(z < 0 ? -z : z), (uint8_t)(z < 0 ? -z : z));
            }
        }
        t->passes++;
    } while (t->accepted < RFI_ACCEPTED_LEAST && t->passes < RFI_PASSES_MOST);
}

static inline void move(rfi_filter *f, const tally *t)
{
    const uint16_t sum = (uint16_t)(t->sum < 0 ? -t->sum : t->sum);
    const uint16_t count = (uint16_t)(t->accepted + 1);
    const uint16_t mean = rfi_quotient((uint32_t)sum << 9, count);
    const uint16_t square = rfi_quotient((t->squares + RFI_Z_ONE * RFI_Z_ONE) << 2, count);
    const uint16_t factor = rfi_sqrt(((uint32_t)square << 16) - rfi_product(mean, mean));
    const int32_t step = (int32_t)rfi_scale(f->sd, mean);
    f->mean = t->sum < 0 ? f->mean - step : f->mean + step;
    set_sd(f, rfi_scale(f->sd, factor));
}

uint8_t rfi_learn(rfi_filter *f, uint8_t outcome)
{
    tally t = {0, 0, 0, 0};
    make_attempts(f, &t, outcome);
    if (t.accepted >= 2)
        move(f, &t);
    if (t.accepted < 2 || (f->slope == ANCHOR && !outcome)) {
        set_sd(f, rfi_scale(f->sd, STRETCH));
        f->due = 0;
    }
    return t.accepted;
}
