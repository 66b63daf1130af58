/* The filter's types and functions, for one precision. Included by rejfilt.h, once for each. */
#include "precision.h"

/* ---- Models ------------------------------------------------------------------------------ */

/* P(outcome | x; setting), a probability or a density; or its logarithm where the model says so. */
typedef rf_real RF(likelihood)(const rf_real x[], const rf_real setting[], rf_real outcome);

/* An upper bound, over all x, of what the likelihood function returns for this record. */
typedef rf_real RF(bound)(const rf_real setting[], rf_real outcome);

/* The space one parameter lives in; what the filter keeps is Gaussian there. */
typedef struct RF(chart) {
    rf_chart_kind kind; /* real, positive, bounded or periodic */
    rf_real low, high; /* bounded and periodic only */
} RF(chart);

typedef struct RF(kernels) RF(kernels);

/* What is measured. All of it stays the caller's and must outlive the calls that take it. */
typedef struct RF(model) {
    RF(likelihood) *likelihood; /* required */
    RF(bound) *bound;           /* optional; without it the bound is 1 (its logarithm 0) */
    const RF(chart) *charts;    /* optional, one per parameter; without them all are real */
    uint16_t dim;               /* parameters */
    uint16_t settings;          /* settings of a record; a record is these and then the outcome */
    uint16_t is_log;            /* 1: the likelihood and bound functions return logarithms */
    const RF(kernels) *kernels; /* optional: the attempts with this likelihood inlined, for fast engines */
} RF(model);

/* ---- State ------------------------------------------------------------------------------- */

/* What the attempts of one update leave behind, whichever engine ran them. In memory it is followed
   by int64 z[dim], zz[RF_TRIANGLE(dim)] (sums over the accepted, see rf32_tally_z) and workspace.
   All sums are exact, so tallies may be added in any order. Counts of bad values stop at 65535. */
typedef struct RF(tally) {
    uint64_t over; /* Σ of excess weights Π max(P/κ, 1) − 1, in units of 2⁻¹⁶ */
    uint32_t accepted; /* attempts that were accepted */
    uint32_t above;   /* attempts with a likelihood above κ */
    rf_real largest;  /* largest P/κ seen */
    uint32_t update;  /* number of the update under way or next, from 0 */
    uint16_t dim;     /* parameters */
    uint16_t nan, negative, infinite; /* attempts with such a likelihood */
#if RF_BITS == 64
    uint32_t zero; /* no padding: equal tallies are equal bytes */
#endif
} RF(tally);

/* A Gaussian, and what the latest update left. In memory it is followed by the tally's sums, mean[dim], factor[RF_TRIANGLE(dim)],
   workspace. The update uses up the tally's z: between updates they hold what rounding took from the mean (RF(filter_rest)). */
typedef struct RF(filter) {
    uint64_t seed;   /* all randomness is a function of it, of the update and of the attempt */
    RF(tally) tally; /* of the latest update */
} RF(filter);

/* Bytes of memory that a tally and a filter of `dim` parameters need, as constants for arrays. */
#if RF_BITS == 32
#define RF32_TALLY_BYTES(dim) RF_TALLY_BYTES_(dim, sizeof(rf32_tally), 4)
#define RF32_FILTER_BYTES(dim) RF_FILTER_BYTES_(dim, sizeof(rf32_tally), 4)
#else
#define RF64_TALLY_BYTES(dim) RF_TALLY_BYTES_(dim, sizeof(rf64_tally), 8)
#define RF64_FILTER_BYTES(dim) RF_FILTER_BYTES_(dim, sizeof(rf64_tally), 8)
#endif

/* The same sizes at run time; 0 for a dimension out of range. */
RF_API size_t RF(filter_bytes)(unsigned dim);
RF_API size_t RF(tally_bytes)(unsigned dim);

