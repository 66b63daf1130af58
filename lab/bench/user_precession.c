/* The built-in precession model as a user would bring it, to measure what that costs. */
#include "../../src/models/precession.h"
