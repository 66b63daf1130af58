/* rejfilt: Bayesian inference by rejection filtering, in a kilobit of memory. Freestanding C11.

   A filter is a Gaussian: a mean and a lower-triangular factor L with covariance L·Lᵀ. An update
   with evidence E makes m attempts: draw x from the Gaussian, accept it with probability P(E|x)/κ.
   The new Gaussian has the mean and covariance of the accepted x. Nothing else is kept.

       RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(1)];      // yours; nothing is allocated
       rf32_filter *filter;
       rf32_filter_init(&filter, memory, sizeof memory, 1, seed);
       rf32_prior_box(filter, &model, low, high);                  // or rf32_prior_gaussian
       for (;;) {
           float record[] = {setting..., outcome};                 // one measurement
           rf32_diffuse(filter, rate, elapsed);                    // if the parameter drifts
           rf32_update(filter, &model, record, 1, &options, NULL, &report);
       }

   Everything exists twice: rf32_x on float and rf64_x on double. Functions return an rf_status: 0 is
   fine, negative means refused and nothing changed, positive bits are notes. */
#ifndef REJFILT_H
#define REJFILT_H

/* The version of these headers. */
#define RF_VERSION "0.2.0"

#include "detail/port.h"

/* IWYU pragma: begin_exports */
#include "philox.h"
#include "functions.h"
/* IWYU pragma: end_exports */

