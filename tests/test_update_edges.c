/* The update in difficult cases: few accepted, small bounds, bad likelihoods, refusals, and in pieces. Per
   precision. */
#include "updating.h"

#include "rejfilt/detail/tally.h"

/* ---- Small numbers ---- */

/* A likelihood that accepts everything above setting[0] with certainty, and nothing else. */
static rf_real step(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    (void)outcome;
    return x[0] > setting[0] ? 1 : 0;
}

static void none_accepted_widens(void **state)
{
    (void)state;
    fixture x;
    const rf_real record[] = {100, 1};
    for (uint32_t strict = 0; strict < 2; strict++) {
        set_up_own(&x, step, 1);
        x.options.strict = strict;
        x.options.recovery = RF_C(0.5);
        rf_status status = update(&x, record, 1, NULL);
        assert_int_equal(status, RF_NOTE_WIDENED | (strict ? 0 : RF_NOTE_SHORT));
        assert_int_equal(x.report.attempts, strict ? 100 : 2000); /* first topped up to the cap */
        check_within(RF(filter_mean)(x.f)[0], 0, 0);
        check_within(RF(filter_covariance)(x.f, 0, 0), 1.5, 4 * EPS);
        double n = x.report.attempts;
        check_within(x.report.log_evidence, log(0.5 / (n + 1)), 8 * EPS);
        assert_int_equal(RF(filter_updates)(x.f), 1);
    }
}

/* The serial engine; keeps Σz and Σzz of one parameter in `self`, because the update overwrites them. */
static rf_status keeping_run(void *self, const RF(task) * task, uint32_t begin, uint32_t count, RF(tally) * tally)
{
    const rf_status status = RF(serial).run(NULL, task, begin, count, tally);
    memcpy(self, RF(tally_z)(tally), 2 * sizeof(int64_t));
    return status;
}

/* With few attempts, 0, 1 and 2 accepted occur; each case is handled as documented. */
static void one_and_two_accepted(void **state)
{
    (void)state;
    fixture x;
    const rf_real record[] = {1, 1};
    unsigned seen[3] = {0};
    for (uint64_t seed = 0; seed < 300; seed++)
        for (uint32_t strict = 0; strict < 2; strict++) {
            set_up_own(&x, step, seed);
            x.options.attempts = 6;
            x.options.batches_max = 1;
            x.options.strict = strict;
            int64_t sums[2];
            const RF(engine) keeping = {keeping_run, sums, NULL};
            rf_status status = update(&x, record, 1, &keeping);
            double mean = RF(filter_mean)(x.f)[0], var = RF(filter_covariance)(x.f, 0, 0);
            uint32_t n = x.report.accepted;
            double z = (double)sums[0] / 8192, zz = (double)sums[1] / (8192.0 * 8192);
            const double hits = fmax(n + (double)x.options.hedge, 0.5);
            check_within(x.report.log_evidence_variance, fmax(1 / hits - 1 / (6 + 2 * (double)x.options.hedge), 0), 8 * EPS);
            if (n > 2)
                continue;
            seen[n]++;
            if (n == 0 || (n == 1 && !strict)) {
                assert_true(status & RF_NOTE_WIDENED);
                check_within(mean, 0, 0);
                check_within(var, 1.1, 4 * EPS);
            } else if (n == 1) {
                assert_true(status & RF_NOTE_SINGLE);
                check_within(mean, z, 4 * EPS);
                check_within(var, 1, 4 * EPS);
            } else {
                double scatter = zz - z * z / 2;
                check_within(mean, z / 2, 4 * EPS);
                check_within(var, strict ? scatter : (scatter + 1) / 2 * 1.5, 8 * EPS);
            }
        }
    assert_true(seen[0] > 30 && seen[1] > 30 && seen[2] > 30);
}

/* An engine whose accepted z have mean 410/8192 and the mean square *self. */
static rf_status leaning_run(void *self, const RF(task) * task, uint32_t begin, uint32_t count, RF(tally) * tally)
{
    (void)task, (void)begin;
    tally->count.accepted += count;
    RF(tally_z)(tally)[0] += count * INT64_C(410);
    RF(tally_zz)(tally)[0] += count * *(const int64_t *)self;
    return RF_OK;
}

