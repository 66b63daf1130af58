/* The serial engine's operation, which is what other engines do with models that they have no better way for. */
#include "engine.h"

rf32_run rf32_any_run;
rf64_run rf64_any_run;
