/* The exact filter on a fixed grid, of one parameter or two, beside a session: it learns from the same records. With a
   hazard it believes that the truth is drawn anew from its prior now and then. */
#ifndef REJFILT_TRUST_ORACLE_H
#define REJFILT_TRUST_ORACLE_H

#include "rejfilt/session.h"

typedef struct oracle oracle;

/* Null when there is no such grid for this run, or no memory. */
oracle *oracle_open(const rf_config *config, double hazard);
void oracle_close(oracle *o);
void oracle_restart(oracle *o);

/* Learns from the step's record; `own` is the step as it would be with this filter. Health is RF_RECOVERING in the step
   in which a jump since the latest such step has become likelier than none. */
void oracle_step(oracle *o, const rf_step *step, rf_step *own);

#endif
