/* A belief that chooses its own kind, for tests and experiments. */
#ifndef REJFILT_AUTO_H
#define REJFILT_AUTO_H

#include "rejfilt/belief.h"

/* The nats that its mixture has lost since the prior. */
double rf_auto_loss(const rf_belief *belief);

#endif
