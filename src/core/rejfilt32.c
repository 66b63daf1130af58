/* The core on float. Compile this one file into a firmware. */
#define RF_PRECISION 32
#include "rejfilt/rejfilt.h"

_Static_assert(RF32_FILTER_BYTES(1) <= 64, "a one-dimensional float filter, its sums and its randomness fit 64 bytes");

#include "triangle.h"
#include "filter.c"
#include "drift.c"
#include "serial.c"
#include "update.c"
#include "fleet.c"
