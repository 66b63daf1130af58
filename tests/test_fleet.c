/* Fleets: many filters updated together have the bits of single updates. Per precision. With an argument: only that
   engine. */
#include "testing.h"

#include "engine_names.h"
#include "rejfilt/host.h"

enum { MAX = 200, DIM = 3, NUMBERS = 4 };

/* Built-in engines that this CPU supports; the last entry is null. */
static rf_engine *opened[ENGINE_NAMES_MAX + 1];
static int engines;
static const char *chosen; /* or null */

static const RF(engine) *engine_at(int k) { return opened[k] ? ENGINE(opened[k]) : NULL; }
static const char *name_at(int k) { return opened[k] ? rf_engine_name(opened[k]) : "NULL"; }
static int is_paranoid(int k) { return strncmp(name_at(k), "paranoid", 8) == 0; }

static int open_engines(void **state)
{
    (void)state;
    const engine_list all = list_engines(3);
    if (chosen) {
        char error[300] = "";
        if (!(opened[engines++] = rf_engine_open(chosen, error, sizeof error)))
            print_error("%s\n", error);
        return opened[0] ? 0 : -1;
    }
    for (unsigned i = 0; i < all.count; i++)
        if (!all.name[i].is_module && (opened[engines] = rf_engine_open(all.name[i].text, NULL, 0)))
            engines++;
    return engines++ > 3 ? 0 : -1;
}

static int close_engines(void **state)
{
    (void)state;
    for (int k = 0; k < engines; k++)
        rf_engine_close(opened[k]);
    return 0;
}

/* ---- A fleet and its state ---- */

typedef struct fleet {
    RF_ALIGNED unsigned char memory[MAX][FILTER_BYTES(DIM)];
    RF(filter) *filters[MAX];
    RF(report) reports[MAX];
    rf_real records[MAX * NUMBERS];
    RF(chart) charts[RF_DESCRIBED_MAX];
    RF(model) model;
    RF(options) options;
    uint32_t count;
} fleet;

static fleet before, right, got;

/* Makes `to` a copy of `from`, in its own memory. */
static void copy(fleet *to, const fleet *from)
{
    memcpy(to, from, sizeof *to);
    to->model.charts = from->model.charts ? to->charts : NULL;
    for (uint32_t i = 0; i < to->count; i++)
        to->filters[i] = (RF(filter) *)(void *)to->memory[i];
}

/* Same seed, tally, sums, mean, factor and report. The workspace is ignored. */
static int same(const fleet *a, const fleet *b, uint32_t i)
{
    const size_t dim = a->model.dim, numbers = dim + RF_TRIANGLE(dim);
    return memcmp(a->memory[i], b->memory[i], sizeof(RF(filter)) + 8 * numbers) == 0 &&
           memcmp(RF(filter_mean)(a->filters[i]), RF(filter_mean)(b->filters[i]), numbers * sizeof(rf_real)) == 0 &&
           memcmp(&a->reports[i], &b->reports[i], sizeof a->reports[i]) == 0;
}

static rf_status one_by_one(fleet *f)
{
    rf_status all = RF_OK;
    for (uint32_t i = 0; i < f->count; i++) {
        rf_status status = RF(update)(f->filters[i], &f->model, f->records + i * (f->model.settings + 1u), 1, &f->options, NULL, &f->reports[i]);
        if (status < 0)
            fail_msg("filter %u is refused: %s", i, rf_status_text(status));
        all |= status;
    }
    return all;
}

static rf_status together(fleet *f, const RF(engine) *engine, RF(report) *reports)
{
    return RF(fleet_update)(f->filters, f->count, &f->model, f->records, &f->options, engine, reports);
}

/* Filters with their own seeds, after 0, 1 or 2 updates; every third filter of a periodic model is narrow, so that
   it is not wrapped. */
static void make(fleet *f, const char *name, uint32_t count, RF(options) options)
{
    const RF(instance) *instance = INSTANCE(rf_model_find(name));
    const rf_description *description = instance->description;
    uint64_t source = 1 + count;
    memset(f, 0, sizeof *f);
    f->model = RF(instance_model)(instance, f->charts);
    f->count = count;
    for (uint32_t i = 0; i < count; i++) {
        rf_real *record = f->records + i * (description->settings + 1);
        f->options = RF(options_default)();
        assert_int_equal(RF(filter_init)(&f->filters[i], f->memory[i], sizeof f->memory[i], description->dim, test_word(&source)), RF_OK);
        set_prior_of(f->filters[i], &f->model, description);
        if (description->parameter[0].chart == RF_PERIODIC && i % 3 == 0) {
            const rf_real mean = (rf_real)test_uniform(&source, 0, 6), sd = RF_C(0.5);
            assert_int_equal(RF(prior_gaussian)(f->filters[i], &f->model, &mean, &sd), RF_OK);
        }
        for (uint32_t k = 0; k <= i % 3; k++) {
            choose_settings(f->filters[i], &f->model, description, record);
            record[description->settings] = description->outcomes ? (rf_real)(test_word(&source) & 1) : (rf_real)test_uniform(&source, -1, 1);
            if (k < i % 3)
                assert_true(RF(update)(f->filters[i], &f->model, record, 1, &f->options, NULL, NULL) >= 0);
        }
    }
    f->options = options;
}

