/* How often 'rejfilt compare' is right: its ln K, from the same code, against the exact one from the grid.

     cmake -S . -B build -G Ninja -DRF_EXPERIMENTS=ON && cmake --build build && build/experiment-compare

   Data sets are simulated, the first hypothesis being true in one, the second in the next. The settings are what a
   tracker chooses that believes the first. Each question is asked with each design and each sampler, with one register
   and with several, of the same data. Columns:
     |K|>3     data sets whose exact |ln K| is over 3
     right     of them, those whose estimate has the exact sign
     (mean)    the same, if registers were averaged as mean of ln instead of ln of the mean
     error     median of |estimate − exact ln K|, all data sets
     +-        median of the sd that is stated with it
     in 2sd    data sets with an error below 2 of those
     claims    data sets for which one hypothesis is said to be (slightly) favoured ...
     wrong     ... and of them those that the exact sign contradicts */
#include "cli.h"
#include "grid.h"
#include "modelspec.h"
#include "score.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 10000, REGISTERS_MAX = 64, SAMPLERS = 3, POINTS = 16384 };

typedef struct config {
    uint64_t sets, records, attempts, repeat, seed;
    int hard;
    rf_engine *engine;
} config;

/* A hypothesis: a built-in model of one parameter, and its drift. */
typedef struct hypothesis {
    const char *model, *drift;
} hypothesis;

typedef struct question {
    const char *name;
    hypothesis is[2];
    int tracker_knows; /* the tracker that chooses the settings believes what is true, if it can */
    int is_hard;
} question;

static const question questions[] = {
    {"drift or static", {{"precession", "0.026179938779914944"}, {"precession", "0"}}, 0, 0},
    {"cosine or coin", {{"precession", "0.026179938779914944"}, {"coin", "0"}}, 0, 0},
    {"drift or static, longer", {{"precession", "0.026179938779914944"}, {"precession", "0"}}, 1, 1},
    {"static cosine or coin", {{"precession", "0"}, {"coin", "0"}}, 0, 1},
};

typedef struct outcome {
    double exact;
    cli_factor estimate[SAMPLERS][2]; /* with one register, and with all */
    double mean_log[SAMPLERS];        /* of all: mean of ln, instead of ln of the mean */
} outcome;

static void fail(const char *what)
{
    fprintf(stderr, "experiment-compare: %s\n", what);
    exit(1);
}

static cli_run run_of(const config *c, hypothesis h, uint64_t seed)
{
    char error[200];
    cli_run run = {.seed = seed,
                   .batch = 1,
                   .attempts = (uint32_t)c->attempts,
                   .engine = c->engine,
                   .kappa = 1,
                   .recovery = 0.1,
                   .anchor_every = -1};
    cli_model_use(&run, rf_model_find(h.model));
    if (cli_model_drift(&run, h.drift, error, sizeof error) < 0)
        fail(error);
    return run;
}

/* ---- Data ---- */

typedef struct record {
    double setting[RF_NAMES_MAX], outcome;
} record;

/* Records of a truth that is drawn from its prior and walks, measured as the tracker asks. */
static void simulate(const config *c, const question *q, unsigned which, const char *design, uint64_t seed,
                     record records[])
{
    const int knows = q->tracker_knows && strcmp(q->is[which].model, q->is[0].model) == 0;
    cli_run truth = run_of(c, q->is[which], seed), belief = run_of(c, q->is[knows ? which : 0], seed);
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    rf64_tracker tracker;
    rf64_chart chart[RF_NAMES_MAX];
    belief.design = design;
    belief.attempts = 100;
    rf64_instance_model(truth.model->f64, chart);
    if (rf64_simulate_open(&belief, seed, memory, sizeof memory, &tracker) < 0)
        fail("cannot open a tracker");
    rf_words w = rf_draw(seed, 0, 0, 1, RF_FOR_TRUTH);
    double x = truth.prior[0].first + (truth.prior[0].second - truth.prior[0].first) * rf64_uniform(w.word[2]);
    double y = rf64_chart_coordinate(chart, x);
    for (uint32_t k = 0; k < c->records; k++) {
        double told[RF_NAMES_MAX + 1], z, other;
        if (k > 0) {
            w = rf_draw(seed, k, 0, 0, RF_FOR_TRUTH);
            rf64_normal_pair(w.word[0], w.word[1], &z, &other);
            y += truth.drift[0] * z;
            rf64_track_pass(&tracker, 1);
        }
        x = rf64_chart_natural(chart, y);
        rf64_track_ask(&tracker, records[k].setting);
        records[k].outcome = rf64_instance_outcome(truth.model->f64, &x, records[k].setting, seed, k);
        memcpy(told, records[k].setting, sizeof records[k].setting);
        told[tracker.model.settings] = records[k].outcome;
        if (rf64_track_tell(&tracker, told, 1, rf_engine_f64(c->engine), NULL) < 0)
            fail("the tracker refuses a record");
    }
}

