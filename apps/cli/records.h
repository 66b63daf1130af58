/* Measurement records from a file or a live pipe, one a line: JSON lines or CSV with a header, told apart
   by the first line. A record is returned as soon as its line is complete.

   Columns of CSV, keys of JSON:
     each setting by name   required, except with a missing outcome; a setting with a fixed role may be missing.
                            JSON also has them in "settings": {"t": 3} or "settings": [{"name": "t", "value": 3}]
     outcome                required; empty or null: nothing was measured, time passes all the same
     time, batch            optional; a setting of that name takes precedence
     truth.NAME             optional, for the parameter NAME. JSON also has it in "truth": {"NAME": 0.3} or
                            "parameters": [{"name": "NAME", "truth": 0.3}]
   Others are ignored. CSV has commas, semicolons or tabs; fields may be quoted, and only names in the header may
   hold line breaks. Blank lines and lines that begin with # are skipped. In ask mode a
   line is an answer: settings are optional (those really used), `ask` is the number of the question, and a line may also be
   a bare number or null without a header. */
#ifndef REJFILT_CLI_RECORDS_H
#define REJFILT_CLI_RECORDS_H

#include "lines.h"
#include "rejfilt/session.h"

typedef struct cli_record {
    long line;                    /* line number, from 1 */
    double setting[RF_DESCRIBED_MAX]; /* at most 1e15 in size; NAN: not given (ask mode, or a missing outcome) */
    double outcome;               /* NAN when missing */
    int is_missing;
    double time; /* never before the time of an earlier record; with has_ask never before cli_records_begin_at */
    int has_time;
    char batch[32]; /* consecutive records with equal ids are one batch; the number 3 and the text 3 are equal */
    int has_batch;
    double ask; /* ask mode: the number of the question, if has_ask */
    int has_ask;
    double truth[RF_DESCRIBED_MAX]; /* NAN: unknown */
    unsigned has_truth;         /* bit i: truth[i] is known */
} cli_record;

/* The record in the form a session takes, and the number of its batch (0: none). */
rf_record cli_record_told(const cli_record *r);
uint64_t cli_record_batch(const cli_record *r);

typedef struct cli_records cli_records;

/* Reads records of a model from `from`; messages call it `name`. The three must outlive the reader. The reader does
   not close the stream, and nothing else may read it. settings_given 0: ask mode. Nothing is read yet. NULL: out of
   memory. */
cli_records *cli_records_open(FILE *from, const char *name, const rf_description *description, int settings_given);
void cli_records_close(cli_records *r);

/* Other names for columns or keys: a list of "NAME=COLUMN", ending in null, with NAME as above. It must outlive the
   reader. */
void cli_records_rename(cli_records *r, const char *const renamed[]);

enum {
    CLI_RECORD = CLI_LINE,
    CLI_RECORDS_END = CLI_LINES_END,
    CLI_RECORD_BAD = -1,                   /* this line is bad; the next call reads the next line */
    CLI_RECORDS_FAILED = CLI_LINES_FAILED, /* bad header or failed read: the reader cannot continue */
    CLI_RECORDS_INTERRUPTED = CLI_LINES_INTERRUPTED
};

/* Reads the next record. *record is valid only after CLI_RECORD. */
int cli_records_next(cli_records *r, cli_record *record);

/* Would the next call return without waiting? */
int cli_records_is_ready(const cli_records *r);

/* From now on, records with an earlier time are bad. NAN changes nothing. */
void cli_records_begin_at(cli_records *r, double time);

/* Number of records read so far, without bad lines. */
long cli_records_count(const cli_records *r);

/* One line about the last CLI_RECORD_BAD or CLI_RECORDS_FAILED: "data.csv: line 17: column t: 'abc' is not a
   number". */
const char *cli_records_error(const cli_records *r);

#endif
