/* Access to the data that follow a tally or a filter in memory, for loops where a function call is too slow. */
#ifndef REJFILT_TALLY_H
#define REJFILT_TALLY_H

#include "real.h"

/* Σz and Σzzᵀ over accepted attempts, z in units of 2⁻¹³; with RF_WEIGHT, Σwz and Σwzzᵀ in units of 2⁻²⁵. zz: lower
   triangle by rows. */
RF_FN int64_t *RF(tally_z)(RF(tally) *tally) { return (int64_t *)(tally + 1); }
RF_FN int64_t *RF(tally_zz)(RF(tally) *tally) { return (int64_t *)(tally + 1) + RF_DIM(tally->dim); }
/* The mean; the factor follows it. */
RF_FN const rf_real *RF(filter_mean_of)(const RF(filter) *filter)
{
    const unsigned char *tally = (const unsigned char *)&filter->tally;
    return (const rf_real *)(const void *)(tally + RF_TALLY_BYTES_(RF_DIM(filter->tally.dim), sizeof(RF(tally)), sizeof(rf_real)));
}
/* Workspace of attempts; only for more than one parameter. */
RF_FN rf_real *RF(tally_work)(RF(tally) *tally) { return (rf_real *)(RF(tally_zz)(tally) + RF_TRIANGLE(RF_DIM(tally->dim))); }

#endif
