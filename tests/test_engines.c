/* Every engine by name gives the serial engine's bits, refuses what it must, and leaks nothing. Per precision. With
   an argument: only that engine's bits; with a second argument N: only every N-th case. */
#define _POSIX_C_SOURCE 200809L
#include "testing.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "allocations.h"
#include "engine.h"
#include "engine_names.h"
#include "machine.h"
#include "rejfilt/detail/tally.h"

/* The sanitizer's leak check; after a call it does not run again at exit. MPI leaks, so the check runs before it
   starts. */
void __lsan_do_leak_check(void) __attribute__((weak));
static void check_leaks(void)
{
    if (__lsan_do_leak_check)
        __lsan_do_leak_check();
}

/* ---- Cases: chains of updates ---- */

enum { STEPS = 5, SAMPLERS = 3, MODELS_MAX = 32, SIZES = 7, CASES_OF_A_MODEL = SIZES * 4 * SAMPLERS, DIM = 4 };

static const uint32_t sizes[SIZES] = {1, 2, 3, 100, 1000, 5000, 9001}; /* the last exceeds a block of 8192 and two lattices of 4096 */

static unsigned model_count(void)
{
    unsigned count = 0;
    while (rf_model_at(count))
        count++;
    assert_in_range(count, 1, MODELS_MAX);
    return count;
}

static unsigned case_count(void) { return model_count() * CASES_OF_A_MODEL; }

static unsigned every = 1; /* step through the cases; with 3, each model, size and sampler is still tried */

typedef struct chain_case {
    const RF(instance) *instance;
    RF(options) options;
} chain_case;

static chain_case case_at(unsigned index)
{
    chain_case c = {INSTANCE(rf_model_at(index / CASES_OF_A_MODEL)), RF(options_default)()};
    index %= CASES_OF_A_MODEL;
    c.options.attempts = sizes[index % SIZES];
    c.options.strict = index / SIZES % 2;
    c.options.kappa = index / (SIZES * 2) % 2 ? RF_C(0.4) : RF_C(1.0);
    c.options.sampler = (rf_sampler)(index / (SIZES * 4));
    return c;
}

static int case_exists(const chain_case *c) { return !c->options.strict || c->options.sampler == RF_REJECT; }

/* The bytes after an update. */
typedef struct snapshot {
    rf_status status;
    RF(report) report;
    RF(tally) tally;
    int64_t sums[DIM + RF_TRIANGLE(DIM)];
    rf_real state[DIM + RF_TRIANGLE(DIM)];
} snapshot;

static void take(snapshot *s, rf_status status, const RF(report) *report, RF(filter) *f)
{
    size_t numbers = f->tally.dim + RF_TRIANGLE(f->tally.dim);
    s->status = status;
    s->report = *report;
    s->tally = f->tally;
    memcpy(s->sums, RF(tally_z)(&f->tally), numbers * 8);
    memcpy(s->state, RF(filter_mean)(f), numbers * sizeof(rf_real));
}

/* One to three records: settings of the particle guess heuristic, outcomes of ordinary probability. */
static uint32_t make_records(const RF(filter) *f, const RF(model) *m, const rf_description *description, int step, rf_real *records)
{
    uint32_t count = 1 + (uint32_t)step % 3;
    for (uint32_t k = 0; k < count; k++) {
        rf_real *record = records + k * (m->settings + 1u);
        choose_settings(f, m, description, record);
        record[0] *= 1 + RF_C(0.25) * (rf_real)k;
        record[m->settings] = description->outcomes ? (rf_real)(((uint32_t)step + k) % description->outcomes) : RF_C(0.3) * (rf_real)k;
    }
    return count;
}

/* Five updates in a row, with a snapshot after each. */
static void run_chain(const chain_case *c, const RF(engine) *engine, snapshot snapshots[STEPS])
{
    RF_ALIGNED unsigned char memory[FILTER_BYTES(DIM)];
    RF(chart) charts[RF_DESCRIBED_MAX];
    RF(model) model = RF(instance_model)(c->instance, charts);
    RF(filter) *f;
    rf_real records[3 * (RF_DESCRIBED_MAX + 1)];
    memset(snapshots, 0, STEPS * sizeof *snapshots);
    assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, model.dim, 42), RF_OK);
    set_prior_of(f, &model, c->instance->description);
    for (int step = 0; step < STEPS; step++) {
        RF(report) report;
        uint32_t count = make_records(f, &model, c->instance->description, step, records);
        rf_status status = RF(update)(f, &model, records, count, &c->options, engine, &report);
        if (status < 0)
            fail_msg("%s refused: %s", c->instance->description->name, rf_status_text(status));
        take(&snapshots[step], status, &report, f);
    }
}

static const snapshot *reference(unsigned index)
{
    static snapshot snapshots[MODELS_MAX * CASES_OF_A_MODEL][STEPS];
    static int known[MODELS_MAX * CASES_OF_A_MODEL];
    chain_case c = case_at(index);
    if (!known[index])
        run_chain(&c, NULL, snapshots[index]);
    known[index] = 1;
    return snapshots[index];
}

