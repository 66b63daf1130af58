/* A world as a simulation has it: its truth, and what it answers. */
#ifndef REJFILT_SESSION_WORLD_H
#define REJFILT_SESSION_WORLD_H

#include "session_state.h"

typedef struct rf_worldly {
    const rf_simulation *simulation;
    const rf_session *session;
    uint64_t seed;
    double truth[RF_ROOM]; /* in the chart */
    unsigned events;                /* of the latest measurements: bits as in world.h */
} rf_worldly;

/* At its first truth. */
void rf_world_begin(rf_worldly *w, const rf_simulation *simulation, const rf_session *session, uint64_t seed);

/* The session asks for the measurements that are next, from number `first` on, and the world moves and answers each.
   Returns how many they are, or a refusal. */
rf_status rf_world_ask(rf_worldly *w, rf_session *session, long first, rf_record records[]);

/* Adds the truth, and what happened, to what the session made of them. */
void rf_world_show(const rf_worldly *w, rf_step *step);

#endif
