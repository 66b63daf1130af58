/* Included first by sources that are compiled for float and for double: defines rf_real, RF(name), RF_C(1.0) for RF_PRECISION,
   32 or 64, set by the compiler's command or an includer. The default is double. */
#ifndef REJFILT_REAL_H
#define REJFILT_REAL_H

#ifndef RF_PRECISION
#define RF_PRECISION 64
#endif
#include "../rejfilt.h"

#endif
