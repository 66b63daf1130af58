#include "kernel.h"
#include "rejfilt/host.h"

extern const rf_cloud_kernel rf_cloud_kernel_0, rf_cloud_kernel_1, rf_cloud_kernel_2;

const rf_cloud_kernel *rf_cloud_kernels(void)
{
    static const rf_cloud_kernel *const kernels[RF_ISA_COUNT] = {&rf_cloud_kernel_0, &rf_cloud_kernel_1,
                                                                 &rf_cloud_kernel_2};
    return kernels[rf_isa_best()];
}
