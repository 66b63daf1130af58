/* The serial engine's operation; other engines use it for models without a faster kernel. */
#include "engine.h"

rf32_run rf32_any_run;
rf64_run rf64_any_run;

/* The same for models with a block function, one per target. */
extern const rf32_kernel rf32_block_kernels[];
extern const rf64_kernel rf64_block_kernels[];
