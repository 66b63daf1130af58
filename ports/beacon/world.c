/* Simulates what beacon/main.c measures: a beacon at (4, −7), read from places 15 m around with an error of 0.05 rad.
 */
#include "rejfilt.h"
#include "run.h"

float measure(float place[2], const float mean[2], float sd);

static float bearing_of(float east, float north) /* by halving: the core has no arctangent */
{
    const float length = rf32_sqrt(east * east + north * north);
    float angle = 0;
    for (float step = 1.57079633f; step > 1e-5f; step *= 0.5f) {
        const float off = north * rf32_cos(angle) - east * rf32_sin(angle),
                    along = east * rf32_cos(angle) + north * rf32_sin(angle);
        angle += off > 0 || (off > -1e-6f * length && along < 0) ? step : -step;
    }
    return angle;
}

float measure(float place[2], const float mean[2], float sd)
{
    static uint32_t experiment;
    run_asked(rf32_bits(mean[0]), rf32_bits(mean[1]), rf32_bits(sd));
    const rf_words word = rf_draw(1, experiment++, 0, 0, RF_FOR_TRUTH),
                   other = rf_draw(1, experiment, 0, 1, RF_FOR_TRUTH);
    float noise, unused;
    rf32_normal_pair(word.word[0], word.word[1], &place[0], &place[1]);
    rf32_normal_pair(other.word[0], other.word[1], &noise, &unused);
    place[0] *= 15;
    place[1] *= 15;
    const float read = bearing_of(4 - place[0], -7 - place[1]) + 0.05f * noise;
    const float outcome = rf32_uniform(word.word[2]) < 0.05f ? 6.28318531f * rf32_uniform(word.word[3]) : read;
    run_answered();
    return outcome;
}
