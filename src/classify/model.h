/* A training set ready for questions: the data that filters need, and the results of leave-one-out. */
#ifndef REJFILT_CLASSIFY_MODEL_H
#define REJFILT_CLASSIFY_MODEL_H

#include "pilot.h"
#include "weighted.h"

struct rfc_model {
    rfc_training laid; /* for the weighted method; the paper's reads rows */
    uint32_t budget;   /* most queries per object; rules.budget is smaller where a goal of mean questions needs it */
    rfc_rules rules;   /* pointing to these: */
    uint8_t *mask;
    float *cost;
    uint32_t *group;
    double *prior, *weight;
    rfc_tree tree;
    rfc_pilot pilot;
    rfc_pilot fitted; /* the fit's own run, if `pilot` is for a smaller budget; else without objects */
    /* set by rfc_model_describe() */
    rfc_names classes, names;
    rfc_names labels;                 /* the name of the label column; labels named by the task, if any */
    uint8_t of_label[RFC_LABELS_MAX]; /* the class of each label */
    rfc_coding *coding;
    /* set by rfc_model_load() */
    int is_loaded; /* large arrays are in the caller's bytes, or these: */
    void *bytes;   /* of rfc_model_learn() */
    uint64_t checksum;
};

/* Are the rules as the header requires? Returns 0, or -1 with a message. */
int rfc_rules_check(const rfc_training *training, const rfc_rules *rules, char *error, size_t size);

/* Makes a model without a pilot; the training set must outlive it. Returns 0; or -1 with a message, and then there is
   nothing to free. */
int rfc_model_make(const rfc_training *training, const rfc_rules *rules, rfc_model *model, char *error, size_t size);
void rfc_model_free(rfc_model *model);

enum { RFC_MODEL_HEAD = 64 }; /* bytes of a saved model before its parts */

/* For objects that are training vectors: a callback that receives the whole answer, with its story. */
typedef struct rfc_watch {
    const uint32_t *vector; /* by object: its training vector, which is left out */
    void (*see)(void *context, uint32_t object, const rfc_answer *answer); /* called on several threads */
    void *context;
} rfc_watch;

/* rfc_model_classify, with a callback if `watch` is not null. */
int rfc_sweep(const rfc_model *model, const rfc_watch *watch, const rfc_objects *objects, unsigned threads,
              rfc_progress *progress, void *context, rfc_outcome *outcome, char *error, size_t size);

#endif
