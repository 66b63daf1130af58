/* Tracking with records from a file, a pipe or answers to questions. */
#define _POSIX_C_SOURCE 200809L
#include "stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answers.h"
#include "clock.h"
#include "file.h"
#include "known.h"
#include "options.h"
#include "output.h"
#include "source.h"

enum { ECHO = 16, KINDS = 8 }; /* a pipe repeats the run if so many records in a row, of so many kinds, are as at its begin */

typedef struct stream {
    const cli_stream *description;
    const cli_track_config *config;
    const rf_engine *engine;
    cli_source source;
    FILE *in;
    const char *name; /* name of the input in messages */
    rf_session *session;
    cli_checkpoint checkpoint; /* records learnt from, lines written */
    uint64_t before;           /* records that a resumed run had learnt from */
    uint64_t known, came;      /* those of them in the input, and new ones */
    int is_saved;
    int is_other;  /* the input is a new file: it begins with its first record that is learnt */
    cli_walk echo; /* does a pipe repeat the run? Nothing is saved while it may */
    int may_echo, kinds;
    uint32_t kind[KINDS]; /* of its records */
    cli_history history;       /* rows of its picture, kept beside the checkpoint */
    double flushed;         /* time of the last flush, in seconds */
    rf_batch batch;         /* records of the next update */
    cli_answers answers;    /* the questions asked last */
    cli_record last;        /* latest record of the batch */
    cli_record next;        /* first record of the next batch, */
    int has_next;           /* if already read */
    long first_line;        /* of the batch */
    long capped;            /* updates with a question limited by a setting's range */
    long outside_line, outside; /* the batch's first record with a setting outside its range; number of such records learnt */
    char outside_text[200];     /* what of it */
} stream;

/* ---- Checkpoints ---- */

/* Lines are flushed before the checkpoint that counts them is written. */
static int save_state(stream *s)
{
    char error[512];
    if (!s->config->state || rf_engine_rank(s->engine) != 0 || s->is_saved)
        return CLI_OK;
    if (cli_flush() != CLI_OK)
        return CLI_FAILED;
    cli_history_flush(&s->history);
    const size_t size = cli_checkpoint_write(&s->checkpoint, s->session, NULL);
    unsigned char *bytes = malloc(size);
    int saved = -1;
    if (bytes) {
        cli_checkpoint_write(&s->checkpoint, s->session, bytes);
        saved = cli_state_save(bytes, size, s->description->state, s->config->state_durable, error, sizeof error);
    } else {
        snprintf(error, sizeof error, "not enough memory");
    }
    free(bytes);
    if (saved < 0) {
        cli_error("track: --state: %s", error);
        return CLI_FAILED;
    }
    s->is_saved = 1;
    cli_history_tidy(&s->history);
    return CLI_OK;
}

/* Tells a person who types records which one comes next. */
static void say_where(const stream *s)
{
    const long count = (long)s->checkpoint.chain.count;
    if (isatty(STDERR_FILENO) && !s->config->ask)
        fprintf(stderr, "%s: %ld records are known; the run continues with record %ld\n", s->config->state, count, count + 1);
}

/* Begins again with the input's first record, and passes over those that are known. */
static int read_again(stream *s, off_t begin)
{
    cli_record record;
    cli_records_close(s->source.records);
    s->source.records = lseek(fileno(s->in), begin, SEEK_SET) < 0 ? NULL : cli_records_open(s->in, s->name, &s->config->run.config.description, 1);
    if (!s->source.records)
        return cli_error("track: %s cannot be read again from its beginning", s->name);
    cli_records_rename(s->source.records, s->config->column);
    for (int got = CLI_RECORD; cli_records_count(s->source.records) < (long)s->known;)
        if ((got = cli_records_next(s->source.records, &record)) == CLI_RECORDS_END || got == CLI_RECORDS_FAILED || cli_interrupted)
            return cli_interrupted ? CLI_INTERRUPTED : cli_error("track: %s changed while it was read", s->name);
    return CLI_OK;
}

