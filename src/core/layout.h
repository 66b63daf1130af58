/* Where things lie in a filter's memory, after its struct:
   int64 z[D], zz[T] | work of attempts (D > 1: 5D) | mean[D] | factor[T] | workspace (D > 1: 2T + 4D).
   Between updates z[i] holds the bits of the rest of mean i: what rounding took from it. */

RF_FN rf_real *RF(mean)(RF(filter) *filter) { return (rf_real *)(uintptr_t)RF(filter_mean_of)(filter); }
RF_FN rf_real *RF(factor)(RF(filter) *filter) { return RF(mean)(filter) + RF_DIM(filter->tally.dim); }

/* Workspace; only for D > 1. */
RF_FN rf_real *RF(triangle_one)(RF(filter) *filter) { return RF(factor)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }
RF_FN rf_real *RF(triangle_two)(RF(filter) *filter) { return RF(triangle_one)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }
RF_FN rf_real *RF(vectors)(RF(filter) *filter) { return RF(triangle_two)(filter) + RF_TRIANGLE(RF_DIM(filter->tally.dim)); }

/* The rest of mean i, which must not be asked for during an update. */
RF_FN rf_real RF(rest)(const RF(filter) *filter, unsigned i)
{
    return RF(from_bits)((rf_unsigned)((const int64_t *)(&filter->tally + 1))[i]);
}
RF_FN void RF(rest_set)(RF(filter) *filter, unsigned i, rf_real rest) { RF(tally_z)(&filter->tally)[i] = (int64_t)RF(bits)(rest); }

/* Where the rests are during an update: `one`, in its task, of one parameter, else in workspace. */
RF_FN rf_real *RF(rests)(RF(filter) *filter, rf_real *one)
{
    const unsigned dim = RF_DIM(filter->tally.dim);
    return dim > 1 ? RF(vectors)(filter) + 3 * dim : one;
}

/* Puts them there before the first attempt. */
RF_FN void RF(rests_take)(RF(filter) *filter, rf_real *one)
{
    for (unsigned i = 0; i < RF_DIM(filter->tally.dim); i++)
        RF(rests)(filter, one)[i] = RF(rest)(filter, i);
}

/* Puts them back after the last. */
RF_FN void RF(rests_put)(RF(filter) *filter, unsigned dim, const rf_real *rests)
{
    for (unsigned i = 0; i < dim; i++)
        RF(rest_set)(filter, i, rests[i]);
}

/* total ← total + value. Returns what rounding took away. */
RF_FN rf_real RF(add_rounded)(rf_real *total, rf_real value)
{
    rf_real old = *total, sum = old + value, part = sum - old;
    *total = sum;
    return (old - (sum - part)) + (value - part);
}
