/* Follows a qubit's lifetime T1 while it drifts. Each experiment prepares the excited state, waits, and looks whether
   it is still there: the outcome is 1 or 0. The parameter is the logarithm of T1. */
#include "rejfilt_gaussians.h" /* compiled with RF_GAUSSIANS_MAX=1: one Gaussian is enough for a decay */

int measure(float wait); /* yours */

static float likelihood(const float y[], const float wait[], float outcome) /* P(outcome | ln T1 = y) */
{
    const float still_there = rf32_exp(-wait[0] * rf32_exp(-y[0]));
    return outcome != 0 ? still_there : 1 - still_there;
}

int main(void)
{
    const float drift = 0.02f; /* of ln T1, per experiment */
    static rf32_gaussians known;
    rf32_gaussians_init(&known, 4, 0.66f); /* a T1 of 55 µs, or twice or half of that */
    for (;;) {
        const float wait = 1.25f * rf32_exp(rf32_gaussians_mean(&known)); /* tells 97 % of what the best wait would */
        rf32_gaussians_update(&known, likelihood, &wait, (float)measure(wait));
        rf32_gaussians_diffuse(&known, drift * drift);
    }
}
