/* What outcomes say about the filter, and what is done about it. Between the sources of src/design/ alone. */
#ifndef REJFILT_DESIGN_HEALTH_H
#define REJFILT_DESIGN_HEALTH_H

#include "rejfilt/host.h"

/* Should the next experiment be an anchor? Counts down to it. */
int RF(health_wants_anchor)(RF(tracker) *t);

/* Before the update: were the outcomes expected? Anchors are judged on their own, other records by their surprise. */
void RF(health_judge)(RF(tracker) *t, const rf_real records[], uint32_t count);

/* After the update: widens, restarts or calms down. */
void RF(health_act)(RF(tracker) *t);

#endif
