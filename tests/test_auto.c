/* The belief that changes its form: one Gaussian, several, particles; compared with exact grids. */
#include "believing.h"

#include "auto/auto.h"
#include "mixture/mixture.h"

static int is_now(const rf_belief *belief, const char *form) { return strcmp(belief->kind->form(belief), form) == 0; }

/* Where one Gaussian is enough, it equals the mixture to the bit. */
static void test_one_gaussian(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("coin");
    rf_belief *belief = open_or_fail("auto", &problem), *mixture = open_or_fail("mixture", &problem);
    for (uint32_t k = 0; k < 50; k++) {
        const double record[] = {k % 3 == 0};
        assert_true(learn(belief, record, 1) == learn(mixture, record, 1));
        assert_true(is_now(belief, "gaussian"));
    }
    double mean[2], variance[2];
    belief->kind->moments(belief, &mean[0], &variance[0]);
    mixture->kind->moments(mixture, &mean[1], &variance[1]);
    assert_true(mean[0] == mean[1] && variance[0] == variance[1]);
    assert_true(rf_auto_loss(belief) == rf_mixture_loss(mixture) && belief->kind->updates(belief) == 50);
    rf_belief_close(belief);
    rf_belief_close(mixture);
}

/* A batch of records has the loss that the mixture reports. */
static void test_loss_of_a_batch(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("precession");
    rf_belief *belief = open_or_fail("auto", &problem), *mixture = open_or_fail("mixture", &problem);
    const double records[] = {3, 0.2, 1, 9, 0.4, 0, 27, 0.3, 1, 81, 0.1, 0};
    const double loss = report_of(mixture, records, 4).loss, last = rf_mixture_loss(mixture);
    assert_true(loss > 0 && loss == last);
    check_within(report_of(belief, records, 4).loss, loss, 1e-12);
    rf_belief_close(belief);
    rf_belief_close(mixture);
}

/* A random time for the record, and its outcome; for rabi, whose posteriors are curved. */
static void record_of(const rf_problem *problem, const double truth[], uint64_t *random, double longest, uint64_t seed,
                      uint32_t k, double record[])
{
    const rf_description *d = &problem->description;
    for (unsigned i = 0; i < d->settings; i++)
        record[i] = d->setting[i].low;
    record[0] = test_uniform(random, 0, longest);
    record[d->settings] = rf64_instance_outcome(problem->model->f64, truth, record, seed, k);
}

/* Where Gaussians are too few, particles take over: over several data sets, the mean is nearer to that of many
   particles than a mixture's mean is. */
static void test_bent_posteriors(void **state)
{
    (void)state;
    enum { SETS = 6, RECORDS = 120 };
    const rf_problem problem = problem_of("rabi");
    uint64_t random = 3;
    unsigned were_particles = 0;
    double off[2] = {0, 0};
    for (unsigned set = 0; set < SETS; set++) {
        rf_belief *belief[] = {open_or_fail("auto", &problem), open_or_fail("mixture", &problem),
                               open_or_fail("particles:20000", &problem)};
        double mean[3][2], covariance[3][3], record[RF_DESCRIBED_MAX + 1];
        const double truth[2] = {test_uniform(&random, 0.8, 1.2), test_uniform(&random, -0.3, 0.3)};
        for (uint32_t k = 0; k < RECORDS; k++) {
            record_of(&problem, truth, &random, 100, 60 + set, k, record);
            for (unsigned b = 0; b < 3; b++)
                learn(belief[b], record, 1);
            were_particles += is_now(belief[0], "particles") ? 1u : 0u;
        }
        for (unsigned b = 0; b < 3; b++)
            belief[b]->kind->moments(belief[b], mean[b], covariance[b]);
        for (unsigned b = 0; b < 2; b++)
            for (unsigned i = 0; i < 2; i++)
                off[b] += fabs(mean[b][i] - mean[2][i]) / sqrt(covariance[2][RF_TRIANGLE(i) + i]) / (2 * SETS);
        for (unsigned b = 0; b < 3; b++)
            rf_belief_close(belief[b]);
    }
    check_below(SETS * 20, were_particles);
    check_below(off[0], 0.3);
    check_below(off[0], off[1]);
}

/* With one parameter it is a mixture, whatever the loss. */
static void test_one_parameter(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("precession");
    rf_belief *belief = open_or_fail("auto:4", &problem);
    const double truth = 0.7;
    uint64_t random = 5;
    double record[RF_DESCRIBED_MAX + 1];
    for (uint32_t k = 0; k < 20; k++) {
        record_of(&problem, &truth, &random, 300, 4, k, record);
        learn(belief, record, 1);
        assert_false(is_now(belief, "particles"));
    }
    check_below(0.2, rf_auto_loss(belief));
    assert_true(is_now(belief, "mixture"));
    rf_belief_close(belief);
}

/* Records that make it change to particles. */
static rf_belief *particles_now(const rf_problem *problem)
{
    rf_belief *belief = open_or_fail("auto:4", problem);
    const double truth[] = {1.1, 0.2};
    double record[RF_DESCRIBED_MAX + 1];
    uint64_t random = 9;
    for (uint32_t k = 0; k < 20 && !is_now(belief, "particles"); k++) {
        record_of(problem, truth, &random, 100, 2, k, record);
        learn(belief, record, 1);
    }
    assert_true(is_now(belief, "particles"));
    return belief;
}

/* A saved and restored belief continues bit for bit, in both forms, and across changes from particles to a Gaussian
   and back. */
