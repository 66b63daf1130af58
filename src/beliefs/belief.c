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

enum { NAME_MAX = 64 };

static const char names[] =
#define RF_BELIEF(identifier, name) ", " name
#include "list.def"
#undef RF_BELIEF
    ;

const rf_belief_kind *rf_belief_kind_find(const char *name, char *error, size_t size)
{
    const int ends = name && memchr(name, '\0', NAME_MAX + 1);
    const size_t length = ends ? strcspn(name, ":") : 0;
    const rf_belief_kind *kind;
    for (unsigned i = 0; (kind = rf_belief_kind_at(i)) != NULL; i++)
        if (strlen(kind->name) == length && memcmp(kind->name, name, length) == 0)
            return kind;
    rf_fail(error, size, "there is no belief '%.40s'; beliefs are %s", name ? name : "", names + 2);
    return NULL;
}

rf_belief *rf_belief_open(const char *name, const rf_problem *problem, uint64_t seed, int is_float, char *error,
                          size_t size)
{
    const rf_belief_kind *kind = rf_belief_kind_find(name, error, size);
    if (!kind)
        return NULL;
    const char *colon = strchr(name, ':');
    const rf_belief_setup setup = {problem, seed, is_float, colon ? colon + 1 : NULL};
    return rf_belief_open_kind(kind, &setup, error, size);
}

rf_belief *rf_belief_open_kind(const rf_belief_kind *kind, const rf_belief_setup *setup, char *error, size_t size)
{
    if (!kind || !kind->open || !setup || !setup->problem || !setup->problem->model || !setup->problem->model->f64) {
        rf_fail(error, size, "a belief needs a kind and a model");
        return NULL;
    }
    rf_belief *belief = kind->open(setup, error, size);
    if (belief && kind->restart) /* a kind that has only `open` delegates: the opened belief keeps its own functions */
        belief->kind = kind;
    const rf_status status = belief ? belief->kind->restart(belief) : RF_OK;
    if (status >= 0)
        return belief;
    rf_fail(error, size, "%s", rf_status_text(status));
    rf_belief_close(belief);
    return NULL;
}

void rf_belief_close(rf_belief *belief) { free(belief); }

unsigned rf_belief_modes(const rf_belief *belief, unsigned parameter, rf_mode modes[])
{
    if (!belief || !modes || parameter >= belief->problem->description.dim)
        return 0;
    const rf64_chart *chart = &belief->problem->charts[parameter];
    unsigned count = belief->kind->modes ? belief->kind->modes(belief, parameter, modes) : 1;
    if (count <= 1) {
        count = 1;
        modes->share = 1;
        modes->low = belief->kind->quantile(belief, parameter, 0.025);
        modes->high = belief->kind->quantile(belief, parameter, 0.975);
    }
    for (unsigned k = 0; k < count && chart->kind != RF_PERIODIC; k++) {
        modes[k].low = rf_problem_limited(belief->problem, parameter, rf64_chart_natural(chart, modes[k].low));
        modes[k].high = rf_problem_limited(belief->problem, parameter, rf64_chart_natural(chart, modes[k].high));
    }
    return count;
}

/* ---- As Gaussians ---- */

uint32_t rf_belief_gaussians(const rf_belief *belief, rf_gaussian parts[])
{
    if (!belief || !parts)
        return 0;
    if (belief->kind->gaussians)
        return belief->kind->gaussians(belief, parts);
    parts->weight = 1;
    belief->kind->moments(belief, parts->mean, parts->covariance);
    return 1;
}

/* Are the weight and the mean valid, and does the covariance have a factor? */
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
    if (!belief || !parts)
        return RF_REFUSED_NULL;
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

/* ---- The problem ---- */

void rf_problem_settle(rf_problem *problem)
{
    rf64_described_charts(&problem->description, problem->charts);
    rf32_described_charts(&problem->description, problem->charts_float);
}

rf32_model rf32_problem_model(const rf_problem *problem)
{
    rf32_model model = rf32_instance_model(problem->model->f32, NULL);
    model.charts = problem->charts_float;
    return model;
}
