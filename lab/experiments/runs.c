#include "runs.h"

cli_run runs_ordinary(const char *model, long steps, uint64_t seed)
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

cli_run runs_paper(const char *model, long steps, uint64_t seed)
{
    cli_run run = runs_ordinary(model, steps, seed);
    run.design = "pgh";
    run.strict = 1;
    run.on_lost = RF_ON_LOST_IGNORE;
    return run;
}

uint64_t runs_seed(const cli_run *run, uint32_t trial)
{
    rf_words w = rf_draw(run->seed, trial, 0, 0, RF_FOR_USER);
    return (uint64_t)w.word[1] << 32 | w.word[0];
}
