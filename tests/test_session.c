/* Sessions with every kind of belief: ask and tell, atomic refusal, time, batches, saved bytes and copies. */
#define _POSIX_C_SOURCE 200809L
#include "testing.h"

#include <math.h>
#include <pthread.h>

#include "rejfilt/session.h"
#include "sealed.h"

#define TRUTH 0.7

/* Every kind of belief by name, and the Gaussian in float. */
typedef struct setup {
    const char *belief;
    int is_float;
} setup;

static const setup setups[] = {{"gaussian", 0}, {"gaussian", 1}, {"particles:200", 0}, {"grid", 0}, {"mixture", 0}, {"mixture:4", 1}};
enum { SETUPS = sizeof setups / sizeof *setups };

static rf_config config_of(const char *model, const setup *with)
{
    rf_config config = rf_config_default(rf_model_find(model));
    config.attempts = 100;
    config.belief = with->belief;
    config.is_float = with->is_float;
    config.seed = 5;
    return config;
}

static rf_session *open_or_fail(const rf_config *config)
{
    char error[200];
    rf_session *session = rf_session_open(config, error, sizeof error);
    if (!session)
        fail_msg("%s", error);
    return session;
}

typedef struct bytes {
    size_t count;
    unsigned char *at;
} bytes;

static bytes bytes_of(const rf_session *session)
{
    bytes b = {.count = rf_session_save(session, NULL)};
    b.at = malloc(b.count);
    assert_int_equal(rf_session_save(session, b.at), b.count);
    return b;
}

/* Compares, and frees both. */
static void assert_same(bytes a, bytes b)
{
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.at, b.at, a.count);
    free(b.at);
}

static void assert_alike(const rf_session *a, const rf_session *b)
{
    bytes wanted = bytes_of(a);
    assert_same(wanted, bytes_of(b));
    free(wanted.at);
}

/* An outcome of the experiment; the same for the same number. */
static double measured(const rf_config *config, const double setting[], uint32_t number)
{
    double x[RF_DESCRIBED_MAX];
    for (unsigned i = 0; i < config->description.dim; i++)
        x[i] = config->description.parameter[i].low +
               TRUTH * (config->description.parameter[i].high - config->description.parameter[i].low);
    return rf64_instance_outcome(config->model->f64, x, setting, 77, number);
}

/* Asks and tells `count` times, in batches. */
static void go_on(rf_session *session, uint32_t first, uint32_t count, uint32_t batch, rf_step *step)
{
    for (uint32_t k = 0; k < count; k += batch) {
        rf_record records[RF_ASK_MAX];
        assert_int_equal(rf_session_ask(session, batch, records), RF_OK);
        for (uint32_t i = 0; i < batch; i++)
            records[i].outcome = measured(rf_session_config(session), records[i].setting, first + k + i);
        assert_true(rf_session_tell(session, records, batch, step) >= 0);
    }
}

/* ---- Asking and telling ---- */

static void test_it_finds_the_truth(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++) {
        rf_config config = config_of("precession", &setups[i]);
        config.drift[0] = 0;
        rf_session *session = open_or_fail(&config);
        rf_step step;
        rf_session_show(session, &step);
        assert_int_equal(step.step, -1);
        const double before = step.sd[0];
        go_on(session, 0, 50, 1, &step);
        rf_session_show_truth(session, (const double[]){TRUTH * 1.5707963267948966}, &step);
        check_below(step.sd[0], before / 100);
        check_below(fabs(step.error[0]), 6 * step.sd[0]);
        assert_true(step.low[0] < step.mean[0] && step.mean[0] < step.high[0]);
        assert_true(step.mean[0] == step.chart_mean[0] &&
                    step.truth[0] == TRUTH * 1.5707963267948966); /* the chart is real */
        assert_int_equal(step.step, 49);
        assert_int_equal(step.records, 1);
        assert_true(isnan(step.time));
        assert_true(step.log_evidence < 0 && step.report.attempts > 0);
        rf_session_close(session);
    }
}

static double is_wrong; /* which mistake */

static double mistaken(const double x[], const double setting[], double outcome)
{
    const double p = 0.5 + 0.5 * rf64_cos(setting[0] * (x[0] - setting[1])), q = outcome != 0 ? p : 1 - p;
    return is_wrong == 1 ? p : is_wrong == 2 ? 2 * q : is_wrong == 3 ? rf64_nan() : is_wrong == 4 ? q - 0.5 : is_wrong == 5 && setting[0] > 1e6 ? p : q;
}

/* Also of a model that a program brings itself: when a session opens, or with the first record, and then nothing has changed. */
static void test_wrong_models_are_told(void **state)
{
    static const char *const says[] = {"", "it is the same for every outcome: return 1 - p", "probabilities of whole outcomes are at most 1", "likelihood is NaN",
                                       "a probability is from 0 to 1", "sum to "};
    (void)state;
    rf64_instance own = *rf_model_find("precession")->f64;
    const rf_model model = {rf_model_find("precession")->f32, &own};
    char error[600];
    own.likelihood = mistaken;
    own.kernels = NULL;
    for (int wrong = 1; wrong <= 5; wrong++) {
        rf_config config = rf_config_default(&model);
        const rf_record good = {.setting = {2, 0.3}, .outcome = 1}, bad = {.setting = {1e7, 0.3}, .outcome = 1};
        is_wrong = wrong;
        rf_session *session = rf_session_open(&config, error, sizeof error);
        if (wrong < 5) {
            assert_null(session);
        } else {
            assert_non_null(session);
            assert_int_equal(rf_session_tell(session, &bad, 1, NULL), RF_REFUSED_MODEL);
            assert_int_equal(rf_config_try(&config, bad.setting, error, sizeof error), -1);
            assert_int_equal(rf_config_try(&config, good.setting, (char[8]){0}, 8), 0);
            assert_true(rf_session_tell(session, &good, 1, NULL) >= 0);
            assert_true(rf_session_tell(session, &bad, 1, NULL) >= 0); /* it was not the first */
        }
        if (!strstr(error, says[wrong]) || strncmp(error, "model precession: ", 18) != 0 || strchr(error, '\n'))
            fail_msg("%s", error);
        rf_session_close(session);
    }
}

