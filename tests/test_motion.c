/* What sessions promise in numbers: how beliefs move with time, when health reacts, where questions are. */
#include "testing.h"

#include <math.h>

#include "rejfilt/session.h"

static const char *const kinds[] = {"gaussian", "mixture", "particles:40000"};

static rf_session *open_or_fail(const rf_config *config)
{
    char error[200];
    rf_session *session = rf_session_open(config, error, sizeof error);
    if (!session)
        fail_msg("%s", error);
    return session;
}

static void look(const rf_session *session, double mean[], double variance[])
{
    double covariance[RF_TRIANGLE(RF_DESCRIBED_MAX)];
    const rf_belief *belief = rf_session_belief(session);
    belief->kind->moments(belief, mean, covariance);
    for (unsigned i = 0; i < belief->problem->description.dim; i++)
        variance[i] = covariance[RF_TRIANGLE(i) + i];
}

/* w reverts, g walks: an Ornstein-Uhlenbeck process beside a random walk. Particles: within 5 standard errors. */
static void reverting_and_walking(void **state)
{
    (void)state;
    const double centre = 2, sd = 0.3, time = 4, elapsed = 3, walk = 0.02, levels[] = {centre, sd},
                 times[] = {time, time};
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        rf_config config = rf_config_default(rf_model_find("ramsey"));
        config.belief = kinds[k];
        config.on_lost = RF_ON_LOST_IGNORE;
        config.prior[0] = (rf_prior){1, 1, 0.1};
        config.prior[1] = (rf_prior){1, 0.02, 0.002};
        rf_motion_make(&config.description.parameter[0], RF_MOTION_REVERTING, levels, times, &config.motion[0],
                       &config.drift[0]);
        config.drift[1] = walk;
        rf_session *session = open_or_fail(&config);
        double m[2], v[2], mean[2], variance[2];
        look(session, m, v);
        assert_true(rf_session_pass(session, elapsed) >= 0);
        look(session, mean, variance);
        const double left = exp(-elapsed / time), wanted = v[0] * left * left + sd * sd * (1 - left * left),
                     error = k == 2 ? 5 / 200.0 : 1e-9;
        check_within(mean[0], centre + (m[0] - centre) * left, error * sqrt(wanted));
        check_within(variance[0], wanted, error * sqrt(2) * wanted);
        check_within(variance[1], v[1] + walk * walk * elapsed, error * sqrt(2) * variance[1]);
        rf_session_close(session);
    }
}

/* A telegraph signal stays at its levels, in shares of the dwell times. */
static void switching(void **state)
{
    (void)state;
    const double level[] = {0.4, 1.2}, dwell[] = {30, 10}, share = dwell[1] / (dwell[0] + dwell[1]),
                 away = level[1] - level[0];
    for (unsigned k = 1; k < sizeof kinds / sizeof *kinds; k++) {
        rf_config config = rf_config_default(rf_model_find("precession"));
        config.belief = kinds[k];
        rf_motion_make(&config.description.parameter[0], RF_MOTION_TELEGRAPH, level, dwell, &config.motion[0],
                       &config.drift[0]);
        rf_session *session = open_or_fail(&config);
        for (int again = 0; again < 3; again++) {
            double mean, variance;
            look(session, &mean, &variance);
            check_within(mean, level[0] + share * away, 0.02 * away);
            check_within(variance, share * (1 - share) * away * away, 0.05 * away * away * share);
            assert_true(rf_session_pass(session, 5) >= 0);
        }
        rf_session_close(session);
    }
}

/* A uniform prior is kept in a chart of its own; a walk there adds its variance, too, as far as the ends are away. */
static void walking_from_a_box(void **state)
{
    (void)state;
    rf_config config = rf_config_default(rf_model_find("precession"));
    config.on_lost = RF_ON_LOST_IGNORE;
    config.drift[0] = 0.02;
    rf_session *session = open_or_fail(&config);
    double mean, before, after;
    for (unsigned k = 0; k < 5; k++) /* around 0.7, far from the ends */
        assert_true(
            rf_session_tell(session, &(rf_record){.setting = {1 << k, 0.7}, .outcome = 1, .time = 0}, 1, NULL) >= 0);
    look(session, &mean, &before);
    assert_true(rf_session_pass(session, 1) >= 0);
    look(session, &mean, &after);
    check_within((after - before) / (config.drift[0] * config.drift[0]), 1, 0.12);
    rf_session_close(session);
}

/* A loss matters less by the share that a step of the walk leaves. */
static void losses_are_forgotten(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        rf_config config = rf_config_default(rf_model_find("precession"));
        config.belief = kinds[k];
        config.on_lost = RF_ON_LOST_IGNORE;
        config.prior[0] = (rf_prior){1, 1, 0.1};
        config.drift[0] = 0.1;
        rf_session *session = open_or_fail(&config);
        ((rf_belief *)(uintptr_t)rf_session_belief(session))->live = 1;
        assert_true(rf_session_pass(session, 3) >= 0);
        check_within(rf_session_belief(session)->live, 0.25, 1e-6);
        rf_session_close(session);
    }
}

/* Twenty equal outcomes, each with probability one half, are a fault: 2^-20 is below 10^-6. The belief is then
   the one from before them, as wide as the time since made it. */
