/* Included after a model file, with RF_MODEL_NAME and RF_KERNEL_ISA set: the attempts with the model
   inlined, for one precision and the instruction set that this file is compiled for. */
#include "host.h"

#include "chart.h"

#define RF_KERNEL_PASTE_(name, bits, isa) rf##bits##_kernel_##name##_##isa
#define RF_KERNEL_PASTE(name, bits, isa) RF_KERNEL_PASTE_(name, bits, isa)

#ifdef RF_HAS_BOUND
#define RF_KERNEL_BOUND bound
#else
#define RF_KERNEL_BOUND(setting, outcome) (description.is_log ? RF_C(0.0) : RF_C(1.0))
#endif

#ifndef RF_KERNEL_DIM_MAX /* a model of more parameters than can be described sets this itself */
#define RF_KERNEL_DIM_MAX RF_NAMES_MAX
#endif

#define RF_KERNEL RF_KERNEL_PASTE(RF_MODEL_NAME, RF_PRECISION, RF_KERNEL_ISA)
#define RF_KERNEL_PAIRS 64u
#define RF_KERNEL_STORAGE
#define RF_KERNEL_DIM ((unsigned)description.dim)
#define RF_KERNEL_IS_LOG (description.is_log)
#define RF_KERNEL_LIKELIHOOD likelihood

RF(run) RF_KERNEL;
#include "attempts.h"
