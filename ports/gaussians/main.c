/* A frequency from a sweep of times that somebody else chose: the spin precesses for 1, 2, ... 100 units, and each
   outcome is 1 or 0. Many frequencies fit the first outcomes; one Gaussian would settle on a wrong one. */
#include "rejfilt_gaussians.h"

int measure(float time);                      /* yours */
void show(float low, float high, float loss); /* yours: a 95 % interval, and how far to trust it */

static float frequency(float y) { return 3.14159265f * rf32_normal_cdf(y); } /* anywhere in (0, π) */

static float likelihood(const float y[], const float time[], float outcome) /* P(outcome | y) */
{
    const float zero = rf32_sin_squared(0.5f * frequency(y[0]) * time[0]);
    return outcome != 0 ? 1 - zero : zero;
}

int main(void)
{
    static rf32_gaussians known;       /* 112 bytes */
    rf32_gaussians_init(&known, 0, 1); /* uniform in (0, π) */
    for (float time = 1;; time = time < 100 ? time + 1 : 1) {
        rf32_gaussians_update(&known, likelihood, &time, (float)measure(time));
        show(frequency(rf32_gaussians_quantile(&known, 0.025f)), frequency(rf32_gaussians_quantile(&known, 0.975f)),
             known.loss);
    }
}
