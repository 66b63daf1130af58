/* Passes over all records, for parameters that do not drift: the exact posterior to three digits.

   Each pass draws points from a few Gaussians and the prior, and weights them by prior · likelihood / proposal. It uses as
   many records as leave 5 % of the points effective. Then the Gaussians are fitted to the weighted points, and the next
   pass begins. When all records are used and a quarter of the points is effective, a last pass with twice as many points
   gives moments, quantiles and evidence. The points depend on the seed alone, so every engine gives the same bits.
   Nothing is read or printed. A narrow mode with a few per cent of the probability can be missed without an alarm.

       rf_passes *passes = rf_passes_open(&config, records, count, error, sizeof error);
       rf_passes_result result;
       rf_passes_run(passes, NULL, NULL, &result);
       rf_passes_close(passes); */
#ifndef REJFILT_PASSES_H
#define REJFILT_PASSES_H

#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque. */
typedef struct rf_passes rf_passes;

/* Checks that passes can be run with this configuration. Returns 0, or -1 with one line in `error`: parameters that drift
   or have dynamics, or a prior outside its chart. */
RF_API int rf_passes_check(const rf_config *config, char *error, size_t size);

/* Uses the configuration's model, description, prior, engine, seed and trial. `records` has `count` rows of settings and
   outcome; it remains the caller's and must outlive the passes. Returns NULL and fills `error`: what rf_passes_check
   refuses, no records, numbers that are not finite. */
RF_API rf_passes *rf_passes_open(const rf_config *config, const double records[], size_t count, char *error,
                                 size_t size);
/* Frees it; NULL is allowed. */
RF_API void rf_passes_close(rf_passes *passes);

/* Progress of a run. */
typedef struct rf_passes_progress {
    uint32_t pass;         /* number of the present pass, from 1 */
    int is_last;           /* it is the last one */
    size_t records, count; /* records used by this pass so far, and all records */
} rf_passes_progress;

/* Called from time to time; return non-zero to stop the run. */
typedef int rf_passes_watch(void *user, const rf_passes_progress *progress);

/* How far a result can be trusted. */
typedef enum rf_passes_verdict {
    RF_PASSES_FINE = 0,     /* it can be trusted */
    RF_PASSES_DOUBTFUL = 1, /* fewer than RF_PASSES_LEAST points are effective: do not trust it */
    RF_PASSES_STOPPED = 2   /* the watcher stopped the run: there is no result */
} rf_passes_verdict;

/* The smallest number of effective points of a result to trust. */
enum { RF_PASSES_LEAST = 100 };

/* The posterior of all records. */
typedef struct rf_passes_result {
    rf_passes_verdict verdict;                                        /* may it be trusted? */
    unsigned dim;                                                     /* parameters */
    double mean[RF_DESCRIBED_MAX], sd[RF_DESCRIBED_MAX];              /* of natural values; as rf_step has them */
    double median[RF_DESCRIBED_MAX], low[RF_DESCRIBED_MAX], high[RF_DESCRIBED_MAX]; /* and the 95 % interval */
    double chart_mean[RF_DESCRIBED_MAX], chart_sd[RF_DESCRIBED_MAX];  /* in the chart, and so is: */
    double chart_covariance[RF_DESCRIBED_MAX * (RF_DESCRIBED_MAX + 1) / 2]; /* by rows of the lower triangle */
    double log_evidence, log_evidence_sd; /* ln P of all records, and its standard error; P itself is unbiased */
    double effective;                     /* points of the last pass, by their weights: (Σw)² / Σw² */
    uint32_t points, passes;              /* of the last pass; passes, the last one included */
    size_t bad; /* points whose likelihood was NaN, negative or infinite for a record, and counted as zero; last pass */
} rf_passes_result;

/* Runs all passes. `watch` may be NULL. Returns a negative status if the model or the engine failed; else 0, and
   result->verdict says how far to trust it. */
RF_API rf_status rf_passes_run(rf_passes *passes, rf_passes_watch *watch, void *user, rf_passes_result *result);

/* After a run: the p-quantile, in the chart. For a periodic parameter probability counts from half a period below the
   mean. */
RF_API double rf_passes_quantile(const rf_passes *passes, unsigned parameter, double p);

#ifdef __cplusplus
}
#endif
#endif
