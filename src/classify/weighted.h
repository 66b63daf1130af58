/* The filter that keeps a weight for every training vector. */
#ifndef REJFILT_WEIGHTED_H
#define REJFILT_WEIGHTED_H

#include "filter.h"

typedef struct rf_weighted rf_weighted;

/* A filter over a training set that is laid out, with sketches, for what may be asked. */
rf_weighted *rf_weighted_open(const rf_training *training, const rf_rules *rules);
void rf_weighted_close(rf_weighted *filter);
void rf_weighted_classify(rf_weighted *filter, const rf_object *object, rf_answer *answer);

/* Which features, by the pilot, of those that may be asked tell anything about the class, in the neighbourhoods that queries lead
   to; all of them when none seems to. Returns 0, or -1 without memory. */
int rf_weighted_relevant(const rf_training *training, const rf_rules *rules, uint8_t *relevant);

#endif
