#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIM_MAX = 3, TAPS_MAX = 200 };

/* One parameter, in the chart. */
typedef struct axis {
    size_t n, stride;
    uint16_t *index; /* position along this axis of each point of the grid */
    double low, step, *natural;
    int is_periodic, taps;
    double keep, shift;           /* a step moves x to keep·x + shift, */
    double tap[2 * TAPS_MAX + 1]; /* and convolves with tap */
} axis;

/* A density on the grid; its sum is `mass`. */
typedef struct density {
    double *p, mass;
} density;

struct oracle {
    const rf_config *config;
    rf_problem problem;
    unsigned dim;
    axis axis[DIM_MAX];
    size_t all;
    double hazard;
    density plain, stay, jumped; /* plain: no hazard; stay, jumped: without and after a jump, together 1 */
    double *prior, *like, *other;
    rf_session *told; /* instead of the grid: a session that restarts from `beginning` at events */
    unsigned char *beginning;
    size_t beginning_bytes;
};

void oracle_close(oracle *o)
{
    if (!o)
        return;
    for (unsigned a = 0; a < DIM_MAX; a++) {
        free(o->axis[a].natural);
        free(o->axis[a].index);
    }
    free(o->plain.p);
    free(o->stay.p);
    free(o->jumped.p);
    free(o->prior);
    free(o->like);
    free(o->other);
    rf_session_close(o->told);
    free(o->beginning);
    free(o);
}

const char *oracle_name(const oracle *o, unsigned k)
{
    if (o->told)
        return k == 0 ? "begins anew, told of it" : NULL;
    return k == 0 ? "exact, no hazard" : "exact, hazard 1e-4";
}

int oracle_alarms(const oracle *o, unsigned k) { return !o->told && k == 1; }

/* ---- The grid ---- */

/* Points per axis, and half its range in standard deviations of the prior. */
static void choose_grid(const rf_config *config, size_t n[], double reach[])
{
    const unsigned dim = config->description.dim;
    const int is_drifting = dim > 1 && config->drift[1] > 0;
    for (unsigned a = 0; a < dim; a++) {
        n[a] = dim == 1 ? 2500 : dim == 3 ? (a == 0 ? 48 : 20) : is_drifting ? 300 : a == 0 ? 1500 : 24;
        reach[a] = dim == 1 ? 11 : dim == 2 && !is_drifting && a == 0 ? 5.2 : 3.5;
    }
}

static double place(const axis *a, size_t i) { return a->low + a->step * (double)i; }

/* On a circle, the shorter way round. */
static double apart(const oracle *o, unsigned a, double x)
{
    const rf64_chart *chart = &o->problem.charts[a];
    const double period = chart->high - chart->low;
    return o->axis[a].is_periodic ? x - period * floor(x / period + 0.5) : x;
}

/* The density of the prior of parameter a, in the chart. */
static double prior_at(const oracle *o, unsigned a, size_t i)
{
    const rf_prior *prior = &o->config->prior[a];
    const rf64_chart *chart = &o->problem.charts[a];
    const double x = o->axis[a].natural[i], y = place(&o->axis[a], i), h = 1e-4;
    const double slope =
        o->axis[a].is_periodic ? 1 : (rf64_chart_natural(chart, y + h) - rf64_chart_natural(chart, y - h)) / (2 * h);
    return slope * (prior->is_gaussian ? exp(-0.5 * pow((x - prior->first) / prior->second, 2))
                                       : x >= prior->first && x <= prior->second);
}

static void set_prior(oracle *o)
{
    double sum = 0;
    for (size_t k = 0; k < o->all; k++) {
        o->prior[k] = 1;
        for (unsigned a = 0; a < o->dim; a++)
            o->prior[k] *= prior_at(o, a, o->axis[a].index[k]);
        sum += o->prior[k];
    }
    for (size_t k = 0; k < o->all; k++)
        o->prior[k] /= sum;
}

