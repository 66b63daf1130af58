/* Scores a model on records with several repeats: independent sessions with random numbers of their own. */
#ifndef REJFILT_CLI_SCORE_H
#define REJFILT_CLI_SCORE_H

#include "evidence.h"
#include "rejfilt/session.h"

typedef struct cli_scorer cli_scorer;

/* Opens `count` sessions at the run's prior, without its design and with --on-lost ignore: settings come from the
   records. Repeat i of every model uses the same random numbers, so similar models make similar errors. Returns NULL
   and fills `error` on failure. */
cli_scorer *cli_score_open(const rf_config *config, uint32_t count, char *error, size_t size);
void cli_score_close(cli_scorer *s);

/* Checks that the sessions would accept the records; changes nothing. A negative status means refused. */
rf_status cli_score_try(cli_scorer *s, const rf_record records[], uint32_t count);

/* Every session learns from the records. */
rf_status cli_score_learn(cli_scorer *s, const rf_record records[], uint32_t count);

/* The scores of the repeats so far. */
const cli_score *cli_score_read(const cli_scorer *s);

#endif
