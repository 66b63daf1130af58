/* Compiles one model file for one precision: RF_MODEL_FILE, RF_MODEL_NAME, RF_PRECISION. */
#include "rejfilt/host.h"

#include RF_MODEL_FILE

#define RF_PASTE_(name, bits) rf##bits##_model_##name
#define RF_PASTE(name, bits) RF_PASTE_(name, bits)

static rf_real call_likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    return likelihood(x, setting, outcome);
}

#ifdef RF_HAS_BOUND
static rf_real call_bound(const rf_real setting[], rf_real outcome) { return bound(setting, outcome); }
#else
#define call_bound 0
#endif

#ifdef RF_HAS_SIMULATE
static rf_real call_simulate(const rf_real x[], const rf_real setting[], rf_real normal)
{
    return simulate(x, setting, normal);
}
#else
#define call_simulate 0
#endif

extern const RF(instance) RF_PASTE(RF_MODEL_NAME, RF_PRECISION);
const RF(instance) RF_PASTE(RF_MODEL_NAME, RF_PRECISION) = {&description, call_likelihood, call_bound, call_simulate};
