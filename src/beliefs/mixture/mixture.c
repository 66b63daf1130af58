/* A few Gaussians: one while one is enough, split when the measured loss requires it, merged at the least cost. Also
   compiled for a GPU. */
#include "rejfilt/detail/chart.h"

#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "component.h"
#include "evaluate.h"
#include "mixture_state.h"

enum { ROUND = 5 }; /* Gaussians at the start of a circle */

/* Accumulated loss in nats below which nothing is split. One parameter soon recovers from a loss. With several, a bent
   posterior does not recover, nor does one that leans on the end of a uniform prior. */
#define LOSS_FREE_LINE 0.03
#define LOSS_FREE_WALK 0.1 /* for one parameter whose walk makes it forget: */
#define FORGETS 0.99       /* at most this share of the loss survives a time step */
#define LOSS_FREE 0.003
#define LIVE_AGAIN 0.01   /* live nats above which the first records are learnt again */
#define LOSS_ROOM 0.01    /* nats above which a split may exceed the number allowed afterwards */
#define LOSS_MAX 3e-5     /* nats lost by an update in one component above which it is split */
#define MERGER_FREE 3e-6  /* nats below which a merger is always made */
#define NARROW_MAX 0.25   /* weight in components with too few effective points: more, and a record is learnt in parts */
#define POWER_STEP 0.25   /* ratio of the next part's power to the last one's */
#define POWER_LEAST 1e-6  /* smaller powers are not tried: the likelihood is 0 at nearly all points */
#define WEIGHT_LEAST 1e-9 /* lighter components are dropped */
#define SD_LEAST 1.01     /* in units of the spacing of doubles near the mean */
#define BOX_NARROW 0.02   /* in standard deviations of the prior: below, a box's chart is no longer needed */
#define CIRCLE 0.08333    /* variance of the uniform distribution on a circle, in squared periods; not above health's cap */
#define BOX_DRIFT 0.05    /* share of a box that a walk may cross before its ends are dropped */

size_t rf_mixture_bytes(unsigned dim, unsigned settings, uint32_t max)
{
    const size_t numbers = rf_mixture_room(max) * (2 * rf_component_size(dim) + RF_TRIANGLE(dim)) +
                           (dim <= 3 ? RF_POINTS_SIZE(dim) : 0) +
                           (dim >= RF_KEEPS_FROM ? RF_RECORDS_KEPT * (settings + 1) : 0);
    return sizeof(mixture) + numbers * sizeof(double);
}

void rf_mixture_lay(rf_belief *belief, uint32_t max)
{
    mixture *m = (mixture *)belief;
    m->max = max;
    m->room = rf_mixture_room(max);
    rf_points_make(dim_of(m), points_of(m));
}

void rf_mixture_settle(mixture *m)
{
    m->head.used = dim_of(m) >= RF_KEEPS_FROM && m->remembered != RF_FORGOTTEN
                       ? m->head.bytes
                       : sizeof(mixture) + m->count * rf_component_size(dim_of(m)) * sizeof(double);
}

static void forget(mixture *m)
{
    m->remembered = RF_FORGOTTEN;
    rf_mixture_settle(m);
}

static double sd_of(const double *c, unsigned dim, unsigned i)
{
    return dim == 1 ? c[2] : rf64_sqrt(rf_component_covariance(c, dim, i, i));
}

/* ---- Uniform priors ----

   A uniform prior is exactly a standard Gaussian in the bounded chart of its range (its box), and nothing lies outside.
   So the components use that chart until they are narrow or the ends have become uncertain. */

static int is_boxed(const mixture *m, unsigned i) { return (int)(m->boxed >> i & 1); }

/* Converts a coordinate from the components' chart to the problem's. */
static double unboxed(const mixture *m, unsigned i, double y)
{
    return rf64_chart_coordinate(&m->head.problem->charts[i], rf64_chart_natural(&m->charts[i], y));
}

/* Mean of parameter i of a component in the problem's chart; *scale ← ratio of its standard deviation there to that in
   the component's chart. */
static RF_APART double marginal_of(const mixture *m, const double *c, unsigned i, double *scale)
{
    enum { NODES = 7 }; /* Gauss-Hermite */
    static const double node[] = {0, 1.154405394739968, 2.366759410734541, 3.750439717725742},
                        weight[] = {0.45714285714285713, 0.24012317860501270, 0.030757123967586510,
                                    0.00054826885597221791};
    double x[NODES] = {0}, w[NODES] = {weight[0]}, mean = 0, variance = 0;
    *scale = 1;
    if (!is_boxed(m, i))
        return c[1 + i];
    const double sd = sd_of(c, dim_of(m), i), middle = unboxed(m, i, c[1 + i]);
    for (unsigned k = 1; k < NODES; k++) {
        const unsigned at = (k + 1) / 2;
        x[k] = unboxed(m, i, c[1 + i] + (k % 2 ? sd : -sd) * node[at]) - middle;
        w[k] = weight[at];
        mean += w[k] * x[k];
    }
    for (unsigned k = 0; k < NODES; k++)
        variance += w[k] * (x[k] - mean) * (x[k] - mean);
    *scale = rf64_max(rf64_sqrt(variance), RF64_TINY) / sd;
    return middle + mean;
}

/* Converts parameter i of all components to the problem's chart. */
static RF_APART void unbox(mixture *m, unsigned i)
{
    for (uint32_t k = 0; k < m->count; k++) {
        double *c = component_of(m, k), scale;
        c[1 + i] = marginal_of(m, c, i, &scale);
        for (unsigned j = 0; j <= i; j++)
            rf_component_factor(c, dim_of(m))[RF_TRIANGLE(i) + j] *= scale;
    }
    m->boxed &= ~(1u << i);
    m->charts[i] = m->head.problem->charts[i];
}

static void unbox_all(mixture *m)
{
    for (unsigned i = 0; i < dim_of(m); i++)
        if (is_boxed(m, i))
            unbox(m, i);
}

/* Unboxes the parameters that are narrow in all components; interchangeable ones together. */
static void unbox_narrow(mixture *m)
{
    const unsigned dim = dim_of(m), alike = m->boxed ? rf_problem_interchangeable(m->head.problem) : 0;
    for (unsigned i = 0, next; i < dim && m->boxed; i = next) {
        int is_narrow = is_boxed(m, i);
        next = i < alike ? alike : i + 1;
        for (uint32_t k = 0; k < m->count && is_narrow; k++)
            for (unsigned j = i; j < next; j++)
                is_narrow &= sd_of(component_in(m, k), dim, j) < BOX_NARROW;
        for (unsigned j = i; j < next && is_narrow; j++)
            unbox(m, j);
    }
}

/* Sets the charts: boxes for the parameters in `boxed`, the problem's charts for the others. */
void rf_mixture_take_charts(mixture *m, uint32_t boxed)
{
    m->boxed = boxed;
    for (unsigned i = 0; i < dim_of(m); i++) {
        const rf_prior *prior = &m->head.problem->prior[i];
        const rf64_chart box = {RF_BOUNDED, prior->first, prior->second};
        m->charts[i] = is_boxed(m, i) ? box : m->head.problem->charts[i];
    }
}

/* One bit for each parameter whose prior is uniform and narrower than its chart. */
uint32_t rf_mixture_boxes(const rf_problem *problem)
{
    uint32_t boxes = 0;
    for (unsigned i = 0; i < problem->description.dim; i++) {
        const rf_prior *prior = &problem->prior[i];
        const rf64_chart *chart = &problem->charts[i];
        const int has_ends = chart->kind == RF_BOUNDED || chart->kind == RF_PERIODIC;
        if (!prior->is_gaussian && !(has_ends && prior->first <= chart->low && prior->second >= chart->high))
            boxes |= 1u << i;
    }
    return boxes;
}

