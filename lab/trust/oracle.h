/* Filters beside a session, which learn from the same records: on a fixed grid of up to three parameters, exactly, without
   and with a hazard, that is, believing that the truth is drawn anew from its prior now and then. Of more parameters, for
   which there is no grid: the session's own belief, which has no tests and begins anew when it is told of an event. */
#ifndef REJFILT_TRUST_ORACLE_H
#define REJFILT_TRUST_ORACLE_H

#include "rejfilt/session.h"

enum { ORACLE_KINDS = 2 };
typedef struct oracle oracle;

/* Null when there is no memory, or the run cannot have one. */
oracle *oracle_open(const rf_config *config, double hazard);
void oracle_close(oracle *o);

/* How its kind k is called; null when it has no such kind. */
const char *oracle_name(const oracle *o, unsigned k);

/* Does its kind k tell of jumps? */
int oracle_alarms(const oracle *o, unsigned k);

/* Learns from the step's record; own[k] is the step as it would be with the filter of kind k. Health is RF_RECOVERING in
   the step in which a jump since the latest such step has become likelier than none. */
void oracle_step(oracle *o, const rf_step *step, rf_step own[ORACLE_KINDS]);

#endif
