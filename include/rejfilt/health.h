/* Health: does the belief still contain the truth? */
#ifndef REJFILT_HEALTH_H
#define REJFILT_HEALTH_H

#include "rejfilt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The verdict of the tests of a belief. */
typedef enum rf_health {
    RF_TRACKING = 0,   /* the latest test was passed */
    RF_SUSPICIOUS = 1, /* outcomes are less likely than they should be */
    RF_RECOVERING = 2, /* widened, until the tests pass again */
    RF_LOST = 3,       /* widening did not help: the belief restarted near its long-term average, or the caller stops */
    RF_FAULT = 4       /* the outcomes vary too little: they are ignored until they vary again */
} rf_health;

/* "tracking", "suspicious", "recovering", "lost", "fault". */
RF_API const char *rf_health_name(rf_health health);

/* What to do when tests of the belief's health fail. */
typedef enum rf_on_lost {
    RF_ON_LOST_RESTART = 0, /* widen; if that does not help, restart with a wide belief around its long-term average */
    RF_ON_LOST_WIDEN = 1,   /* widen, as often as needed */
    RF_ON_LOST_STOP = 2,    /* widen; if that does not help, report RF_LOST: the caller stops */
    RF_ON_LOST_IGNORE = 3,  /* no tests and no anchors */
    RF_ON_LOST_WATCH = 4    /* tests and anchors, but no reaction */
} rf_on_lost;

#ifdef __cplusplus
}
#endif
#endif