/* Runs a case with its own instance, or with another one that must give the same. */
static void check_chain(const char *name, unsigned index, const RF(engine) *engine, const RF(instance) *other)
{
    snapshot got[STEPS];
    chain_case c = case_at(index);
    const snapshot *right = reference(index);
    c.instance = other ? other : c.instance;
    run_chain(&c, engine, got);
    for (int i = 0; i < STEPS; i++)
        if (memcmp(&got[i], &right[i], sizeof got[i]) != 0)
            fail_msg("%s differs at update %d of %s with m = %u, kappa = %g%s, sampler %d: accepted %u, not %u", name, i,
                     c.instance->description->name, c.options.attempts, (double)c.options.kappa, c.options.strict ? ", strict" : "",
                     (int)c.options.sampler, got[i].tally.count.accepted, right[i].tally.count.accepted);
}

/* ---- Models with a block function ---- */

/* What the block function was called with, and when it must fail. */
typedef struct block_data {
    const RF(instance) *instance;
    atomic_uint calls, elsewhere; /* elsewhere: on a thread other than `home` */
    unsigned fail_at;
    pthread_t home;
    atomic_uint widest; /* most candidates in a call */
} block_data;

static rf_status block_of_scalars(const rf_real x[], uint32_t n, const rf_real setting[], rf_real outcome, rf_real out[], void *data)
{
    block_data *d = data;
    const unsigned call = atomic_fetch_add(&d->calls, 1);
    atomic_fetch_add(&d->elsewhere, !pthread_equal(pthread_self(), d->home));
    atomic_store(&d->widest, n > atomic_load(&d->widest) ? n : atomic_load(&d->widest));
    for (uint32_t k = 0; k < n; k++) {
        rf_real own[RF_DESCRIBED_MAX];
        for (unsigned i = 0; i < d->instance->description->dim; i++)
            own[i] = x[i * n + k];
        out[k] = d->instance->likelihood(own, setting, outcome);
    }
    return call == d->fail_at ? -7 : RF_OK;
}

/* The instance with a block function instead of its likelihood. */
static RF(instance) in_blocks(block_data *d, const RF(instance) *instance)
{
    RF(instance) blocks = *instance;
    d->instance = instance;
    d->calls = d->elsewhere = d->widest = 0;
    d->fail_at = ~0u;
    d->home = pthread_self();
    blocks.likelihood = NULL;
    blocks.kernels = NULL;
    blocks.block = block_of_scalars;
    blocks.data = d;
    return blocks;
}

/* ---- The same bits ---- */

static rf_engine *open_or_skip(const char *name)
{
    char error[512] = "";
    rf_engine *engine = rf_engine_open(name, error, sizeof error);
    if (!engine) {
        print_message("%s\n", error);
        skip();
    }
    return engine;
}

static void same_bits(void **state)
{
    rf_engine *engine = open_or_skip(*state);
    for (unsigned i = 0; i < case_count(); i += every) {
        chain_case c = case_at(i);
        if (case_exists(&c))
            check_chain(*state, i, ENGINE(engine), NULL);
    }
    rf_engine_close(engine);
}

/* Splits a range into pieces of all sizes and runs each with an inner engine. */
typedef struct splitter {
    const RF(engine) *inner;
    uint64_t source;
} splitter;

static rf_status split_run(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    static const uint32_t pieces[] = {1, 2, 77, 127, 128, 129, 2047, 2049, 6000, 30000, 60001};
    splitter *s = self;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(DIM)];
    RF(tally) *part = (RF(tally) *)(void *)memory;
    while (count > 0) {
        uint32_t piece = pieces[test_word(&s->source) % 11];
        piece = piece < count ? piece : count;
        RF(tally_clear)(part, task->model->dim, task->update);
        if (s->inner->run(s->inner->self, task, begin, piece, part) < 0 || RF(tally_add)(tally, part) < 0)
            return RF_REFUSED_ENGINE;
        begin += piece, count -= piece;
    }
    return RF_OK;
}

static void same_bits_in_pieces(void **state)
{
    rf_engine *engine = open_or_skip(*state);
    splitter s = {ENGINE(engine), 9};
    const RF(engine) split = {.run = split_run, .self = &s};
    for (unsigned i = 0; i < case_count(); i += every) {
        chain_case c = case_at(i);
        if (case_exists(&c))
            check_chain(*state, i, &split, NULL);
    }
    rf_engine_close(engine);
}

/* With a block function, called for many candidates at once; on threads unless the model forbids it. */
static void same_bits_in_blocks(void **state)
{
    rf_engine *engine = open_or_skip(*state);
    unsigned elsewhere = 0;
    for (unsigned i = 0; i < case_count(); i += 3) { /* a third of the cases */
        chain_case c = case_at(i);
        block_data d;
        RF(instance) blocks = in_blocks(&d, c.instance);
        blocks.one_thread = i % 2;
        if (!case_exists(&c))
            continue;
        check_chain(*state, i, ENGINE(engine), &blocks);
        assert_true(d.calls >= STEPS);
        assert_true(d.widest <= 8192 && d.widest >= (c.options.attempts < 1000 ? 1 : 100));
        assert_true(!blocks.one_thread || d.elsewhere == 0);
        elsewhere += d.elsewhere;
    }
    if (strstr(rf_engine_name(engine), "threads:") && !strstr(rf_engine_name(engine), "threads:1"))
        assert_true(elsewhere > 0);
    rf_engine_close(engine);
}

