/* The serial engine, and the tallies that engines add to. */

#define RF_KERNEL RF(serial_run)
#define RF_KERNEL_PAIRS 1u
#define RF_KERNEL_DIM RF_DIM(model->dim)
#define RF_KERNEL_DIM_MAX 1u
#define RF_KERNEL_IS_LOG (task->model->is_log)
#define RF_KERNEL_LIKELIHOOD task->model->likelihood
#define RF_KERNEL_BOUND(setting, outcome) RF(bound_of)(task->model, setting, outcome)

/* The model's own bound for a record, on the scale its likelihood returns. */
RF_FN rf_real RF(bound_of)(const RF(model) *model, const rf_real setting[], rf_real outcome)
{
    return model->bound ? model->bound(setting, outcome) : (model->is_log ? RF_C(0.0) : RF_C(1.0));
}

#include "rejfilt/attempts.h"

const RF(engine) RF(serial) = {RF(serial_run), 0, 0};

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
    RF(tally_set_weight)(total, RF(tally_weight)(total) + RF(tally_weight)(part));
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
