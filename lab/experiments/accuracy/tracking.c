/* Accuracy against targets, with fixed seeds. Prints a table and writes JSON rows; docs/accuracy.md explains the
   names. Exit status 1 when a target is missed.
   usage: rejfilt-tracking [FILE.json [all|precession|linear|ramsey|fixed|decay [SEED]]] */
#define _POSIX_C_SOURCE 200809L
#include "tracking.h"
#include "outputs.h"

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
    char error[512];
    rf_output output;
    FILE *out = rf_output_open(&output, path, 0, error, sizeof error);
    if (!out)
        fail(error);
    fputs("[\n", out);
    for (size_t i = 0; i < result_count; i++) {
        const result *r = &results[i];
        fprintf(out, "  {\"name\": \"%s\", \"value\": ", r->name);
        fprintf(out, isfinite(r->value) ? "%.6g" : "null", r->value);
        fprintf(out, r->is_target ? ", \"target\": \"%s\"" : ", \"target\": null", r->target);
        fprintf(out, ", \"met\": %s}%s\n", !r->is_target ? "null" : r->is_met ? "true" : "false", i + 1 < result_count ? "," : "");
    }
    fputs("]\n", out);
    if (rf_output_close(&output, 1, error, sizeof error) < 0)
        fail(error);
}

/* ---- Runs ---- */

static uint64_t run_seed = 1;

rf_simulation ordinary_run(const char *model, long steps)
{
    static rf_engine *engine;
    char error[200];
    if (!engine)
        engine = rf_engine_open("simd", error, sizeof error);
    if (!engine)
        fail(error);
    rf_simulation run = runs_ordinary(model, steps, run_seed);
    run.config.engine = engine;
    return run;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*rows)(void);
    } parts[] = {{"precession", precession_rows}, {"linear", linear_rows}, {"ramsey", ramsey_rows}, {"fixed", fixed_rows}, {"decay", decay_rows}};
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
