/* For programs on a full computer: the built-in models by name, and designers. */
#ifndef REJFILT_HOST_H
#define REJFILT_HOST_H

#include "description.h"
#include "rejfilt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RF_BITS 32
#include "instance.h"
#undef RF_BITS
#define RF_BITS 64
#include "instance.h"
#undef RF_BITS

typedef struct rf_model {
    const rf32_instance *f32;
    const rf64_instance *f64;
} rf_model;

/* The built-in model of that name, or null. */
RF_API const rf_model *rf_model_find(const char *name);
/* Built-in model number `index`, or null past the last. */
RF_API const rf_model *rf_model_at(unsigned index);

#ifdef __cplusplus
}
#endif

#if defined(RF_PRECISION)
#define RF_BITS RF_PRECISION
#else
#define RF_BITS 0
#endif
#include "precision.h"
#undef RF_BITS

#endif
