/* Between playground.c and attempts.c: the module's only model and its only engine. */
#ifndef REJFILT_WASM_ATTEMPTS_H
#define REJFILT_WASM_ATTEMPTS_H

#include "engine.h"

extern const rf32_instance rf32_model_precession;
extern const rf64_instance rf64_model_precession;
extern const rf_model playground_model;
extern const rf_engine playground_engine;

#endif
