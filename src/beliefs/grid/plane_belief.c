/* The posterior of two parameters, on a grid. */
#include "grids.h"

#include "bytes.h"
#include "plane.h"

enum { SIDE = 256 };

typedef struct gridded {
    rf_belief head;
    uint32_t updates;
    RF_ALIGNED unsigned char memory[]; /* a plane */
} gridded;

static rf_plane *plane_of(const rf_belief *belief)
{
    return (rf_plane *)(void *)(uintptr_t)((const gridded *)belief)->memory;
}

static rf_belief *gridded_open(const rf_belief_setup *setup, char *error, size_t size)
{
    const uint32_t side =
        rf_belief_number(&rf_belief_grid, setup, RF_PLANE_SIDE_LEAST, RF_PLANE_SIDE_MAX, SIDE, error, size);
    const rf64_model model = rf64_problem_model(setup->problem);
    rf_belief *belief =
        side ? rf_belief_new(&rf_belief_plane, setup, sizeof(gridded) + rf_plane_bytes(side), error, size) : NULL;
    if (belief)
        rf_plane_init(plane_of(belief), &model, side);
    return belief;
}

static rf_status gridded_restart(rf_belief *belief)
{
    rf_plane_prior prior[2];
    for (unsigned a = 0; a < 2; a++) {
        const int is_box = rf_grid_prior(belief->problem, a, &prior[a].first, &prior[a].second);
        if (is_box < 0)
            return (rf_status)is_box;
        prior[a].is_box = is_box;
        prior[a].second = is_box ? prior[a].second : rf64_sqrt(prior[a].second);
    }
    return rf_plane_start(plane_of(belief), prior) < 0 ? RF_REFUSED_WIDTH : RF_OK;
}

static rf_status gridded_pass(rf_belief *belief, const double F[], const double Q[], double elapsed)
{
    if (F) /* refused when opened */
        return RF_REFUSED_VALUE;
    for (unsigned a = 0; a < 2; a++)
        if (rf_plane_diffuse(plane_of(belief), a, Q[3 * a] * elapsed) < 0)
            return RF_REFUSED_VALUE;
    return RF_OK;
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
        log_evidence += rf_plane_update(plane_of(belief), records + (size_t)k * (settings + 1u));
    const uint32_t points = rf_plane_points(plane_of(belief));
    return rf_belief_report(report, ((gridded *)belief)->updates++, points, points, log_evidence);
}

static void gridded_moments(const rf_belief *belief, double mean[], double covariance[])
{
    rf_plane_moments(plane_of(belief), mean, covariance);
}

static void gridded_draw(const rf_belief *belief, uint32_t index, uint32_t purpose, double x[])
{
    const rf_words w = rf_draw(belief->seed, ((const gridded *)belief)->updates, index, 0, purpose);
    double u[4];
    for (unsigned k = 0; k < 4; k++)
        u[k] = w.word[k] * 0x1p-32;
    rf_plane_draw(plane_of(belief), u, x);
    for (unsigned a = 0; a < 2; a++)
        x[a] = rf64_chart_natural(&belief->problem->charts[a], x[a]);
}

static double gridded_quantile(const rf_belief *belief, unsigned parameter, double p)
{
    return rf_plane_quantile(plane_of(belief), parameter, p);
}

/* As a walk would: what is added to a variance makes it factor² times as large. */
static rf_status gridded_stretch(rf_belief *belief, const double factor[])
{
    double mean[2], covariance[3];
    rf_plane_moments(plane_of(belief), mean, covariance);
    for (unsigned a = 0; a < 2; a++)
        if (rf_plane_diffuse(plane_of(belief), a, rf64_max(factor[a] * factor[a] - 1, 0) * covariance[2 * a]) < 0)
            return RF_REFUSED_VALUE;
    return RF_OK;
}

static uint32_t gridded_updates(const rf_belief *belief) { return ((const gridded *)belief)->updates; }

static size_t gridded_save(const rf_belief *belief, unsigned char *bytes)
{
    rf_writer w = {bytes, 0};
    rf_write_u64(&w, ((const gridded *)belief)->updates);
    return w.size + rf_plane_save(plane_of(belief), bytes ? bytes + w.size : NULL);
}

static int gridded_load(rf_belief *belief, const unsigned char *bytes, size_t size)
{
    rf_reader r = {bytes, size, 0, 0};
    ((gridded *)belief)->updates = (uint32_t)rf_read_u64(&r);
    return r.failed ? -1 : rf_plane_load(plane_of(belief), bytes + r.at, size - r.at);
}

const rf_belief_kind rf_belief_plane = {
    .name = "grid",
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
