/* A training set that is ready for questions: what the filters need, and what leave-one-out showed. */
#ifndef REJFILT_CLASSIFY_MODEL_H
#define REJFILT_CLASSIFY_MODEL_H

#include "pilot.h"
#include "weighted.h"

struct rfc_model {
    rfc_training laid; /* for the weighted method; the paper's reads rows */
    rfc_rules rules;   /* which point to these: */
    uint8_t *mask;
    float *cost;
    uint32_t *group;
    double *prior, *weight;
    rfc_tree tree;
    rfc_pilot pilot;
    rfc_pilot fitted; /* what the fit ran, where `pilot` is of a smaller budget; else without objects */
    /* rfc_model_describe() */
    rfc_names classes, names;
    rfc_names labels;                 /* the name of their column; then labels that the task names, if it does, */
    uint8_t of_label[RFC_LABELS_MAX]; /* and the class of each */
    rfc_coding *coding;
    /* rfc_model_load() */
    int is_loaded; /* large arrays are in the caller's bytes */
    uint64_t checksum;
};

/* Are the rules what the header says? Returns 0, or -1 with a message. */
int rfc_rules_check(const rfc_training *training, const rfc_rules *rules, char *error, size_t size);

/* Makes a model without a pilot; the training set outlives it. Returns 0, or -1 with a message: then there is nothing
   to free. */
int rfc_model_make(const rfc_training *training, const rfc_rules *rules, rfc_model *model, char *error, size_t size);
void rfc_model_free(rfc_model *model);

/* The checksum of a saved model's bytes after its head of RFC_MODEL_HEAD, where it is at RFC_MODEL_SUM. */
enum { RFC_MODEL_HEAD = 64, RFC_MODEL_SUM = 24 };
uint64_t rfc_model_sum(const uint8_t *bytes, size_t count);

/* Objects that are training vectors, of which the answer is looked at as a whole, with its story. */
typedef struct rfc_watch {
    const uint32_t *vector; /* by object: the one that it is, which does not count */
    void (*see)(void *context, uint32_t object, const rfc_answer *answer); /* on several threads */
    void *context;
} rfc_watch;

/* rfc_model_classify, watched where `watch` is not null. */
int rfc_sweep(const rfc_model *model, const rfc_watch *watch, const rfc_objects *objects, unsigned threads,
              rfc_progress *progress, void *context, rfc_outcome *outcome, char *error, size_t size);

#endif
