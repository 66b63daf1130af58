/* Speed of a GPU: rejfilt-cuda [DEVICE [MODEL.c]]. Compares the result of one task with that of the host. ONLY=run,
   picture, many, residents, few or memory runs one part. */
#define _POSIX_C_SOURCE 200809L
#define RF_PRECISION 32
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rejfilt/fleet.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define REPEATS 5

/* One task of a linear or a one-parameter model, in both precisions. */
#define MEASURE(bits, real)                                                                                                                    \
    static void measure##bits(const rf_engine *gpu, const rf_engine *cpu, const rf##bits##_instance *instance, rf_sampler sampler, uint32_t m) \
    {                                                                                                                                          \
        const unsigned dim = instance->description->dim;                                                                                       \
        const size_t bytes = rf##bits##_tally_bytes(dim);                                                                                      \
        rf##bits##_chart charts[RF_DESCRIBED_MAX];                                                                                             \
        rf##bits##_model model = {.likelihood = instance->likelihood,                                                                          \
                                  .bound = instance->bound,                                                                                    \
                                  .dim = (uint16_t)dim,                                                                                        \
                                  .settings = (uint16_t)instance->description->settings,                                                       \
                                  .is_log = (uint16_t)RF_IS_LOG(*instance->description),                                                           \
                                  .kernels = instance->kernels};                                                                               \
        if (dim <= RF_DESCRIBED_MAX && instance->description->parameter[0].name)                                                               \
            model = rf##bits##_instance_model(instance, charts);                                                                               \
        real *numbers = calloc(2 * dim + RF_TRIANGLE(dim) + 2 * 256, sizeof *numbers), *factor = numbers + dim, *record = factor + RF_TRIANGLE(dim); \
        rf##bits##_tally *a = malloc(bytes), *b = malloc(bytes);                                                                               \
        for (unsigned i = 0; i < dim; i++)                                                                                                     \
            factor[RF_TRIANGLE(i) + i] = 1;                                                                                                    \
        for (unsigned i = 0; i < model.settings; i++)                                                                                          \
            record[i] = (real)0.75;                                                                                                            \
        record[model.settings] = 1;                                                                                                            \
        const rf##bits##_task task = {.model = &model, .mean = numbers, .factor = factor, .records = record, .seed = 5, .count = 1, .update = 3, .sampler = sampler, .kappa = 1}; \
        const rf##bits##_engine *g = rf_engine_f##bits(gpu), *c = rf_engine_f##bits(cpu);                                                      \
        double best = 1e9, host = 1e9;                                                                                                         \
        int status = 0;                                                                                                                        \
        for (int k = 0; k < REPEATS; k++) {                                                                                                    \
            rf##bits##_tally_clear(a, dim, 3);                                                                                                 \
            const double start = now();                                                                                                        \
            status = g->run(g->self, &task, 0, m, a);                                                                                          \
            const double spent = now() - start;                                                                                                \
            best = spent < best ? spent : best;                                                                                                \
        }                                                                                                                                      \
        rf##bits##_tally_clear(b, dim, 3);                                                                                                     \
        const double start = now();                                                                                                            \
        c->run(c->self, &task, 0, m, b);                                                                                                       \
        host = now() - start;                                                                                                                  \
        const int is_same = memcmp(a, b, sizeof *a + 8 * (dim + RF_TRIANGLE(dim))) == 0;                                                       \
        printf("%-12s D %-3u %s sampler %d m %-10u %s %9.3e attempts/s  (%s %9.3e)  %8.1f us %s%s\n", instance->description->name, dim, #real, \
               (int)sampler, m, rf_engine_name(gpu), m / best, rf_engine_name(cpu), m / host, best * 1e6, is_same ? "same bits" : "DIFFERENT",   \
               status < 0 ? rf_engine_complaint(gpu) : "");                                                                                    \
        fflush(stdout);                                                                                                                        \
        free(numbers);                                                                                                                         \
        free(a);                                                                                                                               \
        free(b);                                                                                                                               \
    }
MEASURE(32, float)
MEASURE(64, double)

