/* The likelihood of an outcome from a model's `expected`; `outcomes` is the description's. Included by instance.h, once
   per precision. */
#include "precision.h"

/* ln of the likelihood. NaN if `outcomes` is not a kind with `expected`. */
RF_FN rf_real RF(expected_log)(unsigned outcomes, rf_real expected, const rf_real setting[], rf_real outcome)
{
    const rf_real *about = setting + rf_outcomes_setting(outcomes);
    return outcomes == RF_POISSON                         ? RF(poisson_log)(outcome, expected)
           : rf_outcomes_kind(outcomes) == RF_BINOMIAL(0) ? RF(binomial_log)(outcome, *about, expected)
           : rf_outcomes_kind(outcomes) == RF_GAUSSIAN(0) ? RF(gaussian_log)(outcome, expected, *about)
                                                          : RF(nan)();
}

/* Its largest value over all expectations. Independent of x, so compilers compute it once per record. */
RF_FN rf_real RF(expected_peak)(unsigned outcomes, const rf_real setting[], rf_real outcome)
{
    const rf_real *about = setting + rf_outcomes_setting(outcomes);
    return outcomes == RF_POISSON                         ? RF(poisson_peak)(outcome)
           : rf_outcomes_kind(outcomes) == RF_BINOMIAL(0) ? RF(binomial_peak)(outcome, *about)
           : rf_outcomes_kind(outcomes) == RF_GAUSSIAN(0) ? RF(gaussian_peak)(*about)
                                                          : RF(nan)();
}

/* A Gaussian reading, or a count near the most likely one. */
RF_FN rf_real RF(expected_outcome)(unsigned outcomes, rf_real expected, const rf_real setting[], rf_real normal)
{
    const rf_real *about = setting + rf_outcomes_setting(outcomes);
    return rf_outcomes_kind(outcomes) == RF_BINOMIAL(0)   ? (*about + 1) * expected
           : rf_outcomes_kind(outcomes) == RF_GAUSSIAN(0) ? expected + *about * normal
                                                          : expected;
}
