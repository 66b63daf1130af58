/* Simulations: a world, and a session that follows it. */
#include "world.h"

#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "engine.h"

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
        const double begin = rf_clock_seconds();
        status = count < 0 ? count : rf_session_tell(session, t->records, (uint32_t)count, &t->step);
        if (status < 0)
            break;
        t->step.seconds = rf_clock_seconds() - begin;
        k += count;
        rf_world_show(&t->world, &t->step);
        *is_over = observer(user, trial, &t->step) != 0;
    }
    rf_session_close(session);
    return status < 0 ? status : RF_OK;
}

/* Is a truth, or the mean of its distribution, in its chart? A range may end where the chart does. */
static int is_in_chart(const rf64_chart *chart, const rf_prior *truth)
{
    if (truth->is_gaussian)
        return rf64_is_finite(rf64_chart_coordinate(chart, truth->first));
    return chart->kind == RF_POSITIVE ? truth->first >= 0 : chart->kind != RF_BOUNDED || (truth->first >= chart->low && truth->second <= chart->high);
}

static int is_outcome(unsigned outcomes, double outcome)
{
    const unsigned fixed = rf_outcomes_fixed(outcomes);
    return !rf_outcomes_are_whole(outcomes) || (outcome >= 0 && outcome == floor(outcome) && !(fixed > 0 && outcome >= fixed));
}

int rf_simulation_check(const rf_simulation *simulation, char *error, size_t size)
{
    if (!simulation)
        return rf_fail(error, size, "there is no simulation");
    const rf_description *d = &simulation->config.description;
    const rf_world *world = &simulation->world;
    const long steps = simulation->steps;
    rf_problem problem;
    if (rf_config_refuse(&simulation->config, error, size) < 0)
        return -1;
    if (steps < 1 || (unsigned long)steps >= UINT32_MAX)
        return rf_fail(error, size, "steps: %ld; a simulation has 1 to 2^32 - 2", steps);
    if (simulation->batch < 1 || simulation->batch > RF_ASK_MAX)
        return rf_fail(error, size, "batch: %u; an update has 1 to %d measurements", simulation->batch, RF_ASK_MAX);
    if (world->jumps > RF_EVENTS_MAX || world->outages > RF_EVENTS_MAX)
        return rf_fail(error, size, "there can be %d jumps and %d outages", RF_EVENTS_MAX, RF_EVENTS_MAX);
    for (uint32_t k = 0; k < world->jumps; k++)
        if (world->jump[k].parameter >= d->dim)
            return rf_fail(error, size, "jump: %s has no parameter number %u", d->name, world->jump[k].parameter);
    rf_session_settle(&problem, &simulation->config);
    for (unsigned i = 0; i < d->dim; i++)
        if (world->has_truth >> i & 1 && !is_in_chart(&problem.charts[i], &world->truth[i]))
            return rf_fail(error, size, "truth: parameter %s of %s cannot be there", d->parameter[i].name, d->name);
    for (uint32_t k = 0; k < world->jumps; k++)
        if (world->jump[k].every == 0 && world->jump[k].at >= steps)
            return rf_fail(error, size, "jump: measurement %ld is after the last, %ld", world->jump[k].at, steps - 1);
    for (uint32_t k = 0; k < world->outages; k++) {
        const rf_outage *outage = &world->outage[k];
        if (outage->at >= steps)
            return rf_fail(error, size, "outage: measurement %ld is after the last, %ld", outage->at, steps - 1);
        if (outage->kind == RF_OUTAGE_STUCK && !is_outcome(d->outcomes, outage->outcome))
            return rf_fail(error, size, "outage: %g is no outcome of %s", outage->outcome, d->name);
    }
    return 0;
}

rf_status rf_simulate(const rf_simulation *simulation, uint32_t first, uint32_t count, rf_observer *observer,
                      void *user)
{
    char reason[8];
    if (!simulation || !observer)
        return RF_REFUSED_NULL;
    if (rf_simulation_check(simulation, reason, sizeof reason) < 0)
        return RF_REFUSED_OPTIONS;
    if (count > 0 && first > UINT32_MAX - (count - 1))
        return RF_REFUSED_USED_UP;
    trying *t = malloc(sizeof *t);
    rf_status status = t ? RF_OK : RF_REFUSED_ENGINE;
    int is_over = 0;
    for (uint32_t i = 0; i < count && status >= 0 && !is_over; i++)
        status = run_trial(simulation, first + i, t, observer, user, &is_over);
    free(t);
    return status;
}
