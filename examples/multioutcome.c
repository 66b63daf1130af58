/* Three outcomes: a photon goes through an interferometer whose phase drifts, and is lost on the way
   (0), or clicks in detector A (1) or B (2). The phase phi and the efficiency eta are unknown; the
   reference phase is ours to choose, and the visibility of the fringes is known.

     rejfilt track --simulate --model examples/multioutcome.c */
#include "rejfilt/model.h"

static const rf_description description = {
    .name = "interferometer",
    .summary = "a drifting phase and the efficiency of the detection, photon by photon",
    .formula = "P(lost) = 1 - eta, P(A), P(B) = eta (1 +- visibility cos(phi - phi_)) / 2",
    .dim = 2,
    .settings = 2,
    .outcomes = 3,
    .parameter = {{"phi", RF_PERIODIC, 0, 6.283185307179586, 0.05}, {"eta", RF_BOUNDED, 0.4, 1, 0.03}},
    .setting = {{"phi_", RF_SETTING_RANGE, 0, 0, 0, 6.283185307179586},
                {"visibility", RF_SETTING_FIXED, 0, 0, 0.95, 0.95}},
};

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real fringe = setting[1] * rf_cos(x[0] - setting[0]);
    rf_real a = RF_C(0.5) * x[1] * (1 + fringe);
    rf_real b = RF_C(0.5) * x[1] * (1 - fringe);
    return outcome == 0 ? 1 - x[1] : outcome == 1 ? a : b;
}