/* Makes a filter of `dim` parameters in `memory`, and a pointer to it in `*filter`. It is N(0, 1) in chart coordinates until
   it is given a prior. The memory stays the caller's: at least RF32_FILTER_BYTES(dim) or RF64_FILTER_BYTES(dim) bytes, aligned
   with RF_ALIGNED. Nothing has to be freed. Refused: too little memory, wrong alignment, dim out of range. */
RF_API rf_status RF(filter_init)(RF(filter) **filter, void *memory, size_t bytes, unsigned dim, uint64_t seed);

/* Number of parameters. */
RF_API unsigned RF(filter_dim)(const RF(filter) *filter);
/* Number of updates so far, refused ones not counted. */
RF_API uint32_t RF(filter_updates)(const RF(filter) *filter);
/* The mean: dim numbers, in chart coordinates (RF(chart_natural) makes them natural). They are the filter's own and change
   with it. */
RF_API const rf_real *RF(filter_mean)(const RF(filter) *filter);
/* What rounding took from the mean of parameter i: at most half the spacing of numbers there. The next update adds it, so that
   steps smaller than the spacing are not lost. */
RF_API rf_real RF(filter_rest)(const RF(filter) *filter, unsigned i);
/* The factor L of the covariance L·Lᵀ: RF_TRIANGLE(dim) numbers, by rows, row i has i + 1. In chart coordinates. They are the
   filter's own and change with it. */
RF_API const rf_real *RF(filter_factor)(const RF(filter) *filter);
/* Standard deviation of parameter i, in chart coordinates. After an update it is never below the spacing of numbers near the
   mean, there or as natural values: the update holds it, and returns RF_NOTE_COARSE. */
RF_API rf_real RF(filter_sd)(const RF(filter) *filter, unsigned i);
/* Covariance of parameters i and j, in chart coordinates. */
RF_API rf_real RF(filter_covariance)(const RF(filter) *filter, unsigned i, unsigned j);

/* Puts a filter back where it was: what a checkpoint kept. `updates` goes on counting from there, so that the next update has
   the random numbers it would have had. `rest` is RF(filter_rest) of every parameter, or null for zeros. Refused: values that
   are not finite, a diagonal that is not positive. */
RF_API rf_status RF(filter_restore)(RF(filter) *filter, uint64_t seed, uint32_t updates, const rf_real mean[], const rf_real factor[],
                                    const rf_real rest[]);

/* ---- Priors ------------------------------------------------------------------------------ */

/* Independent parameters with these means and standard deviations, in natural units: exact for real
   and periodic, same two moments for positive, same mean and slope-scaled width for bounded. */
RF_API rf_status RF(prior_gaussian)(RF(filter) *filter, const RF(model) *model, const rf_real mean[], const rf_real sd[]);

/* Uniform between low and high, in natural units: exact for a bounded chart's own range, uniform
   to 1e-4 for a periodic chart's whole period, a Gaussian with the same two moments otherwise. */
RF_API rf_status RF(prior_box)(RF(filter) *filter, const RF(model) *model, const rf_real low[], const rf_real high[]);

/* Mean and full covariance (dim × dim, by rows) in chart coordinates. Refused: not symmetric, or not positive definite. */
RF_API rf_status RF(prior_covariance)(RF(filter) *filter, const rf_real mean[], const rf_real covariance[]);

/* A factor (RF_TRIANGLE(dim) numbers) of a dim × dim covariance, which may be singular. */
RF_API rf_status RF(covariance_factor)(const rf_real covariance[], unsigned dim, rf_real factor[]);

/* The natural value of chart coordinate y, and back. Which chart it is must be valid; a natural value outside gives NaN or an
   infinity. */
RF_API rf_real RF(chart_natural)(const RF(chart) *chart, rf_real y);
RF_API rf_real RF(chart_coordinate)(const RF(chart) *chart, rf_real natural);

/* ---- Drift ------------------------------------------------------------------------------- */

