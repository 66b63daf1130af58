#include "hypotheses.h"

#include <math.h>
#include <string.h>

#include "runs.h"

rf_simulation hypothesis_run(hypothesis h, uint64_t seed, const rf_engine *engine)
{
    rf_simulation run = runs_ordinary(h.model, 0, seed);
    run.config.engine = engine;
    run.config.drift[0] = h.drift;
    return run;
}

/* The world walks by one hypothesis; a session that assumes the other chooses the settings. */
int hypothesis_simulate(hypothesis truth, hypothesis believed, const char *design, uint64_t seed, const rf_engine *engine,
                        uint32_t count, rf_record records[])
{
    const rf_simulation world = hypothesis_run(truth, seed, engine);
    rf_simulation belief = hypothesis_run(believed, seed, engine);
    char error[200];
    rf64_chart chart[RF_DESCRIBED_MAX];
    belief.config.design = design;
    rf64_instance_model(world.config.model->f64, chart);
    rf_session *session = rf_session_open(&belief.config, error, sizeof error);
    if (!session)
        return -1;
    rf_words w = rf_draw(seed, 0, 0, 1, RF_FOR_TRUTH);
    double x = world.config.prior[0].first + (world.config.prior[0].second - world.config.prior[0].first) * rf64_uniform(w.word[2]);
    double y = rf64_chart_coordinate(chart, x);
    int result = 0;
    for (uint32_t k = 0; k < count && result == 0; k++) {
        double z, other;
        if (k > 0) {
            w = rf_draw(seed, k, 0, 0, RF_FOR_TRUTH);
            rf64_normal_pair(w.word[0], w.word[1], &z, &other);
            y += world.config.drift[0] * z;
        }
        x = rf64_chart_natural(chart, y);
        result = rf_session_ask(session, 1, &records[k]) < 0 ? -1 : 0;
        records[k].outcome = rf64_instance_outcome(world.config.model->f64, &x, records[k].setting, seed, k);
        if (result == 0 && rf_session_tell(session, &records[k], 1, NULL) < 0)
            result = -1;
    }
    rf_session_close(session);
    return result;
}

int hypothesis_exact(const rf_simulation *run, const rf_record records[], uint32_t count, double *log_evidence)
{
    rf_config config = run->config;
    const rf_prior box = config.prior[0];
    char error[200];
    rf_step step;
    config.belief = "grid:16384";
    config.design = NULL;
    config.on_lost = RF_ON_LOST_IGNORE;
    if (config.description.parameter[0].chart == RF_REAL) /* as the filter: Gaussian with the same moments */
        config.prior[0] = (rf_prior){1, 0.5 * (box.first + box.second), (box.second - box.first) / sqrt(12)};
    rf_session *session = rf_session_open(&config, error, sizeof error);
    int result = session ? 0 : -1;
    for (uint32_t k = 0; k < count && result == 0; k++)
        result = rf_session_tell(session, &records[k], 1, NULL) < 0 ? -1 : 0;
    if (session)
        rf_session_show(session, &step);
    *log_evidence = session ? step.log_evidence : NAN;
    rf_session_close(session);
    return result;
}

int hypothesis_score(const rf_simulation *run, const rf_record records[], uint32_t count, uint32_t repeats, cli_score scores[])
{
    char error[200];
    cli_scorer *s = cli_score_open(&run->config, repeats, error, sizeof error);
    rf_status status = s ? RF_OK : RF_REFUSED_ENGINE;
    for (uint32_t k = 0; k < count && status >= 0; k++)
        status = cli_score_learn(s, &records[k], 1);
    if (status >= 0)
        memcpy(scores, cli_score_read(s), repeats * sizeof scores[0]);
    cli_score_close(s);
    return status < 0 ? -1 : 0;
}
