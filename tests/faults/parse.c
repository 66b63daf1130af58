/* What it takes to read records and do nothing with them: `rejfilt track` is measured against it. */
#include <stdio.h>

#include "cli.h"
#include "records.h"
#include "rejfilt/host.h"

int main(void)
{
    static cli_record record;
    cli_records *records = cli_records_open(stdin, "standard input", rf_model_find("precession")->f64->description, 1);
    double sum = 0;
    int got;
    if (!records)
        return cli_error("parse: not enough memory");
    while ((got = cli_records_next(records, &record)) == CLI_RECORD)
        sum += record.outcome;
    if (got != CLI_RECORDS_END)
        return cli_error("parse: %s", cli_records_error(records));
    printf("%ld %.0f\n", cli_records_count(records), sum);
    cli_records_close(records);
    return 0;
}
