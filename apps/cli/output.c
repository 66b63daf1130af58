#include "output.h"

#include <math.h>
#include <string.h>

#include "csv.h"
#include "json.h"
#include "series.h"

/* ---- Text ---- */

static void text_unit(FILE *out, const char *name, const char *unit)
{
    if (unit)
        fprintf(out, "; %s in %s", name, unit);
}

static void text_header(FILE *out, const rf_config *config)
{
    const rf_description *description = &config->description;
    const char *because = rf_config_because(config);
    fprintf(out, "# %s: all in natural units", description->name);
    for (unsigned i = 0; i < description->dim; i++)
        text_unit(out, description->parameter[i].name, description->unit[i]);
    for (unsigned i = 0; i < description->settings; i++)
        text_unit(out, description->setting[i].name, description->setting_unit[i]);
    if (because)
        fprintf(out, "; the belief is one Gaussian because of --%s", because);
    fputs("\n# step", out);
    for (unsigned i = 0; i < description->dim; i++)
        fprintf(out, "  %6s.truth %7s.mean %7s.sd", description->parameter[i].name, description->parameter[i].name,
                description->parameter[i].name);
    for (unsigned i = 0; i < description->settings; i++)
        fprintf(out, "  %10s", description->setting[i].name);
    fprintf(out, "   outcome accepted acceptance     loss health\n");
}

/* A column, with at least one blank before the number; a dash for an unknown value. */
static void text_number(FILE *out, int width, int digits, double value)
{
    if (isnan(value))
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.*g", width, digits, value);
}

static void text_step(FILE *out, const rf_description *description, const rf_step *s)
{
    fprintf(out, "%5ld", s->step);
    for (unsigned i = 0; i < s->dim; i++) {
        text_number(out, 12, 6, s->truth[i]);
        text_number(out, 11, 6, s->mean[i]);
        text_number(out, 10, 3, s->sd[i]);
    }
    for (unsigned i = 0; i < description->settings; i++)
        text_number(out, 11, 4, s->setting[i]);
    text_number(out, 9, 4, s->outcome);
    fprintf(out, " %6u %8.3f", s->report.accepted, s->report.acceptance);
    text_number(out, 12, 3, s->loss);
    fprintf(out, " %s\n", cli_health_word(s));
}

/* ---- JSON ---- */

static void json_settings(cli_json *json, const rf_description *description, const double setting[])
{
    cli_json_list(json, "settings");
    for (unsigned i = 0; i < description->settings; i++) {
        cli_json_item(json);
        cli_json_text(json, "name", description->setting[i].name);
        cli_json_real(json, "value", setting[i]);
    }
    cli_json_list_end(json);
}

/* The modes of a parameter that has several. */
static void json_modes(cli_json *json, const rf_description *description, const rf_step *s)
{
    int any = 0;
    for (unsigned i = 0; i < s->dim; i++) {
        rf_mode modes[RF_MODES_MAX];
        const unsigned count = cli_modes(s, i, modes);
        for (unsigned k = 0; k < count; k++) {
            if (!any++)
                cli_json_list(json, "modes");
            cli_json_item(json);
            cli_json_text(json, "of", description->parameter[i].name);
            cli_json_real(json, "share", modes[k].share);
            cli_json_real(json, "low", modes[k].low);
            cli_json_real(json, "high", modes[k].high);
        }
    }
    if (any)
        cli_json_list_end(json);
}

/* Units that are not the model's own. */
static void json_units(cli_json *json, const rf_description *d, const rf_description *usual)
{
    int any = 0;
    for (unsigned i = 0; i <= d->dim + d->settings; i++) {
        const unsigned k = i < d->dim ? i : i - d->dim;
        const int is_time = i == d->dim + d->settings;
        const char *unit = i < d->dim ? d->unit[k] : is_time ? d->time_unit : d->setting_unit[k];
        const char *old = i < d->dim ? usual->unit[k] : is_time ? usual->time_unit : usual->setting_unit[k];
        if (!unit || (old && strcmp(unit, old) == 0))
            continue;
        if (!any++)
            cli_json_list(json, "units");
        cli_json_item(json);
        cli_json_text(json, "of", i < d->dim ? d->parameter[k].name : is_time ? "time" : d->setting[k].name);
        cli_json_text(json, "unit", unit);
    }
    if (any)
        cli_json_list_end(json);
}

