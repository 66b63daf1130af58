#include "runs.h"

rf_simulation runs_ordinary(const char *model, long steps, uint64_t seed) { return runs_of(rf_model_find(model), steps, seed); }

rf_simulation runs_of(const rf_model *model, long steps, uint64_t seed)
{
    rf_simulation run = {.config = rf_config_default(model), .steps = steps, .batch = 1};
    run.config.seed = seed;
    run.config.attempts = 100;
    run.config.sampler = RF_REJECT;
    return run;
}

rf_simulation runs_paper(const char *model, long steps, uint64_t seed)
{
    rf_simulation run = runs_ordinary(model, steps, seed);
    run.config.design = "pgh";
    run.config.strict = 1;
    run.config.on_lost = RF_ON_LOST_IGNORE;
    return run;
}

uint64_t runs_seed(const rf_simulation *run, uint32_t trial)
{
    rf_words w = rf_draw(run->config.seed, trial, 0, 0, RF_FOR_USER);
    return (uint64_t)w.word[1] << 32 | w.word[0];
}
