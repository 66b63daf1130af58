/* Simulations: a world, and a session that follows it. */
#include "world.h"

#include <time.h>

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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
    rf_worldly w;
    rf_status status = RF_OK;
    rf_world_begin(&w, simulation, session, rf_session_seed(config.seed, trial));
    for (long k = 0; k < simulation->steps && status >= 0 && !*is_over;) {
        const long left = simulation->steps - k;
        const uint32_t count = left < (long)simulation->batch ? (uint32_t)left : simulation->batch;
        rf_step step;
        status = rf_session_ask(session, count, records);
        if (status < 0)
            break;
        rf_world_measure(&w, k, count, records);
        const double begin = now();
        status = rf_session_tell(session, records, count, &step);
        if (status < 0)
            break;
        step.seconds = now() - begin;
        k += count;
        rf_session_show_chart_truth(session, w.truth, &step);
        step.events = w.events;
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
