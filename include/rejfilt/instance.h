/* A described model for one precision. Included by host.h, once for each. */
#include "detail/expected.h"

/* For real-valued outcomes: an outcome for parameters x, made from a standard normal. For counts: roughly the most likely
   count, which speeds up drawing; the probabilities must then be log-concave. */
typedef rf_real RF(simulate)(const rf_real x[], const rf_real setting[], rf_real normal);

/* The effect of `elapsed` time on the parameters, in the chart: x ← F·x + noise of covariance Q, dim × dim by rows. */
typedef void RF(dynamics)(rf_real elapsed, rf_real F[], rf_real Q[]);

/* Identifies the layout of the structures that a kernel uses. */
#if RF_BITS == 32
#define RF32_LAYOUT                                                                                                    \
    (uint32_t)(sizeof(rf32_task) << 16 ^ sizeof(rf32_tally) << 8 ^ sizeof(rf32_model) ^ sizeof(rf32_kernel) << 24 ^ sizeof(rf_description) << 4)
#else
#define RF64_LAYOUT                                                                                                    \
    (uint32_t)(sizeof(rf64_task) << 16 ^ sizeof(rf64_tally) << 8 ^ sizeof(rf64_model) ^ sizeof(rf64_kernel) << 24 ^ sizeof(rf_description) << 4)
#endif

struct RF(design); /* see design.h */

/* A described model compiled for one precision. */
typedef struct RF(instance) {
    uint32_t layout;                        /* of the headers it was compiled with */
    const rf_description *description;            /* names, ranges, defaults */
    RF(likelihood) *likelihood;             /* P(outcome | x; setting) */
    RF(bound) *bound;                       /* or null */
    RF(simulate) *simulate;                 /* or null */
    const struct RF(design) *design;        /* the model's own designer, or null */
    RF(dynamics) *dynamics;                 /* or null: parameters drift as described */
    const RF(kernel) *kernels;              /* the attempts with the likelihood inlined, for each target; or null */
    RF(block) *block;                       /* many likelihoods at once, or null; then `likelihood` may be null */
    void *data;                             /* argument of the block function */
    uint16_t one_thread;                    /* 1: its functions must run on the caller's thread */
    uint16_t is_checked;                    /* 1: opening a session does not check it; then a block function gives `expected` for the outcome NaN. 2: nor does its first record */
} RF(instance);

/* Writes the described charts to charts[dim]. */
RF_API void RF(described_charts)(const rf_description *description, RF(chart) charts[]);

/* The model of an instance; writes its described charts to charts[dim]. If charts is null, the caller sets the model's
   charts. */
RF_API RF(model) RF(instance_model)(const RF(instance) *instance, RF(chart) charts[]);

/* Computes likelihoods of n candidates to out[n]; x[k * stride + i] is parameter i of candidate k. Uses the model's block
   function, up to 2048 numbers at a time, or its likelihood. At most RF_DESCRIBED_MAX parameters. Refused: a model with neither
   function, or whose function failed; out is then NaN. */
RF_API rf_status RF(model_likelihoods)(const RF(model) *model, const rf_real x[], unsigned stride, uint32_t n, const rf_real setting[],
                                       rf_real outcome, rf_real out[]);

/* The number of possible outcomes 0, 1, ... with these settings; 0: unlimited counts, or real numbers. */
RF_API rf_real RF(outcomes_of)(const rf_description *description, const rf_real setting[]);

/* Does the description allow this outcome? Other than real numbers must be whole and within their range. */
RF_API int RF(outcome_is_possible)(const rf_description *description, const rf_real setting[], rf_real outcome);

/* Tries the model at many places of its parameters' ranges, and with these settings, or with several of their ranges if `setting` is
   null. Likelihoods must be valid and within the bound, and probabilities of whole outcomes must sum to 1. Sessions do this when they
   open, and with the first record. Returns 0, or -1 with one line in `error` that begins with `name`; -1 also if a block function fails. */
RF_API int RF(instance_check)(const RF(instance) *instance, const rf_description *description, const double setting[], const char *name,
                              char *error, size_t size);

/* Draws an outcome for true parameters x (natural units) with the random words at `index`; NaN if the model's function failed. */
RF_API rf_real RF(instance_outcome)(const RF(instance) *instance, const rf_real x[], const rf_real setting[], uint64_t seed,
                                    uint32_t index);

#include "design.h"