/* A refused record changes nothing, neither the bytes nor later results. */
static void test_a_refusal_changes_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++) {
        const rf_config config = config_of("precession", &setups[i]);
        rf_session *session = open_or_fail(&config), *untouched = open_or_fail(&config);
        static rf_record many[RF_BATCH_MAX + 1];
        rf_record questions[3], told[3];
        rf_step step, other;
        go_on(session, 0, 7, 1, NULL);
        go_on(untouched, 0, 7, 1, NULL);
        bytes before = bytes_of(session);
        for (int is_asked = 0; is_asked <= 1; is_asked++) {
            if (is_asked) {
                assert_int_equal(rf_session_ask(session, 3, questions), RF_OK);
                assert_same(before, bytes_of(session)); /* questions are not saved */
            }
            for (unsigned bad = 0; bad < 3; bad++)
                for (unsigned what = 0; what < 4; what++) {
                    for (unsigned k = 0; k < 3; k++)
                        told[k] = (rf_record){.setting = {3, 0.2}, .outcome = 1, .time = 5 + k};
                    if (what == 0)
                        told[bad].outcome = INFINITY;
                    else if (what == 1)
                        told[bad].setting[1] = -INFINITY;
                    else if (what == 2)
                        told[bad].time = INFINITY;
                    else if (bad > 0)
                        told[bad].time = 4; /* before the record before it */
                    else
                        continue;
                    assert_true(rf_session_try(session, told, 3) < 0);
                    assert_true(rf_session_tell(session, told, 3, &step) < 0);
                    assert_same(before, bytes_of(session));
                }
            assert_true(rf_session_tell(session, told, 0, NULL) < 0);
            assert_true(rf_session_tell(session, many, RF_BATCH_MAX + 1, NULL) < 0);
            assert_same(before, bytes_of(session));
        }
        assert_int_equal(rf_session_ask(untouched, 3, told), RF_OK);
        for (unsigned k = 0; k < 3; k++) { /* the questions remain open */
            assert_memory_equal(told[k].setting, questions[k].setting, sizeof told[k].setting);
            told[k].setting[0] = told[k].setting[1] = NAN;
            told[k].outcome = k % 2;
        }
        assert_true(rf_session_tell(session, told, 3, &step) >= 0);
        assert_true(rf_session_tell(untouched, told, 3, &other) >= 0);
        assert_alike(session, untouched);
        assert_true(step.mean[0] == other.mean[0] && step.setting[0] == questions[2].setting[0] &&
                    step.setting[1] == questions[2].setting[1]);
        free(before.at);
        rf_session_close(session);
        rf_session_close(untouched);
    }
}

static void test_what_else_is_refused(void **state)
{
    (void)state;
    char error[200] = "";
    rf_record record[RF_ASK_MAX + 1];
    rf_config config = config_of("precession", &setups[0]);
    rf_session *session = open_or_fail(&config);
    bytes before = bytes_of(session);
    assert_true(rf_session_ask(session, 0, record) < 0);
    assert_true(rf_session_ask(session, RF_ASK_MAX + 1, record) < 0);
    assert_true(rf_session_pass(session, -1) < 0);
    assert_true(rf_session_pass(session, NAN) < 0);
    assert_true(rf_session_pass(session, INFINITY) < 0);
    config.design = "no such design";
    assert_true(rf_session_change(session, &config) < 0);
    assert_same(before, bytes_of(session));
    free(before.at);
    assert_string_equal(rf_session_config(session)->design, "auto");
    rf_session_close(session);
    assert_null(rf_session_open(&config, error, sizeof error));
    assert_string_equal(error, "there is no design 'no such design' for model precession");
    config.design = NULL;
    session = open_or_fail(&config);
    assert_true(rf_session_ask(session, 1, record) < 0);
    rf_session_close(session);

    static const struct {
        const char *belief;
        int is_float;
        const char *says;
    } refused[] = {{"gauss", 0, "there is no belief 'gauss'; beliefs are "},
                   {"gaussian:3", 0, "belief 'gaussian' takes no argument"},
                   {"particles:", 0, "belief 'particles:': the number must be "},
                   {"particles:1", 0, "belief 'particles:1': the number must be "},
                   {"particles:99999999999999999999", 0, "the number must be "},
                   {"particles:1e3", 0, "the number must be "},
                   {"particles", 1, "belief 'particles' works in double alone"},
                   {"grid:-5", 0, "the number must be "},
                   {"grid", 1, "belief 'grid' works in double alone"}};
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        config.belief = refused[i].belief;
        config.is_float = refused[i].is_float;
        assert_null(rf_session_open(&config, error, sizeof error));
        if (!strstr(error, refused[i].says) || strchr(error, '\n'))
            fail_msg("%s: %s", config.belief, error);
    }
}

/* Questions without answers change nothing, however they end. */
static void test_unask(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++) {
        const rf_config config = config_of("precession", &setups[i]);
        rf_session *session = open_or_fail(&config), *untouched = open_or_fail(&config);
        rf_record first[5], again[5];
        go_on(session, 0, 3, 1, NULL);
        go_on(untouched, 0, 3, 1, NULL);
        assert_int_equal(rf_session_ask(session, 5, first), RF_OK);
        rf_session_unask(session);
        assert_alike(session, untouched);
        assert_int_equal(rf_session_ask(session, 5, again), RF_OK);
        assert_memory_equal(first[4].setting, again[4].setting, sizeof first[4].setting);
        assert_int_equal(rf_session_ask(session, 2, again), RF_OK); /* asking again also withdraws them */
        assert_int_equal(rf_session_ask(session, 5, again), RF_OK);
        for (unsigned k = 0; k < 5; k++)
            assert_true(first[k].is_anchor == again[k].is_anchor && first[k].setting[0] == again[k].setting[0]);
        rf_session_unask(session);
        go_on(session, 3, 6, 1, NULL);
        go_on(untouched, 3, 6, 1, NULL);
        assert_alike(session, untouched);
        rf_session_close(session);
        rf_session_close(untouched);
    }
}

/* ---- Batches ---- */

/* Five questions, the last one an anchor; missing answers before it do not assign it to another record. */
/* A few anchors in a row have different lengths, so that no alias passes many of them. */
static void test_anchors_spread(void **state)
{
    (void)state;
    const rf_config config = rf_config_default(rf_model_find("precession"));
    rf_session *session = open_or_fail(&config);
    rf_record questions[30];
    double length[6];
    unsigned count = 0;
    assert_int_equal(rf_session_ask(session, 30, questions), RF_OK);
    for (unsigned k = 0; k < 30; k++)
        if (questions[k].is_anchor && count < 6)
            length[count++] = questions[k].setting[0];
    assert_int_equal(count, 6);
    for (unsigned i = 0; i < 6; i++)
        for (unsigned j = 0; j < i; j++)
            assert_true(fabs(length[i] - length[j]) > 0.03 * length[j]);
    rf_session_close(session);
}

static void test_anchors_and_missing_outcomes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++) {
        const rf_config config = config_of("precession", &setups[i]);
        for (uint32_t missing = 0; missing < 16; missing++) {
            int verdicts[2];
            for (int outcome = 0; outcome <= 1; outcome++) {
                rf_session *session = open_or_fail(&config);
                rf_record records[5];
                rf_step step;
                uint32_t known = 1;
                assert_int_equal(rf_session_ask(session, 5, records), RF_OK);
                for (uint32_t k = 0; k < 4; k++) {
                    assert_false(records[k].is_anchor);
                    records[k].outcome = missing >> k & 1 ? NAN : 1;
                    known += !(missing >> k & 1);
                }
                assert_true(records[4].is_anchor);
                records[4].outcome = outcome;
                assert_true(rf_session_tell(session, records, 5, &step) >= 0);
                assert_int_equal(step.records, known);
                assert_int_equal(step.step, 4);
                verdicts[outcome] = step.is_tested;
                assert_int_equal(step.widened, step.is_tested > 0);
                rf_session_close(session);
            }
            assert_int_equal(verdicts[0] + verdicts[1], 0);
            assert_int_equal(verdicts[0] * verdicts[1], -1);
        }
    }
}

