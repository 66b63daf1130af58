/* The particle guess heuristic with time 1 / distance of two draws. Compiled per precision. */
#include "designs.h"

void RF(design_pgh_distance)(const RF(design_input) *in, rf_real setting[])
{
    rf_real guess[RF_ROOM], other[RF_ROOM];
    RF(design_draw)(in, 0, guess);
    RF(design_draw)(in, 1, other);
    for (unsigned i = 0; i < in->model->dim; i++)
        other[i] = RF(abs)(other[i] - guess[i]);
    RF(design_roles)(in, guess, other, setting);
    RF(design_shorten)(in, RF_DESIGN_CONTRAST, setting);
}
