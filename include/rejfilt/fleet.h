/* Fleets of filters that stay in the engine's memory: on the GPU with cuda, else on the host. All filters share model, options and
   prior; each has its own random numbers. The same calls give the same bits on every engine.

       rf32_residents *fleet = rf32_residents_open(engine, &model, &options, prior, 1000000, error, sizeof error);
       for (;;) {
           rf32_residents_pass(fleet, rate, elapsed);                       // if the parameters drift
           rf32_residents_tell(fleet, NULL, 1000000, records, NULL);        // a record for each
           rf32_residents_read(fleet, RF_READ_MEAN, NULL, 1000000, means);
       } */
#ifndef REJFILT_FLEET_H
#define REJFILT_FLEET_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to read of a filter, in the chart. */
typedef enum rf_read {
    RF_READ_MEAN = 0,  /* dim numbers */
    RF_READ_SD = 1,    /* dim numbers: standard deviations */
    RF_READ_FACTOR = 2 /* RF_TRIANGLE(dim) numbers */
} rf_read;

#define RF_BITS 32
#include "residents.h"
#undef RF_BITS
#define RF_BITS 64
#include "residents.h"
#undef RF_BITS

#ifdef __cplusplus
}
#endif

#if defined(RF_PRECISION)
#define RF_BITS RF_PRECISION
#else
#define RF_BITS 0
#endif
#include "detail/precision.h"
#undef RF_BITS

#endif