/* Records without an outcome only let time pass. */
static void test_nothing_but_time(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++) {
        rf_config config = config_of("precession", &setups[i]);
        config.drift[0] = 0.5;
        config.prior[0] = (rf_prior){1, 0.3, 1};
        rf_session *session = open_or_fail(&config), *passed = open_or_fail(&config);
        const rf_record nothing[3] = {
            {.outcome = NAN, .time = NAN}, {.outcome = NAN, .time = NAN}, {.outcome = NAN, .time = NAN}};
        rf_step step, other;
        assert_int_equal(rf_session_tell(session, nothing, 3, &step), RF_OK);
        assert_int_equal(step.records, 0);
        assert_int_equal(rf_session_pass(passed, 2), RF_OK); /* the first record is at time 0 */
        rf_session_show(passed, &other);
        assert_true(step.mean[0] == other.mean[0] && step.sd[0] == other.sd[0]);
        check_within(step.sd[0], sqrt(1.5), i == 2 ? 0.2 : 1e-6); /* 200 particles */
        assert_int_equal(step.report.attempts, 0);
        rf_session_close(session);
        rf_session_close(passed);
    }
}

static void test_grouping(void **state)
{
    (void)state;
    static rf_batch batch;
    const rf_record known = {.outcome = 1, .time = NAN}, missing = {.outcome = NAN, .time = NAN};
    batch.together = 2;
    assert_int_equal(rf_batch_add(&batch, &known, 0), RF_BATCH_OPEN);
    assert_int_equal(rf_batch_add(&batch, &known, 0), RF_BATCH_WHOLE);
    assert_int_equal(rf_batch_add(&batch, &known, 0), RF_BATCH_NEXT);
    assert_int_equal(batch.count, 2);
    batch.count = 0;
    assert_int_equal(rf_batch_add(&batch, &known, 0), RF_BATCH_OPEN);
    assert_int_equal(rf_batch_add(&batch, &missing, 0), RF_BATCH_NEXT); /* a batch of its own */
    batch.count = 0;
    assert_int_equal(rf_batch_add(&batch, &missing, 0), RF_BATCH_WHOLE);
    batch.count = 0;
    assert_int_equal(rf_batch_add(&batch, &missing, 9), RF_BATCH_WHOLE);
    batch.count = 0;
    for (uint32_t k = 0; k < RF_BATCH_MAX; k++) /* with an id, any number */
        assert_int_equal(rf_batch_add(&batch, &known, 9), RF_BATCH_OPEN);
    assert_int_equal(rf_batch_add(&batch, &known, 9), RF_BATCH_FULL);
    assert_int_equal(rf_batch_add(&batch, &known, 8), RF_BATCH_NEXT);
    assert_int_equal(rf_batch_add(&batch, &known, 0), RF_BATCH_NEXT);
    assert_int_equal(batch.count, RF_BATCH_MAX);
    rf_config config = config_of("precession", &setups[0]);
    rf_session *session = open_or_fail(&config);
    for (uint32_t k = 0; k < RF_BATCH_MAX; k++)
        batch.record[k] = (rf_record){.setting = {0.1, 0.2}, .outcome = 1, .time = NAN};
    assert_true(rf_session_tell(session, batch.record, batch.count, NULL) >= 0); /* those that fit are learnt */
    rf_session_close(session);
}

/* ---- Time ---- */

/* The same records at the same times, whether the times are given or not, alone or together. */
static void test_clock(void **state)
{
    (void)state;
    static const double times[][5] = {{10, 11, 13, 14, 20}, {10, NAN, 13, NAN, 20}, {10, NAN, 13, 14, 20}};
    rf_config config = config_of("precession", &setups[0]);
    config.drift[0] = 0.1;
    config.prior[0] = (rf_prior){1, 0, 1};
    for (unsigned which = 0; which < 3; which++)
        for (uint32_t together = 1; together <= 5; together += 2) {
            rf_session *session = open_or_fail(&config);
            rf_step step = {0};
            for (uint32_t k = 0; k < 5;) {
                rf_record records[5];
                const uint32_t count = 5 - k < together ? 5 - k : together;
                for (uint32_t i = 0; i < count; i++, k++)
                    records[i] = (rf_record){.outcome = NAN, .time = times[which][k]};
                assert_int_equal(rf_session_tell(session, records, count, &step), RF_OK);
            }
            assert_true(step.time == 20);
            check_within(step.sd[0] * step.sd[0], 1 + 0.01 * 10, 1e-12);
            assert_int_equal(rf_session_pass(session, 3), RF_OK);
            const rf_record late = {.outcome = NAN, .time = 24}, early = {.outcome = NAN, .time = 23.5};
            assert_int_equal(rf_session_tell(session, &late, 1, &step), RF_OK);
            check_within(step.sd[0] * step.sd[0], 1 + 0.01 * 14, 1e-12);
            assert_true(rf_session_tell(session, &early, 1, &step) < 0);
            rf_session_close(session);
        }
}

/* A unit of time may be much longer than the time between records. Questions, and the limit on the width, then follow the
   interval before the last record. */
static void test_questions_expect_the_same_interval(void **state)
{
    (void)state;
    rf_config config = config_of("precession", &setups[0]);
    const double drift = config.drift[0] = 30, interval = 1.0 / (1 << 20), prior = 1.5707963267948966 / sqrt(12);
    config.design = "pgh";
    rf_session *session = open_or_fail(&config);
    rf_step step;
    rf_record question;
    for (unsigned k = 0; k < 4; k++) {
        assert_int_equal(rf_session_ask(session, 1, &question), RF_OK);
        question.outcome = 1;
        question.time = 5 + k * interval;
        assert_true(rf_session_tell(session, &question, 1, &step) >= 0);
    }
    const bytes saved = bytes_of(session);
    assert_int_equal(rf_session_ask(session, 1, &question), RF_OK);
    check_within(question.setting[0], 1 / sqrt(step.sd[0] * step.sd[0] + drift * drift * interval), 1e-9);
    rf_session *resumed = open_or_fail(&config);
    assert_int_equal(rf_session_load(resumed, saved.at, saved.count), 0);
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(rf_session_pass(k ? resumed : session, 1), RF_OK);
        rf_session_show(k ? resumed : session, &step);
        check_within(step.sd[0], 2.99 * prior, 1e-9); /* not 24 steps of a unit of time, which are 720 */
    }
    free(saved.at);
    rf_session_close(resumed);
    rf_session_close(session);
}

/* ---- Health ---- */

typedef struct heard {
    unsigned count;
    rf_health before[8], after[8];
} heard;

static void hear(void *user, rf_health before, const rf_step *step)
{
    heard *h = user;
    assert_in_range(h->count, 0, 7);
    assert_int_not_equal(before, step->health);
    h->before[h->count] = before;
    h->after[h->count++] = step->health;
}

/* The health callback reports every change: a stuck detector, and its recovery. */
static void test_health_is_told(void **state)
{
    (void)state;
    heard told = {.count = 0};
    rf_config config = config_of("precession", &setups[0]);
    config.on_health = hear;
    config.on_health_user = &told;
    rf_session *session = open_or_fail(&config);
    for (unsigned k = 0; k < 41; k++) {
        rf_record record;
        assert_int_equal(rf_session_ask(session, 1, &record), RF_OK);
        record.outcome = k == 40;
        assert_true(rf_session_tell(session, &record, 1, NULL) >= 0);
    }
    assert_true(told.count >= 2);
    assert_int_equal(told.after[told.count - 2], RF_FAULT);
    assert_int_equal(told.before[told.count - 1], RF_FAULT);
    assert_int_not_equal(told.after[told.count - 1], RF_FAULT);
    rf_session_close(session);
}

