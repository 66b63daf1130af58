#include "closed_form.h"

#include <math.h>

void closed_form_diffuse(closed_form *f, double variance) { f->variance += variance; }

/* With e = exp(−t²v/2), C = e cos(t(μ − x_)), S = e sin(t(μ − x_)), s = ±1 and Z = P(E) = (1 + sC)/2: Δμ = −s t v
   S/(2Z), v' = v − s t²v² C/(2Z) − Δμ². 2Z is computed as a sum of two non-negative terms. */
double closed_form_update(closed_form *f, double t, double x_, int outcome)
{
    const double v = f->variance, angle = t * (f->mean - x_), s = outcome ? 1 : -1;
    const double e = exp(-0.5 * t * t * v), half = outcome ? cos(0.5 * angle) : sin(0.5 * angle);
    const double twice = -expm1(-0.5 * t * t * v) + 2 * e * half * half;
    const double shift = -s * t * v * e * sin(angle) / twice;
    if (!(twice > 0)) /* t = 0 and outcome 0 */
        return -HUGE_VAL;
    f->mean += shift;
    f->variance = v - s * t * t * v * v * e * cos(angle) / twice - shift * shift;
    const double log_probability = log(0.5 * twice);
    f->log_evidence += log_probability;
    return log_probability;
}
