/* The core on double. */
#define RF_PRECISION 64
#include "filter.c"
#include "drift.c"
#include "serial.c"
#include "update.c"
#include "fleet.c"
