/* A placeholder model, for editors that open a header which is normally included after a model file. */
#ifndef REJFILT_ALONE_H
#define REJFILT_ALONE_H

#include "../model.h"

#undef RF_MODEL_NAME
#define RF_MODEL_NAME alone

static const rf_description description = {.name = "alone", .dim = 1, .settings = 1};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome) { return outcome > x[0] * setting[0]; }

#endif