/* Passes over the records that the run has learnt from. */
static int pass_known(stream *s, double time)
{
    char error[600];
    struct stat about;
    cli_known found;
    const cli_continue how = (cli_continue)s->config->go_on;
    const off_t begin = lseek(fileno(s->in), 0, SEEK_CUR);
    const int is_file = fstat(fileno(s->in), &about) == 0 && S_ISREG(about.st_mode) && begin >= 0;
    s->is_other = is_file;
    s->before = s->checkpoint.chain.count;
    if (s->config->ask || s->before == 0 || how == CLI_CONTINUE_NEW)
        return CLI_OK;
    if (!is_file && how == CLI_CONTINUE_AUTO) {
        s->may_echo = 1;
        s->echo = cli_walk_from_start(&s->checkpoint.chain);
        return CLI_OK;
    }
    const int code = cli_known_find(&s->checkpoint.chain, s->source.records, s->name, how, s->config->skip_bad, time, &found, error, sizeof error);
    if (code != CLI_OK)
        return code == CLI_INTERRUPTED ? code : cli_error("track: %s", error);
    s->known = found.known;
    s->is_other = is_file && found.known == 0;
    return found.read > found.known ? read_again(s, begin) : CLI_OK;
}

/* Resumes from the contents of a checkpoint. */
static int take_state(stream *s, const unsigned char *bytes, size_t size)
{
    char error[1024];
    if (cli_checkpoint_take(&s->checkpoint, s->session, bytes, size, error, sizeof error) < 0)
        return cli_error("track: --state: %s %s; give that, or another file", s->config->state, error);
    const int is_old = s->checkpoint.chain.plain > 0;
    s->is_saved = 1;
    if (rf_engine_rank(s->engine) != 0)
        return CLI_OK;
    rf_step step;
    rf_session_show(s->session, &step);
    const int code = pass_known(s, step.time);
    if (code != CLI_OK) {
        cli_source_end(&s->source);
        return code;
    }
    s->is_saved = !is_old;
    cli_records_begin_at(s->source.records, step.time);
    say_where(s);
    return CLI_OK;
}

static int load_state(stream *s)
{
    char error[512];
    unsigned char *bytes = NULL;
    size_t size = 0;
    int loaded = 0;
    if (!s->config->state)
        return CLI_OK;
    if (rf_engine_rank(s->engine) == 0)
        loaded = cli_state_load(&bytes, &size, s->config->state, error, sizeof error);
    int code = CLI_OK;
    if (rf_engine_share(s->engine, &loaded, sizeof loaded) < 0 || cli_source_share(&s->source, &bytes, &size) < 0)
        code = cli_error("track: MPI cannot share the checkpoint");
    else if (loaded < 0)
        code = cli_error("track: --state: %s", error);
    else if (loaded > 0)
        code = take_state(s, bytes, size);
    free(bytes);
    return code;
}

/* ---- Records ---- */

/* Notes the first record of a batch with a setting outside its range. */
static void look_at_range(stream *s, const cli_record *record)
{
    const rf_record told = cli_record_told(record);
    if (s->outside_line == 0 && rf_record_outside(&s->config->run.config.description, &told, s->outside_text, sizeof s->outside_text))
        s->outside_line = record->line;
}

/* The batch is learnt: says of the run's first record with a setting outside its range, and counts them. */
static void say_outside(stream *s)
{
    char text[200];
    if (s->outside_line == 0)
        return;
    if (s->outside == 0 && rf_engine_rank(s->engine) == 0)
        cli_error("track: %s: line %ld: %s", s->name, s->outside_line, s->outside_text);
    for (uint32_t k = 0; k < s->batch.count; k++)
        s->outside += rf_record_outside(&s->config->run.config.description, &s->batch.record[k], text, sizeof text);
}

