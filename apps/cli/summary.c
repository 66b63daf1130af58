#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What follows an event. */
typedef struct follow_up {
    long at;         /* measurement; -1: there was none */
    int good;        /* updates in a row with a small error, or alarms */
    int done_after;  /* measurements until the truth was found again, or health told; -1: not yet */
} follow_up;

enum {
    FOLLOWED = CLI_BACK_LATE + CLI_BACK_FOR,   /* measurements after an event that must be quiet for it to count, */
    FOLLOWED_MAX = CLI_BACK_LAST + CLI_BACK_FOR /* and that are looked at */
};

/* Errors of one kind, of all trials. */
typedef struct errors {
    float *value;
    size_t count, room;
    double sum;
} errors;

struct cli_collector {
    double threshold[RF_DESCRIBED_MAX], prior_sd[RF_DESCRIBED_MAX];
    follow_up recovery, alarm;                 /* of the trial under way */
    long quiet_from;                           /* its first step without an event in reach */
    int was_lost, was_alarm, was_far, is_out;  /* in its step before */
    uint64_t events, back[FOLLOWED_MAX + 1];   /* by how long it took */
    uint64_t alarms, alarmed[FOLLOWED_MAX + 1];
    int is_short; /* a run ended before FOLLOWED_MAX */
    uint64_t quiet, false_lost, false_alarms, lost_steps, told;
    double widest;

    const rf_simulation *simulation;
    long first; /* step that counts */
    errors pooled;                  /* squared, in units of q, in the chart */
    errors of[RF_DESCRIBED_MAX];    /* in natural units; their sum is of squares */
    size_t held[RF_DESCRIBED_MAX], known[RF_DESCRIBED_MAX]; /* truths within their intervals, and all */
    size_t covered, checked;
    uint64_t trials, finished;
    uint32_t *far; /* per trial, steps beyond CLI_LOST_SIGMAS */
    double seconds, attempts, updates, capped, as_gaussian, as_particles;
};

static long first_counted(const rf_simulation *simulation)
{
    return simulation->steps > CLI_BURN_IN ? CLI_BURN_IN : simulation->steps - 1;
}

/* Errors that are no loss, and widths of priors. */
static void set_thresholds(cli_collector *c)
{
    rf_problem problem;
    const rf_config *config = &c->simulation->config;
    problem.model = config->model;
    problem.description = config->description;
    memcpy(problem.prior, config->prior, sizeof problem.prior);
    rf_problem_settle(&problem);
    for (unsigned i = 0; i < config->description.dim; i++) {
        double mean, variance = 0;
        rf_problem_prior(&problem, i, &mean, &variance);
        c->prior_sd[i] = sqrt(variance);
        c->threshold[i] = config->drift[i] > 0 ? CLI_BACK_STEPS * config->drift[i] : CLI_BACK_WIDTHS * c->prior_sd[i];
    }
}

static int stands_still(const rf_config *config, unsigned i)
{
    return !config->model->f64->dynamics && config->motion[i].kind == RF_MOTION_WALK && !(config->drift[i] > 0);
}

/* Errors of a parameter, or of all of them (i = dim), that are kept. */
static size_t room_of(const rf_simulation *simulation, uint64_t trials, unsigned i)
{
    const size_t steps = (size_t)(simulation->steps - first_counted(simulation));
    const int is_final = i < simulation->config.description.dim && stands_still(&simulation->config, i);
    return (size_t)trials * (is_final ? 1 : steps);
}

size_t cli_collector_bytes(const rf_simulation *simulation, uint64_t trials)
{
    size_t bytes = (size_t)trials * sizeof *((cli_collector *)0)->far;
    for (unsigned i = 0; i <= simulation->config.description.dim; i++)
        bytes += room_of(simulation, trials, i) * sizeof(float);
    return bytes;
}

cli_collector *cli_collector_open(const rf_simulation *simulation, uint64_t trials)
{
    cli_collector *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    const unsigned dim = simulation->config.description.dim;
    int is_there = 1;
    c->simulation = simulation;
    c->first = first_counted(simulation);
    c->trials = trials;
    c->far = calloc((size_t)trials, sizeof *c->far);
    for (unsigned i = 0; i <= dim; i++) {
        errors *e = i < dim ? &c->of[i] : &c->pooled;
        e->room = room_of(simulation, trials, i);
        e->value = malloc(e->room * sizeof *e->value);
        is_there &= e->value != NULL;
    }
    set_thresholds(c);
    if (is_there && c->far)
        return c;
    cli_collector_free(c);
    return NULL;
}

