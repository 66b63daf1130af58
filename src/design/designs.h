/* The designers' functions. Inside src/design/ only. */
#include "rejfilt/host.h"

#define RF_DESIGN(identifier, name, anchors, blind, fringe) RF(designer) RF(design_##identifier);
#include "list.def"
#undef RF_DESIGN