/* Moves of less than half the spacing of numbers near the mean add up. Candidates that are all alike leave the least width. */
static void small_moves_add_up(void **state)
{
    (void)state;
    const double spacing = RF_PRECISION == 32 ? 0x1p-14 : 0x1p-43; /* at 1000 */
    int64_t square = INT64_C(8192) * 8192;
    const RF(engine) leaning = {leaning_run, &square, NULL};
    const rf_real record[] = {0, 1};
    double moved = 0;
    fixture x;
    set_up_own(&x, step, 1);
    set_prior(&x, 1000, 8 * spacing);
    for (int k = 0; k < 40; k++) {
        moved += 410 / 8192.0 * (double)RF(filter_sd)(x.f, 0);
        update(&x, record, 1, &leaning);
    }
    check_within((double)RF(filter_mean)(x.f)[0] - 1000 + (double)RF(filter_rest)(x.f, 0), moved, 0.01 * moved);
    square = 410 * 410;
    set_prior(&x, 0, 1);
    x.options.strict = 1;
    assert_true(update(&x, record, 1, &leaning) & RF_NOTE_CLAMPED);
    check_within(RF(filter_sd)(x.f, 0), 1 / 8192.0, EPS);
}

static rf_status idle_run(void *self, const RF(task) * task, uint32_t begin, uint32_t count, RF(tally) * tally)
{
    (void)self, (void)task, (void)begin, (void)count, (void)tally;
    return RF_OK;
}

static void top_up_stops_when_enough(void **state)
{
    (void)state;
    fixture x;
    const rf_real record[] = {2, 1}; /* one in 44 is accepted */
    set_up_own(&x, step, 3);
    x.options.batches_max = 1000;
    assert_int_equal(update(&x, record, 1, NULL), RF_OK);
    assert_true(x.report.accepted >= 20 && x.report.accepted < 20 + 10);
    assert_int_equal(x.report.attempts % 100, 0);
    assert_true(x.report.attempts > 300 && x.report.attempts < 3000);
    set_up_own(&x, step, 3);
    x.options.batches_max = 2;
    assert_int_equal(update(&x, record, 1, NULL) & RF_NOTE_SHORT, RF_NOTE_SHORT);
    assert_int_equal(x.report.attempts, 200);
    const RF(engine) idle = {idle_run, NULL, NULL};
    set_up_own(&x, step, 3);
    x.options.attempts = RF_ATTEMPTS_MAX / 2 + 1; /* a second time would be too many */
    update(&x, record, 1, &idle);
    assert_int_equal(x.report.attempts, x.options.attempts);
}

/* ---- Bounds ---- */

static void small_kappa_reports_delta(void **state)
{
    (void)state;
    fixture x;
    for (int k = 0; k < 12; k++) {
        set_up_named(&x, "precession", (uint64_t)k);
        x.options.attempts = 200000;
        check_small_kappa(&x, 0.1 + 0.08 * k, NULL);
        assert_true(x.report.above > 0);
    }
}

/* From a κ ten times too small, and from one too large, the controller settles where δ̂ is small. */
static void controller_finds_kappa(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        fixture x;
        double late = 0, kappa = 0;
        set_up_named(&x, "precession", 5);
        x.options.kappa = k ? RF_C(0.1) : 1;
        x.options.attempts = 1000;
        for (int i = 0; i < 200; i++) {
            rf_real record[] = {1, RF_C(0.2), 1};
            set_prior(&x, 0, 1);
            assert_true(update(&x, record, 1, NULL) >= 0);
            x.options.kappa = x.report.kappa_next;
            late += i >= 100 ? (double)x.report.delta / 100 : 0;
            kappa += i >= 100 ? (double)x.report.kappa / 100 : 0;
        }
        check_within(late, 0.02, 0.02);
        check_within(kappa, 0.85, 0.1);
    }
}

/* ---- Bad likelihoods ---- */

static rf_real log_nan_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? RF(nan)() : RF(log)(RF_C(0.5)); }
static rf_real log_zero_above(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? -RF(infinity)() : RF(log)(RF_C(0.5)); }

/* Each kind is counted exactly, and the state is the same as with a likelihood of zero there. */
static void bad_likelihoods_count_as_zero(void **state)
{
    (void)state;
    RF(likelihood) *const bad[] = {nan_above, negative_above, infinite_above, log_nan_above};
    for (int k = 0; k < 4; k++) {
        fixture x, good;
        const rf_real record[] = {0, 0};
        set_up_own(&x, bad[k], 9);
        set_up_own(&good, k < 3 ? zero_above : log_zero_above, 9);
        x.model.is_log = good.model.is_log = k == 3;
        x.options.attempts = good.options.attempts = 5000;
        assert_int_equal(update(&x, record, 1, NULL), RF_NOTE_BAD);
        assert_int_equal(update(&good, record, 1, NULL), RF_OK);
        const uint32_t counts[] = {x.report.nan, x.report.negative, x.report.infinite};
        int kind = k == 3 ? 0 : k;
        for (int j = 0; j < 3; j++)
            assert_int_equal(counts[j] > 0, j == kind);
        check_within(counts[kind] / 5000.0, 0.5 * erfc(1 / sqrt(2)), 5 * sqrt(0.16 * 0.84 / 5000));
        assert_memory_equal(RF(filter_mean)(x.f), RF(filter_mean)(good.f), sizeof(rf_real));
        assert_memory_equal(RF(filter_factor)(x.f), RF(filter_factor)(good.f), sizeof(rf_real));
    }
}

static void counts_of_bad_values_saturate(void **state)
{
    (void)state;
    fixture x;
    const rf_real record[] = {0, 0};
    set_up_own(&x, nan_above, 9);
    x.options.attempts = 1000000;
    assert_int_equal(update(&x, record, 1, NULL), RF_NOTE_BAD);
    assert_int_equal(x.report.nan, 65535);
}

static rf_real always_nan(const rf_real x[], const rf_real s[], rf_real y) { (void)x, (void)s, (void)y; return RF(nan)(); }
static rf_real never(const rf_real x[], const rf_real s[], rf_real y) { (void)x, (void)s, (void)y; return 0; }
static rf_real constant(const rf_real x[], const rf_real s[], rf_real y) { (void)x, (void)s, (void)y; return RF_C(0.5); }
static rf_real nan_or_never(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > 1 ? RF(nan)() : 0; }

static rf_real nan_or_one(const rf_real x[], const rf_real s[], rf_real y) { (void)s, (void)y; return x[0] > -1 ? RF(nan)() : 1; }

/* A broken model is not an outcome that is unlikely: bad values take the blame where they are most of the attempts. */
static void bad_likelihoods_are_no_surprise(void **state)
{
    (void)state;
    const struct {
        RF(likelihood) *likelihood;
        rf_status expected;
    } cases[] = {{always_nan, RF_NOTE_BROKEN | RF_NOTE_BAD}, {never, RF_NOTE_WIDENED | RF_NOTE_SHORT}, {nan_or_never, RF_NOTE_WIDENED | RF_NOTE_SHORT | RF_NOTE_BAD}};
    for (int k = 0; k < 3; k++)
        for (int sampler = RF_REJECT; sampler <= RF_WEIGHT; sampler++)
            for (uint32_t attempts = 100; attempts <= 200000; attempts *= 2000) {
                fixture x;
                const rf_real record[] = {0, 0};
                set_up_own(&x, cases[k].likelihood, 9);
                x.options.sampler = (rf_sampler)sampler;
                x.options.attempts = attempts;
                x.options.batches_max = 2;
                const double before = (double)RF(filter_sd)(x.f, 0);
                assert_int_equal(update(&x, record, 1, NULL), cases[k].expected);
                assert_true((double)RF(filter_sd)(x.f, 0) > before);
                x.options.strict = 1;
                x.options.sampler = RF_REJECT;
                assert_int_equal(update(&x, record, 1, NULL), cases[k].expected & ~RF_NOTE_SHORT);
            }
    fixture x; /* most are bad, but the rest is learnt: too few were accepted, not none */
    const rf_real record[] = {0, 0};
    set_up_own(&x, nan_or_one, 9);
    x.options.batches_max = 1;
    x.options.accepted_min = x.options.attempts;
    assert_int_equal(update(&x, record, 1, NULL) & ~RF_NOTE_FEW, RF_NOTE_SHORT | RF_NOTE_BAD);
    assert_true(x.report.accepted >= 2 && RF(filter_mean)(x.f)[0] < 0);
}

/* An outcome that tells nothing moves random attempts by their sampling error, and is noted; whitened ones not at all. One that
   tells something is not noted. */
static void sampling_error_is_noted(void **state)
{
    (void)state;
    const rf_real record[] = {0, 0};
    unsigned noted[3][2] = {{0}};
    for (int sampler = RF_REJECT; sampler <= RF_WEIGHT; sampler++)
        for (int tells = 0; tells < 2; tells++)
            for (uint64_t seed = 0; seed < 1000; seed++) {
                fixture x;
                set_up_own(&x, tells ? zero_above : constant, seed);
                x.options.sampler = (rf_sampler)sampler;
                set_prior(&x, 1, 1);
                noted[sampler][tells] += (update(&x, record, 1, NULL) & RF_NOTE_FEW) != 0;
            }
    assert_true(noted[RF_REJECT][0] > 930 && noted[RF_REJECT][0] < 975); /* χ² < 4: 954 ± 6.6 */
    assert_int_equal(noted[RF_LATTICE][0], 1000);
    assert_int_equal(noted[RF_LATTICE][1] + noted[RF_WEIGHT][1], 0);
    assert_true(noted[RF_REJECT][1] < 6); /* 25 accepted at -0.8 ± 0.12: 5e-4 each */
    assert_true(noted[RF_WEIGHT][0] < 10); /* few of the lattice's beginnings cannot be whitened */
    fixture many;
    set_up_own(&many, constant, 1);
    many.options.attempts = 16384;
    assert_int_equal(update(&many, record, 1, NULL), RF_OK);
}

static void updates_refuse(void **state)
{
    (void)state;
    fixture x;
    set_up_named(&x, "precession", 1);
    unsigned char before[sizeof x.memory];
    memcpy(before, x.memory, sizeof before);
    rf_real record[] = {1, 0, 1}, broken[] = {1, RF(nan)(), 1};
    RF(options) good = x.options, o;
#define REFUSES(expected, change, ...)                                                                                 \
    o = good, change, assert_int_equal(RF(update)(__VA_ARGS__), expected), assert_memory_equal(before, x.memory, sizeof before)
    REFUSES(RF_REFUSED_NULL, (void)0, NULL, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_NULL, (void)0, x.f, NULL, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_NULL, (void)0, x.f, &x.model, NULL, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_NULL, (void)0, x.f, &x.model, record, 1, NULL, NULL, NULL);
    REFUSES(RF_REFUSED_EVIDENCE, (void)0, x.f, &x.model, record, 0, &o, NULL, NULL);
    REFUSES(RF_REFUSED_EVIDENCE, (void)0, x.f, &x.model, broken, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.attempts = 0, x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.attempts = RF_ATTEMPTS_MAX + 1, x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.kappa = 0, x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.kappa = RF(nan)(), x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.recovery = -1, x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.hedge = RF(nan)(), x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.shrink = -1, x.f, &x.model, record, 1, &o, NULL, NULL);
    REFUSES(RF_REFUSED_OPTIONS, o.batches_max = 0, x.f, &x.model, record, 1, &o, NULL, NULL);
    x.model.dim = 2;
    REFUSES(RF_REFUSED_DIMENSION, (void)0, x.f, &x.model, record, 1, &o, NULL, NULL);
#undef REFUSES
}

static rf_status broken_run(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    (void)self, (void)task, (void)begin, (void)count;
    tally->count.accepted = 77;
    return RF_REFUSED_ENGINE;
}

static void failing_engine_changes_nothing(void **state)
{
    (void)state;
    fixture x;
    const RF(engine) broken = {broken_run, NULL, NULL};
    const char *const names[] = {"precession", "phase"};
    for (int k = 0; k < 2; k++) {
        set_up_named(&x, names[k], 1);
        set_prior(&x, 1, 6); /* wider than an update lets a phase be */
        unsigned char before[sizeof x.memory];
        memcpy(before, x.memory, sizeof before);
        rf_real record[] = {1, 0, 1};
        assert_int_equal(update(&x, record, 1, &broken), RF_REFUSED_ENGINE);
        assert_memory_equal(before, x.memory, RF(filter_bytes)(1));
    }
}

/* ---- Reproducibility, in pieces and through the engine interface ---- */

/* An engine that splits a range into unequal pieces, runs them in reverse order, and adds their tallies. */
static rf_status pieces_run(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    uint32_t size = *(uint32_t *)self, done = 0, pieces = (count + size - 1) / size;
    RF_ALIGNED unsigned char memory[FILTER_BYTES(8)];
    RF(tally) *part = (RF(tally) *)(void *)memory;
    for (uint32_t i = pieces; i-- > 0;) {
        uint32_t length = i == pieces - 1 ? count - i * size : size;
        RF(tally_clear)(part, task->model->dim, task->update);
        RF(serial).run(NULL, task, begin + i * size, length, part);
        assert_int_equal(RF(tally_add)(tally, part), RF_OK);
        done += length;
    }
    assert_int_equal(done, count);
    return RF_OK;
}

static void pieces_give_the_same_bits(void **state)
{
    (void)state;
    const char *const names[] = {"precession", "decay", "linear", "phase"};
    for (int k = 0; k < 4; k++)
        for (uint32_t size = 1; size < 200; size = size * 3 + 1) {
            fixture whole, parts;
            const RF(engine) engine = {pieces_run, &size, NULL};
            set_up_named(&whole, names[k], 7);
            set_up_named(&parts, names[k], 7);
            for (int i = 0; i < 5; i++) {
                rf_real record[RF_DESCRIBED_MAX];
                choose_settings(whole.f, &whole.model, INSTANCE(rf_model_find(names[k]))->description, record);
                record[whole.model.settings] = 1;
                update(&whole, record, 1, NULL);
                update(&parts, record, 1, &engine);
                size_t triangle = RF_TRIANGLE(whole.model.dim);
                size_t sums = 8 + sizeof(RF(tally)) + 8 * (whole.model.dim + triangle);
                assert_memory_equal(whole.memory, parts.memory, sums); /* seed, tally and its sums */
                assert_memory_equal(RF(filter_mean)(whole.f), RF(filter_mean)(parts.f), (whole.model.dim + triangle) * sizeof(rf_real));
                assert_memory_equal(&whole.report, &parts.report, sizeof whole.report);
            }
        }
}

static void tallies_of_different_updates_do_not_add(void **state)
{
    (void)state;
    RF_ALIGNED unsigned char a[FILTER_BYTES(2)], b[FILTER_BYTES(2)];
    RF(tally_clear)((RF(tally) *)(void *)a, 1, 3);
    RF(tally_clear)((RF(tally) *)(void *)b, 1, 4);
    assert_int_equal(RF(tally_add)((RF(tally) *)(void *)a, (RF(tally) *)(void *)b), RF_REFUSED_TALLY);
    RF(tally_clear)((RF(tally) *)(void *)b, 2, 3);
    assert_int_equal(RF(tally_add)((RF(tally) *)(void *)a, (RF(tally) *)(void *)b), RF_REFUSED_TALLY);
}

/* The same likelihood as probability and as logarithm accepts the same attempts, except for rounding. */
static rf_real gauss(const rf_real x[], const rf_real s[], rf_real y) { rf_real r = (y - x[0]) / s[0]; return RF(exp)(RF_C(-0.5) * r * r); }
static rf_real log_gauss(const rf_real x[], const rf_real s[], rf_real y) { rf_real r = (y - x[0]) / s[0]; return RF_C(-0.5) * r * r; }

static void logarithms_agree(void **state)
{
    (void)state;
    fixture a, b;
    rf_real records[40];
    for (int i = 0; i < 20; i++)
        records[2 * i] = 2, records[2 * i + 1] = RF_C(0.3) * (rf_real)(i % 5);
    set_up_own(&a, gauss, 21);
    set_up_own(&b, log_gauss, 21);
    b.model.is_log = 1;
    a.options.attempts = b.options.attempts = 20000;
    assert_int_equal(update(&a, records, 20, NULL), RF_OK);
    assert_int_equal(update(&b, records, 20, NULL), RF_OK);
    check_within(a.report.accepted, b.report.accepted, 2);
    check_within(RF(filter_mean)(a.f)[0], RF(filter_mean)(b.f)[0], 1e-3);
    double precision = 1 + 20 / 4.0, expected = 0.6 * 5 / precision; /* conjugate */
    check_within(RF(filter_mean)(a.f)[0], expected, 5 * sqrt(1 / precision / a.report.accepted));
}

static void evidence_register_keeps_its_digits(void **state)
{
    (void)state;
    RF(evidence) e = {0, 0, 0, 0};
    RF(report) r = {0};
    r.log_evidence = RF_C(-0.1);
    r.log_evidence_variance = RF_C(0.3);
    for (int i = 0; i < 1000000; i++)
        RF(evidence_add)(&e, &r);
    double exact = 1000000 * (double)RF_C(-0.1);
    check_within((double)e.log + (double)e.carry, exact, EPS * 1e5); /* 2ε of the sum */
    check_within((double)e.variance + (double)e.variance_carry, 1000000 * (double)RF_C(0.3), EPS * 3e5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_accepted_widens),
        cmocka_unit_test(one_and_two_accepted),
        cmocka_unit_test(small_moves_add_up),
        cmocka_unit_test(top_up_stops_when_enough),
        cmocka_unit_test(small_kappa_reports_delta),
        cmocka_unit_test(controller_finds_kappa),
        cmocka_unit_test(bad_likelihoods_count_as_zero),
        cmocka_unit_test(counts_of_bad_values_saturate),
        cmocka_unit_test(bad_likelihoods_are_no_surprise),
        cmocka_unit_test(sampling_error_is_noted),
        cmocka_unit_test(updates_refuse),
        cmocka_unit_test(failing_engine_changes_nothing),
        cmocka_unit_test(pieces_give_the_same_bits),
        cmocka_unit_test(tallies_of_different_updates_do_not_add),
        cmocka_unit_test(logarithms_agree),
        cmocka_unit_test(evidence_register_keeps_its_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
