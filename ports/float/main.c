/* Follows a spin's precession frequency while it drifts. Each experiment lets the spin turn for a time and compares it
   with a reference frequency: the outcome is 1 or 0. */
#include "rejfilt.h"

int measure(float time, float reference); /* yours */

static float likelihood(const float x[], const float setting[], float outcome) /* P(outcome | frequency x) */
{
    const float one = 0.5f + 0.5f * rf32_cos((x[0] - setting[1]) * setting[0]);
    return outcome != 0 ? one : 1 - one;
}

static const rf32_model model = {.likelihood = likelihood, .dim = 1, .settings = 2};
static const rf32_options options = RF32_OPTIONS_DEFAULT;     /* 100 attempts */
static RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(1)]; /* 64 bytes */

int main(void)
{
    const float low = 0, high = 1.5708f, widest = 0.9f, drift = 0.026f; /* per experiment */
    unsigned until_anchor = 5;
    int failed = 0;
    rf32_filter *filter;
    rf32_filter_init(&filter, memory, sizeof memory, 1, 42);
    rf32_prior_box(filter, &model, &low, &high);
    for (;;) {
        /* where the fringe is steepest; every fifth time on its top, as a test of the filter */
        const int anchor = failed || --until_anchor == 0;
        float record[3] = {(anchor ? 0.43f : 0.95f) / rf32_filter_sd(filter, 0), rf32_filter_mean(filter)[0], 0};
        if (anchor)
            until_anchor = 5;
        else
            record[1] += (until_anchor % 2 ? 1.5708f : -1.5708f) / record[0];
        record[2] = (float)measure(record[0], record[1]);

        rf32_update(filter, &model, record, 1, &options, 0, 0);
        failed = anchor && record[2] == 0; /* look further around */
        if (failed) {
            const float wider = rf32_max(1, rf32_min(2.2f, widest / rf32_filter_sd(filter, 0)));
            rf32_stretch(filter, &wider);
        }
        rf32_diffuse(filter, drift * drift, 1);
    }
}