/* Tells outcomes of a coin that no design chose. Returns the last step. */
static rf_step toss(rf_session *session, const char *outcomes)
{
    rf_step step = {.dim = 0};
    for (; *outcomes; outcomes++) {
        const rf_record record = {.outcome = *outcomes - '0', .time = NAN};
        assert_true(rf_session_tell(session, &record, 1, &step) >= 0);
    }
    return step;
}

static const char even[] = "0110100110010110011010011001011001101001100101100110100110010110"; /* as many 0 as 1 */

/* Two sessions of a coin with equal numbers of both outcomes so far: one with health tests, and one without. */
static void open_coins(rf_session **tested, rf_session **other)
{
    const setup mixture = {.belief = "mixture"};
    rf_config config = config_of("coin", &mixture);
    *tested = open_or_fail(&config);
    config.on_lost = RF_ON_LOST_IGNORE;
    *other = open_or_fail(&config);
    for (unsigned k = 0; k < 3; k++) {
        toss(*tested, even);
        toss(*other, even);
    }
}

/* A false alarm widens static parameters. When later records contradict it, the widening is undone: every bit of the
   belief equals that of a session without tests. */
static void test_a_false_alarm_is_undone(void **state)
{
    (void)state;
    rf_session *tested, *other;
    open_coins(&tested, &other);
    const rf_step wide = toss(tested, "1111111111111"), narrow = toss(other, "1111111111111");
    assert_int_equal(wide.health, RF_RECOVERING);
    assert_int_equal(wide.widened, 1);
    assert_true(wide.chart_sd[0] > 2 * narrow.chart_sd[0]);
    rf_session *loaded, *unused; /* a checkpoint keeps the alarm */
    open_coins(&loaded, &unused);
    bytes saved = bytes_of(tested);
    assert_int_equal(rf_session_load(loaded, saved.at, saved.count), 0);
    free(saved.at);
    rf_session *copy = rf_session_copy(tested);
    const rf_step wanted = toss(other, even);
    rf_session *const all[] = {tested, loaded, copy};
    for (unsigned k = 0; k < 3; k++) {
        const rf_step step = toss(all[k], even);
        assert_int_equal(step.health, RF_TRACKING);
        assert_true(step.mean[0] == wanted.mean[0] && step.sd[0] == wanted.sd[0]);
        assert_float_equal(step.log_evidence, wanted.log_evidence, 1e-9);
        rf_session_close(all[k]);
    }
    rf_session_close(other);
    rf_session_close(unused);
}

/* A coin that really changes is found: the reaction to the failed test stays. */
static void test_a_true_alarm_stands(void **state)
{
    (void)state;
    rf_session *tested, *other;
    open_coins(&tested, &other);
    const char heads[] = "1111101111111101111111111011111110111111111110111111";
    const rf_step found = toss(tested, heads), late = toss(other, heads);
    assert_true(found.widened >= 1);
    assert_true(found.mean[0] > 0.8 && late.mean[0] < 0.65);
    rf_session_close(tested);
    rf_session_close(other);
}

/* ---- Bytes, copies, changes ---- */

static void test_saved_and_copied_sessions_go_on(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++)
        for (uint32_t batch = 1; batch <= 3; batch += 2) {
            rf_config config = config_of("precession", &setups[i]);
            config.kappa = 0; /* controlled: part of the state */
            config.on_lost = RF_ON_LOST_RESTART;
            rf_session *session = open_or_fail(&config), *loaded = open_or_fail(&config);
            rf_record questions[3];
            go_on(session, 0, 12, batch, NULL);
            rf_session_ask(session, 3, questions);
            bytes saved = bytes_of(session);
            rf_session *copy = rf_session_copy(session);
            assert_non_null(copy);
            go_on(loaded, 100, 3, 1, NULL); /* its former state is replaced */
            rf_session_ask(loaded, 1, questions);
            assert_int_equal(rf_session_load(loaded, saved.at, saved.count), 0);
            assert_alike(session, loaded);
            assert_alike(session, copy);
            free(saved.at);
            go_on(session, 12, 12, batch, NULL);
            bytes wanted = bytes_of(session);
            rf_session_close(session); /* a copy does not need its original */
            go_on(loaded, 12, 12, batch, NULL);
            go_on(copy, 12, 12, batch, NULL);
            assert_same(wanted, bytes_of(loaded));
            assert_same(wanted, bytes_of(copy));
            free(wanted.at);
            rf_session_close(loaded);
            rf_session_close(copy);
        }
}

/* Bytes that are not a session are refused, and nothing changes. */
static void test_other_bytes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++) {
        const rf_config config = config_of("precession", &setups[i]);
        rf_session *session = open_or_fail(&config);
        go_on(session, 0, 5, 1, NULL);
        bytes good = bytes_of(session);
        unsigned char *other = malloc(good.count + 8);
        for (size_t count = 0; count < good.count; count += count < 200 ? 1 : 97) {
            memcpy(other, good.at, good.count);
            assert_int_equal(rf_session_load(session, other, count), -1);
        }
        memset(other + good.count, 0, 8);
        assert_int_equal(rf_session_load(session, other, good.count + 8), -1);
        memset(other, 0xff, good.count);
        assert_int_equal(rf_session_load(session, other, good.count), -1);
        uint64_t random = 3;
        for (unsigned k = 0; k < 200; k++) { /* contents that are accepted give a working session */
            const size_t at = k < RF_SEAL ? k : test_word(&random) % good.count;
            memcpy(other, good.at, good.count);
            other[at] ^= (unsigned char)(1u << test_word(&random) % 8);
            assert_int_equal(rf_session_load(session, other, good.count), -1); /* sealed */
            rf_session *victim = open_or_fail(&config);
            if (rf_session_load(victim, other + RF_SEAL, good.count - RF_SEAL) == 0) { /* as older versions saved it */
                const rf_record record = {.setting = {1, 0.3}, .outcome = 1, .time = NAN};
                rf_step step;
                rf_session_show(victim, &step);
                rf_session_tell(victim, &record, 1, &step);
            }
            rf_session_close(victim);
        }
        assert_same(good, bytes_of(session));
        free(other);
        free(good.at);
        rf_session_close(session);
    }
}

static void test_trying_changes_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++) {
        const rf_config config = config_of("precession", &setups[i]);
        rf_session *session = open_or_fail(&config), *untouched = open_or_fail(&config);
        const rf_record record = {.setting = {1, 0.3}, .outcome = 1, .time = 4};
        rf_record question;
        assert_true(rf_session_try(session, &record, 1) >= 0);
        assert_alike(session, untouched);
        rf_session_ask(session, 1, &question);
        assert_true(rf_session_try(session, &record, 1) >= 0);
        rf_session_ask(untouched, 1, &question);
        question.outcome = 1;
        assert_true(rf_session_tell(session, &question, 1, NULL) >= 0);
        assert_true(rf_session_tell(untouched, &question, 1, NULL) >= 0);
        assert_alike(session, untouched);
        rf_session_close(session);
        rf_session_close(untouched);
    }
}

/* rf_session_tell_briefly gives the same session; the step has only the report of the update, and rf_session_show
   gives the rest. */
