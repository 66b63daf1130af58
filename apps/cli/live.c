/* Tracking with records that come from outside. Compiled per precision. */
#define _POSIX_C_SOURCE 200809L
#include "live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "output.h"
#include "records.h"
#include "simulate.h"

#if RF_PRECISION == 32
#define RF_ENGINE(engine) rf_engine_f32(engine)
#else
#define RF_ENGINE(engine) rf_engine_f64(engine)
#endif

enum { BATCH_MAX = 1024 }; /* records that share a batch id */

typedef struct batch {
    cli_record record[BATCH_MAX]; /* of which the first `count` belong together */
    uint32_t count;
    int has_next; /* record[count] is the first of the next batch */
} batch;

typedef struct session {
    const cli_live *live;
    const cli_track_config *config;
    cli_records *records;
    FILE *in;
    const char *name; /* of the input */
    RF(tracker) tracker;
    long position, updates, bad; /* records learnt from, lines written, bad records passed over */
    double time;                 /* of the latest record; NaN: none had one */
    double flushed;              /* when output last went out, in seconds */
    uint64_t hash;               /* of the records learnt from */
    batch batch;
    rf_real *numbers; /* the batch, as the filter takes it */
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(RF_NAMES_MAX)];
} session;

/* ---- Ranks: one reads, all learn ---- */

typedef struct shared_record {
    int got;
    cli_record record;
} shared_record;

/* What only the first rank knows of ends it: the others, which wait for the next record, are told so in its place. */
static int end_all(session *s)
{
    shared_record both;
    memset(&both, 0, sizeof both);
    both.got = CLI_RECORDS_FAILED;
    if (rf_engine_rank(s->live->engine) == 0)
        rf_engine_share(s->live->engine, &both, sizeof both);
    return CLI_FAILED;
}

/* ---- Checkpoints ---- */

/* What identifies the records so far: resumed on the same file, they are passed over. */
static uint64_t hash_record(uint64_t hash, const cli_record *r, unsigned settings)
{
    double values[RF_NAMES_MAX + 2] = {r->is_missing ? 0.5 : r->outcome, r->has_time ? r->time : 0};
    for (unsigned i = 0; i < settings; i++)
        values[2 + i] = isnan(r->setting[i]) ? 0.25 : r->setting[i];
    return cli_hash(hash, values, (2 + settings) * sizeof *values);
}

static void put_state(const session *s, cli_state *out)
{
    const RF(tracker) *t = &s->tracker;
    const RF(health) *h = &t->health;
    const unsigned dim = t->model.dim;
    cli_state_put_u64(out, cli_track_fingerprint(s->config));
    cli_state_put_u64(out, (uint64_t)s->position);
    cli_state_put_u64(out, (uint64_t)s->updates);
    cli_state_put_u64(out, s->hash);
    cli_state_put_f64(out, s->time);
    cli_state_put_u64(out, t->filter->seed);
    cli_state_put_u32(out, RF(filter_updates)(t->filter));
    cli_state_put_u32(out, t->experiments);
    const uint32_t counts[] = {(uint32_t)h->state, h->next_anchor, h->failed, h->widened, h->restarts};
    for (unsigned i = 0; i < 5; i++)
        cli_state_put_u32(out, counts[i]);
    const rf_real numbers[] = {h->surprise, h->variance, t->evidence.log, t->evidence.carry, t->evidence.variance, t->options.kappa};
    for (unsigned i = 0; i < 6; i++)
        cli_state_put_f64(out, (double)numbers[i]);
    for (unsigned i = 0; i < dim; i++)
        cli_state_put_f64(out, (double)RF(filter_mean)(t->filter)[i]);
    for (unsigned i = 0; i < RF_TRIANGLE(dim); i++)
        cli_state_put_f64(out, (double)RF(filter_factor)(t->filter)[i]);
    cli_state_put_f64(out, (double)t->evidence.variance_carry);
    for (unsigned i = 0; i < dim; i++)
        cli_state_put_f64(out, (double)RF(filter_rest)(t->filter, i));
}

