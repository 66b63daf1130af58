/* The paranoid engine's state and operation; self is its rf_engine. */
#include "engine.h"

/* Tallies: the inner engine's, and the serial engine's as the reference. */
enum { RF_PARANOID_GIVEN, RF_PARANOID_RIGHT, RF_PARANOID_TALLIES };

rf32_run rf32_paranoid_run;
rf64_run rf64_paranoid_run;
