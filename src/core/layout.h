/* Where things lie in a filter's memory, after its struct:
   int64 z[D], zz[T] | work of attempts (D > 1: 5D) | mean[D] | factor[T] | workspace (D > 1: 2T + 3D). */

RF_FN rf_real *RF(mean)(RF(filter) *filter) { return (rf_real *)(uintptr_t)RF(filter_mean_of)(filter); }
RF_FN rf_real *RF(factor)(RF(filter) *filter) { return RF(mean)(filter) + RF_DIM(filter->tally.dim); }

/* Workspace; only for D > 1. */
RF_FN rf_real *RF(triangle_one)(RF(filter) *filter) { return RF(factor)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }
RF_FN rf_real *RF(triangle_two)(RF(filter) *filter) { return RF(triangle_one)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }
RF_FN rf_real *RF(vectors)(RF(filter) *filter) { return RF(triangle_two)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }
