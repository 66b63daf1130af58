#define _POSIX_C_SOURCE 200809L
#include "modelspec.h"

#include "cli.h"
#include "options.h"
#include "outputs.h"

#include <stdio.h>
#include <string.h>

/* ---- Models ---- */

/* Loads a model from C source. If the compiler reports errors, they are printed unchanged after our own line. */
static int load(const char *command, const char *path, const rf_model **model)
{
    char error[8192];
    const char *file;
    *model = rf_model_load(path, error, sizeof error);
    for (unsigned i = 0; *model && (file = rf_model_file(*model, i)); i++)
        if (rf_output_declare("the source of --model", file, RF_READS, error, sizeof error) < 0)
            *model = NULL;
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

int cli_model_has(const rf_model *model, const char *text)
{
    unsigned first, last;
    const char *rest;
    return rf_parse_whose(model->f64->description, 0, text, &first, &last, &rest, NULL, 0) == 0;
}

static int is_called(const char *text, size_t length, const char *name) { return strlen(name) == length && strncmp(text, name, length) == 0; }

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
