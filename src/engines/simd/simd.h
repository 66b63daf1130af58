/* The simd engine's operations; self is an rf_isa. */
#include "engine.h"

rf32_run rf32_simd_run;
rf64_run rf64_simd_run;
