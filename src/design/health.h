/* Does the belief still hold the truth? What outcomes say, and what is done about it. */
#ifndef REJFILT_DESIGN_HEALTH_H
#define REJFILT_DESIGN_HEALTH_H

#include "rejfilt/belief.h"
#include "rejfilt/design.h"
#include "rejfilt/health.h"

/* What the tests have found so far. All numbers but the last two are part of a checkpoint. */
typedef struct rf_watch {
    rf_health state;            /* what is thought of the belief now */
    uint32_t next_anchor;       /* experiments until one is due */
    uint32_t failed;            /* tests failed in a row */
    uint32_t widened, restarts; /* since the start */
    double surprise, variance;  /* running sum of surprise less what was expected of it, and its variance */
    int32_t verdict;            /* of the latest test: 1 failed, -1 passed, 0 none */
    int32_t is_anchored;        /* it was an anchor */
} rf_watch;

/* What is watched. */
typedef struct rf_watched {
    rf_watch *watch;
    rf_belief *belief;
    const rf64_instance *instance;
    const rf64_model *model;
    const rf_description *description;
    const rf_design *design; /* or null */
    uint32_t anchor_every;
    uint32_t anchors; /* bit k: record k answers an anchor */
    rf_on_lost on_lost;
    const double *prior_sd; /* in the chart */
} rf_watched;

/* Should the next experiment be an anchor? Counts down to it. */
int rf_health_wants_anchor(rf_watched *t);

/* Before the update: were the outcomes expected? Anchors are judged on their own, other records by their surprise. */
void rf_health_judge(rf_watched *t, const double records[], uint32_t count);

/* After the update: widens, restarts or calms down. */
void rf_health_act(rf_watched *t);

#endif