/* Covers a whole circle by several Gaussians side by side: together as uniform as one Gaussian of the greatest width
   allowed there, and each narrow enough for a fringe. */
static void spread_round(mixture *m, unsigned parameter)
{
    const unsigned dim = dim_of(m);
    const rf64_chart *chart = &m->charts[parameter];
    const double period = chart->high - chart->low;
    m->count = ROUND;
    for (uint32_t k = 0; k < ROUND; k++) {
        double *c = component_of(m, k);
        if (k > 0)
            memcpy(c, component_of(m, 0), rf_component_size(dim) * sizeof *c);
        c[0] = 1.0 / ROUND;
        rf_component_mean(c)[parameter] = chart->low + period * (k + 0.5) / ROUND;
        rf_component_factor(c, dim)[RF_TRIANGLE(parameter) + parameter] = RF_WRAP_WIDEST * period / ROUND;
    }
}

static RF_APART rf_status mixture_restart(rf_belief *belief)
{
    mixture *m = (mixture *)belief;
    const unsigned dim = dim_of(m);
    double covariance[RF_ROOM * RF_ROOM], *c = component_of(m, 0);
    const rf_status status = rf_problem_priors(belief->problem, rf_component_mean(c), covariance);
    if (status < 0)
        return status;
    rf_mixture_take_charts(m, rf_mixture_boxes(belief->problem));
    for (unsigned i = 0; i < dim; i++)
        if (is_boxed(m, i)) {
            rf_component_mean(c)[i] = 0;
            covariance[i * dim + i] = 1;
        }
    c[0] = 1;
    m->count = 1;
    m->loss = m->drifted = belief->live = 0;
    m->kept = 1;
    m->remembered = dim < RF_KEEPS_FROM || m->max < 2 ? RF_FORGOTTEN : 0;
    m->next = 0;
    const rf_status done = rf64_covariance_factor(covariance, dim, rf_component_factor(c, dim));
    for (unsigned i = 0; i < dim && m->count == 1 && m->max >= 2 * ROUND; i++) {
        const rf64_chart *chart = &m->charts[i];
        if (chart->kind == RF_PERIODIC &&
            covariance[i * dim + i] > 0.25 * (chart->high - chart->low) * (chart->high - chart->low))
            spread_round(m, i);
    }
    rf_mixture_settle(m);
    return done;
}

/* ---- Limits ---- */

/* Reduces a periodic mean to its period; clamps standard deviations between the spacing of doubles and the greatest
   width on a circle. Returns a note. */
static RF_APART rf_status hold(double *c, const rf64_chart charts[], unsigned dim)
{
    rf_status note = RF_OK;
    for (unsigned i = 0; i < dim; i++) {
        double *mean = rf_component_mean(c) + i, sd = sd_of(c, dim, i), held = sd;
        if (charts[i].kind == RF_PERIODIC) {
            *mean = rf64_chart_natural(&charts[i], *mean);
            held = rf64_min(held, RF_WRAP_WIDEST * (charts[i].high - charts[i].low));
        }
        *mean = rf64_min(rf64_max(*mean, -RF64_LIMIT), RF64_LIMIT);
        const double spacing =
            RF64_EPSILON *
            rf64_max(rf64_abs(*mean), charts[i].kind == RF_REAL || charts[i].kind == RF_PERIODIC ? 0 : 1);
        if (held < SD_LEAST * spacing) {
            held = SD_LEAST * spacing;
            note |= RF_NOTE_COARSE;
        }
        held = rf64_min(rf64_max(held, RF64_TINY), RF64_LIMIT);
        for (unsigned j = 0; j <= i && held != sd; j++)
            rf_component_factor(c, dim)[RF_TRIANGLE(i) + j] *= held / sd;
    }
    return note;
}

RF_APART void rf_mixture_take(rf_belief *belief, const double mean[], const double covariance[])
{
    mixture *m = (mixture *)belief;
    const unsigned dim = dim_of(m);
    double *c = component_of(m, 0);
    rf_mixture_take_charts(m, 0);
    m->count = 1;
    c[0] = 1;
    memcpy(rf_component_mean(c), mean, dim * sizeof *mean);
    memcpy(rf_component_factor(c, dim), covariance, RF_TRIANGLE(dim) * sizeof *covariance);
    rf_component_cholesky(rf_component_factor(c, dim), dim, NULL);
    hold(c, m->charts, dim);
    forget(m);
}

/* ---- Time, recovery ---- */

/* A change applied to every component, by the core's filter. */
typedef struct change {
    const double *F, *Q, *factor; /* factor: if not null, stretch by it */
    double elapsed;
} change;

/* The covariance of a walk, converted to the charts of a component; `own`: space for it. */
static const double *walk_of(const mixture *m, const double *c, const double Q[], double own[])
{
    const unsigned dim = dim_of(m);
    double scale[RF_ROOM];
    if (!m->boxed || !Q)
        return Q;
    for (unsigned i = 0; i < dim; i++) { /* the slope vanishes at the end of a box: add at most the prior's variance */
        marginal_of(m, c, i, &scale[i]);
        scale[i] = rf64_max(scale[i], is_boxed(m, i) ? rf64_sqrt(rf64_max(Q[i * dim + i], 0)) : 0);
    }
    for (unsigned i = 0; i < dim * dim; i++)
        own[i] = Q[i] / (scale[i / dim] * scale[i % dim]);
    return own;
}

/* The walk of a model with one parameter. */
static rf_status walk_alone(mixture *m, double variance)
{
    for (uint32_t k = 0; k < m->count; k++) {
        double *c = component_of(m, k), own = 0;
        const double *walked = walk_of(m, c, &variance, &own);
        c[2] = rf64_sqrt(c[2] * c[2] + *walked);
        hold(c, m->charts, 1);
    }
    return RF_OK;
}

static RF_APART rf_status change_all(mixture *m, const change *by)
{
    if (dim_of(m) == 1 && by->Q && !by->F && by->Q[0] * by->elapsed >= 0 && by->Q[0] * by->elapsed <= RF64_LIMIT)
        return walk_alone(m, by->Q[0] * by->elapsed);
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(RF_ROOM)];
    double own[RF_ROOM * RF_ROOM];
    const unsigned dim = dim_of(m);
    rf64_filter *filter;
    rf_status status = rf64_filter_init(&filter, memory, sizeof memory, dim, 0);
    for (uint32_t k = 0; k < m->count && status >= 0; k++) {
        double *c = component_of(m, k), *mean = rf_component_mean(c), *factor = rf_component_factor(c, dim);
        status = rf64_filter_restore(filter, 0, 0, mean, factor, NULL);
        if (status >= 0)
            status = by->factor ? rf64_stretch(filter, by->factor)
                     : by->F    ? rf64_evolve(filter, by->F, by->Q)
                                : rf64_diffuse_covariance(filter, walk_of(m, c, by->Q, own), by->elapsed);
        memcpy(mean, rf64_filter_mean(filter), dim * sizeof *mean);
        memcpy(factor, rf64_filter_factor(filter), RF_TRIANGLE(dim) * sizeof *factor);
        hold(c, m->charts, dim);
    }
    return status < 0 ? status : RF_OK;
}

