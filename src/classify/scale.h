/* Real numbers to bytes. */
#ifndef REJFILT_SCALE_H
#define REJFILT_SCALE_H

#include "table.h"

typedef enum rf_scaling { RF_SCALE_AUTO, RF_SCALE_SHARED, RF_SCALE_EACH } rf_scaling;

/* Turns the numbers of both tables (the test's may have no rows) into bytes with what `train` says alone.
   SHARED: one linear map for all features, as for the pixels of images; it is the identity where numbers
   are bytes and reach the upper half. EACH: every feature is centred and divided by its standard deviation,
   40 steps of a byte, where standard deviation and mean are those of values held within the 5th and 95th
   percentile; values 3.2 standard deviations out become 0 or 255. AUTO is SHARED for images and for tables
   of which most features that vary span nearly the range of all (wild values aside); *used says which.
   Returns 0, or -1 with a message. */
int rf_scale(rf_table *train, rf_table *test, rf_scaling wanted, rf_scaling *used, char *error, size_t size);

#endif
