/* Measurement records, JSON lines and CSV. The first byte chooses the model and whether settings are given. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "records.h"
#include "rejfilt/host.h"

static void check_record(const rf_description *about, const cli_record *r, int settings_given)
{
    for (unsigned i = 0; i < about->settings; i++)
        fuzz_require(isfinite(r->setting[i]) || (isnan(r->setting[i]) && (r->is_missing || !settings_given)));
    fuzz_require(r->is_missing ? isnan(r->outcome) : isfinite(r->outcome));
    if (!r->is_missing && about->outcomes)
        fuzz_require(r->outcome >= 0 && r->outcome < about->outcomes && r->outcome == floor(r->outcome));
    fuzz_require(!r->has_time || isfinite(r->time));
    fuzz_require(!r->has_batch || strnlen(r->batch, sizeof r->batch) < sizeof r->batch);
    for (unsigned i = 0; i < about->dim; i++)
        fuzz_require(r->has_truth >> i & 1 ? isfinite(r->truth[i]) : isnan(r->truth[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count < 2)
        return 0;
    const int settings_given = bytes[0] & 1;
    const rf_model *model = rf_model_at(bytes[0] >> 1);
    if (!model)
        return -1;
    const rf_description *about = model->f64->about;
    FILE *from = fmemopen((void *)(uintptr_t)(bytes + 1), count - 1, "r");
    fuzz_require(from);
    cli_records *records = cli_records_open(from, "data", about, settings_given);
    fuzz_require(records);
    cli_record record;
    double time = -INFINITY;
    long line = 0, good = 0;
    for (int got; (got = cli_records_next(records, &record)) != CLI_RECORDS_END;) {
        if (got != CLI_RECORD) {
            fuzz_require_message(cli_records_error(records), 512);
            fuzz_require(!strchr(cli_records_error(records), '\n'));
        }
        if (got == CLI_RECORDS_FAILED)
            break;
        if (got != CLI_RECORD)
            continue;
        check_record(about, &record, settings_given);
        fuzz_require(record.line > line && cli_records_count(records) == ++good);
        fuzz_require(!record.has_time || record.time >= time);
        line = record.line;
        time = record.has_time ? record.time : time;
    }
    fuzz_require(!strchr(cli_records_ignored(records), '\n'));
    cli_records_close(records);
    fclose(from);
    return 0;
}
