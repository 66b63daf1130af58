/* The model, and what of the core designs and tests of health need, in double. */
#undef RF_PRECISION
#define RF_PRECISION 64
#define RF_MODEL_NAME precession
#define RF_NO_KERNELS
#include "precession.h"
#include "rejfilt/instantiate.h"

#include "described.c"
#include "rejfilt64.c"