/* A block function fails at any of its calls: the update is refused and the filter is unchanged. */
static void failing_blocks_change_nothing(void **state)
{
    rf_engine *engine = open_or_skip(*state);
    for (unsigned model = 0; model < model_count(); model++)
        for (int records = 1; records <= 2; records++) {
            RF_ALIGNED unsigned char memory[FILTER_BYTES(DIM)];
            rf_real state_before[DIM + RF_TRIANGLE(DIM)];
            RF(chart) charts[RF_DESCRIBED_MAX];
            block_data d;
            const RF(instance) *instance = INSTANCE(rf_model_at(model)), blocks = in_blocks(&d, instance);
            const RF(model) m = RF(instance_model)(&blocks, charts);
            const size_t numbers = m.dim + RF_TRIANGLE(m.dim);
            RF(options) options = RF(options_default)();
            rf_real record[2 * (RF_DESCRIBED_MAX + 1)];
            RF(filter) *f;
            options.attempts = 3000;
            options.batches_max = 2;
            memset(memory, 0, sizeof memory);
            assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, m.dim, 5), RF_OK);
            set_prior_of(f, &m, instance->description);
            make_records(f, &m, instance->description, 1, record);
            memcpy(state_before, RF(filter_mean)(f), numbers * sizeof(rf_real));
            allocations_left = 0; /* the same when there is no memory for a call */
            rf_status status = RF(update)(f, &m, record, (uint32_t)records, &options, ENGINE(engine), NULL);
            allocations_left = -1;
            assert_int_equal(status, RF_REFUSED_ENGINE);
            for (d.fail_at = 0; d.fail_at < 1000 && status < 0; d.fail_at++) {
                RF(report) report, untouched;
                memset(&report, 0x55, sizeof report);
                memset(&untouched, 0x55, sizeof untouched);
                d.calls = 0;
                status = RF(update)(f, &m, record, (uint32_t)records, &options, ENGINE(engine), &report);
                if (status >= 0)
                    break;
                assert_int_equal(status, RF_REFUSED_MODEL);
                assert_memory_equal(&report, &untouched, sizeof report);
                assert_memory_equal(RF(filter_mean)(f), state_before, numbers * sizeof(rf_real));
                assert_int_equal(RF(filter_updates)(f), 0);
                assert_int_equal(f->seed, 5);
            }
            assert_true(status >= 0 && d.fail_at > 0);
            snapshot got = {.status = 0}, right = {.status = 0};
            take(&got, 0, &(RF(report)){.status = 0}, f);
            const RF(model) scalar = RF(instance_model)(instance, charts);
            assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, m.dim, 5), RF_OK);
            set_prior_of(f, &m, instance->description);
            assert_int_equal(RF(update)(f, &scalar, record, (uint32_t)records, &options, NULL, NULL), status);
            take(&right, 0, &(RF(report)){.status = 0}, f);
            assert_memory_equal(&got, &right, sizeof got);
        }
    rf_engine_close(engine);
}

/* ---- Ownership ---- */

/* Number of threads of this process. Waits until it is `expected`, because a joined thread may take a moment to end. */
static int thread_count(int expected)
{
    int count = 0;
    for (int tries = 0; tries < 200 && count != expected; tries++) {
        struct timespec pause = {0, tries ? 5000000 : 0};
        nanosleep(&pause, NULL);
        DIR *tasks = opendir("/proc/self/task");
        for (count = -2; readdir(tasks);)
            count++;
        closedir(tasks);
    }
    return count;
}

static void updates_allocate_nothing(void **state)
{
    rf_engine *engine = open_or_skip(*state);
    snapshot s[STEPS];
    for (unsigned model = 0; model < model_count(); model++) {
        chain_case c = case_at(model * CASES_OF_A_MODEL + 5);
        if (strncmp(rf_engine_name(engine), "cuda", 4) == 0) /* it compiles the model at its first use */
            run_chain(&c, ENGINE(engine), s);
        int before = allocations;
        run_chain(&c, ENGINE(engine), s);
        assert_int_equal(allocations, before);
    }
    rf_engine_close(engine);
}

static void opening_and_closing_leaks_nothing(void **state)
{
    rf_engine_close(open_or_skip(*state));
    int memory = held, threads = thread_count(1);
    for (int i = 0; i < 100; i++) {
        rf_engine *engine = open_or_skip(*state);
        assert_int_equal(rf_engine_reserve(engine, 1 + 10 * (unsigned)i % 40), 0);
        rf_engine_close(engine);
    }
    assert_int_equal(held, memory);
    assert_int_equal(thread_count(threads), threads);
}

/* Any allocation or thread may fail: the result is a message without a leak. */
static void opening_fails_cleanly(void **state)
{
    rf_engine_close(open_or_skip(*state));
    int memory = held, threads = thread_count(1);
    for (int which = 0; which < 2; which++) {
        atomic_int *left = which ? &threads_left : &allocations_left;
        rf_engine *engine = NULL;
        for (int enough = 0; !engine; enough++) {
            char error[200] = "";
            *left = enough;
            engine = rf_engine_open(*state, error, sizeof error);
            *left = -1;
            assert_int_equal(engine == NULL, error[0] != '\0');
            assert_int_equal(engine ? memory : held, memory);
            assert_int_equal(engine ? threads : thread_count(threads), threads);
        }
        rf_engine_close(engine);
    }
}

