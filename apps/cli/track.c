/* rejfilt track: follows drifting parameters, one measurement after the other. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "options.h"
#include "clock.h"
#include "json.h"
#include "lines.h"
#include "stream.h"
#include "machine.h"
#include "output.h"
#include "plot.h"
#include "summary.h"
#include "view.h"

/* ---- A single run ---- */

typedef struct watcher {
    const cli_track_config *c;
    const rf_description *description;
    cli_format format;
    cli_view *view;
    cli_series series; /* filled only for a plot; with --state, by the stream */
    int is_short;      /* no memory for the series */
    int is_lost;       /* a simulation then stops */
    long step;         /* number of the latest step */
    rf_step last;
    long seen, capped; /* steps, and steps with a question limited by a setting's range */
    struct {
        long known, held; /* steps with known truth, and those whose 95 % interval holds it */
        double squares;   /* sum of error² over known, natural units */
    } of[RF_DESCRIBED_MAX];
} watcher;

/* Counts a step for --summary. */
static void tally(watcher *w, const rf_step *s)
{
    if (w->c->summary)
        w->last = *s;
    w->seen++;
    w->capped += (s->report.status & RF_NOTE_CAPPED) != 0;
    for (unsigned i = 0; i < s->dim; i++) {
        if (isnan(s->truth[i]))
            continue;
        w->of[i].known++;
        w->of[i].held += s->low[i] <= s->truth[i] && s->truth[i] <= s->high[i];
        w->of[i].squares += s->error[i] * s->error[i];
    }
}

/* Prints the result of the passes and the difference of the streaming estimate. */
static void summarise_passes(const watcher *w, const rf_passes_result *r)
{
    fprintf(stderr, "passes:");
    for (unsigned i = 0; i < r->dim; i++)
        fprintf(stderr, " %s = %.6g%s%s, 95 %% from %.6g to %.6g;", w->description->parameter[i].name, r->mean[i], CLI_UNIT(w->description->unit[i]), r->low[i], r->high[i]);
    fprintf(stderr, " ln evidence %.3f +- %.3f; the mean above is %.3g standard deviations off%s\n", r->log_evidence, r->log_evidence_sd,
            cli_passes_apart(&w->c->run.config, r, &w->last), r->verdict == RF_PASSES_DOUBTFUL ? "; NOT TRUSTWORTHY" : "");
}

static void summarise(const watcher *w, const rf_passes_result *passes)
{
    const rf_step *s = &w->last;
    fprintf(stderr, "%s: %ld updates; health: %s\n", w->description->name, w->seen, cli_health_word(s));
    for (unsigned i = 0; i < s->dim && w->seen > 0; i++) {
        const double known = (double)w->of[i].known;
        fprintf(stderr, "%s = %.4g +- %.2g%s%s, 95 %% from %.4g to %.4g", w->description->parameter[i].name, s->mean[i], s->sd[i], CLI_UNIT(w->description->unit[i]),
                s->low[i], s->high[i]);
        if (known > 0 && !isnan(s->error[i]))
            fprintf(stderr, "; error %.2g at the end, %.2g over all steps (root mean square), %.0f %% of the intervals held the truth", fabs(s->error[i]),
                    sqrt(w->of[i].squares / known), 100 * (double)w->of[i].held / known);
        fputc('\n', stderr);
    }
    if (w->capped > 0)
        fprintf(stderr, "a setting was at the end of its range in %ld of the updates: --range may allow more\n", w->capped);
    if (passes)
        summarise_passes(w, passes);
    if (w->c->plot && w->series.count > 0)
        fprintf(stderr, "picture: %s\n", w->c->plot);
    else if (w->c->plot)
        fprintf(stderr, "picture: none; there are no updates to draw\n");
    else
        fprintf(stderr, "picture: none; --plot run.svg draws one\n");
    fprintf(stderr, "next: rejfilt track --simulate --trials 500 says how well on average; docs/tutorial.md takes your own data; rejfilt track --help\n");
}

static int watch(void *user, uint32_t trial, const rf_step *s)
{
    (void)trial;
    watcher *w = user;
    tally(w, s);
    if (w->c->plot && !w->c->state && cli_series_add(&w->series, s, s->time) < 0) {
        w->is_short = 1;
        return 1;
    }
    if (w->view) {
        struct timespec pause = {(time_t)(w->c->pace / 1000), (long)(fmod(w->c->pace, 1000) * 1e6)};
        cli_view_add(w->view, s);
        if (w->c->simulate)
            nanosleep(&pause, NULL);
        else
            cli_view_refresh(w->view);
    } else {
        cli_output_step(stdout, w->format, w->description, s, s->step + 1 == (long)s->records ? &w->c->run.config : NULL);
    }
    w->is_lost = w->c->simulate && s->health == RF_LOST && w->c->run.config.on_lost == RF_ON_LOST_STOP;
    w->step = s->step;
    return cli_interrupted || ferror(stdout) || w->is_lost;
}

static int refused(const cli_track_config *c, rf_status status)
{
    char why[CLI_WHY];
    return cli_error("track: %s", cli_why(status, c->run.config.engine, why));
}

static int simulate_once(const cli_track_config *c, watcher *w)
{
    rf_status status = rf_simulate(&c->run, 0, 1, watch, w);
    if (w->is_lost) {
        cli_error("track: step %ld: the filter has lost the truth, and --on-lost is stop", w->step);
        return CLI_FAILED;
    }
    return status < 0 ? refused(c, status) : cli_interrupted ? CLI_INTERRUPTED : CLI_OK;
}

/* Rank 0 opens the checkpoint and broadcasts its exit code. */
static int open_state(const cli_track_config *c, const rf_engine *engine, cli_state_file *state)
{
    char error[1000] = "";
    int code = CLI_OK;
    if (c->state && rf_engine_rank(engine) == 0)
        code = cli_state_open(state, c->state, error, sizeof error);
    if (error[0])
        cli_error("track: --state: %s", error);
    if (c->state && rf_engine_share(engine, &code, sizeof code) < 0)
        return cli_error("track: MPI cannot share the checkpoint");
    return code;
}

/* Decides whether passes are run. Rank 0 knows whether the records are in a file. Returns an exit code. */
static int choose_passes(const cli_track_config *c, const rf_engine *engine, int *is_wanted)
{
    int is_file = !c->simulate && !c->ask && cli_is_file(c->data);
    *is_wanted = 0;
    if (c->passes == CLI_PASSES_NO || (c->passes == CLI_PASSES_AUTO && (!c->summary || c->state || c->run.config.strict || rf_passes_check(&c->run.config, NULL, 0) < 0)))
        return CLI_OK;
    if (rf_engine_share(engine, &is_file, sizeof is_file) < 0)
        return cli_error("track: MPI cannot share the records");
    if (!is_file && c->passes == CLI_PASSES_YES)
        return cli_error("track: --passes needs an ordinary file with all records; %s is not one", c->data ? c->data : "standard input");
    *is_wanted = is_file;
    return CLI_OK;
}

/* Reads all records, then runs only the passes. RF_APART: other runs do not pay for its stack frame. */
static RF_APART int run_passes(const cli_track_config *c)
{
    cli_kept kept = {.settings = c->run.config.description.settings};
    cli_state_file none = {.lock = {.file = -1}};
    const cli_stream stream = {.config = c, .state = &none, .kept = &kept, .is_kept_only = 1};
    rf_passes_result result;
    int code = cli_stream_run(&stream);
    if (code == CLI_OK)
        code = cli_passes_run("track", c->run.config.description.name, &c->run.config, &kept, &result);
    if (code == CLI_OK) {
        (c->format == CLI_FORMAT_JSON ? cli_passes_print_json : cli_passes_print)(&c->run.config, kept.count, &result);
        code = cli_passes_alarm("track", &result);
    }
    cli_kept_free(&kept);
    return code;
}

static int run_once(const cli_track_config *c, const rf_engine *engine)
{
    static char buffer[1 << 16];
    static cli_state_file state = {.lock = {.file = -1}};
    int with_passes, code = choose_passes(c, engine, &with_passes);
    if (code == CLI_OK && with_passes && !c->summary)
        return run_passes(c);
    code = code ? code : open_state(c, engine, &state);
    if (code != CLI_OK)
        return code;
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    char made[160], error[300];
    const char *title = c->title ? c->title : made;
    const rf_description *description = &c->run.config.description;
    watcher w = {.c = c, .description = description, .format = (cli_format)c->format, .series = {.title = title, .description = description, .panels = c->panels, .theme = (cli_theme)c->theme}};
    char how[64];
    if (strcmp(c->run.config.belief, "gaussian") == 0)
        snprintf(how, sizeof how, "%u attempts per update", c->run.config.attempts);
    else
        snprintf(how, sizeof how, "belief %.40s", c->run.config.belief);
    snprintf(made, sizeof made, "%s, %s%s%s%s, seed %llu", description->name, how, c->run.config.design ? ", design " : "",
             c->run.config.design ? c->run.config.design : "", c->run.config.strict ? ", strict" : "", (unsigned long long)c->run.config.seed);
    const int is_mpi = strncmp(rf_engine_name(engine), "mpi", 3) == 0; /* mpirun gives terminals to redirected output */
    if (w.format == CLI_FORMAT_AUTO && isatty(STDOUT_FILENO) && !c->ask && !is_mpi)
        w.view = cli_view_open(stdout, title, description, c->simulate ? c->run.steps : 0);
    if (w.format == CLI_FORMAT_AUTO)
        w.format = c->simulate ? CLI_FORMAT_TEXT : CLI_FORMAT_JSON;
    if (c->ask)
        cli_output_ask_header(stdout, w.format, description);
    if (!w.view)
        cli_output_header(stdout, w.format, &c->run.config);

    cli_kept kept = {.settings = description->settings};
    rf_passes_result passes;
    const cli_stream stream = {c, &state, watch, &w, with_passes ? &kept : NULL, 0, &w.series};
    code = c->simulate ? simulate_once(c, &w) : cli_stream_run(&stream);
    cli_state_close(&state);
    if (w.view)
        cli_view_close(w.view);
    if (w.is_short) {
        code = cli_error("track: not enough memory to plot so many steps");
    } else if (c->plot && w.series.count > 0 && !ferror(stdout)) {
        if (cli_plot(c->plot, &w.series, error, sizeof error) < 0)
            code = cli_error("track: %s", error);
        else if (!c->summary)
            fprintf(stderr, "picture: %s\n", c->plot);
    }
    if (with_passes && (code != CLI_OK || kept.count == 0))
        with_passes = 0;
    if (with_passes)
        code = cli_passes_run("track", description->name, &c->run.config, &kept, &passes);
    cli_kept_free(&kept);
    if (c->summary && (code == CLI_OK || code == CLI_INTERRUPTED))
        summarise(&w, with_passes && code == CLI_OK ? &passes : NULL);
    if (with_passes && code == CLI_OK)
        code = cli_passes_alarm("track", &passes);
    cli_series_free(&w.series);
    return code;
}

/* ---- Many trials ---- */

enum { TRIALS_AT_ONCE = 16 }; /* trials between two checks of the clock */

/* Shows the progress on the terminal; nothing in the first second. */
static void progress(double start, double *shown, uint64_t done, uint64_t total)
{
    double now = rf_clock_seconds(), spent = now - start;
    if (!isatty(STDERR_FILENO) || spent < 1 || (now - *shown < 0.2 && done < total))
        return;
    *shown = now;
    if (done == total)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r\033[Ktrial %llu of %llu, %.0f s left", (unsigned long long)done, (unsigned long long)total,
                spent / (double)done * (double)(total - done));
}

