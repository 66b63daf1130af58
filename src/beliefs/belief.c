/* Beliefs by name, and the problem they are about. */
#include "beliefs.h"

#include <stdlib.h>
#include <string.h>

static const rf_belief_kind *const kinds[] = {
#define RF_BELIEF(identifier, name) &rf_belief_##identifier,
#include "list.def"
#undef RF_BELIEF
};

const rf_belief_kind *rf_belief_kind_at(unsigned index)
{
    return index < sizeof kinds / sizeof *kinds ? kinds[index] : NULL;
}

static const char names[] =
#define RF_BELIEF(identifier, name) ", " name
#include "list.def"
#undef RF_BELIEF
    ;

rf_belief *rf_belief_open(const char *name, const rf_problem *problem, uint64_t seed, int is_float, char *error,
                          size_t size)
{
    const char *colon = strchr(name, ':');
    const size_t length = colon ? (size_t)(colon - name) : strlen(name);
    const rf_belief_kind *kind;
    for (unsigned i = 0; (kind = rf_belief_kind_at(i)) != NULL; i++)
        if (strlen(kind->name) == length && memcmp(kind->name, name, length) == 0)
            break;
    if (!kind) {
        rf_fail(error, size, "there is no belief '%.40s'; beliefs are %s", name, names + 2);
        return NULL;
    }
    const rf_belief_setup setup = {problem, seed, is_float, colon ? colon + 1 : NULL};
    return rf_belief_open_kind(kind, &setup, error, size);
}

rf_belief *rf_belief_open_kind(const rf_belief_kind *kind, const rf_belief_setup *setup, char *error, size_t size)
{
    rf_belief *belief = kind->open(setup, error, size);
    if (belief && kind->restart) /* a kind that only opens leaves the choice of functions to the one it opens */
        belief->kind = kind;
    const rf_status status = belief ? belief->kind->restart(belief) : RF_OK;
    if (status >= 0)
        return belief;
    rf_fail(error, size, "%s", rf_status_text(status));
    rf_belief_close(belief);
    return NULL;
}

void rf_belief_close(rf_belief *belief) { free(belief); }

void rf_belief_copy(rf_belief *to, const rf_belief *from)
{
    const rf_problem *problem = to->problem;
    memcpy(to, from, from->used);
    rf_belief_move(to, problem);
}

void rf_belief_move(rf_belief *belief, const rf_problem *problem)
{
    belief->problem = problem;
    if (belief->kind->moved)
        belief->kind->moved(belief);
}

unsigned rf_belief_modes(const rf_belief *belief, unsigned parameter, rf_mode modes[])
{
    const rf64_chart *chart = &belief->problem->charts[parameter];
    unsigned count = belief->kind->modes ? belief->kind->modes(belief, parameter, modes) : 1;
    if (count <= 1) {
        count = 1;
        modes->share = 1;
        modes->low = belief->kind->quantile(belief, parameter, 0.025);
        modes->high = belief->kind->quantile(belief, parameter, 0.975);
    }
    for (unsigned k = 0; k < count && chart->kind != RF_PERIODIC; k++) {
        modes[k].low = rf64_chart_natural(chart, modes[k].low);
        modes[k].high = rf64_chart_natural(chart, modes[k].high);
    }
    return count;
}

/* ---- As Gaussians ---- */

void rf_gaussians_join(const rf_problem *problem, const rf_gaussian parts[], uint32_t count, double mean[],
                       double covariance[])
{
    const unsigned dim = problem->description.dim;
    const rf_gaussian *heaviest = parts;
    double total = 0;
    for (uint32_t k = 0; k < count; k++) {
        heaviest = parts[k].weight > heaviest->weight ? &parts[k] : heaviest;
        total += parts[k].weight;
    }
    memcpy(mean, heaviest->mean, dim * sizeof *mean);
    memset(covariance, 0, RF_TRIANGLE(dim) * sizeof *covariance);
    for (unsigned pass = 0; pass < 2; pass++) /* the mean, then what lies about it */
        for (uint32_t k = 0; k < count; k++) {
            const double share = parts[k].weight / total;
            double away[RF_DESCRIBED_MAX];
            for (unsigned i = 0; i < dim; i++) {
                const rf64_chart *chart = &problem->charts[i];
                const double period = chart->kind == RF_PERIODIC ? chart->high - chart->low : 0;
                away[i] = parts[k].mean[i] - (pass ? mean[i] : heaviest->mean[i]);
                away[i] -= period > 0 ? period * rf64_floor(away[i] / period + 0.5) : 0;
                mean[i] += pass ? 0 : share * away[i];
                for (unsigned j = 0; j <= i && pass; j++)
                    covariance[RF_TRIANGLE(i) + j] += share * (parts[k].covariance[RF_TRIANGLE(i) + j] + away[i] * away[j]);
            }
        }
}

