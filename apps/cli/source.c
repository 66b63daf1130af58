#include "source.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct shared_record {
    int got;
    cli_record record;
} shared_record;

int cli_source_next(cli_source *source, cli_record *record)
{
    shared_record both;
    memset(&both, 0, sizeof both);
    if (rf_engine_rank(source->engine) == 0) {
        do
            both.got = cli_interrupted ? CLI_RECORDS_INTERRUPTED : cli_records_next(source->records, &both.record);
        while ((both.got == CLI_RECORD_BAD && source->skip_bad && ++source->bad) || (both.got == CLI_RECORDS_INTERRUPTED && !cli_interrupted));
        if (both.got == CLI_RECORD_BAD || both.got == CLI_RECORDS_FAILED)
            cli_error("%s: %s", source->command, cli_records_error(source->records));
    }
    if (rf_engine_share(source->engine, &both, sizeof both) < 0)
        return CLI_RECORDS_FAILED;
    *record = both.record;
    return both.got;
}

void cli_source_end(const cli_source *source)
{
    shared_record both;
    memset(&both, 0, sizeof both);
    both.got = CLI_RECORDS_FAILED;
    if (rf_engine_rank(source->engine) == 0)
        rf_engine_share(source->engine, &both, sizeof both);
}

int cli_source_share(const cli_source *source, unsigned char **bytes, size_t *count)
{
    if (rf_engine_share(source->engine, count, sizeof *count) < 0)
        return -1;
    if (rf_engine_rank(source->engine) != 0)
        *bytes = *count > 0 ? malloc(*count) : NULL;
    if (*count > 0 && !*bytes)
        return -1;
    return *count > 0 ? rf_engine_share(source->engine, *bytes, *count) : 0;
}
