/* Simulated runs. Compiled per precision. */
#define _POSIX_C_SOURCE 200809L
#include "simulate.h"

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
    const cli_simulation *about;
    const RF(instance) *instance;
    RF(chart) charts[RF_NAMES_MAX];
    RF(model) model;
    RF(options) options;
    RF(report) report;
    RF(filter) *filter;
    RF(evidence) evidence;
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

static rf_status set_prior(trial *t)
{
    rf_real mean[RF_NAMES_MAX], covariance[RF_NAMES_MAX * RF_NAMES_MAX] = {0};
    unsigned dim = t->model.dim;
    for (unsigned i = 0; i < dim; i++) {
        rf_status status = prior_moments(&t->about->prior[i], &t->charts[i], &mean[i], &covariance[i * dim + i]);
        if (status < 0)
            return status;
    }
    return RF(prior_covariance)(t->filter, mean, covariance);
}

rf_status RF(simulate_check)(const cli_simulation *simulation, unsigned *parameter)
{
    RF(chart) charts[RF_NAMES_MAX];
    RF(model) model = RF(instance_model)(RF_INSTANCE(simulation->model), charts);
    rf_real mean, variance;
    rf_status status = RF_OK;
    for (unsigned i = 0; i < model.dim && status >= 0; i++) {
        *parameter = i;
        status = prior_moments(&simulation->prior[i], &charts[i], &mean, &variance);
    }
    return status;
}

/* A truth from the prior itself: uniform or Gaussian in natural units. */
static void draw_truth(trial *t)
{
    for (unsigned i = 0; i < t->model.dim; i++) {
        const cli_prior *prior = &t->about->prior[i];
        rf_words w = rf_draw(t->filter->seed, 0, i, 1, RF_FOR_TRUTH);
        double z, other, natural;
        rf64_normal_pair(w.word[0], w.word[1], &z, &other);
        if (prior->is_gaussian)
            natural = prior->first + prior->second * z;
        else
            natural = prior->first + (prior->second - prior->first) * rf64_uniform(w.word[2]);
        t->truth[i] = RF(chart_coordinate)(&t->charts[i], (rf_real)natural);
        if (!RF(is_finite)(t->truth[i])) /* a Gaussian draw outside the chart */
            t->truth[i] = RF(filter_mean)(t->filter)[i] + RF(filter_sd)(t->filter, i) * (rf_real)z;
    }
}

/* The truth takes a step of its walk, and the filter's covariance grows to match. */
static rf_status walk(trial *t, uint32_t step)
{
    rf_real rate[RF_NAMES_MAX * RF_NAMES_MAX] = {0};
    unsigned dim = t->model.dim;
    int any = 0;
    for (unsigned i = 0; i < dim; i++) {
        rf_words w = rf_draw(t->filter->seed, step, i, 0, RF_FOR_TRUTH);
        rf_real z, other, sd = (rf_real)t->about->drift[i];
        RF(normal_pair)(w.word[0], w.word[1], &z, &other);
        t->truth[i] += sd * z;
        rate[i * dim + i] = sd * sd;
        any |= sd > 0;
    }
    return any ? RF(diffuse_covariance)(t->filter, rate, 1) : RF_OK;
}

static void describe(const trial *t, const rf_real x[], cli_step *s)
{
    s->dim = t->model.dim;
    for (unsigned i = 0; i < t->model.dim; i++) {
        const RF(chart) *chart = &t->charts[i];
        rf_real mean = RF(filter_mean)(t->filter)[i], sd = RF(filter_sd)(t->filter, i);
        rf_real error = mean - t->truth[i];
        s->truth[i] = (double)x[i];
        s->mean[i] = (double)RF(chart_natural)(chart, mean);
        s->low[i] = (double)RF(chart_natural)(chart, mean - 2 * sd);
        s->high[i] = (double)RF(chart_natural)(chart, mean + 2 * sd);
        if (chart->kind == RF_PERIODIC) {
            rf_real period = chart->high - chart->low;
            error -= period * RF(floor)(error / period + RF_C(0.5));
            s->truth[i] = s->mean[i] - (double)error; /* on the estimate's side of the cut, as are the bounds */
            s->low[i] = s->mean[i] - 2 * (double)sd;
            s->high[i] = s->mean[i] + 2 * (double)sd;
        }
        s->error[i] = (double)error;
        s->sd[i] = (double)sd;
    }
}

static void widen_report(const RF(report) *from, rf64_report *to)
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

