#include "trials.h"

enum { AT_ONCE = RF_FLEET_LANES };

cli_run trials_ordinary(const char *model, long steps, uint64_t seed)
{
    const rf_model *found = rf_model_find(model);
    cli_run run = {.model = found, .about = *found->f64->about, .design = "auto", .seed = seed, .steps = steps, .batch = 1,
                   .attempts = 100, .kappa = 1, .recovery = 0.1, .anchor_every = -1};
    for (unsigned i = 0; i < run.about.dim; i++) {
        run.prior[i] = (cli_prior){0, run.about.parameter[i].low, run.about.parameter[i].high};
        run.drift[i] = run.about.parameter[i].drift;
    }
    return run;
}

cli_run trials_paper(const char *model, long steps, uint64_t seed)
{
    cli_run run = trials_ordinary(model, steps, seed);
    run.design = "pgh";
    run.strict = 1;
    run.on_lost = RF_ON_LOST_IGNORE;
    return run;
}

uint64_t trials_seed(const cli_run *run, uint32_t trial)
{
    rf_words w = rf_draw(run->seed, trial, 0, 0, RF_FOR_USER);
    return (uint64_t)w.word[1] << 32 | w.word[0];
}

typedef struct some {
    const cli_run *run;
    uint32_t trials;
    cli_observer *observer;
    void *user;
} some;

static int run_some(lab *l, void *context, uint32_t item, const rf_engine *engine)
{
    const some *s = context;
    const uint32_t first = item * AT_ONCE, left = s->trials - first;
    cli_run run = *s->run;
    run.engine = engine;
    rf_status status = rf64_simulate_trials(&run, first, left < AT_ONCE ? left : AT_ONCE, s->observer, s->user);
    return status < 0 ? lab_fail(l, "a run was refused: %s", rf_status_text(status)) : 0;
}

int trials_run(lab *l, const cli_run *run, uint32_t trials, cli_observer *observer, void *user)
{
    some s = {run, trials, observer, user};
    return lab_each(l, (trials + AT_ONCE - 1) / AT_ONCE, run_some, &s);
}
