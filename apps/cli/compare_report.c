/* Results of all repeats of rejfilt compare: a table or a JSON object, and the verdict. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "compare.h"
#include "json.h"

typedef struct result {
    cli_estimate evidence;
    cli_factor factor; /* ln K relative to the best */
    double probability;
    const cli_score *scores;
} result;

typedef struct results {
    result of[CANDIDATES_MAX];
    unsigned best, second;
    cli_factor factor; /* ln K of the best relative to the second */
    cli_conclusion conclusion;
    char verdict[3 * LABEL_MAX + 120];
} results;

static const char *const conclusions[] = {"within noise", "undecided", "slightly favoured", "favoured"};

static void conclude(const compare_config *c, results *all)
{
    const char *best = c->candidates[all->best].name, *second = c->candidates[all->second].name;
    const char *others = c->count > 2 ? "the others; closest is " : "";
    char k[64];
    snprintf(k, sizeof k, "ln K = %.2f +- %.2f", all->factor.value, all->factor.sd);
    all->conclusion = cli_conclude(all->factor);
    switch (all->conclusion) {
    case CLI_WITHIN_NOISE:
        snprintf(all->verdict, sizeof all->verdict,
                 "the difference between %s and %s is within noise: %s; more records%s may tell", best, second, k,
                 c->candidates[all->best].by_passes && c->candidates[all->second].by_passes ? "" : " or more --attempts");
        break;
    case CLI_UNDECIDED:
        snprintf(all->verdict, sizeof all->verdict, "the records do not tell %s and %s apart: %s; more records may tell",
                 best, second, k);
        break;
    default:
        snprintf(all->verdict, sizeof all->verdict, "%s is %s over %s%s: %s", best, conclusions[all->conclusion],
                 others, second, k);
    }
}

static void work_out(const compare_config *c, results *all)
{
    const uint32_t repeat = (uint32_t)c->repeat;
    double total = 0;
    for (unsigned i = 0; i < c->count; i++) {
        all->of[i].scores = c->candidates[i].by_passes ? c->candidates[i].exact : cli_score_read(c->candidates[i].scorer);
        all->of[i].evidence = cli_evidence(all->of[i].scores, repeat);
        if (all->of[i].evidence.value > all->of[all->best].evidence.value)
            all->best = i;
    }
    all->second = all->best == 0 ? 1 : 0;
    for (unsigned i = 0; i < c->count; i++) {
        result *one = &all->of[i];
        one->factor = cli_evidence_factor(one->scores, all->of[all->best].scores, repeat);
        one->factor.sd = i == all->best ? 0 : one->factor.sd;
        one->probability = exp(one->factor.value);
        total += one->probability;
        if (i != all->best && one->evidence.value > all->of[all->second].evidence.value)
            all->second = i;
    }
    for (unsigned i = 0; i < c->count; i++)
        all->of[i].probability /= total;
    all->factor = cli_evidence_factor(all->of[all->best].scores, all->of[all->second].scores, repeat);
    conclude(c, all);
}

/* The largest count over all repeats. */
static uint64_t worst(const compare_config *c, const cli_score scores[], long (*count)(const cli_score *))
{
    long max = 0;
    for (uint64_t i = 0; i < c->repeat; i++)
        max = count(&scores[i]) > max ? count(&scores[i]) : max;
    return (uint64_t)max;
}

static long count_starved(const cli_score *s) { return s->starved; }
static long count_bad(const cli_score *s) { return s->bad; }
static long count_above(const cli_score *s) { return s->above; }

unsigned compare_passes(const compare_config *c)
{
    unsigned count = 0;
    for (unsigned i = 0; i < c->count; i++)
        count += c->candidates[i].by_passes != 0;
    return count;
}

