/* Accuracy against targets, with fixed seeds. Prints a table and writes JSON rows; docs/accuracy.md explains the
   names. Exit status 1 when a target is missed.
   usage: rejfilt-tracking [FILE.json [all|precession|linear|ramsey [SEED]]] */
#define _POSIX_C_SOURCE 200809L
#include "tracking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fail(const char *what)
{
    fprintf(stderr, "rejfilt-tracking: %s\n", what);
    exit(3);
}

void progress(const char *what, uint32_t done, uint32_t total)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (done == total)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r\033[K%s: trial %u of %u", what, (unsigned)done, (unsigned)total);
}

/* ---- Rows ---- */

typedef struct result {
    char name[64], target[32];
    double value;
    int is_target, is_met;
} result;

static result results[128];
static size_t result_count;

void row(const char *name, double value, double low, double high)
{
    if (result_count == sizeof results / sizeof *results)
        fail("more rows than there is room for");
    result *r = &results[result_count++];
    *r = (result){.value = value, .is_target = isfinite(low) || isfinite(high), .is_met = value >= low && value <= high};
    snprintf(r->name, sizeof r->name, "%s", name);
    if (isfinite(low) && isfinite(high))
        snprintf(r->target, sizeof r->target, "%g to %g", low, high);
    else if (r->is_target)
        snprintf(r->target, sizeof r->target, "%s %g", isfinite(low) ? "at least" : "at most", isfinite(low) ? low : high);
    printf("%-49s %-15s %10.4g  %s\n", r->name, r->target, value, !r->is_target ? "" : r->is_met ? "met" : "MISSED");
    fflush(stdout);
}

static void write_json(const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        fail(path);
    fputs("[\n", out);
    for (size_t i = 0; i < result_count; i++) {
        const result *r = &results[i];
        fprintf(out, "  {\"name\": \"%s\", \"value\": ", r->name);
        fprintf(out, isfinite(r->value) ? "%.6g" : "null", r->value);
        fprintf(out, r->is_target ? ", \"target\": \"%s\"" : ", \"target\": null", r->target);
        fprintf(out, ", \"met\": %s}%s\n", !r->is_target ? "null" : r->is_met ? "true" : "false", i + 1 < result_count ? "," : "");
    }
    fputs("]\n", out);
    if (fclose(out) != 0)
        fail(path);
}

/* ---- Runs ---- */

static uint64_t run_seed = 1;

cli_run ordinary_run(const char *model, long steps)
{
    static rf_engine *engine;
    char error[200];
    const rf_model *found = rf_model_find(model);
    if (!engine)
        engine = rf_engine_open("simd", error, sizeof error);
    if (!engine || !found)
        fail(engine ? model : error);
    cli_run run = {.model = found, .about = *found->f64->about, .design = "auto", .seed = run_seed, .steps = steps, .batch = 1,
                   .attempts = 100, .engine = engine, .kappa = 1, .recovery = 0.1, .anchor_every = -1};
    for (unsigned i = 0; i < run.about.dim; i++) {
        run.prior[i] = (cli_prior){0, run.about.parameter[i].low, run.about.parameter[i].high};
        run.drift[i] = run.about.parameter[i].drift;
    }
    return run;
}

uint64_t trial_seed(const cli_run *run, uint32_t trial)
{
    rf_words w = rf_draw(run->seed, trial, 0, 0, RF_FOR_USER);
    return (uint64_t)w.word[1] << 32 | w.word[0];
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double quantile(double values[], size_t count, double share)
{
    qsort(values, count, sizeof *values, compare);
    double at = share * (double)(count - 1), whole = floor(at);
    size_t i = (size_t)whole, next = i + 1 < count ? i + 1 : i;
    return values[i] + (at - whole) * (values[next] - values[i]);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*rows)(void);
    } parts[] = {{"precession", precession_rows}, {"linear", linear_rows}, {"ramsey", ramsey_rows}};
    if (argc > 3)
        run_seed = strtoull(argv[3], NULL, 10);
    printf("%-49s %-15s %10s\n", "row", "target", "measured");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc < 3 || strcmp(argv[2], "all") == 0 || strcmp(argv[2], parts[i].name) == 0)
            parts[i].rows();
    if (argc > 1)
        write_json(argv[1]);
    size_t missed = 0, targets = 0;
    for (size_t i = 0; i < result_count; i++) {
        targets += (size_t)results[i].is_target;
        missed += (size_t)(results[i].is_target && !results[i].is_met);
    }
    printf("%zu of %zu targets met\n", targets - missed, targets);
    return missed > 0;
}