/* Weights of a step of the walk. Steps below one cell use only the neighbours, with the right variance. */
static void set_taps(axis *a, double drift, const rf_motion *motion)
{
    double sd = drift / a->step, sum = 0;
    a->keep = 1;
    if (motion->kind == RF_MOTION_REVERTING) {
        a->keep = exp(-1 / motion->time);
        a->shift = motion->centre * (1 - a->keep);
        sd = sqrt(fmax(motion->sd * motion->sd * (1 - a->keep * a->keep) / (a->step * a->step) - 1 / 6.0,
                       0)); /* interpolation between cells adds a variance of 1/6 */
    }
    a->taps = sd > 0.7 ? (int)fmin(ceil(5 * sd), TAPS_MAX) : sd > 0;
    if (a->taps == 1 && sd <= 0.7) {
        a->tap[0] = a->tap[2] = 0.5 * sd * sd;
        a->tap[1] = 1 - sd * sd;
        return;
    }
    for (int i = -a->taps; i <= a->taps && a->taps > 0; i++)
        sum += a->tap[i + a->taps] = exp(-0.5 * i * i / (sd * sd));
    for (int i = 0; i <= 2 * a->taps && a->taps > 0; i++)
        a->tap[i] /= sum;
}

static int open_axis(oracle *o, unsigned number, size_t n, double reach)
{
    axis *a = &o->axis[number];
    const rf64_chart *chart = &o->problem.charts[number];
    double mean, variance;
    if (rf_problem_prior(&o->problem, number, &mean, &variance) < 0 || !(a->natural = malloc(n * sizeof *a->natural)))
        return -1;
    a->n = n;
    a->is_periodic = chart->kind == RF_PERIODIC;
    a->low = a->is_periodic ? chart->low : mean - reach * sqrt(variance);
    a->step = a->is_periodic ? (chart->high - chart->low) / (double)n : 2 * reach * sqrt(variance) / (double)(n - 1);
    for (size_t i = 0; i < n; i++)
        a->natural[i] = rf64_chart_natural(chart, place(a, i));
    set_taps(a, o->config->drift[number], &o->config->motion[number]);
    return 0;
}

static int open_grid(oracle *o)
{
    size_t n[DIM_MAX];
    double reach[DIM_MAX];
    choose_grid(o->config, n, reach);
    o->all = 1;
    for (unsigned a = o->dim; a-- > 0;) {
        if (open_axis(o, a, n[a], reach[a]) < 0)
            return -1;
        o->axis[a].stride = o->all;
        o->all *= n[a];
    }
    for (unsigned a = 0; a < o->dim; a++) {
        if (!(o->axis[a].index = malloc(o->all * sizeof *o->axis[a].index)))
            return -1;
        for (size_t k = 0; k < o->all; k++)
            o->axis[a].index[k] = (uint16_t)(k / o->axis[a].stride % o->axis[a].n);
    }
    double **const arrays[] = {&o->plain.p, &o->stay.p, &o->jumped.p, &o->prior, &o->like, &o->other};
    for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i] = calloc(o->all, sizeof **arrays[i])))
            return -1;
    set_prior(o);
    return 0;
}

/* ---- A session that is told of events ---- */

static int open_told(oracle *o, const rf_config *config)
{
    rf_config own = *config;
    char error[300];
    own.on_lost = RF_ON_LOST_IGNORE;
    own.on_health = NULL;
    if (!(o->told = rf_session_open(&own, error, sizeof error)))
        return -1;
    o->beginning_bytes = rf_session_save(o->told, NULL);
    if (!(o->beginning = malloc(o->beginning_bytes)))
        return -1;
    rf_session_save(o->told, o->beginning);
    return 0;
}

static void step_told(oracle *o, const rf_step *step, rf_step *own)
{
    rf_record record = {.outcome = step->outcome, .time = NAN};
    double truth[RF_DESCRIBED_MAX];
    memcpy(record.setting, step->setting, sizeof record.setting);
    if (step->step == 0 || step->events & (RF_EVENT_JUMP | RF_EVENT_BACK))
        rf_session_load(o->told, o->beginning, o->beginning_bytes);
    if (step->events & RF_EVENT_OUT)
        record.outcome = NAN;
    memcpy(truth, step->truth, sizeof truth);
    if (rf_session_tell(o->told, &record, 1, own) < 0)
        abort();
    rf_session_show_truth(o->told, truth, own);
    own->step = step->step;
    own->events = step->events;
}