static void print_table(const compare_config *c, const compare_reading *r, const results *all)
{
    int width = 9;
    for (unsigned i = 0; i < c->count; i++)
        width = (int)strlen(c->candidates[i].name) > width ? (int)strlen(c->candidates[i].name) : width;
    printf("%llu records", (unsigned long long)r->records);
    if (r->missing)
        printf(" (%llu without an outcome)", (unsigned long long)r->missing);
    if (compare_passes(c) == c->count)
        printf(", passes over all of them, seed %llu\n", (unsigned long long)c->seed);
    else
        printf(", %llu repeats of %llu attempts per candidate%s, seed %llu\n", (unsigned long long)c->repeat,
               (unsigned long long)c->attempts, compare_passes(c) > 0 ? " that drifts, passes for the others" : "", (unsigned long long)c->seed);
    if (r->bad)
        printf("%llu bad records left out; the first: %s\n", (unsigned long long)r->bad, r->first_bad);
    printf("\n%-*s  %12s %8s  %12s %8s  %11s\n", width, "candidate", "ln evidence", "+-", "ln K", "+-", "probability");
    for (unsigned i = 0; i < c->count; i++) {
        const result *one = &all->of[i];
        printf("%-*s  %12.2f %8.2f  %12.2f %8.2f  %11.3g\n", width, c->candidates[i].name, one->evidence.value,
               one->evidence.sd, one->factor.value, one->factor.sd, one->probability);
    }
    putchar('\n');
    for (unsigned i = 0; i < c->count; i++) {
        const uint64_t starved = worst(c, all->of[i].scores, count_starved),
                       is_bad = worst(c, all->of[i].scores, count_bad);
        if (starved)
            printf("note: %s found almost none of its guesses possible in %llu updates; its evidence is a rough "
                   "guess\n",
                   c->candidates[i].name, (unsigned long long)starved);
        if (c->candidates[i].by_passes && c->candidates[i].passes.verdict == RF_PASSES_DOUBTFUL)
            printf("note: %s: only %.0f of %u points are effective; do not trust its evidence\n", c->candidates[i].name,
                   c->candidates[i].passes.effective, c->candidates[i].passes.points);
        if (c->candidates[i].by_passes && c->candidates[i].passes.bad > 0)
            printf("note: %s had likelihoods that were NaN, negative or infinite at %zu points; do not trust its evidence\n",
                   c->candidates[i].name, c->candidates[i].passes.bad);
        if (is_bad)
            printf("note: %s had likelihoods that were NaN, negative or infinite in %llu updates; do not trust its "
                   "evidence\n",
                   c->candidates[i].name, (unsigned long long)is_bad);
    }
    puts(all->verdict);
}

static void print_json(const compare_config *c, const compare_reading *r, const results *all)
{
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_whole(&json, "records", r->records);
    cli_json_whole(&json, "missing", r->missing);
    cli_json_whole(&json, "bad", r->bad);
    cli_json_bool(&json, "interrupted", cli_interrupted != 0);
    cli_json_whole(&json, "repeats", c->repeat);
    cli_json_whole(&json, "attempts", c->attempts);
    cli_json_whole(&json, "seed", c->seed);
    cli_json_text(&json, "sampler", rf_sampler_names[c->sampler]);
    cli_json_text(&json, "engine", rf_engine_name(c->opened));
    cli_json_text(&json, "precision", rf_precision_names[c->precision]);
    cli_json_list(&json, "candidates");
    for (unsigned i = 0; i < c->count; i++) {
        const result *one = &all->of[i];
        cli_json_item(&json);
        cli_json_text(&json, "label", c->candidates[i].name);
        cli_json_text(&json, "model", c->candidates[i].run.config.description.name);
        cli_json_real(&json, "log_evidence", one->evidence.value);
        cli_json_real(&json, "log_evidence_sd", one->evidence.sd);
        cli_json_real(&json, "log_bayes_factor", one->factor.value);
        cli_json_real(&json, "log_bayes_factor_sd", one->factor.sd);
        cli_json_real(&json, "probability", one->probability);
        cli_json_whole(&json, "starved_updates", worst(c, one->scores, count_starved));
        cli_json_whole(&json, "bad_updates", worst(c, one->scores, count_bad));
        cli_json_whole(&json, "above_bound_updates", worst(c, one->scores, count_above));
        cli_json_text(&json, "method", c->candidates[i].by_passes ? "passes" : "streaming");
        if (c->candidates[i].by_passes) {
            const rf_passes_result *passes = &c->candidates[i].passes;
            cli_json_bool(&json, "trustworthy", passes->verdict == RF_PASSES_FINE);
            cli_json_real(&json, "effective", passes->effective);
            cli_json_whole(&json, "points", passes->points);
            cli_json_whole(&json, "passes", passes->passes);
            cli_json_whole(&json, "bad_points", passes->bad);
        }
    }
    cli_json_list_end(&json);
    cli_json_object(&json, "verdict");
    cli_json_text(&json, "conclusion", conclusions[all->conclusion]);
    cli_json_text(&json, "best", c->candidates[all->best].name);
    cli_json_text(&json, "second", c->candidates[all->second].name);
    cli_json_real(&json, "log_bayes_factor", all->factor.value);
    cli_json_real(&json, "log_bayes_factor_sd", all->factor.sd);
    cli_json_text(&json, "text", all->verdict);
    cli_json_object_end(&json);
    cli_json_close(&json);
}

void compare_report(const compare_config *c, const compare_reading *r)
{
    results all = {0};
    work_out(c, &all);
    (c->json ? print_json : print_table)(c, r, &all);
}