static void print_summary(const cli_track_config *c, const cli_summary *s)
{
    const int is_gaussian = strcmp(c->run.config.belief, "gaussian") == 0;
    printf("%llu trials of %ld steps, ", (unsigned long long)s->trials, c->run.steps);
    if (is_gaussian)
        printf("%u attempts per update (%.1f with top-up)%s%s", c->run.config.attempts, s->mean_attempts,
               rf_config_because(&c->run.config) ? ", one Gaussian because of --" : "", rf_config_because(&c->run.config) ? rf_config_because(&c->run.config) : "");
    else
        printf("belief %s, %.1f points per update", c->run.config.belief, s->mean_attempts);
    printf(", design %s%s, seed %llu\n", c->run.config.design, c->run.config.strict ? ", strict" : "", (unsigned long long)c->run.config.seed);
    if (s->q > 0) {
        printf("squared error in units of q = %.6g, from step %ld on:\n", s->q, s->first);
        printf("  median %.4g q   mean %.4g q   90 %% below %.4g q   99 %% below %.4g q\n", s->median, s->mean, s->p90, s->p99);
    }
    printf("error of each parameter, in natural units:\n");
    for (unsigned i = 0; i < s->dim; i++) {
        const cli_errors *e = &s->of[i];
        const char *unit = c->run.config.description.unit[i];
        printf("  %s%s%s%s: median %.3g   root mean square %.3g   90 %% below %.3g   99 %% below %.3g   the 95 %% interval covers the truth in %.1f %%\n",
               c->run.config.description.parameter[i].name, e->is_final ? ", at the end" : "", unit ? ", in " : "", unit ? unit : "", e->median, e->rms, e->p90, e->p99, 100 * e->coverage95);
    }
    printf("lost %.2f %%\n", 100 * s->lost);
    if (s->events > 0)
        printf("%llu events: back within %d measurements %.1f %%, within %d %.1f %%   alarm within %d %.1f %%\n", (unsigned long long)s->events, CLI_BACK_SOON,
               100 * s->back_soon, RF_BACK_LATE, 100 * s->back_late, CLI_ALARM_WITHIN, 100 * s->alarmed);
    printf("false alarms per 1,000 steps %.3g, of them lost %.3g", s->false_alarms, s->false_lost);
    if (!isnan(s->told))
        printf("   health told %.0f %% of the steps with the truth lost", 100 * s->told);
    if (s->capped > 0)
        printf("\na setting was at the end of its range in %.1f %% of the updates: --range may allow more", 100 * s->capped);
    printf("\n%.1f ns per attempt\n", s->ns_per_attempt);
}

static void print_json_summary(const cli_track_config *c, const cli_summary *s)
{
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_whole(&json, "trials", s->trials);
    cli_json_whole(&json, "steps", (uint64_t)c->run.steps);
    cli_json_whole(&json, "attempts", c->run.config.attempts);
    cli_json_text(&json, "design", c->run.config.design);
    cli_json_text(&json, "sampler", rf_sampler_names[c->run.config.sampler]);
    cli_json_text(&json, "engine", rf_engine_name(c->run.config.engine));
    cli_json_whole(&json, "seed", c->run.config.seed);
    cli_json_real(&json, "q", s->q);
    cli_json_real(&json, "median", s->median);
    cli_json_real(&json, "mean", s->mean);
    cli_json_real(&json, "p90", s->p90);
    cli_json_real(&json, "p99", s->p99);
    cli_json_real(&json, "lost", s->lost);
    cli_json_real(&json, "coverage95", s->coverage95);
    cli_json_real(&json, "ns_per_attempt", s->ns_per_attempt);
    cli_json_text(&json, "model", c->run.config.description.name);
    cli_json_text(&json, "precision", c->run.config.is_float && strcmp(c->run.config.belief, "gaussian") == 0 ? "float" : "double");
    cli_json_bool(&json, "strict", c->run.config.strict);
    cli_json_real(&json, "mean_attempts", s->mean_attempts);
    cli_json_text(&json, "belief", c->run.config.belief);
    if (rf_config_because(&c->run.config))
        cli_json_text(&json, "because", rf_config_because(&c->run.config));
    cli_json_whole(&json, "events", s->events);
    cli_json_real(&json, "back50", s->back_soon);
    cli_json_real(&json, "back100", s->back_late);
    cli_json_real(&json, "back150", s->back_last);
    cli_json_real(&json, "back_median", s->back_median);
    cli_json_real(&json, "alarm30", s->alarmed);
    cli_json_real(&json, "alarm50", s->alarmed_last);
    cli_json_real(&json, "alarm_median", s->alarm_median);
    cli_json_real(&json, "false_alarms", s->false_alarms);
    cli_json_real(&json, "false_lost", s->false_lost);
    cli_json_real(&json, "told", s->told);
    cli_json_real(&json, "widest", s->widest);
    cli_json_real(&json, "capped", s->capped);
    cli_json_list(&json, "parameters");
    for (unsigned i = 0; i < s->dim; i++) {
        const cli_errors *e = &s->of[i];
        cli_json_item(&json);
        cli_json_text(&json, "name", c->run.config.description.parameter[i].name);
        cli_json_bool(&json, "final", e->is_final);
        cli_json_real(&json, "median", e->median);
        cli_json_real(&json, "rms", e->rms);
        cli_json_real(&json, "p90", e->p90);
        cli_json_real(&json, "p99", e->p99);
        cli_json_real(&json, "coverage95", e->coverage95);
    }
    cli_json_list_end(&json);
    cli_json_close(&json);
}