static void names_are_filled_in(void **state)
{
    (void)state;
    const char *const names[][2] = {{"serial", "serial"},         {"threads:3", "threads:3"}, {"paranoid", "paranoid:serial"},
                                    {"simd:baseline", "simd:baseline"}, {"paranoid:threads:2", "paranoid:threads:2"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        rf_engine *engine = open_or_skip(names[i][0]);
        assert_string_equal(rf_engine_name(engine), names[i][1]);
        assert_int_equal(rf_engine_rank(engine), 0);
        assert_string_equal(rf_engine_complaint(engine), "");
        rf_engine_close(engine);
    }
    char name[40]; /* without a number: a thread for each CPU that may be used */
    snprintf(name, sizeof name, "threads:%u", rf_cpus_allowed() < RF_THREADS_MAX ? rf_cpus_allowed() : RF_THREADS_MAX);
    rf_engine *engine = open_or_skip("threads");
    assert_string_equal(rf_engine_name(engine), name);
    rf_engine_close(engine);
}

/* One line that says what is wrong. */
static void bad_names_are_refused(void **state)
{
    (void)state;
    const char *const bad[][2] = {
        {"", "serial, simd["},           {"warp", "'warp'"},            {"warp:9", "warp"},
        {"Serial", "'Serial'"},         {"serial:2", "takes no argument"}, {"simd:", "no target ''"},
        {"simd:sse9", "'sse9'"},        {"threads:0", "1 to 1024"},    {"threads:x", "threads:x"},
        {"threads:", "1 to 1024"},      {"threads:-1", "1 to 1024"},   {"threads:2x", "1 to 1024"},
        {"threads:1025", "1 to 1024"},  {"threads:99999", "1 to 1024"}, {"threads:18446744073709551617", "1 to 1024"},
        {"paranoid:", "there is no engine ''"}, {"paranoid:warp", "'warp'"}, {"paranoid:threads:0", "threads:0"},
        {"mpi:mpi", "twice"},           {":", "there is no engine"},
        {"paranoid:paranoid:paranoid:paranoid:paranoid:paranoid:paranoid:serial", "there is no engine"},
    };
    int memory = held;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char error[300] = "";
        assert_null(rf_engine_open(bad[i][0], error, sizeof error));
        if (!strstr(error, bad[i][1]) || strchr(error, '\n') || strlen(error) > 200)
            fail_msg("'%s' gives: %s", bad[i][0], error);
        assert_null(rf_engine_open(bad[i][0], NULL, 0));
    }
    assert_int_equal(held, memory);
}

/* A target that this CPU lacks is refused; all others open. */
static void targets(void **state)
{
    (void)state;
    for (unsigned target = 0; rf_target_names[target]; target++) {
        char name[40], error[200] = "";
        snprintf(name, sizeof name, "simd:%s", rf_target_names[target]);
        rf_engine *engine = rf_engine_open(name, error, sizeof error);
        assert_int_equal(engine != NULL, target <= rf_target_best());
        assert_int_equal(engine == NULL, strstr(error, "does not have it") != NULL);
        rf_engine_close(engine);
    }
}

/* The kernel of the engine's target runs; without one, the kernel for this machine; without both, the function. */
static unsigned ran;
static rf_status run_first(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    (void)self, (void)task, (void)begin, (void)count, (void)tally;
    ran |= 1;
    return RF_OK;
}
static rf_status run_second(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    (void)self, (void)task, (void)begin, (void)count, (void)tally;
    ran |= 2;
    return RF_OK;
}
static rf_real run_function(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    (void)x, (void)setting, (void)outcome;
    ran |= 4;
    return 1;
}

static void kernels_are_found_by_name(void **state)
{
    (void)state;
    const RF(kernel) two[] = {{"other", run_first, NULL, NULL}, {"baseline", run_second, NULL, NULL}, {NULL, NULL, NULL, NULL}}, native[] = {{"native", run_first, NULL, NULL}, {NULL, NULL, NULL, NULL}},
                     none[] = {{"cuda", run_first, NULL, NULL}, {NULL, NULL, NULL, NULL}};
    const struct { const RF(kernel) *kernels; unsigned expected; } cases[] = {{two, 2}, {native, 1}, {none, 4}, {NULL, 4}};
    const rf_real mean = 0, factor = 1, record = 0;
    rf_engine *engine = open_or_skip("simd:baseline");
    for (int k = 0; k < 4; k++) {
        RF_ALIGNED unsigned char memory[FILTER_BYTES(1)];
        RF(tally) *tally = (RF(tally) *)(void *)memory;
        const RF(model) model = {.likelihood = run_function, .dim = 1, .kernels = cases[k].kernels};
        const RF(task) task = {.model = &model, .mean = &mean, .factor = &factor, .records = &record, .count = 1, .kappa = 1};
        RF(tally_clear)(tally, 1, 0);
        ran = 0;
        assert_int_equal(ENGINE(engine)->run(ENGINE(engine)->self, &task, 0, 2, tally), RF_OK);
        assert_int_equal(ran, cases[k].expected);
    }
    rf_engine_close(engine);
}

#if RF_PRECISION == 32
#define MANY_MODEL rf32_model_many11
#define TALLY_BYTES(dim) RF32_TALLY_BYTES(dim)
#else
#define MANY_MODEL rf64_model_many11
#define TALLY_BYTES(dim) RF64_TALLY_BYTES(dim)
#endif
extern const RF(instance) MANY_MODEL;