/* ---- The same bits ---- */

typedef struct variant {
    rf_sampler sampler;
    uint32_t strict;
} variant;

static void check_all_engines(const char *name)
{
    copy(&right, &before);
    rf_status status = one_by_one(&right);
    for (int k = 0; k < engines; k++)
        for (int reported = before.count != 65; reported < 2; reported++) { /* one size also without reports */
            copy(&got, &before);
            rf_status answer = together(&got, engine_at(k), reported ? got.reports : NULL);
            if (!reported)
                memcpy(got.reports, right.reports, sizeof got.reports);
            for (uint32_t i = 0; i < got.count; i++) {
                if (!reported && got.options.sampler == RF_WEIGHT) /* the sum for the loss may be omitted */
                    got.filters[i]->tally.entropy = right.filters[i]->tally.entropy;
                if (answer != status || !same(&got, &right, i))
                    fail_msg("%s: filter %u of %u differs with %s, m = %u, kappa = %g, strict %u, sampler %d: status %d, not %d", name, i,
                             got.count, name_at(k), got.options.attempts, (double)got.options.kappa, got.options.strict,
                             (int)got.options.sampler, answer, status);
            }
        }
}

static const char *const models[] = {"precession", "ramsey", "decay", "linear", "phase", "coin"};
enum { MODELS = sizeof models / sizeof models[0] };

static void check_sizes(const uint32_t *counts, int count_of_counts, const uint32_t *attempts, int count_of_attempts, int variants)
{
    static const variant all[] = {{RF_REJECT, 0}, {RF_REJECT, 1}, {RF_LATTICE, 0}, {RF_WEIGHT, 0}};
    for (int m = 0; m < MODELS; m++)
        for (int c = 0; c < count_of_counts; c++)
            for (int a = 0; a < count_of_attempts; a++)
                for (int v = 0; v < 2 * variants; v++) {
                    RF(options) options = RF(options_default)();
                    options.attempts = attempts[a];
                    options.sampler = all[v / 2].sampler;
                    options.strict = all[v / 2].strict;
                    options.kappa = v % 2 ? RF_C(0.5) : RF_C(1.0);
                    make(&before, models[m], counts[c], options);
                    check_all_engines(models[m]);
                }
}

static void any_number_of_filters(void **state)
{
    (void)state;
    check_sizes((const uint32_t[]){1, 2, 63, 64, 65, 200}, 6, (const uint32_t[]){1, 33}, 2, 4);
    check_sizes((const uint32_t[]){65}, 1, (const uint32_t[]){100}, 1, 4);
}

static void many_attempts(void **state)
{
    (void)state;
    check_sizes((const uint32_t[]){2, 65}, 2, (const uint32_t[]){1000}, 1, 4);
    check_sizes((const uint32_t[]){3}, 1, (const uint32_t[]){9000}, 1, 2); /* more than a lattice and a block */
}

/* One fleet has many wrapped and many unwrapped filters. */
static void wrapped_and_narrow_are_mixed(void **state)
{
    (void)state;
    unsigned wide = 0;
    make(&before, "phase", 200, RF(options_default)());
    for (uint32_t i = 0; i < before.count; i++)
        wide += RF(filter_sd)(before.filters[i], 0) > RF_C(6.283185307179586) / 6;
    assert_in_range(wide, 50, 150);
}

/* A chain of fleet updates equals the chain of single updates. */
static void chains(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++)
        for (int k = 0; k < engines; k++) {
            make(&before, models[m], 130, RF(options_default)());
            copy(&right, &before);
            copy(&got, &before);
            for (int step = 0; step < 6; step++) {
                for (uint32_t i = 0; i < got.count; i++) {
                    rf_real *record = right.records + i * (right.model.settings + 1u);
                    choose_settings(right.filters[i], &right.model, INSTANCE(rf_model_find(models[m]))->description, record);
                    record[right.model.settings] = (rf_real)((i + (uint32_t)step) % 2);
                }
                memcpy(got.records, right.records, sizeof got.records);
                assert_int_equal(together(&got, engine_at(k), got.reports), one_by_one(&right));
                for (uint32_t i = 0; i < got.count; i++)
                    if (!same(&got, &right, i))
                        fail_msg("%s: filter %u differs with %s at update %d", models[m], i, name_at(k), step);
            }
        }
}

/* ---- Refusals ---- */

static void check_refused(rf_status expected)
{
    for (int k = 0; k < engines; k++) {
        copy(&got, &before);
        assert_int_equal(together(&got, engine_at(k), got.reports), expected);
        assert_memory_equal(got.memory, before.memory, sizeof got.memory);
        assert_memory_equal(got.reports, before.reports, sizeof got.reports);
    }
}

