#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

struct cli_collector {
    const rf_simulation *simulation;
    rf_judging judging;
    rf_totals totals;
    rf_trial trial;   /* under way, ... */
    int is_under_way; /* ... if one is */
    double sum, seconds, as_gaussian, as_particles;
    float *errors; /* on the host, */
    size_t count, room;
    rf_gpu_trials *gpu; /* or there */
};

size_t cli_collector_bytes(const rf_simulation *simulation, uint64_t trials)
{
    rf_judging judging;
    rf_judging_begin(&judging, simulation);
    return (size_t)trials * (size_t)(judging.steps - judging.first) * sizeof(float);
}

cli_collector *cli_collector_open(const rf_simulation *simulation, uint64_t trials)
{
    const size_t bytes = cli_collector_bytes(simulation, trials);
    cli_collector *c = cli_collector_open_gpu(simulation, NULL);
    if (c && !(c->errors = malloc(bytes))) {
        cli_collector_free(c);
        c = NULL;
    }
    if (c)
        c->room = bytes / sizeof *c->errors;
    return c;
}

cli_collector *cli_collector_open_gpu(const rf_simulation *simulation, rf_gpu_trials *gpu)
{
    cli_collector *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->simulation = simulation;
    c->gpu = gpu;
    rf_judging_begin(&c->judging, simulation);
    return c;
}

void cli_collector_free(cli_collector *c)
{
    if (c) {
        rf_gpu_trials_close(c->gpu);
        free(c->errors);
    }
    free(c);
}

/* The trial under way is over. */
static void end_trial(cli_collector *c)
{
    if (!c->is_under_way)
        return;
    rf_trial_end(&c->trial, &c->totals);
    c->sum += c->trial.sum;
    c->is_under_way = 0;
}

int cli_collector_step(void *collector, uint32_t trial, const rf_step *step)
{
    cli_collector *c = collector;
    double error;
    (void)trial;
    if (step->step < (long)c->simulation->batch)
        end_trial(c);
    if (!c->is_under_way) {
        rf_trial_begin(&c->trial);
        c->is_under_way = 1;
    }
    if (rf_trial_see(&c->trial, &c->judging, step, &c->totals, &error) && c->count < c->room)
        c->errors[c->count++] = (float)error;
    c->seconds += step->seconds;
    c->as_gaussian += step->form && strcmp(step->form, "gaussian") == 0;
    c->as_particles += step->form && strcmp(step->form, "particles") == 0;
    return 0;
}

rf_status cli_collector_run(cli_collector *c, uint32_t count)
{
    const double start = cli_seconds();
    const rf_status status = rf_gpu_trials_run(c->gpu, count, &c->totals, &c->sum);
    c->seconds += cli_seconds() - start;
    return status;
}

/* Of what took so long: the share that took less than `within`, and the median of those that were done. */
static double share(const uint64_t took[], uint64_t events, int within)
{
    uint64_t done = 0;
    for (int i = 0; i < within; i++)
        done += took[i];
    return events ? (double)done / (double)events : NAN;
}

static double median_of(const uint64_t took[])
{
    uint64_t all = 0, below = 0;
    for (int i = 0; i < RF_FOLLOWED_MAX; i++)
        all += took[i];
    for (int i = 0; i < RF_FOLLOWED_MAX && all; i++)
        if (2 * (below += took[i]) >= all)
            return i;
    return NAN;
}

/* ---- Quantiles ---- */

static int count_digits(void *self, rf_digit which, uint64_t counts[RF_DIGITS])
{
    const cli_collector *c = self;
    memset(counts, 0, RF_DIGITS * sizeof *counts);
    for (size_t i = 0; i < c->count; i++) {
        const int32_t digit = rf_digit_of(which, c->errors[i]);
        if (digit >= 0)
            counts[digit]++;
    }
    return 0;
}

static double quantile(cli_collector *c, double share)
{
    const uint64_t count = c->gpu ? c->totals.counted : c->count;
    const double at = share * (double)(count - 1), whole = floor(at);
    const uint64_t rank = (uint64_t)whole, next = rank + 1 < count ? rank + 1 : rank;
    float low, high;
    rf_digits *const digits = c->gpu ? rf_gpu_trials_digits : count_digits;
    void *const self = c->gpu ? (void *)c->gpu : c;
    if (rf_digits_select(digits, self, rank, &low) < 0 || rf_digits_select(digits, self, next, &high) < 0)
        return NAN;
    return low + (at - whole) * ((double)high - low);
}

cli_summary cli_collector_summary(cli_collector *c)
{
    cli_summary s = {0};
    const rf_totals *t = &c->totals;
    double drift = 0;
    for (unsigned i = 0; i < c->simulation->config.model->f64->description->dim && drift == 0; i++)
        drift = c->simulation->config.drift[i];
    end_trial(c);
    s.trials = t->finished;
    s.q = drift * drift;
    if (t->counted == 0)
        return s;
    s.median = quantile(c, 0.5);
    s.p90 = quantile(c, 0.9);
    s.p99 = quantile(c, 0.99);
    s.mean = c->sum / (double)t->counted;
    s.lost = (double)t->lost / (double)(t->finished ? t->finished : 1);
    s.coverage95 = (double)t->covered / (double)t->checked;
    s.ns_per_attempt = c->seconds / (double)t->attempts * 1e9;
    s.mean_attempts = (double)t->attempts / (double)t->updates;
    s.events = t->events > t->alarms ? t->events : t->alarms;
    s.back_soon = share(t->back, t->events, CLI_BACK_SOON);
    s.back_late = share(t->back, t->events, RF_BACK_LATE);
    s.back_last = t->is_short ? NAN : share(t->back, t->events, RF_BACK_LAST);
    s.alarmed_last = share(t->alarmed, t->alarms, CLI_ALARM_LAST);
    s.back_median = median_of(t->back);
    s.alarmed = share(t->alarmed, t->alarms, CLI_ALARM_WITHIN);
    s.alarm_median = median_of(t->alarmed);
    s.false_lost = t->quiet ? 1000.0 * (double)t->false_lost / (double)t->quiet : 0;
    s.false_alarms = t->quiet ? 1000.0 * (double)t->false_alarms / (double)t->quiet : 0;
    s.told = t->lost_steps ? (double)t->told / (double)t->lost_steps : NAN;
    s.widest = rf64_from_bits(t->widest);
    s.as_gaussian = c->as_gaussian / (double)t->updates;
    s.as_particles = c->as_particles / (double)t->updates;
    return s;
}