static void json_step(FILE *out, const rf_description *description, const rf_step *s, const rf_config *first)
{
    cli_json json;
    cli_json_open(&json, out);
    cli_json_whole(&json, "step", (uint64_t)s->step);
    if (!isnan(s->time))
        cli_json_real(&json, "time", s->time);
    cli_json_list(&json, "parameters");
    for (unsigned i = 0; i < s->dim; i++) {
        cli_json_item(&json);
        cli_json_text(&json, "name", description->parameter[i].name);
        if (!isnan(s->truth[i]))
            cli_json_real(&json, "truth", s->truth[i]);
        cli_json_real(&json, "mean", s->mean[i]);
        cli_json_real(&json, "sd", s->sd[i]);
        cli_json_real(&json, "low", s->low[i]);
        cli_json_real(&json, "high", s->high[i]);
        cli_json_real(&json, "chart_mean", s->chart_mean[i]);
        cli_json_real(&json, "chart_sd", s->chart_sd[i]);
    }
    cli_json_list_end(&json);
    if (s->dim > 1) {
        cli_json_list(&json, "chart_covariances"); /* for pairs of parameters */
        for (unsigned i = 0; i < s->dim; i++)
            for (unsigned j = 0; j < i; j++) {
                cli_json_item(&json);
                cli_json_text(&json, "of", description->parameter[i].name);
                cli_json_text(&json, "and", description->parameter[j].name);
                cli_json_real(&json, "value", s->chart_covariance[RF_TRIANGLE(i) + j]);
            }
        cli_json_list_end(&json);
    }
    json_modes(&json, description, s);
    json_settings(&json, description, s->setting);
    cli_json_real(&json, "outcome", s->outcome);
    cli_json_whole(&json, "records", s->records);
    cli_json_whole(&json, "attempts", s->report.attempts);
    cli_json_whole(&json, "accepted", s->report.accepted);
    cli_json_real(&json, "acceptance", s->report.acceptance);
    cli_json_real(&json, "kappa", s->report.kappa);
    cli_json_real(&json, "delta", s->report.delta);
    cli_json_real(&json, "log_evidence", s->log_evidence);
    cli_json_real(&json, "log_evidence_sd", sqrt(s->log_evidence_variance));
    cli_json_real(&json, "loss", s->loss);
    if (s->drift_spread > 0) {
        cli_json_list(&json, "drifts"); /* the drifts learnt: estimate, and its interval of one standard deviation */
        for (unsigned i = 0; i < s->dim; i++) {
            cli_json_item(&json);
            cli_json_text(&json, "name", description->parameter[i].name);
            cli_json_real(&json, "sd", s->drift[i]);
            cli_json_real(&json, "low", s->drift[i] * exp(-s->drift_spread));
            cli_json_real(&json, "high", s->drift[i] * exp(s->drift_spread));
        }
        cli_json_list_end(&json);
    }
    cli_json_text(&json, "health", cli_health_word(s));
    if (first && rf_config_because(first)) {
        cli_json_text(&json, "belief", "gaussian");
        cli_json_text(&json, "because", rf_config_because(first));
    }
    if (first)
        json_units(&json, description, first->model->f64->description);
    cli_json_whole(&json, "widened", s->widened);
    cli_json_whole(&json, "restarts", s->restarts);
    cli_json_whole(&json, "notes", (uint64_t)s->report.status);
    cli_json_close(&json);
}

static void json_ask(FILE *out, const rf_description *description, long number, int is_anchor, const double setting[])
{
    cli_json json;
    cli_json_open(&json, out);
    cli_json_whole(&json, "ask", (uint64_t)number);
    for (unsigned i = 0; i < description->settings; i++)
        cli_json_real_of(&json, description->setting[i].name, setting[i]);
    cli_json_bool(&json, "anchor", is_anchor);
    cli_json_close(&json);
}

/* ---- CSV ---- */

static void csv_real(cli_writer *w, double value)
{
    if (isfinite(value))
        cli_writer_real(w, value);
    cli_writer_byte(w, ',');
}

static void csv_whole(cli_writer *w, uint64_t value)
{
    cli_writer_whole(w, value);
    cli_writer_byte(w, ',');
}

/* Adds a column to the header; its name is the four texts joined. */
static void csv_name(FILE *out, const char *a, const char *b, const char *c, const char *d)
{
    putc(',', out);
    rf_csv_field(out, a, b, c, d);
}

