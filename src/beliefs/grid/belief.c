/* The exact posterior of one parameter, on a grid. */
#include "beliefs.h"
#include "grid.h"

#include "bytes.h"

enum { POINTS = 4096 };

typedef struct gridded {
    rf_belief head;
    uint32_t updates;
    RF_ALIGNED unsigned char memory[]; /* a rf_grid */
} gridded;

static rf_grid *grid_of(const rf_belief *belief)
{
    return (rf_grid *)(void *)(uintptr_t)((const gridded *)belief)->memory;
}

static rf_belief *gridded_open(const rf_belief_setup *setup, char *error, size_t size)
{
    const uint32_t n =
        rf_belief_number(&rf_belief_grid, setup, RF_GRID_POINTS_LEAST, RF_GRID_POINTS_MAX, POINTS, error, size);
    if (n == 0)
        return NULL;
    const rf64_model model = rf64_problem_model(setup->problem);
    if (setup->is_float || model.dim != 1) {
        rf_fail(error, size,
                setup->is_float ? "belief 'grid' works in double alone"
                                : "belief 'grid' is for models of one parameter, and %s has %u",
                setup->problem->description.name, (unsigned)model.dim);
        return NULL;
    }
    rf_belief *belief = rf_belief_new(&rf_belief_grid, setup, sizeof(gridded) + rf_grid_bytes(n), error, size);
    if (belief)
        rf_grid_init(grid_of(belief), &model, n);
    return belief;
}

/* A uniform prior has sharp ends only in the natural space; the Gaussian that stands for it is exact for a bounded
 * chart. */
static rf_status gridded_restart(rf_belief *belief)
{
    const rf_prior *prior = &belief->problem->prior[0];
    const rf64_chart *chart = &belief->problem->charts[0];
    double mean, variance;
    const rf_status status = rf_problem_prior(belief->problem, 0, &mean, &variance);
    if (status < 0)
        return status;
    const int is_box = !prior->is_gaussian && (chart->kind == RF_REAL || chart->kind == RF_PERIODIC);
    const int result = is_box ? rf_grid_prior_box(grid_of(belief), prior->first, prior->second)
                              : rf_grid_prior_gaussian(grid_of(belief), mean, variance);
    return result < 0 ? RF_REFUSED_WIDTH : RF_OK;
}

static rf_status gridded_pass(rf_belief *belief, const double F[], const double Q[], double elapsed)
{
    if (F && F[0] != 1 && rf_grid_scale(grid_of(belief), F[0]) < 0)
        return RF_REFUSED_VALUE;
    const double variance = Q ? Q[0] * (F ? 1 : elapsed) : 0;
    return rf_grid_diffuse(grid_of(belief), variance) < 0 ? RF_REFUSED_VALUE : RF_OK;
}

static rf_status gridded_update(rf_belief *belief, const double records[], uint32_t count, const rf64_options *options,
                                const rf_engine *engine, rf64_report *report)
{
    const unsigned settings = belief->problem->description.settings;
    double log_evidence = 0;
    (void)options, (void)engine;
    for (size_t i = 0; i < (size_t)count * (settings + 1u); i++)
        if (!rf64_is_finite(records[i]))
            return RF_REFUSED_EVIDENCE;
    for (uint32_t k = 0; k < count; k++)
        log_evidence += rf_grid_update(grid_of(belief), records + (size_t)k * (settings + 1u));
    const uint32_t points = rf_grid_points(grid_of(belief));
    return rf_belief_report(report, ((gridded *)belief)->updates++, points, points, log_evidence);
}

static void gridded_moments(const rf_belief *belief, double mean[], double covariance[])
{
    double variance;
    rf_grid_moments(grid_of(belief), mean, &variance);
    if (covariance)
        covariance[0] = variance;
}

static void gridded_draw(const rf_belief *belief, uint32_t index, uint32_t purpose, double x[])
{
    const rf_words w = rf_draw(belief->seed, ((const gridded *)belief)->updates, index, 0, purpose);
    x[0] = rf64_chart_natural(&belief->problem->charts[0],
                              rf_grid_quantile(grid_of(belief), rf64_min(rf64_uniform(w.word[0]), 1 - 0x1p-32)));
}

static double gridded_quantile(const rf_belief *belief, unsigned parameter, double p)
{
    (void)parameter;
    return rf_grid_quantile(grid_of(belief), p);
}

/* As a walk would: what is added to the variance makes it factor² times as large. */
static rf_status gridded_stretch(rf_belief *belief, const double factor[])
{
    const double more = rf64_max(factor[0] * factor[0] - 1, 0);
    return rf_grid_diffuse(grid_of(belief), more * rf_grid_variance(grid_of(belief))) < 0 ? RF_REFUSED_VALUE : RF_OK;
}

static uint32_t gridded_updates(const rf_belief *belief) { return ((const gridded *)belief)->updates; }

static size_t gridded_save(const rf_belief *belief, unsigned char *bytes)
{
    rf_writer w = {bytes, 0};
    rf_write_u64(&w, ((const gridded *)belief)->updates);
    return w.size + rf_grid_save(grid_of(belief), bytes ? bytes + w.size : NULL);
}

static int gridded_load(rf_belief *belief, const unsigned char *bytes, size_t size)
{
    rf_reader r = {bytes, size, 0, 0};
    ((gridded *)belief)->updates = (uint32_t)rf_read_u64(&r);
    return r.failed ? -1 : rf_grid_load(grid_of(belief), bytes + r.at, size - r.at);
}

const rf_belief_kind rf_belief_grid = {
    .name = "grid",
    .summary = "the exact posterior on up to N points (4096), of one parameter",
    .open = gridded_open,
    .restart = gridded_restart,
    .pass = gridded_pass,
    .update = gridded_update,
    .moments = gridded_moments,
    .draw = gridded_draw,
    .quantile = gridded_quantile,
    .stretch = gridded_stretch,
    .updates = gridded_updates,
    .save = gridded_save,
    .load = gridded_load,
};