/* Eleven parameters, on every engine: three tiles, the last one partly filled; enough attempts for many sums of
   accepted ones, and for some |z| ≥ 4, which are summed separately. */
static void many_parameters(void **state)
{
    (void)state;
    enum { MANY_DIM = 11, NUMBERS = MANY_DIM + MANY_DIM * (MANY_DIM + 1) / 2 };
    const engine_list engines = list_engines(3);
    const uint32_t counts[] = {1, 127, 300, 1500, 20001};
    RF(model) model = RF(instance_model)(&MANY_MODEL, (RF(chart)[RF_DESCRIBED_MAX]){{RF_REAL, 0, 0}});
    model.charts = NULL;
    rf_real mean[MANY_DIM], factor[NUMBERS - MANY_DIM], record[MANY_DIM + 2];
    for (unsigned i = 0; i < MANY_DIM; i++) {
        mean[i] = RF_C(0.01) * (rf_real)i;
        record[i] = RF_C(0.1) * (rf_real)(i + 1);
        for (unsigned j = 0; j <= i; j++)
            factor[RF_TRIANGLE(i) + j] = i == j ? RF_C(1.0) : RF_C(0.07) * (rf_real)(i - j);
    }
    record[MANY_DIM] = 2;
    record[MANY_DIM + 1] = RF_C(0.2);
    for (unsigned e = 0; e < engines.count && !engines.name[e].is_module; e++) {
        rf_engine *engine = rf_engine_open(engines.name[e].text, NULL, 0);
        for (int k = 0; engine && k < 5 * 3; k++) {
            static RF_ALIGNED unsigned char right[TALLY_BYTES(MANY_DIM)], got[TALLY_BYTES(MANY_DIM)];
            const RF(task) task = {.model = &model, .mean = mean, .factor = factor, .records = record, .seed = 7, .count = 1, .update = 3,
                                   .sampler = (rf_sampler)(k % 3), .kappa = 1};
            RF(tally) *a = (RF(tally) *)(void *)right, *b = (RF(tally) *)(void *)got;
            RF(tally_clear)(a, MANY_DIM, 3);
            RF(tally_clear)(b, MANY_DIM, 3);
            assert_int_equal(RF(serial).run(RF(serial).self, &task, 1, counts[k / 3], a), RF_OK);
            assert_int_equal(ENGINE(engine)->run(ENGINE(engine)->self, &task, 1, counts[k / 3], b), RF_OK);
            if (memcmp(right, got, sizeof(RF(tally)) + 8 * NUMBERS) != 0)
                fail_msg("%s differs: sampler %d, %u attempts", engines.name[e].text, k % 3, counts[k / 3]);
        }
        rf_engine_close(engine);
    }
}

/* ---- Block functions elsewhere ---- */

/* The core's own engine calls the likelihood: without a likelihood it refuses, and so does an engine that uses it. */
static rf_status around_serial(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    return RF(serial).run(self, task, begin, count, tally);
}

static void the_core_has_no_blocks(void **state)
{
    (void)state;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(1)], before[FILTER_BYTES(1)];
    const RF(engine) around = {.run = around_serial}, *const engines[] = {NULL, &RF(serial), &around};
    RF(chart) charts[RF_DESCRIBED_MAX];
    block_data d;
    const RF(instance) blocks = in_blocks(&d, INSTANCE(rf_model_find("precession")));
    RF(model) model = RF(instance_model)(&blocks, charts);
    const RF(options) options = RF(options_default)();
    const rf_real record[] = {1, 0, 1};
    RF(filter) *f;
    memset(memory, 0, sizeof memory);
    assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, 1, 1), RF_OK);
    memcpy(before, memory, sizeof before);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(RF(update)(f, &model, record, 1, &options, engines[k], NULL), RF_REFUSED_NULL);
        assert_int_equal(RF(fleet_update)(&f, 1, &model, record, &options, engines[k], NULL), RF_REFUSED_NULL);
        assert_memory_equal(memory, before, sizeof before);
    }
    assert_int_equal(d.calls, 0);
    model.block = NULL; /* without likelihood and block function, all refuse */
    rf_engine *engine = open_or_skip("simd");
    assert_int_equal(RF(update)(f, &model, record, 1, &options, ENGINE(engine), NULL), RF_REFUSED_NULL);
    rf_engine_close(engine);
}

