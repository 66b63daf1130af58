/* The core on double. */
#define RF_PRECISION 64
#include "core.h"

_Static_assert(sizeof(rf64_tally) == 40, "no padding: equal tallies are equal bytes");

#include "filter.c"
#include "drift.c"
#include "serial.c"
#include "update.c"
#include "fleet.c"
