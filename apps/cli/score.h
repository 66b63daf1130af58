/* Scoring a model on records: repeats of it side by side, each a session with random numbers of its own. */
#ifndef REJFILT_CLI_SCORE_H
#define REJFILT_CLI_SCORE_H

#include "evidence.h"
#include "rejfilt/session.h"

typedef struct cli_scorer cli_scorer;

/* `count` sessions at the run's prior. Its design and its policy for lost filters are not used: the settings come
   with the records, and nothing but the model and its drift moves them. Repeat i of every model has the same
   random numbers, so that alike models make alike errors. Null with a message in `error`. */
cli_scorer *cli_score_open(const rf_config *config, uint32_t count, char *error, size_t size);
void cli_score_close(cli_scorer *s);

/* Would the sessions take the records? Nothing changes. A negative status is the refusal. */
rf_status cli_score_try(cli_scorer *s, const rf_record records[], uint32_t count);

/* Every session learns from the records. */
rf_status cli_score_learn(cli_scorer *s, const rf_record records[], uint32_t count);

/* What each repeat has found so far. */
const cli_score *cli_score_read(const cli_scorer *s);

#endif