void cli_collector_free(cli_collector *c)
{
    for (unsigned i = 0; c && i < RF_DESCRIBED_MAX; i++)
        free(c->of[i].value);
    if (c) {
        free(c->pooled.value);
        free(c->far);
    }
    free(c);
}

static void keep(errors *e, double error, double more)
{
    if (e->count < e->room) {
        e->value[e->count++] = (float)error;
        e->sum += more;
    }
}

/* Each parameter by itself, in natural units. */
static void collect_natural(cli_collector *c, const rf_step *step)
{
    for (unsigned i = 0; i < step->dim; i++) {
        const double error = step->error[i];
        if (isnan(error))
            continue;
        c->held[i] += step->low[i] <= step->truth[i] && step->truth[i] <= step->high[i];
        c->known[i]++;
        if (step->step == c->simulation->steps - 1 || !stands_still(&c->simulation->config, i))
            keep(&c->of[i], fabs(error), error * error);
    }
}

/* The event counts if enough measurements have followed. */
static void conclude(cli_collector *c, follow_up *f, long since, uint64_t *events, uint64_t took[])
{
    if (f->at >= 0 && since >= FOLLOWED - 1) {
        ++*events;
        took[f->done_after >= 0 && f->done_after < FOLLOWED_MAX ? f->done_after : FOLLOWED_MAX]++;
        c->is_short |= since < FOLLOWED_MAX - 1 && f->done_after < 0;
    }
    f->at = -1;
}

/* How long until something has lasted for `lasting` updates. */
static void follow(cli_collector *c, follow_up *f, const rf_step *step, int begins, int is_good, int lasting, uint64_t *events, uint64_t took[])
{
    if (begins) {
        conclude(c, f, step->step - f->at - 1, events, took);
        const follow_up begin = {step->step, 0, -1};
        *f = begin;
    }
    if (f->at < 0)
        return;
    const long since = step->step - f->at;
    f->good = is_good ? f->good + 1 : 0;
    if (f->done_after < 0 && f->good == lasting)
        f->done_after = since - lasting + 1 > 0 ? (int)(since - lasting + 1) : 0;
    if (since >= FOLLOWED_MAX - 1 || step->step >= c->simulation->steps - 1)
        conclude(c, f, since, events, took);
}

/* Health, and what the world did. */
static void collect_health(cli_collector *c, const rf_step *step, int is_far)
{
    const int is_alarm = step->health == RF_RECOVERING || step->health == RF_LOST || step->health == RF_FAULT, is_lost = step->health == RF_LOST;
    int is_good = 1;
    if (step->step < (long)c->simulation->batch) { /* another trial */
        c->recovery.at = c->alarm.at = -1;
        c->quiet_from = 0;
        c->was_lost = c->was_alarm = c->was_far = c->is_out = 0;
    }
    for (unsigned i = 0; i < step->dim; i++) {
        is_good &= fabs(step->chart_error[i]) < c->threshold[i];
        c->widest = fmax(c->widest, step->chart_sd[i] / c->prior_sd[i]);
    }
    if (step->events & RF_EVENT_OUTAGE)
        c->recovery.at = -1;
    if (step->events)
        c->quiet_from = step->step + FOLLOWED;
    follow(c, &c->recovery, step, (step->events & (RF_EVENT_JUMP | RF_EVENT_BACK)) && !(step->events & RF_EVENT_OUT), is_good, CLI_BACK_FOR, &c->events, c->back);
    follow(c, &c->alarm, step, (step->events & (RF_EVENT_JUMP | RF_EVENT_OUTAGE)) != 0, is_alarm, 1, &c->alarms, c->alarmed);
    if (step->step >= c->quiet_from) {
        c->quiet += step->records;
        c->false_lost += is_lost && !c->was_lost && !c->was_far;
        c->false_alarms += is_alarm && !c->was_alarm && !c->was_far;
    }
    if (step->step >= c->first && is_far) {
        c->lost_steps++;
        c->told += step->health != RF_TRACKING;
    }
    c->was_lost = is_lost;
    c->was_alarm = is_alarm;
    c->was_far = is_far || !is_good;
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
    for (int i = 0; i < FOLLOWED_MAX; i++)
        all += took[i];
    for (int i = 0; i < FOLLOWED_MAX && all; i++)
        if (2 * (below += took[i]) >= all)
            return i;
    return NAN;
}

