/* Compiles one model file for one precision: RF_MODEL_FILE, RF_MODEL_NAME, RF_PRECISION. */
#include RF_MODEL_FILE
#include "rejfilt/instantiate.h"