static void csv_header(FILE *out, const rf_description *description)
{
    static const char *const of[] = {".mean", ".sd", ".low", ".high", ".chart_mean", ".chart_sd"};
    fprintf(out, "step,time");
    for (unsigned i = 0; i < description->dim; i++) {
        csv_name(out, "truth.", description->parameter[i].name, "", "");
        for (unsigned k = 0; k < sizeof of / sizeof *of; k++)
            csv_name(out, "", description->parameter[i].name, of[k], "");
    }
    for (unsigned i = 0; i < description->dim; i++)
        for (unsigned j = 0; j < i; j++)
            csv_name(out, "chart_covariance.", description->parameter[i].name, ".", description->parameter[j].name);
    for (unsigned i = 0; i < description->settings; i++)
        csv_name(out, "", description->setting[i].name, "", "");
    fprintf(out, ",outcome,records,attempts,accepted,acceptance,kappa,delta,log_evidence,log_evidence_sd,loss,"
                 "widened,restarts,notes,health\n");
}

static void csv_step(FILE *out, const rf_description *description, const rf_step *s)
{
    cli_writer w;
    cli_writer_open(&w, out);
    csv_whole(&w, (uint64_t)s->step);
    csv_real(&w, s->time);
    for (unsigned i = 0; i < s->dim; i++) {
        const double values[] = {s->truth[i], s->mean[i],       s->sd[i],      s->low[i],
                                 s->high[i],  s->chart_mean[i], s->chart_sd[i]};
        for (unsigned k = 0; k < sizeof values / sizeof *values; k++)
            csv_real(&w, values[k]);
    }
    for (unsigned i = 0; i < s->dim; i++)
        for (unsigned j = 0; j < i; j++)
            csv_real(&w, s->chart_covariance[RF_TRIANGLE(i) + j]);
    for (unsigned i = 0; i < description->settings; i++)
        csv_real(&w, s->setting[i]);
    csv_real(&w, s->outcome);
    csv_whole(&w, s->records);
    csv_whole(&w, s->report.attempts);
    csv_whole(&w, s->report.accepted);
    const double values[] = {s->report.acceptance, s->report.kappa, s->report.delta, s->log_evidence,
                             sqrt(s->log_evidence_variance), s->loss};
    for (unsigned k = 0; k < sizeof values / sizeof *values; k++)
        csv_real(&w, values[k]);
    csv_whole(&w, s->widened);
    csv_whole(&w, s->restarts);
    csv_whole(&w, (unsigned)s->report.status);
    const char *health = cli_health_word(s);
    cli_writer_put(&w, health, strlen(health));
    cli_writer_byte(&w, '\n');
    cli_writer_flush(&w);
}

static void csv_ask(FILE *out, const rf_description *description, long number, int is_anchor, const double setting[])
{
    cli_writer w;
    cli_writer_open(&w, out);
    cli_writer_put(&w, "ask,", 4);
    csv_whole(&w, (uint64_t)number);
    for (unsigned i = 0; i < description->settings; i++)
        csv_real(&w, setting[i]);
    cli_writer_put(&w, is_anchor ? "1\n" : "0\n", 2);
    cli_writer_flush(&w);
}

/* ---- All ---- */

void cli_output_ask_header(FILE *out, cli_format format, const rf_description *description)
{
    if (format != CLI_FORMAT_CSV)
        return;
    fprintf(out, "ask,number");
    for (unsigned i = 0; i < description->settings; i++)
        csv_name(out, "", description->setting[i].name, "", "");
    fprintf(out, ",anchor\n");
}

void cli_output_ask(FILE *out, cli_format format, const rf_description *description, long number, int is_anchor, const double setting[])
{
    (format == CLI_FORMAT_CSV ? csv_ask : json_ask)(out, description, number, is_anchor, setting);
}

void cli_output_header(FILE *out, cli_format format, const rf_config *config)
{
    if (format == CLI_FORMAT_TEXT)
        text_header(out, config);
    else if (format == CLI_FORMAT_CSV)
        csv_header(out, &config->description);
}

void cli_output_step(FILE *out, cli_format format, const rf_description *description, const rf_step *s, const rf_config *first)
{
    if (format == CLI_FORMAT_JSON)
        json_step(out, description, s, first);
    else
        (format == CLI_FORMAT_CSV ? csv_step : text_step)(out, description, s);
}