/* Returns 0, or -1 when the contents are not those of this run. */
static int get_state(session *s, cli_state *in)
{
    RF(tracker) *t = &s->tracker;
    RF(health) *h = &t->health;
    const unsigned dim = t->model.dim;
    if (cli_state_get_u64(in) != cli_track_fingerprint(s->config))
        return -1;
    s->position = (long)cli_state_get_u64(in);
    s->updates = (long)cli_state_get_u64(in);
    s->hash = cli_state_get_u64(in);
    s->time = cli_state_get_f64(in);
    uint64_t seed = cli_state_get_u64(in);
    uint32_t updates = cli_state_get_u32(in);
    t->experiments = cli_state_get_u32(in);
    h->state = (rf_health)(cli_state_get_u32(in) & 3);
    h->next_anchor = cli_state_get_u32(in);
    h->failed = cli_state_get_u32(in);
    h->widened = cli_state_get_u32(in);
    h->restarts = cli_state_get_u32(in);
    rf_real *const numbers[] = {&h->surprise, &h->variance, &t->evidence.log, &t->evidence.carry, &t->evidence.variance, &t->options.kappa};
    for (unsigned i = 0; i < 6; i++)
        *numbers[i] = (rf_real)cli_state_get_f64(in);
    rf_real mean[RF_NAMES_MAX], rest[RF_NAMES_MAX], factor[RF_TRIANGLE(RF_NAMES_MAX)];
    for (unsigned i = 0; i < dim; i++)
        mean[i] = (rf_real)cli_state_get_f64(in);
    for (unsigned i = 0; i < RF_TRIANGLE(dim); i++)
        factor[i] = (rf_real)cli_state_get_f64(in);
    t->evidence.variance_carry = cli_state_is_read(in) ? 0 : (rf_real)cli_state_get_f64(in); /* version 1 had none, */
    const int has_rest = !cli_state_is_read(in);                                             /* nor version 2 a rest */
    for (unsigned i = 0; i < dim; i++)
        rest[i] = has_rest ? (rf_real)cli_state_get_f64(in) : 0;
    if (!cli_state_is_read(in))
        return -1;
    return RF(filter_restore)(t->filter, seed, updates, mean, factor, rest) < 0 ? -1 : 0;
}

/* A line is in the output before it is in the checkpoint. */
static int save_state(session *s)
{
    cli_state state = {.size = 0};
    char error[512];
    if (!s->config->state || rf_engine_rank(s->live->engine) != 0)
        return CLI_OK;
    if (cli_flush() != CLI_OK)
        return CLI_FAILED;
    put_state(s, &state);
    if (cli_state_save(&state, s->live->state, s->config->state_durable, error, sizeof error) < 0) {
        cli_error("track: --state: %s", error);
        return CLI_FAILED;
    }
    return CLI_OK;
}

/* Whoever sends records by hand has to know where to go on. */
static void say_where(const session *s)
{
    if (isatty(STDERR_FILENO) && !s->config->ask)
        fprintf(stderr, "%s: %ld records are known; it goes on with record %ld\n", s->config->state, s->position, s->position + 1);
}

/* The same records again, from the start of a file? Then those that are known are passed over. */
static int pass_over(session *s)
{
    struct stat about;
    const unsigned settings = s->config->run.about.settings;
    uint64_t hash = 0;
    cli_record record;
    const off_t begin = lseek(fileno(s->in), 0, SEEK_CUR);
    if (s->config->ask || fstat(fileno(s->in), &about) != 0 || !S_ISREG(about.st_mode) || begin < 0)
        return CLI_OK;
    while (cli_records_count(s->records) < s->position) {
        int got = cli_records_next(s->records, &record);
        if (got == CLI_RECORD)
            hash = hash_record(hash, &record, settings);
        else if (got != CLI_RECORD_BAD)
            break;
    }
    if (cli_records_count(s->records) == s->position && hash == s->hash)
        return CLI_OK;
    cli_records_close(s->records); /* other records: they come after those that are known */
    if (lseek(fileno(s->in), begin, SEEK_SET) < 0 || !(s->records = cli_records_open(s->in, s->name, &s->config->run.about, 1)))
        return cli_error("track: %s cannot be read again from its beginning", s->name);
    return CLI_OK;
}

