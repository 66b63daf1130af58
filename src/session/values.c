/* Values of options that are about parameters and settings: from text, and back. */
#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beliefs.h"
#include "fail.h"
#include "session_state.h"
#include "text.h"

const char *const rf_chart_names[] = {"real", "positive", "bounded", "periodic", NULL};

int rf_parse_whose(const rf_description *description, int is_setting, const char *text, unsigned *first, unsigned *last,
                   const char **rest, char *error, size_t size)
{
    const unsigned all = is_setting ? description->settings : description->dim;
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : 0;
    char names[256] = "";
    *first = 0;
    *last = all;
    *rest = equals ? equals + 1 : text;
    for (unsigned i = 0; i < all && equals; i++) {
        const char *name = is_setting ? description->setting[i].name : description->parameter[i].name;
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s", name);
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            *first = i;
            *last = i + 1;
            return 0;
        }
    }
    return equals ? rf_fail(error, size, "no %s '%.*s' in model %s; it has%s", is_setting ? "setting" : "parameter",
                            (int)length, text, description->name, all ? names : " none")
                  : 0;
}

int rf_parse_pair(const char *text, int gaussian, double *first, double *second, char *error, size_t size)
{
    char left[64];
    const char *mark = gaussian ? strstr(text, "+-") : NULL, *at = mark ? mark : strchr(text, ':');
    const size_t length = at ? (size_t)(at - text) : 0;
    snprintf(left, sizeof left, "%.*s", (int)length, text);
    if (at && length < sizeof left && rf_parse_real(left, -1e15, 1e15, first, error, size) == 0 &&
        rf_parse_real(at + (mark ? 2 : 1), -1e15, 1e15, second, error, size) == 0)
        return mark ? '+' : ':';
    rf_fail(error, size, "'%s' is %s, numbers within 1e15", text,
            gaussian ? "neither LOW:HIGH nor MEAN+-SD" : "not LOW:HIGH");
    return 0;
}

int rf_parse_prior(const char *text, rf_prior *prior, char *error, size_t size)
{
    const int mark = rf_parse_pair(text, 1, &prior->first, &prior->second, error, size);
    if (!mark)
        return -1;
    prior->is_gaussian = mark == '+';
    if (prior->is_gaussian ? prior->second > 0 : prior->second > prior->first)
        return 0;
    return rf_fail(error, size,
                   prior->is_gaussian ? "the standard deviation in '%s' is not positive" : "'%s' is an empty range",
                   text);
}

int rf_set_prior(rf_config *c, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    rf_prior prior;
    if (rf_parse_whose(&c->description, 0, text, &first, &last, &rest, error, size) < 0 ||
        rf_parse_prior(rest, &prior, error, size) < 0)
        return -1;
    for (unsigned i = first; i < last; i++)
        c->prior[i] = prior;
    return 0;
}

/* "A:B", or one number for both. */
static int parse_two(const char *text, double two[2], char *error, size_t size)
{
    if (strchr(text, ':'))
        return rf_parse_pair(text, 0, &two[0], &two[1], error, size) ? 0 : -1;
    const int status = rf_parse_real(text, -1e15, 1e15, &two[0], error, size);
    two[1] = two[0];
    return status;
}

/* "CENTRE+-SD~TIME" or "A:B~DWELL". */
static int parse_motion(const rf_parameter *p, const char *text, rf_motion *motion, double *drift, char *error,
                        size_t size)
{
    const char *tilde = text + strcspn(text, "~");
    char what[64];
    double times[2] = {0, 0}, levels[2] = {0, 0};
    snprintf(what, sizeof what, "%.*s", (int)(tilde - text), text);
    const int mark =
        (size_t)(tilde - text) < sizeof what ? rf_parse_pair(what, 1, &levels[0], &levels[1], error, size) : 0;
    const int is_read =
        mark && *tilde && parse_two(tilde + 1, times, error, size) == 0 && (mark == ':' || times[0] == times[1]);
    const int status = is_read ? rf_motion_make(p, mark == '+' ? RF_MOTION_REVERTING : RF_MOTION_TELEGRAPH, levels,
                                                times, motion, drift)
                               : -1;
    if (status == -1)
        return rf_fail(error, size, "'%s' is neither CENTRE+-SD~TIME nor LEVEL:LEVEL~DWELL, with times > 0", text);
    if (status < 0 && mark == ':' && levels[0] == levels[1])
        return rf_fail(error, size, "the levels '%s' are the same", what);
    return status < 0 ? rf_fail(error, size, "'%s' is not within the chart of %s", what, p->name) : 0;
}