/* Reads answers, in any order, until every question has one. */
static int next_answers(stream *s)
{
    int got = CLI_RECORD;
    char why[200];
    s->outside_line = 0;
    s->batch.count = 0;
    while (s->answers.answered < s->answers.count && (got = cli_source_next(&s->source, &s->next)) == CLI_RECORD) {
        const cli_answer taken = cli_answers_take(&s->answers, &s->config->run.config.description, &s->next, why, sizeof why);
        s->last = taken == CLI_ANSWER_TAKEN ? s->next : s->last;
        s->first_line = s->answers.answered == 1 ? s->last.line : s->first_line;
        if (taken == CLI_ANSWER_TAKEN)
            look_at_range(s, &s->next);
        if (taken != CLI_ANSWER_BAD)
            continue;
        if (!s->config->skip_bad) {
            cli_error("track: %s: line %ld: %s", s->name, s->next.line, why);
            return CLI_RECORD_BAD;
        }
        s->source.bad++;
    }
    if (s->answers.answered == 0 || (got != CLI_RECORD && got != CLI_RECORDS_END))
        return got;
    s->batch.count = cli_answers_all(&s->answers, s->batch.record);
    for (uint32_t k = 0; k < s->batch.count; k++)
        cli_records_begin_at(s->source.records, s->batch.record[k].time);
    return CLI_RECORD;
}

/* Reads one batch. Returns CLI_RECORD, or why there is none; a batch ended by the end of input is complete. */
static int next_batch(stream *s)
{
    int got = CLI_RECORD;
    s->outside_line = 0;
    s->batch.count = 0;
    s->batch.together = s->config->run.batch;
    while (s->has_next || (got = cli_source_next(&s->source, &s->next)) == CLI_RECORD) {
        const rf_record told = cli_record_told(&s->next);
        const rf_batch_state state = rf_batch_add(&s->batch, &told, cli_record_batch(&s->next));
        s->has_next = state == RF_BATCH_NEXT;
        if (state == RF_BATCH_NEXT)
            return CLI_RECORD;
        if (state == RF_BATCH_FULL) {
            cli_error("track: %s: line %ld: batch '%s' has more than %d records", s->name, s->next.line, s->next.batch, RF_BATCH_MAX);
            return CLI_RECORDS_FAILED;
        }
        s->last = s->next;
        s->first_line = s->batch.count == 1 ? s->last.line : s->first_line;
        look_at_range(s, &s->next);
        if (state == RF_BATCH_WHOLE)
            return CLI_RECORD;
    }
    return s->batch.count > 0 && got == CLI_RECORDS_END ? CLI_RECORD : got;
}

/* ---- Updates ---- */

/* Buffer output while input is pending; flush before blocking or after 50 ms. */
static int is_due(stream *s)
{
    const double longest = 0.05;
    const double now = rf_clock_seconds();
    if (now - s->flushed < longest && cli_records_is_ready(s->source.records))
        return 0;
    s->flushed = now;
    return 1;
}

/* Is this the run's first record, and those behind it, again? */
static int is_echo(stream *s, const rf_record *record)
{
    const uint32_t own = cli_record_own(record, s->batch.id, s->checkpoint.chain.settings);
    int k = 0;
    cli_walk_add(&s->echo, record, s->batch.id);
    s->may_echo = !s->echo.is_off && s->echo.at <= s->before;
    while (k < s->kinds && s->kind[k] != own)
        k++;
    if (k == s->kinds && k < KINDS)
        s->kind[s->kinds++] = own;
    return s->may_echo && s->kinds == KINDS && s->echo.sure >= ECHO && (s->echo.sure == s->before || s->echo.sure >= 4 * ECHO);
}

/* Adds the batch's records to those known to the checkpoint. Returns CLI_OK, or CLI_BAD_INPUT after a message. */
static int take_note(stream *s)
{
    cli_chain *chain = &s->checkpoint.chain;
    if (s->is_other)
        cli_chain_begin(chain);
    s->is_other = 0;
    for (uint32_t k = 0; k < s->batch.count; k++) {
        if (s->may_echo && is_echo(s, &s->batch.record[k]))
            return cli_error("track: %s repeats the records that the run has learnt; say --continue grown to pass over them, or --continue new", s->name);
        cli_chain_add(chain, &s->batch.record[k], s->batch.id);
    }
    s->came += s->batch.count;
    s->is_saved = 0;
    return CLI_OK;
}

static int end_all(const stream *s)
{
    cli_source_end(&s->source);
    return CLI_FAILED;
}