/* Every parameter's variance grows by rate · elapsed, in chart coordinates: a random walk whose step in one unit of time has
   variance `rate`. Refused: a negative rate or time. */
RF_API rf_status RF(diffuse)(RF(filter) *filter, rf_real rate, rf_real elapsed);

/* The covariance grows by rate · elapsed; rate is a dim × dim covariance, by rows; singular is fine. */
RF_API rf_status RF(diffuse_covariance)(RF(filter) *filter, const rf_real rate[], rf_real elapsed);

/* x ← F·x + noise of covariance Q: both dim × dim by rows; Q may be null for none. */
RF_API rf_status RF(evolve)(RF(filter) *filter, const rf_real F[], const rf_real Q[]);

/* Multiplies the covariance by `factor` > 0: recovery by hand. */
RF_API rf_status RF(widen)(RF(filter) *filter, rf_real factor);

/* Multiplies the standard deviation of each parameter by its factor > 0; correlations stay. */
RF_API rf_status RF(stretch)(RF(filter) *filter, const rf_real factor[]);

/* ---- Randomness -------------------------------------------------------------------------- */

/* Uniform in (0, 1] from one word; the smallest value is 2⁻³². */
RF_FN rf_real RF(uniform)(uint32_t word)
{
    return (rf_real)(int32_t)(word >> 1) * RF_C(0x1p-31) + RF_C(0x1p-32);
}

/* Two independent standard normals from two words (Box and Muller). |z| reaches 6.66. In float to
   2e-6, which is what attempts use in both precisions, for they round to 1/8192. */
RF_FN void RF(normal_pair)(uint32_t radius, uint32_t angle, rf_real *z0, rf_real *z1)
{
#if RF_BITS == 32
    rf_real s, c, r = rf32_sqrt(rf32_minus_2_log(rf32_uniform(radius)));
#else
    rf_real s, c, r = rf64_sqrt(-2.0 * rf64_log(rf64_uniform(radius)));
#endif
    RF(circle)(angle, &s, &c);
    *z0 = r * c;
    *z1 = r * s;
}

/* Draws parameters (natural units) from what the filter believes to x[dim], with the words at `index` for `purpose`: the same
   numbers for the same state, index and purpose. For draws of your own take RF_FOR_USER, or RF_FOR_DESIGN for settings. */
RF_API void RF(filter_draw)(const RF(filter) *filter, const RF(model) *model, uint32_t index, uint32_t purpose, rf_real x[]);

/* ---- Engines ----------------------------------------------------------------------------- */

/* Everything that decides what an attempt does. Read-only while attempts run. */
typedef struct RF(task) {
    const RF(model) *model;       /* the likelihood */
    const rf_real *mean, *factor; /* of the filter before the update */
    const rf_real *records; /* `count` records of model->settings + 1 numbers */
    const rf_real *wrap;    /* null, or per parameter the period in standard deviations and the cut */
    rf_real rest;           /* of one parameter's mean, for the update: attempts do not use it */
    uint64_t seed;          /* of the filter */
    uint32_t count;         /* records */
    uint32_t update;        /* number of the update, from 0 */
    rf_sampler sampler;     /* where candidates come from */
    rf_real kappa;          /* accept with P/κ, in units of the model's bound */
} RF(task);

/* The one operation of an engine: run attempts [begin, begin + count) of the task and add what they
   leave to the tally. Attempt i does the same whatever the range. */
typedef rf_status RF(run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally);

/* Filters of one model to be updated together, each with its own record. See RF(fleet_update). */
typedef struct RF(report) RF(report);
typedef struct RF(options) RF(options);
typedef struct RF(fleet) {
    RF(filter) *const *filters; /* all different */
    const RF(model) *model;     /* of all of them */
    const rf_real *records;     /* one for each, row by row */
    const RF(options) *options; /* of all of them */
    RF(report) *reports;        /* or null */
    uint32_t count;             /* filters */
} RF(fleet);

