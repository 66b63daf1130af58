/* Records of a world that follows a hypothesis, and the evidence of any hypothesis for them: exact, and as `rejfilt
   compare` estimates it. */
#ifndef REJFILT_EXPERIMENTS_HYPOTHESES_H
#define REJFILT_EXPERIMENTS_HYPOTHESES_H

#include "score.h"

/* A built-in model of one parameter, and the standard deviation of its steps. */
typedef struct hypothesis {
    const char *model;
    double drift;
} hypothesis;

/* The run that scores a hypothesis, with 100 attempts. */
rf_simulation hypothesis_run(hypothesis h, uint64_t seed, const rf_engine *engine);

/* Functions return 0, or -1 when the library refuses or memory is short. */

/* Simulates records. The truth is drawn from its prior and walks; the settings are chosen by a session that assumes
   `believed`. */
int hypothesis_simulate(hypothesis truth, hypothesis believed, const char *design, uint64_t seed, const rf_engine *engine,
                        uint32_t count, rf_record records[]);

/* ln P(records), by a grid. */
int hypothesis_exact(const rf_simulation *run, const rf_record records[], uint32_t count, double *log_evidence);

/* The same, estimated by each of `repeats` repeats. */
int hypothesis_score(const rf_simulation *run, const rf_record records[], uint32_t count, uint32_t repeats, cli_score scores[]);

#endif
