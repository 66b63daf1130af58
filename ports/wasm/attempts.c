/* The model, and the attempts with it inlined: the module's only engine. */
#include "attempts.h"

#define RF_MODEL_NAME precession
#define RF_NO_KERNELS /* in a table: the engine below calls the one there is */
#define RF_KERNEL_DIM_MAX 1
#include "precession.h"
#include "rejfilt/detail/instantiate.h"
#include "rejfilt/detail/instantiate_kernel.h"

/* What the page never asks for is constant here, so that the compiler leaves the code for it, and the lattice's table, out. */
static rf_status run(void *self, const rf32_task *task, uint32_t begin, uint32_t count, rf32_tally *tally)
{
    rf32_model real = *task->model;
    rf32_task one = *task;
    real.charts = 0;
    one.model = &real;
    one.sampler = RF_REJECT;
    one.wrap = 0;
    one.count = 1;
    return rf32_kernel_precession_baseline(self, &one, begin, count, tally);
}

const rf32_engine attempts_engine = {run, 0, 0};
