/* The filter that keeps a weight for every training vector. */
#ifndef REJFILT_WEIGHTED_H
#define REJFILT_WEIGHTED_H

#include "tree.h"

typedef struct rfc_weighted rfc_weighted;

enum { RFC_REGRESSED = 30 }; /* answers, at most, that classes are regressed on when a budget ends */

/* A filter over a training set that is laid out, with sketches, for what may be asked; its tree may be null. */
rfc_weighted *rfc_weighted_open(const rfc_training *training, const rfc_rules *rules, const rfc_tree *tree);
void rfc_weighted_close(rfc_weighted *filter);
void rfc_weighted_classify(rfc_weighted *filter, const rfc_object *object, rfc_answer *answer);

/* The next question after these answers; `answer` has room for all features asked, and no story. */
void rfc_weighted_advise(rfc_weighted *filter, const rfc_told told[], uint32_t count, rfc_answer *answer,
                         rfc_advice *advice);

/* Which features, by the pilot, of those that may be asked tell anything about the class, in the neighbourhoods that
   queries lead to; all of them when none seems to. Returns 0, or -1 without memory. */
int rfc_weighted_relevant(const rfc_training *training, const rfc_rules *rules, uint8_t *relevant);

#endif
