/* Data exchanged between host and GPU, in the includer's precision, if it has one. Included on both sides. */
#ifndef REJFILT_DEVICE_TYPES_H
#define REJFILT_DEVICE_TYPES_H

#include "rejfilt/rejfilt.h"

enum {
    RF_DEVICE_CHARTS = 16, /* most parameters of a model with charts */
    RF_DEVICE_ROOM = 2560, /* bytes of numbers passed with a launch */
    RF_DEVICE_HEAD =
        6 /* numbers of an answer before its sums: over, weight, nan, negative, infinite, bits of the largest */
};
#define RF_DEVICE_OWN                                                                                                  \
    6u /* most parameters for which each thread keeps its own sums; with more, a block shares them */
#define RF_DEVICE_NUMBERS(dim) (RF_DEVICE_HEAD + (dim) + RF_TRIANGLE(dim))

/* Shared memory of a block of `threads`, for more than RF_DEVICE_OWN parameters: z of its candidates, their weights,
   and sums. Rows of z are an odd number of words apart, which avoids bank conflicts when a column is read. */
#define RF_DEVICE_ROW(threads) (2 * (threads) + 1)
#define RF_DEVICE_SHARED(dim, threads, real)                                                                           \
    (8 * RF_DEVICE_NUMBERS(dim) + 2 * (threads) * (real) + 4 * (size_t)(dim)*RF_DEVICE_ROW(threads))

/* The keys of Philox's rounds, two per round. The host computes them once; a GPU reads them from the launch parameters,
   as instruction operands. */
enum { RF_DEVICE_KEYS = 20 };
RF_FN void rf_device_keys(uint64_t seed, uint32_t keys[RF_DEVICE_KEYS])
{
    for (uint32_t round = 0; round < RF_DEVICE_KEYS / 2; round++) {
        keys[2 * round] = (uint32_t)seed + round * 0x9E3779B9u;
        keys[2 * round + 1] = (uint32_t)(seed >> 32) + round * 0xBB67AE85u;
    }
}

#ifdef RF_PRECISION
/* Common to all launches. Pointers in `model` are host pointers: the device has its own functions. */
typedef struct RF(device_model) {
    RF(model) model;
    RF(chart) charts[RF_DEVICE_CHARTS]; /* if there are any */
} RF(device_model);

/* Attempts [begin, begin + count) of a task. `sums` are zero before and after. */
typedef struct RF(device_run) {
    RF(device_model) about;
    RF(task) task;       /* of its pointers, only null or not null matters */
    const rf_real *more; /* device memory for numbers that do not fit below, or null */
    uint64_t *sums;      /* on the device: RF_DEVICE_NUMBERS, then a counter of blocks */
    volatile uint64_t
        *answer; /* on the host: RF_DEVICE_NUMBERS, then the number of the run, written last */
    uint64_t number;
    uint32_t begin, count;
    uint32_t keys[RF_DEVICE_KEYS]; /* of the task's seed */
    uint32_t piece; /* consecutive attempts per 32 threads: a power of two, best one round of the lattice */
    rf_real numbers[RF_DEVICE_ROOM / sizeof(rf_real)]; /* mean, factor, wrap (if any), records */
} RF(device_run);

/* An update of filters with one record each, or another operation on a fleet. */
typedef struct RF(device_fleet) {
    RF(device_model) about;
    RF(options) options;
    unsigned char *filters; /* consecutive filters are `stride` bytes apart */
    const rf_real *records;
    const uint32_t *which; /* null: filter i gets record i; else filter which[i] */
    RF(report) * reports;  /* one per record, or null */
    int32_t *answer;       /* [0]: notes of all filters; [1]: the refusal of a record, which stops the update */
    uint64_t stride;
    uint32_t count;
    uint32_t what;            /* an rf_read: what to read */
    rf_real *out;             /* output of a read */
    rf_real rate, elapsed;    /* of a diffusion */
    const RF(filter) * prior; /* start of every filter */
} RF(device_fleet);
#endif

#endif
