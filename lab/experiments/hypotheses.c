#include "hypotheses.h"

#include <string.h>

#include "grid.h"
#include "runs.h"

enum { POINTS = 16384 };

cli_run hypothesis_run(hypothesis h, uint64_t seed, const rf_engine *engine)
{
    cli_run run = runs_ordinary(h.model, 0, seed);
    run.engine = engine;
    run.drift[0] = h.drift;
    return run;
}

int hypothesis_simulate(hypothesis truth, hypothesis believed, const char *design, uint64_t seed, const rf_engine *engine,
                        uint32_t count, hypothesis_record records[])
{
    cli_run world = hypothesis_run(truth, seed, engine), belief = hypothesis_run(believed, seed, engine);
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    rf64_tracker tracker;
    rf64_chart chart[RF_NAMES_MAX];
    belief.design = design;
    rf64_instance_model(world.model->f64, chart);
    if (rf64_simulate_open(&belief, seed, memory, sizeof memory, &tracker) < 0)
        return -1;
    rf_words w = rf_draw(seed, 0, 0, 1, RF_FOR_TRUTH);
    double x = world.prior[0].first + (world.prior[0].second - world.prior[0].first) * rf64_uniform(w.word[2]);
    double y = rf64_chart_coordinate(chart, x);
    for (uint32_t k = 0; k < count; k++) {
        double told[RF_NAMES_MAX + 1], z, other;
        if (k > 0) {
            w = rf_draw(seed, k, 0, 0, RF_FOR_TRUTH);
            rf64_normal_pair(w.word[0], w.word[1], &z, &other);
            y += world.drift[0] * z;
            rf64_track_pass(&tracker, 1);
        }
        x = rf64_chart_natural(chart, y);
        rf64_track_ask(&tracker, records[k].setting);
        records[k].outcome = rf64_instance_outcome(world.model->f64, &x, records[k].setting, seed, k);
        memcpy(told, records[k].setting, sizeof records[k].setting);
        told[tracker.model.settings] = records[k].outcome;
        if (rf64_track_tell(&tracker, told, 1, rf_engine_f64(engine), NULL) < 0)
            return -1;
    }
    return 0;
}

/* A record as a model takes it: the coin has no settings. */
static const double *for_model(const cli_run *run, const hypothesis_record *r, double own[RF_NAMES_MAX + 1])
{
    memcpy(own, r->setting, run->about.settings * sizeof own[0]);
    own[run->about.settings] = r->outcome;
    return own;
}

int hypothesis_exact(const cli_run *run, const hypothesis_record records[], uint32_t count, double *log_evidence)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    rf64_tracker prior;
    double own[RF_NAMES_MAX + 1];
    if (rf64_simulate_open(run, 0, memory, sizeof memory, &prior) < 0)
        return -1;
    prior.model.charts = prior.charts;
    grid *g = grid_create(&prior.model, POINTS);
    if (!g || grid_prior_gaussian(g, prior.prior_mean[0], prior.prior_sd[0] * prior.prior_sd[0]) < 0) {
        grid_free(g);
        return -1;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (k > 0)
            grid_diffuse(g, run->drift[0] * run->drift[0]);
        grid_update(g, for_model(run, &records[k], own));
    }
    *log_evidence = grid_log_evidence(g);
    grid_free(g);
    return 0;
}

int hypothesis_score(const cli_run *run, const hypothesis_record records[], uint32_t count, uint32_t registers, cli_score scores[])
{
    rf_status status;
    double own[RF_NAMES_MAX + 1];
    cli_scorer *s = rf64_score_open(run, registers, &status);
    for (uint32_t k = 0; k < count && status >= 0; k++)
        status = rf64_score_learn(s, for_model(run, &records[k], own), 1, k > 0);
    if (status >= 0)
        memcpy(scores, rf64_score_read(s), registers * sizeof scores[0]);
    rf64_score_close(s);
    return status < 0 ? -1 : 0;
}
