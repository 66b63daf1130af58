/* Filters over training vectors: they classify an object by asking for one feature after the other. */
#ifndef REJFILT_CLOUD_FILTER_H
#define REJFILT_CLOUD_FILTER_H

#include "training.h"

typedef enum rf_method { RF_WEIGHTED, RF_PAPER } rf_method;
typedef enum rf_gain { RF_BETWEEN, RF_VARIANCE, RF_MUTUAL } rf_gain;

/* How to ask and when to stop. */
typedef struct rf_rules {
    rf_method method;
    double stop;         /* stop when all classes but one have at most this probability together */
    uint32_t budget;     /* queries of an object, at most */
    double most_cost;    /* of the queries of an object */
    const float *cost;   /* by feature, null: 1 each */
    const uint8_t *mask; /* by feature: not 0 where it may be asked; null: all may */
    double floor;        /* of σ, in units of the largest standard deviation of a feature */
    uint64_t seed;
    /* weighted */
    rf_gain gain;
    double least_sample; /* effective sample size that tempering keeps */
    /* paper */
    uint32_t particles, restarts;
} rf_rules;

rf_rules rf_rules_default(rf_method method, const rf_training *training);

/* What is known of an object to be classified. */
typedef struct rf_object {
    const uint8_t *value;
    const uint8_t *missing; /* null: nothing is */
    uint32_t number;        /* its random numbers' */
} rf_object;

typedef struct rf_answer {
    uint32_t class, queries;
    double cost;
    float *posterior; /* by class */
    uint32_t *asked;  /* features in order; room for rf_filter_queries() */
    float *story;     /* null, or by query and class: the posterior after it */
} rf_answer;

typedef struct rf_cloud rf_cloud;

/* A filter and its memory, for one thread. Null with a message. */
rf_cloud *rf_cloud_open(const rf_training *training, const rf_rules *rules, char *error, size_t size);
void rf_cloud_close(rf_cloud *cloud);

/* The most queries an object can take. */
uint32_t rf_cloud_queries(const rf_training *training, const rf_rules *rules);

/* Classifies an object. The answer depends on training set, rules and object alone. */
void rf_cloud_classify(rf_cloud *cloud, const rf_object *object, rf_answer *answer);

#endif
