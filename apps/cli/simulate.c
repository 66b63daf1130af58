/* Simulated runs. Compiled per precision. */
#define _POSIX_C_SOURCE 200809L
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if RF_PRECISION == 32
#define RF_INSTANCE(model) ((model)->f32)
#define RF_ENGINE(engine) rf_engine_f32(engine)
#else
#define RF_INSTANCE(model) ((model)->f64)
#define RF_ENGINE(engine) rf_engine_f64(engine)
#endif

typedef struct trial {
    const cli_run *about;
    RF(tracker) tracker;
    rf_real truth[RF_NAMES_MAX];   /* chart coordinates */
    rf_real natural[RF_NAMES_MAX]; /* the same in natural units */
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(RF_NAMES_MAX)];
} trial;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Mean and variance, in the chart, of one parameter's prior: through a filter of that parameter alone. */
static rf_status prior_moments(const cli_prior *prior, const RF(chart) *chart, rf_real *mean, rf_real *variance)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    RF(filter) *single;
    RF(model) model = {0};
    rf_real first = (rf_real)prior->first, second = (rf_real)prior->second;
    model.charts = chart;
    model.dim = 1;
    rf_status status = RF(filter_init)(&single, memory, sizeof memory, 1, 0);
    if (status >= 0)
        status = (prior->is_gaussian ? RF(prior_gaussian) : RF(prior_box))(single, &model, &first, &second);
    *mean = RF(filter_mean)(single)[0];
    *variance = RF(filter_covariance)(single, 0, 0);
    return status;
}

/* The filter begins at the run's prior. */
static rf_status set_prior(const cli_run *simulation, const RF(chart) charts[], unsigned dim, RF(filter) *filter)
{
    rf_real mean[RF_NAMES_MAX], covariance[RF_NAMES_MAX * RF_NAMES_MAX] = {0};
    for (unsigned i = 0; i < dim; i++) {
        rf_status status = prior_moments(&simulation->prior[i], &charts[i], &mean[i], &covariance[i * dim + i]);
        if (status < 0)
            return status;
    }
    return RF(prior_covariance)(filter, mean, covariance);
}

rf_status RF(simulate_check)(const cli_run *simulation, unsigned *parameter)
{
    RF(chart) charts[RF_NAMES_MAX];
    RF(model) model = RF(instance_model)(RF_INSTANCE(simulation->model), charts);
    RF(described_charts)(&simulation->about, charts);
    rf_real mean, variance;
    rf_status status = RF_OK;
    for (unsigned i = 0; i < model.dim && status >= 0; i++) {
        *parameter = i;
        status = prior_moments(&simulation->prior[i], &charts[i], &mean, &variance);
    }
    return status;
}

rf_status RF(simulate_open)(const cli_run *simulation, uint64_t seed, void *memory, size_t bytes, RF(tracker) *t)
{
    const RF(instance) *instance = RF_INSTANCE(simulation->model);
    RF(chart) charts[RF_NAMES_MAX];
    RF(model) model = RF(instance_model)(instance, charts);
    RF(described_charts)(&simulation->about, charts);
    RF(filter) *filter;
    rf_status status = RF(filter_init)(&filter, memory, bytes, model.dim, seed);
    if (status >= 0)
        status = set_prior(simulation, charts, model.dim, filter);
    if (status < 0)
        return status;
    RF(track_open)(t, filter, instance, &simulation->about, simulation->design ? RF(design_find)(simulation->design, instance) : 0);
    t->options.attempts = simulation->attempts;
    if (simulation->accepted_min > 0)
        t->options.accepted_min = simulation->accepted_min;
    t->options.strict = simulation->strict != 0;
    t->options.sampler = simulation->sampler;
    t->options.kappa = simulation->kappa > 0 ? (rf_real)simulation->kappa : 1;
    t->options.recovery = (rf_real)simulation->recovery;
    t->adapts_kappa = simulation->kappa == 0;
    t->on_lost = simulation->on_lost;
    if (simulation->anchor_every >= 0)
        t->anchor_every = t->health.next_anchor = (uint32_t)simulation->anchor_every;
    for (unsigned i = 0; i < model.dim; i++)
        t->drift[i] = (rf_real)simulation->drift[i];
    return status;
}

/* A truth from the prior itself, uniform or Gaussian in natural units; or from the Gaussian that the filter has for it. */
static void draw_truth(trial *t)
{
    RF(filter) *filter = t->tracker.filter;
    for (unsigned i = 0; i < t->tracker.model.dim; i++) {
        const cli_prior *prior = &t->about->prior[i];
        rf_words w = rf_draw(filter->seed, 0, i, 1, RF_FOR_TRUTH);
        double z, other, natural;
        rf64_normal_pair(w.word[0], w.word[1], &z, &other);
        if (prior->is_gaussian)
            natural = prior->first + prior->second * z;
        else
            natural = prior->first + (prior->second - prior->first) * rf64_uniform(w.word[2]);
        t->truth[i] = RF(chart_coordinate)(&t->tracker.charts[i], (rf_real)natural);
        if (t->about->is_truth_gaussian || !RF(is_finite)(t->truth[i])) /* the latter: a Gaussian draw outside the chart */
            t->truth[i] = RF(filter_mean)(filter)[i] + RF(filter_sd)(filter, i) * (rf_real)z;
    }
}

