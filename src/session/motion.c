/* Motion of beliefs with time: random walks, mean reversion, telegraph switching. Also compiled for GPUs. */
#include "session_state.h"

#include <math.h>

#include "common.h"

#define LEVEL_SD 0.05 /* sd of a level at the start, in the chart; records then narrow it */

int rf_motion_make(const rf_parameter *parameter, rf_motion_kind kind, const double levels[2], const double times[2],
                   rf_motion *motion, double *drift)
{
    if (!parameter || !levels || !times || !motion || !drift || (kind != RF_MOTION_REVERTING && kind != RF_MOTION_TELEGRAPH))
        return -1;
    const rf64_chart chart = {parameter->chart, parameter->low, parameter->high};
    const int is_reverting = kind == RF_MOTION_REVERTING;
    rf_motion made = {.kind = kind};
    const double other = is_reverting ? levels[1] : times[1];
    if (!(times[0] > 0 && other > 0) || isinf(times[0]) || isinf(other))
        return -1;
    for (unsigned k = 0; k < 2; k++) {
        made.level[k] = rf64_chart_coordinate(&chart, levels[is_reverting ? 0 : k]);
        made.dwell[k] = times[is_reverting ? 0 : k];
    }
    if (!rf64_is_finite(made.level[0]) || !rf64_is_finite(made.level[1]) ||
        (!is_reverting && made.level[0] == made.level[1]))
        return -2;
    made.centre = made.level[0];
    made.sd = is_reverting ? levels[1] : 0;
    made.time = times[0];
    *motion = made;
    *drift = made.sd * sqrt(-expm1(-2 / made.time)); /* of one step */
    return 0;
}

void rf_motion_revert(const rf_motion *motion, double elapsed, double *f, double *q, double *shift)
{
    *f = rf64_exp(-elapsed / motion->time);
    *q = motion->sd * motion->sd * -expm1(-2 * elapsed / motion->time);
    *shift = motion->centre * -expm1(-elapsed / motion->time);
}

void rf_motion_switch(const rf_motion *motion, double elapsed, double chance[2])
{
    const double rate = 1 / motion->dwell[0] + 1 / motion->dwell[1], gone = -expm1(-rate * elapsed) / rate;
    for (unsigned k = 0; k < 2; k++)
        chance[k] = gone / motion->dwell[k];
}

static rf_status switch_levels(const rf_session *s, rf_belief *belief, double elapsed)
{
    rf_status status = RF_OK;
    for (unsigned i = 0; i < s->model.dim && status >= 0; i++) {
        const rf_motion *motion = &s->config->motion[i];
        double chance[2];
        if (RF_MOTION_KIND(motion) != RF_MOTION_TELEGRAPH)
            continue;
        rf_motion_switch(motion, elapsed, chance);
        status = rf_kind_of(belief)->telegraph ? rf_kind_of(belief)->telegraph(belief, i, motion->level, chance)
                                               : RF_REFUSED_OPTIONS;
    }
    return status;
}

int rf_motion_is_still(const rf_config *config, unsigned i)
{
    return !rf_instance_of(config)->dynamics && RF_MOTION_KIND(&config->motion[i]) == RF_MOTION_WALK && !(config->drift[i] > 0);
}

int rf_motion_all_still(const rf_config *config, unsigned dim)
{
    int all = 1;
    for (unsigned i = 0; i < dim; i++)
        all &= rf_motion_is_still(config, i);
    return all;
}

RF_APART rf_status rf_motion_begin(const rf_session *s, rf_belief *belief)
{
    double mean[RF_ROOM], covariance[RF_TRIANGLE(RF_ROOM)], sd[RF_ROOM];
    int any = 0;
    rf_kind_of(belief)->moments(belief, mean, covariance);
    for (unsigned i = 0; i < s->model.dim; i++) {
        const rf_motion *motion = &s->config->motion[i];
        const int is_telegraph = RF_MOTION_KIND(motion) == RF_MOTION_TELEGRAPH;
        any |= is_telegraph;
        mean[i] = is_telegraph ? motion->level[0] : mean[i];
        sd[i] = is_telegraph ? LEVEL_SD : rf64_sqrt(covariance[RF_TRIANGLE(i) + i]);
    }
    const rf_status status = any ? rf_belief_place(belief, mean, sd) : RF_OK;
    return status < 0 ? status : switch_levels(s, belief, HUGE_VAL);
}

RF_APART rf_status rf_session_drift(const rf_session *s, rf_belief *belief, double elapsed)
{
    const unsigned dim = s->model.dim;
    double f[RF_ROOM * RF_ROOM], q[RF_ROOM * RF_ROOM], shift[RF_ROOM];
    int any = 0, is_drawn = 0, is_still = 1;
    if (!(elapsed >= 0) || !rf64_is_finite(elapsed))
        return RF_REFUSED_TIME;
    for (unsigned i = 0; i < dim; i++)
        is_still &= RF_MOTION_KIND(&s->config->motion[i]) == RF_MOTION_WALK && s->config->drift[i] == 0;
    if (is_still && !rf_instance_of(s->config)->dynamics)
        return RF_OK;
    for (unsigned i = 0; i < dim; i++)
        shift[i] = 0;
    for (unsigned i = 0; i < dim * dim; i++)
        f[i] = q[i] = 0;
    if (rf_instance_of(s->config)->dynamics) {
        rf_instance_of(s->config)->dynamics(elapsed, f, q);
        return rf_kind_of(belief)->pass(belief, f, q, elapsed);
    }
    if (elapsed == 0)
        return RF_OK;
    for (unsigned i = 0; i < dim; i++)
        is_drawn |= RF_MOTION_KIND(&s->config->motion[i]) == RF_MOTION_REVERTING;
    for (unsigned i = 0; i < dim; i++) {
        const rf_motion *motion = &s->config->motion[i];
        const double drift = RF_MOTION_KIND(motion) == RF_MOTION_TELEGRAPH ? 0 : rf_learning_drift(s, i);
        f[i * dim + i] = 1;
        q[i * dim + i] = drift * drift * (is_drawn ? elapsed : 1);
        if (RF_MOTION_KIND(motion) == RF_MOTION_REVERTING)
            rf_motion_revert(motion, elapsed, &f[i * dim + i], &q[i * dim + i], &shift[i]);
        any |= q[i * dim + i] > 0;
    }
    rf_status status = any ? rf_kind_of(belief)->pass(belief, is_drawn ? f : NULL, q, elapsed) : RF_OK;
    if (status >= 0 && is_drawn)
        status = rf_kind_of(belief)->shift(belief, shift);
    return status < 0 ? status : switch_levels(s, belief, elapsed);
}