oracle *oracle_open(const rf_config *config, double hazard)
{
    oracle *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->config = config;
    o->dim = config->description.dim;
    o->hazard = hazard;
    o->problem.model = config->model;
    o->problem.description = config->description;
    memcpy(o->problem.prior, config->prior, sizeof o->problem.prior);
    rf_problem_settle(&o->problem);
    for (unsigned i = 0; i < o->dim; i++)
        if (config->motion[i].kind == RF_MOTION_TELEGRAPH || (config->motion[i].kind != RF_MOTION_WALK && o->dim > 1)) {
            oracle_close(o);
            return NULL;
        }
    if ((o->dim > DIM_MAX ? open_told(o, config) : open_grid(o)) < 0) {
        oracle_close(o);
        return NULL;
    }
    return o;
}

/* ---- Between records ---- */

static void restart(oracle *o)
{
    memcpy(o->plain.p, o->prior, o->all * sizeof *o->prior);
    memcpy(o->stay.p, o->prior, o->all * sizeof *o->prior);
    memset(o->jumped.p, 0, o->all * sizeof *o->prior);
    o->plain.mass = o->stay.mass = 1;
    o->jumped.mass = 0;
}

/* A reverting step along the only axis: mass moves to its new place and is shared between the two nearest cells. */
static void draw_back(oracle *o, density *d, const axis *a)
{
    double *from = d->p, *to = o->other;
    if (a->keep == 1 || d->mass == 0)
        return;
    memset(to, 0, o->all * sizeof *to);
    for (size_t i = 0; i < a->n; i++) {
        const double at = fmin(fmax((a->keep * place(a, i) + a->shift - a->low) / a->step, 0), (double)a->n - 1.001),
                     whole = floor(at);
        to[(size_t)whole] += from[i] * (1 - (at - whole));
        to[(size_t)whole + 1] += from[i] * (at - whole);
    }
    d->p = to;
    o->other = from;
}

/* A step of the walk along an axis. Mass that leaves the grid stays at its end. */
static void diffuse(oracle *o, density *d, const axis *a)
{
    double *from = d->p, *to = o->other;
    const ptrdiff_t n = (ptrdiff_t)a->n, stride = (ptrdiff_t)a->stride;
    if (a->taps == 0 || d->mass == 0)
        return;
    memset(to, 0, o->all * sizeof *to);
    for (ptrdiff_t t = -a->taps; t <= a->taps; t++) {
        const double weight = a->tap[t + a->taps];
        const ptrdiff_t first = t < 0 ? -t : 0, end = t > 0 ? n - t : n; /* range that stays on the grid */
        for (size_t block = 0; block < o->all; block += a->n * a->stride) {
            const double *row = from + block;
            double *moved = to + block;
            for (ptrdiff_t j = first * stride; j < end * stride; j++)
                moved[j + t * stride] += weight * row[j];
            for (ptrdiff_t j = t < 0 ? 0 : end * stride; j < (t < 0 ? first : n) * stride; j++) {
                const ptrdiff_t i = j / stride, at = a->is_periodic ? (i + t + n) % n : t < 0 ? 0 : n - 1;
                moved[at * stride + j % stride] += weight * row[j];
            }
        }
    }
    d->p = to;
    o->other = from;
}

static void pass(oracle *o)
{
    density *const all[] = {&o->plain, &o->stay, &o->jumped};
    for (unsigned i = 0; i < 3; i++) {
        draw_back(o, all[i], &o->axis[0]);
        for (unsigned a = 0; a < o->dim; a++)
            diffuse(o, all[i], &o->axis[a]);
    }
    for (size_t k = 0; k < o->all; k++) {
        o->stay.p[k] *= 1 - o->hazard;
        o->jumped.p[k] = o->jumped.p[k] * (1 - o->hazard) + o->hazard * o->prior[k];
    }
    o->stay.mass *= 1 - o->hazard;
    o->jumped.mass = o->jumped.mass * (1 - o->hazard) + o->hazard;
}

