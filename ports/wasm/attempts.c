/* The model with its attempts inlined: the only engine of the module. */
#include "attempts.h"

#define RF_MODEL_NAME precession
#define RF_NO_KERNELS /* no table of kernels: the engine below calls the only one */
#define RF_KERNEL_DIM_MAX 1
#include "precession.h"
#include "rejfilt/detail/instantiate.h"
#include "rejfilt/detail/instantiate_kernel.h"

/* Options that the page never uses are constants here, so that the compiler removes their code, and the lattice's
   table. */
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