#ifdef __cplusplus
extern "C" {
#endif

/* Result of a call: 0 is fine; negative means refused, with nothing changed; positive bits are notes. */
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

/* Alignment of a filter's memory; write it before an array of bytes. */
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

/* How candidates are drawn and judged. */
typedef enum rf_sampler {
    RF_REJECT = 0,  /* independent draws, accepted or not: the paper's method, and the reference */
    RF_LATTICE = 1, /* a randomly shifted lattice of draws, accepted or not: less sampling error */
    RF_WEIGHT = 2   /* the lattice, each draw weighted by its likelihood: least error for small m */
} rf_sampler;

/* A firmware can fix these at compile time, which removes unused code. RF_DIM_MAX 1: one parameter, and models need a
   `likelihood`. RF_NO_LATTICE: RF_REJECT only; this saves the lattice's 8 KB table and sums in double. */
#ifndef RF_DIM
#define RF_DIM(dim) (RF_DIM_MAX == 1 ? 1u : (unsigned)(dim))
#endif
#define RF_BLOCKS (RF_DIM_MAX > 1)
#if defined(RF_NO_LATTICE)
#define RF_SAMPLER_LAST RF_REJECT
#else
#define RF_SAMPLER_LAST RF_WEIGHT
#endif
#ifndef RF_SAMPLER
#define RF_SAMPLER(sampler) (RF_SAMPLER_LAST == RF_REJECT ? RF_REJECT : (sampler))
#endif

/* Files of a program must agree on these: the macros are part of a name, so that the linker refuses a mixture. RF_DIM_MAX is a plain
   number. */
#define RF_NAMED__(name, dim, draws) name##_dim_##dim##draws
#define RF_NAMED_(name, dim, draws) RF_NAMED__(name, dim, draws)
#if defined(RF_NO_LATTICE)
#define RF_DRAWS_ _no_lattice
#else
#define RF_DRAWS_
#endif
#if RF_DIM_MAX == 1
#define rf32_filter_init RF_NAMED_(rf32_filter_init, 1, RF_DRAWS_)
#define rf64_filter_init RF_NAMED_(rf64_filter_init, 1, RF_DRAWS_)
#elif RF_DIM_MAX != 4096 || defined(RF_NO_LATTICE)
#define rf32_filter_init RF_NAMED_(rf32_filter_init, RF_DIM_MAX, RF_DRAWS_)
#define rf64_filter_init RF_NAMED_(rf64_filter_init, RF_DIM_MAX, RF_DRAWS_)
#endif

/* Counts of attempts. */
typedef struct rf_counts {
    uint32_t accepted; /* attempts that were accepted */
    uint32_t above;    /* attempts with a likelihood above κ */
} rf_counts;

/* Where a model's source is, for engines that compile it themselves. */
typedef struct rf_source {
    const char *file;    /* path; a name without slashes is a model of the library */
    const char *options; /* compiler options, separated by spaces */
    const char *key;     /* hash of the file and its includes when it was compiled here; "": the library's own files */
} rf_source;

/* Largest and smallest magnitudes that the filter uses: their squares are representable. EPSILON is the spacing of numbers
   from 1 to 2. */
#define RF32_LIMIT 0x1p60f
#define RF32_TINY 0x1p-60f
#define RF32_EPSILON 0x1p-23f
#define RF64_LIMIT 0x1p500
#define RF64_TINY 0x1p-500
#define RF64_EPSILON 0x1p-52

/* ======== On float: what follows exists twice, and the half on double is made from this one by tools/make_double.py ======== */

/* ---- Models ------------------------------------------------------------------------------ */

/* P(outcome | x; setting), a probability or a density; or its logarithm where the model says so. */
typedef float rf32_likelihood(const float x[], const float setting[], float outcome);

/* The same for n candidates at once: x[i * n + k] is parameter i of candidate k; out[k] is its likelihood. `data` is the
   model's. Return a negative status on failure: the update is then refused. */
typedef rf_status rf32_block(const float x[], uint32_t n, const float setting[], float outcome, float out[], void *data);

/* An upper bound, over all x, of what the likelihood function returns for this record. */
typedef float rf32_bound(const float setting[], float outcome);

/* The coordinates in which one parameter is Gaussian. */
typedef struct rf32_chart {
    rf_chart_kind kind; /* real, positive, bounded or periodic */
    float low, high;    /* bounded and periodic only */
} rf32_chart;

typedef struct rf32_kernel rf32_kernel;

/* A model. Everything it points to remains the caller's and must outlive the calls that use it. */
typedef struct rf32_model {
    rf32_likelihood *likelihood; /* required, unless there is a block function */
    rf32_bound *bound;           /* optional; without it the bound is 1 (its logarithm 0) */
    const rf32_chart *charts;    /* optional, one per parameter; without them all are real */
    uint16_t dim;                /* parameters */
    uint16_t settings;           /* settings per record; a record is the settings, then the outcome */
    uint16_t is_log;             /* 1: the likelihood and bound functions return logarithms */
    uint16_t one_thread;         /* 1: call its functions only on the thread that calls the update */
    const rf32_kernel *kernels;  /* optional, a list: the attempts with this likelihood inlined, for fast engines */
    rf32_block *block;           /* optional: many likelihoods at once, for engines opened by name; required if `likelihood` is null */
    void *data;                  /* argument of the block function */
} rf32_model;

/* ---- State ------------------------------------------------------------------------------- */

/* Sums over the attempts of one update; the same for every engine. In memory int64 z[dim] and zz[RF_TRIANGLE(dim)] follow,
   the sums of z and zzᵀ over accepted attempts, then workspace. All sums are exact, so tallies can be added in any order.
   Counts of bad values saturate at 65535. */
typedef struct rf32_tally {
    union {
        uint64_t over;    /* with RF_REJECT and RF_LATTICE: Σ of excess weights Π max(P/κ, 1) − 1, in units of 2⁻¹⁶ */
        uint64_t entropy; /* with RF_WEIGHT: Σ of −w·ln w over the first 4,096 attempts, in units of 2⁻²⁵ */
    };
    union {
        rf_counts count; /* with RF_REJECT and RF_LATTICE */
        uint64_t weight; /* with RF_WEIGHT: Σ of weights, in units of 2⁻²⁵ */
    };
    float largest;                    /* largest P/κ seen */
    uint32_t update;                  /* number of the update under way or next, from 0 */
    uint16_t dim;                     /* parameters */
    uint16_t nan, negative, infinite; /* attempts with such a likelihood */
    /* on double: uint32_t zero; no padding: equal tallies are equal bytes */
} rf32_tally;

/* A Gaussian, and the tally of the latest update. In memory the tally's sums, mean[dim], factor[RF_TRIANGLE(dim)] and workspace
   follow. Between updates the tally's z hold the rounding errors of the mean (rf32_filter_rest). */
typedef struct rf32_filter {
    uint64_t seed;    /* random numbers depend only on this, the update's number and the attempt's */
    rf32_tally tally; /* of the latest update */
} rf32_filter;

/* Bytes of memory that a tally and a filter of `dim` parameters need, as constants for arrays. */
#define RF32_TALLY_BYTES(dim) RF_TALLY_BYTES_(dim, sizeof(rf32_tally), sizeof(float))
#define RF32_FILTER_BYTES(dim) RF_FILTER_BYTES_(dim, sizeof(rf32_tally), sizeof(float))

/* The same sizes at run time; 0 for a dimension out of range. */
RF_API size_t rf32_filter_bytes(unsigned dim);
RF_API size_t rf32_tally_bytes(unsigned dim);

/* Makes a filter of `dim` parameters in `memory` and stores its address in `*filter`. It is N(0, 1) in chart coordinates
   until it gets a prior. The memory remains the caller's: at least RF32_FILTER_BYTES(dim) bytes, aligned by RF_ALIGNED.
   Nothing needs to be freed. Refused: too little memory, wrong alignment, dim out of range. */
RF_API rf_status rf32_filter_init(rf32_filter **filter, void *memory, size_t bytes, unsigned dim, uint64_t seed);

/* Number of updates so far, refused ones not counted. After 2³² − 1 no more are possible: RF_REFUSED_USED_UP. */
RF_API uint32_t rf32_filter_updates(const rf32_filter *filter);
/* The mean: dim numbers in chart coordinates (rf32_chart_natural converts them). Points into the filter. */
RF_API const float *rf32_filter_mean(const rf32_filter *filter);
/* The rounding error of the mean of parameter i, at most half the spacing of numbers there. The next update adds it, so
   steps smaller than the spacing are not lost. */
RF_API float rf32_filter_rest(const rf32_filter *filter, unsigned i);
/* The factor L of the covariance L·Lᵀ in chart coordinates: RF_TRIANGLE(dim) numbers by rows; row i has i + 1. Points into
   the filter. */
RF_API const float *rf32_filter_factor(const rf32_filter *filter);
/* Standard deviation of parameter i, in chart coordinates. An update never makes it smaller than the spacing of numbers near
   the mean, in the chart or in natural units; it then returns RF_NOTE_COARSE. */
RF_API float rf32_filter_sd(const rf32_filter *filter, unsigned i);
/* Covariance of parameters i and j, in chart coordinates. */
RF_API float rf32_filter_covariance(const rf32_filter *filter, unsigned i, unsigned j);

/* Restores a filter from a checkpoint. `updates` is the number of updates so far: the next one uses the random numbers it
   would have used. `rest` is rf32_filter_rest of every parameter, or NULL for zeros. Refused: values that are not finite, a
   diagonal that is not positive. */
RF_API rf_status rf32_filter_restore(rf32_filter *filter, uint64_t seed, uint32_t updates, const float mean[], const float factor[],
                                     const float rest[]);

/* ---- Priors ------------------------------------------------------------------------------ */

/* Independent parameters with these means and standard deviations, in natural units. Exact for real and periodic charts;
   matches both moments for positive ones, the mean and the slope-scaled width for bounded ones. */
RF_API rf_status rf32_prior_gaussian(rf32_filter *filter, const rf32_model *model, const float mean[], const float sd[]);

/* Uniform between low and high, in natural units. Exact for a bounded chart's own range, to 1e-4 for a whole period;
   otherwise a Gaussian with the same two moments. */
RF_API rf_status rf32_prior_box(rf32_filter *filter, const rf32_model *model, const float low[], const float high[]);

/* Mean and full covariance (dim × dim, by rows) in chart coordinates. Refused: not symmetric, or not positive definite. */
RF_API rf_status rf32_prior_covariance(rf32_filter *filter, const float mean[], const float covariance[]);

/* Computes a factor (RF_TRIANGLE(dim) numbers) of a dim × dim covariance, which may be singular. */
RF_API rf_status rf32_covariance_factor(const float covariance[], unsigned dim, float factor[]);

/* Convert between chart coordinate y and natural value. chart->kind must be valid; out-of-range natural values give NaN or
   ±inf. */
RF_API float rf32_chart_natural(const rf32_chart *chart, float y);
RF_API float rf32_chart_coordinate(const rf32_chart *chart, float natural);

/* ---- Drift ------------------------------------------------------------------------------- */

/* Adds rate · elapsed to every parameter's variance, in chart coordinates: a random walk with variance `rate` per unit of
   time. Refused: a negative rate or time. */
RF_API rf_status rf32_diffuse(rf32_filter *filter, float rate, float elapsed);

/* Adds rate · elapsed to the covariance; `rate` is a dim × dim covariance by rows and may be singular. */
RF_API rf_status rf32_diffuse_covariance(rf32_filter *filter, const float rate[], float elapsed);

/* x ← F·x + noise of covariance Q: both dim × dim by rows; Q may be null for none. */
RF_API rf_status rf32_evolve(rf32_filter *filter, const float F[], const float Q[]);

/* Multiplies the covariance by `factor` > 0. */
RF_API rf_status rf32_widen(rf32_filter *filter, float factor);

/* Multiplies the standard deviation of each parameter by its factor > 0; correlations stay. */
RF_API rf_status rf32_stretch(rf32_filter *filter, const float factor[]);

/* ---- Randomness -------------------------------------------------------------------------- */

/* Draws parameters (natural units) from the posterior to x[dim]. The draw depends only on state, index and purpose. For draws
   of your own use RF_FOR_USER, or RF_FOR_DESIGN for settings. */
RF_API void rf32_filter_draw(const rf32_filter *filter, const rf32_model *model, uint32_t index, uint32_t purpose, float x[]);

/* ---- Engines ----------------------------------------------------------------------------- */

/* All inputs of an attempt. Read-only while attempts run. */
typedef struct rf32_task {
    const rf32_model *model;    /* the likelihood */
    const float *mean, *factor; /* candidates are mean + factor·z: the filter's, or those that whiten the first z */
    const float *records;       /* `count` records of model->settings + 1 numbers */
    const float *wrap;          /* null, or per parameter the period in standard deviations and the cut */
    float rest;                 /* one parameter: the mean's rounding error, for the update only */
    uint64_t seed;              /* of the filter */
    uint32_t count;             /* records */
    uint32_t update;            /* number of the update, from 0 */
    rf_sampler sampler;         /* where candidates come from */
    float kappa;                /* accept with P/κ, in units of the model's bound */
    int no_loss;                /* 1: the sum for the loss may be left out */
} rf32_task;

/* The one operation of an engine: run attempts [begin, begin + count) of the task and add them to the tally. The result of
   attempt i must not depend on the range. Returns RF_OK or a negative status, which the update then returns:
   RF_REFUSED_MODEL if a function of the model failed, else RF_REFUSED_ENGINE. */
typedef rf_status rf32_run(void *self, const rf32_task *task, uint32_t begin, uint32_t count, rf32_tally *tally);

/* Filters of one model to be updated together, each with its own record. See rf32_fleet_update. */
typedef struct rf32_report rf32_report;
typedef struct rf32_options rf32_options;
typedef struct rf32_fleet {
    rf32_filter *const *filters; /* all different */
    const rf32_model *model;     /* shared by all */
    const float *records;        /* one per filter, row by row */
    const rf32_options *options; /* shared by all */
    rf32_report *reports;        /* or null */
    uint32_t count;              /* filters */
} rf32_fleet;

/* An engine's function that updates a checked fleet. It may call rf32_fleet_run on parts of it. */
typedef rf_status rf32_run_fleet(void *self, const rf32_fleet *fleet);

/* Runs the attempts. rf_engine_open makes one on a full computer; rf32_serial exists everywhere. */
typedef struct rf32_engine {
    rf32_run *run;         /* REQUIRED */
    void *self;            /* first argument of run and fleet */
    rf32_run_fleet *fleet; /* OPTIONAL: without it, filters of a fleet are updated one by one */
} rf32_engine;

/* The loop over attempts, and one over likelihoods, with one model's functions inlined, compiled for one target. */
struct rf32_kernel {
    const char *target;      /* "baseline", "avx2", "avx512"; "native", this machine; "source"; null ends a list */
    rf32_run *run;           /* an engine's operation; null for "source" */
    rf32_block *block;       /* OPTIONAL: the likelihood of many candidates, the same bits as one after the other */
    const rf_source *source; /* for "source" only */
};

/* Runs one attempt after the other with the model's `likelihood`. A NULL engine means this one. */
RF_API extern const rf32_engine rf32_serial;

/* For engines that split a range: make an empty tally (in rf32_tally_bytes of memory) for this update; add one tally to
   another. Refused: tallies of different updates or dimensions. */
RF_API void rf32_tally_clear(rf32_tally *tally, unsigned dim, uint32_t update);
RF_API rf_status rf32_tally_add(rf32_tally *total, const rf32_tally *part);

/* ---- Update ------------------------------------------------------------------------------ */

/* Options of an update. Start from rf32_options_default, which suits small machines. For weakly informative records use
   RF_WEIGHT and 128 attempts per parameter (docs/tracking.md). */
struct rf32_options {
    uint32_t attempts;     /* m: attempts of a batch */
    uint32_t accepted_min; /* more batches until this many are accepted (top-up), */
    uint32_t batches_max;  /* at most this many batches */
    float kappa;           /* κ in units of the model's bound; for several records, of the product of their bounds, lowered
                              to the largest product in the first batch of attempts (unless strict) */
    float recovery;        /* r: the covariance grows by the factor 1 + r if too few are accepted */
    float hedge;           /* β of the evidence estimate */
    float shrink;          /* ν: weight, in accepted attempts, of the prior covariance */
    uint32_t strict;       /* 1: Algorithm 1 to the letter: one batch, no ν, no finite-N factor */
    rf_sampler sampler;    /* strict allows only RF_REJECT */
};

/* m = 100, top-up to 20 accepted within 20 batches, κ = bound, r = 0.1, β = ½, ν = 1. A constant of these needs no RAM. */
#define RF32_OPTIONS_DEFAULT {100, 20, 20, 1, 0.1f, 0.5f, 1, 0, RF_REJECT}
RF_FN rf32_options rf32_options_default(void)
{
    rf32_options o = RF32_OPTIONS_DEFAULT;
    return o;
}

/* What an update did. */
struct rf32_report {
    rf_status status;                        /* what the call returned */
    uint32_t update;                         /* number of this update, from 0 */
    uint32_t attempts, accepted;             /* attempts made, top-up included, and those accepted */
    uint32_t above, nan, negative, infinite; /* attempts with such a likelihood */
    float acceptance;                        /* accepted / attempts */
    float largest;                           /* largest likelihood seen, in units of the model's bound, like kappa */
    float kappa;                             /* κ used ... */
    float kappa_next;                        /* ... and what the controller would use next */
    float delta;                             /* δ̂: 1 − δ̂ bounds the overlap with the exact posterior */
    float log_evidence;                      /* hedged estimate of ln P(E), with ln κ */
    float log_evidence_variance;             /* of its sampling error */
    float loss;                              /* nats lost by the Gaussian approximation; 0 if not measured: samplers other than
                                                RF_WEIGHT, over 4,096 attempts, over 16 parameters, wide angles */
};

/* Updates with `count` records at once: rows of settings and outcome. The filter becomes the Gaussian of the accepted
   attempts. `engine` may be NULL (serial), and so may `report`. Returns 0; or notes as positive bits (too few accepted,
   likelihoods above the bound, ...: see status.def); or a negative status, with nothing changed. Allocates nothing. */
RF_API rf_status rf32_update(rf32_filter *filter, const rf32_model *model, const float records[], uint32_t count, const rf32_options *options,
                             const rf32_engine *engine, rf32_report *report);

/* Updates `count` filters of the same model together, filter i with record i; the bits are those of single updates. An
   engine may share them among threads. If the arguments of any filter would be refused, all are refused and unchanged.
   If an engine or a model fails, the filters before the failure stay updated. Otherwise returns the notes of all.
   `reports` has space for all, or is null. */
RF_API rf_status rf32_fleet_update(rf32_filter *const filters[], uint32_t count, const rf32_model *model, const float records[],
                                   const rf32_options *options, const rf32_engine *engine, rf32_report reports[]);

/* For engines: updates a checked fleet, or a part of one, with an inner engine; null is serial. */
RF_API rf_status rf32_fleet_run(const rf32_fleet *fleet, const rf32_engine *engine);

/* ---- Evidence ---------------------------------------------------------------------------- */

/* Running ln P(all evidence) of a model. Start it at {0}. Rounding does not build up. */
typedef struct rf32_evidence {
    float log, carry;               /* ln P is log + carry */
    float variance, variance_carry; /* of its sampling error, also as a sum */
} rf32_evidence;

/* Call after an update: adds its evidence. The difference between two models is the logarithm of their Bayes factor. */
RF_API void rf32_evidence_add(rf32_evidence *evidence, const rf32_report *report);

/* ======== On double: made from the above by tools/make_double.py ======== */

/* ---- Models ------------------------------------------------------------------------------ */

/* P(outcome | x; setting), a probability or a density; or its logarithm where the model says so. */
typedef double rf64_likelihood(const double x[], const double setting[], double outcome);

/* The same for n candidates at once: x[i * n + k] is parameter i of candidate k; out[k] is its likelihood. `data` is the
   model's. Return a negative status on failure: the update is then refused. */
typedef rf_status rf64_block(const double x[], uint32_t n, const double setting[], double outcome, double out[], void *data);

/* An upper bound, over all x, of what the likelihood function returns for this record. */
typedef double rf64_bound(const double setting[], double outcome);

/* The coordinates in which one parameter is Gaussian. */
typedef struct rf64_chart {
    rf_chart_kind kind; /* real, positive, bounded or periodic */
    double low, high;   /* bounded and periodic only */
} rf64_chart;

typedef struct rf64_kernel rf64_kernel;

/* A model. Everything it points to remains the caller's and must outlive the calls that use it. */
typedef struct rf64_model {
    rf64_likelihood *likelihood; /* required, unless there is a block function */
    rf64_bound *bound;           /* optional; without it the bound is 1 (its logarithm 0) */
    const rf64_chart *charts;    /* optional, one per parameter; without them all are real */
    uint16_t dim;                /* parameters */
    uint16_t settings;           /* settings per record; a record is the settings, then the outcome */
    uint16_t is_log;             /* 1: the likelihood and bound functions return logarithms */
    uint16_t one_thread;         /* 1: call its functions only on the thread that calls the update */
    const rf64_kernel *kernels;  /* optional, a list: the attempts with this likelihood inlined, for fast engines */
    rf64_block *block;           /* optional: many likelihoods at once, for engines opened by name; required if `likelihood` is null */
    void *data;                  /* argument of the block function */
} rf64_model;

/* ---- State ------------------------------------------------------------------------------- */

/* Sums over the attempts of one update; the same for every engine. In memory int64 z[dim] and zz[RF_TRIANGLE(dim)] follow,
   the sums of z and zzᵀ over accepted attempts, then workspace. All sums are exact, so tallies can be added in any order.
   Counts of bad values saturate at 65535. */
typedef struct rf64_tally {
    union {
        uint64_t over;    /* with RF_REJECT and RF_LATTICE: Σ of excess weights Π max(P/κ, 1) − 1, in units of 2⁻¹⁶ */
        uint64_t entropy; /* with RF_WEIGHT: Σ of −w·ln w over the first 4,096 attempts, in units of 2⁻²⁵ */
    };
    union {
        rf_counts count; /* with RF_REJECT and RF_LATTICE */
        uint64_t weight; /* with RF_WEIGHT: Σ of weights, in units of 2⁻²⁵ */
    };
    double largest;                   /* largest P/κ seen */
    uint32_t update;                  /* number of the update under way or next, from 0 */
    uint16_t dim;                     /* parameters */
    uint16_t nan, negative, infinite; /* attempts with such a likelihood */
    uint32_t zero; /* no padding: equal tallies are equal bytes */
} rf64_tally;

/* A Gaussian, and the tally of the latest update. In memory the tally's sums, mean[dim], factor[RF_TRIANGLE(dim)] and workspace
   follow. Between updates the tally's z hold the rounding errors of the mean (rf64_filter_rest). */
typedef struct rf64_filter {
    uint64_t seed;    /* random numbers depend only on this, the update's number and the attempt's */
    rf64_tally tally; /* of the latest update */
} rf64_filter;

/* Bytes of memory that a tally and a filter of `dim` parameters need, as constants for arrays. */
#define RF64_TALLY_BYTES(dim) RF_TALLY_BYTES_(dim, sizeof(rf64_tally), sizeof(double))
#define RF64_FILTER_BYTES(dim) RF_FILTER_BYTES_(dim, sizeof(rf64_tally), sizeof(double))

/* The same sizes at run time; 0 for a dimension out of range. */
RF_API size_t rf64_filter_bytes(unsigned dim);
RF_API size_t rf64_tally_bytes(unsigned dim);

/* Makes a filter of `dim` parameters in `memory` and stores its address in `*filter`. It is N(0, 1) in chart coordinates
   until it gets a prior. The memory remains the caller's: at least RF64_FILTER_BYTES(dim) bytes, aligned by RF_ALIGNED.
   Nothing needs to be freed. Refused: too little memory, wrong alignment, dim out of range. */
RF_API rf_status rf64_filter_init(rf64_filter **filter, void *memory, size_t bytes, unsigned dim, uint64_t seed);

/* Number of updates so far, refused ones not counted. After 2³² − 1 no more are possible: RF_REFUSED_USED_UP. */
RF_API uint32_t rf64_filter_updates(const rf64_filter *filter);
/* The mean: dim numbers in chart coordinates (rf64_chart_natural converts them). Points into the filter. */
RF_API const double *rf64_filter_mean(const rf64_filter *filter);
/* The rounding error of the mean of parameter i, at most half the spacing of numbers there. The next update adds it, so
   steps smaller than the spacing are not lost. */
RF_API double rf64_filter_rest(const rf64_filter *filter, unsigned i);
/* The factor L of the covariance L·Lᵀ in chart coordinates: RF_TRIANGLE(dim) numbers by rows; row i has i + 1. Points into
   the filter. */
RF_API const double *rf64_filter_factor(const rf64_filter *filter);
/* Standard deviation of parameter i, in chart coordinates. An update never makes it smaller than the spacing of numbers near
   the mean, in the chart or in natural units; it then returns RF_NOTE_COARSE. */
RF_API double rf64_filter_sd(const rf64_filter *filter, unsigned i);
/* Covariance of parameters i and j, in chart coordinates. */
RF_API double rf64_filter_covariance(const rf64_filter *filter, unsigned i, unsigned j);

/* Restores a filter from a checkpoint. `updates` is the number of updates so far: the next one uses the random numbers it
   would have used. `rest` is rf64_filter_rest of every parameter, or NULL for zeros. Refused: values that are not finite, a
   diagonal that is not positive. */
RF_API rf_status rf64_filter_restore(rf64_filter *filter, uint64_t seed, uint32_t updates, const double mean[], const double factor[],
                                     const double rest[]);

/* ---- Priors ------------------------------------------------------------------------------ */

/* Independent parameters with these means and standard deviations, in natural units. Exact for real and periodic charts;
   matches both moments for positive ones, the mean and the slope-scaled width for bounded ones. */
RF_API rf_status rf64_prior_gaussian(rf64_filter *filter, const rf64_model *model, const double mean[], const double sd[]);

/* Uniform between low and high, in natural units. Exact for a bounded chart's own range, to 1e-4 for a whole period;
   otherwise a Gaussian with the same two moments. */
RF_API rf_status rf64_prior_box(rf64_filter *filter, const rf64_model *model, const double low[], const double high[]);

/* Mean and full covariance (dim × dim, by rows) in chart coordinates. Refused: not symmetric, or not positive definite. */
RF_API rf_status rf64_prior_covariance(rf64_filter *filter, const double mean[], const double covariance[]);

/* Computes a factor (RF_TRIANGLE(dim) numbers) of a dim × dim covariance, which may be singular. */
RF_API rf_status rf64_covariance_factor(const double covariance[], unsigned dim, double factor[]);

/* Convert between chart coordinate y and natural value. chart->kind must be valid; out-of-range natural values give NaN or
   ±inf. */
RF_API double rf64_chart_natural(const rf64_chart *chart, double y);
RF_API double rf64_chart_coordinate(const rf64_chart *chart, double natural);

/* ---- Drift ------------------------------------------------------------------------------- */

/* Adds rate · elapsed to every parameter's variance, in chart coordinates: a random walk with variance `rate` per unit of
   time. Refused: a negative rate or time. */
RF_API rf_status rf64_diffuse(rf64_filter *filter, double rate, double elapsed);

/* Adds rate · elapsed to the covariance; `rate` is a dim × dim covariance by rows and may be singular. */
RF_API rf_status rf64_diffuse_covariance(rf64_filter *filter, const double rate[], double elapsed);

/* x ← F·x + noise of covariance Q: both dim × dim by rows; Q may be null for none. */
RF_API rf_status rf64_evolve(rf64_filter *filter, const double F[], const double Q[]);

/* Multiplies the covariance by `factor` > 0. */
RF_API rf_status rf64_widen(rf64_filter *filter, double factor);

/* Multiplies the standard deviation of each parameter by its factor > 0; correlations stay. */
RF_API rf_status rf64_stretch(rf64_filter *filter, const double factor[]);

/* ---- Randomness -------------------------------------------------------------------------- */

/* Draws parameters (natural units) from the posterior to x[dim]. The draw depends only on state, index and purpose. For draws
   of your own use RF_FOR_USER, or RF_FOR_DESIGN for settings. */
RF_API void rf64_filter_draw(const rf64_filter *filter, const rf64_model *model, uint32_t index, uint32_t purpose, double x[]);

/* ---- Engines ----------------------------------------------------------------------------- */

/* All inputs of an attempt. Read-only while attempts run. */
typedef struct rf64_task {
    const rf64_model *model;    /* the likelihood */
    const double *mean, *factor; /* candidates are mean + factor·z: the filter's, or those that whiten the first z */
    const double *records;      /* `count` records of model->settings + 1 numbers */
    const double *wrap;         /* null, or per parameter the period in standard deviations and the cut */
    double rest;                /* one parameter: the mean's rounding error, for the update only */
    uint64_t seed;              /* of the filter */
    uint32_t count;             /* records */
    uint32_t update;            /* number of the update, from 0 */
    rf_sampler sampler;         /* where candidates come from */
    double kappa;               /* accept with P/κ, in units of the model's bound */
    int no_loss;                /* 1: the sum for the loss may be left out */
} rf64_task;

/* The one operation of an engine: run attempts [begin, begin + count) of the task and add them to the tally. The result of
   attempt i must not depend on the range. Returns RF_OK or a negative status, which the update then returns:
   RF_REFUSED_MODEL if a function of the model failed, else RF_REFUSED_ENGINE. */
typedef rf_status rf64_run(void *self, const rf64_task *task, uint32_t begin, uint32_t count, rf64_tally *tally);

/* Filters of one model to be updated together, each with its own record. See rf64_fleet_update. */
typedef struct rf64_report rf64_report;
typedef struct rf64_options rf64_options;
typedef struct rf64_fleet {
    rf64_filter *const *filters; /* all different */
    const rf64_model *model;     /* shared by all */
    const double *records;       /* one per filter, row by row */
    const rf64_options *options; /* shared by all */
    rf64_report *reports;        /* or null */
    uint32_t count;              /* filters */
} rf64_fleet;

/* An engine's function that updates a checked fleet. It may call rf64_fleet_run on parts of it. */
typedef rf_status rf64_run_fleet(void *self, const rf64_fleet *fleet);

/* Runs the attempts. rf_engine_open makes one on a full computer; rf64_serial exists everywhere. */
typedef struct rf64_engine {
    rf64_run *run;         /* REQUIRED */
    void *self;            /* first argument of run and fleet */
    rf64_run_fleet *fleet; /* OPTIONAL: without it, filters of a fleet are updated one by one */
} rf64_engine;

/* The loop over attempts, and one over likelihoods, with one model's functions inlined, compiled for one target. */
struct rf64_kernel {
    const char *target;      /* "baseline", "avx2", "avx512"; "native", this machine; "source"; null ends a list */
    rf64_run *run;           /* an engine's operation; null for "source" */
    rf64_block *block;       /* OPTIONAL: the likelihood of many candidates, the same bits as one after the other */
    const rf_source *source; /* for "source" only */
};

/* Runs one attempt after the other with the model's `likelihood`. A NULL engine means this one. */
RF_API extern const rf64_engine rf64_serial;

/* For engines that split a range: make an empty tally (in rf64_tally_bytes of memory) for this update; add one tally to
   another. Refused: tallies of different updates or dimensions. */
RF_API void rf64_tally_clear(rf64_tally *tally, unsigned dim, uint32_t update);
RF_API rf_status rf64_tally_add(rf64_tally *total, const rf64_tally *part);

/* ---- Update ------------------------------------------------------------------------------ */

/* Options of an update. Start from rf64_options_default, which suits small machines. For weakly informative records use
   RF_WEIGHT and 128 attempts per parameter (docs/tracking.md). */
struct rf64_options {
    uint32_t attempts;     /* m: attempts of a batch */
    uint32_t accepted_min; /* more batches until this many are accepted (top-up), */
    uint32_t batches_max;  /* at most this many batches */
    double kappa;          /* κ in units of the model's bound; for several records, of the product of their bounds, lowered
                              to the largest product in the first batch of attempts (unless strict) */
    double recovery;       /* r: the covariance grows by the factor 1 + r if too few are accepted */
    double hedge;          /* β of the evidence estimate */
    double shrink;         /* ν: weight, in accepted attempts, of the prior covariance */
    uint32_t strict;       /* 1: Algorithm 1 to the letter: one batch, no ν, no finite-N factor */
    rf_sampler sampler;    /* strict allows only RF_REJECT */
};

/* m = 100, top-up to 20 accepted within 20 batches, κ = bound, r = 0.1, β = ½, ν = 1. A constant of these needs no RAM. */
#define RF64_OPTIONS_DEFAULT {100, 20, 20, 1, 0.1, 0.5, 1, 0, RF_REJECT}
RF_FN rf64_options rf64_options_default(void)
{
    rf64_options o = RF64_OPTIONS_DEFAULT;
    return o;
}

/* What an update did. */
struct rf64_report {
    rf_status status;                        /* what the call returned */
    uint32_t update;                         /* number of this update, from 0 */
    uint32_t attempts, accepted;             /* attempts made, top-up included, and those accepted */
    uint32_t above, nan, negative, infinite; /* attempts with such a likelihood */
    double acceptance;                       /* accepted / attempts */
    double largest;                          /* largest likelihood seen, in units of the model's bound, like kappa */
    double kappa;                            /* κ used ... */
    double kappa_next;                       /* ... and what the controller would use next */
    double delta;                            /* δ̂: 1 − δ̂ bounds the overlap with the exact posterior */
    double log_evidence;                     /* hedged estimate of ln P(E), with ln κ */
    double log_evidence_variance;            /* of its sampling error */
    double loss;                             /* nats lost by the Gaussian approximation; 0 if not measured: samplers other than
                                                RF_WEIGHT, over 4,096 attempts, over 16 parameters, wide angles */
};

/* Updates with `count` records at once: rows of settings and outcome. The filter becomes the Gaussian of the accepted
   attempts. `engine` may be NULL (serial), and so may `report`. Returns 0; or notes as positive bits (too few accepted,
   likelihoods above the bound, ...: see status.def); or a negative status, with nothing changed. Allocates nothing. */
RF_API rf_status rf64_update(rf64_filter *filter, const rf64_model *model, const double records[], uint32_t count, const rf64_options *options,
                             const rf64_engine *engine, rf64_report *report);

/* Updates `count` filters of the same model together, filter i with record i; the bits are those of single updates. An
   engine may share them among threads. If the arguments of any filter would be refused, all are refused and unchanged.
   If an engine or a model fails, the filters before the failure stay updated. Otherwise returns the notes of all.
   `reports` has space for all, or is null. */
RF_API rf_status rf64_fleet_update(rf64_filter *const filters[], uint32_t count, const rf64_model *model, const double records[],
                                   const rf64_options *options, const rf64_engine *engine, rf64_report reports[]);

/* For engines: updates a checked fleet, or a part of one, with an inner engine; null is serial. */
RF_API rf_status rf64_fleet_run(const rf64_fleet *fleet, const rf64_engine *engine);

/* ---- Evidence ---------------------------------------------------------------------------- */

/* Running ln P(all evidence) of a model. Start it at {0}. Rounding does not build up. */
typedef struct rf64_evidence {
    double log, carry;              /* ln P is log + carry */
    double variance, variance_carry; /* of its sampling error, also as a sum */
} rf64_evidence;

/* Call after an update: adds its evidence. The difference between two models is the logarithm of their Bayes factor. */
RF_API void rf64_evidence_add(rf64_evidence *evidence, const rf64_report *report);

/* ======== End of what exists twice ======== */

#ifdef __cplusplus
}
#endif

/* A source file that is compiled once per precision sets RF_PRECISION and writes rf_real, RF(x). */
#if defined(RF_PRECISION)
#define RF_BITS RF_PRECISION
#else
#define RF_BITS 0
#endif
#include "detail/precision.h"
#undef RF_BITS

#endif
