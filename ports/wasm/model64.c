/* The model in double, for designs and tests of health. */
#undef RF_PRECISION
#define RF_PRECISION 64
#define RF_MODEL_NAME precession
#define RF_NO_KERNELS
#include "precession.h"
#include "rejfilt/instantiate.h"

#include "described.c"
