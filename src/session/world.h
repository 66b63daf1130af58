/* A world as a simulation has it: its truth, and what it answers. */
#ifndef REJFILT_SESSION_WORLD_H
#define REJFILT_SESSION_WORLD_H

#include "session_state.h"

typedef struct rf_worldly {
    const rf_simulation *simulation;
    const rf_session *session;
    uint64_t seed;
    double truth[RF_DESCRIBED_MAX]; /* in the chart */
    unsigned events;                /* of the latest measurements: bits as in world.h */
} rf_worldly;

/* At its first truth. */
void rf_world_begin(rf_worldly *w, const rf_simulation *simulation, const rf_session *session, uint64_t seed);

/* Measurements first .. first + count − 1: for each of them the world moves and answers. */
void rf_world_measure(rf_worldly *w, long first, uint32_t count, rf_record records[]);

#endif
