#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 2500, SIDE = 1500, OTHER = 24, TAPS_MAX = 200 };

struct oracle {
    const rf_config *config;
    unsigned dim;
    size_t n[2], all;
    double low[2], step[2], prior_mean[2], prior_sd[2];
    double hazard, jumped_mass;
    int taps;
    double tap[2 * TAPS_MAX + 1];
    rf_problem problem;
    double *stay, *jumped, *prior, *like, *other; /* all of them of `all` numbers; stay + jumped sums to 1 */
};

static double place(const oracle *o, unsigned a, size_t i) { return o->low[a] + o->step[a] * (double)i; }

void oracle_close(oracle *o)
{
    if (!o)
        return;
    free(o->stay);
    free(o->jumped);
    free(o->prior);
    free(o->like);
    free(o->other);
    free(o);
}

void oracle_restart(oracle *o)
{
    memcpy(o->stay, o->prior, o->all * sizeof *o->stay);
    memset(o->jumped, 0, o->all * sizeof *o->jumped);
    o->jumped_mass = 0;
}

static void set_prior(oracle *o)
{
    double sum = 0;
    for (size_t k = 0; k < o->all; k++) {
        double p = 1;
        for (unsigned a = 0; a < o->dim; a++) {
            const double x = rf64_chart_natural(&o->problem.charts[a], place(o, a, a == 0 ? k / o->n[1] : k % o->n[1]));
            const rf_prior *prior = &o->config->prior[a];
            const double slope = o->problem.charts[a].kind == RF_POSITIVE ? x : 1; /* densities are in the chart */
            p *= prior->is_gaussian ? exp(-0.5 * pow((x - prior->first) / prior->second, 2)) * slope : (x >= prior->first && x <= prior->second) * slope;
        }
        o->prior[k] = p;
        sum += p;
    }
    for (size_t k = 0; k < o->all; k++)
        o->prior[k] /= sum;
}

oracle *oracle_open(const rf_config *config, double hazard)
{
    oracle *o = calloc(1, sizeof *o);
    if (!o || config->description.dim > 2)
        return NULL;
    o->config = config;
    o->dim = config->description.dim;
    o->hazard = hazard;
    o->problem.model = config->model;
    o->problem.description = config->description;
    memcpy(o->problem.prior, config->prior, sizeof o->problem.prior);
    rf_problem_settle(&o->problem);
    o->n[0] = o->dim == 1 ? LINE : SIDE;
    o->n[1] = o->dim == 1 ? 1 : OTHER;
    o->all = o->n[0] * o->n[1];
    for (unsigned a = 0; a < o->dim; a++) {
        double variance;
        rf_problem_prior(&o->problem, a, &o->prior_mean[a], &variance);
        o->prior_sd[a] = sqrt(variance);
        const double reach = o->dim == 1 ? 11 : a == 0 ? 5.2 : 3.5; /* standard deviations of the prior */
        o->low[a] = o->prior_mean[a] - reach * o->prior_sd[a];
        o->step[a] = 2 * reach * o->prior_sd[a] / (double)(o->n[a] - 1);
    }
    const double sd = config->drift[0] / o->step[0];
    double sum = 0;
    o->taps = sd > 0 ? (int)fmin(ceil(5 * sd), TAPS_MAX) : 0;
    for (int i = -o->taps; i <= o->taps && sd > 0; i++)
        sum += o->tap[i + o->taps] = exp(-0.5 * i * i / (sd * sd));
    for (int i = 0; i <= 2 * o->taps && sd > 0; i++)
        o->tap[i] /= sum;
    double **const arrays[] = {&o->stay, &o->jumped, &o->prior, &o->like, &o->other};
    for (unsigned i = 0; i < 5; i++)
        if (!(*arrays[i] = calloc(o->all, sizeof **arrays[i]))) {
            oracle_close(o);
            return NULL;
        }
    set_prior(o);
    oracle_restart(o);
    return o;
}

/* A step of the walk, of the first parameter of one. */
static void diffuse(oracle *o, double **p)
{
    double *from = *p, *to = o->other;
    if (o->taps == 0 || o->dim > 1)
        return;
    memset(to, 0, o->all * sizeof *to);
    for (int t = -o->taps; t <= o->taps; t++) {
        const double weight = o->tap[t + o->taps];
        const size_t begin = t > 0 ? (size_t)t : 0, end = t < 0 ? o->all - (size_t)-t : o->all;
        for (size_t k = begin; k < end; k++)
            to[k] += weight * from[(ptrdiff_t)k - t];
    }
    *p = to;
    o->other = from;
}

static void pass(oracle *o)
{
    diffuse(o, &o->stay);
    if (o->hazard > 0)
        diffuse(o, &o->jumped);
    for (size_t k = 0; k < o->all && o->hazard > 0; k++) {
        o->stay[k] *= 1 - o->hazard;
        o->jumped[k] = o->jumped[k] * (1 - o->hazard) + o->hazard * o->prior[k];
    }
}

static void learn(oracle *o, const rf_step *step)
{
    const rf64_instance *instance = o->config->model->f64;
    double stay = 0, jumped = 0;
    for (size_t k = 0; k < o->all; k++) {
        const double x[2] = {rf64_chart_natural(&o->problem.charts[0], place(o, 0, k / o->n[1])),
                             o->dim > 1 ? rf64_chart_natural(&o->problem.charts[1], place(o, 1, k % o->n[1])) : 0};
        const double p = instance->likelihood(x, step->setting, step->outcome);
        stay += o->stay[k] *= p;
        jumped += o->jumped[k] *= p;
    }
    const double all = stay + jumped;
    if (!(all > 0)) {
        oracle_restart(o);
        return;
    }
    for (size_t k = 0; k < o->all; k++) {
        o->stay[k] /= all;
        o->jumped[k] /= all;
    }
    o->jumped_mass = jumped / all;
}

void oracle_step(oracle *o, const rf_step *step, rf_step *own)
{
    if (step->step == 0)
        oracle_restart(o);
    else
        pass(o);
    if (!isnan(step->outcome))
        learn(o, step);
    *own = *step;
    double mean[2] = {0, 0}, square[2] = {0, 0};
    for (size_t k = 0; k < o->all; k++) {
        const double p = o->stay[k] + o->jumped[k];
        for (unsigned a = 0; a < o->dim; a++) {
            const double x = place(o, a, a == 0 ? k / o->n[1] : k % o->n[1]);
            mean[a] += p * x;
            square[a] += p * x * x;
        }
    }
    for (unsigned a = 0; a < o->dim; a++) {
        own->chart_sd[a] = sqrt(fmax(square[a] - mean[a] * mean[a], o->step[a] * o->step[a] / 12));
        own->chart_error[a] = mean[a] - (step->chart_mean[a] - step->chart_error[a]);
        own->chart_mean[a] = mean[a];
    }
    own->health = RF_TRACKING;
    if (o->hazard > 0 && o->jumped_mass > 0.5) {
        own->health = RF_RECOVERING;
        for (size_t k = 0; k < o->all; k++) {
            o->stay[k] += o->jumped[k];
            o->jumped[k] = 0;
        }
        o->jumped_mass = 0;
    }
}
