/* For tests compiled per precision: names that contain the precision. */
#ifndef REJFILT_PER_PRECISION_H
#define REJFILT_PER_PRECISION_H

#include "rejfilt/host.h"

#if RF_PRECISION == 32
#define INSTANCE(model) ((model)->f32)
#define ENGINE(engine) rf_engine_f32(engine)
#define FILTER_BYTES(dim) RF32_FILTER_BYTES(dim)
#else
#define INSTANCE(model) ((model)->f64)
#define ENGINE(engine) rf_engine_f64(engine)
#define FILTER_BYTES(dim) RF64_FILTER_BYTES(dim)
#endif

#endif
