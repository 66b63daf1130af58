/* Health: does the belief still contain the truth? Tests of the outcomes, and the reaction to failed tests. Compiled
   per precision. */
#ifndef REJFILT_DESIGN_HEALTH_H
#define REJFILT_DESIGN_HEALTH_H

#include "rejfilt/health.h"
#include "rejfilt/host.h"

/* The state of the tests. All fields up to `told` are part of a checkpoint. */
typedef struct RF(watch) {
    rf_health state;            /* present verdict on the belief */
    uint32_t next_anchor;       /* experiments until the next anchor */
    uint32_t again;             /* the next experiment is an anchor */
    uint32_t boost;             /* remaining early anchors after a restart */
    uint32_t anchors;           /* number so far */
    uint32_t widened, restarts; /* numbers since the start */
    rf_real score;              /* ln of how much better chance explains the latest tests than the belief; at least 0 */
    rf_real surprise, variance; /* running sum of surprise minus its expectation, and the variance of that sum */
    rf_real chance;             /* without anchors: score of the records; with anchors: ln of how much better twice the failure rate explains them */
    rf_real run, latest;        /* ln of the probability of the latest run of equal outcomes, 0: no run yet; that outcome */
    rf_real home[RF_ROOM]; /* mean of the belief while tests passed; a restart begins there */
    rf_real up[RF_ROOM], down[RF_ROOM]; /* ln of how much better a truth above or below (with anchors: one that moves up or down) explains the moves of the mean; at least 0 */
    rf_real told[RF_ROOM]; /* what a record usually tells, if outcomes are counts: inverse variance gained */
    int32_t verdict;            /* of the latest test: 1 failed, -1 passed, 0 none */
    int32_t is_anchored;        /* the latest test was an anchor */
    rf_real odds;               /* odds of the latest outcome, if its move will be judged; else 0 */
    rf_real mean[RF_ROOM], sd[RF_ROOM]; /* before that outcome */
} RF(watch);

/* The arguments of the tests. */
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
    const rf_real *widened_sd; /* greatest width after failed tests */
    const rf_real *widest_sd; /* greatest width of a belief: RF_HEALTH_CAP · usual_sd, on a circle at most uniform */
    void *self;              /* the belief, and the operations on it: */
    uint64_t seed;
    uint32_t updates;
    RF(draw) *draw;
    void (*draws)(const void *self, uint32_t count, uint32_t purpose, rf_real x[]); /* draws 0 .. count − 1, in a row */
    void (*moments)(const void *self, rf_real mean[], rf_real sd[]); /* in the chart */
    void (*stretch)(void *self, const rf_real factor[]);
    void (*place)(void *self, const rf_real mean[], const rf_real sd[]); /* makes it a Gaussian in the chart */
} RF(watched);

#define RF_HEALTH_CAP 2.99 /* in units of the usual standard deviation, */
#define RF_HEALTH_ROUND 0.28867513459481287 /* or of the period: 1/sqrt(12). A Gaussian of several turns learns
                                               nothing */

/* A new watch: home at this mean, first anchor after `anchor_every` experiments. */
void RF(health_begin)(RF(watch) *watch, const rf_real mean[], unsigned dim, uint32_t anchor_every);

/* Should the next experiment be an anchor? Counts down. Returns 0, or the anchor's number from 1 on. */
int RF(health_wants_anchor)(RF(watched) *t);

/* The least probability that another outcome should have in the experiment of this number, if outcomes have stayed the
   same. 0: any. */
rf_real RF(health_wants_other)(const RF(watched) *t, uint32_t number);

/* What to do with the records. */
enum {
    RF_HEALTH_HOLD = 1, /* after the update, keep the belief from before these records */
    RF_HEALTH_BACK = 2, /* a fault: restore the kept belief; only time has passed since */
    RF_HEALTH_SKIP = 4  /* a fault: do not update with these records */
};

/* Before the update: were the outcomes to be expected? Tests anchors one by one and other records by their surprise;
   outcomes that fail to vary are a fault. Returns the bits above. */
unsigned RF(health_judge)(RF(watched) *t, const rf_real records[], uint32_t count);

/* After the update: has a test failed? If so, health_act will change the belief. */
int RF(health_fails)(RF(watched) *t);

/* After the update: widens, restarts, or returns to normal. */
void RF(health_act)(RF(watched) *t);

/* The failed tests were false alarms, and the belief is now as if they had not happened: resets the tests. */
void RF(health_acquit)(RF(watched) *t);

/* Limits the belief's width to the cap. */
void RF(health_clip)(RF(watched) *t);

#endif
