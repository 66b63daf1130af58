/* GPU code, compiled for the host, gives the serial engine's bits. The arguments are the units: each a model, a
   sampler and a precision. */
#define _POSIX_C_SOURCE 200809L
#include "testing.h"

#include <dlfcn.h>

#include "device_types.h"
#include "device_unit.h"
#include "session_state.h"

static char **units;

/* ---- Simulated trials ---- */

enum { TRIALS = 12, STEPS = 130, KINDS = 4 }; /* of errors, for up to three parameters */

/* Results of the trials of a unit, or of the library. */
typedef struct left {
    rf_totals totals;
    double sums[TRIALS * KINDS];
    float errors[TRIALS * STEPS * KINDS]; /* NaN: not counted */
} left;

typedef struct watcher {
    left *left;
    rf_judging judging;
    rf_trial trial;
} watcher;

static int watch(void *user, uint32_t trial, const rf_step *step)
{
    watcher *w = user;
    const rf_judging *j = &w->judging;
    const unsigned kinds = j->dim + 1;
    float errors[KINDS];
    if (step->step < (long)j->batch)
        rf_trial_begin(&w->trial);
    rf_trial_see(&w->trial, j, step, &w->left->totals, errors);
    for (unsigned kind = 0; kind < kinds; kind++) {
        const long row = step->step - j->steps + rf_judging_rows(j, kind);
        if (row >= 0)
            w->left->errors[(j->row[kind] + row) * TRIALS + trial] = errors[kind];
    }
    if (step->step == j->steps - 1) {
        rf_trial_end(&w->trial, j, &w->left->totals);
        memcpy(&w->left->sums[trial * kinds], w->trial.sum, kinds * sizeof *w->trial.sum);
    }
    return 0;
}

static void forget(left *l)
{
    memset(l, 0, sizeof *l);
    for (unsigned i = 0; i < TRIALS * STEPS * KINDS; i++)
        l->errors[i] = rf32_nan();
}

static void compare_trials(const device_unit *unit, const rf_simulation *simulation, const char *what)
{
    static left got, right;
    char error[200] = "";
    watcher w = {.left = &right};
    rf_session *session = rf_session_open(&simulation->config, error, sizeof error);
    assert_non_null(session);
    rf_judging_begin(&w.judging, simulation);
    forget(&got);
    forget(&right);
    assert_int_equal(rf_simulate(simulation, 0, TRIALS, watch, &w), RF_OK);
    rf_device_trials all = {.simulation = simulation,
                            .problem = session->problem,
                            .judging = &w.judging,
                            .totals = &got.totals,
                            .trials = TRIALS,
                            .errors = got.errors};
    rf_device_trials_tell(&all, session);
    for (uint32_t i = 0; i < TRIALS; i++) {
        all.first = i;
        all.sums = &got.sums[i * (w.judging.dim + 1)];
        assert_int_equal(unit->trial(&all, 0), RF_OK);
    }
    rf_session_close(session);
    assert_int_equal(right.totals.finished, TRIALS);
    for (unsigned kind = 0; kind <= w.judging.dim; kind++)
        assert_true(right.totals.counted[kind] > 0);
    if (memcmp(&got, &right, sizeof got) != 0)
        fail_msg("%s, %s: trials differ", unit->model, what);
}

/* Models with expected outcomes. */
extern const rf32_instance rf32_model_t1_counts, rf32_model_peak;
extern const rf64_instance rf64_model_t1_counts, rf64_model_peak;
static const rf_model examples[] = {{&rf32_model_t1_counts, &rf64_model_t1_counts}, {&rf32_model_peak, &rf64_model_peak}};

static const rf_model *find_model(const char *name)
{
    for (unsigned i = 0; i < sizeof examples / sizeof *examples; i++)
        if (strcmp(examples[i].f64->description->name, name) == 0)
            return &examples[i];
    return rf_model_find(name);
}

/* Every world, design and policy that a GPU supports. */
static void check_trials(const device_unit *unit)
{
    const rf_model *model = find_model(unit->model);
    const rf_simulation plain = {.config = rf_config_default(model), .steps = STEPS, .batch = 1};
    const double far = 4 * plain.config.drift[0] + 0.3;
    const int is_expected = model != rf_model_find(unit->model); /* these have other outcomes, all else is equal */
    const long steps = is_expected ? 26 : STEPS, part = steps / 13;
    rf_simulation s = plain;
    s.steps = steps;
    compare_trials(unit, &s, "as it is");
    s.world.jumps = 2;
    s.world.jump[0] = (rf_jump){.parameter = 0, .low = far, .high = far, .at = 2 * part};
    s.world.jump[1] = (rf_jump){.parameter = 0, .low = far, .high = 2 * far, .every = 5 * part};
    s.world.outages = 3;
    s.world.outage[0] = (rf_outage){.kind = RF_OUTAGE_STUCK, .flips = 0.02, .at = 4 * part, .length = 3 * part};
    s.world.outage[1] = (rf_outage){.kind = RF_OUTAGE_COIN, .at = 8 * part, .length = part};
    s.world.outage[2] = (rf_outage){.kind = RF_OUTAGE_MISSING, .at = 10 * part, .length = part};
    s.world.flips = 0.02;
    s.world.blind = 0.05;
    s.world.decay = 0.001;
    s.world.has_drift = s.world.has_truth = 1;
    s.world.drift[0] = 2 * plain.config.drift[0];
    s.world.truth[0] = plain.config.prior[0];
    compare_trials(unit, &s, "in a bad world");
    if (is_expected)
        return;
    s.config.learns_drift = 1;
    s.config.drift[0] = rf64_max(s.config.drift[0], 0.01); /* a parameter that stands still has none to learn */
    s.config.on_lost = RF_ON_LOST_WIDEN;
    s.config.seed = 7;
    compare_trials(unit, &s, "with a drift to learn");
    s = plain;
    s.batch = 3;
    s.steps = 100;
    compare_trials(unit, &s, "three at a time");
    s = plain;
    memset(s.config.drift, 0, sizeof s.config.drift);
    compare_trials(unit, &s, "at rest");
    s = plain;
    s.config.design = "pgh";
    s.config.on_lost = RF_ON_LOST_IGNORE;
    s.is_truth_gaussian = 1;
    compare_trials(unit, &s, "by guesses");
    s = plain;
    s.config.design = "risk";
    s.config.anchor_every = 7;
    s.steps = 60;
    compare_trials(unit, &s, "by risk");
}

/* ---- All units ---- */

static void units_have_the_same_bits(void **state)
{
    (void)state;
    const rf32_device_library in_float = {&rf32_serial,        rf32_tally_clear, rf32_filter_init,
                                          rf32_filter_restore, rf32_filter_mean, rf32_update};
    const rf64_device_library in_double = {&rf64_serial,        rf64_tally_clear, rf64_filter_init,
                                           rf64_filter_restore, rf64_filter_mean, rf64_update};
    for (char **path = units; *path; path++) {
        char error[300] = "";
        void *library = dlopen(*path, RTLD_NOW | RTLD_LOCAL);
        const device_unit *unit = library ? dlsym(library, "unit") : NULL;
        if (!unit)
            fail_msg("%s", dlerror());
        if (unit->trial)
            check_trials(unit);
        if ((unit->check32 && unit->check32(&in_float, error, sizeof error) < 0) ||
            (unit->check64 && unit->check64(&in_double, error, sizeof error) < 0))
            fail_msg("%s", error);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(units_have_the_same_bits)};
    units = arguments + 1;
    return count > 1 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
