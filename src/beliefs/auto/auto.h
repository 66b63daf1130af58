/* A belief that chooses its own kind, for tests and experiments. */
#ifndef REJFILT_AUTO_H
#define REJFILT_AUTO_H

#include "rejfilt/belief.h"

/* What its mixture has lost since the prior, in nats. */
double rf_auto_loss(const rf_belief *belief);

#endif
