/* Internal to the beliefs: their kinds. */
#ifndef REJFILT_BELIEFS_H
#define REJFILT_BELIEFS_H

#include "common.h"
#include "engine.h"

#define RF_BELIEF(identifier, name) extern const rf_belief_kind rf_belief_##identifier;
#include "list.def"
#undef RF_BELIEF

/* The number after the colon of a name, in low..high, or `otherwise` if there is none. Anything else: returns 0 and
   fills `error`. */
uint32_t rf_belief_number(const rf_belief_kind *kind, const rf_belief_setup *setup, uint32_t low, uint32_t high,
                          uint32_t otherwise, char *error, size_t size);

/* The kind of a belief with this name, "particles:2000"; or null with one line in `error`. */
const rf_belief_kind *rf_belief_kind_find(const char *name, char *error, size_t size);

#endif
