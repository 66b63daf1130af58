/* Worlds for simulations: where the truth and its measurements differ from what a session believes of them. */
#ifndef REJFILT_WORLD_H
#define REJFILT_WORLD_H

#include "belief.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RF_EVENTS_MAX = 8 }; /* jumps, and outages, of a world */

/* The truth jumps. */
typedef struct rf_jump {
    unsigned parameter; /* whose truth */
    double low, high;   /* the size, in the chart; where they differ, it is drawn between them, up or down */
    long at;            /* before this measurement, from 1; */
    long every;         /* or, when > 0, before one measurement of so many on average, at random */
} rf_jump;

/* What comes instead of measurements. */
typedef enum rf_outage_kind {
    RF_OUTAGE_STUCK,  /* always the same outcome */
    RF_OUTAGE_COIN,   /* any outcome, each as likely as the others */
    RF_OUTAGE_MISSING /* none: time passes */
} rf_outage_kind;

/* The detector fails for a while. */
typedef struct rf_outage {
    rf_outage_kind kind; /* what it does then */
    double outcome;  /* at which it is stuck */
    double flips;    /* share of the outcomes that are another all the same */
    long at, length; /* first measurement, from 0, and how many */
} rf_outage;

/* A world. One of zeros is what the session believes: its prior, its drift, its model. */
typedef struct rf_world {
    uint32_t jumps, outages; /* how many of these: */
    rf_jump jump[RF_EVENTS_MAX];     /* of the truth */
    rf_outage outage[RF_EVENTS_MAX]; /* of the detector */
    uint32_t has_drift, has_truth;    /* bit i: parameter i has its own of these: */
    double drift[RF_DESCRIBED_MAX];   /* standard deviation of a step, in the chart */
    rf_motion motion[RF_DESCRIBED_MAX]; /* and how it moves, where that is no walk */
    rf_prior truth[RF_DESCRIBED_MAX]; /* what its first truth is drawn from; a Gaussian of width 0 is a number */
    double flips;                     /* share of outcomes that are read as another one */
    double blind;                     /* share of outcomes that say nothing: 1 − contrast */
    double decay;                     /* 1/T2: of outcomes after a time t, 1 − exp(−t · decay) say nothing */
} rf_world;

/* What happened before a measurement: bits of rf_step.events. */
enum {
    RF_EVENT_JUMP = 1,   /* the truth jumped */
    RF_EVENT_OUTAGE = 2, /* the detector failed */
    RF_EVENT_BACK = 4,   /* it works again */
    RF_EVENT_OUT = 8     /* it does not work */
};

#ifdef __cplusplus
}
#endif
#endif