/* A record as a model takes it: the coin has no settings. */
static const double *for_model(const cli_run *run, const record *r, double own[RF_NAMES_MAX + 1])
{
    memcpy(own, r->setting, run->about.settings * sizeof own[0]);
    own[run->about.settings] = r->outcome;
    return own;
}

/* ---- Evidence ---- */

static double exact_evidence(const config *c, const cli_run *run, const record records[])
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    rf64_tracker prior;
    double own[RF_NAMES_MAX + 1], variance = run->drift[0] * run->drift[0];
    if (rf64_simulate_open(run, 0, memory, sizeof memory, &prior) < 0)
        fail("cannot set a prior");
    prior.model.charts = prior.charts;
    grid *g = grid_create(&prior.model, POINTS);
    if (!g || grid_prior_gaussian(g, prior.prior_mean[0], prior.prior_sd[0] * prior.prior_sd[0]) < 0)
        fail("cannot make a grid");
    for (uint32_t k = 0; k < c->records; k++) {
        if (k > 0)
            grid_diffuse(g, variance);
        grid_update(g, for_model(run, &records[k], own));
    }
    double evidence = grid_log_evidence(g);
    grid_free(g);
    return evidence;
}

static void estimate(const config *c, const cli_run *run, const record records[], cli_score scores[])
{
    rf_status status;
    double own[RF_NAMES_MAX + 1];
    cli_scorer *s = rf64_score_open(run, (uint32_t)c->repeat, &status);
    if (!s)
        fail(rf_status_text(status));
    for (uint32_t k = 0; k < c->records; k++)
        if (rf64_score_learn(s, for_model(run, &records[k], own), 1, k > 0) < 0)
            fail("a register refuses a record");
    memcpy(scores, rf64_score_read(s), c->repeat * sizeof scores[0]);
    rf64_score_close(s);
}

static outcome ask(const config *c, const question *q, const char *design, uint32_t set)
{
    static record records[100000];
    static cli_score scores[2][REGISTERS_MAX];
    rf_words w = rf_draw(c->seed, set, 0, 0, RF_FOR_USER);
    const uint64_t seed = (uint64_t)w.word[1] << 32 | w.word[0];
    outcome o;
    simulate(c, q, set % 2, design, seed, records);
    cli_run run[2] = {run_of(c, q->is[0], ~seed), run_of(c, q->is[1], ~seed)};
    o.exact = exact_evidence(c, &run[0], records) - exact_evidence(c, &run[1], records);
    for (unsigned sampler = 0; sampler < SAMPLERS; sampler++) {
        for (unsigned i = 0; i < 2; i++) {
            run[i].sampler = (rf_sampler)sampler;
            estimate(c, &run[i], records, scores[i]);
        }
        o.estimate[sampler][0] = cli_evidence_factor(scores[0], scores[1], 1);
        o.mean_log[sampler] = 0;
        for (uint64_t r = 0; r < c->repeat; r++)
            o.mean_log[sampler] += (scores[0][r].log_evidence - scores[1][r].log_evidence) / (double)c->repeat;
        o.estimate[sampler][1] = cli_evidence_factor(scores[0], scores[1], (uint32_t)c->repeat);
    }
    return o;
}