static void one_bad_member_refuses_all(void **state)
{
    (void)state;
    const uint32_t places[] = {0, 70, 129};
    for (int p = 0; p < 3; p++) {
        make(&before, "linear", 130, RF(options_default)());
        before.records[places[p] * (before.model.settings + 1u) + 1] = RF(nan)();
        check_refused(RF_REFUSED_EVIDENCE);
        make(&before, "linear", 130, RF(options_default)());
        assert_int_equal(RF(filter_init)(&before.filters[places[p]], before.memory[places[p]], sizeof before.memory[0], 1, 5), RF_OK);
        check_refused(RF_REFUSED_DIMENSION);
    }
    make(&before, "linear", 130, RF(options_default)());
    before.options.kappa = 0;
    check_refused(RF_REFUSED_OPTIONS);
}

static void nothing_to_do_and_nothing_given(void **state)
{
    (void)state;
    make(&before, "linear", 2, RF(options_default)());
    for (int k = 0; k < engines; k++) {
        const RF(engine) *engine = engine_at(k);
        copy(&got, &before);
        assert_int_equal(RF(fleet_update)(got.filters, 0, &got.model, got.records, &got.options, engine, got.reports), RF_OK);
        assert_int_equal(RF(fleet_update)(NULL, 2, &got.model, got.records, &got.options, engine, NULL), RF_REFUSED_NULL);
        assert_int_equal(RF(fleet_update)(got.filters, 2, NULL, got.records, &got.options, engine, NULL), RF_REFUSED_NULL);
        assert_int_equal(RF(fleet_update)(got.filters, 2, &got.model, NULL, &got.options, engine, NULL), RF_REFUSED_NULL);
        assert_int_equal(RF(fleet_update)(got.filters, 2, &got.model, got.records, NULL, engine, NULL), RF_REFUSED_NULL);
        got.filters[1] = NULL;
        assert_int_equal(RF(fleet_update)(got.filters, 2, &got.model, got.records, &got.options, engine, NULL), RF_REFUSED_NULL);
        assert_memory_equal(got.memory, before.memory, sizeof got.memory);
    }
}

/* ---- Bad likelihoods ---- */

/* The paranoid engine refuses bad likelihoods; the others count them in the right filter. */
static void check_bad_only_at(uint32_t place)
{
    copy(&right, &before);
    assert_int_equal(one_by_one(&right) & RF_NOTE_BAD, RF_NOTE_BAD);
    for (int k = 0; k < engines; k++) {
        copy(&got, &before);
        rf_status status = together(&got, engine_at(k), got.reports);
        if (is_paranoid(k)) {
            assert_int_equal(status, RF_REFUSED_ENGINE);
            continue;
        }
        assert_int_equal(status & RF_NOTE_BAD, RF_NOTE_BAD);
        for (uint32_t i = 0; i < got.count; i++) {
            const RF(report) *r = &got.reports[i];
            assert_true(same(&got, &right, i));
            assert_int_equal(r->nan + r->infinite + r->negative > 0, i == place);
            assert_int_equal(!!(r->status & RF_NOTE_BAD), i == place);
        }
    }
}

static rf_real nan_if_told(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    (void)outcome;
    return x[0] > setting[0] ? RF(nan)() : RF_C(0.5);
}

static void bad_without_kernels(void **state)
{
    (void)state;
    memset(&before, 0, sizeof before);
    before.model = (RF(model)){.likelihood = nan_if_told, .dim = 1, .settings = 1};
    before.options = RF(options_default)();
    before.count = 70;
    for (uint32_t i = 0; i < before.count; i++) {
        assert_int_equal(RF(filter_init)(&before.filters[i], before.memory[i], sizeof before.memory[i], 1, i), RF_OK);
        before.records[2 * i] = i == 67 ? 0 : 100;
    }
    check_bad_only_at(67);
}

/* Built-in models whose own functions overflow: e^(−g·t) at t = −10⁶ is infinite. */
static void bad_in_a_kernel(void **state)
{
    (void)state;
    const uint32_t places[] = {0, 5, 63, 64, 69};
    for (int p = 0; p < 5; p++) {
        make(&before, "ramsey", 70, RF(options_default)());
        before.records[places[p] * (before.model.settings + 1u)] = -1000000;
        check_bad_only_at(places[p]);
    }
}

int main(int count, char **arguments)
{
    chosen = count > 1 ? arguments[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_filters),
        cmocka_unit_test(many_attempts),
        cmocka_unit_test(wrapped_and_narrow_are_mixed),
        cmocka_unit_test(chains),
        cmocka_unit_test(one_bad_member_refuses_all),
        cmocka_unit_test(nothing_to_do_and_nothing_given),
        cmocka_unit_test(bad_without_kernels),
        cmocka_unit_test(bad_in_a_kernel),
    };
    return cmocka_run_group_tests(tests, open_engines, close_engines);
}
