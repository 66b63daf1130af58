/* The built-in precession model compiled as a user's model, to measure the difference in speed. */
#include "../../src/models/precession.h"
