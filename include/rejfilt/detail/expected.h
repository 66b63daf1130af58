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

/* ---- Outliers: of a share of the readings, any value from low to high is equally likely; of a binomial count, from 0 to n ---- */

/* Density, or probability, of such a reading. */
RF_FN rf_real RF(outlier_density)(unsigned outcomes, rf_real low, rf_real high, const rf_real setting[], rf_real outcome)
{
    const int is_binomial = rf_outcomes_kind(outcomes) == RF_BINOMIAL(0), is_real = rf_outcomes_kind(outcomes) == RF_GAUSSIAN(0);
    const rf_real first = is_binomial ? 0 : low, last = is_binomial ? setting[rf_outcomes_setting(outcomes)] : high;
    return outcome >= first && outcome <= last ? 1 / (last - first + (is_real ? 0 : 1)) : 0;
}

/* ln of the likelihood, or of its bound, from that of a reading without outliers. */
RF_FN rf_real RF(outliers_log)(unsigned outcomes, rf_real log_p, rf_real share, rf_real low, rf_real high, const rf_real setting[], rf_real outcome)
{
    const rf_real q = share * RF(outlier_density)(outcomes, low, high, setting, outcome);
    const rf_real both = RF(log)((1 - share) * RF(exp)(log_p) + q);
    return q > 0 ? both : log_p + RF(log)(1 - share);
}

/* As expected_outcome, for share < 0.8. Counts have no single peak: -infinity for normal = 0, and they are drawn from 0 up. */
RF_FN rf_real RF(outliers_outcome)(unsigned outcomes, rf_real expected, rf_real share, rf_real low, rf_real high, const rf_real setting[], rf_real normal)
{
    const rf_real u = RF(normal_cdf)(normal), rest = (u - share) / (1 - share);
    const rf_real other = RF(normal_quantile)(RF(min)(RF(max)(rest, RF_TINY), 1 - RF_EPSILON));
    return rf_outcomes_kind(outcomes) != RF_GAUSSIAN(0) ? (normal != 0 ? RF(expected_outcome)(outcomes, expected, setting, normal) : -RF(infinity)())
           : u < share                                  ? low + (high - low) * (u / share)
                                                        : expected + setting[rf_outcomes_setting(outcomes)] * other;
}
