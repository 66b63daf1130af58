/* rejfilt: Bayesian inference by rejection filtering, in a kilobit of memory. Freestanding C11.

   A filter is a Gaussian: a mean and a lower-triangular factor L with covariance L·Lᵀ. To learn
   from evidence E it makes m attempts: draw x from the Gaussian, accept it with probability
   P(E|x)/κ. The Gaussian becomes that of the accepted x. Nothing else is kept.

       RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(1)];      // yours; nothing is allocated
       rf32_filter *filter;
       rf32_filter_init(&filter, memory, sizeof memory, 1, seed);
       rf32_prior_box(filter, &model, low, high);                  // or rf32_prior_gaussian
       for (;;) {
           float record[] = {setting..., outcome};                 // one measurement
           rf32_diffuse(filter, rate, elapsed);                    // if the parameter drifts
           rf32_update(filter, &model, record, 1, &options, NULL, &report);
       }

   Each name RF(x) in filter.h exists twice: rf32_x on float and rf64_x on double. Functions return
   an rf_status: 0 is fine, negative means refused and nothing changed, positive bits are notes. */
#ifndef REJFILT_H
#define REJFILT_H

/* The version of these headers. */
#define RF_VERSION "0.1.0"

#include "port.h"

/* IWYU pragma: begin_exports */
#include "philox.h"
#include "math.h"
/* IWYU pragma: end_exports */

#ifdef __cplusplus
extern "C" {
#endif

/* What a call did: 0 is fine, negative means refused and nothing changed, positive bits are notes. */
typedef int rf_status;

/* Every status. Notes are bits and add up. */
enum {
#define RF_STATUS(name, value, text) name = value, /* NOLINT(bugprone-macro-parentheses): numbers alone */
#include "status.def"
#undef RF_STATUS
    RF_STATUS_LIST_END = 1024 /* no status */
};

/* The message of a refusal, or of the lowest note in `status`. Never null. */
RF_API const char *rf_status_text(rf_status status);

#ifndef RF_DIM_MAX
#define RF_DIM_MAX 4096u             /* parameters of one filter; a firmware may want 1 */
#endif
#define RF_ATTEMPTS_MAX 0x7fffffffu  /* attempts of one update; the tallies cannot overflow below it */

/* Numbers in a lower triangle of that many rows. */
#define RF_TRIANGLE(dim) ((size_t)(dim) * ((size_t)(dim) + 1) / 2)

/* Bytes of a tally and of a filter; use RF32_FILTER_BYTES(dim) and its like. One parameter needs no
   workspace; more need 5 vectors for an attempt, and 2 triangles and 4 vectors for an update. */
#define RF_ROUND8_(bytes) (((bytes) + 7) / 8 * 8)
#define RF_MORE_(dim, count) ((dim) > 1 ? (count) : 0)
#define RF_SUMS_(dim) (8 * ((size_t)(dim) + RF_TRIANGLE(dim)))
#define RF_TALLY_BYTES_(dim, head, real) ((head) + RF_SUMS_(dim) + RF_ROUND8_((real) * RF_MORE_(dim, 5 * (size_t)(dim))))
#define RF_STATE_(dim) ((size_t)(dim) + RF_TRIANGLE(dim) + RF_MORE_(dim, 2 * RF_TRIANGLE(dim) + 4 * (size_t)(dim)))
#define RF_FILTER_BYTES_(dim, head, real) (8 + RF_TALLY_BYTES_(dim, head, real) + RF_ROUND8_((real) * RF_STATE_(dim)))

/* Before an array of bytes: as a filter's memory must be aligned. */
#if defined(__cplusplus)
#define RF_ALIGNED alignas(8)
#else
#define RF_ALIGNED _Alignas(8)
#endif

/* The space a parameter lives in. The filter is Gaussian in the chart; models see natural values. */
typedef enum rf_chart_kind {
    RF_REAL = 0,     /* natural = y */
    RF_POSITIVE = 1, /* natural = exp(y) */
    RF_BOUNDED = 2,  /* natural = low + (high - low)·Φ(y): a uniform prior is exactly N(0, 1) */
    RF_PERIODIC = 3  /* natural = y, modulo high - low, in [low, high) */
} rf_chart_kind;

/* Where candidates come from, and what becomes of them. */
typedef enum rf_sampler {
    RF_REJECT = 0,  /* independent draws, accepted or not: the paper's method, and the reference */
    RF_LATTICE = 1, /* a randomly shifted lattice of draws, accepted or not: less sampling error */
    RF_WEIGHT = 2   /* the lattice, each draw weighted by its likelihood: least, for small m */
} rf_sampler;

/* What a firmware does without is a constant there, and the code for it is gone: with RF_DIM_MAX 1 the number of
   parameters, with RF_NO_LATTICE the sampler (the lattice is 8 KB of table, and weights are summed in double). */
#define RF_DIM(dim) (RF_DIM_MAX == 1 ? 1u : (unsigned)(dim))
#if defined(RF_NO_LATTICE)
#define RF_SAMPLER_LAST RF_REJECT
#else
#define RF_SAMPLER_LAST RF_WEIGHT
#endif
#define RF_SAMPLER(sampler) (RF_SAMPLER_LAST == RF_REJECT ? RF_REJECT : (sampler))

#define RF_FLEET_LANES 64u /* filters that a kernel updates side by side */

/* Instruction sets that kernels are compiled for. */
typedef enum rf_isa {
    RF_ISA_BASELINE = 0, /* what every CPU of the architecture has */
    RF_ISA_AVX2 = 1,     /* x86 with AVX2 */
    RF_ISA_AVX512 = 2,   /* x86 with AVX-512 BW, DQ and VL */
    RF_ISA_COUNT = 3     /* how many there are */
} rf_isa;

#define RF_BITS 32
#include "filter.h"
#undef RF_BITS
#define RF_BITS 64
#include "filter.h"
#undef RF_BITS

#ifdef __cplusplus
}
#endif

/* A source file that is compiled once per precision sets RF_PRECISION and writes rf_real, RF(x). */
#if defined(RF_PRECISION)
#define RF_BITS RF_PRECISION
#else
#define RF_BITS 0
#endif
#include "precision.h"
#undef RF_BITS

#endif