static int load_state(session *s)
{
    struct {
        int loaded;
        cli_state state;
    } both;
    char error[512];
    if (!s->config->state)
        return CLI_OK;
    memset(&both, 0, sizeof both);
    if (rf_engine_rank(s->live->engine) == 0)
        both.loaded = cli_state_load(&both.state, s->config->state, error, sizeof error);
    if (rf_engine_share(s->live->engine, &both, sizeof both) < 0)
        return cli_error("track: MPI cannot share the checkpoint");
    if (both.loaded < 0)
        return rf_engine_rank(s->live->engine) == 0 ? cli_error("track: --state: %s", error) : CLI_BAD_INPUT;
    if (both.loaded == 0)
        return CLI_OK;
    if (get_state(s, &both.state) < 0)
        return cli_error("track: --state: %s is of a run with other options (model, prior, seed, ...); give those, or another file", s->config->state);
    if (rf_engine_rank(s->live->engine) != 0)
        return CLI_OK;
    if (pass_over(s) != CLI_OK)
        return end_all(s);
    cli_records_begin_at(s->records, s->time);
    say_where(s);
    return CLI_OK;
}

/* ---- Records ---- */

/* The next record, for all ranks. Returns what cli_records_next does; bad ones are refused or passed over here. Signals
   reach ranks at different times: the first one's count. */
static int next_record(session *s, cli_record *record)
{
    shared_record both;
    memset(&both, 0, sizeof both);
    if (rf_engine_rank(s->live->engine) == 0) {
        do
            both.got = cli_interrupted ? CLI_RECORDS_INTERRUPTED : cli_records_next(s->records, &both.record);
        while ((both.got == CLI_RECORD_BAD && s->config->skip_bad && ++s->bad) || (both.got == CLI_RECORDS_INTERRUPTED && !cli_interrupted));
        if (both.got == CLI_RECORD_BAD || both.got == CLI_RECORDS_FAILED)
            cli_error("track: %s", cli_records_error(s->records));
    }
    if (rf_engine_share(s->live->engine, &both, sizeof both) < 0)
        return CLI_RECORDS_FAILED;
    *record = both.record;
    return both.got;
}

static int belong_together(const cli_record *a, const cli_record *b)
{
    if (a->is_missing || b->is_missing || a->has_batch != b->has_batch)
        return 0;
    return !a->has_batch || strcmp(a->batch, b->batch) == 0;
}

/* Fills the batch: as many as were asked for; else records of one batch id, or up to --batch without ids. Returns CLI_RECORD,
   or what ended it: a batch that the end cut short is still one. */
static int next_batch(session *s)
{
    batch *b = &s->batch;
    if (b->has_next)
        b->record[0] = b->record[b->count];
    int got = b->has_next ? CLI_RECORD : next_record(s, &b->record[0]);
    b->has_next = 0;
    b->count = got == CLI_RECORD;
    while (got == CLI_RECORD && (s->config->ask || !b->record[0].is_missing)) {
        const int by_id = !s->config->ask && b->record[0].has_batch;
        if (!by_id && b->count == s->config->run.batch)
            break;
        if (b->count == BATCH_MAX - 1) {
            cli_error("track: %s: line %ld: batch '%s' has more than %d records", s->name, b->record[b->count - 1].line, b->record[0].batch, BATCH_MAX - 1);
            return CLI_RECORDS_FAILED;
        }
        got = next_record(s, &b->record[b->count]);
        b->has_next = got == CLI_RECORD && !s->config->ask && !belong_together(&b->record[0], &b->record[b->count]);
        if (b->has_next)
            break;
        b->count += got == CLI_RECORD;
    }
    return b->count > 0 && got == CLI_RECORDS_END ? CLI_RECORD : got;
}

/* ---- Steps ---- */

/* Lines go out together while records are there to be learnt from; but before it waits, and when the last have waited long. */
static int is_due(session *s)
{
    const double longest = 0.05;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (now - s->flushed < longest && cli_records_is_ready(s->records))
        return 0;
    s->flushed = now;
    return 1;
}

