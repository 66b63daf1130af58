/* Many objects, on several threads. */
#ifndef REJFILT_CLOUD_SWEEP_H
#define REJFILT_CLOUD_SWEEP_H

#include "filter.h"

/* Says how far it is; called by one thread only. */
typedef void rf_progress(void *context, uint64_t done, uint64_t total);

typedef struct rf_objects {
    const rf_table *table; /* bytes, and classes as labels */
    const uint32_t *rows;  /* of the table; null: the first `count` */
    uint32_t count;
} rf_objects;

/* What happened to each object. Arrays that are null are not filled. */
typedef struct rf_outcome {
    uint8_t *class;        /* decided, by object */
    float *posterior;      /* by object and class */
    uint32_t **asked;      /* by object: features in order; each to be freed */
    uint32_t *queries;     /* by object */
    uint64_t *times_asked; /* by feature */
    uint64_t errors, all_queries;
    double all_cost;
} rf_outcome;

static inline uint32_t rf_objects_row(const rf_objects *o, uint32_t i) { return o->rows ? o->rows[i] : i; }

/* Classifies all objects. Returns 0, or -1 with a message. */
int rf_run(const rf_training *training, const rf_rules *rules, const rf_objects *objects, unsigned threads,
           rf_outcome *outcome, rf_progress *progress, void *context, char *error, size_t size);

/* One object, into an answer whose arrays it allocates, story included. Free them with rf_answer_free. */
int rf_run_one(const rf_training *training, const rf_rules *rules, const rf_objects *objects, uint32_t index,
               rf_answer *answer, char *error, size_t size);
void rf_answer_free(rf_answer *answer);

#endif
