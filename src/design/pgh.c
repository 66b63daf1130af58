/* The particle guess heuristic: measure against a guess, for as long as the guess is uncertain. Compiled per
   precision. */
#include "rejfilt/host.h"
#include "designs.h"

void RF(design_pgh)(const RF(situation) *s, rf_real setting[])
{
    rf_real guess[RF_NAMES_MAX];
    RF(situation_draw)(s, 0, guess);
    RF(situation_roles)(s, guess, s->sd, setting);
}