int rf_set_drift(rf_config *c, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    if (strcmp(text, "learn") == 0) {
        c->learns_drift = 1;
        return 0;
    }
    if (rf_parse_whose(&c->description, 0, text, &first, &last, &rest, error, size) < 0)
        return -1;
    const int is_walk = !strpbrk(rest, "~:") && !strstr(rest, "+-");
    rf_motion motion[RF_DESCRIBED_MAX];
    double drift[RF_DESCRIBED_MAX];
    for (unsigned i = first; i < last; i++) {
        motion[i] = (rf_motion){.kind = RF_MOTION_WALK};
        if ((is_walk ? rf_parse_real(rest, 0, 1e9, &drift[i], error, size)
                     : parse_motion(&c->description.parameter[i], rest, &motion[i], &drift[i], error, size)) < 0)
            return -1;
        if (c->model->f64->dynamics && (drift[i] > 0 || motion[i].kind != RF_MOTION_WALK))
            return rf_fail(error, size, "model %s moves by its own dynamics", c->description.name);
    }
    for (unsigned i = first; i < last; i++) {
        c->motion[i] = motion[i];
        c->drift[i] = drift[i];
    }
    return 0;
}

int rf_set_chart(rf_config *c, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    if (rf_parse_whose(&c->description, 0, text, &first, &last, &rest, error, size) < 0)
        return -1;
    const size_t length = strcspn(rest, ":");
    for (unsigned kind = 0; rf_chart_names[kind]; kind++) {
        double low = 0, high = 0;
        const int has_range = kind == RF_BOUNDED || kind == RF_PERIODIC;
        if (strlen(rf_chart_names[kind]) != length || strncmp(rest, rf_chart_names[kind], length) != 0)
            continue;
        if (has_range != (rest[length] == ':') ||
            (has_range && !rf_parse_pair(rest + length + 1, 0, &low, &high, error, size)))
            break;
        if (has_range && high <= low)
            return rf_fail(error, size, "'%s' is an empty range", rest);
        for (unsigned i = first; i < last; i++) {
            rf_parameter *p = &c->description.parameter[i];
            p->chart = (rf_chart_kind)kind;
            p->low = has_range ? low : p->low;
            p->high = has_range ? high : p->high;
        }
        return 0;
    }
    return rf_fail(error, size, "'%s' is none of real, positive, bounded:LOW:HIGH, periodic:LOW:HIGH", rest);
}

int rf_set_range(rf_config *c, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    double low, high;
    if (rf_parse_whose(&c->description, 1, text, &first, &last, &rest, error, size) < 0 ||
        !rf_parse_pair(rest, 0, &low, &high, error, size))
        return -1;
    for (unsigned i = first; i < last; i++) {
        const rf_setting *s = &c->description.setting[i];
        if (s->role == RF_SETTING_GUESS)
            return rf_fail(error, size, "%s is a guess of a parameter and has no range", s->name);
        if (high < low || (s->role == RF_SETTING_LOGRANGE && low <= 0) || (s->role == RF_SETTING_TIME && low < 0))
            return rf_fail(error, size, high < low ? "'%s' is an empty range" : "'%s' begins too low for this setting",
                           rest);
    }
    for (unsigned i = first; i < last; i++) {
        c->description.setting[i].low = low;
        c->description.setting[i].high = high;
    }
    return 0;
}