/* Many likelihoods: by the block function, or one by one; and outcomes of a model with only a block function. */
static void many_likelihoods(void **state)
{
    (void)state;
    enum { N = 2100 }; /* more than a block has */
    for (unsigned k = 0; k < model_count(); k++) {
        const RF(instance) *instance = INSTANCE(rf_model_at(k));
        block_data d;
        const RF(instance) blocks = in_blocks(&d, instance);
        const unsigned dim = instance->description->dim;
        RF(chart) charts[RF_DESCRIBED_MAX];
        const RF(model) one = RF(instance_model)(instance, charts), many = RF(instance_model)(&blocks, charts), neither = {.dim = (uint16_t)dim};
        rf_real x[N * RF_DESCRIBED_MAX], setting[RF_DESCRIBED_MAX], a[N], b[N];
        for (unsigned i = 0; i < N * dim; i++)
            x[i] = RF_C(0.1) + RF_C(0.05) * (rf_real)(i % 16);
        for (unsigned i = 0; i < RF_DESCRIBED_MAX; i++)
            setting[i] = 1 + (rf_real)i;
        assert_int_equal(RF(model_likelihoods)(&one, x, dim, N, setting, 1, a), RF_OK);
        assert_int_equal(RF(model_likelihoods)(&many, x, dim, N, setting, 1, b), RF_OK);
        assert_memory_equal(a, b, sizeof a);
        for (uint32_t n = 1; n <= 40; n++) /* with the kernel of each target */
            for (unsigned t = 0; t <= rf_target_best(); t++) {
                rf_real turned[40 * RF_DESCRIBED_MAX];
                for (uint32_t i = 0; i < n * dim; i++)
                    turned[i % dim * n + i / dim] = x[i];
                const RF(kernel) *kernel = RF(kernel_for)(one.kernels, rf_target_names[t]);
                if (!kernel && k > 0) /* under sanitizers some models have no kernel */
                    continue;
                assert_non_null(kernel);
                assert_int_equal(kernel->block(turned, n, setting, 1, b, NULL), RF_OK);
                assert_memory_equal(a, b, n * sizeof *a);
            }
        assert_int_equal(RF(model_likelihoods)(&neither, x, dim, N, setting, 1, b), RF_REFUSED_NULL);
        for (uint32_t index = 0; index < 20; index++) {
            const rf_real right = RF(instance_outcome)(instance, x, setting, 3, index), got = RF(instance_outcome)(&blocks, x, setting, 3, index);
            assert_memory_equal(&right, &got, sizeof right);
        }
        d.fail_at = d.calls;
        assert_int_equal(RF(model_likelihoods)(&many, x, dim, N, setting, 1, b), RF_REFUSED_MODEL);
        d.fail_at = d.calls;
        const rf_real failed = RF(instance_outcome)(&blocks, x, setting, 3, 0);
        assert_true(!instance->description->outcomes || !(failed == failed));
    }
}

/* ---- Parts ---- */

static void parts_are_the_range(void **state)
{
    (void)state;
    uint64_t source = 5;
    for (int k = 0; k < 20000; k++) {
        uint32_t begin = (uint32_t)test_word(&source) >> (1 + test_word(&source) % 31);
        uint32_t count = (RF_ATTEMPTS_MAX - begin) >> (test_word(&source) % 31);
        unsigned max = 1 + (unsigned)(test_word(&source) % 1024), parts = rf_parts(count, max);
        uint32_t at = begin;
        assert_in_range(parts, 1, max);
        assert_true(parts == 1 || count / parts >= RF_PART_ATTEMPTS);
        for (unsigned i = 0; i < parts; i++) {
            rf_part part = rf_part_at(begin, count, i, parts);
            assert_int_equal(part.begin, at);
            assert_true(i == 0 || part.begin % RF_PART_ALIGN == 0);
            at += part.count;
        }
        assert_int_equal(at, begin + count);
        assert_int_equal(rf_part_at(begin, count, parts, parts).count, 0);
    }
}

/* ---- More parameters than there is room for ---- */

enum { MANY = 20 };
static rf_real bump(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    return RF(exp)(RF_C(-0.5) * (x[0] - outcome) * (x[MANY - 1] - outcome) * setting[0]);
}

static rf_status update_many(const RF(engine) *engine, unsigned char *memory, size_t size)
{
    const RF(model) model = {.likelihood = bump, .dim = MANY, .settings = 1};
    const rf_real record[] = {RF_C(0.1), RF_C(0.2)};
    RF(options) options = RF(options_default)();
    RF(filter) *f;
    memset(memory, 0, size);
    assert_int_equal(RF(filter_init)(&f, memory, size, MANY, 3), RF_OK);
    options.attempts = 20000;
    return RF(update)(f, &model, record, 1, &options, engine, NULL);
}

static void more_parameters_than_reserved(void **state)
{
    (void)state;
    static RF_ALIGNED unsigned char right[FILTER_BYTES(MANY)], got[FILTER_BYTES(MANY)];
    rf_status status = update_many(NULL, right, sizeof right);
    size_t sums = sizeof(RF(filter)) + 8 * (MANY + RF_TRIANGLE(MANY));
    const char *const names[] = {"threads:3", "paranoid:threads:3"};
    for (int k = 0; k < 2; k++) {
        rf_engine *engine = open_or_skip(names[k]);
        if (k == 0) {
            assert_int_equal(update_many(ENGINE(engine), got, sizeof got), status);
            assert_memory_equal(got, right, sums);
        } else {
            assert_int_equal(update_many(ENGINE(engine), got, sizeof got), RF_REFUSED_ENGINE);
            assert_non_null(strstr(rf_engine_complaint(engine), "rf_engine_reserve"));
        }
        assert_int_equal(rf_engine_reserve(engine, 0), -1);
        assert_int_equal(rf_engine_reserve(engine, RF_DIM_MAX + 1), -1);
        assert_int_equal(rf_engine_reserve(engine, MANY), 0);
        assert_int_equal(update_many(ENGINE(engine), got, sizeof got), status);
        assert_memory_equal(got, right, sums);
        rf_engine_close(engine);
    }
}

/* ---- Engines that fail, and engines that lie ---- */

