/* The simd engine's operations; self is an rf_isa. */
#include "engine.h"

rf32_run rf32_simd_run;
rf64_run rf64_simd_run;
rf32_run_fleet rf32_simd_fleet;
rf64_run_fleet rf64_simd_fleet;
