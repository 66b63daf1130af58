/* What a model's `expected` makes of an outcome, for one precision; `outcomes` is a description's. Included by
   instance.h, once for each. */
#include "precision.h"

/* ln of the likelihood. NaN where outcomes are none that `expected` is about. */
RF_FN rf_real RF(expected_log)(unsigned outcomes, rf_real expected, const rf_real setting[], rf_real outcome)
{
    const rf_real *about = setting + rf_outcomes_setting(outcomes);
    return outcomes == RF_POISSON                         ? RF(poisson_log)(outcome, expected)
           : rf_outcomes_kind(outcomes) == RF_BINOMIAL(0) ? RF(binomial_log)(outcome, *about, expected)
           : rf_outcomes_kind(outcomes) == RF_GAUSSIAN(0) ? RF(gaussian_log)(outcome, expected, *about)
                                                          : RF(nan)();
}

/* Its largest value, whatever is expected. The same for all candidates: compilers compute it once for a record. */
RF_FN rf_real RF(expected_peak)(unsigned outcomes, const rf_real setting[], rf_real outcome)
{
    const rf_real *about = setting + rf_outcomes_setting(outcomes);
    return outcomes == RF_POISSON                         ? RF(poisson_peak)(outcome)
           : rf_outcomes_kind(outcomes) == RF_BINOMIAL(0) ? RF(binomial_peak)(outcome, *about)
           : rf_outcomes_kind(outcomes) == RF_GAUSSIAN(0) ? RF(gaussian_peak)(*about)
                                                          : RF(nan)();
}

/* A Gaussian reading; or about the most likely count. */
RF_FN rf_real RF(expected_outcome)(unsigned outcomes, rf_real expected, const rf_real setting[], rf_real normal)
{
    const rf_real *about = setting + rf_outcomes_setting(outcomes);
    return rf_outcomes_kind(outcomes) == RF_BINOMIAL(0)   ? (*about + 1) * expected
           : rf_outcomes_kind(outcomes) == RF_GAUSSIAN(0) ? expected + *about * normal
                                                          : expected;
}
