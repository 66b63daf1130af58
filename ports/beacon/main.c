/* Finds a beacon at rest: two coordinates, in metres, from its bearings, in radians, read at known places. One reading
   in twenty is garbage. */
#include "rejfilt.h"

float measure(float place[2], const float mean[2], float sd); /* yours: where, and the bearing read there */

static float likelihood(const float x[], const float setting[], float outcome) /* relative to its largest value */
{
    const float east = x[0] - setting[0], north = x[1] - setting[1];
    const float cosine =
        (east * rf32_cos(outcome) + north * rf32_sin(outcome)) / rf32_sqrt(east * east + north * north + 1e-6f);
    return 0.99f * rf32_exp(400 * (cosine - 1)) + 0.01f; /* 400 = 1/0.05² */
}

static const rf32_model model = {.likelihood = likelihood, .dim = 2, .settings = 2};
static RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(2)]; /* 200 bytes */

int main(void)
{
    const float mean[2] = {0, 0}, sd[2] = {10, 10};
    rf32_options options = RF32_OPTIONS_DEFAULT;
    rf32_filter *filter;
    options.sampler = RF_WEIGHT; /* random attempts would shift the mean at every record */
    options.attempts = 128;
    rf32_filter_init(&filter, memory, sizeof memory, 2, 42);
    rf32_prior_gaussian(filter, &model, mean, sd);
    for (;;) {
        float record[3];
        record[2] = measure(record, rf32_filter_mean(filter), rf32_filter_sd(filter, 0));
        rf32_update(filter, &model, record, 1, &options, 0, 0);
    }
}