/* Drops the boxes if a walk may have crossed their ends, or if there are dynamics. */
static void walk_ends(mixture *m, const double F[], const double Q[], double elapsed)
{
    const unsigned dim = dim_of(m);
    double most = 0;
    for (unsigned i = 0; i < dim && Q && m->boxed; i++) {
        const rf64_chart *chart = &m->head.problem->charts[i];
        if (is_boxed(m, i)) {
            const double width =
                rf64_chart_coordinate(chart, m->charts[i].high) - rf64_chart_coordinate(chart, m->charts[i].low);
            most = rf64_max(most, Q[i * dim + i] * elapsed / (width * width));
        }
    }
    m->drifted += most;
    if (F || !(m->drifted <= BOX_DRIFT * BOX_DRIFT))
        unbox_all(m);
}

/* Records are about parameters that stay where they are. */
static void forget_if_moved(mixture *m, const double F[], const double Q[], double elapsed)
{
    const unsigned dim = dim_of(m);
    int is_moved = F != NULL;
    for (unsigned i = 0; i < dim && Q && elapsed > 0; i++)
        is_moved |= Q[i * dim + i] > 0;
    if (is_moved)
        forget(m);
}

static RF_APART rf_status mixture_pass(rf_belief *belief, const double F[], const double Q[], double elapsed)
{
    mixture *m = (mixture *)belief;
    const change by = {F, Q, NULL, elapsed};
    double before[RF_ROOM];
    walk_ends(m, F, Q, elapsed);
    forget_if_moved(m, F, Q, elapsed);
    rf_belief_variances(belief, before);
    const rf_status status = change_all(m, &by);
    if (!F)
        m->kept = rf_belief_forget(belief, before);
    return status;
}

/* Stretches every component separately, so that modes stay where they are. */
static RF_APART rf_status mixture_stretch(rf_belief *belief, const double factor[])
{
    mixture *m = (mixture *)belief;
    const change by = {NULL, NULL, factor, 0};
    for (unsigned i = 0; i < dim_of(m); i++)
        if (is_boxed(m, i) && factor[i] != 1)
            unbox(m, i);
    forget(m);
    return change_all(m, &by);
}

static rf_status mixture_shift(rf_belief *belief, const double by[])
{
    mixture *m = (mixture *)belief;
    const unsigned dim = dim_of(m);
    unbox_all(m);
    forget(m);
    for (uint32_t k = 0; k < m->count; k++) {
        double *c = component_of(m, k);
        for (unsigned i = 0; i < dim; i++)
            rf_component_mean(c)[i] += by[i];
        hold(c, m->charts, dim);
    }
    return RF_OK;
}

/* The covariance: lower triangle by rows. */
static void covariances_of(const double *c, unsigned dim, double covariance[])
{
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++)
            covariance[RF_TRIANGLE(i) + j] = rf_component_covariance(c, dim, i, j);
}

static RF_APART void mixture_confine(rf_belief *belief)
{
    mixture *m = (mixture *)belief;
    const unsigned dim = dim_of(m);
    double covariance[RF_TRIANGLE(RF_ROOM)];
    for (uint32_t k = 0; k < m->count; k++) {
        double *c = component_of(m, k);
        int is_outside = 0;
        for (unsigned i = 0; i < dim; i++)
            is_outside |= rf_problem_has_range(belief->problem, i) && !is_boxed(m, i) &&
                          !(c[1 + i] >= belief->problem->low[i] && c[1 + i] <= belief->problem->high[i]);
        if (!is_outside)
            continue;
        unbox_all(m);
        covariances_of(c, dim, covariance);
        if (!rf_problem_confine(belief->problem, rf_component_mean(c), covariance))
            continue;
        rf_component_cholesky(covariance, dim, NULL);
        rf_copy(rf_component_factor(c, dim), covariance, RF_TRIANGLE(dim) * sizeof *covariance);
        hold(c, m->charts, dim);
        forget(m);
    }
}

/* a ← the Gaussian with the weight and the first two moments of both. */
static void join(mixture *m, double *a, const double *b)
{
    const unsigned dim = dim_of(m);
    double own[RF_TRIANGLE(RF_ROOM)], other[RF_TRIANGLE(RF_ROOM)],
        joint[RF_TRIANGLE(RF_ROOM)];
    covariances_of(a, dim, own);
    covariances_of(b, dim, other);
    rf_component_joint(a, b, own, other, m->charts, dim, joint);
    rf_component_cholesky(joint, dim, NULL);
    rf_component_merge(a, b, m->charts, dim, joint);
}

/* The index of the level nearer to y. */
static unsigned nearer_to(const double level[2], double y) { return rf64_abs(y - level[1]) < rf64_abs(y - level[0]); }

/* Every component gets an image at the other level, weighted by the probability of a switch. The image is joined with
   the heaviest component near its place; otherwise it becomes a new component, if there is room. */
static RF_APART rf_status mixture_telegraph(rf_belief *belief, unsigned parameter, const double level[2], const double chance[2])
{
    mixture *m = (mixture *)belief;
    const unsigned dim = dim_of(m);
    const uint32_t before = m->count;
    const double away = level[1] - level[0];
    const size_t size = rf_component_size(dim);
    double *old = after_of(m, 0);
    unbox_all(m);
    forget(m);
    rf_copy(old, component_of(m, 0), before * size * sizeof *old);
    for (uint32_t k = 0; k < before; k++)
        component_of(m, k)[0] *= 1 - chance[nearer_to(level, rf_component_mean(old + k * size)[parameter])];
    for (uint32_t k = 0; k < before; k++) {
        double *image = old + k * size, *mean = &rf_component_mean(image)[parameter];
        const unsigned at = nearer_to(level, *mean);
        uint32_t near = m->count;
        image[0] *= chance[at];
        *mean += at ? -away : away;
        for (uint32_t j = 0; j < m->count; j++)
            if (rf64_abs(rf_component_mean(component_of(m, j))[parameter] - *mean) < 0.5 * rf64_abs(away) &&
                (near == m->count || component_of(m, j)[0] > component_of(m, near)[0]))
                near = j;
        if (near < m->count)
            join(m, component_of(m, near), image);
        else if (m->count < m->max)
            memcpy(component_of(m, m->count++), image, size * sizeof *image);
        else
            component_of(m, k)[0] += image[0];
    }
    for (uint32_t k = 0; k < m->count; k++)
        hold(component_of(m, k), m->charts, dim);
    rf_mixture_settle(m);
    return RF_OK;
}

/* ---- Merging ---- */

static void merger_take(rf_merger *g, mixture *m, uint32_t i)
{
    const unsigned dim = dim_of(m);
    const double *c = after_of(m, i);
    double *covariance = covariance_of(m, i);
    g->weight[i] = c[0];
    g->log_size[i] = rf_component_log_size(c, dim);
    covariances_of(c, dim, covariance);
    for (unsigned d = 0; d < dim && dim <= 2; d++)
        g->mean[d][i] = c[1 + d];
    for (unsigned d = 0; d < RF_TRIANGLE(dim) && dim <= 2; d++)
        g->covariance[d][i] = covariance[d];
}

/* The place of a component that does not exist. */
static void merger_pad(rf_merger *g, unsigned dim, uint32_t i)
{
    g->weight[i] = 1;
    g->log_size[i] = 0;
    for (unsigned d = 0; d < dim && dim <= 2; d++)
        g->mean[d][i] = 0;
    for (unsigned d = 0; d < RF_TRIANGLE(dim) && dim <= 2; d++)
        g->covariance[d][i] = 1;
}

/* cost[k] ← cost of merging i and first + k. */
static void merger_costs(const rf_merger *g, mixture *m, uint32_t i, uint32_t first, uint32_t end, double cost[])
{
    const unsigned dim = dim_of(m);
    if (dim <= 2) {
        RF_MANY(costs)(g, dim, m->charts, i, first, end, cost);
        return;
    }
    for (uint32_t j = first; j < end; j++) {
        double joint[RF_TRIANGLE(RF_ROOM)];
        rf_component_joint(after_of(m, i), after_of(m, j), covariance_of(m, i), covariance_of(m, j), m->charts, dim, joint);
        cost[j - first] = (g->weight[i] + g->weight[j]) * rf_component_cholesky(joint, dim, NULL) -
                          (g->weight[i] * g->log_size[i] + g->weight[j] * g->log_size[j]);
    }
}

