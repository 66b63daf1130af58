#include "tracking.h"
void linear_rows(void) {}