/* ---- Table ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const config *c, const outcome outcomes[], unsigned sampler, unsigned all)
{
    static double errors[SETS_MAX], sds[SETS_MAX];
    unsigned decisive = 0, right = 0, mean_right = 0, covered = 0, claims = 0, wrong = 0;
    for (uint64_t i = 0; i < c->sets; i++) {
        const cli_factor e = outcomes[i].estimate[sampler][all];
        const double exact = outcomes[i].exact;
        const int agrees = (e.value > 0) == (exact > 0), claim = cli_conclude(e) >= CLI_SLIGHTLY;
        errors[i] = fabs(e.value - exact);
        sds[i] = e.sd;
        decisive += fabs(exact) > 3;
        right += fabs(exact) > 3 && agrees;
        mean_right += fabs(exact) > 3 && (outcomes[i].mean_log[sampler] > 0) == (exact > 0);
        covered += errors[i] < 2 * e.sd;
        claims += claim != 0;
        wrong += claim && !agrees;
    }
    qsort(errors, c->sets, sizeof errors[0], ascending);
    qsort(sds, c->sets, sizeof sds[0], ascending);
    const double share = 100.0 / (decisive ? decisive : 1);
    printf("  %-8s %9llu %6u %7.1f %% (%5.1f %%) %7.2f %6.2f %6.0f %% %7u %6u\n", cli_sampler_names[sampler],
           (unsigned long long)(all ? c->repeat : 1), decisive, share * right, share * (all ? mean_right : right),
           errors[c->sets / 2], sds[c->sets / 2], 100.0 * covered / (double)c->sets, claims, wrong);
}

static void measure(const config *c, const question *q, const char *design)
{
    static outcome outcomes[SETS_MAX];
    for (uint32_t i = 0; i < c->sets; i++)
        outcomes[i] = ask(c, q, design, i);
    printf(
        "\n%s, settings by %s\n  sampler  registers  |K|>3     right    (mean)   error     +-  in 2sd  claims  wrong\n",
        q->name, design);
    for (unsigned sampler = 0; sampler < SAMPLERS; sampler++)
        for (unsigned all = 0; all < 2; all++)
            print_row(c, outcomes, sampler, all);
    fflush(stdout);
}

/* ---- Options ---- */

#define AT(field) offsetof(config, field)

static const cli_option options[] = {
    {"sets", "N", "data sets of each question (default 300)", NULL, CLI_U64, AT(sets), 1, 1e6, NULL},
    {"records", "N", "records of a data set (default 100)", NULL, CLI_U64, AT(records), 1, 1e6, NULL},
    {"attempts", "M", "per update and register (default 1000)", NULL, CLI_U64, AT(attempts), 1, 1e9, NULL},
    {"repeat", "R", "registers, besides one (default 4)", NULL, CLI_U64, AT(repeat), 1, 256, NULL},
    {"seed", "S", "(default 1)", NULL, CLI_U64, AT(seed), 0, 0, NULL},
    {"hard", NULL, "the questions about static frequencies and ever longer times,\nwhich are beyond a Gaussian now and then; slow", NULL, CLI_FLAG, AT(hard), 0, 0, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "experiment-compare", "[OPTION...]", "How often 'rejfilt compare' is right, against exact evidence.", options, NULL,
};

int main(int argc, char **argv)
{
    static const char *const designs[] = {"quadrature", "pgh"};
    config c = {.sets = 300, .records = 100, .attempts = 1000, .repeat = 4, .seed = 1};
    char error[200];
    int go = cli_parse(&usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    c.engine = rf_engine_open("simd", error, sizeof error);
    if (!c.engine)
        fail(error);
    printf("%llu data sets of %llu records each, %llu attempts, seed %llu\n", (unsigned long long)c.sets,
           (unsigned long long)c.records, (unsigned long long)c.attempts, (unsigned long long)c.seed);
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
        for (size_t d = 0; d < 2; d++)
            if (questions[i].is_hard == c.hard)
                measure(&c, &questions[i], designs[d]);
    rf_engine_close(c.engine);
    return CLI_OK;
}