/* Finds the cheapest partner of i among the components before it. */
static void merger_look(rf_merger *g, uint32_t i)
{
    const double *cost = g->cost + RF_TRIANGLE(i);
    g->least[i] = rf64_infinity();
    for (uint32_t j = 0; j < i; j++)
        if (cost[j] < g->least[i]) {
            g->least[i] = cost[j];
            g->partner[i] = j;
        }
}

/* The cheapest pair among `count`. */
static double merger_cheapest(const rf_merger *g, uint32_t count, uint32_t *first, uint32_t *second)
{
    *second = 1;
    for (uint32_t i = 2; i < count; i++)
        *second = g->least[i] < g->least[*second] ? i : *second;
    *first = g->partner[*second];
    return g->least[*second];
}

/* Recomputes all costs that involve component i. */
static void merger_again(rf_merger *g, mixture *m, uint32_t count, uint32_t i)
{
    double cost[RF_MIXTURE_MAX];
    merger_take(g, m, i);
    merger_costs(g, m, i, 0, i, g->cost + RF_TRIANGLE(i));
    merger_costs(g, m, i, i + 1, count, cost);
    merger_look(g, i);
    for (uint32_t k = i + 1; k < count; k++) {
        g->cost[RF_TRIANGLE(k) + i] = cost[k - i - 1];
        if (g->partner[k] == i || cost[k - i - 1] <= g->least[k])
            merger_look(g, k);
    }
}

/* Merges `count` components after a record until at most 3/4 of the maximum are left and no merger is free. Returns
   their number. */
static RF_APART uint32_t merge(mixture *m, uint32_t count)
{
    const unsigned dim = dim_of(m);
    const uint32_t wanted = m->max * 3 / 4 > 1 ? m->max * 3 / 4 : 1;
    rf_merger g;
    for (uint32_t i = 0; i < count && count > 1; i++)
        merger_take(&g, m, i);
    for (uint32_t i = count; i < count + RF_TOGETHER; i++)
        merger_pad(&g, dim, i);
    for (uint32_t i = 0; i < count && count > 1; i++) {
        merger_costs(&g, m, i, 0, i, g.cost + RF_TRIANGLE(i));
        merger_look(&g, i);
    }
    while (count > 1) {
        uint32_t a, b;
        const double cost = merger_cheapest(&g, count, &a, &b);
        double joint[RF_TRIANGLE(RF_ROOM)];
        if (count <= wanted && !(cost < MERGER_FREE))
            break;
        rf_component_joint(after_of(m, a), after_of(m, b), covariance_of(m, a), covariance_of(m, b), m->charts, dim,
                           joint);
        rf_component_cholesky(joint, dim, NULL);
        m->loss += rf_component_merger_loss(after_of(m, a), after_of(m, b), covariance_of(m, a), covariance_of(m, b), m->charts,
                                            dim, joint, cost);
        rf_component_merge(after_of(m, a), after_of(m, b), m->charts, dim, joint);
        hold(after_of(m, a), m->charts, dim);
        count--;
        if (b != count) {
            memcpy(after_of(m, b), after_of(m, count), rf_component_size(dim) * sizeof(double));
            merger_again(&g, m, count, b);
        }
        merger_again(&g, m, count, a);
    }
    return count;
}

/* ---- Updates ---- */

/* The evaluation of all components for one record. */
typedef struct learning {
    rf_evaluator evaluator;
    rf_evaluation found[RF_MIXTURE_MAX];
    double weight[RF_MIXTURE_MAX]; /* prior weight times likelihood over exp(scale) */
    double scale;
} learning;

static void weigh(learning *l, const mixture *m, uint32_t i)
{
    const rf_evaluation *f = &l->found[i];
    const double more =
        f->scale == l->scale || !(f->likelihood > 0) ? 1 : rf64_exp(rf64_min(f->scale - l->scale, 600.0));
    l->weight[i] = component_in(m, i)[0] * f->likelihood * more;
}

#ifndef RF_DEVICE_KIND
/* Calls the block function once for the points of all these components: a call costs more than many points. Returns
   memory to free, or null if nothing was evaluated. */
static double *ask_ahead(learning *l, mixture *m, const uint32_t which[], uint32_t count, rf_status *status)
{
    rf_evaluator *e = &l->evaluator;
    const unsigned dim = dim_of(m);
    const uint32_t all = count * rf_points_count(dim), evaluations = e->evaluations;
    double *x = e->model->block && count > 1 ? malloc((size_t)all * (dim + 1) * sizeof *x) : NULL;
    if (!x)
        return NULL;
    e->wanted = x;
    for (uint32_t k = 0; k < count; k++)
        rf_evaluate(e, component_of(m, which[k]), NULL, NULL);
    e->wanted = NULL;
    e->evaluations = evaluations;
    e->known = x + (size_t)all * dim;
    *status = rf64_model_likelihoods(e->model, x, dim, all, e->record, e->record[e->model->settings], x + (size_t)all * dim);
    return x;
}
#endif

/* Evaluates the components which[0..count). */
static rf_status evaluate(learning *l, mixture *m, const uint32_t which[], uint32_t count)
{
    rf_status status = RF_OK;
#ifndef RF_DEVICE_KIND
    double *ahead = ask_ahead(l, m, which, count, &status);
#endif
    for (uint32_t k = 0; k < count && status >= 0; k++)
        status = rf_evaluate(&l->evaluator, component_of(m, which[k]), after_of(m, which[k]), &l->found[which[k]]);
#ifndef RF_DEVICE_KIND
    l->evaluator.known = NULL;
    free(ahead);
#endif
    return status;
}

/* Splits component i, as it was before the record, and evaluates its parts. */
static rf_status split(learning *l, mixture *m, uint32_t i)
{
    const unsigned dim = dim_of(m);
    const uint32_t parts[3] = {i, m->count, m->count + 1};
    unsigned axis;
    rf_status status = rf_evaluate_axis(&l->evaluator, component_of(m, i), &l->found[i], &axis);
    if (status < 0)
        return status;
    rf_component_split(component_of(m, i), dim, axis, component_of(m, parts[1]), component_of(m, parts[0]),
                       component_of(m, parts[2]));
    m->count += 2;
    status = evaluate(l, m, parts, 3);
    for (unsigned k = 0; k < 3 && status >= 0; k++)
        weigh(l, m, parts[k]);
    return status;
}

static double weight_of(const double *weight, uint32_t count)
{
    double total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += weight[i];
    return total;
}

/* Evaluates all components with a power of the record's likelihood. */
static rf_status evaluate_each(learning *l, mixture *m, double power)
{
    uint32_t all[RF_MIXTURE_MAX];
    l->evaluator.power = power;
    l->scale = -rf64_infinity();
    for (uint32_t i = 0; i < m->count; i++)
        all[i] = i;
    const rf_status status = evaluate(l, m, all, m->count);
    if (status < 0)
        return status;
    for (uint32_t i = 0; i < m->count; i++)
        l->scale = rf64_max(l->found[i].scale, l->scale);
    for (uint32_t i = 0; i < m->count; i++)
        weigh(l, m, i);
    return RF_OK;
}

