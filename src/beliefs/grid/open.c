/* The grid by name: for one parameter or for two. */
#include "grids.h"

static rf_belief *grid_open(const rf_belief_setup *setup, char *error, size_t size)
{
    const rf_description *description = &setup->problem->description;
    if (setup->is_float) {
        rf_fail(error, size, "belief 'grid' works in double alone");
        return NULL;
    }
    if (description->dim == 1)
        return rf_belief_line.open(setup, error, size);
    if (description->dim != 2) {
        rf_fail(error, size, "belief 'grid' is for models of one or two parameters, and %s has %u", description->name,
                (unsigned)description->dim);
        return NULL;
    }
    if (setup->problem->model->f64->dynamics) {
        rf_fail(error, size, "belief 'grid' cannot follow the dynamics of two parameters, which %s has",
                description->name);
        return NULL;
    }
    return rf_belief_plane.open(setup, error, size);
}

const rf_belief_kind rf_belief_grid = {
    .name = "grid",
    .summary = "the posterior itself, of one parameter on up to N points (4096), of two on N a side (256)",
    .open = grid_open};
