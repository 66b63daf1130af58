/* The weighted method: a filter with a weight for every training vector. */
#ifndef REJFILT_WEIGHTED_H
#define REJFILT_WEIGHTED_H

#include "tree.h"

typedef struct rfc_weighted rfc_weighted;

enum { RFC_REGRESSED = 30 }; /* most answers in a regression at the end of a budget */

/* Opens a filter over a training set that is laid out, with sketches of the features that may be asked; `tree` may be
   null. */
rfc_weighted *rfc_weighted_open(const rfc_training *training, const rfc_rules *rules, const rfc_tree *tree);
void rfc_weighted_close(rfc_weighted *filter);
void rfc_weighted_classify(rfc_weighted *filter, const rfc_object *object, rfc_answer *answer);

/* The next question after these answers. `answer` has space for all asked features, and a null story. */
void rfc_weighted_advise(rfc_weighted *filter, const rfc_told told[], uint32_t count, rfc_answer *answer,
                         rfc_advice *advice);

/* Sets relevant[feature] for features that may be asked and are informative about the class in the neighbourhoods that
   queries lead to, measured on the pilot; for all of them if none seems to be. Returns 0, or -1 when out of memory. */
int rfc_weighted_relevant(const rfc_training *training, const rfc_rules *rules, uint8_t *relevant);

#endif
