/* What the host gives a GPU and gets back, in the precision of who includes it, if it has one. Included on both sides.
 */
#ifndef REJFILT_DEVICE_TYPES_H
#define REJFILT_DEVICE_TYPES_H

#include "rejfilt/rejfilt.h"

enum {
    RF_DEVICE_CHARTS = 16, /* parameters that may have charts */
    RF_DEVICE_ROOM = 2560, /* bytes of numbers that travel with a launch */
    RF_DEVICE_HEAD =
        6 /* numbers of an answer before its sums: over, weight, nan, negative, infinite, bits of the largest */
};
#define RF_DEVICE_OWN                                                                                                  \
    6u /* up to so many parameters each thread has sums of its own; of more those of a block share them */
#define RF_DEVICE_NUMBERS(dim) (RF_DEVICE_HEAD + (dim) + RF_TRIANGLE(dim))

/* Shared memory of a block of `threads` for more than RF_DEVICE_OWN parameters: z of its candidates, their weights, and
   sums. Rows of z are an odd number of words apart, so that those who read a column do not crowd. */
#define RF_DEVICE_ROW(threads) (2 * (threads) + 1)
#define RF_DEVICE_SHARED(dim, threads, real)                                                                           \
    (8 * RF_DEVICE_NUMBERS(dim) + 2 * (threads) * (real) + 4 * (size_t)(dim)*RF_DEVICE_ROW(threads))

/* The keys of Philox's rounds, two for each: the host computes them once, and a GPU's instructions take them from where
   the numbers of a launch are. */
enum { RF_DEVICE_KEYS = 20 };
RF_FN void rf_device_keys(uint64_t seed, uint32_t keys[RF_DEVICE_KEYS])
{
    for (uint32_t round = 0; round < RF_DEVICE_KEYS / 2; round++) {
        keys[2 * round] = (uint32_t)seed + round * 0x9E3779B9u;
        keys[2 * round + 1] = (uint32_t)(seed >> 32) + round * 0xBB67AE85u;
    }
}

#ifdef RF_PRECISION
/* What all launches know. Pointers in `model` are the host's: the device has its own functions. */
typedef struct RF(device_model) {
    RF(model) model;
    RF(chart) charts[RF_DEVICE_CHARTS]; /* if there are any */
} RF(device_model);

/* Attempts [begin, begin + count) of a task. `sums` are zero before and after. */
typedef struct RF(device_run) {
    RF(device_model) about;
    RF(task) task;       /* of its pointers only whether they are null */
    const rf_real *more; /* numbers that do not fit below, or null */
    uint64_t *sums;      /* on the device, RF_DEVICE_NUMBERS of them and a count of blocks */
    volatile uint64_t
        *answer; /* the host's: RF_DEVICE_NUMBERS, and behind them the number of the run, which is written last */
    uint64_t number;
    uint32_t begin, count;
    uint32_t keys[RF_DEVICE_KEYS]; /* of the task's seed */
    uint32_t piece; /* attempts that 32 threads run together before they go on elsewhere: a power of two; on the lattice
                       one round is best */
    rf_real numbers[RF_DEVICE_ROOM / sizeof(rf_real)]; /* mean, factor, wrap if there is one, records */
} RF(device_run);

/* An update of filters, each with a record of its own; and what else is done with a fleet. */
typedef struct RF(device_fleet) {
    RF(device_model) about;
    RF(options) options;
    unsigned char *filters; /* `stride` bytes apart */
    const rf_real *records;
    const uint32_t *which; /* null: filter i has record i, else filter which[i] */
    RF(report) * reports;  /* one per record, or null */
    int32_t *answer;       /* [0]: notes of all; [1]: a record's refusal, and then nothing is done */
    uint64_t stride;
    uint32_t count;
    uint32_t what;            /* to read: an rf_read */
    rf_real *out;             /* what is read */
    rf_real rate, elapsed;    /* of time that passes */
    const RF(filter) * prior; /* that all begin with */
} RF(device_fleet);
#endif

#endif
