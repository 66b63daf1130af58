/* Simulations: a truth that walks, and a session that follows it. */
#include "session_state.h"

#include <math.h>
#include <string.h>
#include <time.h>

typedef struct world {
    const rf_simulation *about;
    const rf_session *session;
    uint64_t seed;
    double truth[RF_NAMES_MAX]; /* in the chart */
} world;

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A truth from the prior itself, uniform or Gaussian in natural units; or from the Gaussian that the belief has for it.
 */
static void draw_truth(world *w)
{
    const rf_config *config = &w->about->config;
    double mean[RF_NAMES_MAX], covariance[RF_TRIANGLE(RF_NAMES_MAX)];
    w->session->belief->kind->moments(w->session->belief, mean, covariance);
    for (unsigned i = 0; i < config->description.dim; i++) {
        const rf_prior *prior = &config->prior[i];
        const rf_words words = rf_draw(w->seed, 0, i, 1, RF_FOR_TRUTH);
        double z, other, natural;
        rf64_normal_pair(words.word[0], words.word[1], &z, &other);
        if (prior->is_gaussian)
            natural = prior->first + prior->second * z;
        else
            natural = prior->first + (prior->second - prior->first) * rf64_uniform(words.word[2]);
        w->truth[i] = rf64_chart_coordinate(&w->session->problem.charts[i], natural);
        if (w->about->is_truth_gaussian ||
            !rf64_is_finite(w->truth[i])) /* the latter: a Gaussian draw outside the chart */
            w->truth[i] = mean[i] + w->session->prior_sd[i] * z;
    }
}

/* The truth's step before measurement number `shot`: the model's dynamics, or a walk; and now and then a jump. */
static void walk(world *w, uint32_t shot)
{
    const rf_config *config = &w->about->config;
    const unsigned dim = config->description.dim;
    double z[RF_NAMES_MAX], f[RF_NAMES_MAX * RF_NAMES_MAX], q[RF_NAMES_MAX * RF_NAMES_MAX],
        root[RF_TRIANGLE(RF_NAMES_MAX)];
    for (unsigned i = 0; i < dim; i++) {
        const rf_words words = rf_draw(w->seed, shot, i, 0, RF_FOR_TRUTH);
        double other;
        rf64_normal_pair(words.word[0], words.word[1], &z[i], &other);
    }
    if (config->model->f64->dynamics) {
        double moved[RF_NAMES_MAX];
        config->model->f64->dynamics(1, f, q);
        rf64_covariance_factor(q, dim, root);
        for (unsigned i = 0; i < dim; i++) {
            moved[i] = 0;
            for (unsigned j = 0; j < dim; j++)
                moved[i] += f[i * dim + j] * w->truth[j] + (j <= i ? root[RF_TRIANGLE(i) + j] * z[j] : 0);
        }
        memcpy(w->truth, moved, dim * sizeof moved[0]);
    } else {
        for (unsigned i = 0; i < dim; i++)
            w->truth[i] += config->drift[i] * z[i];
    }
    if (w->about->jump != 0 && shot == (uint32_t)w->about->jump_at)
        w->truth[0] += w->about->jump;
}

/* Measurements first .. first + count − 1: for each of them the world moves and answers. */
static void measure(world *w, long first, uint32_t count, rf_record records[])
{
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t shot = (uint32_t)first + k;
        double natural[RF_NAMES_MAX];
        if (shot > 0)
            walk(w, shot);
        for (unsigned i = 0; i < w->about->config.description.dim; i++)
            natural[i] = rf64_chart_natural(&w->session->problem.charts[i], w->truth[i]);
        records[k].outcome =
            rf64_instance_outcome(w->about->config.model->f64, natural, records[k].setting, w->seed, shot);
    }
}

static rf_status run_trial(const rf_simulation *simulation, uint32_t trial, rf_observer *observer, void *user,
                           int *is_over)
{
    rf_config config = simulation->config;
    char error[8];
    config.trial = trial;
    rf_session *session = rf_session_open(&config, error, sizeof error);
    if (!session)
        return RF_REFUSED_ENGINE;
    rf_record records[RF_ASK_MAX];
    world w = {.about = simulation, .session = session, .seed = rf_session_seed(config.seed, trial)};
    rf_status status = RF_OK;
    draw_truth(&w);
    for (long k = 0; k < simulation->steps && status >= 0 && !*is_over;) {
        const long left = simulation->steps - k;
        const uint32_t count = left < (long)simulation->batch ? (uint32_t)left : simulation->batch;
        rf_step step;
        status = rf_session_ask(session, count, records);
        if (status < 0)
            break;
        measure(&w, k, count, records);
        const double begin = now();
        status = rf_session_tell(session, records, count, &step);
        if (status < 0)
            break;
        step.seconds = now() - begin;
        k += count;
        rf_session_show_chart_truth(session, w.truth, &step);
        *is_over = observer(user, trial, &step) != 0;
    }
    rf_session_close(session);
    return status < 0 ? status : RF_OK;
}

rf_status rf_simulate(const rf_simulation *simulation, uint32_t first, uint32_t count, rf_observer *observer,
                      void *user)
{
    rf_status status = RF_OK;
    int is_over = 0;
    for (uint32_t i = 0; i < count && status >= 0 && !is_over; i++)
        status = run_trial(simulation, first + i, observer, user, &is_over);
    return status;
}
