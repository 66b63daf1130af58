/* A simulated world: its truth and its outcomes. */
#ifndef REJFILT_SESSION_WORLD_H
#define REJFILT_SESSION_WORLD_H

#include "session_state.h"

typedef struct rf_worldly {
    const rf_simulation *simulation;
    const rf_session *session;
    uint64_t seed;
    double truth[RF_ROOM]; /* in the chart */
    unsigned events;                /* of the last measurements: bits as in world.h */
} rf_worldly;

/* Sets the first truth. */
void rf_world_begin(rf_worldly *w, const rf_simulation *simulation, const rf_session *session, uint64_t seed);

/* The session asks for the next measurements, from number `first` on; the world moves and answers each. Returns their
   number, or a negative status. */
rf_status rf_world_ask(rf_worldly *w, rf_session *session, long first, rf_record records[]);

/* Adds the truth and the events to a step. */
void rf_world_show(const rf_worldly *w, rf_step *step);

#endif
