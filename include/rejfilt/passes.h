/* Passes over all records of a file, of parameters that stay still: the exact posterior, to three digits.

   Points are drawn from a few Gaussians and the prior, and weighted by prior · likelihood / proposal. The likelihood is
   that of ever more records, as many as leave 5 % of the points effective; the Gaussians are then fitted to the
   weighted points, and the next pass begins. When all records are in and a quarter of the points is effective, a last
   pass of twice as many points gives moments, quantiles and evidence. What is drawn depends on the seed alone: the
   result is the same, bit by bit, on every engine. Nothing is read or printed, and nothing kept outside. A narrow mode
   with a few per cent of the probability, among many, can be missed without an alarm.

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

/* Are there passes for such a configuration? 0; or -1 with a one-line message in `error`: parameters that drift or have
   dynamics, a prior outside its chart. */
RF_API int rf_passes_check(const rf_config *config, char *error, size_t size);

/* Of the configuration the model, description, prior, engine, seed and trial count. `records` are `count` rows of the
   settings and then the outcome; they stay the caller's, and outlive it. Null with a one-line message in `error`:
   what rf_passes_check refuses, no records, numbers that are not finite. */
RF_API rf_passes *rf_passes_open(const rf_config *config, const double records[], size_t count, char *error,
                                 size_t size);
/* Frees it; null is fine. */
RF_API void rf_passes_close(rf_passes *passes);

/* How far it is. */
typedef struct rf_passes_progress {
    uint32_t pass;         /* under way, from 1 */
    int is_last;           /* of all */
    size_t records, count; /* those that this pass has seen, and all */
} rf_passes_progress;

/* Called every now and then; a non-zero answer ends the run. */
typedef int rf_passes_watch(void *user, const rf_passes_progress *progress);

/* What may be made of a result. */
typedef enum rf_passes_verdict {
    RF_PASSES_FINE = 0,     /* what it says holds */
    RF_PASSES_DOUBTFUL = 1, /* fewer than RF_PASSES_LEAST points are effective: do not trust it */
    RF_PASSES_STOPPED = 2   /* the watcher ended it: there is no result */
} rf_passes_verdict;

/* Effective points, at least. */
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

/* Runs all passes. A null watcher does not watch. Negative when the model or the engine failed; else 0, and what may be
   made of the result is in its verdict. */
RF_API rf_status rf_passes_run(rf_passes *passes, rf_passes_watch *watch, void *user, rf_passes_result *result);

/* After a run: the coordinate with probability p below it, in the chart. Of a periodic parameter it is counted from
   half a period below the mean. */
RF_API double rf_passes_quantile(const rf_passes *passes, unsigned parameter, double p);

#ifdef __cplusplus
}
#endif
#endif
