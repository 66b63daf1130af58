#include "tracking.h"
void ramsey_rows(void) {}