static int collect(void *collector, uint32_t trial, const rf_step *step)
{
    return cli_collector_step(collector, trial, step) || cli_interrupted;
}

static int run_trials(const cli_track_config *c)
{
    const size_t bytes = cli_collector_bytes(&c->run, c->trials);
    char error[2304] = "";
    rf_gpu_trials *gpu = rf_gpu_trials_open(&c->run, c->trials, error, sizeof error);
    if (error[0] || (!gpu && rf_memory_check("a summary of so many trials and steps", bytes, error, sizeof error) < 0))
        return cli_error("track: %s", error);
    cli_collector *collector = gpu ? cli_collector_open_gpu(&c->run, gpu) : cli_collector_open(&c->run, c->trials);
    if (!collector)
        return cli_error("track: there is no memory for a summary: %zu bytes are needed", bytes);
    const uint64_t at_once = gpu ? rf_gpu_trials_chunk(gpu) : TRIALS_AT_ONCE;
    double start = rf_clock_seconds(), shown = start;
    rf_status status = RF_OK;
    for (uint64_t done = 0; done < c->trials && status >= 0 && !cli_interrupted;) {
        const uint32_t some = (uint32_t)(c->trials - done < at_once ? c->trials - done : at_once);
        status = gpu ? cli_collector_run(collector, some) : rf_simulate(&c->run, (uint32_t)done, some, collect, collector);
        done += some;
        progress(start, &shown, done, c->trials);
    }
    if (status >= 0) {
        cli_summary summary = cli_collector_summary(collector);
        if (gpu && isnan(summary.median))
            status = RF_REFUSED_ENGINE;
        else
            (c->format == CLI_FORMAT_JSON ? print_json_summary : print_summary)(c, &summary);
    }
    cli_collector_free(collector);
    if (status < 0)
        return refused(c, status);
    return cli_interrupted ? CLI_INTERRUPTED : CLI_OK;
}

/* Ranks must exchange the same messages, or they would wait for ever; what they compute is compared by the engine. */
static int check_ranks(const cli_track_config *c, const rf_engine *engine)
{
    const uint64_t kinds[] = {(uint64_t)c->simulate, (uint64_t)c->ask, (uint64_t)c->passes, (uint64_t)c->summary, c->trials, c->run.batch, c->state != NULL};
    const char *belief = rf_config_belief(&c->run.config);
    const uint64_t mine = rf_hash(rf_hash(0, kinds, sizeof kinds), belief, strlen(belief));
    uint64_t first = mine;
    if (rf_engine_share(engine, &first, sizeof first) < 0)
        return cli_error("track: MPI cannot share the options");
    return first == mine ? CLI_OK : cli_error("track: rank %u differs from rank 0 in what it is to do, or in --belief, --batch or --state: start all with the same options", rf_engine_rank(engine));
}

int cli_track(int argc, char **argv)
{
    static cli_track_config c;
    char error[300];
    int go = cli_track_configure(&c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    rf_engine *engine = rf_engine_open(c.engine, error, sizeof error);
    if (!engine)
        return cli_error("track: --engine: %s", error);
    c.run.config.engine = engine;
    if (check_ranks(&c, engine) != CLI_OK)
        return CLI_BAD_INPUT; /* with the engine open: this ends the other ranks */
    if (rf_engine_rank(engine) != 0 && cli_be_silent() < 0) /* only rank 0 reports */
        return cli_error("track: rank %u cannot be silenced", rf_engine_rank(engine));
    cli_catch_signals(); /* a signal ends the run after the current update */
    if (rf_config_because(&c.run.config) && !(c.passes == CLI_PASSES_YES && !c.summary) && (isatty(STDERR_FILENO) || c.format == CLI_FORMAT_CSV))
        cli_error("track: the belief is one Gaussian because of --%s", rf_config_because(&c.run.config));
    int code = c.trials ? run_trials(&c) : run_once(&c, engine);
    rf_engine_close(engine);
    return code;
}