/* Do components with a large share of the weight have posteriors narrower than the spacing of the points? */
static int is_narrow(const learning *l, const mixture *m)
{
    double narrow = 0;
    for (uint32_t i = 0; i < m->count; i++)
        narrow += l->found[i].is_narrow ? l->weight[i] : 0;
    return narrow > NARROW_MAX * weight_of(l->weight, m->count);
}

/* Evaluates all components with as much of the record as the points resolve: the largest power tried, from `first`
   down, that leaves enough of them effective. If there is none, with the whole power `left`. */
static rf_status evaluate_some(learning *l, mixture *m, double first, double left)
{
    rf_status status = evaluate_each(l, m, first);
    for (double power = first; status >= 0 && is_narrow(l, m);) {
        power *= POWER_STEP;
        if (power < POWER_LEAST)
            return evaluate_each(l, m, left);
        status = evaluate_each(l, m, power);
    }
    return status;
}

/* Splits until no component loses too much, or there is no room. */
static rf_status split_all(learning *l, mixture *m)
{
    const double allowed = dim_of(m) > 1 || m->boxed ? LOSS_FREE : m->kept < FORGETS ? LOSS_FREE_WALK : LOSS_FREE_LINE;
    while (m->count + 2 <= m->room && !m->head.as_one) {
        const double total = weight_of(l->weight, m->count);
        double max = 0, sum = 0;
        uint32_t worst = 0;
        for (uint32_t i = 0; i < m->count; i++) {
            const double loss = l->weight[i] * l->found[i].loss;
            sum += loss;
            if (loss > max) {
                max = loss;
                worst = i;
            }
        }
        if (!(max > (m->count + 2 <= m->max ? LOSS_MAX : LOSS_ROOM) * total) ||
            m->head.live * total + sum <= allowed * total)
            break;
        const rf_status status = split(l, m, worst);
        if (status < 0)
            return status;
    }
    return RF_OK;
}

/* Applies the evaluations. Adds the logarithm of the record's probability to *log_evidence, or sets −∞ if it is
   impossible; sets *effective. */
static rf_status learn_some(learning *l, mixture *m, double *log_evidence, double *effective)
{
    const unsigned dim = dim_of(m);
    const size_t size = rf_component_size(dim);
    rf_status note = split_all(l, m);
    const double total = note < 0 ? 0 : weight_of(l->weight, m->count);
    double squares = 0, left = 0;
    unsigned order[RF_ROOM];
    uint32_t count = 0;
    if (note < 0)
        return note;
    if (!(total > 0 && total <= RF64_LARGEST)) {
        *log_evidence = -rf64_infinity();
        return RF_OK;
    }
    *log_evidence += rf64_log(total) + l->scale;
    for (uint32_t i = 0; i < m->count; i++) {
        const double weight = l->weight[i] / total;
        squares += weight * weight / l->found[i].effective;
        if (weight < WEIGHT_LEAST)
            continue;
        m->loss += weight * l->found[i].loss;
        left += weight;
        if (count != i)
            memcpy(after_of(m, count), after_of(m, i), size * sizeof(double));
        after_of(m, count)[0] = weight;
        if (rf_problem_order(m->head.problem, rf_component_mean(after_of(m, count)), order))
            rf_component_permute(after_of(m, count), dim, order);
        note |= hold(after_of(m, count), m->charts, dim);
        count++;
    }
    for (uint32_t i = 0; i < count; i++)
        after_of(m, i)[0] /= left;
    *effective = 1 / squares;
    m->count = merge(m, count);
    rf_mixture_settle(m);
    rf_copy(component_of(m, 0), after_of(m, 0), m->count * size * sizeof(double));
    unbox_narrow(m);
    return note;
}

/* Updates with one record: at once, or in several parts if it is more informative than the points resolve; the
   likelihood is the product of its powers. Adds ln P(E) to *log_evidence. */
static rf_status learn(learning *l, mixture *m, double *log_evidence, double *effective)
{
    rf_status note = RF_OK;
    for (double left = 1, first = 1; left > 0 && *log_evidence > -rf64_infinity(); left -= l->evaluator.power) {
        rf_status status = evaluate_some(l, m, first, left);
        if (status >= 0)
            status = learn_some(l, m, log_evidence, effective);
        if (status < 0)
            return status;
        note |= status;
        first = rf64_min(l->evaluator.power / POWER_STEP, left - l->evaluator.power);
    }
    return note;
}

/* ---- The first records ---- */

/* Keeps a record; with one too many, none. */
static void remember(mixture *m, const double *record)
{
    const size_t row = m->head.problem->description.settings + 1u;
    if (m->remembered == RF_FORGOTTEN)
        return;
    if (m->remembered == RF_RECORDS_KEPT) {
        forget(m);
        return;
    }
    memcpy((double *)(uintptr_t)rf_mixture_record(m, m->remembered++), record, row * sizeof *record);
}

/* If much was lost that still matters, learns the records since the prior again. */
static rf_status recall(learning *l, mixture *m)
{
    const unsigned dim = dim_of(m);
    uint32_t count;
    double effective, total = 0;
    if (m->remembered == RF_FORGOTTEN || m->remembered < m->next || !(m->head.live > LIVE_AGAIN))
        return RF_OK;
    m->next = m->remembered + 1 + m->remembered / 4;
    rf_status note = rf_mixture_recall(m, &l->evaluator, &count, &effective);
    if (note < 0 || count == 0)
        return note;
    for (uint32_t i = 0; i < count; i++) {
        note |= hold(after_of(m, i), m->charts, dim);
        total += after_of(m, i)[0];
    }
    for (uint32_t i = 0; i < count; i++)
        after_of(m, i)[0] /= total;
    m->count = merge(m, count);
    rf_mixture_settle(m);
    rf_copy(component_of(m, 0), after_of(m, 0), m->count * rf_component_size(dim) * sizeof(double));
    unbox_narrow(m);
    m->head.live = 0.5 * dim / effective;
    return note;
}

static uint16_t counted(uint32_t bad) { return (uint16_t)(bad < 65535 ? bad : 65535); }

static RF_APART rf_status mixture_update(rf_belief *belief, const double records[], uint32_t count, const rf64_options *options,
                                const rf_engine *engine, rf64_report *report)
{
    mixture *m = (mixture *)belief;
    rf64_model model = rf64_problem_model(belief->problem);
    const size_t width = model.settings + 1u;
    learning l;
    const rf_evaluator none = {.model = &model, .fixed = points_of(m), .seed = belief->seed, .update = m->updates};
    double log_evidence = 0, effective = 1, before[RF_ROOM];
    const double lost_before = m->loss;
    rf_status note = RF_OK;
    (void)engine;
    if (count == 0 || rf_belief_check(belief, records, count) < 0)
        return RF_REFUSED_EVIDENCE;
    l.evaluator = none;
    model.charts = m->charts;
    for (uint32_t k = 0; k < count; k++) {
        double more = 0;
        const double lost = m->loss;
        rf_belief_variances(belief, before);
        l.evaluator.record = records + k * width;
        const rf_status status = learn(&l, m, &more, &effective);
        if (status < 0)
            return status;
        note |= status;
        log_evidence += more;
        rf_belief_lose(belief, before, m->loss - lost);
        remember(m, l.evaluator.record);
        const rf_status again = recall(&l, m);
        if (again < 0)
            return again;
        note |= again;
        if (!rf64_is_finite(more)) { /* the likelihood is zero at every point */
            double factor[RF_ROOM];
            for (unsigned i = 0; i < model.dim; i++)
                factor[i] = rf64_sqrt(1 + options->recovery);
            mixture_stretch(belief, factor);
            note |= RF_NOTE_WIDENED;
        }
    }
    note |= rf_belief_report(report, m->updates++, l.evaluator.points, effective, log_evidence);
    if (l.evaluator.nan || l.evaluator.negative || l.evaluator.infinite)
        note = note & RF_NOTE_WIDENED ? (note & ~(RF_NOTE_WIDENED | RF_NOTE_SHORT)) | RF_NOTE_BAD | RF_NOTE_BROKEN : note | RF_NOTE_BAD;
    report->nan = counted(l.evaluator.nan);
    report->negative = counted(l.evaluator.negative);
    report->infinite = counted(l.evaluator.infinite);
    report->loss = m->loss - lost_before;
    report->status = note;
    return note;
}