/* Fleets of filters that are copied to the device and back. */
static void measure_fleet(const rf_engine *gpu, const rf_engine *cpu, uint32_t count, uint32_t m, rf_sampler sampler)
{
    rf32_chart charts[1];
    const rf32_model model = rf32_instance_model(rf_model_find("precession")->f32, charts);
    const size_t bytes = rf32_filter_bytes(1);
    unsigned char *memory = calloc(2 * (size_t)count, bytes);
    rf32_filter **filters = calloc(2 * (size_t)count, sizeof *filters);
    float *records = calloc(count, 3 * sizeof *records);
    rf32_options o = rf32_options_default();
    const float low = 0, high = 1.5f;
    double best = 1e9, host = 0;
    o.attempts = m;
    o.sampler = sampler;
    for (uint32_t i = 0; i < 2 * count; i++) {
        rf32_filter_init(&filters[i], memory + i * bytes, bytes, 1, i % count);
        rf32_prior_box(filters[i], &model, &low, &high);
    }
    for (uint32_t i = 0; i < count; i++) {
        records[3 * i] = 2;
        records[3 * i + 1] = (float)(i % 7) * 0.1f;
        records[3 * i + 2] = (float)(i % 2);
    }
    int status = 0;
    for (int k = 0; k < 3; k++) {
        double start = now();
        status |= rf32_fleet_update(filters, count, &model, records, &o, rf_engine_f32(gpu), NULL);
        best = now() - start < best ? now() - start : best;
        start = now();
        rf32_fleet_update(filters + count, count, &model, records, &o, rf_engine_f32(cpu), NULL);
        host = now() - start;
    }
    printf("fleet of %u, m %u, sampler %d: %.3e updates/s with copies (%s %.3e), %s %s\n", count, m, (int)sampler, count / best, rf_engine_name(cpu), count / host,
           memcmp(memory, memory + count * bytes, count * bytes) == 0 ? "same bits" : "DIFFERENT", status < 0 ? rf_engine_complaint(gpu) : "");
    fflush(stdout);
    free(memory);
    free(filters);
    free(records);
}

/* A million filters that live on the device: records from the host, means to it. */
static void measure_residents(rf_engine *gpu, uint32_t count, uint32_t m, rf_sampler sampler)
{
    RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(1)];
    char error[2048] = "";
    rf32_chart charts[1];
    const rf32_model model = rf32_instance_model(rf_model_find("precession")->f32, charts);
    rf32_filter *prior;
    rf32_options o = rf32_options_default();
    const float low = 0, high = 1.5f;
    o.attempts = m;
    o.sampler = sampler;
    rf32_filter_init(&prior, memory, sizeof memory, 1, 1);
    rf32_prior_box(prior, &model, &low, &high);
    rf32_residents *fleet = rf32_residents_open(gpu, &model, &o, prior, count, error, sizeof error);
    if (!fleet) {
        printf("residents: %s\n", error);
        return;
    }
    float *records = rf32_residents_records(fleet), *means = rf32_residents_means(fleet);
    float *plain = malloc(3 * sizeof *plain * count), *plain_means = malloc(sizeof *plain * count);
    for (uint32_t i = 0; i < count; i++) {
        records[3 * i] = plain[3 * i] = 2;
        records[3 * i + 1] = plain[3 * i + 1] = (float)(i % 7) * 0.1f;
        records[3 * i + 2] = plain[3 * i + 2] = (float)(i % 2);
    }
    double best = 1e9, all = 1e9, copied = 1e9;
    rf_status status = 0;
    for (int k = 0; k < 8; k++) {
        double start = now();
        status |= rf32_residents_tell(fleet, NULL, count, records, NULL);
        const double told = now() - start;
        status |= rf32_residents_read(fleet, RF_READ_MEAN, NULL, count, means);
        const double read = now() - start;
        best = told < best ? told : best;
        all = read < all ? read : all;
        start = now();
        status |= rf32_residents_tell(fleet, NULL, count, plain, NULL);
        status |= rf32_residents_read(fleet, RF_READ_MEAN, NULL, count, plain_means);
        copied = now() - start < copied ? now() - start : copied;
    }
    printf("residents %u, m %u, sampler %d: told %.3e, with means %.3e, from and to plain memory %.3e updates/s, %d %s\n", count, m, (int)sampler, count / best, count / all,
           count / copied, status, status < 0 ? rf_engine_complaint(gpu) : "");
    fflush(stdout);
    rf32_residents_close(fleet);
    free(plain);
    free(plain_means);
}

#define RF_BENCH_LINEAR(dim)                   \
    extern const rf32_instance rf32_model_bench##dim; \
    extern const rf64_instance rf64_model_bench##dim;
RF_BENCH_LINEAR(4)
RF_BENCH_LINEAR(16)
RF_BENCH_LINEAR(64)

