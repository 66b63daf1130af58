/* Included after a model file, with RF_MODEL_NAME set: defines its instance for one precision. The kernels come from
   instantiate_kernel.h, compiled for each of RF_TARGETS, or for this machine. With RF_NO_KERNELS there are none, and
   all engines call the function pointer. */
#if __INCLUDE_LEVEL__ == 0
#include "alone.h"
#endif
#include "../host.h"
#include "instantiate_expected.h"

#define RF_LAYOUT_OF__(bits) RF##bits##_LAYOUT
#define RF_LAYOUT_OF(bits) RF_LAYOUT_OF__(bits)
#define RF_PASTE_(name, bits) rf##bits##_model_##name
#define RF_PASTE(name, bits) RF_PASTE_(name, bits)
#define RF_KERNEL_PASTE_(name, bits, target) rf##bits##_kernel_##name##_##target
#define RF_KERNEL_PASTE(name, bits, target) RF_KERNEL_PASTE_(name, bits, target)
#define RF_BLOCK_PASTE_(name, bits, target) rf##bits##_block_##name##_##target
#define RF_BLOCK_PASTE(name, bits, target) RF_BLOCK_PASTE_(name, bits, target)

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
#ifndef RF_DESIGNING /* weak: a program linked with the library has its own */
#define RF_DESIGNING __attribute__((weak))
#include "designing.h"
#endif
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
#ifndef RF_TARGETS /* RF_TARGET(name) for each target */
#define RF_TARGETS RF_TARGET(native)
#endif
#define RF_TARGET(name)                                        \
    RF(run) RF_KERNEL_PASTE(RF_MODEL_NAME, RF_PRECISION, name); \
    RF(block) RF_BLOCK_PASTE(RF_MODEL_NAME, RF_PRECISION, name);
RF_TARGETS
#undef RF_TARGET
#ifdef RF_MODEL_SOURCE
#ifndef RF_MODEL_OPTIONS
#define RF_MODEL_OPTIONS ""
#endif
#ifndef RF_MODEL_KEY
#define RF_MODEL_KEY ""
#endif
static const rf_source source = {RF_MODEL_SOURCE, RF_MODEL_OPTIONS, RF_MODEL_KEY};
#define RF_SOURCES {"source", 0, 0, &source},
#else
#define RF_SOURCES
#endif
#define RF_TARGET(name) \
    {#name, RF_KERNEL_PASTE(RF_MODEL_NAME, RF_PRECISION, name), RF_BLOCK_PASTE(RF_MODEL_NAME, RF_PRECISION, name), 0},
static const RF(kernel) kernels[] = {RF_TARGETS RF_SOURCES{0, 0, 0, 0}};
#undef RF_TARGET
#define RF_KERNELS kernels
#else
#define RF_KERNELS 0
#endif

extern const RF(instance) RF_PASTE(RF_MODEL_NAME, RF_PRECISION);
const RF(instance) RF_PASTE(RF_MODEL_NAME, RF_PRECISION) = {.layout = RF_LAYOUT_OF(RF_PRECISION),
                                                            .description = &description,
                                                            .likelihood = call_likelihood,
                                                            .bound = call_bound,
                                                            .simulate = call_simulate,
                                                            .design = OWN_DESIGN,
                                                            .dynamics = call_dynamics,
                                                            .kernels = RF_KERNELS};