/* The truth's step before measurement number `shot`: the model's dynamics, or a walk; and now and then a jump. */
static void walk(trial *t, uint32_t shot)
{
    const unsigned dim = t->tracker.model.dim;
    rf_real z[RF_NAMES_MAX], f[RF_NAMES_MAX * RF_NAMES_MAX], q[RF_NAMES_MAX * RF_NAMES_MAX], root[RF_TRIANGLE(RF_NAMES_MAX)];
    for (unsigned i = 0; i < dim; i++) {
        rf_words w = rf_draw(t->tracker.filter->seed, shot, i, 0, RF_FOR_TRUTH);
        rf_real other;
        RF(normal_pair)(w.word[0], w.word[1], &z[i], &other);
    }
    if (t->tracker.instance->dynamics) {
        rf_real moved[RF_NAMES_MAX];
        t->tracker.instance->dynamics(1, f, q);
        RF(covariance_factor)(q, dim, root);
        for (unsigned i = 0; i < dim; i++) {
            moved[i] = 0;
            for (unsigned j = 0; j < dim; j++)
                moved[i] += f[i * dim + j] * t->truth[j] + (j <= i ? root[RF_TRIANGLE(i) + j] * z[j] : 0);
        }
        memcpy(t->truth, moved, dim * sizeof moved[0]);
    } else {
        for (unsigned i = 0; i < dim; i++)
            t->truth[i] += t->tracker.drift[i] * z[i];
    }
    if (t->about->jump != 0 && shot == (uint32_t)t->about->jump_at)
        t->truth[0] += (rf_real)t->about->jump;
}

void RF(simulate_describe)(const RF(tracker) *t, const rf_real truth[], cli_step *s)
{
    s->dim = t->model.dim;
    for (unsigned i = 0; i < s->dim; i++) {
        const RF(chart) *chart = &t->charts[i];
        const rf_real mean = RF(filter_mean)(t->filter)[i], sd = RF(filter_sd)(t->filter, i), error = truth ? mean - truth[i] : 0;
        s->mean[i] = (double)RF(chart_natural)(chart, mean);
        s->low[i] = (double)RF(chart_natural)(chart, mean - RF_C(1.959963984540054) * sd);
        s->high[i] = (double)RF(chart_natural)(chart, mean + RF_C(1.959963984540054) * sd);
        s->truth[i] = truth ? (double)RF(chart_natural)(chart, truth[i]) : NAN;
        s->error[i] = truth ? (double)error : NAN;
        s->sd[i] = (double)sd;
        if (chart->kind == RF_PERIODIC) {
            rf_real period = chart->high - chart->low;
            s->error[i] -= truth ? (double)(period * RF(floor)(error / period + RF_C(0.5))) : 0;
            s->truth[i] = truth ? s->mean[i] - s->error[i] : NAN; /* on the estimate's side of the cut, as are the bounds */
            s->low[i] = s->mean[i] - 1.959963984540054 * (double)sd;
            s->high[i] = s->mean[i] + 1.959963984540054 * (double)sd;
        }
        for (unsigned j = 0; j <= i; j++)
            s->covariance[RF_TRIANGLE(i) + j] = (double)RF(filter_covariance)(t->filter, i, j);
    }
    s->health = t->health.state;
    s->widened = t->health.widened;
    s->restarts = t->health.restarts;
    s->log_evidence = (double)t->evidence.log + (double)t->evidence.carry;
    s->log_evidence_variance = (double)t->evidence.variance + (double)t->evidence.variance_carry;
}

void RF(simulate_widen_report)(const RF(report) *from, rf64_report *to)
{
    rf64_report r = {from->status,
                     from->update,
                     from->attempts,
                     from->accepted,
                     from->above,
                     from->nan,
                     from->negative,
                     from->infinite,
                     (double)from->acceptance,
                     (double)from->largest,
                     (double)from->kappa,
                     (double)from->kappa_next,
                     (double)from->delta,
                     (double)from->log_evidence,
                     (double)from->log_evidence_variance};
    *to = r;
}

static rf_status open_trial(trial *t, const cli_run *simulation, uint32_t number)
{
    rf_words w = rf_draw(simulation->seed, number, 0, 0, RF_FOR_USER);
    memset(t, 0, sizeof *t);
    t->about = simulation;
    rf_status status = RF(simulate_open)(simulation, (uint64_t)w.word[1] << 32 | w.word[0], t->memory, sizeof t->memory, &t->tracker);
    if (status >= 0)
        draw_truth(t);
    return status;
}

