/* Included after a model file, with RF_MODEL_NAME set: the attempts with the model inlined, for one precision and the target
   RF_KERNEL_TARGET that this file is compiled for; without one, that is this machine. */
#if __INCLUDE_LEVEL__ == 0
#include "alone.h"
#endif
#include "../host.h"

#define RF_KERNEL_PASTE_(name, bits, target) rf##bits##_kernel_##name##_##target
#define RF_KERNEL_PASTE(name, bits, target) RF_KERNEL_PASTE_(name, bits, target)

#ifndef RF_KERNEL_TARGET
#define RF_KERNEL_TARGET native
#endif

#ifdef RF_HAS_BOUND
#define RF_KERNEL_BOUND bound
#else
#define RF_KERNEL_BOUND(setting, outcome) (description.is_log ? RF_C(0.0) : RF_C(1.0))
#endif

#ifndef RF_KERNEL_DIM_MAX /* a model of more parameters than can be described sets this itself */
#define RF_KERNEL_DIM_MAX RF_DESCRIBED_MAX
#endif

#define RF_KERNEL RF_KERNEL_PASTE(RF_MODEL_NAME, RF_PRECISION, RF_KERNEL_TARGET)
#define RF_KERNEL_PAIRS 64u
#define RF_KERNEL_STORAGE
#define RF_KERNEL_DIM ((unsigned)description.dim)
#define RF_KERNEL_IS_LOG (description.is_log)
#define RF_KERNEL_LIKELIHOOD likelihood

RF(run) RF_KERNEL;
#include "attempts.h"
