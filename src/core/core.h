/* What every file of the core begins with: where things lie in a filter's memory, and what the files give each other. They are
   compiled as one, for float and for double: rejfilt32.c, rejfilt64.c. */
#ifndef REJFILT_CORE_H
#define REJFILT_CORE_H

#include "rejfilt/detail/steps.h"

/* ---- Memory ---- */

/* After the struct of a filter:
   int64 z[D], zz[T] | work of attempts (D > 1: 5D) | mean[D] | factor[T] | workspace (D > 1: 2T + 3D). */

RF_FN rf_real *RF(mean)(RF(filter) *filter) { return (rf_real *)(uintptr_t)RF(filter_mean_of)(filter); }
RF_FN rf_real *RF(factor)(RF(filter) *filter) { return RF(mean)(filter) + RF_DIM(filter->tally.dim); }

/* Workspace; only for D > 1. */
RF_FN rf_real *RF(triangle_one)(RF(filter) *filter) { return RF(factor)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }
RF_FN rf_real *RF(triangle_two)(RF(filter) *filter) { return RF(triangle_one)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }
RF_FN rf_real *RF(vectors)(RF(filter) *filter) { return RF(triangle_two)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }

/* ---- filter.c ---- */

static int RF(usable)(rf_real v);
static const RF(chart) *RF(chart_of)(const RF(model) *model, unsigned i);
static rf_status RF(charts_check)(const RF(filter) *filter, const RF(model) *model);
static void RF(set_independent)(RF(filter) *filter, unsigned i, rf_real mean, rf_real sd);

/* ---- update.c ---- */

static rf_status RF(options_check)(const RF(model) *model, const RF(options) *o);
static rf_status RF(records_check)(const RF(model) *model, const rf_real records[], uint32_t count, const RF(options) *o);
static RF_APART int RF(is_wrapped)(const RF(filter) *filter, const RF(model) *model);
RF_FN rf_status RF(conclude)(RF(filter) *filter, unsigned dim, const RF(task) *task, const RF(options) *options, rf_real *mean, rf_real *c,
                             rf_real *z);
RF_FN void RF(report_fill)(RF(report) *r, rf_status status, const RF(task) *task, const RF(tally) *tally, uint32_t attempts, rf_real hedge);
RF_FN rf_status RF(update_checked)(RF(filter) *filter, const RF(model) *model, const rf_real records[], uint32_t count,
                                   const RF(options) *options, const RF(engine) *engine, int begun, RF(report) *report);

#endif
