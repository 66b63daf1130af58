/* What a model file includes. A model is one file: a description, and a likelihood written once as
   an ordinary scalar function. The file is compiled for float and for double, and inlined into
   every engine's loop.

   Rules for the functions: no globals, no loops of unknown length, `a ? b : c` instead of if, and
   rf_sin, rf_cos, rf_exp, rf_log, rf_sqrt, ... instead of libm. Write constants as RF_C(0.5).

     RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)   required, or instead:
     RF_FN rf_real expected(const rf_real x[], const rf_real setting[])    with #define RF_HAS_EXPECTED,
                                            for outcomes RF_POISSON, RF_BINOMIAL(i), RF_GAUSSIAN(i)
         #define RF_OUTLIERS share, low, high      a share of its readings that may be anything from low to high, all values
                                            equally likely; of a binomial count anything from 0 to n: RF_C(0.02), -5, 8
     RF_FN rf_real bound(const rf_real setting[], rf_real outcome)         with #define RF_HAS_BOUND
     RF_FN rf_real simulate(const rf_real x[], const rf_real setting[], rf_real normal)
                                            with #define RF_HAS_SIMULATE, for real-valued outcomes and counts
     RF_FN void dynamics(rf_real elapsed, rf_real F[], rf_real Q[])     with #define RF_HAS_DYNAMICS
     static void design(const RF(design_input) *in, rf_real setting[])  with #define RF_HAS_DESIGN n, see
                         design.h: one experiment of n is an anchor (in->is_anchor), 0 for none
     static const rf_description description = {...};                                        required */
#ifndef REJFILT_MODEL_H
#define REJFILT_MODEL_H

#include "detail/real.h"
#include "host.h"

#endif
