/* The core on double. */
#define RF_PRECISION 64
#include "rejfilt/rejfilt.h"

#include "triangle.h"
#include "filter.c"
#include "drift.c"
#include "serial.c"
#include "update.c"
#include "fleet.c"