static void test_brief(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++) {
        const rf_config config = config_of("precession", &setups[i]);
        rf_session *briefly = open_or_fail(&config), *wholly = open_or_fail(&config);
        rf_step brief = {.step = -7}, whole;
        for (unsigned k = 0; k < 30; k++) {
            const rf_record record = {.setting = {1 + 0.3 * k, 0.1 * (k % 5)}, .outcome = k % 3 == 0, .time = NAN};
            assert_int_equal(rf_session_tell_briefly(briefly, &record, 1, &brief), rf_session_tell(wholly, &record, 1, &whole));
            assert_alike(briefly, wholly);
            assert_int_equal(brief.step, -7);
            assert_memory_equal(&brief.report, &whole.report, sizeof whole.report);
            assert_int_equal(brief.records, whole.records);
            assert_int_equal(brief.health, whole.health);
            assert_int_equal(brief.is_coarse, whole.is_coarse);
            assert_int_equal(brief.is_tested, whole.is_tested);
            assert_true(brief.outcome == whole.outcome && brief.setting[0] == whole.setting[0]);
        }
        rf_session_show(briefly, &brief);
        assert_true(brief.mean[0] == whole.mean[0] && brief.high[0] == whole.high[0] && brief.log_evidence == whole.log_evidence);
        const rf_record bad = {.setting = {INFINITY, 0}, .outcome = 1, .time = NAN};
        assert_int_equal(rf_session_tell_briefly(briefly, &bad, 1, &brief), rf_session_tell(wholly, &bad, 1, &whole));
        assert_alike(briefly, wholly);
        rf_session_close(briefly);
        rf_session_close(wholly);
    }
}

static void test_changes_on_the_way(void **state)
{
    (void)state;
    rf_config config = config_of("precession", &setups[0]);
    config.drift[0] = 0;
    rf_session *session = open_or_fail(&config);
    rf_step step;
    rf_record question;
    go_on(session, 0, 10, 1, &step);
    const double sd = step.sd[0];
    config.drift[0] = 1;
    config.design = "pgh";
    config.attempts = 300;
    config.model = rf_model_find("coin"); /* cannot change: ignored */
    config.prior[0].first = 9;
    assert_int_equal(rf_session_change(session, &config), RF_OK);
    assert_string_equal(rf_session_config(session)->description.name, "precession");
    assert_true(rf_session_config(session)->prior[0].first != 9 &&
                rf_session_config(session)->model == rf_model_find("precession"));
    rf_session_show(session, &step);
    assert_true(step.sd[0] == sd && step.step == 9);
    assert_int_equal(rf_session_ask(session, 1, &question), RF_OK);
    check_within(question.setting[0], 1 / sqrt(sd * sd + 1), 1e-9); /* the time of pgh, after a step of that drift */
    question.outcome = 1;
    assert_true(rf_session_tell(session, &question, 1, &step) >= 0);
    assert_int_equal(step.report.attempts, 300);
    assert_int_equal(rf_session_restart(session), RF_OK);
    rf_session_show(session, &step);
    check_within(step.sd[0], 1.5707963267948966 / sqrt(12), 1e-12);
    rf_session_close(session);
}

/* ---- Natural units ---- */

/* Priors are given and shown as mean and standard deviation in natural units. */
static void test_natural_units_of_priors(void **state)
{
    (void)state;
    static const struct {
        rf_chart_kind chart;
        rf_prior prior;
        double mean, sd, within;
    } of[] = {{RF_REAL, {1, 2, 3}, 2, 3, 1e-9},
              {RF_POSITIVE, {1, 2, 3}, 2, 3, 1e-9},
              {RF_POSITIVE, {1, 2, 1e-4}, 2, 1e-4, 1e-11},
              {RF_BOUNDED, {0, -1, 5}, 2, 1.7320508075688772, 1e-9},
              {RF_PERIODIC, {1, 2, 0.5}, 2, 0.5, 1e-9}};
    for (unsigned i = 0; i < SETUPS; i++)
        for (unsigned k = 0; k < sizeof of / sizeof *of; k++) {
            rf_config config = config_of("precession", &setups[i]);
            const int is_exact = strncmp(setups[i].belief, "particles", 9) != 0 && !setups[i].is_float,
                      is_narrow = of[k].sd < 1e-3;
            config.description.parameter[0].chart = of[k].chart;
            config.description.parameter[0].low = -1;
            config.description.parameter[0].high = 5;
            config.prior[0] = of[k].prior;
            if (is_narrow && !is_exact)
                continue;
            rf_session *session = open_or_fail(&config);
            rf_step step;
            rf_session_show(session, &step);
            check_within(step.mean[0], of[k].mean, is_exact ? rf64_max(of[k].within, setups[i].belief[2] == 'i' ? 1e-5 * of[k].sd : 0) : 0.4 * of[k].sd);
            check_within(step.sd[0], of[k].sd, is_exact ? rf64_max(of[k].within, setups[i].belief[2] == 'i' ? 1e-5 * of[k].sd : 0) : 0.5 * of[k].sd);
            rf_session_close(session);
        }
}

/* For wide posteriors of every shape, mean, standard deviation and median equal those of draws. */
static void test_natural_units_are_those_of_draws(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    static const rf_chart_kind charts[] = {RF_REAL, RF_POSITIVE, RF_BOUNDED, RF_PERIODIC};
    static double x[DRAWS];
    for (unsigned i = 0; i < SETUPS; i++)
        for (unsigned k = 0; k < 4; k++) {
            rf_config config = config_of("precession", &setups[i]);
            const uint32_t draws = strcmp(setups[i].belief, "grid") == 0 ? 2000 : DRAWS;
            rf_parameter *p = &config.description.parameter[0];
            p->chart = charts[k];
            p->low = charts[k] == RF_POSITIVE ? 0.02 : -1;
            p->high = 5;
            config.prior[0] = (rf_prior){0, p->low, p->high};
            config.drift[0] = 0;
            rf_session *session = open_or_fail(&config);
            const rf_record records[] = {{.setting = {2, 0.3}, .outcome = 1, .time = NAN},
                                         {.setting = {1.5, 3.5}, .outcome = 0, .time = NAN}};
            rf_step step;
            double mean = 0, square = 0, s = 0, c = 0, below = 0;
            for (unsigned j = 0; j < 2; j++)
                assert_true(rf_session_tell(session, &records[j], 1, &step) >= 0);
            const double median = rf_session_quantile(session, 0, 0.5);
            const double turn = 2 * PI / (p->high - p->low);
            for (uint32_t j = 0; j < draws; j++) {
                step.belief->kind->draw(step.belief, j, RF_FOR_USER, &x[j]);
                mean += x[j] / draws;
                s += sin(turn * x[j]) / draws;
                c += cos(turn * x[j]) / draws;
                double low = x[j] - (median - 0.5 * (p->high - p->low));
                low -= charts[k] == RF_PERIODIC ? (p->high - p->low) * floor(low / (p->high - p->low)) : 0;
                below += low < 0.5 * (p->high - p->low) ? 1.0 / draws : 0;
            }
            for (uint32_t j = 0; j < draws; j++)
                square += (x[j] - mean) * (x[j] - mean) / draws;
            double sd = sqrt(square), off = step.mean[0] - mean;
            if (charts[k] == RF_PERIODIC) {
                sd = sqrt(-log(s * s + c * c)) / turn;
                off = remainder(step.mean[0] - atan2(s, c) / turn, 2 * PI / turn);
                assert_true(step.mean[0] >= p->low && step.mean[0] < p->high);
            }
            check_within(off, 0, 6 * step.sd[0] / sqrt(draws));
            check_within(step.sd[0] / sd, 1, 12 / sqrt(draws));
            if (charts[k] != RF_PERIODIC || step.sd[0] < 1)
                check_within(below, 0.5, 3.5 / sqrt(draws));
            if (charts[k] == RF_POSITIVE) /* not the transformed mean of the chart */
                assert_true(fabs(step.mean[0] - exp(step.chart_mean[0])) > 0.05 * step.mean[0]);
            assert_true(rf_session_quantile(session, 0, 0.975) == step.high[0] && step.low[0] < median && median < step.high[0]);
            rf_session_close(session);
        }
}