static double multiply(const oracle *o, density *d)
{
    double sum = 0;
    for (size_t k = 0; k < o->all; k++)
        sum += d->p[k] *= o->like[k];
    return d->mass = sum;
}

static void divide(const oracle *o, density *d, double by)
{
    for (size_t k = 0; k < o->all; k++)
        d->p[k] /= by;
    d->mass /= by;
}

static void learn(oracle *o, const rf_step *step)
{
    const rf64_instance *instance = o->config->model->f64;
    const int is_log = RF_IS_LOG(o->config->description);
    double most = -HUGE_VAL;
    for (size_t k = 0; k < o->all; k++) {
        double x[DIM_MAX];
        for (unsigned a = 0; a < o->dim; a++)
            x[a] = o->axis[a].natural[o->axis[a].index[k]];
        o->like[k] = instance->likelihood(x, step->setting, step->outcome);
        most = fmax(most, o->like[k]);
    }
    for (size_t k = 0; k < o->all && is_log; k++)
        o->like[k] = exp(o->like[k] - most);
    const double plain = multiply(o, &o->plain), both = multiply(o, &o->stay) + multiply(o, &o->jumped);
    if (!(plain > 0) || !(both > 0)) {
        restart(o);
        return;
    }
    divide(o, &o->plain, plain);
    divide(o, &o->stay, both);
    divide(o, &o->jumped, both);
}

/* Mean and standard deviation of parameter a in the sum of two densities. */
static void show(const oracle *o, unsigned a, const density *one, const density *two, rf_step *own)
{
    const axis *along = &o->axis[a];
    double p[4096] = {0}, sine = 0, cosine = 0, mean = 0, square = 0, centre = along->low;
    for (size_t k = 0; k < o->all; k++)
        p[along->index[k]] += one->p[k] + (two ? two->p[k] : 0);
    if (along->is_periodic) {
        const double turn = 2 * 3.14159265358979323846 / (along->step * (double)along->n);
        for (size_t i = 0; i < along->n; i++) {
            sine += p[i] * sin(turn * (place(along, i) - along->low));
            cosine += p[i] * cos(turn * (place(along, i) - along->low));
        }
        centre += atan2(sine, cosine) / turn;
    }
    for (size_t i = 0; i < along->n; i++) {
        const double off = apart(o, a, place(along, i) - centre);
        mean += p[i] * off;
        square += p[i] * off * off;
    }
    const double truth = own->chart_mean[a] - own->chart_error[a];
    own->chart_sd[a] = sqrt(fmax(square - mean * mean, along->step * along->step / 12));
    own->chart_mean[a] = centre + mean;
    own->chart_error[a] = apart(o, a, own->chart_mean[a] - truth);
}

void oracle_step(oracle *o, const rf_step *step, rf_step own[ORACLE_KINDS])
{
    own[0] = own[1] = *step;
    if (o->told) {
        step_told(o, step, &own[0]);
        return;
    }
    if (step->step == 0)
        restart(o);
    else
        pass(o);
    if (!isnan(step->outcome))
        learn(o, step);
    for (unsigned a = 0; a < o->dim; a++) {
        show(o, a, &o->plain, NULL, &own[0]);
        show(o, a, &o->stay, &o->jumped, &own[1]);
    }
    own[0].health = own[1].health = RF_TRACKING;
    if (o->jumped.mass > 0.5 && step->step > 0) {
        own[1].health = RF_RECOVERING;
        for (size_t k = 0; k < o->all; k++) {
            o->stay.p[k] += o->jumped.p[k];
            o->jumped.p[k] = 0;
        }
        o->stay.mass = 1;
        o->jumped.mass = 0;
    }
}
