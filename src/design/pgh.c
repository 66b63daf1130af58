/* The particle guess heuristic: measure against a guess, for as long as the guess is uncertain. */
#include "designs.h"

void rf_design_pgh(const rf_design_input *in, double setting[])
{
    double guess[RF_NAMES_MAX];
    rf_design_draw(in, 0, guess);
    rf_design_roles(in, guess, in->sd, setting);
}
