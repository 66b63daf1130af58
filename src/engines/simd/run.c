/* The simd engine: the model's own kernel for a target, or that of block functions. Compiled per precision. */
#include "simd.h"

#include "serial/serial.h"
#include "simd/targets.h"

rf_status RF(simd_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    const int has_block = !task->model->kernels && task->model->block;
    const RF(kernel) *kernel = RF(kernel_for)(has_block ? RF(block_kernels) : task->model->kernels, self);
    return (kernel ? kernel->run : RF(any_run))(NULL, task, begin, count, tally);
}
