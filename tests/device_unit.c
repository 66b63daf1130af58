/* GPU code compiled for the host, compared with the library's serial engine: one model, sampler and precision, set
   on the compiler's command line. Loaded by test_device.c. */
#define RF_DIM(dim) RF_DEVICE_DIM
#define RF_SAMPLER(sampler) RF_DEVICE_SAMPLER
#include RF_MODEL_FILE
#include "cuda/device.h"

#include "device_unit.h"

enum { SEEDS = 6, COUNT_MAX = 3, THREADS = 64 };

static uint64_t source = 1;

static uint32_t word(void)
{
    const rf_words w = rf_draw(99, (uint32_t)source, 0, 0, RF_FOR_USER);
    source++;
    return w.word[0];
}

static rf_real uniform(double low, double high) { return (rf_real)(low + (high - low) * word() * 0x1p-32); }

typedef struct scene {
    RF(chart) charts[RF_DESCRIBED_MAX];
    RF(model) model;
    rf_real mean[RF_DEVICE_DIM], factor[RF_TRIANGLE(RF_DEVICE_DIM)], wrap[2 * RF_DEVICE_DIM],
        records[COUNT_MAX * (RF_DESCRIBED_MAX + 2)];
    RF(task) task;
} scene;

/* A task with every feature: charts, wide angles, several records, a small κ. */
static void make_scene(scene *s, unsigned seed)
{
    RF(model)
    model = {.likelihood = RF(device_likelihood),
             .dim = RF_DEVICE_DIM,
             .settings = (uint16_t)description.settings,
             .is_log = (uint16_t)RF_IS_LOG(description)};
    for (unsigned i = 0; i < RF_DEVICE_DIM; i++) {
        const rf_parameter *p = &description.parameter[i % RF_DESCRIBED_MAX];
        if (RF_DEVICE_DIM <= RF_DESCRIBED_MAX && p->name)
            s->charts[i] = (RF(chart)){p->chart, (rf_real)p->low, (rf_real)p->high};
        s->mean[i] = uniform(-1, 1);
        for (unsigned j = 0; j <= i; j++)
            s->factor[RF_TRIANGLE(i) + j] = i == j ? uniform(0.1, 1) : uniform(-0.1, 0.1);
        s->wrap[2 * i] = p->chart == RF_PERIODIC ? uniform(1.5, 5) : 0;
        s->wrap[2 * i + 1] = seed % 2 ? RF_C(0.5) : 0;
    }
    model.charts = s->charts;
#ifdef RF_HAS_BOUND
    model.bound = RF(device_bound);
#endif
    s->model = model;
    const RF(task) task = {.model = &s->model,
                           .mean = s->mean,
                           .factor = s->factor,
                           .records = s->records,
                           .wrap = seed % 3 == 1 ? s->wrap : 0,
                           .seed = seed * 0x123456789u,
                           .count = seed % COUNT_MAX + 1,
                           .update = seed,
                           .sampler = RF_DEVICE_SAMPLER,
                           .kappa = seed % 2 ? RF_C(0.6) : RF_C(1.0)};
    s->task = task;
    for (unsigned k = 0; k < task.count; k++) {
        rf_real *record = s->records + k * (model.settings + 1u);
        for (unsigned i = 0; i <= model.settings; i++)
            record[i] = i == model.settings && description.outcomes > 0 ? (rf_real)(word() & 1) : uniform(0.2, 1.5);
    }
}

#if RF_DEVICE_GROUP == 0
static RF(device_run) run;

static void unpack(const uint64_t numbers[], RF(tally) * tally)
{
    tally->over += numbers[0];
    tally->weight += numbers[1];
    RF(count_bad)(&tally->nan, (uint32_t)numbers[2]);
    RF(count_bad)(&tally->negative, (uint32_t)numbers[3]);
    RF(count_bad)(&tally->infinite, (uint32_t)numbers[4]);
    tally->largest = RF(max)(tally->largest, RF(from_bits)((rf_unsigned)numbers[5]));
    for (unsigned i = 0; i < RF_DEVICE_DIM + RF_TRIANGLE(RF_DEVICE_DIM); i++)
        ((int64_t *)(tally + 1))[i] += (int64_t)numbers[RF_DEVICE_HEAD + i];
}

static void run_all(uint32_t begin, uint32_t count, unsigned threads, RF(tally) * tally)
{
    run.begin = begin;
    run.count = count;
#if RF_DEVICE_DIM > RF_DEVICE_OWN
    static uint64_t numbers[RF_DEVICE_NUMBERS(RF_DEVICE_DIM)];
    static rf_real weight[2 * THREADS];
    static int32_t z[RF_DEVICE_DIM * RF_DEVICE_ROW(THREADS)];
    uint32_t columns;
    const RF(device_block) block = {numbers, weight, z, RF_DEVICE_ROW(threads), &columns};
    RF(chart) charts[RF_DEVICE_DIM];
    const RF(model) model = RF(device_model_of)(&run.about, charts);
    const RF(task) task = RF(device_task_of)(&run, &model);
    static RF(tally) own[THREADS];
    memset(numbers, 0, sizeof numbers);
    memset(own, 0, sizeof own);
    for (uint32_t pair = begin / 2; pair <= (begin + count - 1) / 2; pair += threads) {
        columns = 0;
        for (unsigned t = 0; t < threads; t++)
            RF(device_pair)(&task, pair + t, begin, count, t, &block, &own[t]);
        for (unsigned t = 0; t < threads; t++)
            RF(device_add)(t, threads, &block);
    }
    for (unsigned t = 0; t < threads; t++)
        RF(device_gather)(&own[t], numbers);
    unpack(numbers, tally);
#else
    uint64_t numbers[RF_DEVICE_NUMBERS(RF_DEVICE_DIM)];
#if RF_DEVICE_PLAIN
    memset(rf_device_z, 0x7f, sizeof rf_device_z); /* makes the test fail if old contents are used */
#endif
    RF(device_fill_for)(&run, 0, 1);
    for (run.piece = 64 * RF_DEVICE_PAIRS; run.piece < 4096 && word() % 2;)
        run.piece *= 2;
    for (unsigned t = 0; t < threads; t++) {
        const rf_device_worker worker = {t, threads};
        RF(device_part)(&run, worker, numbers);
        unpack(numbers, tally);
    }
#endif
}

