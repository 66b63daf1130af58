/* The paper's method: a cloud of training vectors that are accepted or rejected, and replicated. */
#ifndef REJFILT_CLASSIFY_PAPER_H
#define REJFILT_CLASSIFY_PAPER_H

#include "filter.h"

typedef struct rfc_paper rfc_paper;

rfc_paper *rfc_paper_open(const rfc_training *training, const rfc_rules *rules);
void rfc_paper_close(rfc_paper *filter);
void rfc_paper_classify(rfc_paper *filter, const rfc_object *object, rfc_answer *answer);

#endif