static RF_APART rf_status mixture_place(rf_belief *belief, const rf_gaussian parts[], uint32_t count)
{
    mixture *m = (mixture *)belief;
    const unsigned dim = dim_of(m);
    const size_t size = rf_component_size(dim) * sizeof(double);
    double total = 0;
    if (count == 1 || count > m->room) {
        double mean[RF_ROOM], covariance[RF_TRIANGLE(RF_ROOM)];
        rf_gaussians_join(belief->problem, parts, count, mean, covariance);
        rf_mixture_take(belief, mean, covariance);
        return RF_OK;
    }
    rf_mixture_take_charts(m, 0);
    for (uint32_t k = 0; k < count; k++)
        total += parts[k].weight;
    for (uint32_t k = 0; k < count; k++) {
        double *c = after_of(m, k);
        c[0] = parts[k].weight / total;
        memcpy(rf_component_mean(c), parts[k].mean, dim * sizeof *c);
        memcpy(rf_component_factor(c, dim), parts[k].covariance, RF_TRIANGLE(dim) * sizeof *c);
        rf_component_cholesky(rf_component_factor(c, dim), dim, NULL);
        hold(c, m->charts, dim);
    }
    m->count = count > m->max ? merge(m, count) : count;
    rf_copy(component_of(m, 0), after_of(m, 0), m->count * size);
    forget(m);
    return RF_OK;
}

/* As marginal_of, but where possible the Gaussian in the problem's chart that has the natural mean and standard
   deviation. */
static double faithful_marginal(const mixture *m, const double *c, unsigned i, double *scale)
{
    const rf_chart_kind kind = m->head.problem->charts[i].kind;
    if (!is_boxed(m, i) || kind == RF_BOUNDED)
        return marginal_of(m, c, i, scale);
    const double weight = 1, own = sd_of(c, dim_of(m), i);
    const rf_marginal one = {1, &weight, &c[1 + i], &own, 0, 0};
    double mean = 0, sd;
    rf_marginal_natural(&m->charts[i], &one, &mean, &sd);
    if (kind == RF_POSITIVE) {
        const double v = rf64_log(1 + sd / mean * (sd / mean));
        mean = rf64_log(mean) - 0.5 * v;
        sd = rf64_sqrt(v);
    }
    *scale = rf64_max(sd, RF64_TINY) / own;
    return mean;
}

static uint32_t mixture_gaussians(const rf_belief *belief, rf_gaussian parts[])
{
    const mixture *m = (const mixture *)belief;
    const unsigned dim = dim_of(m);
    for (uint32_t k = 0; k < m->count; k++) {
        const double *c = component_in(m, k);
        double scale[RF_ROOM];
        parts[k].weight = c[0];
        for (unsigned i = 0; i < dim; i++)
            parts[k].mean[i] = faithful_marginal(m, c, i, &scale[i]);
        for (unsigned i = 0; i < dim; i++)
            for (unsigned j = 0; j <= i; j++)
                parts[k].covariance[RF_TRIANGLE(i) + j] = scale[i] * scale[j] * rf_component_covariance(c, dim, i, j);
    }
    return m->count;
}

/* ---- Reading ---- */

/* The mean and the variance of parameter i when the circle is cut opposite `centre`. */
static double mean_about(const mixture *m, unsigned i, double centre, double *variance)
{
    const rf64_chart *chart = &m->charts[i];
    double mean = 0, square = 0;
    for (uint32_t k = 0; k < m->count; k++) {
        const double *c = component_in(m, k), apart = rf_component_apart(chart, c[1 + i] - centre);
        mean += c[0] * apart;
        square += c[0] * apart * apart;
    }
    *variance = square - mean * mean;
    return centre + mean;
}

/* The mean; on a circle the one about which the components have the least variance. */
static double mean_of(const mixture *m, unsigned i)
{
    const rf64_chart *chart = &m->charts[i];
    uint32_t heaviest = 0;
    double variance, least = rf64_infinity(), best;
    for (uint32_t k = 1; k < m->count; k++)
        heaviest = component_in(m, k)[0] > component_in(m, heaviest)[0] ? k : heaviest;
    best = mean_about(m, i, component_in(m, heaviest)[1 + i], &variance);
    if (chart->kind != RF_PERIODIC)
        return best;
    for (uint32_t k = 0; k < m->count; k++) {
        double mean = component_in(m, k)[1 + i];
        for (unsigned again = 0; again < 3; again++)
            mean = mean_about(m, i, mean, &variance);
        if (variance < least) {
            least = variance;
            best = mean;
        }
    }
    return rf64_chart_natural(chart, best);
}

/* The moments for one parameter on a line, or for one Gaussian. Called several times per record. */
static void moments_on_line(const mixture *m, double *mean, double *variance)
{
    const double *first = component_in(m, 0), *heaviest = first, *end = first + 3 * m->count;
    double off = 0, total = 0;
    if (m->count == 1) {
        *mean = first[1];
        if (variance)
            *variance = first[2] * first[2];
        return;
    }
    for (const double *c = first + 3; c < end; c += 3)
        heaviest = c[0] > heaviest[0] ? c : heaviest;
    for (const double *c = first; c < end; c += 3)
        off += c[0] * (c[1] - heaviest[1]);
    *mean = heaviest[1] + off;
    if (!variance)
        return;
    for (const double *c = first; c < end; c += 3)
        total += c[0] * (c[2] * c[2] + (c[1] - *mean) * (c[1] - *mean));
    *variance = total;
}

/* A distribution on a circle is at most as wide as the uniform one, about the mean that makes it narrowest. Gaussians
   around the circle seem wider, since each counts beyond half a turn. */
static void hold_round(const mixture *m, double covariance[])
{
    const unsigned dim = dim_of(m);
    for (unsigned i = 0; i < dim; i++) {
        const double period = m->charts[i].kind == RF_PERIODIC ? m->charts[i].high - m->charts[i].low : 0,
                     variance = covariance[RF_TRIANGLE(i) + i], most = CIRCLE * period * period;
        if (!(period > 0 && variance > most))
            continue;
        for (unsigned j = 0; j < dim; j++)
            covariance[i > j ? RF_TRIANGLE(i) + j : RF_TRIANGLE(j) + i] *= rf64_sqrt(most / variance);
        covariance[RF_TRIANGLE(i) + i] = most;
    }
}

