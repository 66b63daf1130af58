/* Records for every rank of an MPI job: the first one reads, all get them. Without MPI there is one rank. */
#ifndef REJFILT_CLI_SOURCE_H
#define REJFILT_CLI_SOURCE_H

#include "records.h"
#include "rejfilt/host.h"

typedef struct cli_source {
    const rf_engine *engine;
    cli_records *records; /* the first rank's reader */
    const char *command;  /* in messages */
    int skip_bad;
    long bad; /* records passed over */
} cli_source;

/* The next record, on all ranks. Returns what cli_records_next does; a bad one is passed over or, after a message, returned.
   Signals reach ranks at different times: the first one's count. */
int cli_source_next(cli_source *source, cli_record *record);

/* The first rank has failed at something that the others do not do: they wait for the next record, and get its end. */
void cli_source_end(const cli_source *source);

/* The first rank's bytes on all ranks. Returns 0, or -1 when MPI fails. `bytes` is malloc'ed, or null for none. */
int cli_source_share(const cli_source *source, unsigned char **bytes, size_t *count);

#endif
