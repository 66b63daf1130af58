/* Simulated trials as on a GPU, as host code: one model, set on the compiler's command line. test_device.c loads it. */
#include RF_MODEL_FILE
#include "session/device.h"

#include "device_unit.h"

#define STRING_(name) #name
#define STRING(name) STRING_(name)

__attribute__((visibility("default"))) const device_unit unit = {0, 0, rf_device_trial, STRING(RF_MODEL_NAME)};
