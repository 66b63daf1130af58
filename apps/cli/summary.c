#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

/* Errors of one kind, 0 to dim: see trials.h. */
typedef struct errors {
    cli_collector *collector;
    unsigned kind;
    float *value; /* null if the trials run on a GPU */
    size_t count, room;
    double sum; /* of squared errors */
} errors;

struct cli_collector {
    const rf_simulation *simulation;
    rf_judging judging;
    rf_totals totals;
    rf_trial trial;   /* the current trial, */
    int is_under_way; /* if there is one */
    double seconds;
    errors errors[1 + RF_DESCRIBED_MAX];
    rf_gpu_trials *gpu; /* trials on a GPU; null: on this machine */
};

size_t cli_collector_bytes(const rf_simulation *simulation, uint64_t trials)
{
    rf_judging judging;
    rf_judging_begin(&judging, simulation);
    const size_t each = (size_t)judging.row[judging.dim + 1] * sizeof(float);
    return trials > SIZE_MAX / each ? SIZE_MAX : (size_t)trials * each;
}

cli_collector *cli_collector_open(const rf_simulation *simulation, uint64_t trials)
{
    cli_collector *c = cli_collector_open_gpu(simulation, NULL);
    for (unsigned kind = 0; c && kind <= c->judging.dim; kind++) {
        errors *e = &c->errors[kind];
        e->room = (size_t)trials * (size_t)rf_judging_rows(&c->judging, kind);
        if (!(e->value = malloc(e->room * sizeof *e->value))) {
            cli_collector_free(c);
            return NULL;
        }
    }
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
    for (unsigned kind = 0; kind <= c->judging.dim; kind++) {
        c->errors[kind].collector = c;
        c->errors[kind].kind = kind;
    }
    return c;
}

void cli_collector_free(cli_collector *c)
{
    for (unsigned kind = 0; c && kind <= c->judging.dim; kind++)
        free(c->errors[kind].value);
    if (c)
        rf_gpu_trials_close(c->gpu);
    free(c);
}

/* Ends the current trial. */
static void end_trial(cli_collector *c)
{
    if (!c->is_under_way)
        return;
    rf_trial_end(&c->trial, &c->judging, &c->totals);
    for (unsigned kind = 0; kind <= c->judging.dim; kind++)
        c->errors[kind].sum += c->trial.sum[kind];
    c->is_under_way = 0;
}

int cli_collector_step(void *collector, uint32_t trial, const rf_step *step)
{
    cli_collector *c = collector;
    float error[1 + RF_DESCRIBED_MAX];
    (void)trial;
    if (step->step < (long)c->simulation->batch)
        end_trial(c);
    if (!c->is_under_way) {
        rf_trial_begin(&c->trial);
        c->is_under_way = 1;
    }
    rf_trial_see(&c->trial, &c->judging, step, &c->totals, error);
    for (unsigned kind = 0; kind <= c->judging.dim; kind++) {
        errors *e = &c->errors[kind];
        if (!isnan(error[kind]) && e->count < e->room)
            e->value[e->count++] = error[kind];
    }
    c->seconds += step->seconds;
    return 0;
}

rf_status cli_collector_run(cli_collector *c, uint32_t count)
{
    const double start = rf_clock_seconds();
    double sums[1 + RF_DESCRIBED_MAX];
    for (unsigned kind = 0; kind <= c->judging.dim; kind++)
        sums[kind] = c->errors[kind].sum;
    const rf_status status = rf_gpu_trials_run(c->gpu, count, &c->totals, sums);
    for (unsigned kind = 0; kind <= c->judging.dim; kind++)
        c->errors[kind].sum = sums[kind];
    c->seconds += rf_clock_seconds() - start;
    return status;
}

/* took[i]: events that took i measurements. share: fraction of `events` that took fewer than `within`; median_of:
   the median over took. */
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
    const errors *e = self;
    if (e->collector->gpu)
        return rf_gpu_trials_digits(e->collector->gpu, e->kind, which, counts);
    memset(counts, 0, RF_DIGITS * sizeof *counts);
    for (size_t i = 0; i < e->count; i++) {
        const int32_t digit = rf_digit_of(which, e->value[i]);
        if (digit >= 0)
            counts[digit]++;
    }
    return 0;
}

static uint64_t counted(const errors *e)
{
    return e->collector->gpu ? e->collector->totals.counted[e->kind] : e->count;
}

static double quantile(errors *e, double share)
{
    const uint64_t count = counted(e);
    if (count == 0)
        return NAN;
    const double at = share * (double)(count - 1), whole = floor(at);
    const uint64_t rank = (uint64_t)whole, next = rank + 1 < count ? rank + 1 : rank;
    float low, high;
    if (rf_digits_select(count_digits, e, rank, &low) < 0 || rf_digits_select(count_digits, e, next, &high) < 0)
        return NAN;
    return low + (at - whole) * ((double)high - low);
}

/* Errors of a parameter, in natural units. */
static cli_errors of_parameter(cli_collector *c, unsigned i)
{
    errors *e = &c->errors[1 + i];
    const rf_totals *t = &c->totals;
    const cli_errors of = {
        c->judging.is_final[1 + i], quantile(e, 0.5),  sqrt(e->sum / (double)counted(e)),
        quantile(e, 0.9),           quantile(e, 0.99), t->known ? (double)t->held[i] / (double)t->known : NAN};
    return of;
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
    s.dim = c->judging.dim;
    s.first = c->judging.first;
    for (unsigned i = 0; i < s.dim; i++)
        s.of[i] = of_parameter(c, i);
    errors *pooled = &c->errors[0];
    if (counted(pooled) == 0)
        return s;
    s.median = quantile(pooled, 0.5);
    s.p90 = quantile(pooled, 0.9);
    s.p99 = quantile(pooled, 0.99);
    s.mean = pooled->sum / (double)counted(pooled);
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
    s.capped = (double)t->capped / (double)t->updates;
    return s;
}