/* ---- Threads ---- */

typedef struct job {
    const setup *with;
    bytes result;
} job;

static void *run(void *user)
{
    job *j = user;
    const rf_config config = config_of("precession", j->with);
    char error[200];
    rf_session *session = rf_session_open(&config, error, sizeof error);
    for (uint32_t k = 0; session && k < 200; k++) {
        rf_record record;
        rf_session_ask(session, 1, &record);
        record.outcome = measured(&config, record.setting, k);
        rf_session_tell(session, &record, 1, NULL);
    }
    if (session)
        j->result = bytes_of(session);
    rf_session_close(session);
    return NULL;
}

static void test_sessions_in_threads(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++) {
        job alone = {.with = &setups[i]}, jobs[2] = {alone, alone};
        pthread_t threads[2];
        run(&alone);
        for (unsigned k = 0; k < 2; k++)
            assert_int_equal(pthread_create(&threads[k], NULL, run, &jobs[k]), 0);
        for (unsigned k = 0; k < 2; k++)
            assert_int_equal(pthread_join(threads[k], NULL), 0);
        for (unsigned k = 0; k < 2; k++)
            assert_same(alone.result, jobs[k].result);
        free(alone.result.at);
    }
}

/* ---- Every belief, model and designer ---- */

/* Each combination works, with checkpoints, or refuses with one line. */
static void test_all_with_all(void **state)
{
    (void)state;
    static const char *const designs[] = {
#define RF_DESIGN(identifier, name, ...) name,
#include "../src/design/list.def"
#undef RF_DESIGN
        "auto"};
    const rf_belief_kind *kind;
    for (unsigned b = 0; (kind = rf_belief_kind_at(b)) != NULL; b++) {
        unsigned taken = 0;
        for (unsigned m = 0; rf_model_at(m); m++)
            for (unsigned d = 0; d < sizeof designs / sizeof *designs; d++) {
                rf_config config = rf_config_default(rf_model_at(m));
                char error[200] = "";
                rf_step step, after;
                config.belief = kind->name;
                config.design = designs[d];
                config.attempts = 50;
                if (!rf64_design_find(designs[d], &config.description, config.model->f64->design))
                    continue;
                rf_session *session = rf_session_open(&config, error, sizeof error);
                if (!session) {
                    assert_true(strlen(error) > 10 && !strchr(error, '\n'));
                    continue;
                }
                go_on(session, 0, 4, 1, &step);
                go_on(session, 4, 4, 2, &step);
                for (unsigned i = 0; i < step.dim; i++) {
                    assert_true(isfinite(step.mean[i]) && step.sd[i] > 0 && step.low[i] <= step.high[i]);
                    assert_true(isfinite(step.chart_mean[i]) && isfinite(step.low[i]) && isfinite(step.high[i]));
                }
                rf_session *loaded = open_or_fail(&config);
                bytes saved = bytes_of(session);
                assert_int_equal(rf_session_load(loaded, saved.at, saved.count), 0);
                go_on(session, 8, 2, 1, &step);
                go_on(loaded, 8, 2, 1, &after);
                assert_alike(session, loaded);
                free(saved.at);
                rf_session_close(session);
                rf_session_close(loaded);
                taken++;
            }
        if (taken < 4)
            fail_msg("%s works with %u models and designs", kind->name, taken);
    }
}

/* ---- Models with a block function ---- */

typedef struct block_data {
    const rf64_instance *instance;
    unsigned calls;
    int fails;
} block_data;

static rf_status in_block(const double x[], uint32_t n, const double setting[], double outcome, double out[], void *data)
{
    block_data *d = data;
    d->calls++;
    for (uint32_t k = 0; k < n; k++) {
        double own[RF_DESCRIBED_MAX];
        for (unsigned i = 0; i < d->instance->description->dim; i++)
            own[i] = x[i * n + k];
        out[k] = d->instance->likelihood(own, setting, outcome);
    }
    return d->fails ? -1 : RF_OK;
}

/* A model with only a block function gives the same bytes everywhere: beliefs, health, designs, simulations. If it
   fails, the records are refused, and can be told again. */
static void test_block_functions(void **state)
{
    (void)state;
    static const char *const beliefs[] = {"gaussian", "mixture:8", "particles:300", "grid:1024"}, *const names[] = {"precession", "ramsey", "linear", "decay"};
    static const char *const designs[] = {"risk", "pgh"};
    unsigned tried[sizeof beliefs / sizeof *beliefs] = {0};
    rf_engine *engine = rf_engine_open("simd", NULL, 0);
    for (unsigned b = 0; b < sizeof beliefs / sizeof *beliefs; b++)
        for (unsigned m = 0; m < 4; m++)
            for (unsigned d = 0; d < 2; d++) {
                const rf_model *model = rf_model_find(names[m]);
                block_data data = {.instance = model->f64};
                rf64_instance blocks = *model->f64;
                const rf_model other = {model->f32, &blocks};
                blocks.likelihood = NULL;
                blocks.kernels = NULL;
                blocks.block = in_block;
                blocks.data = &data;
                rf_config config = rf_config_default(model);
                config.belief = beliefs[b];
                config.design = designs[d];
                config.attempts = 100;
                config.engine = engine;
                char error[200];
                rf_session *right = rf_session_open(&config, error, sizeof error);
                if (!right)
                    continue;
                tried[b]++;
                config.model = &other;
                rf_session *session = open_or_fail(&config);
                rf_step step;
                go_on(right, 0, 6, 1, &step);
                go_on(session, 0, 6, 1, &step);
                go_on(right, 6, 4, 2, &step);
                go_on(session, 6, 4, 2, &step);
                assert_alike(right, session);
                check_below(data.calls, 3000 * 10); /* and not called for single candidates */
                rf_record record;
                assert_int_equal(rf_session_ask(session, 1, &record), RF_OK);
                record.outcome = 1;
                bytes before = bytes_of(session);
                data.fails = 1;
                assert_int_equal(rf_session_tell(session, &record, 1, &step), RF_REFUSED_MODEL);
                assert_same(before, bytes_of(session));
                free(before.at);
                data.fails = 0;
                assert_true(rf_session_tell(session, &record, 1, &step) >= 0);
                rf_session_close(session);
                rf_session_close(right);
            }
    for (unsigned b = 0; b < sizeof beliefs / sizeof *beliefs; b++)
        assert_true(tried[b] >= 4); /* models of one and two parameters, with both designs */
    rf_engine_close(engine);
}