static RF_APART void mixture_moments(const rf_belief *belief, double mean[], double covariance[])
{
    const mixture *m = (const mixture *)belief;
    const unsigned dim = dim_of(m);
    double scale[RF_ROOM], apart[RF_ROOM];
    struct { /* values of boxed parameters; a GPU has a small stack and computes them again */
        double at, scale;
    } seen[RF_HOST_ONLY(RF_MIXTURE_MAX) + 1][RF_ROOM];
    if (dim == 1 && !m->boxed && (m->count == 1 || m->charts[0].kind != RF_PERIODIC)) {
        moments_on_line(m, mean, covariance);
        return;
    }
    if (m->count == 1 && !m->boxed) {
        memcpy(mean, component_in(m, 0) + 1, dim * sizeof *mean);
        if (covariance)
            covariances_of(component_in(m, 0), dim, covariance);
        return;
    }
    for (unsigned i = 0; i < dim; i++) {
        mean[i] = is_boxed(m, i) ? 0 : mean_of(m, i);
        for (uint32_t k = 0; k < m->count && is_boxed(m, i); k++) {
            const double at = marginal_of(m, component_in(m, k), i, &scale[i]);
            mean[i] += component_in(m, k)[0] * at;
            if (RF_HOST_ONLY(1)) {
                seen[k][i].at = at;
                seen[k][i].scale = scale[i];
            }
        }
    }
    if (!covariance)
        return;
    memset(covariance, 0, RF_TRIANGLE(dim) * sizeof *covariance);
    for (uint32_t k = 0; k < m->count; k++) {
        const double *c = component_in(m, k);
        for (unsigned i = 0; i < dim; i++) {
            const int is_seen = RF_HOST_ONLY(is_boxed(m, i));
            const double at = is_seen ? seen[k][i].at : marginal_of(m, c, i, &scale[i]);
            scale[i] = is_seen ? seen[k][i].scale : scale[i];
            apart[i] = rf_component_apart(&m->charts[i], at - mean[i]);
            for (unsigned j = 0; j <= i; j++)
                covariance[RF_TRIANGLE(i) + j] +=
                    c[0] * (scale[i] * scale[j] * rf_component_covariance(c, dim, i, j) + apart[i] * apart[j]);
        }
    }
    if (m->count > 1)
        hold_round(m, covariance);
}

/* Draw `index` of a purpose: writes normals to z, returns a number in (0, 1). Health uses the same number of draws for
   each record, to integrate: they come from a low-discrepancy sequence, shifted by each update, which is more exact
   than random numbers and cheaper. */
static double normals(const mixture *m, uint32_t index, uint32_t purpose, double z[])
{
    const unsigned dim = dim_of(m);
    if (purpose == RF_FOR_HEALTH && index < RF_HEALTH_DRAWS) {
        for (unsigned i = 0; i < dim; i++)
            z[i] = rf_points_normal(i, 1103u * (i + 1) * m->updates, index);
        return (index + (m->updates % 8 + 0.5) / 8) / RF_HEALTH_DRAWS;
    }
    for (unsigned i = 0; i < dim; i += 2) {
        const rf_words w = rf_draw(m->head.seed, m->updates, index, i / 4, purpose);
        rf64_normal_pair(w.word[i % 4], w.word[i % 4 + 1], &z[i], &z[i + 1]);
    }
    return rf64_uniform(rf_draw(m->head.seed, m->updates, index, RF_DESCRIBED_MAX, purpose).word[0]);
}

static RF_APART void mixture_draw(const rf_belief *belief, uint32_t index, uint32_t purpose, double x[])
{
    const mixture *m = (const mixture *)belief;
    const unsigned dim = dim_of(m);
    double z[RF_ROOM + 1], left = normals(m, index, purpose, z);
    unsigned order[RF_ROOM];
    uint32_t k = 0;
    while (k + 1 < m->count && (left -= component_in(m, k)[0]) > 0)
        k++;
    const double *mean = component_in(m, k) + 1, *factor = mean + dim;
    if (dim == 1) { /* the common case: many draws per record */
        x[0] = rf64_chart_natural(&m->charts[0], mean[0] + factor[0] * z[0]);
        rf_problem_limit(belief->problem, x);
        return;
    }
    for (unsigned i = dim; i-- > 0;) {
        double move = 0;
        for (unsigned j = 0; j <= i; j++)
            move += factor[RF_TRIANGLE(i) + j] * z[j];
        x[i] = z[i] = rf64_chart_natural(&m->charts[i], mean[i] + move);
    }
    if (belief->problem->description.interchangeable && rf_problem_order(belief->problem, z, order))
        for (unsigned i = 0; i < dim; i++)
            x[i] = z[order[i]];
    rf_problem_limit(belief->problem, x);
}

/* Several draws at once. For one parameter and for health, computes their common parts once. */
static RF_APART void mixture_draws(const rf_belief *belief, uint32_t count, uint32_t purpose, double x[])
{
    const mixture *m = (const mixture *)belief;
    const unsigned dim = dim_of(m);
    if (dim > 1 || purpose != RF_FOR_HEALTH || count > RF_HEALTH_DRAWS) {
        for (uint32_t index = 0; index < count; index++)
            mixture_draw(belief, index, purpose, x + (size_t)index * dim);
        return;
    }
    const double moved = (m->updates % 8 + 0.5) / 8;
    rf_points_normals(0, 1103u * m->updates, count, x);
    const double *first = component_in(m, 0), mean = first[1], sd = first[2];
    for (uint32_t index = 0; index < count && m->count > 1; index++) {
        double left = (index + moved) / RF_HEALTH_DRAWS;
        const double *c = first;
        for (uint32_t k = 0; k + 1 < m->count && (left -= c[0]) > 0; k++)
            c += 3;
        x[index] = c[1] + c[2] * x[index];
    }
    if (m->count == 1)
        for (uint32_t index = 0; index < count; index++)
            x[index] = mean + sd * x[index];
    for (uint32_t index = 0; index < count && m->charts[0].kind != RF_REAL; index++)
        x[index] = rf64_chart_natural(&m->charts[0], x[index]);
    for (uint32_t index = 0; index < count; index++)
        rf_problem_limit(belief->problem, &x[index]);
}

#define TWO_SIDED 1.9599639845400538 /* the 0.975 quantile, needed for every record */

/* Fills the places of components that do not exist. */
static void pad(rf_line *g)
{
    for (uint32_t k = g->count; k < g->count + RF_TOGETHER; k++) {
        g->weight[k] = g->mean[k] = 0;
        g->sd[k] = 1;
    }
}

static void marginal_take(const mixture *m, unsigned parameter, rf_line *g)
{
    const rf64_chart *chart = &m->charts[parameter];
    const unsigned dim = dim_of(m);
    g->count = m->count;
    g->period = chart->kind == RF_PERIODIC ? chart->high - chart->low : 0;
    g->from = g->period > 0 ? mean_of(m, parameter) - 0.5 * g->period : 0;
    for (uint32_t k = 0; k < m->count; k++) {
        const double *c = component_in(m, k);
        g->weight[k] = c[0];
        g->mean[k] = c[1 + parameter];
        g->sd[k] = sd_of(c, dim, parameter);
    }
    pad(g);
}

static RF_APART void mixture_natural(const rf_belief *belief, unsigned parameter, double *mean, double *sd)
{
    const mixture *m = (const mixture *)belief;
    const rf64_chart *chart = &m->charts[parameter];
    rf_line g;
    if (chart->kind == RF_REAL || (chart->kind == RF_PERIODIC && m->count == 1))
        return;
    marginal_take(m, parameter, &g);
    const rf_marginal parts = {g.count, g.weight, g.mean, g.sd, 0, 0};
    rf_marginal_natural(chart, &parts, mean, sd);
}

