/* Shared by playground.c and attempts.c. */
#ifndef REJFILT_WASM_ATTEMPTS_H
#define REJFILT_WASM_ATTEMPTS_H

#include "rejfilt/host.h"

extern const rf32_instance rf32_model_precession;
extern const rf32_engine attempts_engine;

#endif
