#define _POSIX_C_SOURCE 200809L
#include "modelspec.h"

#include "checkpoint.h"
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Models ---- */

/* Loads a model from C source. If the compiler reports errors, they are printed unchanged after our own line. */
static int load(const char *command, const char *path, const rf_model **model)
{
    char error[8192];
    *model = rf_model_load(path, error, sizeof error);
    if (*model)
        return 0;
    char *rest = error + strcspn(error, "\n");
    if (*rest)
        *rest++ = '\0';
    cli_error("%s: --model: %s", command, error);
    fputs(rest, stderr);
    if (*rest)
        fputc('\n', stderr);
    return -1;
}

int cli_model_find(const char *command, const char *name, const rf_model **model, char *error, size_t size)
{
    const char *names[64] = {NULL}, *dot = strrchr(name, '.');
    if (strchr(name, '/') || (dot && strcmp(dot, ".c") == 0))
        return load(command, name, model);
    *model = rf_model_find(name);
    if (*model)
        return 0;
    for (unsigned i = 0; i < 63 && rf_model_at(i); i++)
        names[i] = rf_model_at(i)->f64->description->name;
    char close[RF_SUGGESTION];
    snprintf(error, size, "no model '%s'%s ('rejfilt models' lists them)", name, rf_suggestion(name, names, close));
    return -1;
}

void cli_model_use(rf_simulation *run, const rf_model *model)
{
    const rf_config fresh = rf_config_default(model);
    run->config.model = model;
    run->config.description = fresh.description;
    memcpy(run->config.prior, fresh.prior, sizeof fresh.prior);
    memcpy(run->config.drift, fresh.drift, sizeof fresh.drift);
    memcpy(run->config.motion, fresh.motion, sizeof fresh.motion);
}

/* ---- Parameters and settings by name ---- */

static const char *name_of(const rf_description *description, int is_setting, unsigned i)
{
    return is_setting ? description->setting[i].name : description->parameter[i].name;
}

/* Splits "name=rest". The result is [*first, *last): one item, or all without a name. Returns 0, or -1 with a
   message. */
static int find(const rf_description *description, int is_setting, const char *text, unsigned *first, unsigned *last,
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
        const char *name = name_of(description, is_setting, i);
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s", name);
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            *first = i;
            *last = i + 1;
            return 0;
        }
    }
    if (!equals)
        return 0;
    snprintf(error, size, "no %s '%.*s' in model %s; it has%s", is_setting ? "setting" : "parameter", (int)length, text,
             description->name, all ? names : " none");
    return -1;
}

int cli_model_parameters(const rf_simulation *run, const char *text, unsigned *first, unsigned *last, const char **rest, char *error, size_t size)
{
    return find(&run->config.description, 0, text, first, last, rest, error, size);
}

int cli_model_has(const rf_model *model, const char *text)
{
    unsigned first, last;
    const char *rest;
    char error[256];
    return find(model->f64->description, 0, text, &first, &last, &rest, error, sizeof error) == 0;
}

int cli_parse_pair(const char *text, int gaussian, double *first, double *second, char *error, size_t size)
{
    char left[64];
    const char *mark = gaussian ? strstr(text, "+-") : NULL, *at = mark ? mark : strchr(text, ':');
    const size_t length = at ? (size_t)(at - text) : 0;
    snprintf(left, sizeof left, "%.*s", (int)length, text);
    if (at && length < sizeof left && rf_parse_real(left, -1e15, 1e15, first, error, size) == 0 &&
        rf_parse_real(at + (mark ? 2 : 1), -1e15, 1e15, second, error, size) == 0)
        return mark ? '+' : ':';
    snprintf(error, size, "'%s' is %s, numbers within 1e15", text, gaussian ? "neither LOW:HIGH nor MEAN+-SD" : "not LOW:HIGH");
    return 0;
}

int cli_parse_prior(const char *text, rf_prior *prior, char *error, size_t size)
{
    const int mark = cli_parse_pair(text, 1, &prior->first, &prior->second, error, size);
    if (!mark)
        return -1;
    prior->is_gaussian = mark == '+';
    if (!(prior->is_gaussian ? prior->second <= 0 : prior->second <= prior->first))
        return 0;
    snprintf(error, size, prior->is_gaussian ? "the standard deviation in '%s' is not positive" : "'%s' is an empty range", text);
    return -1;
}