int cli_collector_step(void *collector, uint32_t trial, const rf_step *step)
{
    cli_collector *c = collector;
    double error = 0;
    unsigned drifting = 0;
    int far = 0;
    const int is_out = (step->events & RF_EVENT_OUT) != 0; /* then errors are nobody's fault */
    for (unsigned i = 0; i < step->dim; i++)
        drifting += c->simulation->config.drift[i] > 0;
    for (unsigned i = 0; i < step->dim; i++) {
        double q = c->simulation->config.drift[i] * c->simulation->config.drift[i], sigmas = fabs(step->chart_error[i]) / step->chart_sd[i];
        if (drifting == 0 || q > 0)
            error += step->chart_error[i] * step->chart_error[i] / (drifting ? q * drifting : step->dim);
        far |= sigmas > CLI_LOST_SIGMAS && !is_out;
        if (step->step >= c->first && !is_out) {
            c->covered += sigmas <= 1.959963984540054;
            c->checked++;
        }
    }
    c->far[trial] += (uint32_t)far;
    collect_health(c, step, far);
    c->finished += step->step == c->simulation->steps - 1;
    c->seconds += step->seconds;
    c->attempts += step->report.attempts;
    c->updates++;
    c->capped += (step->report.status & RF_NOTE_CAPPED) != 0;
    c->as_gaussian += step->form && strcmp(step->form, "gaussian") == 0;
    c->as_particles += step->form && strcmp(step->form, "particles") == 0;
    if (step->step >= c->first && !is_out) {
        keep(&c->pooled, error, error);
        collect_natural(c, step);
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Of errors that are sorted. */
static double quantile(const errors *e, double share)
{
    if (e->count == 0)
        return NAN;
    double at = share * (double)(e->count - 1), whole = floor(at);
    size_t i = (size_t)whole, next = i + 1 < e->count ? i + 1 : i;
    return e->value[i] + (at - whole) * ((double)e->value[next] - e->value[i]);
}

static void sort(errors *e) { qsort(e->value, e->count, sizeof *e->value, compare); }

static cli_errors conclude_natural(cli_collector *c, unsigned i)
{
    errors *e = &c->of[i];
    sort(e);
    const cli_errors of = {stands_still(&c->simulation->config, i), quantile(e, 0.5), sqrt(e->sum / (double)e->count), quantile(e, 0.9),
                           quantile(e, 0.99), c->known[i] ? (double)c->held[i] / (double)c->known[i] : NAN};
    return of;
}

cli_summary cli_collector_summary(cli_collector *c)
{
    cli_summary s = {0};
    double drift = 0;
    for (unsigned i = 0; i < c->simulation->config.model->f64->description->dim && drift == 0; i++)
        drift = c->simulation->config.drift[i];
    s.trials = c->finished;
    s.q = drift * drift;
    s.dim = c->simulation->config.description.dim;
    for (unsigned i = 0; i < s.dim; i++)
        s.of[i] = conclude_natural(c, i);
    if (c->pooled.count == 0)
        return s;
    sort(&c->pooled);
    s.median = quantile(&c->pooled, 0.5);
    s.p90 = quantile(&c->pooled, 0.9);
    s.p99 = quantile(&c->pooled, 0.99);
    s.mean = c->pooled.sum / (double)c->pooled.count;
    uint64_t lost = 0;
    for (uint64_t i = 0; i < c->trials; i++)
        lost += c->far[i] > CLI_LOST_STEPS;
    s.lost = (double)lost / (double)(c->finished ? c->finished : 1);
    s.coverage95 = (double)c->covered / (double)c->checked;
    s.ns_per_attempt = c->seconds / c->attempts * 1e9;
    s.mean_attempts = c->attempts / c->updates;
    s.events = c->events > c->alarms ? c->events : c->alarms;
    s.back_soon = share(c->back, c->events, CLI_BACK_SOON);
    s.back_late = share(c->back, c->events, CLI_BACK_LATE);
    s.back_last = c->is_short ? NAN : share(c->back, c->events, CLI_BACK_LAST);
    s.alarmed_last = share(c->alarmed, c->alarms, CLI_ALARM_LAST);
    s.back_median = median_of(c->back);
    s.alarmed = share(c->alarmed, c->alarms, CLI_ALARM_WITHIN);
    s.alarm_median = median_of(c->alarmed);
    s.false_lost = c->quiet ? 1000.0 * (double)c->false_lost / (double)c->quiet : 0;
    s.false_alarms = c->quiet ? 1000.0 * (double)c->false_alarms / (double)c->quiet : 0;
    s.told = c->lost_steps ? (double)c->told / (double)c->lost_steps : NAN;
    s.widest = c->widest;
    s.capped = c->capped / c->updates;
    s.as_gaussian = c->as_gaussian / c->updates;
    s.as_particles = c->as_particles / c->updates;
    return s;
}