/* The session refused the batch: with --skip-bad counts its records as bad, else reports the reason. */
static int refuse(stream *s, rf_status status)
{
    char wrong[1200];
    rf_session_unask(s->session);
    for (uint32_t k = 0; k < s->batch.count && status == RF_REFUSED_MODEL; k++)
        if (rf_config_try(&s->config->run.config, s->batch.record[k].setting, wrong, sizeof wrong) < 0)
            return cli_error("track: %s: line %ld: %s", s->name, s->last.line, wrong);
    if (s->config->skip_bad) {
        s->source.bad += s->batch.count;
        return take_note(s) == CLI_OK ? CLI_OK : end_all(s);
    }
    char why[CLI_WHY];
    return cli_error("track: %s: line %ld: %s", s->name, s->last.line, cli_why(status, s->engine, why));
}

/* Prints the settings of the next experiments. */
static int ask(stream *s)
{
    rf_record *questions = s->answers.question;
    const rf_description *description = &s->config->run.config.description;
    const rf_status status = rf_session_ask(s->session, s->config->run.batch, questions);
    if (status < 0)
        return cli_error("track: %s", rf_status_text(status));
    cli_answers_open(&s->answers, s->checkpoint.chain.count, s->config->run.batch);
    for (uint32_t k = 0; k < s->config->run.batch && !cli_interrupted; k++)
        cli_output_ask(stdout, (cli_format)s->config->format, description, (long)s->checkpoint.chain.count + (long)k, questions[k].is_anchor, questions[k].setting);
    return cli_flush();
}

/* Keeps the batch's records for passes. */
static int keep(const stream *s)
{
    for (uint32_t k = 0; k < s->batch.count && s->description->kept; k++)
        if (cli_kept_add(s->description->kept, &s->batch.record[k]) < 0) {
            cli_error("track: --passes: not enough memory for so many records");
            return CLI_FAILED;
        }
    return CLI_OK;
}

/* One update: question, answer, checkpoint. A question without an answer is withdrawn. */
static int one_step(stream *s, int *is_over)
{
    rf_step step;
    if (s->config->ask && ask(s) != CLI_OK)
        return end_all(s);
    const int got = s->config->ask ? next_answers(s) : next_batch(s);
    if (got != CLI_RECORD)
        rf_session_unask(s->session);
    if (got == CLI_RECORD_BAD || got == CLI_RECORDS_FAILED)
        return CLI_BAD_INPUT;
    *is_over = got != CLI_RECORD;
    if (*is_over)
        return CLI_OK;
    if (s->description->is_kept_only) {
        say_outside(s);
        return keep(s);
    }
    const rf_status status = rf_session_tell(s->session, s->batch.record, s->batch.count, &step);
    if (status < 0)
        return refuse(s, status);
    if (take_note(s) != CLI_OK)
        return end_all(s);
    if (keep(s) != CLI_OK)
        return CLI_FAILED;
    if (s->last.has_truth)
        rf_session_show_truth(s->session, s->last.truth, &step);
    s->checkpoint.updates++;
    if (step.report.status & RF_NOTE_RANGE)
        say_outside(s);
    s->capped += (step.report.status & RF_NOTE_CAPPED) != 0;
    if (s->history.series && cli_history_add(&s->history, &step) < 0) {
        cli_error("track: --state: not enough memory for the picture");
        return end_all(s);
    }
    const int is_left = s->description->observer(s->description->user, 0, &step) != 0 && !cli_interrupted;
    if (is_left || (s->checkpoint.updates % s->config->state_every == 0 && !s->may_echo && save_state(s) != CLI_OK) || (is_due(s) && cli_flush() != CLI_OK))
        return end_all(s);
    if (!(step.health == RF_LOST && step.is_tested > 0 && s->config->run.config.on_lost == RF_ON_LOST_STOP))
        return CLI_OK;
    cli_error("track: %s: line %ld: the filter has lost the truth, and --on-lost is stop", s->name, s->first_line);
    save_state(s);
    return CLI_FAILED;
}