/* Time between the record before and the batch's last one. */
static double elapsed(const session *s, const batch *b)
{
    const cli_record *last = &b->record[b->count - 1];
    if (!last->has_time)
        return s->position == 0 ? b->count - 1 : b->count;
    return isnan(s->time) ? 0 : last->time - s->time;
}

/* The batch's records count as learnt from. */
static void take_note(session *s)
{
    const batch *b = &s->batch;
    for (uint32_t k = 0; k < b->count; k++)
        s->hash = hash_record(s->hash, &b->record[k], s->tracker.model.settings);
    s->position += b->count;
}

/* Learns from the batch's outcomes, if there are any: `known` of them. */
static rf_status learn(session *s, RF(report) *report, uint32_t *known)
{
    const batch *b = &s->batch;
    const unsigned settings = s->tracker.model.settings;
    *known = 0;
    for (uint32_t k = 0; k < b->count; k++) {
        rf_real *number = s->numbers + *known * (settings + 1);
        if (b->record[k].is_missing) {
            RF(track_skip)(&s->tracker, *known);
            continue;
        }
        for (unsigned i = 0; i < settings; i++)
            number[i] = (rf_real)b->record[k].setting[i];
        number[settings] = (rf_real)b->record[k].outcome;
        ++*known;
    }
    return *known ? RF(track_tell)(&s->tracker, s->numbers, *known, RF_ENGINE(s->live->engine), report) : RF_OK;
}

static rf_status tell(session *s, cli_step *step)
{
    const batch *b = &s->batch;
    const cli_record *last = &b->record[b->count - 1];
    RF(report) report = {.kappa = s->tracker.options.kappa};
    rf_status status = RF(track_pass)(&s->tracker, (rf_real)elapsed(s, b));
    if (status >= 0)
        status = learn(s, &report, &step->records);
    if (status < 0)
        return status;
    take_note(s);
    s->time = last->has_time ? last->time : s->time;

    rf_real truth[RF_NAMES_MAX];
    for (unsigned i = 0; i < s->tracker.model.dim; i++)
        truth[i] = RF(chart_coordinate)(&s->tracker.charts[i], (rf_real)last->truth[i]);
    RF(simulate_describe)(&s->tracker, last->has_truth ? truth : NULL, step);
    RF(simulate_widen_report)(&report, &step->report);
    step->step = s->position - 1;
    step->time = s->time;
    memcpy(step->setting, last->setting, sizeof step->setting);
    step->outcome = last->outcome;
    return RF_OK;
}

/* The filter does not take the batch's numbers. */
static int refuse(session *s, rf_status status)
{
    if (s->config->skip_bad) {
        s->bad += s->batch.count;
        take_note(s);
        return CLI_OK;
    }
    char why[CLI_WHY];
    if (rf_engine_rank(s->live->engine) == 0)
        cli_error("track: %s: line %ld: %s", s->name, s->batch.record[s->batch.count - 1].line, cli_why(status, s->live->engine, why));
    return CLI_BAD_INPUT;
}

/* Asks for a batch and puts the settings of the questions into the answers. */
static int ask(session *s, double setting[][RF_NAMES_MAX])
{
    rf_real chosen[RF_NAMES_MAX];
    const rf_description *about = &s->config->run.about;
    for (uint32_t k = 0; k < s->config->run.batch; k++) {
        RF(track_ask)(&s->tracker, chosen);
        for (unsigned i = 0; i < about->settings; i++)
            setting[k][i] = (double)chosen[i];
        if (!cli_interrupted)
            cli_output_ask(stdout, about, s->position + (long)k, (int)(s->tracker.anchors >> k & 1), setting[k]);
    }
    return cli_flush();
}

/* One update: time passes, the question, the answer. What the passing of time did while the question was put is undone
   when the answer says that it was another time. A question without an answer was never asked. */
