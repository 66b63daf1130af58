/* Simulated worlds: how the truth and its measurements differ from a session's model. */
#ifndef REJFILT_WORLD_H
#define REJFILT_WORLD_H

#include "belief.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RF_EVENTS_MAX = 8 }; /* most jumps, and most outages, of a world */

/* The truth jumps. */
typedef struct rf_jump {
    unsigned parameter; /* whose truth */
    double low, high;   /* size in the chart; if they differ, drawn between them with random sign */
    long at;            /* the jump comes before this measurement, counted from 1 */
    long every;         /* if > 0: random jumps instead, one per so many measurements on average */
} rf_jump;

/* What a failed detector returns. */
typedef enum rf_outage_kind {
    RF_OUTAGE_STUCK,   /* always the same outcome */
    RF_OUTAGE_COIN,    /* uniformly random outcomes */
    RF_OUTAGE_MISSING, /* no outcome; time passes */
    RF_OUTAGE_SWAPPED  /* another outcome than the right one: of two, the labels are exchanged */
} rf_outage_kind;

/* The detector fails for a while. */
typedef struct rf_outage {
    rf_outage_kind kind; /* what it returns */
    double outcome;  /* of a stuck detector */
    double flips;    /* share of outcomes that differ from it */
    long at, length; /* first measurement, from 0, and number of measurements */
} rf_outage;

/* A world. All zeros: the world follows the session's prior, drift and model. */
typedef struct rf_world {
    uint32_t jumps, outages;         /* used entries of the arrays below */
    rf_jump jump[RF_EVENTS_MAX];     /* of the truth */
    rf_outage outage[RF_EVENTS_MAX]; /* of the detector */
    uint32_t has_drift, has_truth;    /* bit i: parameter i has its own drift, or its own truth */
    double drift[RF_DESCRIBED_MAX];   /* standard deviation of a step, in the chart */
    rf_motion motion[RF_DESCRIBED_MAX]; /* other motions than a walk */
    rf_prior truth[RF_DESCRIBED_MAX]; /* distribution of the first truth; a Gaussian of width 0 is a fixed value */
    double flips;                     /* share of outcomes that are misread */
    double blind;                     /* share of random outcomes: 1 − contrast */
    double decay;                     /* 1/T2: after a time t a share 1 − exp(−t · decay) of outcomes is random */
} rf_world;

/* Events before a measurement: bits of rf_step.events. */
enum {
    RF_EVENT_JUMP = 1,   /* the truth jumped */
    RF_EVENT_OUTAGE = 2, /* the detector failed */
    RF_EVENT_BACK = 4,   /* the detector works again */
    RF_EVENT_OUT = 8     /* the detector is failing */
};

#ifdef __cplusplus
}
#endif
#endif