/* Hints for a person at a terminal; programs find the same in the output lines. */
static void say_what_is_left(const stream *s, int code)
{
    rf_step step;
    rf_session_show(s->session, &step);
    if (s->checkpoint.updates > 0 && step.is_coarse && isatty(STDERR_FILENO))
        fprintf(stderr, "rejfilt: track: belief '%s' is too coarse for these records, and its intervals may be wrong (loss %.3g nats): try --belief mixture or "
                "particles, --passes on a file, or --batch\n", s->config->run.config.belief, step.loss);
    if (s->capped > 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "rejfilt: track: a setting was at the end of its range in %ld of the questions: --range may allow more\n", s->capped);
    if (s->config->plot && s->history.failure[0])
        fprintf(stderr, "rejfilt: track: a later picture will lack this run's steps: %s\n", s->history.failure);
    if (s->outside > 1 && rf_engine_rank(s->engine) == 0)
        fprintf(stderr, "rejfilt: track: %ld records had settings outside their ranges\n", s->outside);
    if (s->source.bad > 0)
        fprintf(stderr, "rejfilt: track: %ld bad records passed over\n", s->source.bad);
    if (code == CLI_OK && s->before > 0 && !s->config->ask)
        fprintf(stderr, "rejfilt: track: %s: %llu known, %llu new\n", s->name, (unsigned long long)s->known, (unsigned long long)s->came);
}

static int run(stream *s)
{
    char error[300];
    int is_over = 0;
    s->session = rf_session_open(&s->config->run.config, error, sizeof error);
    if (!s->session)
        return cli_error("track: %s", error);
    s->checkpoint.chain = cli_chain_of(s->config->run.config.description.settings);
    if (s->config->state)
        cli_checkpoint_begin(&s->checkpoint, &s->config->run.config, s->config->run.batch, rf_model_source(s->config->run.config.model));
    int code = load_state(s);
    if (code == CLI_OK && s->config->state && s->description->series && rf_engine_rank(s->engine) == 0)
        cli_history_open(&s->history, s->description->state, s->description->series, s->checkpoint.updates, s->config->plot != NULL);
    const uint64_t resumed_at = s->checkpoint.updates;
    while (code == CLI_OK && !is_over)
        code = one_step(s, &is_over);
    if (code == CLI_OK || code == CLI_BAD_INPUT) {
        int saved = s->checkpoint.updates > 0 ? save_state(s) : CLI_OK;
        code = code == CLI_OK ? saved : code;
    }
    cli_history_close(&s->history);
    say_what_is_left(s, code);
    if (s->config->data && code == CLI_OK && !cli_interrupted && !s->config->ask && s->checkpoint.chain.count == 0 && s->last.line == 0 && s->source.bad == 0 && rf_engine_rank(s->engine) == 0)
        fprintf(stderr, "rejfilt: track: %s: no records\n", s->name);
    if (s->config->plot && s->history.series && s->history.series->count > 0 && resumed_at > 0 && cli_series_at(s->history.series, 0, CLI_STEP) > 0)
        fprintf(stderr, "rejfilt: track: the picture begins with step %.0f: before it the run had no --plot\n", cli_series_at(s->history.series, 0, CLI_STEP));
    return code == CLI_OK && cli_interrupted ? CLI_INTERRUPTED : code;
}

int cli_stream_run(const cli_stream *description)
{
    const cli_track_config *config = description->config;
    stream *s = calloc(1, sizeof *s);
    int code = CLI_FAILED;
    if (!s) {
        cli_error("track: not enough memory");
        return CLI_FAILED;
    }
    s->description = description;
    s->config = config;
    s->engine = config->run.config.engine;
    s->source = (cli_source){.engine = s->engine, .command = "track", .skip_bad = config->skip_bad};
    s->name = config->data ? config->data : "standard input";
    char error[600];
    s->in = config->data ? rf_file_listen(config->data, error, sizeof error) : stdin;
    if (!s->in) {
        code = cli_error("track: --data: %s", error);
    } else if (!(s->source.records = cli_records_open(s->in, s->name, &config->run.config.description, !config->ask))) {
        cli_error("track: not enough memory");
    } else {
        cli_records_rename(s->source.records, config->column);
        code = run(s);
    }
    rf_session_close(s->session);
    cli_chain_free(&s->checkpoint.chain);
    cli_records_close(s->source.records);
    if (config->data && s->in)
        fclose(s->in);
    free(s);
    return code;
}