static int check(const RF(device_library) * library, char *error, size_t size)
{
#if RF_DEVICE_DIM > RF_DEVICE_OWN
    rf_device_fill(0, 1);
#endif
    static const uint32_t counts[] = {1, 2, 7, 64, 100, 1000, 5000, 9001};
    static RF_ALIGNED unsigned char memory[2][RF_TALLY_BYTES_(RF_DEVICE_DIM, sizeof(RF(tally)), sizeof(rf_real))];
    RF(tally) *got = (RF(tally) *)(void *)memory[0], *right = (RF(tally) *)(void *)memory[1];
    for (unsigned seed = 0; seed < SEEDS; seed++)
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
            static scene s;
            const uint32_t begin = seed % 2 ? word() % 5000 : 0;
            memset(&s, 0, sizeof s);
            make_scene(&s, seed);
            run.task = s.task;
            rf_device_keys(s.task.seed, run.keys);
            run.about.model = s.model;
            memcpy(run.about.charts, s.charts, sizeof run.about.charts);
            rf_real *to = run.numbers;
            memcpy(to, s.mean, sizeof s.mean);
            memcpy(to += RF_DEVICE_DIM, s.factor, sizeof s.factor);
            to += RF_TRIANGLE(RF_DEVICE_DIM);
            if (s.task.wrap)
                memcpy(to, s.wrap, sizeof s.wrap), to += 2 * RF_DEVICE_DIM;
            memcpy(to, s.records, s.task.count * (s.model.settings + 1u) * sizeof *to);
            library->clear(got, RF_DEVICE_DIM, s.task.update);
            library->clear(right, RF_DEVICE_DIM, s.task.update);
            run_all(begin, counts[c], 32u << seed % 2, got);
            library->serial->run(0, &s.task, begin, counts[c], right);
            if (memcmp(got, right, sizeof *got + 8 * (RF_DEVICE_DIM + RF_TRIANGLE(RF_DEVICE_DIM))) != 0) {
                snprintf(error, size, "%s, %u parameters, %d bits, sampler %d: attempts %u + %u of seed %u differ",
                         description.name, RF_DEVICE_DIM, RF_PRECISION, (int)RF_DEVICE_SAMPLER, begin, counts[c], seed);
                return -1;
            }
        }
    return 0;
}
#else
static int check(const RF(device_library) * library, char *error, size_t size)
{
    rf_device_fill(0, 1);
    static const uint32_t counts[] = {1, 10, 64, 100, 1000};
    enum { BYTES = RF_FILTER_BYTES_(RF_DEVICE_DIM, sizeof(RF(tally)), sizeof(rf_real)) };
    static RF_ALIGNED unsigned char memory[2][BYTES];
    static scene s;
    static RF(device_fleet) fleet;
    const size_t kept = sizeof(RF(filter)) + 8 * (RF_DEVICE_DIM + RF_TRIANGLE(RF_DEVICE_DIM)),
                 numbers = RF_DEVICE_DIM + RF_TRIANGLE(RF_DEVICE_DIM);
    for (unsigned seed = 0; seed < SEEDS; seed++)
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
            RF(filter) *got = (RF(filter) *)(void *)memory[0], *right;
            RF(report) reports[2];
            RF(options)
            options = RF(options_default)();
            memset(&s, 0, sizeof s);
            memset(memory, 0, sizeof memory);
            memset(reports, 0, sizeof reports);
            make_scene(&s, seed);
            library->init(&right, memory[1], BYTES, RF_DEVICE_DIM, seed);
            if (library->restore(right, seed, seed, s.mean, s.factor, 0) < 0)
                return snprintf(error, size, "a prior is refused"), -1;
            memcpy(memory[0], memory[1], BYTES);
            options.attempts = counts[c];
            options.sampler = RF_DEVICE_SAMPLER;
            options.kappa = s.task.kappa;
            fleet.about.model = s.model;
            memcpy(fleet.about.charts, s.charts, sizeof fleet.about.charts);
            fleet.options = options;
            fleet.records = s.records;
            const rf_status a = RF(device_update)(&fleet, 0, memory[0], &reports[0]),
                            b = library->update(right, &s.model, s.records, 1, &options, 0, &reports[1]);
            if (a != b || memcmp(got, right, kept) != 0 ||
                memcmp(library->mean(got), library->mean(right), numbers * sizeof(rf_real)) != 0 ||
                memcmp(&reports[0], &reports[1], sizeof reports[0]) != 0) {
                snprintf(
                    error, size,
                    "%s, %u parameters, %d bits, sampler %d: an update of %u attempts of seed %u differs: %d, not %d",
                    description.name, RF_DEVICE_DIM, RF_PRECISION, (int)RF_DEVICE_SAMPLER, counts[c], seed, a, b);
                return -1;
            }
        }
    return 0;
}
#endif

#if RF_PRECISION == 32
__attribute__((visibility("default"))) const device_unit unit = {check, 0, 0, 0};
#else
__attribute__((visibility("default"))) const device_unit unit = {0, check, 0, 0};
#endif