rf_status rf_belief_place(rf_belief *belief, const double mean[], const double sd[])
{
    rf_gaussian one = {.weight = 1};
    for (unsigned i = 0; i < belief->problem->description.dim; i++) {
        one.mean[i] = mean[i];
        one.covariance[RF_TRIANGLE(i) + i] = sd[i] * sd[i];
    }
    return belief->kind->place(belief, &one, 1);
}

uint32_t rf_belief_gaussians(const rf_belief *belief, rf_gaussian parts[])
{
    if (belief->kind->gaussians)
        return belief->kind->gaussians(belief, parts);
    parts->weight = 1;
    belief->kind->moments(belief, parts->mean, parts->covariance);
    return 1;
}

/* Has it a mean, and a covariance with a factor? */
static int is_gaussian(const rf_gaussian *g, unsigned dim)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(RF_DESCRIBED_MAX)];
    double square[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX];
    rf64_filter *filter;
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j < dim; j++)
            square[i * dim + j] = g->covariance[i > j ? RF_TRIANGLE(i) + j : RF_TRIANGLE(j) + i];
    return g->weight >= 0 && rf64_is_finite(g->weight) &&
           rf64_filter_init(&filter, memory, sizeof memory, dim, 0) >= 0 &&
           rf64_prior_covariance(filter, g->mean, square) >= 0;
}

rf_status rf_belief_become(rf_belief *belief, const rf_gaussian parts[], uint32_t count)
{
    double total = 0;
    int is_fine = count >= 1 && count <= RF_GAUSSIANS_TOGETHER;
    for (uint32_t k = 0; is_fine && k < count; k++) {
        is_fine = is_gaussian(&parts[k], belief->problem->description.dim);
        total += parts[k].weight;
    }
    return is_fine && total > 0 ? belief->kind->place(belief, parts, count) : RF_REFUSED_VALUE;
}

rf_belief *rf_belief_new(const rf_belief_kind *kind, const rf_belief_setup *setup, size_t bytes, char *error,
                         size_t size)
{
    rf_belief *belief = calloc(1, bytes);
    if (!belief) {
        rf_fail(error, size, "belief '%s': out of memory", kind->name);
        return NULL;
    }
    const rf_belief head = {kind, setup->problem, setup->seed, bytes, bytes, 0, 0};
    *belief = head;
    return belief;
}

uint32_t rf_belief_number(const rf_belief_kind *kind, const rf_belief_setup *setup, uint32_t low, uint32_t high,
                          uint32_t otherwise, char *error, size_t size)
{
    uint64_t value = 0;
    if (!setup->argument)
        return otherwise;
    for (const char *c = setup->argument; *c >= '0' && *c <= '9' && value <= high; c++)
        value = 10 * value + (uint64_t)(*c - '0');
    if (strspn(setup->argument, "0123456789") == strlen(setup->argument) && value >= low && value <= high)
        return (uint32_t)value;
    rf_fail(error, size, "belief '%s:%.40s': the number must be %u to %u", kind->name, setup->argument, low, high);
    return 0;
}

rf_status rf_belief_check(const rf_belief *belief, const double records[], uint32_t count)
{
    for (size_t i = 0; i < (size_t)count * (belief->problem->description.settings + 1u); i++)
        if (!rf64_is_finite(records[i]))
            return RF_REFUSED_EVIDENCE;
    return RF_OK;
}

void rf_belief_variances(const rf_belief *belief, double v[])
{
    double mean[RF_DESCRIBED_MAX], covariance[RF_TRIANGLE(RF_DESCRIBED_MAX)];
    belief->kind->moments(belief, mean, covariance);
    for (unsigned i = 0; i < belief->problem->description.dim; i++)
        v[i] = covariance[RF_TRIANGLE(i) + i];
}

/* Of the parameter that has changed least; at most 1. */
static double narrowed(const double narrow[], const double wide[], unsigned dim)
{
    double most = 0;
    for (unsigned i = 0; i < dim; i++)
        most = rf64_max(most, narrow[i] / wide[i]);
    return rf64_min(most, 1);
}

