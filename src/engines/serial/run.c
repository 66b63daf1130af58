/* The serial engine: the core's, or attempts in blocks for a model with a block function. Compiled per precision. */
#include "serial.h"

#define RF_TARGET(name) RF(run) RF(block_run_##name);
RF_TARGETS
#undef RF_TARGET

const RF(kernel) RF(block_kernels)[] = {
#define RF_TARGET(name) {.target = #name, .run = RF(block_run_##name)},
    RF_TARGETS
#undef RF_TARGET
    {.target = 0}};

rf_status RF(any_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    return (task->model->block ? RF(block_run_baseline) : RF(serial).run)(self, task, begin, count, tally);
}
