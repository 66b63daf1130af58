/* Does the belief still hold the truth? What outcomes say, and what is done about it. Compiled per precision. */
#ifndef REJFILT_DESIGN_HEALTH_H
#define REJFILT_DESIGN_HEALTH_H

#include "rejfilt/health.h"
#include "rejfilt/host.h"

/* What the tests have found so far. All numbers up to `down` are part of a checkpoint. */
typedef struct RF(watch) {
    rf_health state;            /* what is thought of the belief now */
    uint32_t next_anchor;       /* experiments until one is due */
    uint32_t again;             /* the next experiment is one */
    uint32_t boost;             /* anchors that come sooner, after a restart */
    uint32_t anchors;           /* so far */
    uint32_t widened, restarts; /* since the start */
    rf_real score;              /* ln of how much better chance explains the latest tests than the belief does; from 0 */
    rf_real surprise, variance; /* running sum of surprise less what was expected of it, and its variance */
    rf_real chance;             /* the score of records that are no anchors; or, of anchors, ln of how much better twice as many failures explain them */
    rf_real run, latest;        /* ln of the probability of the latest outcomes, which were all alike; 0: none yet; and that outcome */
    rf_real home[RF_ROOM]; /* where the belief has been while tests were passed: restarts begin there */
    rf_real up[RF_ROOM], down[RF_ROOM]; /* ln of how much better a truth above, or below, or with anchors one that moves up or down, explains how the mean has moved; from 0 */
    int32_t verdict;            /* of the latest test: 1 failed, -1 passed, 0 none */
    int32_t is_anchored;        /* it was an anchor */
    rf_real odds;               /* of the latest outcome, if its move is to be judged; else 0 */
    rf_real mean[RF_ROOM], sd[RF_ROOM]; /* before it */
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
    uint32_t is_still; /* nothing drifts */
    const rf_real *usual_sd; /* in the chart: the prior's, or what the drift needs */
    const rf_real *widest_sd; /* no belief is wider: RF_HEALTH_CAP of that; on a circle no more than evenly around it */
    void *self;              /* the belief, and what is needed of it: */
    uint64_t seed;
    uint32_t updates;
    RF(draw) *draw;
    void (*draws)(const void *self, uint32_t count, uint32_t purpose, rf_real x[]); /* the first ones, one after the other */
    void (*moments)(const void *self, rf_real mean[], rf_real sd[]); /* in the chart */
    void (*stretch)(void *self, const rf_real factor[]);
    void (*place)(void *self, const rf_real mean[], const rf_real sd[]); /* becomes a Gaussian there */
} RF(watched);

#define RF_HEALTH_CAP 2.99 /* of the usual standard deviation, */
#define RF_HEALTH_ROUND 0.28867513459481287 /* 1/sqrt(12): or of the period. A Gaussian of several turns learns nothing */

/* A watch that has seen nothing: at this mean, with an anchor after so many experiments. */
void RF(health_begin)(RF(watch) *watch, const rf_real mean[], unsigned dim, uint32_t anchor_every);

/* Should the next experiment be an anchor? Counts down to it. 0, or its number from 1 on. */
int RF(health_wants_anchor)(RF(watched) *t);

/* Outcomes have stayed the same: how probable should another one be in the experiment of this number? 0: any. */
rf_real RF(health_wants_other)(const RF(watched) *t, uint32_t number);

/* What is to be done with the records. */
enum {
    RF_HEALTH_HOLD = 1, /* keep the belief as it was before these records, once they are learnt from */
    RF_HEALTH_BACK = 2, /* a fault: the belief becomes the one that was kept; only time has passed since */
    RF_HEALTH_SKIP = 4  /* a fault: do not learn from the records */
};

/* Before the update: were the outcomes expected? Anchors are judged on their own, other records by their surprise, and
   outcomes that do not vary as they should are a fault. Returns bits of the above. */
unsigned RF(health_judge)(RF(watched) *t, const rf_real records[], uint32_t count);

/* After the update: has a test failed? If so, health_act will change the belief. */
int RF(health_fails)(RF(watched) *t);

/* After the update: widens, restarts or calms down. */
void RF(health_act)(RF(watched) *t);

/* The failed tests were false alarms, and the belief is what it would be without them: the tests begin again. */
void RF(health_acquit)(RF(watched) *t);

/* Holds the belief below the cap. */
void RF(health_clip)(RF(watched) *t);

#endif
