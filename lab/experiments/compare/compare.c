/* How often 'rejfilt compare' is right: its ln K, from the same code, against the exact one from the grid.

     cmake -S . -B build -G Ninja -DRF_EXPERIMENTS=ON && cmake --build build && build/experiment-compare

   Data sets are simulated, the first hypothesis being true in one, the second in the next. The settings are what a
   tracker chooses that believes the first. Each question is asked with each design and each sampler, with one repeat
   and with several, of the same data. Columns:
     |K|>3     data sets whose exact |ln K| is over 3
     right     of them, those whose estimate has the exact sign
     (mean)    the same, if repeats were averaged as mean of ln instead of ln of the mean
     error     median of |estimate − exact ln K|, all data sets
     +-        median of the sd that is stated with it
     in 2sd    data sets with an error below 2 of those
     claims    data sets for which one hypothesis is said to be (slightly) favoured ...
     wrong     ... and of them those that the exact sign contradicts */
#include "cli.h"
#include "hypotheses.h"
#include "../../../src/session/options.h"
#include "track_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 10000, REGISTERS_MAX = 64, SAMPLERS = 3 };

typedef struct config {
    uint64_t sets, records, attempts, repeat, seed;
    int hard;
    rf_engine *engine;
} config;

typedef struct question {
    const char *name;
    hypothesis is[2];
    int tracker_knows; /* the session that chooses the settings assumes the true hypothesis, if it can */
    int is_hard;
} question;

#define STEP 0.026179938779914944 /* π/120 */

static const question questions[] = {
    {"drift or static", {{"precession", STEP}, {"precession", 0}}, 0, 0},
    {"cosine or coin", {{"precession", STEP}, {"coin", 0}}, 0, 0},
    {"drift or static, longer", {{"precession", STEP}, {"precession", 0}}, 1, 1},
    {"static cosine or coin", {{"precession", 0}, {"coin", 0}}, 0, 1},
};

typedef struct outcome {
    double exact;
    cli_factor estimate[SAMPLERS][2]; /* with one repeat, and with all */
    double mean_log[SAMPLERS];        /* of all repeats: the mean of ln, instead of ln of the mean */
} outcome;

static void fail(const char *what)
{
    fprintf(stderr, "experiment-compare: %s\n", what);
    exit(1);
}

static rf_simulation run_of(const config *c, hypothesis h, uint64_t seed)
{
    rf_simulation run = hypothesis_run(h, seed, c->engine);
    run.config.attempts = (uint32_t)c->attempts;
    return run;
}

static outcome ask(const config *c, const question *q, const char *design, uint32_t set)
{
    static rf_record records[100000];
    static cli_score scores[2][REGISTERS_MAX];
    rf_words w = rf_draw(c->seed, set, 0, 0, RF_FOR_USER);
    const uint64_t seed = (uint64_t)w.word[1] << 32 | w.word[0];
    outcome o;
    const hypothesis truth = q->is[set % 2], believed = q->is[q->tracker_knows && strcmp(truth.model, q->is[0].model) == 0 ? set % 2 : 0];
    const uint32_t count = (uint32_t)c->records;
    rf_simulation run[2] = {run_of(c, q->is[0], ~seed), run_of(c, q->is[1], ~seed)};
    double exact[2];
    if (hypothesis_simulate(truth, believed, design, seed, c->engine, count, records) < 0 || hypothesis_exact(&run[0], records, count, &exact[0]) < 0 ||
        hypothesis_exact(&run[1], records, count, &exact[1]) < 0)
        fail("a run was refused, or memory is short");
    o.exact = exact[0] - exact[1];
    for (unsigned sampler = 0; sampler < SAMPLERS; sampler++) {
        for (unsigned i = 0; i < 2; i++) {
            run[i].config.sampler = (rf_sampler)sampler;
            if (hypothesis_score(&run[i], records, count, (uint32_t)c->repeat, scores[i]) < 0)
                fail("a repeat refuses a record");
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
    printf("  %-8s %9llu %6u %7.1f %% (%5.1f %%) %7.2f %6.2f %6.0f %% %7u %6u\n", rf_sampler_names[sampler],
           (unsigned long long)(all ? c->repeat : 1), decisive, share * right, share * (all ? mean_right : right),
           errors[c->sets / 2], sds[c->sets / 2], 100.0 * covered / (double)c->sets, claims, wrong);
}

static void measure(const config *c, const question *q, const char *design)
{
    static outcome outcomes[SETS_MAX];
    for (uint32_t i = 0; i < c->sets; i++)
        outcomes[i] = ask(c, q, design, i);
    printf(
        "\n%s, settings by %s\n  sampler    repeats  |K|>3     right    (mean)   error     +-  in 2sd  claims  wrong\n",
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
    {"attempts", "M", "per update and repeat (default 1000)", NULL, CLI_U64, AT(attempts), 1, 1e9, NULL},
    {"repeat", "R", "repeats, besides one (default 4)", NULL, CLI_U64, AT(repeat), 1, 256, NULL},
    {"seed", "S", "(default 1)", NULL, CLI_U64, AT(seed), 0, 0, NULL},
    {"hard", NULL, "the questions about static frequencies and ever longer times,\nwhich are beyond a Gaussian now and then; slow", NULL, CLI_FLAG, AT(hard), 0, 0, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "compare", "[OPTION...]", "How often 'rejfilt compare' is right, against exact evidence.", options, NULL, "experiment-compare", 0,
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
