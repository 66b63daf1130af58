/* The posterior itself on a grid, of one parameter (grid.h) or two (plane.h). */
#include "beliefs.h"
#include "bytes.h"
#include "grid.h"
#include "plane.h"

enum { POINTS = 4096, SIDE = 256 };

typedef struct gridded {
    rf_belief head;
    uint32_t updates;
    RF_ALIGNED unsigned char memory[]; /* an rf_grid, or an rf_plane */
} gridded;

static int is_line(const rf_belief *belief) { return belief->problem->description.dim == 1; }
static void *memory_of(const rf_belief *belief) { return (void *)(uintptr_t)((const gridded *)belief)->memory; }
static rf_grid *line_of(const rf_belief *belief) { return memory_of(belief); }
static rf_plane *plane_of(const rf_belief *belief) { return memory_of(belief); }

static rf_belief *gridded_open(const rf_belief_setup *setup, char *error, size_t size)
{
    const rf_description *description = &setup->problem->description;
    const int line = description->dim == 1;
    if (setup->is_float) {
        rf_fail(error, size, "belief 'grid' works in double alone");
        return NULL;
    }
    if (description->dim > 2) {
        rf_fail(error, size, "belief 'grid' is for models of one or two parameters, and %s has %u", description->name, (unsigned)description->dim);
        return NULL;
    }
    if (!line && setup->problem->model->f64->dynamics) {
        rf_fail(error, size, "belief 'grid' cannot follow the dynamics of two parameters, which %s has", description->name);
        return NULL;
    }
    const uint32_t n = rf_belief_number(&rf_belief_grid, setup, line ? RF_GRID_POINTS_LEAST : RF_PLANE_SIDE_LEAST,
                                        line ? RF_GRID_POINTS_MAX : RF_PLANE_SIDE_MAX, line ? POINTS : SIDE, error, size);
    if (n == 0)
        return NULL;
    const rf64_model model = rf64_problem_model(setup->problem);
    rf_belief *belief = rf_belief_new(&rf_belief_grid, setup, sizeof(gridded) + (line ? rf_grid_bytes(n) : rf_plane_bytes(n)), error, size);
    if (belief && line)
        rf_grid_init(line_of(belief), &model, n);
    else if (belief)
        rf_plane_init(plane_of(belief), &model, n);
    return belief;
}

/* A parameter's prior in its chart. Returns 1 if it is uniform in the chart, on *first..*second; 0 for a Gaussian with
   mean *first and variance *second; or a negative status. */
static int prior_of(const rf_problem *problem, unsigned parameter, double *first, double *second)
{
    const rf_prior *prior = &problem->prior[parameter];
    const rf_chart_kind chart = problem->charts[parameter].kind;
    const rf_status status = rf_problem_prior(problem, parameter, first, second);
    if (status < 0)
        return status;
    if (prior->is_gaussian || (chart != RF_REAL && chart != RF_PERIODIC))
        return 0;
    *first = prior->first;
    *second = prior->second;
    return 1;
}

static rf_status gridded_restart(rf_belief *belief)
{
    rf_plane_prior prior[2];
    for (unsigned a = 0; a < belief->problem->description.dim; a++) {
        const int is_box = prior_of(belief->problem, a, &prior[a].first, &prior[a].second);
        if (is_box < 0)
            return (rf_status)is_box;
        prior[a].is_box = is_box;
        prior[a].second = is_box || is_line(belief) ? prior[a].second : rf64_sqrt(prior[a].second);
    }
    const int status = !is_line(belief)  ? rf_plane_start(plane_of(belief), prior)
                       : prior[0].is_box ? rf_grid_prior_box(line_of(belief), prior[0].first, prior[0].second)
                                         : rf_grid_prior_gaussian(line_of(belief), prior[0].first, prior[0].second);
    return status < 0 ? RF_REFUSED_WIDTH : RF_OK;
}

/* Adds to the variance of a parameter, as a random walk does. */
static rf_status diffuse(rf_belief *belief, unsigned parameter, double variance)
{
    const int status = is_line(belief) ? rf_grid_diffuse(line_of(belief), variance) : rf_plane_diffuse(plane_of(belief), parameter, variance);
    return status < 0 ? RF_REFUSED_VALUE : RF_OK;
}

static rf_status gridded_pass(rf_belief *belief, const double F[], const double Q[], double elapsed)
{
    const unsigned dim = belief->problem->description.dim;
    if (F && (!is_line(belief) || (F[0] != 1 && rf_grid_scale(line_of(belief), F[0]) < 0))) /* two: refused at open */
        return RF_REFUSED_VALUE;
    rf_status status = RF_OK;
    for (unsigned a = 0; a < dim && status == RF_OK; a++)
        status = diffuse(belief, a, Q ? Q[(dim + 1) * a] * (F ? 1 : elapsed) : 0);
    return status;
}

static rf_status gridded_update(rf_belief *belief, const double records[], uint32_t count, const rf64_options *options,
                                const rf_engine *engine, rf64_report *report)
{
    const unsigned settings = belief->problem->description.settings;
    double log_evidence = 0;
    (void)options, (void)engine;
    if (rf_belief_check(belief, records, count) < 0)
        return RF_REFUSED_EVIDENCE;
    for (uint32_t k = 0; k < count; k++) {
        const double *record = records + (size_t)k * (settings + 1u);
        log_evidence += is_line(belief) ? rf_grid_update(line_of(belief), record) : rf_plane_update(plane_of(belief), record);
    }
    const uint32_t points = is_line(belief) ? rf_grid_points(line_of(belief)) : rf_plane_points(plane_of(belief));
    return rf_belief_report(report, ((gridded *)belief)->updates++, points, points, log_evidence);
}

