/* Opens the Gaussian belief in the requested precision. */
#include "gaussian.h"

static rf_belief *gaussian_open(const rf_belief_setup *setup, char *error, size_t size)
{
    return (setup->is_float ? rf32_belief_gaussian : rf64_belief_gaussian).open(setup, error, size);
}

const rf_belief_kind rf_belief_gaussian = {
    .name = "gaussian", .summary = "one Gaussian: the paper's, 64 bytes for one parameter", .open = gaussian_open};
