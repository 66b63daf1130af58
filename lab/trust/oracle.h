/* Reference filters that learn from a session's records. With up to three parameters: exact, on a fixed grid,
   without and with a hazard, the probability that the truth is drawn anew from its prior. With more parameters,
   where a grid is too large: the session's own belief without tests, restarted at each event. */
#ifndef REJFILT_TRUST_ORACLE_H
#define REJFILT_TRUST_ORACLE_H

#include "rejfilt/session.h"

enum { ORACLE_KINDS = 2 };
typedef struct oracle oracle;

/* Null when memory is short or the run cannot have one. */
oracle *oracle_open(const rf_config *config, double hazard);
void oracle_close(oracle *o);

/* Name of filter k; null if there is none. */
const char *oracle_name(const oracle *o, unsigned k);

/* Does filter k report jumps? */
int oracle_alarms(const oracle *o, unsigned k);

/* Learns from the step's record. own[k] is the step with filter k. Its health is RF_RECOVERING in a step in which a
   jump since the previous such step has become more probable than none. */
void oracle_step(oracle *o, const rf_step *step, rf_step own[ORACLE_KINDS]);

#endif
