/* The particle guess heuristic with the distance of two guesses for the uncertainty. Compiled per precision. */
#include "rejfilt/host.h"
#include "designs.h"

void RF(design_pgh_distance)(const RF(situation) *s, rf_real setting[])
{
    rf_real guess[RF_NAMES_MAX], other[RF_NAMES_MAX];
    RF(situation_draw)(s, 0, guess);
    RF(situation_draw)(s, 1, other);
    for (unsigned i = 0; i < s->model->dim; i++)
        other[i] = RF(abs)(other[i] - guess[i]);
    RF(situation_roles)(s, guess, other, setting);
}
