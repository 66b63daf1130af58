/* Included first by every file of the core: the layout of a filter's memory, and functions shared between the files. They are
   compiled as one unit, for float (rejfilt32.c) and for double (rejfilt64.c). */
#ifndef REJFILT_CORE_H
#define REJFILT_CORE_H

#include "rejfilt/detail/steps.h"

/* Workers share the update of one filter: the threads of a group on a GPU, each with its own copy. RF_WORKERS_SUM(numbers, count)
   replaces each number by its sum over all workers. */
#ifndef RF_WORKERS
#define RF_WORKER 0u
#define RF_WORKERS 1u
#define RF_WORKERS_SUM(numbers, count)
#endif

/* ---- Memory ---- */

/* After the struct of a filter:
   int64 z[D], zz[T] | work of attempts (D > 1: 5D) | mean[D] | factor[T] | workspace (D > 1: 2T + 4D).
   Between updates z[i] holds the bits of mean i's rounding error, its rest. */

RF_FN rf_real *RF(mean)(RF(filter) *filter) { return (rf_real *)(uintptr_t)RF(filter_mean_of)(filter); }
RF_FN rf_real *RF(factor)(RF(filter) *filter) { return RF(mean)(filter) + RF_DIM(filter->tally.dim); }

/* Workspace; only for D > 1. */
RF_FN rf_real *RF(triangle_one)(RF(filter) *filter) { return RF(factor)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }
RF_FN rf_real *RF(triangle_two)(RF(filter) *filter) { return RF(triangle_one)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }
RF_FN rf_real *RF(vectors)(RF(filter) *filter) { return RF(triangle_two)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }

/* The rounding error of mean i. Not valid during an update. */
RF_FN rf_real RF(rest)(const RF(filter) *filter, unsigned i)
{
    return RF(from_bits)((rf_unsigned)((const int64_t *)(&filter->tally + 1))[i]);
}
RF_FN void RF(rest_set)(RF(filter) *filter, unsigned i, rf_real rest) { RF(tally_z)(&filter->tally)[i] = (int64_t)RF(bits)(rest); }

/* Where the rests are during an update: `one` in the task for one parameter, else the workspace. */
RF_FN rf_real *RF(rests)(RF(filter) *filter, rf_real *one)
{
    const unsigned dim = RF_DIM(filter->tally.dim);
    return dim > 1 ? RF(vectors)(filter) + 3 * dim : one;
}

/* Moves the rests there before the first attempt. */
RF_FN void RF(rests_take)(RF(filter) *filter, rf_real *one)
{
    for (unsigned i = 0; i < RF_DIM(filter->tally.dim); i++)
        RF(rests)(filter, one)[i] = RF(rest)(filter, i);
}

/* Moves the rests back after the last attempt. */
RF_FN void RF(rests_put)(RF(filter) *filter, unsigned dim, const rf_real *rests)
{
    for (unsigned i = 0; i < dim; i++)
        RF(rest_set)(filter, i, rests[i]);
}

/* total ← total + value. Returns the rounding error. */
RF_FN rf_real RF(add_rounded)(rf_real *total, rf_real value)
{
    rf_real old = *total, sum = old + value, part = sum - old;
    *total = sum;
    return (old - (sum - part)) + (value - part);
}

/* ---- filter.c ---- */

static int RF(usable)(rf_real v);
static const RF(chart) *RF(chart_of)(const RF(model) *model, unsigned i);
static rf_status RF(charts_check)(const RF(filter) *filter, const RF(model) *model);
static void RF(set_independent)(RF(filter) *filter, unsigned i, rf_real mean, rf_real sd);

/* ---- update.c ---- */

static rf_status RF(options_check)(const RF(model) *model, const RF(options) *o, const RF(engine) *engine);
static rf_status RF(records_check)(const RF(model) *model, const rf_real records[], uint32_t count, const RF(options) *o);
RF_FN rf_status RF(update_checked)(RF(filter) *filter, const RF(model) *model, const rf_real records[], uint32_t count,
                                   const RF(options) *options, const RF(engine) *engine, RF(report) *report);

#endif
