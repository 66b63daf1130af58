/* The simd engine: the model's own kernel for a target. Compiled per precision. */
#include "simd.h"

#include <string.h>

#include "serial/serial.h"

/* The kernel for the target, or one that was compiled on this machine for it. */
static RF(run) *RF(find_kernel)(const RF(kernel) *kernel, const char *target)
{
    for (; kernel && kernel->target; kernel++)
        if (strcmp(kernel->target, target) == 0 || strcmp(kernel->target, "native") == 0)
            return kernel->run;
    return NULL;
}

rf_status RF(simd_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    RF(run) *run = RF(find_kernel)(task->model->kernels, self);
    return (run ? run : RF(any_run))(NULL, task, begin, count, tally);
}
