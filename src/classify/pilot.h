/* Leave-one-out: training objects are classified by all others, question by question, to learn where to stop and how
   far probabilities can be trusted. */
#ifndef REJFILT_CLASSIFY_PILOT_H
#define REJFILT_CLASSIFY_PILOT_H

#include "rejfilt/classify.h"

/* What the filter had after a question. */
typedef struct rfc_step {
    float rest;        /* belief in all classes but the decided one: what a stop is compared with */
    float probability; /* of the decided class; negative where it is wrong */
    float cost;        /* of all questions so far */
} rfc_step;

typedef struct rfc_pilot {
    uint32_t objects, steps; /* steps of an object: questions 0 to steps − 1, some of which it may not have needed */
    rfc_step *step;          /* by object and question */
    uint16_t *questions;     /* by object: how many it took */
    double *loss;            /* by object: what an error costs */
} rfc_pilot;

void rfc_pilot_free(rfc_pilot *pilot);

/* Are there so many features for so few objects that some seem to tell by chance alone, and are they left to choose? */
int rfc_pilot_is_wide(const rfc_training *training, const rfc_rules *rules);

/* Runs it, for a model that was made by `rules`. Of a wide table, the features for a fifth of the objects are chosen by
   the others, and these classify it. Returns 0, or -1 with a message. */
int rfc_pilot_run(rfc_model *model, const rfc_rules *rules, unsigned threads, rfc_progress *progress, void *context,
                  char *error, size_t size);

/* How much less the pilot of one model loses than that of another, each at its best stop, over the objects that both
   have, in standard errors. */
double rfc_pilot_gain(const rfc_model *model, const rfc_model *other);

#endif
