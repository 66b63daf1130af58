/* rejfilt compare: which model do the records support? Records from a file are kept, and candidates without drift
   are judged by passes over them. The other candidates learn batch by batch, in several repeats. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "options.h"
#include "file.h"

enum { NOT_GIVEN = -1 };

/* ---- Options ---- */

static int set_model(void *c, const char *value, char *error, size_t size)
{
    compare_config *all = c;
    if (all->count == CANDIDATES_MAX) {
        snprintf(error, size, "more than %d candidates", CANDIDATES_MAX);
        return -1;
    }
    if (cli_model_find("compare", value, &all->candidates[all->count].model, error, size) < 0)
        return -1;
    all->count++;
    return 0;
}

/* The candidate of the latest --model, or null before the first. */
static compare_candidate *latest(compare_config *c) { return c->count ? &c->candidates[c->count - 1] : NULL; }

static int set_drift(void *c, const char *value, char *error, size_t size)
{
    compare_candidate *last = latest(c);
    return cli_list_add(last ? last->own.drift : ((compare_config *)c)->common.drift, RF_DESCRIBED_MAX, value, error, size);
}

static int set_prior(void *c, const char *value, char *error, size_t size)
{
    compare_candidate *last = latest(c);
    return cli_list_add(last ? last->own.prior : ((compare_config *)c)->common.prior, RF_DESCRIBED_MAX, value, error, size);
}

static int set_label(void *c, const char *value, char *error, size_t size)
{
    compare_candidate *last = latest(c);
    if (!last) {
        snprintf(error, size, "'%s' comes before the --model it is about", value);
        return -1;
    }
    if (!*value || strlen(value) >= LABEL_MAX - 8) {
        snprintf(error, size, "'%s' is not 1 to %d bytes long", value, LABEL_MAX - 9);
        return -1;
    }
    last->label = value;
    return 0;
}

#define AT(field) offsetof(compare_config, field)