/* The p-quantile of the marginal, in the chart of the components. */
static RF_APART double quantile_in(const rf_line *g, double p)
{
    const double z = p == 0.975 ? TWO_SIDED : p == 0.025 ? -TWO_SIDED : p == 0.5 ? 0 : rf64_normal_quantile(p);
    double low = rf64_infinity(), high = -low, widest = 0, mean = 0, square = 0;
    for (uint32_t k = 0; k < g->count; k++) {
        low = rf64_min(low, g->mean[k] + z * g->sd[k]);
        high = rf64_max(high, g->mean[k] + z * g->sd[k]);
        widest = rf64_max(widest, g->sd[k]);
        mean += g->weight[k] * g->mean[k];
    }
    if (g->count == 1 && !(g->period > 0))
        return low;
    if (g->period > 0) {
        low = g->from;
        high = low + g->period;
        mean = 0.5 * (low + high);
    }
    for (uint32_t k = 0; k < g->count; k++)
        square += g->weight[k] * ((g->mean[k] - mean) * (g->mean[k] - mean) + g->sd[k] * g->sd[k]);
    /* Newton's method, Halley's near the quantile, bisection if a step leaves the bracket */
    double y = rf64_min(rf64_max(mean + z * rf64_sqrt(square), low), high);
    for (unsigned step = 0; step < 100 && high - low > 1e-12 * widest; step++) {
        double density, slope;
        const double off = RF_MANY(below)(g, y, &density, &slope) - p;
        if (off > 0)
            high = y;
        else
            low = y;
        const double bend = 0.5 * off * slope;
        const int is_near = rf64_abs(bend) <= 0.05 * density * density; /* so that it only corrects Newton's step */
        double next = y - off * density / (density * density - (is_near ? bend : 0));
        next = next > low && next < high ? next : 0.5 * (low + high);
        /* The remaining error is of the order of the step cubed. Some components may be far narrower than the
           widest. */
        if (rf64_abs(off) <= 4e-3 * rf64_min(0.025, rf64_min(p, 1 - p)) && rf64_abs(next - y) <= 2e-4 * widest)
            return next;
        y = next;
    }
    return y;
}

/* Converts a coordinate to the problem's chart. */
static double outside(const mixture *m, unsigned i, double y) { return is_boxed(m, i) ? unboxed(m, i, y) : y; }

static RF_APART double mixture_quantile(const rf_belief *belief, unsigned parameter, double p)
{
    const mixture *m = (const mixture *)belief;
    rf_line g;
    marginal_take(m, parameter, &g);
    return outside(m, parameter, quantile_in(&g, p));
}

/* ---- Modes ---- */

#define MODE_APART 2.2   /* in standard deviations: components farther apart do not overlap */
#define MODE_LEAST 0.005 /* lighter components belong to no reported mode */
#define BULK_LEAST 0.01  /* lighter components join no modes */
#define RIVAL_LEAST 3e-4 /* lighter separate modes are no rivals: they hardly ever hold the truth */

/* of[]: indices of components not lighter than `least`, sorted by their means. Returns how many. */
static RF_APART uint32_t sorted_by_mean(const rf_line *g, double least, uint32_t of[])
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < g->count; k++) {
        uint32_t at = count;
        if (g->weight[k] < least)
            continue;
        for (; at > 0 && g->mean[of[at - 1]] > g->mean[k]; at--)
            of[at] = of[at - 1];
        of[at] = k;
        count++;
    }
    return count;
}

/* Cuts a circle opposite the mean: moves the components to one period. */
static void cut_open(rf_line *g)
{
    for (uint32_t k = 0; k < g->count && g->period > 0; k++)
        g->mean[k] -= g->period * rf64_floor((g->mean[k] - g->from) / g->period);
}

/* The end of the run of sorted components that overlap with number `first` or with one another. */
static uint32_t mode_end(const rf_line *g, const uint32_t of[], uint32_t count, uint32_t first)
{
    double end = -rf64_infinity();
    uint32_t next = first;
    for (; next < count && (next == first || g->mean[of[next]] - MODE_APART * g->sd[of[next]] < end); next++)
        end = rf64_max(end, g->mean[of[next]] + MODE_APART * g->sd[of[next]]);
    return next;
}

static RF_APART int mixture_rivals(const rf_belief *belief, unsigned parameter, double at[2])
{
    const mixture *m = (const mixture *)belief;
    rf_line all;
    uint32_t of[RF_MIXTURE_MAX];
    double weight = 0, low = 0, high = 0, outer = 0, most = 0, second = 0;
    if (m->count == 1)
        return 0;
    marginal_take(m, parameter, &all);
    cut_open(&all);
    const uint32_t count = sorted_by_mean(&all, BULK_LEAST, of);
    for (uint32_t first = 0, next; first < count; first = next) { /* find the heaviest mode */
        double share = 0, mean = 0;
        next = mode_end(&all, of, count, first);
        for (uint32_t k = first; k < next; k++) {
            share += all.weight[of[k]];
            mean += all.weight[of[k]] * all.mean[of[k]];
        }
        if (share > weight) {
            weight = share;
            at[0] = mean / share;
            low = all.mean[of[first]] - MODE_APART * all.sd[of[first]];
            high = all.mean[of[next - 1]] + MODE_APART * all.sd[of[next - 1]];
        }
    }
    for (uint32_t k = 0; k < all.count && weight > 0; k++) { /* the weight outside of it */
        if (all.mean[k] + all.sd[k] > low && all.mean[k] - all.sd[k] < high)
            continue;
        outer += all.weight[k];
        if (all.weight[k] > most) {
            most = all.weight[k];
            second = all.mean[k];
        }
    }
    at[0] = outside(m, parameter, at[0]);
    at[1] = outside(m, parameter, second);
    return outer >= RIVAL_LEAST;
}

/* Overlapping components form one mode. */
static unsigned mixture_modes(const rf_belief *belief, unsigned parameter, rf_mode modes[])
{
    const mixture *m = (const mixture *)belief;
    rf_line all, one;
    uint32_t of[RF_MIXTURE_MAX];
    unsigned count = 0;
    if (m->count == 1)
        return 1;
    marginal_take(m, parameter, &all);
    cut_open(&all);
    const uint32_t heavy = sorted_by_mean(&all, MODE_LEAST, of);
    for (uint32_t first = 0, next; first < heavy && count < RF_MODES_MAX; first = next, count++) {
        double share = 0;
        one.count = 0;
        one.period = one.from = 0;
        next = mode_end(&all, of, heavy, first);
        for (uint32_t at = first; at < next; at++) {
            const uint32_t k = of[at];
            one.weight[one.count] = all.weight[k];
            one.mean[one.count] = all.mean[k];
            one.sd[one.count++] = all.sd[k];
            share += all.weight[k];
        }
        for (uint32_t k = 0; k < one.count; k++)
            one.weight[k] /= share;
        pad(&one);
        const rf_mode mode = {share, outside(m, parameter, quantile_in(&one, 0.025)),
                              outside(m, parameter, quantile_in(&one, 0.975))};
        modes[count] = mode;
    }
    return count;
}

static uint32_t mixture_updates(const rf_belief *belief) { return ((const mixture *)belief)->updates; }

const rf_belief_kind rf_belief_mixture = {
    .name = "mixture",
    .summary = "up to K Gaussians (32, of two parameters 52): one where that is enough",
    .loss_max = {0.3, 1.3},
    .open = RF_HOST_ONLY(rf_mixture_open),
    .restart = mixture_restart,
    .pass = mixture_pass,
    .update = mixture_update,
    .moments = mixture_moments,
    .natural = mixture_natural,
    .draw = mixture_draw,
    .draws = mixture_draws,
    .quantile = mixture_quantile,
    .modes = RF_HOST_ONLY(mixture_modes),
    .rivals = mixture_rivals,
    .stretch = mixture_stretch,
    .shift = mixture_shift,
    .place = mixture_place,
    .gaussians = RF_HOST_ONLY(mixture_gaussians),
    .confine = mixture_confine,
    .telegraph = RF_HOST_ONLY(mixture_telegraph),
    .updates = mixture_updates,
    .save = RF_HOST_ONLY(rf_mixture_save),
    .load = RF_HOST_ONLY(rf_mixture_load),
};