int cli_model_prior(rf_simulation *run, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    rf_prior prior;
    if (find(&run->config.description, 0, text, &first, &last, &rest, error, size) < 0 || cli_parse_prior(rest, &prior, error, size) < 0)
        return -1;
    for (unsigned i = first; i < last; i++)
        run->config.prior[i] = prior;
    return 0;
}

/* "A:B", or one number for both. */
static int parse_two(const char *text, double *first, double *second, char *error, size_t size)
{
    if (strchr(text, ':'))
        return cli_parse_pair(text, 0, first, second, error, size) ? 0 : -1;
    const int status = rf_parse_real(text, -1e15, 1e15, first, error, size);
    *second = *first;
    return status;
}

/* "CENTRE+-SD~TIME" or "A:B~DWELL". */
static int parse_motion(const rf_parameter *p, const char *text, rf_motion *motion, double *drift, char *error, size_t size)
{
    const char *tilde = text + strcspn(text, "~");
    char what[64];
    double times[2] = {0, 0}, levels[2] = {0, 0};
    snprintf(what, sizeof what, "%.*s", (int)(tilde - text), text);
    const int mark = (size_t)(tilde - text) < sizeof what ? cli_parse_pair(what, 1, &levels[0], &levels[1], error, size) : 0;
    const int is_read = mark && *tilde && parse_two(tilde + 1, &times[0], &times[1], error, size) == 0 && (mark == ':' || times[0] == times[1]);
    const int status = is_read ? rf_motion_make(p, mark == '+' ? RF_MOTION_REVERTING : RF_MOTION_TELEGRAPH, levels, times, motion, drift) : -1;
    if (status == -1)
        snprintf(error, size, "'%s' is neither CENTRE+-SD~TIME nor LEVEL:LEVEL~DWELL, with times > 0", text);
    else if (status < 0 && mark == ':' && levels[0] == levels[1])
        snprintf(error, size, "the levels '%s' are the same", what);
    else if (status < 0)
        snprintf(error, size, "'%s' is not within the chart of %s", what, p->name);
    return status;
}

int cli_parse_drift(const rf_simulation *run, const char *text, double drift[], rf_motion motion[], unsigned *first, unsigned *last, char *error, size_t size)
{
    const char *rest;
    if (find(&run->config.description, 0, text, first, last, &rest, error, size) < 0)
        return -1;
    for (unsigned i = *first; i < *last; i++) {
        const rf_motion walk = {.kind = RF_MOTION_WALK};
        motion[i] = walk;
        const int is_walk = !strpbrk(rest, "~:") && !strstr(rest, "+-");
        if (!is_walk ? parse_motion(&run->config.description.parameter[i], rest, &motion[i], &drift[i], error, size) < 0
                              : rf_parse_real(rest, 0, 1e9, &drift[i], error, size) < 0)
            return -1;
        if (run->config.model->f64->dynamics && (drift[i] > 0 || motion[i].kind != RF_MOTION_WALK)) {
            snprintf(error, size, "model %s moves by its own dynamics", run->config.description.name);
            return -1;
        }
    }
    return 0;
}

int cli_model_drift(rf_simulation *run, const char *text, char *error, size_t size)
{
    unsigned first, last;
    if (strcmp(text, "learn") == 0) {
        run->config.learns_drift = 1;
        return 0;
    }
    return cli_parse_drift(run, text, run->config.drift, run->config.motion, &first, &last, error, size);
}

int cli_model_chart(rf_simulation *run, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    if (find(&run->config.description, 0, text, &first, &last, &rest, error, size) < 0)
        return -1;
    const size_t length = strcspn(rest, ":");
    for (unsigned kind = 0; kind < 4; kind++) {
        double low = 0, high = 0;
        const int has_range = kind == RF_BOUNDED || kind == RF_PERIODIC;
        if (strlen(cli_chart_names[kind]) != length || strncmp(rest, cli_chart_names[kind], length) != 0)
            continue;
        if (has_range != (rest[length] == ':') || (has_range && !cli_parse_pair(rest + length + 1, 0, &low, &high, error, size)))
            break;
        if (has_range && high <= low) {
            snprintf(error, size, "'%s' is an empty range", rest);
            return -1;
        }
        for (unsigned i = first; i < last; i++) {
            rf_parameter *p = &run->config.description.parameter[i];
            p->chart = (rf_chart_kind)kind;
            p->low = has_range ? low : p->low;
            p->high = has_range ? high : p->high;
        }
        return 0;
    }
    snprintf(error, size, "'%s' is none of real, positive, bounded:LOW:HIGH, periodic:LOW:HIGH", rest);
    return -1;
}

