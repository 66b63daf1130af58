/* rejfilt models: lists the models. */
#include <stdio.h>

#include "cli.h"
#include "json.h"
#include "options.h"
#include "rejfilt/host.h"

typedef struct config {
    int json;
} config;

static int set_json(void *c, const char *value, char *error, size_t size)
{
    (void)value, (void)error, (void)size;
    ((config *)c)->json = 1;
    return 0;
}

static const cli_option options[] = {
    {"json", NULL, "one JSON object per model", set_json, CLI_CUSTOM, 0, 0, 0, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "models", "[--json]", "Lists the built-in models: what each infers, from which settings and outcomes.", options, NULL, NULL,
    0,
};

static void print_text(const rf_description *m)
{
    printf("%s: %s\n    %s\n    parameters:", m->name, m->summary, m->formula);
    for (unsigned i = 0; i < m->dim; i++) {
        const rf_parameter *p = &m->parameter[i];
        printf("%s %s (%s, prior %g to %g%s%s", i ? "," : "", p->name, rf_chart_names[p->chart], p->low, p->high, CLI_UNIT(m->unit[i]));
        if (p->drift > 0)
            printf(", drift %.4g a step", p->drift);
        putchar(')');
    }
    printf("\n    settings:");
    for (unsigned i = 0; i < m->settings; i++)
        printf(m->setting_unit[i] ? "%s %s (%s)" : "%s %s", i ? "," : "", m->setting[i].name, m->setting_unit[i]);
    printf("%s\n", m->settings ? "" : " none");
    if (rf_outcomes_fixed(m->outcomes))
        printf("    outcomes: 0 to %u\n\n", m->outcomes - 1);
    else
        printf("    outcome: a %s\n\n", rf_outcomes_are_whole(m->outcomes) ? "count" : "real number");
}

static void print_json(const rf_description *m)
{
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_text(&json, "name", m->name);
    cli_json_text(&json, "summary", m->summary);
    cli_json_text(&json, "formula", m->formula);
    cli_json_whole(&json, "outcomes", m->outcomes);
    cli_json_list(&json, "parameters");
    for (unsigned i = 0; i < m->dim; i++) {
        cli_json_item(&json);
        cli_json_text(&json, "name", m->parameter[i].name);
        if (m->unit[i])
            cli_json_text(&json, "unit", m->unit[i]);
        cli_json_text(&json, "chart", rf_chart_names[m->parameter[i].chart]);
        cli_json_real(&json, "low", m->parameter[i].low);
        cli_json_real(&json, "high", m->parameter[i].high);
        cli_json_real(&json, "drift", m->parameter[i].drift);
    }
    cli_json_list_end(&json);
    cli_json_list(&json, "settings");
    for (unsigned i = 0; i < m->settings; i++) {
        cli_json_item(&json);
        cli_json_text(&json, "name", m->setting[i].name);
        if (m->setting_unit[i])
            cli_json_text(&json, "unit", m->setting_unit[i]);
    }
    cli_json_list_end(&json);
    cli_json_close(&json);
}

int cli_models(int argc, char **argv)
{
    config c = {0};
    int go = cli_parse(&usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    const rf_model *model;
    for (unsigned i = 0; (model = rf_model_at(i)) != NULL; i++)
        (c.json ? print_json : print_text)(model->f64->description);
    return CLI_OK;
}