static void a_stuck_detector_is_a_fault(void **state)
{
    (void)state;
    rf_config config = rf_config_default(rf_model_find("precession"));
    config.prior[0] = (rf_prior){1, 1, 0.1};
    rf_session *session = open_or_fail(&config);
    rf_step step = {.health = RF_TRACKING}, held = step;
    rf_record question;
    int count = 0;
    for (; step.health != RF_FAULT && count < 60; count++) {
        assert_int_equal(rf_session_ask(session, 1, &question), RF_OK);
        question.outcome = count >= 9 ? 1 : count % 2;
        assert_true(rf_session_tell(session, &question, 1, &step) >= 0);
        held = count == 8 ? step : held;
        if (count == 15) { /* what it returns to is saved, too */
            unsigned char *bytes = malloc(rf_session_save(session, NULL));
            const size_t size = rf_session_save(session, bytes);
            rf_session_close(session);
            session = open_or_fail(&config);
            assert_int_equal(rf_session_load(session, bytes, size), 0);
            free(bytes);
        }
    }
    assert_int_equal(count, 9 + 20);
    check_within(step.mean[0], held.mean[0], 1e-9);
    check_within(step.sd[0] * step.sd[0], held.sd[0] * held.sd[0] + 20 * config.drift[0] * config.drift[0], 1e-9);
    rf_session_close(session);
}

/* A belief of a parameter that wanders far grows up to a width that follows from the drift between two records, whether
   they come one by one or together. */
static void widths_are_limited(void **state)
{
    (void)state;
    for (unsigned together = 0; together < 2; together++) {
        rf_config config = rf_config_default(rf_model_find("precession"));
        config.drift[0] = 1;
        rf_session *session = open_or_fail(&config);
        rf_record records[5];
        for (unsigned k = 0; k < 5; k++)
            records[k] = (rf_record){.setting = {0.1, 0}, .outcome = k % 2, .time = 2 * k};
        assert_true(rf_session_tell(session, records, 1, NULL) >= 0);
        for (unsigned k = 1; k < 5; k += together ? 4 : 1)
            assert_true(rf_session_tell(session, records + k, together ? 4 : 1, NULL) >= 0);
        assert_true(rf_session_pass(session, 1e9) >= 0);
        double mean, variance;
        look(session, &mean, &variance);
        check_within(sqrt(variance), 2.99 * 8 * sqrt(2) * config.drift[0], 0.01);
        rf_session_close(session);
    }
}

/* A record counts as one experiment, asked for or not: the next question is the same. */
static void experiments_are_counted_once(void **state)
{
    (void)state;
    rf_config config = rf_config_default(rf_model_find("precession"));
    config.design = "pgh";
    config.anchor_every = 0;
    rf_session *asked = open_or_fail(&config), *told = open_or_fail(&config);
    rf_record record, other;
    assert_int_equal(rf_session_ask(asked, 1, &record), RF_OK);
    record.outcome = 1;
    assert_true(rf_session_tell(asked, &record, 1, NULL) >= 0);
    assert_true(rf_session_tell(told, &record, 1, NULL) >= 0);
    assert_int_equal(rf_session_ask(asked, 1, &record), RF_OK);
    assert_int_equal(rf_session_ask(told, 1, &other), RF_OK);
    assert_memory_equal(record.setting, other.setting, 2 * sizeof(double));
    rf_session_close(asked);
    rf_session_close(told);
}

/* A belief far from the truth is lost, and says so, after about 30 records. */
static void a_lost_belief_is_told(void **state)
{
    (void)state;
    enum { RUNS = 40 };
    double total = 0;
    for (uint32_t seed = 1; seed <= RUNS; seed++) {
        rf_config config = rf_config_default(rf_model_find("precession"));
        config.seed = seed;
        config.on_lost = RF_ON_LOST_WATCH;
        rf_session *session = open_or_fail(&config);
        rf_step step = {.health = RF_TRACKING};
        unsigned k = 0;
        for (; (k < 101 || step.health != RF_LOST) && k < 400; k++) {
            rf_record record;
            assert_int_equal(rf_session_ask(session, 1, &record), RF_OK);
            record.outcome =
                rf64_instance_outcome(config.model->f64, (double[]){k < 100 ? 0.4 : 1.2}, record.setting, seed, k);
            assert_true(rf_session_tell(session, &record, 1, &step) >= 0);
        }
        total += k - 100.0;
        rf_session_close(session);
    }
    check_within(total / RUNS, 30, 10); /* 4 standard errors */
}

/* The evidence of a reading is its probability density, by a Gaussian's points as by particles. */
static void evidence_of_readings(void **state)
{
    (void)state;
    double evidence[2];
    for (unsigned k = 0; k < 2; k++) {
        rf_config config = rf_config_default(rf_model_find("bearing"));
        config.belief = kinds[1 + k];
        rf_session *session = open_or_fail(&config);
        rf_step step;
        assert_true(rf_session_tell(session, &(rf_record){.setting = {0, 0, 0.05}, .outcome = 0.1, .time = NAN}, 1,
                                    &step) >= 0);
        evidence[k] = step.log_evidence;
        rf_session_close(session);
    }
    check_within(evidence[0], evidence[1], 0.5); /* the points differ by 0.2 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reverting_and_walking),        cmocka_unit_test(switching),
        cmocka_unit_test(walking_from_a_box),           cmocka_unit_test(losses_are_forgotten),
        cmocka_unit_test(a_stuck_detector_is_a_fault),  cmocka_unit_test(widths_are_limited),
        cmocka_unit_test(experiments_are_counted_once), cmocka_unit_test(a_lost_belief_is_told),
        cmocka_unit_test(evidence_of_readings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
