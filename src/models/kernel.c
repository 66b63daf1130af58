/* The attempts with one model's likelihood inlined, for one precision and one instruction set:
   RF_MODEL_FILE, RF_MODEL_NAME, RF_PRECISION, RF_KERNEL_ISA, and the compiler's flags for it. */
#include RF_MODEL_FILE
#include "rejfilt/instantiate_kernel.h"
