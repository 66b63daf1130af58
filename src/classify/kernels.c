#include "kernel.h"
#include "simd/targets.h"

#define RF_TARGET(name) extern const rfc_kernel rfc_kernel_##name;
RF_TARGETS
#undef RF_TARGET

const rfc_kernel *rfc_kernels(void)
{
    static const rfc_kernel *const kernels[] = {
#define RF_TARGET(name) &rfc_kernel_##name,
        RF_TARGETS
#undef RF_TARGET
    };
    return kernels[rf_target_best()];
}
