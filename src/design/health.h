/* Does the belief still hold the truth? What outcomes say, and what is done about it. Compiled per precision. */
#include "rejfilt/health.h"
#include "rejfilt/host.h"

/* What the tests have found so far. All numbers but the last two are part of a checkpoint. */
typedef struct RF(watch) {
    rf_health state;            /* what is thought of the belief now */
    uint32_t next_anchor;       /* experiments until one is due */
    uint32_t failed;            /* tests failed in a row */
    uint32_t widened, restarts; /* since the start */
    rf_real surprise, variance; /* running sum of surprise less what was expected of it, and its variance */
    int32_t verdict;            /* of the latest test: 1 failed, -1 passed, 0 none */
    int32_t is_anchored;        /* it was an anchor */
} RF(watch);

/* What is watched. */
typedef struct RF(watched) {
    RF(watch) *watch;
    const RF(instance) *instance;
    const RF(model) *model;
    const rf_description *description;
    const RF(design) *design; /* or null */
    uint32_t anchor_every;
    uint32_t anchors; /* bit k: record k answers an anchor */
    rf_on_lost on_lost;
    const rf_real *prior_sd; /* in the chart */
    void *self;              /* the belief, and what is needed of it: */
    uint64_t seed;
    uint32_t updates;
    RF(draw) *draw;
    void (*sds)(const void *self, rf_real sd[]); /* in the chart */
    void (*stretch)(void *self, const rf_real factor[]);
    void (*restart)(void *self);
} RF(watched);

/* Should the next experiment be an anchor? Counts down to it. */
int RF(health_wants_anchor)(RF(watched) *t);

/* Before the update: were the outcomes expected? Anchors are judged on their own, other records by their surprise. */
void RF(health_judge)(RF(watched) *t, const rf_real records[], uint32_t count);

/* After the update: widens, restarts or calms down. */
void RF(health_act)(RF(watched) *t);