typedef enum lie { FAIL_LATE, FAIL, NOTHING, ONE_MORE, TOO_MANY, SHIFT, SHRINK, NEGATIVE, CROSS, LARGEST, DIMENSION, OVERRUN, LIES } lie;

static rf_status lying_run(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    int64_t *z = RF(tally_z)(tally), *zz = RF(tally_zz)(tally);
    lie l = *(lie *)self;
    if (l <= FAIL)
        return begin > 0 || l == FAIL ? RF_REFUSED_ENGINE : RF_OK;
    RF(serial).run(NULL, task, begin, count, tally);
    switch (l) {
    case ONE_MORE: tally->count.accepted++; break;
    case TOO_MANY: tally->count.accepted = count + 1; break;
    case SHIFT: z[0] += 1; break;
    case SHRINK: zz[0] /= 1000, z[0] *= 1000; break;
    case NEGATIVE: zz[0] = -1; break;
    case CROSS: zz[1] = zz[0] + zz[2]; break;
    case LARGEST: tally->largest = RF(nan)(); break;
    case DIMENSION: tally->update++; break;
    case OVERRUN: ((unsigned char *)tally)[RF(tally_bytes)(task->model->dim)] = 0; break;
    default: break;
    }
    return RF_OK;
}

static rf_status update_once(const RF(model) *model, const RF(engine) *engine, RF(filter) *f, const rf_real *records)
{
    RF(options) options = RF(options_default)();
    options.attempts = 10000;
    return RF(update)(f, model, records, 1, &options, engine, NULL);
}

/* The engine of that name with a lying engine inside. */
static rf_engine *open_over(const char *name, lie *l)
{
    rf_engine *engine = open_or_skip(name);
    const RF(engine) liar = {.run = lying_run, .self = l};
    strcpy(engine->inner->name, "liar");
    *RF_IN_PRECISION(engine->inner) = liar;
    return engine;
}

static void failing_inside_changes_nothing(void **state)
{
    (void)state;
    lie l = FAIL_LATE;
    const char *const names[] = {"threads:3", "paranoid", "paranoid"}, *const complaints[] = {"", "serial engine's", "liar refused"};
    const rf_real record[] = {1, 0, 1};
    RF(chart) charts[RF_DESCRIBED_MAX];
    RF(model) model = RF(instance_model)(INSTANCE(rf_model_find("precession")), charts);
    for (int k = 0; k < 3; k++) {
        RF_ALIGNED unsigned char memory[FILTER_BYTES(1)], before[FILTER_BYTES(1)];
        RF(filter) *f;
        rf_engine *engine = open_over(names[k], &l);
        l = k == 2 ? FAIL : FAIL_LATE;
        memset(memory, 0, sizeof memory);
        assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, 1, 1), RF_OK);
        memcpy(before, memory, sizeof before);
        assert_int_equal(update_once(&model, ENGINE(engine), f, record), RF_REFUSED_ENGINE);
        assert_memory_equal(memory, before, sizeof before);
        assert_non_null(strstr(rf_engine_complaint(engine), complaints[k]));
        rf_engine_close(engine);
    }
}

static void paranoid_finds_lies(void **state)
{
    (void)state;
    static const char *const words[LIES] = {
        [ONE_MORE] = "serial engine's", [TOO_MANY] = "of 10000 attempts", [SHIFT] = "the sums differ", [SHRINK] = "contradict",
        [NEGATIVE] = "negative",        [CROSS] = "contradict",           [LARGEST] = "largest",      [DIMENSION] = "update number",
        [OVERRUN] = "past the end"};
    const rf_real record[] = {1, RF_C(0.5), RF_C(0.5), 0};
    RF(chart) charts[RF_DESCRIBED_MAX];
    RF(model) model = RF(instance_model)(INSTANCE(rf_model_find("linear")), charts);
    for (lie l = NOTHING; l < LIES; l++) {
        RF_ALIGNED unsigned char memory[FILTER_BYTES(2)];
        RF(filter) *f;
        rf_engine *engine = open_over("paranoid", &l);
        assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, 2, 1), RF_OK);
        rf_status status = update_once(&model, ENGINE(engine), f, record);
        const char *complaint = rf_engine_complaint(engine);
        if (l == NOTHING ? (status & ~RF_NOTE_FEW) != RF_OK || complaint[0] : status != RF_REFUSED_ENGINE || !strstr(complaint, words[l]))
            fail_msg("lie %d: status %d, complaint: %s", (int)l, status, complaint);
        rf_engine_close(engine);
    }
}

static rf_real bad_value;
static rf_real now_and_then(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    (void)setting, (void)outcome;
    return x[0] > 3 ? bad_value : RF_C(0.5);
}

static void paranoid_finds_bad_models(void **state)
{
    (void)state;
    const RF(model) model = {.likelihood = now_and_then, .dim = 1};
    const struct { rf_real value; const char *word; } bad[] = {{RF(nan)(), "NaN"}, {-1, "negative"}, {RF_C(1.0) / RF(max)(0, 0), "infinite"}};
    const rf_real record = 0;
    for (int k = 0; k < 3; k++) {
        RF_ALIGNED unsigned char memory[FILTER_BYTES(1)];
        RF(filter) *f;
        rf_engine *engine = open_or_skip("paranoid:threads:2");
        bad_value = bad[k].value;
        assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, 1, 1), RF_OK);
        assert_int_equal(update_once(&model, NULL, f, &record) & ~(RF_NOTE_CLAMPED | RF_NOTE_FEW), RF_NOTE_BAD);
        assert_int_equal(RF(filter_init)(&f, memory, sizeof memory, 1, 1), RF_OK);
        assert_int_equal(update_once(&model, ENGINE(engine), f, &record), RF_REFUSED_ENGINE);
        assert_non_null(strstr(rf_engine_complaint(engine), bad[k].word));
        rf_engine_close(engine);
    }
}

