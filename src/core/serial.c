/* The serial engine, and the tallies that engines add to. */

#include "core.h"

#ifdef RF_NO_ATTEMPTS /* a program that runs no attempts */
const RF(engine) RF(serial) = {0};
#else
#include "rejfilt/detail/attempts.h"

/* A model with only a block function needs an engine that calls it. */
static rf_status RF(serial_checked)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    return task->model->likelihood ? RF(serial_run)(self, task, begin, count, tally) : RF_REFUSED_NULL;
}

const RF(engine) RF(serial) = {RF_BLOCKS ? RF(serial_checked) : RF(serial_run), 0, 0};
#endif

void RF(tally_clear)(RF(tally) *tally, unsigned dim, uint32_t update)
{
    RF(tally) empty = {0};
    *tally = empty;
    tally->update = update;
    tally->dim = (uint16_t)dim;
    int64_t *sums = RF(tally_z)(tally);
    for (size_t i = 0; i < dim + RF_TRIANGLE(dim); i++)
        sums[i] = 0;
}

rf_status RF(tally_add)(RF(tally) *total, const RF(tally) *part)
{
    if (!total || !part)
        return RF_REFUSED_NULL;
    if (total->update != part->update || total->dim != part->dim)
        return RF_REFUSED_TALLY;
    total->over += part->over;
    total->weight += part->weight; /* one 64-bit addition adds both counts; neither overflows 32 bits */
    RF(count_bad)(&total->nan, part->nan);
    RF(count_bad)(&total->negative, part->negative);
    RF(count_bad)(&total->infinite, part->infinite);
    total->largest = RF(max)(total->largest, part->largest);
    int64_t *sums = RF(tally_z)(total);
    const int64_t *more = (const int64_t *)(part + 1);
    for (size_t i = 0; i < total->dim + RF_TRIANGLE(total->dim); i++)
        sums[i] += more[i];
    return RF_OK;
}