static int is_called(const char *text, size_t length, const char *name) { return strlen(name) == length && strncmp(text, name, length) == 0; }

int cli_model_unit(rf_simulation *run, const char *text, char *error, size_t size)
{
    rf_description *d = &run->config.description;
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : 0;
    const char **to = length == 4 && strncmp(text, "time", 4) == 0 ? &d->time_unit : NULL;
    for (int is_setting = 0; is_setting < 2; is_setting++)
        for (unsigned i = 0; i < (is_setting ? d->settings : d->dim); i++)
            if (equals && is_called(text, length, name_of(d, is_setting, i)))
                to = is_setting ? &d->setting_unit[i] : &d->unit[i];
    if (!to) {
        snprintf(error, size, "'%s' is not NAME=UNIT with a parameter or a setting of model %s, or time", text, d->name);
        return -1;
    }
    *to = equals[1] ? equals + 1 : NULL;
    for (unsigned i = 0; i < d->settings; i++) /* a guess has the unit of its parameter, unless it has one of its own */
        if (d->setting[i].role == RF_SETTING_GUESS && to == &d->unit[d->setting[i].parameter] && !d->setting_unit[i])
            d->setting_unit[i] = *to;
    return rf_description_check(d, 1, d->name, error, size);
}

int cli_model_column(rf_simulation *run, const char *text, char *error, size_t size)
{
    const rf_description *d = &run->config.description;
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : 0, truth = strlen("truth.");
    int is_known = is_called(text, length, "outcome") || is_called(text, length, "time") || is_called(text, length, "batch");
    for (unsigned i = 0; i < d->settings; i++)
        is_known |= is_called(text, length, d->setting[i].name);
    for (unsigned i = 0; i < d->dim && length > truth; i++)
        is_known |= strncmp(text, "truth.", truth) == 0 && is_called(text + truth, length - truth, d->parameter[i].name);
    if (equals && equals[1] && is_known)
        return 0;
    snprintf(error, size, "'%s' is not NAME=COLUMN with a setting of %s, outcome, time, batch or truth.PARAMETER", text, d->name);
    return -1;
}

int cli_model_range(rf_simulation *run, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    double low, high;
    if (find(&run->config.description, 1, text, &first, &last, &rest, error, size) < 0 || !cli_parse_pair(rest, 0, &low, &high, error, size))
        return -1;
    for (unsigned i = first; i < last; i++) {
        rf_setting *s = &run->config.description.setting[i];
        if (s->role == RF_SETTING_GUESS) {
            snprintf(error, size, "%s is a guess of a parameter and has no range", s->name);
            return -1;
        }
        if (high < low || (s->role == RF_SETTING_LOGRANGE && low <= 0) || (s->role == RF_SETTING_TIME && low < 0)) {
            snprintf(error, size, high < low ? "'%s' is an empty range" : "'%s' begins too low for this setting", rest);
            return -1;
        }
        s->low = low;
        s->high = high;
    }
    return 0;
}

int cli_model_cost(rf_simulation *run, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    double cost;
    if (find(&run->config.description, 1, text, &first, &last, &rest, error, size) < 0 || rf_parse_real(rest, 0, 1e9, &cost, error, size) < 0)
        return -1;
    for (unsigned i = first; i < last; i++)
        run->config.description.setting[i].cost = cost;
    return 0;
}

int cli_model_check(const rf_simulation *run, char *error, size_t size)
{
    unsigned parameter = 0;
    rf_status status = rf_config_check(&run->config, &parameter);
    if (status >= 0)
        return 0;
    snprintf(error, size, "parameter %s: %s", run->config.description.parameter[parameter].name, rf_status_text(status));
    return -1;
}