/* ---- Simulations ---- */

typedef struct seen {
    uint32_t steps, trials;
    long end; /* ends after that step; -1: never */
} seen;

static int observe(void *user, uint32_t trial, const rf_step *step)
{
    seen *s = user;
    s->steps++;
    s->trials = trial + 1;
    assert_true(isfinite(step->truth[0]) && isfinite(step->error[0]));
    return step->step == s->end;
}

static void test_simulations(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETUPS; i++) {
        rf_simulation simulation = {.config = config_of("precession", &setups[i]), .steps = 10, .batch = 4};
        seen all = {.end = -1}, some = {.end = 7};
        assert_int_equal(rf_simulate(&simulation, 0, 3, observe, &all), RF_OK);
        assert_int_equal(all.steps, 9); /* in each of 3 trials: updates of 4, 4 and 2 records */
        assert_int_equal(all.trials, 3);
        assert_int_equal(rf_simulate(&simulation, 5, 3, observe, &some), RF_OK);
        assert_int_equal(some.steps, 2);
        assert_int_equal(some.trials, 6);
        simulation.config.design = NULL;
        assert_true(rf_simulate(&simulation, 0, 1, observe, &all) < 0);
    }
}

/* With two modes, `quadrature` chooses a setting that separates them, however different their weights. A setting for
   the mean and standard deviation of both would make them expect nearly the same outcome. */
static void test_two_modes_are_told_apart(void **state)
{
    (void)state;
    static const double weights[] = {0.5, 0.93, 0.999};
    for (unsigned k = 0; k < sizeof weights / sizeof *weights; k++) {
        rf_config config = config_of("ramsey", &setups[4]);
        const rf_gaussian parts[] = {{weights[k], {0.3, log(0.01)}, {1e-5, 0, 0.01}},
                                     {1 - weights[k], {0.5, log(0.01)}, {1e-5, 0, 0.01}}};
        config.anchor_every = 0;
        rf_session *session = open_or_fail(&config);
        assert_int_equal(rf_session_begin(session, parts, 2), RF_OK);
        for (unsigned again = 0; again < 4; again++) {
            rf_record question;
            double p[2];
            assert_int_equal(rf_session_ask(session, 1, &question), RF_OK);
            for (unsigned i = 0; i < 2; i++) {
                const double x[] = {parts[i].mean[0], 0.01};
                rf64_chart charts[RF_DESCRIBED_MAX];
                const rf64_model model = rf64_instance_model(config.model->f64, charts);
                rf64_model_likelihoods(&model, x, 2, 1, question.setting, 1, &p[i]);
            }
            if (!(fabs(p[0] - p[1]) > 0.7))
                fail_msg("weight %g: modes expect %g and %g", weights[k], p[0], p[1]);
            question.outcome = NAN; /* no outcome: the next question is another draw */
            assert_true(rf_session_tell(session, &question, 1, NULL) >= 0);
        }
        rf_session_close(session);
    }
}

/* ---- Many sessions ---- */

static void test_many_are_each_on_its_own(void **state)
{
    (void)state;
    enum { COUNT = 4, ROUNDS = 7 };
    static const char *const engines[] = {NULL, "threads:3"};
    for (unsigned kind = 0; kind < SETUPS; kind++)
        for (unsigned e = 0; e < sizeof engines / sizeof *engines; e++) {
            if (strcmp(setups[kind].belief, "grid") == 0 && e > 0)
                continue; /* one way is enough for slow beliefs */
            char error[200];
            rf_config config = config_of("ramsey", &setups[kind]);
            rf_engine *engine = engines[e] ? rf_engine_open(engines[e], error, sizeof error) : NULL;
            rf_session *alone[COUNT];
            rf_record records[COUNT];
            rf_step steps[COUNT];
            uint32_t backwards[COUNT];
            for (uint32_t i = 0; i < COUNT; i++) {
                config.trial = i;
                alone[i] = open_or_fail(&config);
                backwards[i] = COUNT - 1 - i;
            }
            config.trial = 0;
            config.engine = engine;
            rf_sessions *all = rf_sessions_open(&config, COUNT, error, sizeof error);
            assert_non_null(all);
            for (uint32_t k = 0; k < ROUNDS; k++) {
                const uint32_t *which = k % 3 == 1 ? backwards : NULL, count = k % 3 == 2 ? COUNT - 2 : COUNT;
                assert_int_equal(rf_sessions_ask(all, which, count, records), RF_OK);
                for (uint32_t i = 0; i < count; i++) {
                    rf_record own;
                    rf_step step;
                    rf_session *one = alone[which ? which[i] : i];
                    assert_int_equal(rf_session_ask(one, 1, &own), RF_OK);
                    assert_memory_equal(own.setting, records[i].setting, config.description.settings * sizeof *own.setting);
                    records[i].outcome = own.outcome = measured(&config, own.setting, k * COUNT + i);
                    assert_true(rf_session_tell(one, &own, 1, &step) >= 0);
                }
                assert_true(rf_sessions_tell(all, which, count, records, k % 2 ? steps : NULL) >= 0);
            }
            for (uint32_t i = 0; i < COUNT; i++) {
                assert_alike(rf_sessions_at(all, i), alone[i]);
                rf_session_close(alone[i]);
            }
            rf_sessions_close(all);
            rf_engine_close(engine);
        }
}

/* Enough sessions to be shared among threads. */
static void test_many_in_threads(void **state)
{
    (void)state;
    enum { COUNT = 300, ROUNDS = 5 };
    char error[200];
    rf_config config = config_of("precession", &setups[4]);
    rf_engine *engine = rf_engine_open("threads:3", error, sizeof error);
    rf_sessions *serial = rf_sessions_open(&config, COUNT, error, sizeof error);
    config.engine = engine;
    rf_sessions *threads = rf_sessions_open(&config, COUNT, error, sizeof error);
    rf_record *records = calloc(COUNT, sizeof *records);
    assert_true(serial && threads && records);
    for (uint32_t k = 0; k < ROUNDS; k++)
        for (unsigned which = 0; which < 2; which++) {
            rf_sessions *all = which ? threads : serial;
            assert_int_equal(rf_sessions_ask(all, NULL, COUNT, records), RF_OK);
            for (uint32_t i = 0; i < COUNT; i++)
                records[i].outcome = measured(&config, records[i].setting, k * COUNT + i);
            assert_true(rf_sessions_tell(all, NULL, COUNT, records, NULL) >= 0);
        }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_alike(rf_sessions_at(serial, i), rf_sessions_at(threads, i));
    free(records);
    rf_sessions_close(serial);
    rf_sessions_close(threads);
    rf_engine_close(engine);
}

