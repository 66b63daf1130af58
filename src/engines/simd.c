/* The simd engine: the model's own kernel for an instruction set. Compiled per precision. */
#include "simd.h"

rf_status RF(simd_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    const RF(kernels) *kernels = task->model->kernels;
    RF(run) *kernel = kernels ? kernels->run[*(const rf_isa *)self] : NULL;
    return kernel ? kernel(NULL, task, begin, count, tally) : RF(serial).run(RF(serial).self, task, begin, count, tally);
}

rf_status RF(simd_fleet)(void *self, const RF(fleet) *fleet)
{
    const RF(kernels) *kernels = fleet->model->kernels;
    const RF(engine) single = {RF(simd_run), self, NULL};
    return RF(fleet_run)(fleet, kernels ? kernels->lanes[*(const rf_isa *)self] : NULL, &single);
}
