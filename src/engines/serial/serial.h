/* The serial engine's operation; other engines use it for models without a faster kernel. */
#include "engine.h"

rf32_run rf32_any_run;
rf64_run rf64_any_run;
