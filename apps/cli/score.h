/* Scoring a model on records: registers of it side by side, each a filter with random numbers of its own. */
#ifndef REJFILT_CLI_SCORE_H
#define REJFILT_CLI_SCORE_H

#include "evidence.h"
#include "simulate.h"

typedef struct cli_scorer cli_scorer;

/* `count` registers at the run's prior. Its design and its policy for lost filters are not used: the settings come
   with the records, and nothing but the model and its drift moves a register. Register i of every model has the same
   random numbers, so that alike models make alike errors. The run outlives them. Null with a refusal in `status`. */
cli_scorer *rf32_score_open(const cli_run *run, uint32_t count, rf_status *status);
cli_scorer *rf64_score_open(const cli_run *run, uint32_t count, rf_status *status);
void rf32_score_close(cli_scorer *s);
void rf64_score_close(cli_scorer *s);

/* Would the registers take `count` records (settings, then outcome) at once, `elapsed` after those before? With a
   count of 0, the elapsed time alone? Nothing changes. A negative status is the refusal. */
rf_status rf32_score_try(cli_scorer *s, const double records[], uint32_t count, double elapsed);
rf_status rf64_score_try(cli_scorer *s, const double records[], uint32_t count, double elapsed);

/* Time passes, then every register learns from the records. */
rf_status rf32_score_learn(cli_scorer *s, const double records[], uint32_t count, double elapsed);
rf_status rf64_score_learn(cli_scorer *s, const double records[], uint32_t count, double elapsed);

/* What each register has found so far. */
const cli_score *rf32_score_read(const cli_scorer *s);
const cli_score *rf64_score_read(const cli_scorer *s);

#endif
