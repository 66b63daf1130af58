/* Interface between test_device.c and its units. */
#include <stdio.h>
#include <string.h>

#include "rejfilt/rejfilt.h"

/* The library's own functions: a unit has functions of the same names, specialised. */
#define LIBRARY(bits, real)                                                                                            \
    typedef struct rf##bits##_device_library {                                                                         \
        const rf##bits##_engine *serial;                                                                               \
        void (*clear)(rf##bits##_tally *, unsigned, uint32_t);                                                         \
        rf_status (*init)(rf##bits##_filter **, void *, size_t, unsigned, uint64_t);                                   \
        rf_status (*restore)(rf##bits##_filter *, uint64_t, uint32_t, const real *, const real *, const real *);       \
        const real *(*mean)(const rf##bits##_filter *);                                                                \
        rf_status (*update)(rf##bits##_filter *, const rf##bits##_model *, const real *, uint32_t,                     \
                            const rf##bits##_options *, const rf##bits##_engine *, rf##bits##_report *);               \
    } rf##bits##_device_library;
LIBRARY(32, float)
LIBRARY(64, double)

struct rf_device_trials;

/* Checks return 0, or -1 with a message. trials_unit.c has instead a simulated trial of a model. The others are
   null. */
typedef struct device_unit {
    int (*check32)(const rf32_device_library *, char *, size_t);
    int (*check64)(const rf64_device_library *, char *, size_t);
    rf_status (*trial)(const struct rf_device_trials *, uint32_t);
    const char *model;
} device_unit;
