/* The pilot, by leave-one-out: training objects are classified by all others, question by question. It shows where to
   stop and how reliable the probabilities are. */
#ifndef REJFILT_CLASSIFY_PILOT_H
#define REJFILT_CLASSIFY_PILOT_H

#include "few.h"

/* The state of the filter after a question. */
typedef struct rfc_step {
    float rest;        /* belief in all classes but the decided one; compared with the stop */
    float probability; /* of the decided class; negative if it is wrong */
    float cost;        /* total of the questions so far */
} rfc_step;

#define RFC_BEYOND_CHANCE 2.0 /* other rules are taken if they lose less by more standard errors than this */

typedef struct rfc_pilot {
    uint32_t objects, steps; /* steps per object: questions 0 to steps − 1; it may have needed fewer */
    rfc_step *step;          /* by object and question */
    uint16_t *questions;     /* by object: number of questions taken */
    double *loss;            /* by object: the cost of an error */
} rfc_pilot;

void rfc_pilot_free(rfc_pilot *pilot);

/* Are there so many features for so few objects that some seem informative by chance, and may the pilot choose among
   them? */
int rfc_pilot_is_wide(const rfc_training *training, const rfc_rules *rules);

/* Runs the pilot of a model made with `rules`. In a wide table, each fifth of the objects is classified with features
   chosen on the others. Returns 0, or -1 with a message. */
int rfc_pilot_run(rfc_model *model, const rfc_rules *rules, unsigned threads, rfc_progress *progress, void *context,
                  char *error, size_t size);

/* By how much the pilot of one model loses less than that of another, each at its best stop, over the objects of both;
   in standard errors. */
double rfc_pilot_gain(const rfc_model *model, const rfc_model *other);

#endif
