/* The designers' functions. Inside src/design/ only. */
#include "rejfilt/belief.h"
#include "rejfilt/design.h"

#define RF_DESIGN(identifier, name, anchors, blind, fringe) rf_designer rf_design_##identifier;
#include "list.def"
#undef RF_DESIGN
