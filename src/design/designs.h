/* The designers' functions. Internal to src/design/. */
#include "rejfilt/detail/real.h"
#include "rejfilt/host.h"

#include "../models/known.h"

/* Calls a function that is passed along with its belief; GPU code knows it at compile time. */
#ifndef RF_GIVEN
#define RF_GIVEN(by, function) (by)->function
#endif

#define RF_DESIGN(identifier, name, anchors, blind, fringe) RF(designer) RF(design_##identifier);
#include "list.def"
#undef RF_DESIGN

/* If the model has decoherence, long times show no fringe: shortens times until the fringe at the mean has at least
   `least` of its contrast at short times. */
void RF(design_shorten)(const RF(design_input) *in, rf_real least, rf_real setting[]);
#define RF_DESIGN_CONTRAST RF_C(0.44932896411722156) /* e^-0.8: at 0.8 T2 */

/* Are these settings the guess and the time of one fringe? */
int RF(design_is_pair)(const rf_description *description, unsigned guess, unsigned time);
