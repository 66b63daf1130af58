/* Which records of an input has the run learnt from? */
#ifndef REJFILT_CLI_KNOWN_H
#define REJFILT_CLI_KNOWN_H

#include "chain.h"
#include "records.h"

typedef enum cli_continue {
    CLI_CONTINUE_AUTO,  /* an input that begins with the known records has grown; one that shares none with them is new
                         */
    CLI_CONTINUE_GROWN, /* it begins with the known records */
    CLI_CONTINUE_NEW    /* no record is known */
} cli_continue;

extern const char *const cli_continue_names[];

/* What was found. */
typedef struct cli_known {
    uint64_t known; /* the first records of the input: these */
    uint64_t read;  /* records that were read for that, perhaps more */
} cli_known;

/* Reads records and compares them with the chain, whose run stands at `time`. A chain of an older version is completed.
   Returns CLI_OK; CLI_INTERRUPTED; or CLI_BAD_INPUT with a line in `error`: an input that matches in part is refused.
 */
int cli_known_find(cli_chain *chain, cli_records *records, const char *name, cli_continue how, int skip_bad,
                   double time, cli_known *found, char *error, size_t size);

#endif
