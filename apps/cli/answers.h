/* Answers to the questions of --ask: which question one answers, and whether it was answered before. */
#ifndef REJFILT_CLI_ANSWERS_H
#define REJFILT_CLI_ANSWERS_H

#include "records.h"

enum { CLI_ANSWERS_KNOWN = 4 * RF_ASK_MAX }; /* latest answers kept: a repeated one is told from another one */

/* Initialise with zeros. */
typedef struct cli_answers {
    uint64_t begin;                    /* number of the first answer that this run has taken, */
    uint64_t known[CLI_ANSWERS_KNOWN]; /* hashes of the latest, by number; 0: none */
    uint64_t first;                    /* number of the first open question */
    uint32_t count, answered;          /* questions open, and answered among them */
    rf_record question[RF_ASK_MAX];
    rf_record answer[RF_ASK_MAX]; /* by question; outcome NaN until answered */
    int is_answered[RF_ASK_MAX];
} cli_answers;

/* Opens `count` questions, in a->question, with numbers from `first`. */
void cli_answers_open(cli_answers *a, uint64_t first, uint32_t count);

typedef enum cli_answer { CLI_ANSWER_BAD = -1, CLI_ANSWER_TAKEN, CLI_ANSWER_REPEATED } cli_answer;

/* Takes one answer: of the question with its number, or else of the first without an answer. Settings that it does not
   have are those of the question. CLI_ANSWER_BAD: nothing changed, and `why` says the reason. */
cli_answer cli_answers_take(cli_answers *a, const rf_description *description, const cli_record *record, char *why,
                            size_t size);

/* Fills `records` with the answers up to the last, times in order, for rf_session_tell; a question before the last that
   has no answer has no outcome. Returns their number. */
uint32_t cli_answers_all(const cli_answers *a, rf_record records[]);

#endif