/* An engine's way to update a fleet, which has been checked: RF(fleet_run) on parts of it will do. */
typedef rf_status RF(run_fleet)(void *self, const RF(fleet) *fleet);

/* Who runs the attempts. On a full computer rf_engine_open makes one; RF(serial) is there everywhere. */
typedef struct RF(engine) {
    RF(run) *run;         /* REQUIRED */
    void *self;           /* what run and fleet get as their first argument */
    RF(run_fleet) *fleet; /* OPTIONAL: without it the filters of a fleet are updated one after the other */
} RF(engine);

/* A first batch of attempts for up to RF_FLEET_LANES filters, one per vector lane, into their own
   tallies. Bit i of the answer: filter i's must be run on its own (nothing of it was written). */
typedef uint64_t RF(run_lanes)(const RF(fleet) *fleet);

/* The loop over attempts with one model's functions inlined, compiled for each instruction set. */
struct RF(kernels) {
    RF(run) *run[RF_ISA_COUNT];         /* one filter, attempts in vector lanes */
    RF(run_lanes) *lanes[RF_ISA_COUNT]; /* many filters, one per lane */
};

/* One attempt after the other through the model's function pointer. What a null engine means. */
RF_API extern const RF(engine) RF(serial);

/* Σz and Σzzᵀ over the accepted, z in units of 2⁻¹³; with RF_WEIGHT, Σwz and Σwzzᵀ in units of 2⁻²⁵.
   zz by rows of the lower triangle. */
RF_FN int64_t *RF(tally_z)(RF(tally) *tally) { return (int64_t *)(tally + 1); }
RF_FN int64_t *RF(tally_zz)(RF(tally) *tally) { return (int64_t *)(tally + 1) + RF_DIM(tally->dim); }
/* With RF_WEIGHT, accepted and above are instead the low and high half of Σ of weights, in units of
   2⁻²⁵. Adding such numbers adds counts, too: neither reaches 32 bits. */
RF_FN uint64_t RF(tally_weight)(const RF(tally) *tally) { return (uint64_t)tally->above << 32 | tally->accepted; }
RF_FN void RF(tally_set_weight)(RF(tally) *tally, uint64_t weight)
{
    tally->accepted = (uint32_t)weight;
    tally->above = (uint32_t)(weight >> 32);
}
/* Mean, and after it factor, for loops that cannot afford a call. */
RF_FN const rf_real *RF(filter_mean_of)(const RF(filter) *filter)
{
    const unsigned char *tally = (const unsigned char *)&filter->tally;
    return (const rf_real *)(const void *)(tally + RF_TALLY_BYTES_(RF_DIM(filter->tally.dim), sizeof(RF(tally)), sizeof(rf_real)));
}
/* Workspace of attempts with more than one parameter. */
RF_FN rf_real *RF(tally_work)(RF(tally) *tally) { return (rf_real *)(RF(tally_zz)(tally) + RF_TRIANGLE(RF_DIM(tally->dim))); }

/* For engines that split a range: an empty tally (in RF(tally_bytes) of memory) for attempts of this update, and the sum of
   two. Refused: tallies of different updates or dimensions. */
RF_API void RF(tally_clear)(RF(tally) *tally, unsigned dim, uint32_t update);
RF_API rf_status RF(tally_add)(RF(tally) *total, const RF(tally) *part);

/* ---- Update ------------------------------------------------------------------------------ */

/* How to update. Begin with RF(options_default), which is for small machines, and change what you want: with records that tell little,
   RF_WEIGHT and 1,000 attempts (docs/choosing.md). */
