/* Can a session be opened with this configuration? */
#include <string.h>

#include "beliefs.h"
#include "engine.h"
#include "options.h"
#include "session_state.h"

static int is_least(double value, double least) { return value >= least && value <= RF64_LIMIT; }

/* A name must end; a text that does not is read no further than this. */
static int is_name(const char *name) { return !name || (*name && memchr(name, '\0', RF_NAME_MAX + 1)); }

static int refuse_model(const rf_model *model, int is_float, char *error, size_t size)
{
    if (!model || !model->f64)
        return rf_fail(error, size, "there is no model: begin with rf_config_default, with a model that was found");
    if (model->f64->layout != RF64_LAYOUT || (model->f32 && model->f32->layout != RF32_LAYOUT))
        return rf_fail(error, size, "the model was compiled with headers of another version: compile it again");
    if (!model->f64->description || (!model->f64->likelihood && !model->f64->block))
        return rf_fail(error, size, "the model has no description, or no likelihood");
    if (is_float && (!model->f32 || (!model->f32->likelihood && !model->f32->block)))
        return rf_fail(error, size, "model %.40s has no code in float: compute in double", model->f64->description->name);
    return 0;
}

static int refuse_description(const rf_description *d, const rf_description *of, char *error, size_t size)
{
    if (d->dim != of->dim || d->settings != of->settings || d->outcomes != of->outcomes)
        return rf_fail(error, size, "the description has other parameters, settings or outcomes than the model");
    if (d->dim < 1 || d->dim > RF_DESCRIBED_MAX || d->settings > RF_DESCRIBED_MAX)
        return rf_fail(error, size, "a model has 1 to %u parameters and at most %u settings", RF_DESCRIBED_MAX, RF_DESCRIBED_MAX);
    if (!d->name)
        return rf_fail(error, size, "the model has no name");
    for (unsigned i = 0; i < d->settings; i++) {
        const rf_setting *s = &d->setting[i];
        const int has_parameter = s->role == RF_SETTING_TIME || s->role == RF_SETTING_GUESS;
        if (!s->name || (unsigned)s->role > RF_SETTING_GUESS || (has_parameter && s->parameter >= d->dim))
            return rf_fail(error, size, "setting %u of %.40s has no name, no role, or no such parameter", i, d->name);
        if (!is_least(s->cost, 0))
            return rf_fail(error, size, "cost: that of setting %.40s is %g; it must be 0 or more", s->name, s->cost);
        if (!rf64_is_finite(s->low) || (s->role != RF_SETTING_FIXED && s->role != RF_SETTING_GUESS && !(s->high >= s->low)))
            return rf_fail(error, size, "range: setting %.40s from %g to %g", s->name, s->low, s->high);
    }
    return 0;
}

static int refuse_motion(const rf_motion *m, double drift)
{
    const int is_reverting = m->kind == RF_MOTION_REVERTING && !(rf64_is_finite(m->centre) && is_least(m->sd, 0) && m->time > 0);
    const int is_telegraph = m->kind == RF_MOTION_TELEGRAPH && !(rf64_is_finite(m->level[0]) && rf64_is_finite(m->level[1]) && m->dwell[0] > 0 && m->dwell[1] > 0);
    return !is_least(drift, 0) || (unsigned)m->kind > RF_MOTION_TELEGRAPH || is_reverting || is_telegraph;
}

static int refuse_parameters(const rf_config *config, char *error, size_t size)
{
    const rf_description *d = &config->description;
    for (unsigned i = 0; i < d->dim; i++)
        if (!d->parameter[i].name || (unsigned)d->parameter[i].chart > RF_PERIODIC)
            return rf_fail(error, size, "parameter %u of %.40s has no name or no chart", i, d->name);
    if (rf_check_priors(config, error, size) < 0)
        return -1;
    for (unsigned i = 0; i < d->dim; i++)
        if (refuse_motion(&config->motion[i], config->drift[i]))
            return rf_fail(error, size, "drift of %.40s: a number is negative or not finite, or there is no such motion", d->parameter[i].name);
    return 0;
}

int rf_config_refuse(const rf_config *config, char *error, size_t size)
{
    if (!config)
        return rf_fail(error, size, "there is no configuration: begin with rf_config_default");
    if (refuse_model(config->model, config->is_float, error, size) < 0 ||
        refuse_description(&config->description, config->model->f64->description, error, size) < 0 || refuse_parameters(config, error, size) < 0)
        return -1;
    if (!is_name(config->belief) || !is_name(config->design))
        return rf_fail(error, size, "a belief's or a design's name is empty, or longer than %u characters", RF_NAME_MAX);
    if (config->belief && !config->own && !rf_belief_kind_find(config->belief, error, size))
        return -1;
    if (config->design && !rf64_design_find(config->design, &config->description, config->model->f64->design))
        return rf_fail(error, size, "there is no design '%.40s' for model %s", config->design, config->description.name);
    if (config->attempts < 1 || config->attempts > RF_ATTEMPTS_MAX)
        return rf_fail(error, size, "attempts: %u; an update makes 1 to %u", config->attempts, RF_ATTEMPTS_MAX);
    if ((unsigned)config->sampler > RF_WEIGHT || (config->strict && config->sampler != RF_REJECT))
        return rf_fail(error, size, "sampler: there is no number %d, or strict allows only RF_REJECT", (int)config->sampler);
    if (!is_least(config->kappa, 0) || !is_least(config->recovery, 0) || !is_least(config->shrink, 0))
        return rf_fail(error, size, "kappa, recovery and shrink must be 0 or more, and finite");
    if ((unsigned)config->on_lost > RF_ON_LOST_WATCH || config->anchor_every < -1 || config->anchor_every > INT32_MAX)
        return rf_fail(error, size, "on_lost has no number %d, or anchor_every is not -1 to 2^31 - 1", (int)config->on_lost);
    return 0;
}
