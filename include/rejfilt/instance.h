/* A described model for one precision. Included by host.h, once for each. */
#include "precision.h"

/* An outcome for parameters x, given a standard normal. Only models with real-valued outcomes. */
typedef rf_real RF(simulate)(const rf_real x[], const rf_real setting[], rf_real normal);

/* What `elapsed` does to the parameters, in the chart: x ← F·x + noise of covariance Q, dim × dim by rows. */
typedef void RF(dynamics)(rf_real elapsed, rf_real F[], rf_real Q[]);

/* A number that differs when the structures that a kernel works on differ. */
#if RF_BITS == 32
#define RF32_LAYOUT (uint32_t)(sizeof(rf32_task) << 16 ^ sizeof(rf32_tally) << 8 ^ sizeof(rf32_model) ^ sizeof(rf32_fleet) << 24)
#else
#define RF64_LAYOUT (uint32_t)(sizeof(rf64_task) << 16 ^ sizeof(rf64_tally) << 8 ^ sizeof(rf64_model) ^ sizeof(rf64_fleet) << 24)
#endif

struct RF(design); /* see design.h */

/* A described model compiled for one precision. */
typedef struct RF(instance) {
    uint32_t layout;                        /* of the headers it was compiled with */
    const rf_description *about;            /* names, ranges, defaults */
    RF(likelihood) *likelihood;             /* P(outcome | x; setting) */
    RF(bound) *bound;                       /* or null */
    RF(simulate) *simulate;                 /* or null */
    const struct RF(design) *design;        /* the model's own designer, or null */
    RF(dynamics) *dynamics;                 /* or null: parameters wander as the description says */
    const RF(kernels) *kernels;             /* the attempts with it inlined, or null */
} RF(instance);

/* The charts that a description has, to charts[dim]. */
RF_API void RF(described_charts)(const rf_description *about, RF(chart) charts[]);

/* The model of an instance with its described charts, which are written to charts[dim]. */
RF_API RF(model) RF(instance_model)(const RF(instance) *instance, RF(chart) charts[]);

/* Draws an outcome for the true parameters x (natural units), with the words at `index`. */
RF_API rf_real RF(instance_outcome)(const RF(instance) *instance, const rf_real x[], const rf_real setting[], uint64_t seed,
                                    uint32_t index);

#include "design.h"
