/* The particle guess heuristic with the distance of two guesses for the uncertainty. */
#include "designs.h"

void rf_design_pgh_distance(const rf_design_input *in, double setting[])
{
    double guess[RF_NAMES_MAX], other[RF_NAMES_MAX];
    rf_design_draw(in, 0, guess);
    rf_design_draw(in, 1, other);
    for (unsigned i = 0; i < in->model->dim; i++)
        other[i] = rf64_abs(other[i] - guess[i]);
    rf_design_roles(in, guess, other, setting);
}