static void test_many_refuse_together(void **state)
{
    (void)state;
    char error[200];
    rf_config config = config_of("precession", &setups[4]);
    assert_null(rf_sessions_open(&config, 0, error, sizeof error));
    config.belief = "nonsense";
    assert_null(rf_sessions_open(&config, 3, error, sizeof error));
    config.belief = "mixture";
    rf_sessions *all = rf_sessions_open(&config, 3, error, sizeof error);
    const uint32_t beyond[] = {0, 3};
    rf_record records[3];
    assert_int_equal(rf_sessions_ask(all, NULL, 3, records), RF_OK);
    for (unsigned i = 0; i < 3; i++)
        records[i].outcome = 1;
    bytes before = bytes_of(rf_sessions_at(all, 0));
    assert_int_equal(rf_sessions_tell(all, beyond, 2, records, NULL), RF_REFUSED_OPTIONS);
    records[2].outcome = INFINITY;
    assert_int_equal(rf_sessions_tell(all, NULL, 3, records, NULL), RF_REFUSED_EVIDENCE);
    records[2].outcome = 1;
    records[2].time = INFINITY;
    assert_int_equal(rf_sessions_tell(all, NULL, 3, records, NULL), RF_REFUSED_TIME);
    assert_same(before, bytes_of(rf_sessions_at(all, 0)));
    records[2].time = NAN;
    assert_true(rf_sessions_tell(all, NULL, 3, records, NULL) >= 0);
    assert_int_equal(rf_sessions_tell(all, NULL, 0, records, NULL), RF_OK);
    assert_null(rf_sessions_at(all, 3));
    free(before.at);
    rf_sessions_close(all);
    rf_sessions_close(NULL);
}

/* Outcomes that contradict every belief: parameters that stand still stay within their uniform priors, whatever health does;
   means, intervals, modes and draws. */
static void test_priors_hold(void **state)
{
    static const char *const models[] = {"ramsey", "decay", "phase"};
    (void)state;
    for (size_t k = 0; k < SETUPS * 3 * 3; k++) {
        rf_config config = config_of(models[k % 3], &setups[k / 9]);
        config.on_lost = k / 3 % 3 == 0 ? RF_ON_LOST_WIDEN : k / 3 % 3 == 1 ? RF_ON_LOST_RESTART : RF_ON_LOST_IGNORE;
        config.design = "risk";
        const rf_description *d = &config.description;
        if (strcmp(setups[k / 9].belief, "grid") == 0 && d->dim > 2)
            continue;
        for (unsigned i = 0; i < d->dim; i++) {
            config.drift[i] = 0;
            config.prior[i].is_gaussian = 0;
            config.prior[i].first = d->parameter[i].low + 0.1 * (d->parameter[i].high - d->parameter[i].low);
            config.prior[i].second = d->parameter[i].low + 0.4 * (d->parameter[i].high - d->parameter[i].low);
        }
        rf_session *session = open_or_fail(&config);
        for (uint32_t n = 0; n < 150; n++) {
            rf_record record;
            rf_step step;
            double x[RF_DESCRIBED_MAX];
            rf_mode modes[RF_MODES_MAX];
            assert_int_equal(rf_session_ask(session, 1, &record), RF_OK);
            record.outcome = n < 60 ? measured(&config, record.setting, n) : rf_draw(9, 0, n, 0, RF_FOR_USER).word[0] % 2; /* outside, then chance */
            assert_true(rf_session_tell(session, &record, 1, &step) >= 0);
            for (unsigned i = 0; i < d->dim && d->parameter[i].chart != RF_PERIODIC; i++) {
                const double low = config.prior[i].first, high = config.prior[i].second;
                const unsigned count = rf_belief_modes(step.belief, i, modes);
                int is_in = step.mean[i] >= low && step.mean[i] <= high && step.low[i] >= low && step.high[i] <= high;
                for (unsigned m = 0; m < count; m++)
                    is_in &= modes[m].low >= low && modes[m].high <= high;
                for (uint32_t draw = 0; draw < 8; draw++) {
                    step.belief->kind->draw(step.belief, draw, RF_FOR_USER, x);
                    is_in &= x[i] >= low && x[i] <= high;
                }
                if (!is_in)
                    fail_msg("%s, %s, %s, record %u: %g in %g to %g, prior %g to %g", setups[k / 9].belief, d->name, d->parameter[i].name, n,
                             step.mean[i], step.low[i], step.high[i], low, high);
            }
        }
        rf_session_close(session);
    }
}

/* Gaussians that are brought are the prior now: they stay as they are, though the configuration's uniform prior is narrower, also
   in copies and when loaded. A restart returns to the configuration's. */
static void test_brought_beliefs_stay(void **state)
{
    (void)state;
    for (size_t k = 0; k < SETUPS; k++) {
        rf_config config = config_of("linear", &setups[k]);
        rf_gaussian one = {.weight = 1};
        rf_session *session, *again[2];
        rf_step step;
        for (unsigned i = 0; i < config.description.dim; i++) {
            config.drift[i] = 0;
            one.mean[i] = 0.5 + 3 * i;
            one.covariance[RF_TRIANGLE(i) + i] = 4;
        }
        if (strcmp(setups[k].belief, "grid") == 0)
            continue; /* as wide as its prior */
        session = open_or_fail(&config);
        assert_int_equal(rf_session_begin(session, &one, 1), RF_OK);
        again[0] = open_or_fail(&config);
        again[1] = rf_session_copy(session);
        bytes b = bytes_of(session);
        assert_int_equal(rf_session_load(again[0], b.at, b.count), 0);
        free(b.at);
        for (unsigned j = 0; j < 3; j++) {
            rf_session *s = j == 0 ? session : again[j - 1];
            assert_int_equal(rf_session_pass(s, 1), RF_OK);
            rf_session_show(s, &step);
            for (unsigned i = 0; i < step.dim; i++) {
                check_within(step.mean[i], one.mean[i], 0.5);
                check_within(step.sd[i], 2, 0.3);
            }
            assert_int_equal(rf_session_restart(s), RF_OK);
            rf_session_show(s, &step);
            for (unsigned i = 0; i < step.dim; i++)
                assert_true(step.low[i] >= config.prior[i].first && step.high[i] <= config.prior[i].second);
            rf_session_close(s);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_finds_the_truth),
        cmocka_unit_test(test_wrong_models_are_told),
        cmocka_unit_test(test_a_refusal_changes_nothing),
        cmocka_unit_test(test_what_else_is_refused),
        cmocka_unit_test(test_unask),
        cmocka_unit_test(test_anchors_and_missing_outcomes),
        cmocka_unit_test(test_nothing_but_time),
        cmocka_unit_test(test_grouping),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_questions_expect_the_same_interval),
        cmocka_unit_test(test_saved_and_copied_sessions_go_on),
        cmocka_unit_test(test_other_bytes),
        cmocka_unit_test(test_trying_changes_nothing),
        cmocka_unit_test(test_brief),
        cmocka_unit_test(test_changes_on_the_way),
        cmocka_unit_test(test_natural_units_of_priors),
        cmocka_unit_test(test_natural_units_are_those_of_draws),
        cmocka_unit_test(test_sessions_in_threads),
        cmocka_unit_test(test_anchors_spread),
        cmocka_unit_test(test_all_with_all),
        cmocka_unit_test(test_health_is_told),
        cmocka_unit_test(test_a_false_alarm_is_undone),
        cmocka_unit_test(test_a_true_alarm_stands),
        cmocka_unit_test(test_priors_hold),
        cmocka_unit_test(test_brought_beliefs_stay),
        cmocka_unit_test(test_block_functions),
        cmocka_unit_test(test_simulations),
        cmocka_unit_test(test_two_modes_are_told_apart),
        cmocka_unit_test(test_many_are_each_on_its_own),
        cmocka_unit_test(test_many_in_threads),
        cmocka_unit_test(test_many_refuse_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
