#define _POSIX_C_SOURCE 200809L
#include "modelspec.h"

#include "cli.h"

#include <stdio.h>
#include <string.h>

/* ---- Models ---- */

/* A model from C source. What the compiler says follows our own line as it is. */
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
        names[i] = rf_model_at(i)->f64->about->name;
    const char *close = cli_closest(name, names);
    snprintf(error, size, "no model '%s'%s%s%s ('rejfilt models' lists them)", name, close ? ", did you mean " : "",
             close ? close : "", close ? "?" : "");
    return -1;
}

void cli_model_use(cli_run *run, const rf_model *model)
{
    run->model = model;
    run->about = *model->f64->about;
    for (unsigned i = 0; i < run->about.dim; i++) {
        const rf_parameter *p = &run->about.parameter[i];
        run->prior[i] = (cli_prior){0, p->low, p->high};
        run->drift[i] = p->drift;
    }
}

/* ---- Parameters by name ---- */

/* Splits "name=rest". The parameters meant are [*first, *last); all of them without a name. */
static int parameters_of(const rf_description *about, const char *text, unsigned *first, unsigned *last,
                         const char **rest)
{
    const char *equals = strchr(text, '=');
    *first = 0;
    *last = about->dim;
    *rest = equals ? equals + 1 : text;
    if (!equals)
        return 0;
    for (unsigned i = 0; i < about->dim; i++)
        if (strlen(about->parameter[i].name) == (size_t)(equals - text) &&
            strncmp(about->parameter[i].name, text, (size_t)(equals - text)) == 0) {
            *first = i;
            *last = i + 1;
            return 0;
        }
    return -1;
}

int cli_model_has(const rf_model *model, const char *text)
{
    unsigned first, last;
    const char *rest;
    return parameters_of(model->f64->about, text, &first, &last, &rest) == 0;
}

static int no_parameter(const rf_description *about, const char *text, char *error, size_t size)
{
    char names[128] = "";
    for (unsigned i = 0; i < about->dim; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s", about->parameter[i].name);
    snprintf(error, size, "no parameter '%.*s' in model %s; it has%s", (int)strcspn(text, "="), text, about->name,
             names);
    return -1;
}

static int parse_prior(const char *text, cli_prior *prior, char *error, size_t size)
{
    char first[64];
    const char *mark = strstr(text, "+-"), *colon = strchr(text, ':');
    const char *at = mark ? mark : colon;
    size_t length = at ? (size_t)(at - text) : 0;
    cli_prior p = {.is_gaussian = mark != NULL};
    snprintf(first, sizeof first, "%.*s", (int)length, text);
    if (!at || length >= sizeof first || cli_parse_real(first, -1e15, 1e15, &p.first, error, size) < 0 ||
        cli_parse_real(at + (mark ? 2 : 1), -1e15, 1e15, &p.second, error, size) < 0) {
        snprintf(error, size, "'%s' is neither LOW:HIGH nor MEAN+-SD, numbers within 1e15", text);
        return -1;
    }
    if (mark ? p.second <= 0 : p.second <= p.first) {
        snprintf(error, size, mark ? "the standard deviation in '%s' is not positive" : "'%s' is an empty range", text);
        return -1;
    }
    *prior = p;
    return 0;
}

int cli_model_prior(cli_run *run, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    cli_prior prior;
    if (parameters_of(&run->about, text, &first, &last, &rest) < 0)
        return no_parameter(&run->about, text, error, size);
    if (parse_prior(rest, &prior, error, size) < 0)
        return -1;
    for (unsigned i = first; i < last; i++)
        run->prior[i] = prior;
    return 0;
}

int cli_model_drift(cli_run *run, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    double drift;
    if (parameters_of(&run->about, text, &first, &last, &rest) < 0)
        return no_parameter(&run->about, text, error, size);
    if (cli_parse_real(rest, 0, 1e9, &drift, error, size) < 0)
        return -1;
    if (run->model->f64->dynamics) {
        snprintf(error, size, "model %s moves by its own dynamics", run->about.name);
        return -1;
    }
    for (unsigned i = first; i < last; i++)
        run->drift[i] = drift;
    return 0;
}

int cli_model_check(const cli_run *run, int is_float, char *error, size_t size)
{
    unsigned parameter = 0;
    rf_status status = (is_float ? rf32_simulate_check : rf64_simulate_check)(run, &parameter);
    if (status >= 0)
        return 0;
    snprintf(error, size, "parameter %s: %s", run->about.parameter[parameter].name, rf_status_text(status));
    return -1;
}
