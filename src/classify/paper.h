/* The paper's filter: a cloud of training vectors that are accepted or rejected, and replicated. */
#ifndef REJFILT_CLOUD_PAPER_H
#define REJFILT_CLOUD_PAPER_H

#include "filter.h"

typedef struct rf_paper rf_paper;

rf_paper *rf_paper_open(const rf_training *training, const rf_rules *rules);
void rf_paper_close(rf_paper *filter);
void rf_paper_classify(rf_paper *filter, const rf_object *object, rf_answer *answer);

#endif
