/* Simulations: a world, and a session that follows it. */
#include "world.h"

#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Memory of a trial; too large for small stacks. */
typedef struct trying {
    rf_config config;
    rf_worldly world;
    rf_record records[RF_ASK_MAX];
    rf_step step;
} trying;

static rf_status run_trial(const rf_simulation *simulation, uint32_t trial, trying *t, rf_observer *observer,
                           void *user, int *is_over)
{
    char error[8];
    t->config = simulation->config;
    t->config.trial = trial;
    rf_session *session = rf_session_open(&t->config, error, sizeof error);
    if (!session)
        return RF_REFUSED_ENGINE;
    rf_status status = RF_OK;
    rf_world_begin(&t->world, simulation, session, rf_session_seed(t->config.seed, trial));
    for (long k = 0; k < simulation->steps && status >= 0 && !*is_over;) {
        const rf_status count = rf_world_ask(&t->world, session, k, t->records);
        const double begin = now();
        status = count < 0 ? count : rf_session_tell(session, t->records, (uint32_t)count, &t->step);
        if (status < 0)
            break;
        t->step.seconds = now() - begin;
        k += count;
        rf_world_show(&t->world, &t->step);
        *is_over = observer(user, trial, &t->step) != 0;
    }
    rf_session_close(session);
    return status < 0 ? status : RF_OK;
}

rf_status rf_simulate(const rf_simulation *simulation, uint32_t first, uint32_t count, rf_observer *observer,
                      void *user)
{
    trying *t = malloc(sizeof *t);
    rf_status status = t ? RF_OK : RF_REFUSED_ENGINE;
    int is_over = 0;
    for (uint32_t i = 0; i < count && status >= 0 && !is_over; i++)
        status = run_trial(simulation, first + i, t, observer, user, &is_over);
    free(t);
    return status;
}
