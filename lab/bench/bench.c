/* Speed, as ratios measured in one run. Prints a table and writes JSON rows; docs/performance.md
   explains the names. usage: rejfilt-bench [FILE.json] */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"
#include "naive.h"
#include "outputs.h"
#include "simd/targets.h"

#ifdef RF_HAVE_BLAS
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
void openblas_set_num_threads(int);
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double best(work *run, void *context, uint32_t amount)
{
    double least = 1e9, start = now();
    for (int i = 0; i < 5 || now() - start < 0.5; i++) {
        double begin = now();
        run(context, amount);
        double spent = (now() - begin) / amount;
        least = spent < least ? spent : least;
    }
    return least;
}

/* ---- Rows ---- */

typedef struct row {
    char name[48], vs[48];
    const char *unit;
    double value, ratio; /* ratio: how many times faster than row `vs`; NaN without one */
} row;

static row rows[160];
static size_t row_count;

static double value_of(const char *name)
{
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].value;
    return NAN;
}

/* A smaller time is faster, and a larger rate. */
static void add(const char *name, double value, const char *unit, const char *vs)
{
    row *r = &rows[row_count++];
    snprintf(r->name, sizeof r->name, "%s", name);
    snprintf(r->vs, sizeof r->vs, "%s", vs ? vs : "");
    r->unit = unit;
    r->value = value;
    r->ratio = !vs ? NAN : strncmp(unit, "ns", 2) == 0 ? value_of(vs) / value : value / value_of(vs);
    printf("%-30s %12.4g %-12s", name, value, unit);
    if (vs && isfinite(r->ratio))
        printf(" %8.3g x %s", r->ratio, vs);
    putchar('\n');
    fflush(stdout);
}