/* The world moves, the design chooses, and the world answers: record ← settings and outcome. */
static rf_status measure(trial *t, uint32_t step, rf_real record[])
{
    rf_status status = step > 0 ? walk(t, step) : RF_OK;
    if (status < 0)
        return status;
    for (unsigned i = 0; i < t->model.dim; i++)
        t->natural[i] = RF(chart_natural)(&t->charts[i], t->truth[i]);
    RF(design_pgh)(t->filter, &t->model, t->instance->about, record);
    record[t->model.settings] = RF(instance_outcome)(t->instance, t->natural, record, t->filter->seed, step);
    return RF_OK;
}

/* What the observer sees of a trial after its update. */
static void describe_step(trial *t, const rf_real record[], cli_step *s)
{
    RF(evidence_add)(&t->evidence, &t->report);
    if (t->about->kappa == 0)
        t->options.kappa = t->report.kappa_next;
    describe(t, t->natural, s);
    for (unsigned i = 0; i < t->model.settings; i++)
        s->setting[i] = (double)record[i];
    s->outcome = (double)record[t->model.settings];
    s->log_evidence = (double)t->evidence.log + (double)t->evidence.carry;
    widen_report(&t->report, &s->report);
}

static rf_status open_trial(trial *t, const cli_simulation *simulation, uint32_t number)
{
    rf_words w = rf_draw(simulation->seed, number, 0, 0, RF_FOR_USER);
    memset(t, 0, sizeof *t);
    t->about = simulation;
    t->instance = RF_INSTANCE(simulation->model);
    t->model = RF(instance_model)(t->instance, t->charts);
    t->options = RF(options_default)();
    t->options.attempts = simulation->attempts;
    t->options.strict = simulation->strict != 0;
    t->options.sampler = simulation->sampler;
    t->options.kappa = simulation->kappa > 0 ? (rf_real)simulation->kappa : 1;
    t->options.recovery = (rf_real)simulation->recovery;
    rf_status status = RF(filter_init)(&t->filter, t->memory, sizeof t->memory, t->model.dim, (uint64_t)w.word[1] << 32 | w.word[0]);
    if (status >= 0)
        status = set_prior(t);
    if (status >= 0)
        draw_truth(t);
    return status;
}

/* All trials that run side by side. */
typedef struct side_by_side {
    trial trials[CLI_SIDE_BY_SIDE];
    RF(filter) *filters[CLI_SIDE_BY_SIDE];
    RF(report) reports[CLI_SIDE_BY_SIDE];
    rf_real records[CLI_SIDE_BY_SIDE * (RF_NAMES_MAX + 1)];
} side_by_side;

/* One update of every trial: as a fleet, or one by one while each has a κ of its own. */
static rf_status update_all(side_by_side *all, uint32_t count)
{
    trial *t = all->trials;
    const RF(engine) *engine = RF_ENGINE(t->about->engine);
    if (t->about->kappa > 0 && count > 1) {
        rf_status status = RF(fleet_update)(all->filters, count, &t->model, all->records, &t->options, engine, all->reports);
        for (uint32_t i = 0; i < count; i++)
            t[i].report = all->reports[i];
        return status;
    }
    rf_status status = RF_OK;
    for (uint32_t i = 0; i < count && status >= 0; i++)
        status = RF(update)(t[i].filter, &t[i].model, all->records + i * (t->model.settings + 1u), 1, &t[i].options, engine, &t[i].report);
    return status;
}

static rf_status run_side_by_side(side_by_side *all, const cli_simulation *simulation, uint32_t first, uint32_t count,
                                  cli_observer *observer, void *user)
{
    rf_status status = RF_OK;
    for (uint32_t i = 0; i < count && status >= 0; i++) {
        status = open_trial(&all->trials[i], simulation, first + i);
        all->filters[i] = all->trials[i].filter;
    }
    const unsigned stride = all->trials[0].model.settings + 1u;
    for (long k = 0; k < simulation->steps && status >= 0; k++) {
        for (uint32_t i = 0; i < count && status >= 0; i++)
            status = measure(&all->trials[i], (uint32_t)k, all->records + i * stride);
        if (status < 0)
            break;
        double begin = now();
        status = update_all(all, count);
        double seconds = (now() - begin) / count;
        for (uint32_t i = 0; i < count && status >= 0; i++) {
            cli_step step = {.step = k, .seconds = seconds};
            describe_step(&all->trials[i], all->records + i * stride, &step);
            if (observer(user, first + i, &step) != 0)
                return RF_OK;
        }
    }
    return status < 0 ? status : RF_OK;
}

rf_status RF(simulate_trials)(const cli_simulation *simulation, uint32_t first, uint32_t count, cli_observer *observer, void *user)
{
    side_by_side *all = malloc(sizeof *all);
    rf_status status = all ? run_side_by_side(all, simulation, first, count, observer, user) : RF_REFUSED_ENGINE;
    free(all);
    return status;
}