static void paranoid_finds_bad_tasks(void **state)
{
    (void)state;
    rf_engine *engine = open_or_skip("paranoid");
    RF(chart) charts[RF_DESCRIBED_MAX];
    const RF(model) model = RF(instance_model)(INSTANCE(rf_model_find("precession")), charts);
    rf_real mean = 0, factor = 1, records[] = {1, 0, 1, 1, 0, 1}, *const numbers[] = {&mean, &factor, &records[4]};
    const char *const words[] = {"mean", "factor", "record 1"};
    RF_ALIGNED unsigned char memory[FILTER_BYTES(1)];
    RF(tally) *tally = (RF(tally) *)(void *)memory;
    for (int k = 0; k < 3; k++)
        for (int negative = 0; negative <= (k == 1); negative++) {
            rf_real good = *numbers[k];
            const RF(task) task = {.model = &model, .mean = &mean, .factor = &factor, .records = records, .count = 2, .kappa = 1};
            RF(tally_clear)(tally, 1, 0);
            assert_int_equal(ENGINE(engine)->run(ENGINE(engine)->self, &task, 0, 10, tally), RF_OK);
            *numbers[k] = negative ? -1 : RF(nan)();
            assert_int_equal(ENGINE(engine)->run(ENGINE(engine)->self, &task, 0, 10, tally), RF_REFUSED_ENGINE);
            assert_non_null(strstr(rf_engine_complaint(engine), words[k]));
            *numbers[k] = good;
        }
    rf_engine_close(engine);
}

/* ---- Running them ---- */

enum { THREADS = 5, TESTS = 7 }; /* TESTS: for each engine */
#define FOR_ENGINE(test) {#test, test, NULL, NULL, NULL}

/* Adds the tests of one engine, named after it. */
static size_t add_tests(struct CMUnitTest *tests, const char *engine)
{
    static char names[ENGINE_NAMES_MAX][TESTS][80];
    static size_t engine_count;
    const struct CMUnitTest each[TESTS] = {FOR_ENGINE(same_bits), FOR_ENGINE(same_bits_in_pieces), FOR_ENGINE(same_bits_in_blocks),
                                          FOR_ENGINE(failing_blocks_change_nothing), FOR_ENGINE(updates_allocate_nothing),
                                      FOR_ENGINE(opening_and_closing_leaks_nothing), FOR_ENGINE(opening_fails_cleanly)};
    for (size_t i = 0; i < TESTS; i++) {
        tests[i] = each[i];
        snprintf(names[engine_count][i], sizeof names[0][0], "%s: %s", engine, each[i].name);
        tests[i].name = names[engine_count][i];
        tests[i].initial_state = (void *)(uintptr_t)engine;
    }
    engine_count++;
    return TESTS;
}

/* Runs the tests of all built-in engines, or of those in modules. */
static int run_engines(const char *group, int modules)
{
    static engine_list engines;
    struct CMUnitTest tests[TESTS * ENGINE_NAMES_MAX];
    size_t made = 0;
    engines = list_engines(THREADS);
    for (size_t i = 0; i < engines.count; i++)
        if (engines.name[i].is_module == modules)
            made += add_tests(tests + made, engines.name[i].text);
    return _cmocka_run_group_tests(group, tests, made, NULL, NULL);
}

/* Runs the tests of one engine; fails if it is missing. */
static int run_engine(const char *name)
{
    char error[512] = "";
    struct CMUnitTest tests[TESTS];
    check_leaks();
    rf_engine *engine = rf_engine_open(name, error, sizeof error);
    if (!engine)
        return fprintf(stderr, "%s\n", error), 1;
    int failures = _cmocka_run_group_tests(rf_engine_name(engine), tests, add_tests(tests, name), NULL, NULL);
    rf_engine_close(engine);
    return failures;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(names_are_filled_in),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(targets),
        cmocka_unit_test(kernels_are_found_by_name),
        cmocka_unit_test(many_parameters),
        cmocka_unit_test(the_core_has_no_blocks),
        cmocka_unit_test(many_likelihoods),
        cmocka_unit_test(parts_are_the_range),
        cmocka_unit_test(more_parameters_than_reserved),
        cmocka_unit_test(failing_inside_changes_nothing),
        cmocka_unit_test(paranoid_finds_lies),
        cmocka_unit_test(paranoid_finds_bad_models),
        cmocka_unit_test(paranoid_finds_bad_tasks),
    };
    if (count > 2)
        every = (unsigned)strtoul(arguments[2], NULL, 10);
    if (count > 1)
        return every > 0 ? run_engine(arguments[1]) : 1;
    int failures = run_engines("each engine", 0) + cmocka_run_group_tests_name("engines", others, NULL, NULL);
    check_leaks();
    return failures + run_engines("modules", 1);
}
