/* What a source file begins with that is written once and compiled for float and for double: rf_real, RF(name), RF_C(1.0) for
   RF_PRECISION, 32 or 64, which its compiler's command or an includer sets. Opened alone it is on double. */
#ifndef REJFILT_REAL_H
#define REJFILT_REAL_H

#ifndef RF_PRECISION
#define RF_PRECISION 64
#endif
#include "../rejfilt.h"

#endif