static int one_step(session *s, int *is_over)
{
    const RF(tracker) unasked = s->tracker;
    double setting[CLI_BATCH_MAX][RF_NAMES_MAX];
    cli_step step = {.time = NAN};
    RF_ALIGNED unsigned char before[sizeof s->memory];
    memcpy(before, s->memory, sizeof before);
    if (s->config->ask) {
        if (RF(track_pass)(&s->tracker, (rf_real)(s->position > 0)) < 0)
            return CLI_FAILED;
        if (ask(s, setting) != CLI_OK)
            return end_all(s);
        memcpy(s->memory, before, sizeof before);
    }
    int got = next_batch(s);
    if (got != CLI_RECORD)
        s->tracker = unasked;
    if (got == CLI_RECORD_BAD || got == CLI_RECORDS_FAILED)
        return CLI_BAD_INPUT;
    *is_over = got != CLI_RECORD;
    if (*is_over)
        return CLI_OK;
    for (uint32_t k = 0; k < s->batch.count && s->config->ask; k++)
        memcpy(s->batch.record[k].setting, setting[k < CLI_BATCH_MAX ? k : 0], sizeof setting[0]);
    rf_status status = tell(s, &step);
    if (status < 0) {
        memcpy(s->memory, before, sizeof before);
        s->tracker = unasked;
        return refuse(s, status);
    }
    s->updates++;
    const int is_left = s->live->observer(s->live->user, 0, &step) != 0 && !cli_interrupted;
    if (is_left || (s->updates % (long)s->config->state_every == 0 && save_state(s) != CLI_OK) || (is_due(s) && cli_flush() != CLI_OK))
        return end_all(s);
    const int is_lost_now = s->tracker.health.state == RF_LOST && s->tracker.health.verdict > 0 && step.records > 0;
    if (!is_lost_now || s->tracker.on_lost != RF_ON_LOST_STOP)
        return CLI_OK;
    if (rf_engine_rank(s->live->engine) == 0)
        cli_error("track: %s: line %ld: the filter has lost the truth, and --on-lost is stop", s->name, s->batch.record[0].line);
    if (s->updates % (long)s->config->state_every != 0)
        save_state(s);
    return CLI_FAILED;
}

static int run(session *s)
{
    const rf_words w = rf_draw(s->config->run.seed, 0, 0, 0, RF_FOR_USER);
    int is_over = 0, code = CLI_OK;
    rf_status status = RF(simulate_open)(&s->config->run, (uint64_t)w.word[1] << 32 | w.word[0], s->memory, sizeof s->memory, &s->tracker);
    if (status < 0)
        return cli_error("track: %s", rf_status_text(status));
    code = load_state(s);
    while (code == CLI_OK && !is_over)
        code = one_step(s, &is_over);
    if (code == CLI_OK || code == CLI_BAD_INPUT) {
        int saved = s->updates > 0 && s->updates % (long)s->config->state_every != 0 ? save_state(s) : CLI_OK;
        code = code == CLI_OK ? saved : code;
    }
    if (s->bad > 0)
        fprintf(stderr, "rejfilt: track: %ld bad records passed over\n", s->bad);
    return code == CLI_OK && cli_interrupted ? CLI_INTERRUPTED : code;
}

int RF(live_run)(const cli_live *live)
{
    const cli_track_config *config = live->config;
    session *s = calloc(1, sizeof *s);
    int code = CLI_FAILED;
    if (!s || !(s->numbers = calloc(BATCH_MAX * (RF_NAMES_MAX + 1), sizeof *s->numbers))) {
        free(s);
        cli_error("track: not enough memory");
        return CLI_FAILED;
    }
    s->live = live;
    s->config = config;
    s->time = NAN;
    s->name = config->data ? config->data : "standard input";
    char error[600];
    s->in = config->data ? rf_file_listen(config->data, error, sizeof error) : stdin;
    if (!s->in) {
        code = cli_error("track: --data: %s", error);
    } else if (!(s->records = cli_records_open(s->in, s->name, &config->run.about, !config->ask))) {
        cli_error("track: not enough memory");
    } else {
        code = run(s);
    }
    cli_records_close(s->records);
    if (config->data && s->in)
        fclose(s->in);
    free(s->numbers);
    free(s);
    return code;
}