static void gridded_moments(const rf_belief *belief, double mean[], double covariance[])
{
    double all[3];
    if (is_line(belief))
        rf_grid_moments(line_of(belief), mean, covariance ? covariance : all);
    else
        rf_plane_moments(plane_of(belief), mean, covariance);
}

static void gridded_natural(const rf_belief *belief, unsigned parameter, double *mean, double *sd)
{
    if (belief->problem->charts[parameter].kind == RF_REAL)
        return;
    const rf_marginal parts = is_line(belief) ? rf_grid_marginal(line_of(belief)) : rf_plane_marginal(plane_of(belief), parameter);
    rf_marginal_natural(&belief->problem->charts[parameter], &parts, mean, sd);
}

static void gridded_draw(const rf_belief *belief, uint32_t index, uint32_t purpose, double x[])
{
    const rf_words w = rf_draw(belief->seed, ((const gridded *)belief)->updates, index, 0, purpose);
    double u[4];
    for (unsigned k = 0; k < 4; k++)
        u[k] = w.word[k] * 0x1p-32;
    if (is_line(belief))
        x[0] = rf_grid_quantile(line_of(belief), rf64_min(rf64_uniform(w.word[0]), 1 - 0x1p-32));
    else
        rf_plane_draw(plane_of(belief), u, x);
    for (unsigned a = 0; a < belief->problem->description.dim; a++)
        x[a] = rf64_chart_natural(&belief->problem->charts[a], x[a]);
    rf_problem_limit(belief->problem, x);
}

static double gridded_quantile(const rf_belief *belief, unsigned parameter, double p)
{
    return is_line(belief) ? rf_grid_quantile(line_of(belief), p) : rf_plane_quantile(plane_of(belief), parameter, p);
}

/* Adds variance as a random walk would, so that it grows by factor². */
static rf_status gridded_stretch(rf_belief *belief, const double factor[])
{
    double mean[2], covariance[3];
    rf_status status = RF_OK;
    gridded_moments(belief, mean, covariance);
    for (unsigned a = 0; a < belief->problem->description.dim && status == RF_OK; a++)
        status = diffuse(belief, a, rf64_max(factor[a] * factor[a] - 1, 0) * covariance[2 * a]);
    return status;
}

static rf_status gridded_shift(rf_belief *belief, const double by[])
{
    if (is_line(belief))
        rf_grid_shift(line_of(belief), by[0]);
    else
        rf_plane_shift(plane_of(belief), by);
    return RF_OK;
}

static rf_status gridded_place(rf_belief *belief, const rf_gaussian parts[], uint32_t count)
{
    double mean[2], covariance[3], sd[2];
    rf_gaussians_join(belief->problem, parts, count, mean, covariance);
    for (unsigned a = 0; a < belief->problem->description.dim; a++)
        sd[a] = rf64_sqrt(covariance[RF_TRIANGLE(a) + a]);
    if (!is_line(belief) && covariance[1] != 0)
        return RF_REFUSED_OPTIONS;
    const rf_plane_prior prior[2] = {{0, mean[0], sd[0]}, {0, mean[!is_line(belief)], sd[!is_line(belief)]}};
    const int status = is_line(belief) ? rf_grid_prior_gaussian(line_of(belief), mean[0], sd[0] * sd[0])
                                       : rf_plane_start(plane_of(belief), prior);
    return status < 0 ? RF_REFUSED_WIDTH : RF_OK;
}

static uint32_t gridded_updates(const rf_belief *belief) { return ((const gridded *)belief)->updates; }

static size_t gridded_save(const rf_belief *belief, unsigned char *bytes)
{
    rf_writer w = {bytes, 0};
    rf_write_u64(&w, ((const gridded *)belief)->updates);
    unsigned char *rest = bytes ? bytes + w.size : NULL;
    return w.size + (is_line(belief) ? rf_grid_save(line_of(belief), rest) : rf_plane_save(plane_of(belief), rest));
}

static int gridded_load(rf_belief *belief, const unsigned char *bytes, size_t size)
{
    rf_reader r = {bytes, size, 0, 0};
    ((gridded *)belief)->updates = rf_read_u32(&r);
    if (r.failed)
        return -1;
    return is_line(belief) ? rf_grid_load(line_of(belief), bytes + r.at, size - r.at) : rf_plane_load(plane_of(belief), bytes + r.at, size - r.at);
}

const rf_belief_kind rf_belief_grid = {
    .name = "grid",
    .summary = "the posterior itself, of one parameter on up to N points (4096), of two on N a side (256)",
    .open = gridded_open,
    .restart = gridded_restart,
    .pass = gridded_pass,
    .update = gridded_update,
    .moments = gridded_moments,
    .natural = gridded_natural,
    .draw = gridded_draw,
    .quantile = gridded_quantile,
    .stretch = gridded_stretch,
    .shift = gridded_shift,
    .place = gridded_place,
    .updates = gridded_updates,
    .save = gridded_save,
    .load = gridded_load,
};