/* Measurements first .. first + count − 1: time passes for the filter, then for each of them the world moves, the design
   chooses, and the world answers. */
static rf_status measure(trial *t, long first, uint32_t count, rf_real records[])
{
    const uint32_t settings = t->tracker.model.settings, dim = t->tracker.model.dim;
    rf_status status = RF(track_pass)(&t->tracker, (rf_real)(first > 0 ? count : count - 1));
    for (uint32_t k = 0; k < count && status >= 0; k++) {
        rf_real *record = records + k * (settings + 1);
        uint32_t shot = (uint32_t)first + k;
        if (shot > 0)
            walk(t, shot);
        for (unsigned i = 0; i < dim; i++)
            t->natural[i] = RF(chart_natural)(&t->tracker.charts[i], t->truth[i]);
        RF(track_ask)(&t->tracker, record);
        record[settings] = RF(instance_outcome)(t->tracker.instance, t->natural, record, t->tracker.filter->seed, shot);
    }
    RF(track_before)(&t->tracker, records, count);
    return status;
}

/* All trials that run side by side. */
typedef struct side_by_side {
    trial trials[CLI_SIDE_BY_SIDE];
    RF(filter) *filters[CLI_SIDE_BY_SIDE];
    RF(report) reports[CLI_SIDE_BY_SIDE];
    rf_real records[CLI_SIDE_BY_SIDE * CLI_BATCH_MAX * (RF_NAMES_MAX + 1)];
} side_by_side;

/* One update of every trial: as a fleet, or one by one for batches, and while each has a κ of its own. */
static rf_status update_all(side_by_side *all, uint32_t trials, uint32_t count)
{
    trial *t = all->trials;
    const RF(engine) *engine = RF_ENGINE(t->about->engine);
    const size_t stride = (size_t)count * (t->tracker.model.settings + 1u);
    for (uint32_t i = 0; i < trials; i++)
        t[i].tracker.model.charts = t[i].tracker.charts;
    if (!t->tracker.adapts_kappa && trials > 1 && count == 1)
        return RF(fleet_update)(all->filters, trials, &t->tracker.model, all->records, &t->tracker.options, engine, all->reports);
    rf_status status = RF_OK;
    for (uint32_t i = 0; i < trials && status >= 0; i++)
        status = RF(update)(t[i].tracker.filter, &t[i].tracker.model, all->records + i * stride, count, &t[i].tracker.options, engine, &all->reports[i]);
    return status;
}

static rf_status run_side_by_side(side_by_side *all, const cli_run *simulation, uint32_t first, uint32_t trials,
                                  cli_observer *observer, void *user)
{
    rf_status status = RF_OK;
    for (uint32_t i = 0; i < trials && status >= 0; i++) {
        status = open_trial(&all->trials[i], simulation, first + i);
        all->filters[i] = all->trials[i].tracker.filter;
    }
    if (status < 0)
        return status;
    const unsigned settings = all->trials[0].tracker.model.settings;
    for (long k = 0; k < simulation->steps && status >= 0;) {
        uint32_t count = simulation->steps - k < simulation->batch ? (uint32_t)(simulation->steps - k) : simulation->batch;
        const size_t stride = count * (settings + 1u);
        for (uint32_t i = 0; i < trials && status >= 0; i++)
            status = measure(&all->trials[i], k, count, all->records + i * stride);
        if (status < 0)
            break;
        double begin = now();
        status = update_all(all, trials, count);
        double seconds = (now() - begin) / trials;
        k += count;
        for (uint32_t i = 0; i < trials && status >= 0; i++) {
            trial *t = &all->trials[i];
            const rf_real *record = all->records + i * stride + (count - 1) * (settings + 1u);
            cli_step step = {.step = k - 1, .seconds = seconds, .time = NAN, .records = count};
            RF(track_after)(&t->tracker, &all->reports[i]);
            RF(simulate_describe)(&t->tracker, t->truth, &step);
            RF(simulate_widen_report)(&all->reports[i], &step.report);
            for (unsigned j = 0; j < settings; j++)
                step.setting[j] = (double)record[j];
            step.outcome = (double)record[settings];
            if (observer(user, first + i, &step) != 0)
                return RF_OK;
        }
    }
    return status < 0 ? status : RF_OK;
}

rf_status RF(simulate_trials)(const cli_run *simulation, uint32_t first, uint32_t count, cli_observer *observer, void *user)
{
    side_by_side *all = malloc(sizeof *all);
    rf_status status = all ? run_side_by_side(all, simulation, first, count, observer, user) : RF_REFUSED_ENGINE;
    free(all);
    return status;
}