int rf_record_outside(const rf_description *d, const rf_record *record, char *text, size_t size)
{
    unsigned i = 0;
    while (i < d->settings && !rf_setting_is_outside(d, i, record->setting[i]))
        i++;
    if (i == d->settings || isnan(record->outcome))
        return 0;
    const rf_setting *s = &d->setting[i];
    int used = snprintf(text, size, "setting %s = %.15g is outside its range, %.15g", s->name, record->setting[i], s->low);
    if (s->role != RF_SETTING_FIXED)
        used += snprintf(text + used, size - (size_t)used, " to %.15g", s->high);
    snprintf(text + used, size - (size_t)used, "; learnt all the same");
    return 1;
}

int rf_set_cost(rf_config *c, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    double cost;
    if (rf_parse_whose(&c->description, 1, text, &first, &last, &rest, error, size) < 0 ||
        rf_parse_real(rest, 0, 1e9, &cost, error, size) < 0)
        return -1;
    for (unsigned i = first; i < last; i++)
        c->description.setting[i].cost = cost;
    return 0;
}

int rf_set_unit(rf_config *c, const char *text, char *error, size_t size)
{
    rf_description *d = &c->description;
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : 0;
    const char **to = length == 4 && strncmp(text, "time", 4) == 0 ? &d->time_unit : NULL;
    for (int is_setting = 0; is_setting < 2; is_setting++)
        for (unsigned i = 0; i < (is_setting ? d->settings : d->dim); i++) {
            const char *name = is_setting ? d->setting[i].name : d->parameter[i].name;
            if (equals && strlen(name) == length && strncmp(text, name, length) == 0)
                to = is_setting ? &d->setting_unit[i] : &d->unit[i];
        }
    if (!to)
        return rf_fail(error, size, "'%s' is not NAME=UNIT with a parameter or a setting of model %s, or time", text,
                       d->name);
    const rf_description before = *d;
    *to = equals[1] ? equals + 1 : NULL;
    for (unsigned i = 0; i < d->settings; i++) /* a guess has the unit of its parameter, unless it has one of its own */
        if (d->setting[i].role == RF_SETTING_GUESS && to == &d->unit[d->setting[i].parameter] && !d->setting_unit[i])
            d->setting_unit[i] = *to;
    const int status = rf_description_check(d, 1, d->name, error, size);
    if (status < 0)
        *d = before;
    return status;
}

int rf_check_priors(const rf_config *config, char *error, size_t size)
{
    rf_problem problem;
    rf_session_settle(&problem, config);
    for (unsigned i = 0; i < config->description.dim; i++) {
        double mean, variance;
        const rf_status status = rf_problem_prior(&problem, i, &mean, &variance);
        if (status < 0)
            return rf_fail(error, size, "prior: parameter %s: %s", config->description.parameter[i].name,
                           rf_status_text(status));
    }
    return 0;
}

void rf_chart_text(const rf_parameter *p, char *text, size_t size)
{
    char low[RF_REAL_TEXT], high[RF_REAL_TEXT];
    const int has_range = p->chart == RF_BOUNDED || p->chart == RF_PERIODIC;
    snprintf(text, size, has_range ? "%s:%s:%s" : "%s", rf_chart_names[p->chart], rf_real_text(p->low, low),
             rf_real_text(p->high, high));
}

void rf_drift_text(const rf_config *config, unsigned i, char *text, size_t size)
{
    const rf_parameter *p = &config->description.parameter[i];
    const rf64_chart chart = {p->chart, p->low, p->high};
    const rf_motion *m = &config->motion[i];
    char a[RF_REAL_TEXT], b[RF_REAL_TEXT], c[RF_REAL_TEXT], d[RF_REAL_TEXT];
    if (m->kind == RF_MOTION_WALK)
        snprintf(text, size, "%s", rf_real_text(config->drift[i], a));
    else if (m->kind == RF_MOTION_REVERTING)
        snprintf(text, size, "%s+-%s~%s", rf_real_text(rf64_chart_natural(&chart, m->centre), a),
                 rf_real_text(m->sd, b), rf_real_text(m->time, c));
    else
        snprintf(text, size, "%s:%s~%s:%s", rf_real_text(rf64_chart_natural(&chart, m->level[0]), a),
                 rf_real_text(rf64_chart_natural(&chart, m->level[1]), b), rf_real_text(m->dwell[0], c),
                 rf_real_text(m->dwell[1], d));
}
