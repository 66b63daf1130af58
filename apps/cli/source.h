/* Records for all ranks of an MPI job: rank 0 reads and broadcasts them. Without MPI there is one rank. */
#ifndef REJFILT_CLI_SOURCE_H
#define REJFILT_CLI_SOURCE_H

#include "records.h"
#include "rejfilt/host.h"

typedef struct cli_source {
    const rf_engine *engine;
    cli_records *records; /* the reader of rank 0 */
    const char *command;  /* name in messages */
    int skip_bad;
    long bad; /* records skipped */
} cli_source;

/* Gets the next record on all ranks. Returns as cli_records_next; a bad record is skipped, or reported and returned. Rank 0
   decides about signals, because ranks receive them at different times. */
int cli_source_next(cli_source *source, cli_record *record);

/* Rank 0 failed: send the waiting ranks an end marker. */
void cli_source_end(const cli_source *source);

/* Broadcasts rank 0's bytes. Returns 0, or -1 if MPI fails. `bytes` is malloc'ed, or NULL if there are none. */
int cli_source_share(const cli_source *source, unsigned char **bytes, size_t *count);

#endif