static int write_json(const char *path)
{
    char error[512];
    rf_output output;
    FILE *out = rf_output_open(&output, path, 0, error, sizeof error);
    if (!out) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    fputs("[\n", out);
    for (size_t i = 0; i < row_count; i++) {
        const row *r = &rows[i];
        fprintf(out, "  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", ", r->name, r->value, r->unit);
        if (isfinite(r->ratio))
            fprintf(out, "\"vs\": \"%s\", \"ratio\": %.6g}", r->vs, r->ratio);
        else
            fprintf(out, "\"vs\": null, \"ratio\": null}");
        fputs(i + 1 < row_count ? ",\n" : "\n", out);
    }
    fputs("]\n", out);
    if (rf_output_close(&output, 1, error, sizeof error) == 0)
        return 0;
    fprintf(stderr, "%s\n", error);
    return 1;
}

/* ---- One parameter ---- */

enum { MANY = 100032, FEW = 100 };

static void run_naive(void *context, uint32_t amount)
{
    naive_filter *f = context;
    f->mean = 0;
    f->sd = 1;
    naive_update(f, 2, 0.3, 1, amount);
}

static volatile uint32_t sink;
static volatile float sinkf;
#define RF_TARGET(name)                                                                                                \
    floor_words floor_words_##name;                                                                                    \
    floor_normals floor_normals_##name;
RF_TARGETS
#undef RF_TARGET
#define RF_TARGET(name) {floor_words_##name, floor_normals_##name},
static const struct { floor_words *words; floor_normals *normals; } floors[] = {RF_TARGETS};
#undef RF_TARGET
static void run_words(void *target, uint32_t amount) { sink = floors[*(unsigned *)target].words(amount); }
static void run_normals(void *target, uint32_t amount) { sinkf = floors[*(unsigned *)target].normals(amount); }

static void measure(const char *name, const char *engine_name, int bits, const rf_model *model, rf_sampler sampler, work *run,
                    uint32_t amount, double scale, const char *unit, const char *vs)
{
    char error[200];
    rf_engine *engine = rf_engine_open(engine_name, error, sizeof error);
    static subject s;
    if (!engine)
        return;
    if (subject_open(&s, bits, model, engine, sampler) == 0)
        add(name, best(run, &s, amount) * scale, unit, vs);
    subject_close(&s);
    rf_engine_close(engine);
}

static void one_parameter(const rf_model *precession)
{
    naive_filter naive = {0, 1, 1};
    unsigned target = rf_target_best();
    add("naive", best(run_naive, &naive, MANY) * 1e9, "ns/attempt", NULL);
    add("floor-words", best(run_words, &target, MANY) * 1e9, "ns/attempt", "naive");
    add("floor-normals", best(run_normals, &target, MANY) * 1e9, "ns/attempt", "naive");
    const char *const engines[] = {"serial", "simd:baseline", "simd:avx2", "simd:avx512", "simd"};
    const char *const samplers[] = {"", "-lattice", "-weight"};
    for (int e = 0; e < 5; e++)
        for (int bits = 32; bits <= 64; bits += 32)
            for (int sampler = 0; sampler < 3; sampler++) {
                char name[48];
                snprintf(name, sizeof name, "%s-%s%s", engines[e], bits == 32 ? "float" : "double", samplers[sampler]);
                measure(name, engines[e], bits, precession, (rf_sampler)sampler, subject_attempts, MANY, 1e9, "ns/attempt", "naive");
            }
    add("simd-float-vs-floor", value_of("simd-float"), "ns/attempt", "floor-normals");
}

/* ---- Latency of one update ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void latency(const char *name, work *run, void *context, const char *vs)
{
    enum { N = 20000 };
    static double spent[N];
    for (int i = 0; i < N; i++) {
        double begin = now();
        run(context, FEW);
        spent[i] = (now() - begin) * 1e9;
    }
    qsort(spent, N, sizeof *spent, compare);
    const double shares[] = {0.5, 0.99, 0.999};
    const char *const marks[] = {"", "-p99", "-p99.9"};
    for (int i = 0; i < 3; i++) {
        char label[48], other[48];
        snprintf(label, sizeof label, "%s%s", name, marks[i]);
        snprintf(other, sizeof other, "%s%s", vs ? vs : "", marks[i]);
        add(label, spent[(int)(shares[i] * (N - 1))], "ns/update", vs ? other : NULL);
    }
}

static void latencies(const rf_model *precession)
{
    naive_filter naive = {0, 1, 1};
    latency("update100-naive", run_naive, &naive, NULL);
    const char *const names[] = {"update100-float", "update100-float-lattice", "update100-double"};
    for (int k = 0; k < 3; k++) {
        char error[200];
        static subject s;
        rf_engine *engine = rf_engine_open("simd", error, sizeof error);
        subject_open(&s, k == 2 ? 64 : 32, precession, engine, k == 1 ? RF_LATTICE : RF_REJECT);
        latency(names[k], subject_update, &s, "update100-naive");
        subject_close(&s);
        rf_engine_close(engine);
    }
}

/* ---- Threads, ranks, fleets, users' models ---- */

static void scaling(const rf_model *precession)
{
    enum { HUGE = 10000000 };
    measure("simd-1e7", "simd", 32, precession, RF_REJECT, subject_attempts, HUGE, 1e9, "ns/attempt", NULL);
    measure("threads2-1e7", "threads:2", 32, precession, RF_REJECT, subject_attempts, HUGE, 1e9, "ns/attempt", "simd-1e7");
    measure("threads4-1e7", "threads:4", 32, precession, RF_REJECT, subject_attempts, HUGE, 1e9, "ns/attempt", "simd-1e7");
}

typedef struct fleet {
    uint32_t count;
    rf32_filter **filters;
    unsigned char *memory;
    float (*records)[3];
    rf32_report *reports;
    rf32_model model;
    const rf_engine *engine;
} fleet;

static void run_fleet(void *context, uint32_t amount)
{
    fleet *f = context;
    rf32_options o = rf32_options_default();
    o.batches_max = 1;
    for (uint32_t i = 0; i < f->count; i++) { /* reset to the prior: part of the measurement, but small */
        ((float *)(uintptr_t)rf32_filter_mean(f->filters[i]))[0] = 0;
        ((float *)(uintptr_t)rf32_filter_factor(f->filters[i]))[0] = 1;
    }
    rf32_fleet_update(f->filters, f->count, &f->model, f->records[0], &o, rf_engine_f32(f->engine), f->reports);
    (void)amount;
}

static void fleets(const rf_model *precession)
{
    enum { COUNT = 4096 };
    static rf32_chart charts[RF_DESCRIBED_MAX];
    fleet f = {COUNT, malloc(COUNT * sizeof(rf32_filter *)), aligned_alloc(64, COUNT * RF32_FILTER_BYTES(1)), malloc(COUNT * sizeof *f.records),
               malloc(COUNT * sizeof(rf32_report)), rf32_instance_model(precession->f32, charts), NULL};
    f.model.charts = NULL;
    for (uint32_t i = 0; i < COUNT; i++) {
        rf32_filter_init(&f.filters[i], f.memory + i * RF32_FILTER_BYTES(1), RF32_FILTER_BYTES(1), 1, i);
        f.records[i][0] = 2, f.records[i][1] = 0.3f, f.records[i][2] = 1;
    }
    const char *const engines[] = {"simd", "threads:2"}, *const names[] = {"fleet4096-float", "fleet4096-float-threads2"};
    for (int k = 0; k < 2; k++) {
        char error[200];
        rf_engine *engine = rf_engine_open(engines[k], error, sizeof error);
        f.engine = engine;
        double spent = best(run_fleet, &f, 1);
        add(names[k], COUNT * FEW / spent, "attempts/s", "simd-float-rate");
        if (k == 0)
            add("fleet4096-updates", COUNT / spent, "updates/s", NULL);
        rf_engine_close(engine);
    }
    free(f.filters), free(f.memory), free(f.records), free(f.reports);
}

static void user_model(const rf_model *precession)
{
    char error[4096];
    const rf_model *mine = rf_model_load(RF_BENCH_MODEL, error, sizeof error);
    (void)precession;
    if (!mine) {
        fprintf(stderr, "%s\n", error);
        return;
    }
    measure("user-model-float", "simd", 32, mine, RF_REJECT, subject_attempts, MANY, 1e9, "ns/attempt", "simd-float");
    measure("user-model-double", "simd", 64, mine, RF_REJECT, subject_attempts, MANY, 1e9, "ns/attempt", "simd-double");
}

/* ---- Dimensions ---- */

#define LINEAR(dim)                                                                                                    \
    extern const rf32_instance rf32_model_bench##dim;                                                                  \
    extern const rf64_instance rf64_model_bench##dim;
LINEAR(1) LINEAR(2) LINEAR(4) LINEAR(8) LINEAR(16) LINEAR(32) LINEAR(64) LINEAR(128)
#define ROW(dim) {&rf32_model_bench##dim, &rf64_model_bench##dim}
static const rf_model linear[] = {ROW(1), ROW(2), ROW(4), ROW(8), ROW(16), ROW(32), ROW(64), ROW(128)};

typedef struct naive_space {
    unsigned dim;
    uint64_t rng;
    float *memory;
} naive_space;

static void run_naive_linear(void *context, uint32_t amount)
{
    naive_space *s = context;
    unsigned dim = s->dim, triangle = dim * (dim + 1) / 2;
    float *mean = s->memory, *factor = mean + dim, *weights = factor + triangle, *work = weights + dim, *sum = work + 3 * dim + 3;
    naive_linear(dim, mean, factor, weights, 1, 0.2f, amount, &s->rng, work, sum, sum + dim);
}

static void dimensions(void)
{
#ifdef RF_HAVE_BLAS
    enum { N = 512 };
    float *a = calloc(3 * N * N, sizeof *a);
    openblas_set_num_threads(1);
    double least = 1e9;
    for (int i = 0; i < 30; i++) {
        double begin = now();
        cblas_sgemm(101, 111, 111, N, N, N, 1, a, N, a + N * N, N, 0, a + 2 * N * N, N);
        least = fmin(least, now() - begin);
    }
    add("sgemm", 2.0 * N * N * N / least * 1e-9, "Gflop/s", NULL);
    free(a);
#endif
    for (size_t k = 0; k < sizeof linear / sizeof linear[0]; k++) {
        unsigned dim = linear[k].f32->description->dim;
        uint32_t amount = dim < 16 ? 32768 : 8192;
        char name[48], vs[48];
        naive_space space = {dim, 1, calloc(dim * dim + dim * (dim + 1) / 2 + 8 * dim + 8, sizeof(float))};
        for (unsigned i = 0; i < dim; i++) {
            space.memory[dim + i * (i + 1) / 2 + i] = 1;
            space.memory[dim + dim * (dim + 1) / 2 + i] = 0.1f;
        }
        snprintf(vs, sizeof vs, "naive-dim%u", dim);
        add(vs, best(run_naive_linear, &space, amount / 8) * 1e9, "ns/attempt", NULL);
        free(space.memory);
        snprintf(name, sizeof name, "simd-float-dim%u", dim);
        char error[200];
        static subject s;
        rf_engine *engine = rf_engine_open("simd", error, sizeof error);
        subject_open(&s, 32, &linear[k], engine, RF_REJECT);
        double spent = best(subject_attempts, &s, amount);
        add(name, spent * 1e9, "ns/attempt", vs);
        if (isfinite(value_of("sgemm")) && dim >= 16) { /* L·z for all, zzᵀ for the accepted */
            double flops = dim * (dim + 1.0) * (1 + subject_acceptance(&s, amount));
            snprintf(name, sizeof name, "simd-float-dim%u-flops", dim);
            add(name, flops / spent * 1e-9, "Gflop/s", "sgemm");
        }
        subject_close(&s);
        snprintf(name, sizeof name, "simd-double-dim%u", dim);
        subject_open(&s, 64, &linear[k], engine, RF_REJECT);
        add(name, best(subject_attempts, &s, amount) * 1e9, "ns/attempt", vs);
        subject_close(&s);
        rf_engine_close(engine);
    }
}

/* ---- MPI: this program again, under mpirun ---- */

static int rank_main(void)
{
    char error[200];
    static subject s;
    rf_engine *engine = rf_engine_open("mpi:simd", error, sizeof error);
    if (!engine)
        return 1;
    subject_open(&s, 32, rf_model_find("precession"), engine, RF_REJECT);
    double spent = best(subject_attempts, &s, 10000000);
    if (rf_engine_rank(engine) == 0)
        printf("%.9g\n", spent * 1e9);
    subject_close(&s);
    rf_engine_close(engine);
    return 0;
}

static void ranks(const char *self)
{
    for (int n = 1; n <= 2; n++) {
        char command[600], name[48];
        double value = 0;
        snprintf(command, sizeof command, "mpirun --allow-run-as-root --oversubscribe -np %d '%s' --rank 2>/dev/null", n, self);
        FILE *in = popen(command, "r");
        int got = in && fscanf(in, "%lf", &value) == 1;
        if (in)
            pclose(in);
        snprintf(name, sizeof name, "mpi%d-1e7", n);
        if (got)
            add(name, value, "ns/attempt", "simd-1e7");
    }
}

int main(int argc, char **argv)
{
    const rf_model *precession = rf_model_find("precession");
    if (argc > 1 && strcmp(argv[1], "--rank") == 0)
        return rank_main();
    one_parameter(precession);
    latencies(precession);
    scaling(precession);
    ranks(argv[0]);
    add("simd-float-rate", 1e9 / value_of("simd-float"), "attempts/s", NULL);
    fleets(precession);
    user_model(precession);
    dimensions();
    return argc > 1 ? write_json(argv[1]) : 0;
}
