#define _POSIX_C_SOURCE 200809L
#include "passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"
#include "lines.h"
#include "progress.h"
#include "track_options.h"

const char *const cli_passes_names[] = {"yes", "no", "auto", NULL};

/* ---- Records ---- */

int cli_kept_add(cli_kept *kept, const rf_record *record)
{
    const size_t row = kept->settings + 1u;
    if (isnan(record->outcome))
        return 0;
    if (kept->count == kept->room) {
        const size_t room = kept->room ? 2 * kept->room : 1024;
        double *rows = realloc(kept->rows, room * row * sizeof *rows);
        if (!rows)
            return -1;
        kept->rows = rows;
        kept->room = room;
    }
    double *to = kept->rows + kept->count++ * row;
    memcpy(to, record->setting, kept->settings * sizeof *to);
    to[kept->settings] = record->outcome;
    return 0;
}

void cli_kept_free(cli_kept *kept)
{
    free(kept->rows);
    *kept = (cli_kept){.settings = kept->settings};
}

int cli_is_file(const char *path)
{
    struct stat description;
    return (path ? stat(path, &description) : fstat(STDIN_FILENO, &description)) != 0 || S_ISREG(description.st_mode);
}

/* ---- Running ---- */

typedef struct watching {
    const rf_engine *engine;
    const char *what;
    double start, shown;
} watching;

static int watch(void *user, const rf_passes_progress *p)
{
    watching *w = user;
    const double now = rf_clock_seconds();
    if (isatty(STDERR_FILENO) && now - w->start >= 1 && now - w->shown >= 0.2) {
        w->shown = now;
        fprintf(stderr, "\r\033[K%s: %s %u, record %zu of %zu", w->what, p->is_last ? "last pass" : "pass", p->pass,
                p->records, p->count);
    }
    int is_over = cli_interrupted != 0; /* signals reach ranks at different times; rank 0 decides */
    return (w->engine && rf_engine_share(w->engine, &is_over, sizeof is_over) < 0) || is_over;
}

int cli_passes_run(const char *command, const char *what, const rf_config *config, const cli_kept *kept,
                   rf_passes_result *result)
{
    char error[300], why[CLI_WHY];
    rf_passes *passes = rf_passes_open(config, kept->rows, kept->count, error, sizeof error);
    if (!passes)
        return cli_error("%s: --passes: %s", command, error);
    watching w = {.engine = config->engine, .what = what, .start = rf_clock_seconds()};
    const rf_status status = rf_passes_run(passes, watch, &w, result);
    rf_passes_close(passes);
    if (w.shown > 0)
        fputs("\r\033[K", stderr);
    if (status < 0)
        return cli_error("%s: --passes: %s", command,
                         config->engine ? cli_why(status, config->engine, why) : rf_status_text(status));
    return result->verdict == RF_PASSES_STOPPED ? CLI_INTERRUPTED : CLI_OK;
}

/* ---- Showing ---- */

int cli_passes_alarm(const char *command, const rf_passes_result *result)
{
    if (result->verdict != RF_PASSES_DOUBTFUL)
        return CLI_OK;
    cli_error("%s: --passes: only %.0f of %u points are effective: do not trust this result", command,
              result->effective, result->points);
    return CLI_FAILED;
}

void cli_passes_print(const rf_config *config, size_t records, const rf_passes_result *r)
{
    const rf_description *description = &config->description;
    printf("%s: %zu records, %u passes, %.0f of %u points effective, seed %llu%s\n", description->name, records,
           r->passes, r->effective, r->points, (unsigned long long)config->seed,
           r->verdict == RF_PASSES_DOUBTFUL ? "; NOT TRUSTWORTHY" : "");
    for (unsigned i = 0; i < r->dim; i++)
        printf("%s = %.6g +- %.3g%s%s, 95 %% from %.6g to %.6g\n", description->parameter[i].name, r->mean[i], r->sd[i], CLI_UNIT(description->unit[i]),
               r->low[i], r->high[i]);
    printf("ln evidence %.4f +- %.4f\n", r->log_evidence, r->log_evidence_sd);
    if (r->bad > 0)
        printf("note: at %zu points a likelihood was NaN, negative or infinite and counted as zero\n", r->bad);
}

void cli_passes_print_json(const rf_config *config, size_t records, const rf_passes_result *r)
{
    const rf_description *description = &config->description;
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_text(&json, "model", description->name);
    cli_json_whole(&json, "records", records);
    cli_json_list(&json, "parameters");
    for (unsigned i = 0; i < r->dim; i++) {
        cli_json_item(&json);
        cli_json_text(&json, "name", description->parameter[i].name);
        cli_json_real(&json, "mean", r->mean[i]);
        cli_json_real(&json, "sd", r->sd[i]);
        cli_json_real(&json, "median", r->median[i]);
        cli_json_real(&json, "low", r->low[i]);
        cli_json_real(&json, "high", r->high[i]);
        cli_json_real(&json, "chart_mean", r->chart_mean[i]);
        cli_json_real(&json, "chart_sd", r->chart_sd[i]);
    }
    cli_json_list_end(&json);
    cli_json_list(&json, "chart_covariances");
    for (unsigned i = 0; i < r->dim; i++)
        for (unsigned j = 0; j < i; j++) {
            cli_json_item(&json);
            cli_json_text(&json, "of", description->parameter[i].name);
            cli_json_text(&json, "and", description->parameter[j].name);
            cli_json_real(&json, "value", r->chart_covariance[RF_TRIANGLE(i) + j]);
        }
    cli_json_list_end(&json);
    cli_json_real(&json, "log_evidence", r->log_evidence);
    cli_json_real(&json, "log_evidence_sd", r->log_evidence_sd);
    cli_json_bool(&json, "trustworthy", r->verdict == RF_PASSES_FINE);
    cli_json_real(&json, "effective", r->effective);
    cli_json_whole(&json, "points", r->points);
    cli_json_whole(&json, "passes", r->passes);
    cli_json_whole(&json, "bad_points", r->bad);
    cli_json_whole(&json, "seed", config->seed);
    cli_json_close(&json);
}

double cli_passes_apart(const rf_config *config, const rf_passes_result *r, const rf_step *step)
{
    double farthest = 0;
    for (unsigned i = 0; i < r->dim; i++) {
        const rf_parameter *p = &config->description.parameter[i];
        double apart = step->chart_mean[i] - r->chart_mean[i];
        if (p->chart == RF_PERIODIC)
            apart = remainder(apart, p->high - p->low);
        farthest = fmax(farthest, fabs(apart) / r->chart_sd[i]);
    }
    return farthest;
}