static const cli_option options[] = {
    {"model", "NAME|FILE.c", "a candidate: a built-in model (see 'rejfilt models') or your\nown; 2 to 16 of them", set_model, CLI_CUSTOM, 0, 0, 0, NULL},
    {"drift", "[NAME=]SD", "standard deviation of a parameter's walk per record, or per\nunit of time; 0: it is static (default: the model's)", set_drift, CLI_CUSTOM, 0, 0, 0, NULL},
    {"prior", "[NAME=]A:B", "uniform prior from A to B; or M+-S, a Gaussian with mean M\nand standard deviation S (default: the model's)", set_prior, CLI_CUSTOM, 0, 0, 0, NULL},
    {"label", "TEXT", "name of the candidate (default: its model and options)", set_label, CLI_CUSTOM, 0, 0, 0, NULL},
    {"data", "FILE", "the records (default: standard input); FILE alone, without\n--data, means the same", NULL, CLI_INPUT, AT(data), 0, 0, NULL},
    {"", "FILE", "", NULL, CLI_INPUT, AT(data), 0, 0, NULL}, /* same value as --data */
    {"column", "NAME=COLUMN", "read a setting, outcome, time or batch from the column of\nthis name: --column t='Wait [us]'", NULL, CLI_LIST, AT(column), 0, 0, NULL},
    {"attempts", "M", "attempts per update and repeat (default 1000)", NULL, CLI_U64, AT(attempts), 1, RF_ATTEMPTS_MAX, NULL},
    {"repeat", "R", "average R repeats per candidate, each with a seed of its own\n(default 4)", NULL, CLI_U64, AT(repeat), 1, REPEAT_MAX, NULL},
    {"passes", "[yes|no]", "the exact evidence of candidates without drift, by several\npasses over all records; the default for a file, unless\n--attempts or --repeat is given", NULL, CLI_NAME, AT(passes), 0, 0, cli_passes_names},
    {"seed", "S", "the same seed gives the same numbers (default 1)", NULL, CLI_U64, AT(seed), 0, 0, NULL},
    {"sampler", "NAME", "reject (default), lattice, or weight", NULL, CLI_NAME, AT(sampler), 0, 0, rf_sampler_names},
    {"engine", "NAME", cli_engine_help, NULL, CLI_TEXT, AT(engine), 0, 0, NULL},
    {"precision", "P", "the filters' numbers: float or double (default)", NULL, CLI_NAME, AT(precision), 0, 0, rf_precision_names},
    {"skip-bad", NULL, "skip bad records and count them, instead of stopping at the\nfirst", NULL, CLI_FLAG, AT(skip_bad), 0, 0, NULL},
    {"json", NULL, "one JSON object", NULL, CLI_FLAG, AT(json), 0, 0, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "compare",
    "--model A [--drift D] [--prior P] --model B ... [OPTION...] [FILE | < DATA]",
    "Says which of several models the records favour. For each it prints ln evidence,\n"
    "the logarithm of the probability that it gave to all outcomes before they came.\n"
    "Then come Bayes factors K against the best, probabilities if all were equally\n"
    "likely before, and a verdict. --drift, --prior and --label belong to the --model\n"
    "before them. Before the first --model, --drift and --prior apply to all candidates.\n"
    "\n"
    "Records are JSON lines or CSV with a header: every setting of every candidate\n"
    "by name, and 'outcome'. If it is empty or null, time passes and nothing is\n"
    "learnt. 'time' says when; without it, records are 1 apart. Records in a row with\n"
    "the same 'batch' are learnt from together. The output of 'rejfilt track --json'\n"
    "is a file of records, too.\n"
    "\n"
    "The number after +- is the standard error, from the repeats or of the passes.\n"
    "A difference is noise if |ln K| is below 2 standard errors, unless all repeats\n"
    "agree. Else the records do not tell two models apart if |ln K| is below 1, and\n"
    "slightly favour the better one if it is below 3 (K < 20).",
    options,
    "  Does the frequency drift? Simulate one that does, and ask. The second is favoured:\n"
    "    rejfilt track --simulate --json --steps 100 > walk.jsonl\n"
    "    rejfilt compare --model precession --drift 0 --model precession --drift 0.026 < walk.jsonl\n\n"
    "  Is there a fringe at all, or would a coin do? The coin needs none of the settings,\n"
    "  and its probability of 1 may be anything. Again the fringe is favoured:\n"
    "    rejfilt compare --model precession --model coin --data walk.jsonl\n\n"
    "  Your own data, with names of your choice:\n"
    "    rejfilt compare --model ./mine.c --label mine --model ramsey --prior g=0.01:0.02 < shots.csv",
    NULL,
    0,
};

/* ---- Candidates ---- */

static void append(char *text, size_t size, const char *what, const char *const list[])
{
    for (unsigned i = 0; list[i]; i++)
        snprintf(text + strlen(text), size - strlen(text), "%s %s", i ? "" : what, list[i]);
}

static int is_taken(const compare_config *c, unsigned before, const char *name)
{
    for (unsigned i = 0; i < before; i++)
        if (strcmp(c->candidates[i].name, name) == 0)
            return 1;
    return 0;
}

/* Names a candidate: its label, or its model and its options. A name that is taken gets a suffix. */
static void name_candidate(compare_config *c, unsigned which)
{
    compare_candidate *a = &c->candidates[which];
    char base[LABEL_MAX - 8];
    snprintf(base, sizeof base, "%s", a->label ? a->label : a->run.config.description.name);
    if (!a->label) {
        append(base, sizeof base, " drift", a->own.drift);
        append(base, sizeof base, " prior", a->own.prior);
    }
    snprintf(a->name, sizeof a->name, "%s", base);
    for (unsigned number = 2; is_taken(c, which, a->name); number++)
        snprintf(a->name, sizeof a->name, "%s (%u)", base, number);
}

typedef int setter(rf_config *config, const char *text, char *error, size_t size);

/* Applies the common options if the candidate has such a parameter, then the candidate's own. */
static int apply(const char *option, setter *set, compare_candidate *a, const char *const common[], const char *const own[])
{
    char error[256] = "";
    int result = 0;
    for (unsigned i = 0; common[i] && result == 0; i++)
        if (cli_model_has(a->model, common[i]))
            result = set(&a->run.config, common[i], error, sizeof error);
    for (unsigned i = 0; own[i] && result == 0; i++)
        result = set(&a->run.config, own[i], error, sizeof error);
    return result == 0 ? CLI_OK : cli_error("compare: --%s: %s", option, error);
}

/* An option for all candidates must apply to at least one. */
static int check_common(const compare_config *c, const char *option, const char *const common[])
{
    for (unsigned i = 0; common[i]; i++) {
        int is_used = 0;
        for (unsigned k = 0; k < c->count; k++)
            is_used |= cli_model_has(c->candidates[k].model, common[i]);
        if (!is_used)
            return cli_error("compare: --%s: no candidate has a parameter '%.*s'", option, (int)strcspn(common[i], "="),
                             common[i]);
    }
    return CLI_OK;
}

static int settle(compare_config *c, compare_candidate *a)
{
    char error[256];
    a->run = (rf_simulation){.config = rf_config_default(a->model), .batch = 1};
    a->run.config.seed = c->seed;
    a->run.config.attempts = (uint32_t)c->attempts;
    a->run.config.sampler = (rf_sampler)c->sampler;
    a->run.config.is_float = c->precision;
    a->run.config.engine = c->opened;
    int code = apply("drift", rf_set_drift, a, c->common.drift, a->own.drift);
    if (code == CLI_OK)
        code = apply("prior", rf_set_prior, a, c->common.prior, a->own.prior);
    if (code == CLI_OK && rf_check_priors(&a->run.config, error, sizeof error) < 0)
        code = cli_error("compare: model %s: --%s", a->run.config.description.name, error);
    return code;
}

/* The class of outcomes: models are comparable only within one. All counts are one class, and all real numbers. */
static unsigned comparable(unsigned outcomes)
{
    return rf_outcomes_fixed(outcomes) ? outcomes : rf_outcomes_are_whole(outcomes) ? RF_COUNTS : RF_NUMBERS;
}

/* Adds a candidate's settings to the common list. A setting fixed in every model may be missing in the records: the
   reader then gives NaN, and each model uses its own value. */
static int merge(compare_config *c, compare_candidate *a)
{
    const rf_description *description = &a->run.config.description;
    for (unsigned i = 0; i < description->settings; i++) {
        const rf_setting *setting = &description->setting[i];
        unsigned at = 0;
        while (at < c->all.settings && strcmp(c->all.setting[at].name, setting->name) != 0)
            at++;
        if (at == RF_DESCRIBED_MAX)
            return cli_error("compare: the candidates have more than %u settings together", RF_DESCRIBED_MAX);
        if (at == c->all.settings) {
            c->all.setting[at] = *setting;
            c->all.setting[at].low = NAN;
            c->all.settings++;
        } else if (setting->role != RF_SETTING_FIXED) {
            c->all.setting[at].role = setting->role;
        }
        a->from[i] = at;
    }
    if (comparable(description->outcomes) == c->all.outcomes)
        return CLI_OK;
    const compare_candidate *first = &c->candidates[0];
    return cli_error(
        "compare: %s and %s cannot be compared: they speak of different outcomes ('rejfilt models' lists them)",
        first->name, a->name);
}

static int settle_all(compare_config *c)
{
    if (c->count < 2)
        return cli_error("compare: %s; give --model two to %d times (see 'rejfilt compare --help')",
                         c->count ? "one model has nothing to be compared with" : "there are no models",
                         CANDIDATES_MAX);
    int code = check_common(c, "drift", c->common.drift);
    if (code == CLI_OK)
        code = check_common(c, "prior", c->common.prior);
    c->all = (rf_description){.name = "all candidates", .outcomes = comparable(c->candidates[0].model->f64->description->outcomes)};
    for (unsigned i = 0; i < c->count && code == CLI_OK; i++) {
        code = settle(c, &c->candidates[i]);
        if (code == CLI_OK) {
            name_candidate(c, i);
            code = merge(c, &c->candidates[i]);
        }
    }
    char error[300];
    static rf_simulation reader;
    reader.config.description = c->all;
    for (unsigned i = 0; c->column[i] && code == CLI_OK; i++)
        if (cli_model_column(&reader, c->column[i], error, sizeof error) < 0)
            code = cli_error("compare: --column: %s", error);
    for (unsigned i = 0; i < c->count && code == CLI_OK; i++) {
        compare_candidate *a = &c->candidates[i];
        a->by_passes = c->passes == CLI_PASSES_YES && rf_passes_check(&a->run.config, NULL, 0) == 0;
        a->kept.settings = a->run.config.description.settings;
        a->scorer = cli_score_open(&a->run.config, a->by_passes ? 1 : (uint32_t)c->repeat, error, sizeof error);
        if (!a->scorer)
            code = cli_error("compare: %s: %s", a->name, error);
    }
    return code;
}

/* Decides about passes; fills in defaults. */
static int choose_passes(compare_config *c)
{
    const int is_said = c->attempts > 0 || c->repeat > 0 || c->sampler != NOT_GIVEN || c->precision != NOT_GIVEN;
    if (c->passes == CLI_PASSES_YES && is_said)
        return cli_error("compare: --passes makes no attempts; leave out --%s", c->attempts > 0             ? "attempts"
                                                                                : c->repeat > 0             ? "repeat"
                                                                                : c->sampler != NOT_GIVEN ? "sampler"
                                                                                                            : "precision");
    if (c->passes == CLI_PASSES_YES && !cli_is_file(c->data))
        return cli_error("compare: --passes needs an ordinary file with all records; %s is not one", c->data ? c->data : "standard input");
    if (c->passes == CLI_PASSES_AUTO)
        c->passes = is_said || !cli_is_file(c->data) ? CLI_PASSES_NO : CLI_PASSES_YES;
    c->attempts = c->attempts > 0 ? c->attempts : 1000;
    c->repeat = c->repeat > 0 ? c->repeat : 4;
    c->sampler = c->sampler != NOT_GIVEN ? c->sampler : RF_REJECT;
    c->precision = c->precision != NOT_GIVEN ? c->precision : 0;
    return CLI_OK;
}

/* ---- Records ---- */

/* Copies records to `own`, with only the settings of this candidate. */
static void pick(const compare_candidate *a, const rf_record records[], uint32_t count, rf_record own[])
{
    const rf_description *description = &a->run.config.description;
    for (uint32_t k = 0; k < count; k++) {
        own[k] = records[k];
        for (unsigned i = 0; i < description->settings; i++) {
            const double given = records[k].setting[a->from[i]];
            own[k].setting[i] = isnan(given) ? description->setting[i].low : given;
        }
    }
}

/* Every candidate learns from the current batch. */
static int learn(compare_reading *r)
{
    static rf_record own[RF_BATCH_MAX];
    for (unsigned i = 0; i < r->c->count && r->batch.count > 0; i++) {
        compare_candidate *a = &r->c->candidates[i];
        pick(a, r->batch.record, r->batch.count, own);
        for (uint32_t k = 0; k < r->batch.count && a->by_passes; k++)
            if (cli_kept_add(&a->kept, &own[k]) < 0)
                return cli_error("compare: --passes: not enough memory for so many records");
        if (a->by_passes)
            continue;
        rf_status status = cli_score_learn(a->scorer, own, r->batch.count);
        if (status < 0) {
            char why[CLI_WHY];
            return cli_error("compare: record %llu: %s: %s", (unsigned long long)r->records, a->name, cli_why(status, r->c->opened, why));
        }
    }
    r->batch.count = 0;
    return CLI_OK;
}

/* Checks that every candidate accepts the batch. Returns NULL, or the reason of a refusal. */
static const char *refusal(compare_reading *r, const rf_record *record, const char **who)
{
    rf_record own;
    for (unsigned i = 0; i < r->c->count; i++) {
        const compare_candidate *a = &r->c->candidates[i];
        pick(a, record, 1, &own);
        rf_status status = cli_score_try(a->scorer, &own, 1);
        *who = a->name;
        if (status == RF_REFUSED_EVIDENCE)
            return "the model does not allow these settings and this outcome";
        if (status < 0)
            return rf_status_text(status);
    }
    return NULL;
}

static int bad(compare_reading *r, const char *message)
{
    if (!r->c->skip_bad)
        return cli_error("compare: %s", message);
    if (r->bad++ == 0)
        snprintf(r->first_bad, sizeof r->first_bad, "%s", message);
    return CLI_OK;
}

static int take(compare_reading *r, const cli_record *record)
{
    const rf_record told = cli_record_told(record);
    const uint64_t id = cli_record_batch(record);
    char message[512];
    const char *who, *why = refusal(r, &told, &who);
    if (why) {
        snprintf(message, sizeof message, "%.160s: line %ld: %s: %s", r->source, record->line, who, why);
        return bad(r, message);
    }
    rf_batch_state state = rf_batch_add(&r->batch, &told, id);
    int code = CLI_OK;
    if (state == RF_BATCH_NEXT) {
        code = learn(r);
        state = rf_batch_add(&r->batch, &told, id);
    }
    if (state == RF_BATCH_FULL) {
        snprintf(message, sizeof message, "%.160s: line %ld: batch %s has more than %d records", r->source, record->line, record->batch, RF_BATCH_MAX);
        return bad(r, message);
    }
    r->records++;
    r->missing += record->is_missing != 0;
    return code == CLI_OK && state == RF_BATCH_WHOLE ? learn(r) : code;
}

static int read_all(compare_reading *r, cli_records *records)
{
    cli_record record;
    int code = CLI_OK;
    while (code == CLI_OK && !cli_interrupted) {
        switch (cli_records_next(records, &record)) {
        case CLI_RECORD: code = take(r, &record); break;
        case CLI_RECORD_BAD: code = bad(r, cli_records_error(records)); break;
        case CLI_RECORDS_FAILED: return cli_error("compare: %s", cli_records_error(records));
        case CLI_RECORDS_END: return learn(r);
        default: break; /* interrupted: the loop checks cli_interrupted */
        }
    }
    return code == CLI_OK ? learn(r) : code;
}

/* ---- Run ---- */

/* Runs passes over the kept records for every candidate judged by passes. Returns an exit code. */
static int pass_over(compare_config *c)
{
    int code = CLI_OK;
    for (unsigned i = 0; i < c->count && code == CLI_OK; i++) {
        compare_candidate *a = &c->candidates[i];
        if (!a->by_passes)
            continue;
        if (!(a->exact = calloc(c->repeat, sizeof *a->exact)))
            return cli_error("compare: out of memory");
        code = cli_passes_run("compare", a->name, &a->run.config, &a->kept, &a->passes);
        for (uint64_t k = 0; k < c->repeat; k++) {
            a->exact[k].log_evidence = a->passes.log_evidence;
            a->exact[k].variance = a->passes.log_evidence_sd * a->passes.log_evidence_sd;
        }
    }
    return code;
}

/* Prints one line on standard error for each candidate whose evidence cannot be trusted. */
static int raise_alarms(const compare_config *c)
{
    int code = CLI_OK;
    for (unsigned i = 0; i < c->count; i++)
        if (c->candidates[i].by_passes && cli_passes_alarm("compare", &c->candidates[i].passes) != CLI_OK)
            code = CLI_FAILED;
    return code;
}

static int compare(compare_config *c, FILE *from)
{
    static compare_reading r;
    r = (compare_reading){.c = c, .source = c->data ? c->data : "standard input", .batch.together = 1};
    cli_records *records = cli_records_open(from, r.source, &c->all, 1);
    if (!records)
        return cli_error("compare: out of memory");
    cli_records_rename(records, c->column);
    int code = read_all(&r, records);
    cli_records_close(records);
    if (code != CLI_OK)
        return code;
    if (r.records == r.missing)
        return cli_interrupted ? CLI_INTERRUPTED
                           : cli_error("compare: %s: no outcomes to compare the candidates on", r.source);
    code = pass_over(c);
    if (code != CLI_OK)
        return code;
    compare_report(c, &r);
    return cli_interrupted ? CLI_INTERRUPTED : raise_alarms(c);
}

static int open_and_compare(compare_config *c)
{
    char error[300];
    if (strstr(c->engine, "mpi"))
        return cli_error("compare: --engine: the ranks of an MPI job cannot share the records; use threads");
    c->opened = rf_engine_open(c->engine, error, sizeof error);
    if (!c->opened)
        return cli_error("compare: --engine: %s", error);
    if (c->data && strcmp(c->data, "-") == 0)
        c->data = NULL;
    int code = choose_passes(c);
    if (code == CLI_OK)
        code = settle_all(c);
    if (code != CLI_OK)
        return code;
    FILE *from = stdin;
    if (c->data && !(from = rf_file_listen(c->data, error, sizeof error)))
        return cli_error("compare: --data: %s", error);
    if (!c->data && isatty(STDIN_FILENO))
        fputs("reading records from the terminal, until end of file; --data FILE reads a file\n", stderr);
    cli_catch_signals();
    code = compare(c, from);
    if (from != stdin)
        fclose(from);
    return code;
}

int cli_compare(int argc, char **argv)
{
    static compare_config c;
    c = (compare_config){.seed = 1, .engine = "simd", .sampler = NOT_GIVEN, .precision = NOT_GIVEN, .passes = CLI_PASSES_AUTO};
    int go = cli_parse(&usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    int code = open_and_compare(&c);
    for (unsigned i = 0; i < c.count; i++) {
        cli_score_close(c.candidates[i].scorer);
        cli_kept_free(&c.candidates[i].kept);
        free(c.candidates[i].exact);
    }
    rf_engine_close(c.opened);
    return code;
}
