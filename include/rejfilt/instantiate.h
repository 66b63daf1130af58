/* Included after a model file, with RF_MODEL_NAME set: makes its instance for one precision. The
   kernels come from instantiate_kernel.h, compiled for each instruction set; with RF_NO_KERNELS there
   are none, and all engines go through the function pointer. */
#include "host.h"

#define RF_LAYOUT_OF__(bits) RF##bits##_LAYOUT
#define RF_LAYOUT_OF(bits) RF_LAYOUT_OF__(bits)
#define RF_PASTE_(name, bits) rf##bits##_model_##name
#define RF_PASTE(name, bits) RF_PASTE_(name, bits)
#define RF_KERNEL_PASTE_(name, bits, isa) rf##bits##_kernel_##name##_##isa
#define RF_KERNEL_PASTE(name, bits, isa) RF_KERNEL_PASTE_(name, bits, isa)

static rf_real call_likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    return likelihood(x, setting, outcome);
}

#ifdef RF_HAS_BOUND
static rf_real call_bound(const rf_real setting[], rf_real outcome) { return bound(setting, outcome); }
#else
#define call_bound 0
#endif

#ifdef RF_HAS_SIMULATE
static rf_real call_simulate(const rf_real x[], const rf_real setting[], rf_real normal)
{
    return simulate(x, setting, normal);
}
#else
#define call_simulate 0
#endif

#ifdef RF_HAS_DESIGN
static void call_design(const RF(design_input) *in, rf_real setting[]) { design(in, setting); }
static const RF(design) own_design = {"model", call_design, RF_HAS_DESIGN, 0};
#define OWN_DESIGN &own_design
#else
#define OWN_DESIGN 0
#endif

#ifdef RF_HAS_DYNAMICS
static void call_dynamics(rf_real elapsed, rf_real F[], rf_real Q[]) { dynamics(elapsed, F, Q); }
#else
#define call_dynamics 0
#endif

#ifndef RF_NO_KERNELS
#define RF_FLEET_PASTE_(name, bits, isa) rf##bits##_fleet_##name##_##isa
#define RF_FLEET_PASTE(name, bits, isa) RF_FLEET_PASTE_(name, bits, isa)
#ifdef RF_ONE_ISA /* compiled for this machine alone */
#define RF_KERNEL_OF(isa) RF_KERNEL_PASTE(RF_MODEL_NAME, RF_PRECISION, 0)
#define RF_FLEET_OF(isa) RF_FLEET_PASTE(RF_MODEL_NAME, RF_PRECISION, 0)
#else
#define RF_KERNEL_OF(isa) RF_KERNEL_PASTE(RF_MODEL_NAME, RF_PRECISION, isa)
#define RF_FLEET_OF(isa) RF_FLEET_PASTE(RF_MODEL_NAME, RF_PRECISION, isa)
#endif
RF(run) RF_KERNEL_OF(0), RF_KERNEL_OF(1), RF_KERNEL_OF(2);
RF(run_lanes) RF_FLEET_OF(0), RF_FLEET_OF(1), RF_FLEET_OF(2);
static const RF(kernels) kernels = {{RF_KERNEL_OF(0), RF_KERNEL_OF(1), RF_KERNEL_OF(2)}, {RF_FLEET_OF(0), RF_FLEET_OF(1), RF_FLEET_OF(2)}};
#define RF_KERNELS (&kernels)
#else
#define RF_KERNELS 0
#endif

extern const RF(instance) RF_PASTE(RF_MODEL_NAME, RF_PRECISION);
const RF(instance) RF_PASTE(RF_MODEL_NAME, RF_PRECISION) = {RF_LAYOUT_OF(RF_PRECISION), &description, call_likelihood, call_bound, call_simulate,
                                                                       OWN_DESIGN, call_dynamics, RF_KERNELS};
