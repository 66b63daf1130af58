/* The simd engine's operation; self is the name of a target. */
#include "engine.h"

rf32_run rf32_simd_run;
rf64_run rf64_simd_run;