int main(int count, char **arguments)
{
    char error[2048], name[32] = "cuda";
    const char *only = getenv("ONLY");
    if (count > 1)
        snprintf(name, sizeof name, "cuda:%.8s", arguments[1]);
    double start = now();
    rf_engine *gpu = rf_engine_open(name, error, sizeof error);
    if (!gpu) {
        fprintf(stderr, "rejfilt-cuda: %s\n", error);
        return 1;
    }
    printf("opened in %.3f s\n", now() - start);
    rf_engine_reserve(gpu, 64);
    rf_engine *cpu = rf_engine_open("threads", error, sizeof error), *one = rf_engine_open("simd", error, sizeof error);
    const rf_model *precession = rf_model_find("precession"), *user = NULL;
    if (only && strcmp(only, "residents") == 0) {
        measure_residents(gpu, 1000000, 64, RF_WEIGHT);
        measure_residents(gpu, 1000000, 1000, RF_WEIGHT);
        return 0;
    }
    if (only && strcmp(only, "picture") == 0) { /* data of the picture in docs/performance.md */
        for (int s = 0; s < 3; s += 2)
            for (uint32_t m = 100; m <= 1000000000; m *= 10)
                measure32(gpu, one, precession->f32, (rf_sampler)s, m);
        for (uint32_t n = 100; n <= 10000000; n *= 10)
            for (uint32_t m = 64; m <= 1024; m *= 4)
                measure_residents(gpu, n, m == 1024 ? 1000 : m, RF_WEIGHT);
        return 0;
    }
    if (only && strcmp(only, "many") == 0) { /* many parameters */
        for (int s = 0; s < 3; s += 2) {
            measure64(gpu, one, &rf64_model_bench4, (rf_sampler)s, 1u << 24);
            measure64(gpu, one, &rf64_model_bench16, (rf_sampler)s, 1u << 22);
            measure64(gpu, one, &rf64_model_bench64, (rf_sampler)s, 1u << 20);
        }
        return 0;
    }
    if (only && strcmp(only, "memory") == 0) { /* needs more memory than there is */
        measure_residents(gpu, 4000000000u, 64, RF_WEIGHT);
        measure_residents(gpu, 1000, 64, RF_WEIGHT);
        return 0;
    }
    if (only && strcmp(only, "few") == 0) { /* a little of everything: for the sanitizer */
        for (int s = 0; s < 3; s++) {
            measure32(gpu, one, precession->f32, (rf_sampler)s, 100000);
            measure64(gpu, one, &rf64_model_bench16, (rf_sampler)s, 3000);
            measure_residents(gpu, 1000, 64, (rf_sampler)s);
            measure_residents(gpu, 60000, 100, (rf_sampler)s);
            measure_fleet(gpu, one, 300, 300, (rf_sampler)s);
        }
        return 0;
    }
    if (only && strcmp(only, "run") == 0) {
        for (int s = 0; s < 3; s++)
            measure32(gpu, cpu, precession->f32, (rf_sampler)s, 0x7fffffff);
        return 0;
    }
    for (int s = 0; s < 3; s++) {
        start = now();
        measure32(gpu, one, precession->f32, (rf_sampler)s, 1000);
        printf("first: %.3f s\n", now() - start);
        measure32(gpu, one, precession->f32, (rf_sampler)s, 100);
        measure32(gpu, one, precession->f32, (rf_sampler)s, 1000000);
        measure32(gpu, cpu, precession->f32, (rf_sampler)s, 0x7fffffff);
    }
    measure64(gpu, cpu, precession->f64, RF_REJECT, 1u << 30);
    measure64(gpu, cpu, precession->f64, RF_WEIGHT, 1u << 30);
    if (count > 2 && (user = rf_model_load(arguments[2], error, sizeof error))) {
        measure32(gpu, cpu, user->f32, RF_REJECT, 0x7fffffff);
        measure32(gpu, cpu, user->f32, RF_WEIGHT, 0x7fffffff);
    }
    for (int s = 0; s < 3; s += 2) {
        measure32(gpu, one, &rf32_model_bench4, (rf_sampler)s, 1u << 24);
        measure64(gpu, one, &rf64_model_bench4, (rf_sampler)s, 1u << 24);
        measure32(gpu, one, &rf32_model_bench16, (rf_sampler)s, 1u << 22);
        measure64(gpu, one, &rf64_model_bench16, (rf_sampler)s, 1u << 22);
        measure32(gpu, one, &rf32_model_bench64, (rf_sampler)s, 1u << 20);
        measure64(gpu, one, &rf64_model_bench64, (rf_sampler)s, 1u << 20);
    }
    for (int s = 0; s < 3; s += 2)
        for (uint32_t m = 64; m <= 1024; m = m < 1000 ? m * 4 : 1025)
            measure_residents(gpu, 1000000, m == 1024 ? 1000 : m, (rf_sampler)s);
    for (uint32_t n = 1000; n < 1000000; n *= 10)
        measure_residents(gpu, n, 128, RF_WEIGHT);
    for (uint32_t m = 1000; m <= 1000000000; m *= 100)
        measure32(gpu, one, precession->f32, RF_WEIGHT, m);
    for (int s = 0; s < 3; s += 2)
        for (uint32_t m = 64; m <= 1024; m = m < 1000 ? m * 4 : 1025)
            measure_fleet(gpu, cpu, 1000000, m == 1024 ? 1000 : m, (rf_sampler)s);
    rf_engine_close(one);
    rf_engine_close(cpu);
    rf_engine_close(gpu);
    return 0;
}
