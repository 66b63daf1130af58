/* Speed, as ratios measured in one run. Prints a table and writes JSON rows. usage: rejfilt-bench [FILE] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "naive.h"
#include "rejfilt/host.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One thing to measure: `run(context, amount)` does `amount` of work. */
typedef void work(void *context, uint32_t amount);

/* Seconds for one unit of work: the best of repeats over at least 0.6 s, since noise only adds. */
static double best(work *run, void *context, uint32_t amount)
{
    double least = 1e9, start = now();
    for (int i = 0; i < 5 || now() - start < 0.6; i++) {
        double begin = now();
        run(context, amount);
        double spent = (now() - begin) / amount;
        least = spent < least ? spent : least;
    }
    return least;
}

/* ---- Rows ---- */

typedef struct row {
    const char *name, *unit, *vs;
    double value, ratio; /* ratio: how many times faster than row `vs` (0: no such row) */
} row;

static row rows[64];
static size_t row_count;

static void add(const char *name, double value, const char *unit, const char *vs)
{
    row r = {name, unit, vs, value, 0};
    for (size_t i = 0; vs && i < row_count; i++)
        if (strcmp(rows[i].name, vs) == 0)
            r.ratio = rows[i].value / value;
    rows[row_count++] = r;
    printf("%-28s %12.4g %-12s", name, value, unit);
    if (vs)
        printf(" %8.3gx %s", r.ratio, vs);
    putchar('\n');
    fflush(stdout);
}

static int write_json(const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        return 1;
    }
    fputs("[\n", out);
    for (size_t i = 0; i < row_count; i++) {
        const row *r = &rows[i];
        fprintf(out, "  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"vs\": ", r->name, r->value, r->unit);
        fprintf(out, r->vs ? "\"%s\", \"ratio\": %.6g}" : "null, \"ratio\": null}", r->vs, r->ratio);
        fputs(i + 1 < row_count ? ",\n" : "\n", out);
    }
    fputs("]\n", out);
    return fclose(out);
}

/* ---- Subjects ---- */

static const double t = 2, reference = 0.3;

static void run_naive(void *context, uint32_t amount) { naive_update(context, t, reference, 1, amount); }

static volatile uint32_t sink32;
static volatile float sinkf;

/* The floor: random words alone, and with the normals an attempt needs. */
static void run_words(void *context, uint32_t amount)
{
    uint32_t sum = 0;
    (void)context;
    for (uint32_t i = 0; i < amount / 2; i++) {
        rf_words w = rf_draw(1, 0, i, 0, 0);
        sum += w.word[0] ^ w.word[1] ^ w.word[2] ^ w.word[3];
    }
    sink32 = sum;
}

static void run_normals(void *context, uint32_t amount)
{
    float sum = 0;
    (void)context;
    for (uint32_t i = 0; i < amount / 2; i++) {
        rf_words w = rf_draw(1, 0, i, 0, 0);
        float a, b;
        rf32_normal_pair(w.word[0], w.word[1], &a, &b);
        sum += a + b + rf32_uniform(w.word[2]) + rf32_uniform(w.word[3]);
    }
    sinkf = sum;
}

typedef struct subject32 {
    rf32_filter *filter;
    rf32_model model;
    rf32_chart charts[RF_NAMES_MAX];
    RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(1)];
} subject32;

typedef struct subject64 {
    rf64_filter *filter;
    rf64_model model;
    rf64_chart charts[RF_NAMES_MAX];
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
} subject64;

static void run_serial32(void *context, uint32_t amount)
{
    subject32 *s = context;
    rf32_options o = rf32_options_default();
    float record[] = {(float)t, (float)reference, 1}, mean = 0, sd = 1;
    o.attempts = amount;
    rf32_prior_gaussian(s->filter, &s->model, &mean, &sd);
    rf32_update(s->filter, &s->model, record, 1, &o, NULL, NULL);
}

static void run_serial64(void *context, uint32_t amount)
{
    subject64 *s = context;
    rf64_options o = rf64_options_default();
    double record[] = {t, reference, 1}, mean = 0, sd = 1;
    o.attempts = amount;
    rf64_prior_gaussian(s->filter, &s->model, &mean, &sd);
    rf64_update(s->filter, &s->model, record, 1, &o, NULL, NULL);
}

int main(int argc, char **argv)
{
    enum { MANY = 100000, FEW = 100 };
    const rf_model *precession = rf_model_find("precession");
    naive_filter naive = {0, 1, 1};
    subject32 s32;
    subject64 s64;
    s32.model = rf32_instance_model(precession->f32, s32.charts);
    s64.model = rf64_instance_model(precession->f64, s64.charts);
    s32.model.charts = NULL; /* all real */
    s64.model.charts = NULL;
    rf32_filter_init(&s32.filter, s32.memory, sizeof s32.memory, 1, 1);
    rf64_filter_init(&s64.filter, s64.memory, sizeof s64.memory, 1, 1);

    add("naive", best(run_naive, &naive, MANY) * 1e9, "ns/attempt", NULL);
    add("floor-words", best(run_words, NULL, MANY) * 1e9, "ns/attempt", "naive");
    add("floor-normals", best(run_normals, NULL, MANY) * 1e9, "ns/attempt", "naive");
    add("serial-float", best(run_serial32, &s32, MANY) * 1e9, "ns/attempt", "naive");
    add("serial-double", best(run_serial64, &s64, MANY) * 1e9, "ns/attempt", "naive");
    add("update100-naive", best(run_naive, &naive, FEW) * FEW * 1e9, "ns/update", NULL);
    add("update100-serial-float", best(run_serial32, &s32, FEW) * FEW * 1e9, "ns/update", "update100-naive");
    return argc > 1 ? write_json(argv[1]) : 0;
}
