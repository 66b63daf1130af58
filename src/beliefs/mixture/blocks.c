/* Selects the functions compiled for this CPU. */
#include "block.h"

#include "simd/targets.h"

#define RF_TARGET(name) extern const rf_block_kernel rf_block_kernel_##name;
RF_TARGETS
#undef RF_TARGET

const rf_block_kernel *rf_block_kernel_best(void)
{
    static const rf_block_kernel *const kernels[] = {
#define RF_TARGET(name) &rf_block_kernel_##name,
        RF_TARGETS
#undef RF_TARGET
    };
    return kernels[rf_target_best()];
}