void rf_belief_lose(rf_belief *belief, const double before[], double nats)
{
    double now[RF_DESCRIBED_MAX];
    belief->live += nats;
    if (!(belief->live > 0))
        return;
    rf_belief_variances(belief, now);
    belief->live *= narrowed(now, before, belief->problem->description.dim);
}

double rf_belief_forget(rf_belief *belief, const double before[])
{
    double now[RF_DESCRIBED_MAX];
    rf_belief_variances(belief, now);
    const double kept = narrowed(before, now, belief->problem->description.dim);
    belief->live *= kept;
    return kept;
}

rf_status rf_belief_report(rf64_report *report, uint32_t update, uint32_t points, double effective, double log_evidence)
{
    const int is_possible = rf64_is_finite(log_evidence);
    if (log_evidence != log_evidence)
        return RF_REFUSED_MODEL;
    const rf_status status = is_possible ? RF_OK : RF_NOTE_SHORT;
    const rf64_report r = {.status = status,
                           .update = update,
                           .attempts = points,
                           .accepted = (uint32_t)effective,
                           .acceptance = effective / points,
                           .kappa = 1,
                           .kappa_next = 1,
                           .log_evidence = is_possible ? log_evidence : rf64_log(0.5 / (points + 1.0)),
                           .log_evidence_variance = is_possible ? rf64_max(1 / effective - 1.0 / points, 0) : 2};
    *report = r;
    return status;
}

/* ---- The problem ---- */

void rf_problem_settle(rf_problem *problem)
{
    rf64_described_charts(&problem->description, problem->charts);
    rf32_described_charts(&problem->description, problem->charts_float);
}

rf64_model rf64_problem_model(const rf_problem *problem)
{
    rf64_chart own[RF_DESCRIBED_MAX];
    rf64_model model = rf64_instance_model(problem->model->f64, own);
    model.charts = problem->charts;
    return model;
}

rf32_model rf32_problem_model(const rf_problem *problem)
{
    rf32_chart own[RF_DESCRIBED_MAX];
    rf32_model model = rf32_instance_model(problem->model->f32, own);
    model.charts = problem->charts_float;
    return model;
}

unsigned rf_problem_interchangeable(const rf_problem *problem)
{
    const unsigned count = problem->description.interchangeable;
    for (unsigned i = 1; i < count; i++) {
        const rf64_chart *a = &problem->charts[0], *b = &problem->charts[i];
        const rf_prior *p = &problem->prior[0], *q = &problem->prior[i];
        if (a->kind != b->kind || a->low != b->low || a->high != b->high || p->is_gaussian != q->is_gaussian ||
            p->first != q->first || p->second != q->second)
            return 0;
    }
    return count;
}

int rf_problem_order(const rf_problem *problem, const double values[], unsigned order[])
{
    const unsigned count = rf_problem_interchangeable(problem);
    int is_moved = 0;
    for (unsigned i = 0; i < problem->description.dim; i++) {
        unsigned at = i;
        for (; i < count && at > 0 && values[order[at - 1]] > values[i]; at--) {
            order[at] = order[at - 1];
            is_moved = 1;
        }
        order[at] = i;
    }
    return is_moved;
}

/* Through a filter of that parameter alone. */
rf_status rf_problem_prior(const rf_problem *problem, unsigned i, double *mean, double *variance)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    const rf_prior *prior = &problem->prior[i];
    rf64_model model = {0};
    rf64_filter *single;
    model.charts = &problem->charts[i];
    model.dim = 1;
    rf_status status = rf64_filter_init(&single, memory, sizeof memory, 1, 0);
    if (status >= 0)
        status =
            (prior->is_gaussian ? rf64_prior_gaussian : rf64_prior_box)(single, &model, &prior->first, &prior->second);
    *mean = rf64_filter_mean(single)[0];
    *variance = rf64_filter_covariance(single, 0, 0);
    return status;
}

rf_status rf_problem_priors(const rf_problem *problem, double mean[], double covariance[])
{
    const unsigned dim = problem->description.dim;
    rf_status status = RF_OK;
    memset(covariance, 0, dim * dim * sizeof *covariance);
    for (unsigned i = 0; i < dim && status >= 0; i++)
        status = rf_problem_prior(problem, i, &mean[i], &covariance[i * dim + i]);
    return status;
}