static void test_saving(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("rabi");
    const double truth[] = {0.95, 0.1};
    unsigned changes = 0;
    unsigned char *bytes = malloc(1 << 20), *other = malloc(1 << 20);
    for (unsigned form = 0; form < 2; form++) {
        rf_belief *belief = form ? particles_now(&problem) : open_or_fail("auto:4", &problem);
        rf_belief *loaded = open_or_fail("auto:4", &problem);
        const size_t size = belief->kind->save(belief, NULL);
        check_below((double)size, 1 << 20);
        assert_int_equal(belief->kind->save(belief, bytes), size);
        assert_int_equal(loaded->kind->load(loaded, bytes, size), 0);
        loaded->live = belief->live; /* a session saves it beside the belief */
        uint64_t random = 12;
        for (uint32_t k = 0; k < 200; k++) { /* long times: particles, a Gaussian, particles again */
            double record[RF_DESCRIBED_MAX + 1];
            const int was_cloud = is_now(belief, "particles");
            record_of(&problem, truth, &random, k % 50 < 10 ? 300 : 20, 8, k, record);
            assert_true(learn(belief, record, 1) == learn(loaded, record, 1));
            changes += is_now(belief, "particles") != was_cloud ? 1u : 0u;
        }
        assert_int_equal(belief->kind->save(belief, bytes), loaded->kind->save(loaded, other));
        assert_memory_equal(bytes, other, belief->kind->save(belief, NULL));
        rf_belief_close(belief);
        belief = form ? particles_now(&problem) : open_or_fail("auto:4", &problem);
        belief->kind->save(belief, bytes);
        for (size_t less = 0; less < size; less += form ? 97 : 1)
            assert_int_equal(loaded->kind->load(loaded, bytes, less), -1);
        memset(bytes + size, 0, 8);
        assert_int_equal(loaded->kind->load(loaded, bytes, size + 8), -1);
        bytes[16] = 2; /* the form */
        assert_int_equal(loaded->kind->load(loaded, bytes, size), -1);
        memset(bytes + 24, 0xff, 8); /* the mixture's bytes: more than there are */
        bytes[16] = (unsigned char)form;
        assert_int_equal(loaded->kind->load(loaded, bytes, size), -1);
        rf_belief_close(belief);
        rf_belief_close(loaded);
    }
    check_below(2, changes);
    free(bytes);
    free(other);
}

/* A copy refers to its own problem, in all its parts. */
static void test_copies(void **state)
{
    (void)state;
    rf_problem *first = malloc(sizeof *first);
    *first = problem_of("rabi");
    const rf_problem second = *first;
    rf_belief *belief = particles_now(first), *copy = open_or_fail("auto:4", &second);
    rf_belief_copy(copy, belief);
    const double truth[] = {0.95, 0.1};
    double record[RF_DESCRIBED_MAX + 1];
    uint64_t random = 3;
    record_of(&second, truth, &random, 30, 3, 0, record);
    const double evidence = learn(belief, record, 1);
    assert_int_equal(belief->kind->restart(belief), RF_OK);
    assert_true(is_now(belief, "gaussian"));
    rf_belief_close(belief);
    memset(first, 0xff, sizeof *first);
    free(first);
    assert_true(learn(copy, record, 1) == evidence);
    for (uint32_t k = 1; k < 200; k++) {
        record_of(&second, truth, &random, 30, 3, k, record);
        learn(copy, record, 1);
    }
    assert_int_equal(copy->kind->restart(copy), RF_OK);
    rf_belief_close(copy);
}

/* Time and recovery act on the current form. */
static void test_time_and_recovery(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("rabi");
    const double Q[] = {0.5, 0, 0, 0.5}, factor[] = {2, 2};
    for (unsigned form = 0; form < 2; form++) {
        rf_belief *belief = form ? particles_now(&problem) : open_or_fail("auto:4", &problem);
        double mean[2], c[3][3], x[2];
        belief->kind->moments(belief, mean, c[0]);
        assert_int_equal(belief->kind->pass(belief, NULL, Q, 2), RF_OK);
        belief->kind->moments(belief, mean, c[1]);
        check_within(c[1][0], c[0][0] + 1, form ? 0.2 : 1e-9);
        assert_int_equal(belief->kind->stretch(belief, factor), RF_OK);
        belief->kind->moments(belief, mean, c[2]);
        check_within(c[2][0] / c[1][0], 4, 1e-9);
        check_below(belief->kind->quantile(belief, 0, 0.1), belief->kind->quantile(belief, 0, 0.9));
        belief->kind->draw(belief, 0, RF_FOR_USER, x);
        assert_true(isfinite(x[0]));
        rf_belief_close(belief);
    }
}

static void test_names(void **state)
{
    (void)state;
    const rf_problem problem = problem_of("precession");
    char error[200];
    assert_null(rf_belief_open("auto:65", &problem, 1, 0, error, sizeof error));
    assert_non_null(strstr(error, "1 to 64"));
    const rf64_options options = rf64_options_default();
    rf64_report report;
    rf_belief *belief = rf_belief_open("auto", &problem, 1, 1, error, sizeof error); /* works in double */
    const double bad[] = {1, INFINITY, 1};
    assert_non_null(belief);
    assert_int_equal(belief->kind->update(belief, bad, 1, &options, NULL, &report), RF_REFUSED_EVIDENCE);
    assert_int_equal(belief->kind->update(belief, bad, 0, &options, NULL, &report), RF_REFUSED_EVIDENCE);
    rf_belief_close(belief);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_gaussian),
        cmocka_unit_test(test_loss_of_a_batch),  cmocka_unit_test(test_bent_posteriors),
        cmocka_unit_test(test_one_parameter), cmocka_unit_test(test_saving),
        cmocka_unit_test(test_copies),        cmocka_unit_test(test_time_and_recovery),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
