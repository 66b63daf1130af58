/* The particle guess heuristic: the reference is a draw from the posterior, the time 1 / standard deviation. Compiled
   per precision. */
#include "designs.h"

void RF(design_pgh)(const RF(design_input) *in, rf_real setting[])
{
    rf_real guess[RF_ROOM];
    RF(design_draw)(in, 0, guess);
    RF(design_roles)(in, guess, in->sd, setting);
    RF(design_shorten)(in, RF_DESIGN_CONTRAST, setting);
}