struct RF(options) {
    uint32_t attempts;     /* m: attempts of a batch */
    uint32_t accepted_min; /* more batches until so many are accepted (top-up) */
    uint32_t batches_max;  /* ... but no more than this */
    rf_real kappa;         /* κ in units of the model's bound; of several records: of the product of theirs, lowered to
                              the largest product that the first batch of attempts sees (unless strict) */
    rf_real recovery;      /* r: the covariance grows by 1 + r when too few are accepted */
    rf_real hedge;         /* β of the evidence estimate */
    rf_real shrink;        /* ν: weight, in accepted attempts, of the prior covariance */
    uint32_t strict;       /* 1: Algorithm 1 to the letter: one batch, no ν, no finite-N factor */
    rf_sampler sampler;    /* strict takes RF_REJECT alone */
};

/* m = 100, top-up to 20 accepted within 20 batches, κ = bound, r = 0.1, β = ½, ν = 1. A constant of these needs no RAM. */
#if RF_BITS == 32
#define RF32_OPTIONS_DEFAULT {100, 20, 20, 1, 0.1f, 0.5f, 1, 0, RF_REJECT}
#else
#define RF64_OPTIONS_DEFAULT {100, 20, 20, 1, 0.1, 0.5, 1, 0, RF_REJECT}
#endif
RF_FN RF(options) RF(options_default)(void)
{
#if RF_BITS == 32
    RF(options) o = RF32_OPTIONS_DEFAULT;
#else
    RF(options) o = RF64_OPTIONS_DEFAULT;
#endif
    return o;
}

/* What an update did. */
struct RF(report) {
    rf_status status;      /* what the call returned */
    uint32_t update;       /* number of this update, from 0 */
    uint32_t attempts, accepted; /* attempts made, top-up included, and those accepted */
    uint32_t above, nan, negative, infinite; /* attempts with such a likelihood */
    rf_real acceptance;    /* accepted / attempts */
    rf_real largest;       /* largest likelihood seen, in units of the model's bound, like kappa */
    rf_real kappa;         /* κ used ... */
    rf_real kappa_next;    /* ... and what the controller would use next */
    rf_real delta;         /* δ̂: 1 − δ̂ bounds the overlap with the exact posterior */
    rf_real log_evidence;  /* hedged estimate of ln P(E), with ln κ */
    rf_real log_evidence_variance; /* of its sampling error */
};

/* Learns from `count` records at once, row by row: the settings, then the outcome. The filter's Gaussian becomes that of the
   accepted attempts. A null engine is serial, a null report is not written. Returns 0; or notes as positive bits (too few
   accepted, likelihoods above the bound, ...: see status.def); or a negative number, and then nothing changed. Allocates
   nothing. */
RF_API rf_status RF(update)(RF(filter) *filter, const RF(model) *model, const rf_real records[], uint32_t count,
                            const RF(options) *options, const RF(engine) *engine, RF(report) *report);

/* Updates `count` filters of the same model at once, filter i with record i: the same bits as one by
   one, in less time. Refuses the whole fleet, unchanged, if one of them would be refused for what it
   is given; an engine that fails (RF_REFUSED_ENGINE) leaves the filters before the failure updated.
   Else the notes of all. `reports` has room for all, or is null. */
RF_API rf_status RF(fleet_update)(RF(filter) *const filters[], uint32_t count, const RF(model) *model, const rf_real records[],
                                  const RF(options) *options, const RF(engine) *engine, RF(report) reports[]);

/* For engines: a checked fleet, through `lanes` where that is not null, else one by one with `single`. */
RF_API rf_status RF(fleet_run)(const RF(fleet) *fleet, RF(run_lanes) *lanes, const RF(engine) *single);

/* ---- Evidence ---------------------------------------------------------------------------- */

/* Running ln P(all evidence) of a model. Start it at {0}. Rounding does not build up. */
typedef struct RF(evidence) {
    rf_real log, carry;               /* ln P is log + carry */
    rf_real variance, variance_carry; /* of its sampling error: their sum, too */
} RF(evidence);

/* Adds what an update found, after it. The difference of two models' registers is the logarithm of their Bayes factor. */
RF_API void RF(evidence_add)(RF(evidence) *evidence, const RF(report) *report);
