#include "kernel.h"
#include "simd/targets.h"

#define RF_TARGET(name) extern const rf_cloud_kernel rf_cloud_kernel_##name;
RF_TARGETS
#undef RF_TARGET

const rf_cloud_kernel *rf_cloud_kernels(void)
{
    static const rf_cloud_kernel *const kernels[] = {
#define RF_TARGET(name) &rf_cloud_kernel_##name,
        RF_TARGETS
#undef RF_TARGET
    };
    return kernels[rf_target_best()];
}
