/* Included after a model file: if the model defines `expected`, makes the likelihood, its bound and the outcomes from
   it. */
#if defined(RF_HAS_EXPECTED) && !defined(RF_EXPECTED_IS_MADE)
#define RF_EXPECTED_IS_MADE
#if __INCLUDE_LEVEL__ == 0
#include "alone.h"
#endif
#include "../host.h"

#ifdef RF_OUTLIERS
#define RF_WITH_OUTLIERS_(log_p) RF(outliers_log)(description.outcomes, log_p, RF_OUTLIERS, setting, outcome)
#else
#define RF_WITH_OUTLIERS_(log_p) log_p
#endif

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    return RF_WITH_OUTLIERS_(RF(expected_log)(description.outcomes, expected(x, setting), setting, outcome));
}

#define RF_HAS_BOUND
RF_FN rf_real bound(const rf_real setting[], rf_real outcome)
{
    return RF_WITH_OUTLIERS_(RF(expected_peak)(description.outcomes, setting, outcome));
}

#define RF_HAS_SIMULATE
RF_FN rf_real simulate(const rf_real x[], const rf_real setting[], rf_real normal)
{
#ifdef RF_OUTLIERS
    return RF(outliers_outcome)(description.outcomes, expected(x, setting), RF_OUTLIERS, setting, normal);
#else
    return RF(expected_outcome)(description.outcomes, expected(x, setting), setting, normal);
#endif
}
#endif
